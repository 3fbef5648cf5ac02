// Sums of tiles: the way up of reduce-then-scan.
//
// Dispatch: tile_count workgroups; with STRIDED column_count for each tile.
// Reads:    source, element_count rows: an element, or with STRIDED column_count of them.
// Writes:   sums, tile_count such rows.
// Shared:   the workgroup scan's.
// CPU twin: reference::scan::reduce.
// Source:   tutorial 14, "local count"; with sums in their own array.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "scan/tile_scan.glsl"

layout(push_constant, std430) uniform Push {
    Words source;
    Words sums;
    uint tile_count;
    // Rows in the last tile; all others are full.
    uint last_extent;
    // Elements of a row, with STRIDED.
    uint column_count;
} push;

void main() {
    uint tile, column;
    locate(push.column_count, tile, column);
    if (tile >= push.tile_count) {
        return;
    }
    uint extent = tile + 1 < push.tile_count ? TILE_ITEMS : push.last_extent;
    uint stride = row_stride(push.column_count);
    Words source = column_from(push.source, tile, TILE_ITEMS, push.column_count, column);

    Element tile_total = tile_reduce(source, stride, extent);
    if (gl_LocalInvocationIndex == 0) {
        store_element(column_from(push.sums, tile, 1, push.column_count, column), tile_total);
    }
}
