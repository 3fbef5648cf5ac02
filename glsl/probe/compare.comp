// Finds the first word of an array that differs from another array's, or from a value.
//
// Dispatch: ceil(word_count / (WORKGROUP_SIZE * ITEMS_PER_INVOCATION)) workgroups.
// Reads:    words and, unless it is null, expected: word_count words each, at least one.
// Writes:   first_difference, 1 word, which begins as ~0: the least index of a difference.
// Pass model: none; the least index.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/address.glsl"
#include "common/dispatch.glsl"

layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 16;

layout(push_constant, std430) uniform Push {
    Words words;
    Words expected;
    Words first_difference;
    uint word_count;
    // Expected of every word where `expected` is null.
    uint value;
} push;

void main() {
    uint tile_items = WORKGROUP_SIZE * ITEMS_PER_INVOCATION;
    uint tile = workgroup_index();
    if (tile > (push.word_count - 1) / tile_items) {
        return;
    }
    uint extent = min(push.word_count - tile * tile_items, tile_items);
    bool is_constant = is_null(push.expected);
    Words words = advance_words(push.words, tile, tile_items);
    Words expected = advance_words(push.expected, tile, tile_items);
    uint first = ~0;
    // Downwards, so that the last difference found is the first one.
    for (uint k = ITEMS_PER_INVOCATION; k-- > 0;) {
        uint i = k * WORKGROUP_SIZE + gl_LocalInvocationIndex;
        if (i < extent) {
            uint other = push.value;
            if (!is_constant) {
                other = expected.word[i];
            }
            if (words.word[i] != other) {
                first = tile * tile_items + i;
            }
        }
    }
    if (first != ~0) {
        atomicMin(push.first_difference.word[0], first);
    }
}
