// Offsets of keys in an array, in elements: 32 bits, or with WIDE_OFFSETS 64 bits in two words, low word first.
//
// A histogram of offsets has RADIX low words, and with WIDE_OFFSETS then RADIX high words. A kernel for fewer than
// 2^32 keys defines NARROW_OFFSETS.

#include "sort/pass.glsl"

#ifdef NARROW_OFFSETS
const bool WIDE_OFFSETS = false;
#else
layout(constant_id = ID_WIDE_OFFSETS) const bool WIDE_OFFSETS = false;
#endif

const uint OFFSET_WORDS = WIDE_OFFSETS ? 2 : 1;
const uint HISTOGRAM_WORDS = OFFSET_WORDS * RADIX;

uvec2 add_offset(uvec2 offset, uint count) {
    if (!WIDE_OFFSETS) {
        return uvec2(offset.x + count, 0);
    }
    uint carry;
    uint low = uaddCarry(offset.x, count, carry);
    return uvec2(low, offset.y + carry);
}

uvec2 subtract_offset(uvec2 offset, uint count) {
    if (!WIDE_OFFSETS) {
        return uvec2(offset.x - count, 0);
    }
    uint borrow;
    uint low = usubBorrow(offset.x, count, borrow);
    return uvec2(low, offset.y - borrow);
}

uvec2 load_offset(Words histogram, uint bin) {
    return uvec2(histogram.word[bin], WIDE_OFFSETS ? histogram.word[RADIX + bin] : 0);
}

void store_offset(Words histogram, uint bin, uvec2 offset) {
    histogram.word[bin] = offset.x;
    if (WIDE_OFFSETS) {
        histogram.word[RADIX + bin] = offset.y;
    }
}
