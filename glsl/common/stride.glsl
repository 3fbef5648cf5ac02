// Workgroups that stride over the tiles: each adds to shared counters for several tiles, and to device memory once.

#ifndef SUBSWEEP_STRIDE
#define SUBSWEEP_STRIDE

#include "common/constants.glsl"
#include "common/grid.glsl"

// The maximum of workgroups, unless each would have more than MAX_STRIDE_TILES tiles; 0 for a workgroup for each tile.
layout(constant_id = ID_MAX_WORKGROUPS) const uint MAX_WORKGROUPS = 0;

// `striding_workgroups` of the host has the same. Bounds the rounds of an invocation: one driver ends all loops of an
// invocation after 65,535.
const uint MAX_STRIDE_TILES = 32;

// Workgroups that take part, for a maximum of `max_workgroups` as MAX_WORKGROUPS: workgroup w has the tiles w,
// w + workgroups, …, or takes as many tickets.
uint striding_workgroups(uint tile_count, uint max_workgroups) {
    uint most = max(max_workgroups, ceil_div(tile_count, MAX_STRIDE_TILES));
    return max_workgroups == 0 ? tile_count : min(tile_count, most);
}

#endif
