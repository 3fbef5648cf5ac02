// Copies keys and values from the alternate buffers back to the primary ones.
//
// Dispatch: the workgroups of dispatch_args, which may be none, or more; surplus workgroups return.
// Reads:    keys_alt, element_count * key_words words, or with KEY_BITS keys; values_alt, element_count * value_words words;
//           dispatch_args.
// Writes:   keys and values, as many.
// Shared:   nothing.
// Pass model: none; a copy is its source.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/dispatch.glsl"
#ifdef KEY_BITS
#include "common/key.glsl"
#endif
#include "sort/dispatch_args.glsl"

// Keys per workgroup.
layout(constant_id = ID_TILE_ITEMS) const uint TILE_ITEMS = 4096;

layout(push_constant, std430) uniform Push {
    Words keys;
    Words keys_alt;
    Words values;
    Words values_alt;
    Words dispatch_args;
    // 0 if keys, or values, are not copied.
    uint key_words;
    uint value_words;
} push;

// Copies the words of one tile, `words` for each of `extent` elements; neighbouring invocations access neighbouring
// words.
void copy_tile(Words from, Words to, uint tile, uint words, uint extent) {
    Words source = advance_words(from, tile, TILE_ITEMS * words);
    Words destination = advance_words(to, tile, TILE_ITEMS * words);
    for (uint i = gl_LocalInvocationIndex; i < extent * words; i += WORKGROUP_SIZE) {
        destination.word[i] = source.word[i];
    }
}

void main() {
    uint tile = workgroup_index();
    PassArgs copy = load_pass_args(push.dispatch_args);
    if (tile >= copy.tile_count) {
        return;
    }
    uint extent = tile_extent(copy, tile, TILE_ITEMS);
#ifdef KEY_BITS
    Words source = advance_keys(push.keys_alt, tile, TILE_ITEMS);
    Words destination = advance_keys(push.keys, tile, TILE_ITEMS);
    for (uint i = gl_LocalInvocationIndex; i < extent * push.key_words; i += WORKGROUP_SIZE) {
        store_key(destination, i, load_key(source, i));
    }
#else
    copy_tile(push.keys_alt, push.keys, tile, push.key_words, extent);
#endif
    if (push.value_words > 0) {
        copy_tile(push.values_alt, push.values, tile, push.value_words, extent);
    }
}
