// Numbers of 64 bits in two words, low word first: a device may lack 64-bit integers.

#ifndef SUBSWEEP_WIDE
#define SUBSWEEP_WIDE

// `a` * `b` in 64 bits.
uvec2 wide_product(uint a, uint b) {
    uint high, low;
    umulExtended(a, b, high, low);
    return uvec2(low, high);
}

// Compares unsigned numbers, without a branch.
bool is_less(uvec2 a, uvec2 b) {
    return mix(a.y < b.y, a.x < b.x, a.y == b.y);
}

#endif
