// Dispatch arguments of a scan's levels, from an indirect count.
//
// Dispatch: one workgroup.
// Reads:    count, one word.
// Writes:   levels, 8 words for each of level_count: the workgroup counts of an indirect dispatch in three
//           dimensions, tiles, rows in the last tile, and 3 unused words, which are not written.
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
    // The maximum of count.
    uint max_count;
    uint tile_items;
    uint level_count;
    // Workgroups for each tile.
    uint column_count;
    // The maximum of workgroups in a row of a dispatch.
    uint max_row;
} push;

const uint LEVEL_WORDS = 8;

// 1 gives a count of 0 a tile, which is empty: for kernels that have a result of no elements.
layout(constant_id = ID_MIN_TILES) const uint MIN_TILES = 0;

void main() {
    uint rows = min(push.count.word[0], push.max_count);
    if (gl_LocalInvocationIndex != 0) {
        return;
    }
    for (uint level = 0; level < push.level_count; level++) {
        uint tile_count = max(ceil_div(rows, push.tile_items), MIN_TILES);
        Words words = advance_words(push.levels, level, LEVEL_WORDS);
        store_grid(words, tile_count * push.column_count, push.max_row);
        words.word[3] = tile_count;
        words.word[4] = rows - (max(tile_count, 1) - 1) * push.tile_items;
        rows = tile_count;
    }
}
