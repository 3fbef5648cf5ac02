// Lengths of runs, from the index of the first element of each.
//
// Dispatch: as many workgroups as indirect_tiles says, one for each tile of WORKGROUP_SIZE * ITEMS_PER_INVOCATION runs.
// Reads:    starts, an index for each run, ascending; indirect_tiles; indirect_count, where it is not null.
// Writes:   lengths, one for each run: the distance to the next start, of the last run to the end of the elements.
//           Starts and lengths have one word, with WIDE_OFFSETS two, low word first.
// Shared:   nothing.
// Pass model: none; the lines above say the result.
// Source:   CUB, DeviceRunLengthEncode, which computes lengths from the offsets of runs.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/address.glsl"
#include "common/counts.glsl"
#include "common/dispatch.glsl"
#include "common/tiles.glsl"

layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 1;

layout(push_constant, std430) uniform Push {
    Words starts;
    Words lengths;
    Words indirect_tiles;
    Words indirect_count;
    // The number of elements, low word first; with indirect_count its maximum.
    uvec2 element_count;
} push;

const uint TILE_ITEMS = WORKGROUP_SIZE * ITEMS_PER_INVOCATION;

void main() {
    uint tile = workgroup_index();
    Tiles tiles = tiles_of(0, 0, push.indirect_tiles);
    if (tile >= tiles.count) {
        return;
    }
    bool is_last = tile + 1 == tiles.count;
    uint extent = is_last ? tiles.last_extent : TILE_ITEMS;
    uvec2 end = uvec2(count_of(push.element_count.x, push.indirect_count), push.element_count.y);
    Words starts = advance_words(push.starts, tile, TILE_ITEMS * OFFSET_WORDS);
    Words lengths = advance_words(push.lengths, tile, TILE_ITEMS * OFFSET_WORDS);
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        uint run = k * WORKGROUP_SIZE + gl_LocalInvocationIndex;
        if (run < extent) {
            bool is_end = is_last && run + 1 == extent;
            if (WIDE_OFFSETS) {
                uvec2 start = uvec2(starts.word[2 * run], starts.word[2 * run + 1]);
                uvec2 next = is_end ? end : uvec2(starts.word[2 * run + 2], starts.word[2 * run + 3]);
                uvec2 run_length = wide_difference(next, start);
                lengths.word[2 * run] = run_length.x;
                lengths.word[2 * run + 1] = run_length.y;
            } else {
                uint next = is_end ? end.x : starts.word[run + 1];
                lengths.word[run] = next - starts.word[run];
            }
        }
    }
}
