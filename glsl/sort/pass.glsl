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
#include "common/address.glsl"
#include "common/dispatch.glsl"

layout(constant_id = 1) const uint RADIX_BITS = 4;

const uint RADIX = 1u << RADIX_BITS;

uint digit_of(uint key, uint shift, uint digit_mask) {
    return (key >> shift) & digit_mask;
}

// The four keys from `first` on, of which those at and beyond `extent` are not touched and come as 0. `quad_access` says
// that `keys` is a multiple of 16 bytes.
uvec4 load_keys(Words keys, uint first, uint extent, bool quad_access) {
    uvec4 quad = uvec4(0);
    if (quad_access && first + 4 <= extent) {
        quad = Quads(uvec2(keys)).quad[first / 4];
    } else {
        [[unroll]] for (uint i = 0; i < 4; i++) {
            if (first + i < extent) {
                quad[i] = keys.word[first + i];
            }
        }
    }
    return quad;
}

// Where the count of a digit in a tile lies.
uint count_index(uint digit, uint tile, uint tile_count) {
    return digit * tile_count + tile;
}

#endif
