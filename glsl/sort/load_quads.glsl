// Keys by fours, which are one or two 16-byte accesses.

#ifndef SUBSWEEP_SORT_LOAD_QUADS
#define SUBSWEEP_SORT_LOAD_QUADS

#include "sort/key.glsl"

// Loads the four keys from `first` on, a multiple of 4, of which those at and beyond `extent` are not touched and come as
// 0. `quad_access` says that `keys` is a multiple of 16 bytes.
void load_quad(Words keys, uint first, uint extent, bool quad_access, out Key quad[4]) {
    if (quad_access && first + 4 <= extent) {
#if KEY_WORDS == 2
        uvec4 low = Quads(uvec2(keys)).quad[first / 2];
        uvec4 high = Quads(uvec2(keys)).quad[first / 2 + 1];
        quad = Key[4](low.xy, low.zw, high.xy, high.zw);
#else
        uvec4 words = Quads(uvec2(keys)).quad[first / 4];
        quad = Key[4](words.x, words.y, words.z, words.w);
#endif
    } else {
        [[unroll]] for (uint i = 0; i < 4; i++) {
            quad[i] = Key(0);
            if (first + i < extent) {
                quad[i] = load_key(keys, first + i);
            }
        }
    }
}

#endif
