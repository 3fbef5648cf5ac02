// Tile sums: the upsweep of reduce-then-scan.
//
// Dispatch: tile_count workgroups; with STRIDED column_count for each tile.
//           With segments of a fixed size, as downsweep.comp.
// Reads:    source, element_count rows: an element, or with STRIDED column_count of them; heads, as in
//           `scan/segments.glsl` (only with HEADED); indirect_tiles, tile_count and last_extent, where it is not null.
// Writes:   sums, tile_count such rows; sum_heads, tile_count words (only with HEADED, and not for
//           segments of a fixed size).
// Shared:   the workgroup scan's.
// Pass model: reference::passes::scan::tile_totals; with HEADED of rows of reference::passes::segmented_scan::Headed.
// Source:   tutorial 14, "local count"; here the sums have an array of their own.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "scan/tile_scan.glsl"

layout(push_constant, std430) uniform Push {
    Words source;
    Words sums;
    Words heads;
    Words sum_heads;
    Words indirect_tiles;
    uint tile_count;
    // Rows in the last tile; all others are full.
    uint last_extent;
    // Elements of a row, with STRIDED.
    uint column_count;
#ifdef FUNCTIONS
    Words data;
#endif
} push;

#ifdef HEADED
void store_total(Words sum, Tile tile, Element tile_total) {
    store_value(sum, tile_total.value);
    // The same for every column.
    if (HEADS != FIXED_SIZE && tile.column == 0) {
        advance_words(push.sum_heads, tile.index, 1).word[0] = tile_total.is_head;
    }
}
#else
#define store_total(sum, tile, tile_total) store_value(sum, tile_total)
#endif

void main() {
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    Tile tile = tile_of_workgroup(tiles, push.column_count);
    if (is_surplus(tile, tiles)) {
        return;
    }
    uint stride = row_stride(push.column_count);
    Words source = tile_of_source(push.source, tile, push.column_count);
    uint heads = load_heads(push.heads, tile, tiles);

#ifdef SOURCE_WORDS
    if (TRANSFORMS) {
        transform_tile(push.source, tile, push.data);
    } else
#endif
    load_tile(source, stride, tile.extent);
    Element tile_total = reduce_tile(heads);
    if (gl_LocalInvocationIndex == 0) {
        Words sum = column_from(push.sums, tile.index, 1, push.column_count, tile.column);
        store_total(sum, tile, tile_total);
    }
}
