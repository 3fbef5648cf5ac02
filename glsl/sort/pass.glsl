// Digits and the layout of counts, shared by the kernels of a radix pass.
//
// A pass sorts by one digit: `digit_mask` of the key's bits from `shift` on. Counts are digit-major, so that one
// exclusive prefix sum turns the count of digit d in tile t into the offset of the first such key:
//
//   | digit 0: tile 0, tile 1, … | digit 1: tile 0, tile 1, … | …

#ifndef SUBSWEEP_SORT_PASS
#define SUBSWEEP_SORT_PASS

#include "common/dispatch.glsl"
#include "common/key.glsl"

// Bits of a digit.
layout(constant_id = ID_RADIX_BITS) const uint RADIX_BITS = 4;

const uint RADIX = 1u << RADIX_BITS;

// The index of the count of a digit in a tile.
uint count_index(uint digit, uint tile, uint tile_count) {
    return digit * tile_count + tile;
}

#endif
