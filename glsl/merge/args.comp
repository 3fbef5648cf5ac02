// Dispatch arguments of a merge, from indirect counts.
//
// Dispatch: one workgroup.
// Reads:    indirect_a_count and indirect_b_count, one word each, where they are not null.
// Writes:   args, 5 words: the workgroup counts of an indirect dispatch in three dimensions, and both counts.
// Shared:   nothing.
// Pass model: none; tool/tests/drivers/merge.rs has the words.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/dispatch.glsl"
#include "common/grid.glsl"
#include "common/tiles.glsl"

layout(push_constant, std430) uniform Push {
    Words indirect_a_count;
    Words indirect_b_count;
    Words args;
    // The counts, or their maximums.
    uint a_count;
    uint b_count;
    uint tile_items;
    // The maximum of workgroups in a row of a dispatch.
    uint max_row;
} push;

void main() {
    uint a_count = count_of(push.a_count, push.indirect_a_count);
    uint b_count = count_of(push.b_count, push.indirect_b_count);
    if (gl_LocalInvocationIndex == 0) {
        store_grid(push.args, ceil_div(a_count + b_count, push.tile_items), push.max_row);
        push.args.word[3] = a_count;
        push.args.word[4] = b_count;
    }
}
