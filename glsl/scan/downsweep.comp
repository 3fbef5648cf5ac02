// Scan of each tile from its carry-in: the downsweep of reduce-then-scan; on a single tile, the whole scan.
//
// Dispatch: tile_count workgroups; with STRIDED column_count for each tile.
//           With segments of a fixed size longer than a tile, SEGMENT_TILES workgroups for each segment, and tile_count and
//           last_extent are those of segments.
// Reads:    source, element_count rows: an element, or with STRIDED column_count of them; carries, tile_count such
//           rows where it is not null: the exclusive prefix of each tile; heads, as in `scan/segments.glsl`, and
//           initial, such a row, where it is not null (both only with HEADED); indirect_tiles, tile_count and
//           last_extent, where it is not null.
// Writes:   destination, element_count rows; may be source itself, since an invocation reads and writes the same
//           elements.
// Shared:   the workgroup scan's.
// Pass model: reference::passes::scan::scan_tiles; with HEADED of rows of reference::passes::segmented_scan::Headed.
// Source:   tutorial 14, "global prefix sum"; Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, ch. 11.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "scan/tile_scan.glsl"

layout(push_constant, std430) uniform Push {
    Words source;
    Words destination;
    Words carries;
    Words heads;
    Words initial;
    Words indirect_tiles;
    uint tile_count;
    // Rows in the last tile; all others are full.
    uint last_extent;
    // Elements of a row, with STRIDED.
    uint column_count;
} push;

Value carry_into(Tile tile) {
    return load_value(column_from(push.carries, tile.index, 1, push.column_count, tile.column));
}

void main() {
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    Tile tile = tile_of_workgroup(tiles, push.column_count);
    if (is_surplus(tile, tiles)) {
        return;
    }
    uint stride = row_stride(push.column_count);
    Words source = tile_from(push.source, tile, push.column_count);
    Words destination = tile_from(push.destination, tile, push.column_count);
    uint heads = load_heads(push.heads, tile, tiles);
    load_initial(push.initial, push.column_count, tile.column);

    load_tile(source, stride, tile.extent);
    Element tile_total;
    Element carry = scan_runs(heads, tile_total);
    if (!is_null(push.carries)) {
        carry = combine(not_a_head(carry_into(tile)), carry);
    }

    apply_carry(heads, carry);
    store_tile(destination, stride, tile.extent);
}
