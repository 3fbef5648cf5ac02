// Dispatch arguments of a scan's levels, from an indirect count.
//
// Dispatch: one workgroup.
// Reads:    count, one word; with WIDE_OFFSETS two, low word first, of fewer than 2^32 tiles.
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
    // The maximum of count, without WIDE_OFFSETS.
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

// Whether the count has 64 bits; level_count is 1 then.
layout(constant_id = ID_WIDE_OFFSETS) const bool WIDE_OFFSETS = false;

// The tiles of rows of 64 bits: 2^32 rows have `whole` tiles, and `rest` rows more. There are fewer times 2^32 rows than a tile
// has, so that the rests have 32 bits.
uint tiles_of_rows(uvec2 rows) {
    uint whole = ~0u / push.tile_items;
    uint rest = ~0u % push.tile_items + 1;
    uint rests = rows.y * rest + rows.x % push.tile_items;
    return rows.y * whole + rows.x / push.tile_items + ceil_div(rests, push.tile_items);
}

void main() {
    uint rows = push.count.word[0];
    uint high = 0;
    if (WIDE_OFFSETS) {
        high = push.count.word[1];
    } else {
        rows = min(rows, push.max_count);
    }
    if (gl_LocalInvocationIndex != 0) {
        return;
    }
    for (uint level = 0; level < push.level_count; level++) {
        uint tile_count = max(ceil_div(rows, push.tile_items), MIN_TILES);
        if (WIDE_OFFSETS) {
            tile_count = tiles_of_rows(uvec2(rows, high));
        }
        Words words = advance_words(push.levels, level, LEVEL_WORDS);
        store_grid(words, tile_count * push.column_count, push.max_row);
        words.word[3] = tile_count;
        words.word[4] = rows - (max(tile_count, 1) - 1) * push.tile_items;
        rows = tile_count;
    }
}
