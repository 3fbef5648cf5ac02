// Sums of tiles: the way up of reduce-then-scan.
//
// Dispatch: tile_count workgroups.
// Reads:    source, element_count rows of COLUMNS words.
// Writes:   sums, tile_count rows of COLUMNS words.
// Shared:   the workgroup scan's.
// CPU twin: reference::scan::reduce.
// Source:   tutorial 14, "local count"; with sums in their own array.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "scan/tile.glsl"

layout(push_constant, std430) uniform Push {
    Words source;
    Words sums;
    uint tile_count;
    // Rows in the last tile; all others are full.
    uint last_extent;
} push;

void main() {
    uint tile = workgroup_index();
    if (tile >= push.tile_count) {
        return;
    }
    uint extent = tile + 1 < push.tile_count ? TILE_ITEMS : push.last_extent;
    Words source = advance_words(push.source, tile, TILE_ITEMS * COLUMNS);

    Element subgroup_total = IDENTITY;
    [[unroll]] for (uint round = 0; round < RUNS_PER_INVOCATION; round++) {
        Element run_total = IDENTITY;
        [[unroll]] for (uint p = 0; p < PACKS_PER_RUN; p++) {
            Element pack[PACK_ITEMS];
            load_pack(source, run_start(round) + p * PACK_ITEMS, extent, QUAD_ACCESS, pack);
            [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
                run_total = combine(run_total, pack[i]);
            }
        }
        subgroup_total = combine(subgroup_total, subgroup_reduce(run_total));
    }

    Element tile_total;
    workgroup_exclusive_scan(subgroup_total, tile_total);
    if (gl_LocalInvocationIndex == 0) {
        store_element(advance_words(push.sums, tile, COLUMNS), 0, tile_total);
    }
}
