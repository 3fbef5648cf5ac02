// Scans each tile from its carry-in: the way down of reduce-then-scan, and, on a single tile, its turning point.
//
// Dispatch: tile_count workgroups; with STRIDED column_count for each tile.
// Reads:    source, element_count rows: an element, or with STRIDED column_count of them; carries, tile_count such rows
//           (only with HAS_CARRY): the exclusive prefix of the tiles' sums.
// Writes:   destination, element_count rows; may be source itself, since an invocation reads and writes the same
//           elements.
// Shared:   the workgroup scan's.
// CPU twin: reference::scan::downsweep.
// Source:   tutorial 14, "global prefix sum"; Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, ch. 11.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "scan/tile_scan.glsl"

layout(constant_id = 5) const bool HAS_CARRY = false;

layout(push_constant, std430) uniform Push {
    Words source;
    Words destination;
    Words carries;
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
    Words destination = column_from(push.destination, tile, TILE_ITEMS, push.column_count, column);

    Element tile_total;
    Element carry = tile_up(source, stride, extent, tile_total);
    if (HAS_CARRY) {
        Words carries = column_from(push.carries, tile, 1, push.column_count, column);
        carry = combine(load_element(carries), carry);
    }

    tile_down(destination, stride, extent, carry);
}
