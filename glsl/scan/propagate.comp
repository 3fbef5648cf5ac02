// Adds each tile's exclusive prefix to all elements of the tile: the downsweep of scan-then-propagate.
//
// Dispatch: tile_count - 1 workgroups: the first tile needs no carry-in.
// Reads:    table, the elements of all tiles but the first; carries, tile_count elements: the exclusive prefix sum of
//           the tile sums.
// Writes:   table, the same elements, each by the invocation that reads it.
// Shared:   none.
// Pass model: reference::passes::scan::propagate.
// Source:   Sun, OpenCL exercise 5, "Prefix sum", kernel 2; Hwu, Kirk and El Hajj, Programming Massively Parallel
//           Processors, 2022, ch. 11.6.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "scan/tile_scan.glsl"

layout(push_constant, std430) uniform Push {
    Words table;
    Words carries;
    uint tile_count;
    // Elements in the last tile; all others are full.
    uint last_extent;
} push;

void main() {
    // Compared before 1 is added: the count may be the maximum of a word.
    if (workgroup_index() >= push.tile_count - 1) {
        return;
    }
    uint tile = workgroup_index() + 1;
    uint extent = tile + 1 < push.tile_count ? TILE_ITEMS : push.last_extent;
    Words table = advance_words(push.table, tile, TILE_ITEMS * ELEMENT_WORDS);
    Element carry = load_value(advance_words(push.carries, tile, ELEMENT_WORDS));

    load_tile(table, ELEMENT_WORDS, extent);
    [[unroll]] for (uint slot = 0; slot < PACKS; slot++) {
        [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
            packs[slot][i] = combine(carry, packs[slot][i]);
        }
    }
    store_tile(table, ELEMENT_WORDS, extent);
}
