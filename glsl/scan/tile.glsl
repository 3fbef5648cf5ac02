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

// Words from a column's element in one row to that in the next.
uint row_stride(uint column_count) {
#ifdef STRIDED
    return column_count * ELEMENT_WORDS;
#else
    return ELEMENT_WORDS;
#endif
}

// Which tile of which column a workgroup takes: the columns of a tile's rows follow one another, for they share cache
// lines.
void locate(uint column_count, out uint tile, out uint column) {
#ifdef STRIDED
    tile = workgroup_index() / column_count;
    column = workgroup_index() % column_count;
#else
    tile = workgroup_index();
    column = 0;
#endif
}

// The column's element in row `row` of `table`.
Words column_from(Words table, uint row, uint rows, uint column_count, uint column) {
    Words words = advance_words(table, row, rows * row_stride(column_count));
#ifdef STRIDED
    words = advance_words(words, column, ELEMENT_WORDS);
#endif
    return words;
}

// The first row of the invocation's run in round `round`, counted from the tile's first.
uint run_start(uint round) {
    uint lane_run = (gl_SubgroupID * RUNS_PER_INVOCATION + round) * gl_SubgroupSize + gl_SubgroupInvocationID;
    return lane_run * RUN_ITEMS;
}

#endif
