// Places of keys in 64 bits, as two words, the lowest first; and how bins hold them.
//
// Where places are wide, bins have RADIX low words, and behind them RADIX high ones. Elsewhere no place is beyond 2^32, and
// there are only the low words. A kernel that never needs wide places says so with NARROW_PLACES.

#ifndef SUBSWEEP_SORT_PLACES
#define SUBSWEEP_SORT_PLACES

#include "sort/pass.glsl"

#ifdef NARROW_PLACES
const bool WIDE_PLACES = false;
#else
layout(constant_id = 9) const bool WIDE_PLACES = false;
#endif

const uint PLACE_WORDS = WIDE_PLACES ? 2 : 1;
const uint BINS_WORDS = PLACE_WORDS * RADIX;

uvec2 place_plus(uvec2 place, uint more) {
    uint carry;
    uint low = uaddCarry(place.x, more, carry);
    return uvec2(low, place.y + carry);
}

uvec2 place_minus(uvec2 place, uint less) {
    uint borrow;
    uint low = usubBorrow(place.x, less, borrow);
    return uvec2(low, place.y - borrow);
}

uvec2 load_bin(Words bins, uint digit) {
    uvec2 place = uvec2(bins.word[digit], 0);
    if (WIDE_PLACES) {
        place.y = bins.word[RADIX + digit];
    }
    return place;
}

void store_bin(Words bins, uint digit, uvec2 place) {
    bins.word[digit] = place.x;
    if (WIDE_PLACES) {
        bins.word[RADIX + digit] = place.y;
    }
}

#endif
