// Copies keys and values back to the caller's arrays, where a sort has left them aside.
//
// Dispatch: the workgroups of its schedule, which may be none.
// Reads:    keys_aside, element_count * key_words words, and values_aside, element_count * value_words words; schedule.
// Writes:   keys and values, as many words.
// Shared:   nothing.
// CPU twin: a copy is its own.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common/dispatch.glsl"
#include "sort/route.glsl"

layout(constant_id = 2) const uint ITEMS_PER_INVOCATION = 16;

const uint TILE_ITEMS = WORKGROUP_SIZE * ITEMS_PER_INVOCATION;

layout(push_constant, std430) uniform Push {
    Words keys;
    Words keys_aside;
    Words values;
    Words values_aside;
    Words schedule;
    uint key_words;
    // 0 without values.
    uint value_words;
} push;

// The words of one tile, `words` for each of `extent` elements, as neighbours have them.
void copy_tile(Words from, Words to, uint tile, uint words, uint extent) {
    Words source = advance_words(from, tile, TILE_ITEMS * words);
    Words destination = advance_words(to, tile, TILE_ITEMS * words);
    for (uint i = gl_LocalInvocationIndex; i < extent * words; i += WORKGROUP_SIZE) {
        destination.word[i] = source.word[i];
    }
}

void main() {
    uint tile = workgroup_index();
    uint tile_count = push.schedule.word[3];
    if (tile >= tile_count) {
        return;
    }
    uint extent = tile + 1 < tile_count ? TILE_ITEMS : push.schedule.word[4];
    copy_tile(push.keys_aside, push.keys, tile, push.key_words, extent);
    if (push.value_words > 0) {
        copy_tile(push.values_aside, push.values, tile, push.value_words, extent);
    }
}
