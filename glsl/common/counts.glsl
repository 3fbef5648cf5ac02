// Counts and offsets of elements: 32 bits, or with WIDE_OFFSETS 64. In registers they have two words, low word first; without
// WIDE_OFFSETS the high one is 0, and is not computed. In memory they have OFFSET_WORDS.
//
// A kernel that never has 2^32 elements defines NARROW_OFFSETS.

#ifndef SUBSWEEP_COUNTS
#define SUBSWEEP_COUNTS

#include "common/constants.glsl"
#include "common/wide.glsl"

#ifdef NARROW_OFFSETS
const bool WIDE_OFFSETS = false;
#else
layout(constant_id = ID_WIDE_OFFSETS) const bool WIDE_OFFSETS = false;
#endif

const uint OFFSET_WORDS = WIDE_OFFSETS ? 2 : 1;

// Tells the compiler that the high word is 0 without WIDE_OFFSETS.
uvec2 narrowed(uvec2 count) {
    return uvec2(count.x, WIDE_OFFSETS ? count.y : 0);
}

uvec2 count_sum(uvec2 a, uvec2 b) {
    if (!WIDE_OFFSETS) {
        return uvec2(a.x + b.x, 0);
    }
    return wide_sum(a, b);
}

uvec2 count_difference(uvec2 a, uvec2 b) {
    if (!WIDE_OFFSETS) {
        return uvec2(a.x - b.x, 0);
    }
    return wide_difference(a, b);
}

uvec2 count_min(uvec2 a, uvec2 b) {
    if (!WIDE_OFFSETS) {
        return uvec2(min(a.x, b.x), 0);
    }
    return is_less(b, a) ? b : a;
}

#endif
