// Numbers of 64 bits in two words, low word first: a device may lack 64-bit integers.

#ifndef SUBSWEEP_WIDE
#define SUBSWEEP_WIDE

// `a` * `b` in 64 bits.
uvec2 wide_product(uint a, uint b) {
    uint high, low;
    umulExtended(a, b, high, low);
    return uvec2(low, high);
}

// `a` + `b`, modulo 2^64.
uvec2 wide_sum(uvec2 a, uvec2 b) {
    uint carry;
    uint low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}

// `a` - `b`, modulo 2^64.
uvec2 wide_difference(uvec2 a, uvec2 b) {
    uint borrow;
    uint low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}

// Compares unsigned numbers, without a branch.
bool is_less(uvec2 a, uvec2 b) {
    return mix(a.y < b.y, a.x < b.x, a.y == b.y);
}

#endif
