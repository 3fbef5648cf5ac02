// Scans each tile from its carry-in: the way down of reduce-then-scan, and, on a single tile, its turning point.
//
// Dispatch: tile_count workgroups.
// Reads:    source, element_count rows of COLUMNS words; carries, tile_count rows (only with HAS_CARRY): the exclusive
//           prefix of the tiles' sums.
// Writes:   destination, element_count rows; may be source itself, since an invocation reads and writes the same rows.
// Shared:   the workgroup scan's.
// CPU twin: reference::scan::downsweep.
// Source:   tutorial 14, "global prefix sum"; Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, ch. 11.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "scan/tile.glsl"

layout(constant_id = 4) const bool EXCLUSIVE = false;
layout(constant_id = 5) const bool HAS_CARRY = false;

layout(push_constant, std430) uniform Push {
    Words source;
    Words destination;
    Words carries;
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
    Words destination = advance_words(push.destination, tile, TILE_ITEMS * COLUMNS);

    // Way up: keep every pack, and what comes before each run within the subgroup.
    Element packs[RUNS_PER_INVOCATION * PACKS_PER_RUN][PACK_ITEMS];
    Element run_prefix[RUNS_PER_INVOCATION];
    Element subgroup_total = IDENTITY;
    [[unroll]] for (uint round = 0; round < RUNS_PER_INVOCATION; round++) {
        Element run_total = IDENTITY;
        [[unroll]] for (uint p = 0; p < PACKS_PER_RUN; p++) {
            uint slot = round * PACKS_PER_RUN + p;
            load_pack(source, run_start(round) + p * PACK_ITEMS, extent, QUAD_ACCESS, packs[slot]);
            [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
                run_total = combine(run_total, packs[slot][i]);
            }
        }
        run_prefix[round] = combine(subgroup_total, subgroup_exclusive_scan(run_total));
        subgroup_total = combine(subgroup_total, subgroup_reduce(run_total));
    }

    Element tile_total;
    Element carry = workgroup_exclusive_scan(subgroup_total, tile_total);
    if (HAS_CARRY) {
        carry = combine(load_element(advance_words(push.carries, tile, COLUMNS), 0), carry);
    }

    // Way down: each run from its own prefix.
    [[unroll]] for (uint round = 0; round < RUNS_PER_INVOCATION; round++) {
        Element sum = combine(carry, run_prefix[round]);
        [[unroll]] for (uint p = 0; p < PACKS_PER_RUN; p++) {
            uint slot = round * PACKS_PER_RUN + p;
            [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
                Element next = combine(sum, packs[slot][i]);
                packs[slot][i] = EXCLUSIVE ? sum : next;
                sum = next;
            }
            store_pack(destination, run_start(round) + p * PACK_ITEMS, extent, QUAD_ACCESS, packs[slot]);
        }
    }
}
