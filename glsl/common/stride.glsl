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

// Workgroups that take part: workgroup w has the tiles w, w + workgroups, ….
uint striding_workgroups(uint tile_count) {
    uint most = max(MAX_WORKGROUPS, ceil_div(tile_count, MAX_STRIDE_TILES));
    return MAX_WORKGROUPS == 0 ? tile_count : min(tile_count, most);
}

#endif
