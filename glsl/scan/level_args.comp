// Tells the device how far each level of a scan goes, where the count was never on the host.
//
// Dispatch: one workgroup.
// Reads:    count, one word.
// Writes:   levels, 8 words for each of level_count: the workgroups of an indirect dispatch in three dimensions, its
//           tiles and the rows in the last of them, and 3 words of nothing, which are left alone.
// Shared:   nothing.
// Pass model: reference::passes::scan::level_args.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/address.glsl"
#include "common/dispatch.glsl"
#include "common/grid.glsl"

layout(push_constant, std430) uniform Push {
    Words count;
    Words levels;
    // More than that are not taken.
    uint max_count;
    uint tile_items;
    uint level_count;
    // Workgroups for each tile.
    uint column_count;
    // Workgroups in a row of a dispatch.
    uint max_row;
} push;

const uint LEVEL_WORDS = 8;

void main() {
    uint rows = min(push.count.word[0], push.max_count);
    if (gl_LocalInvocationIndex != 0) {
        return;
    }
    for (uint level = 0; level < push.level_count; level++) {
        uint tile_count = ceil_div(rows, push.tile_items);
        Words words = advance_words(push.levels, level, LEVEL_WORDS);
        store_grid(words, tile_count * push.column_count, push.max_row);
        words.word[3] = tile_count;
        words.word[4] = rows - (max(tile_count, 1) - 1) * push.tile_items;
        rows = tile_count;
    }
}
