// Loads of four keys at a time, by one or two 16-byte accesses.

#include "common/key.glsl"

#ifdef KEY_BITS
const bool QUAD_ACCESS = false;
const bool MIXED_ACCESS = false;
#else
// Keys are accessed by quads: they are 16-byte aligned, and without MIXED_ACCESS no quad is partial.
layout(constant_id = ID_QUAD_ACCESS) const bool QUAD_ACCESS = false;
// A partial quad is loaded word by word. llvmpipe executes both sides of that branch, one lane at a time.
layout(constant_id = ID_MIXED_ACCESS) const bool MIXED_ACCESS = false;
#endif

Key[4] load_whole_quad(Words keys, uint first) {
#if KEY_WORDS == 2
    uvec4 low = Quads(uvec2(keys)).quad[first / 2];
    uvec4 high = Quads(uvec2(keys)).quad[first / 2 + 1];
    return Key[4](low.xy, low.zw, high.xy, high.zw);
#else
    uvec4 words = Quads(uvec2(keys)).quad[first / 4];
    return Key[4](words.x, words.y, words.z, words.w);
#endif
}

// Loads the four keys from `first` on, a multiple of 4. Those at and beyond `extent` are not read and are padding:
// the last key in the sort's order.
void load_quad(Words keys, uint first, uint extent, out Key quad[4]) {
    [[unroll]] for (uint i = 0; i < 4; i++) {
        quad[i] = last_key();
    }
    if (QUAD_ACCESS && (MIXED_ACCESS ? first + 4 <= extent : first < extent)) {
        quad = load_whole_quad(keys, first);
    }
    if (!QUAD_ACCESS || MIXED_ACCESS && first + 4 > extent) {
        [[unroll]] for (uint i = 0; i < 4; i++) {
            if (first + i < extent) {
                quad[i] = load_key(keys, first + i);
            }
        }
    }
}
