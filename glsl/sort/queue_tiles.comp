// Segment tile queue: the segment of each tile of the long segments.
//
// Dispatch: the workgroups of dispatch_args, one for each long segment; there may be none.
// Reads:    long_segments, as many as dispatch_args counts; dispatch_args.
// Writes:   tiles, a word for each tile of these segments: the index of its segment in long_segments.
// Shared:   nothing.
// Pass model: reference::passes::segmented_sort::queue_tiles.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/dispatch.glsl"
#include "sort/segments.glsl"

layout(push_constant, std430) uniform Push {
    Words long_segments;
    Words tiles;
    Words dispatch_args;
} push;

void main() {
    uint slot = workgroup_index();
    if (slot >= push.dispatch_args.word[ARGS_TILE_COUNT]) {
        return;
    }
    Words entry = advance_words(push.long_segments, slot, LONG_SEGMENT_WORDS);
    uint tile_count = entry.word[3];
    Words tiles = advance_words(push.tiles, entry.word[2], 1);
    for (uint tile = gl_LocalInvocationIndex; tile < tile_count; tile += WORKGROUP_SIZE) {
        tiles.word[tile] = slot;
    }
}
