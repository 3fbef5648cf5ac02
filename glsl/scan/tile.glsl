// How a workgroup goes through its tile: what reduce and downsweep have in common.
//
// A tile is one contiguous stretch of rows for each subgroup; a stretch is RUNS_PER_INVOCATION rounds; in a round each
// lane takes PACKS_PER_RUN packs that follow one another, and the next lane goes on behind it. Short runs keep the
// lanes' loads together, as a GPU likes; one long run needs a single subgroup scan, as a CPU likes.
//
//   subgroup s   | round 0: lane 0, lane 1, … | round 1: lane 0, lane 1, … |
//                            run = PACKS_PER_RUN packs of PACK_ITEMS rows

#ifndef SUBSWEEP_SCAN_TILE
#define SUBSWEEP_SCAN_TILE

#include "common/workgroup_scan.glsl"

layout(constant_id = 1) const uint RUNS_PER_INVOCATION = 4;
layout(constant_id = 2) const uint PACKS_PER_RUN = 1;
// Source and destination are multiples of 16 bytes.
layout(constant_id = 3) const bool QUAD_ACCESS = false;

const uint RUN_ITEMS = PACKS_PER_RUN * PACK_ITEMS;
const uint TILE_ITEMS = WORKGROUP_SIZE * RUNS_PER_INVOCATION * RUN_ITEMS;

// The first row of the invocation's run in round `round`, counted from the tile's first.
uint run_start(uint round) {
    uint lane_run = (gl_SubgroupID * RUNS_PER_INVOCATION + round) * gl_SubgroupSize + gl_SubgroupInvocationID;
    return lane_run * RUN_ITEMS;
}

#endif
