// What the kernels of one radix pass agree on: digits, and how counts lie in memory.
//
// A pass sorts by one digit: `digit_mask` of the key's bits from `shift` on. The counts are digit-major, so that one
// exclusive scan over all of them turns "how many of digit d are in tile t" into "where the first of them goes":
//
//   | digit 0: tile 0, tile 1, … | digit 1: tile 0, tile 1, … | …

#ifndef SUBSWEEP_SORT_PASS
#define SUBSWEEP_SORT_PASS

#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "common/dispatch.glsl"
#include "sort/key.glsl"

layout(constant_id = 1) const uint RADIX_BITS = 4;

const uint RADIX = 1u << RADIX_BITS;

// Where the count of a digit in a tile lies.
uint count_index(uint digit, uint tile, uint tile_count) {
    return digit * tile_count + tile;
}

#endif
