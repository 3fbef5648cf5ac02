// Scan of each tile by itself, and tile sums: the upsweep of scan-then-propagate.
//
// Dispatch: tile_count workgroups.
// Reads:    source, element_count elements.
// Writes:   destination, element_count elements, the prefixes within each tile; may be source itself, since an
//           invocation reads and writes the same elements; sums, tile_count elements (only with KEEPS_SUMS).
// Shared:   the workgroup scan's.
// Pass model: reference::passes::scan::scan_tiles.
// Source:   Sun, OpenCL exercise 5, "Prefix sum", kernel 1; Hwu, Kirk and El Hajj, Programming Massively Parallel
//           Processors, 2022, ch. 11.6.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "scan/tile_scan.glsl"

layout(constant_id = ID_KEEPS_SUMS) const bool KEEPS_SUMS = false;

layout(push_constant, std430) uniform Push {
    Words source;
    Words destination;
    Words sums;
    uint tile_count;
    // Elements in the last tile; all others are full.
    uint last_extent;
} push;

void main() {
    uint tile = workgroup_index();
    if (tile >= push.tile_count) {
        return;
    }
    uint extent = tile + 1 < push.tile_count ? TILE_ITEMS : push.last_extent;
    Words source = advance_words(push.source, tile, TILE_ITEMS * ELEMENT_WORDS);
    Words destination = advance_words(push.destination, tile, TILE_ITEMS * ELEMENT_WORDS);

    load_tile(source, ELEMENT_WORDS, extent);
    Element tile_total;
    Element carry = scan_runs(0, tile_total);
    apply_carry(0, carry);
    store_tile(destination, ELEMENT_WORDS, extent);
    if (KEEPS_SUMS && gl_LocalInvocationIndex == 0) {
        store_value(advance_words(push.sums, tile, ELEMENT_WORDS), tile_total);
    }
}
