// A tile as its workgroup holds it: read once, kept in registers, and stored again from its carry-in.

#ifndef SUBSWEEP_SCAN_TILE_SCAN
#define SUBSWEEP_SCAN_TILE_SCAN

#include "scan/tile.glsl"
#include "workgroup_scan/invocations.glsl"

layout(constant_id = 4) const bool EXCLUSIVE = false;

// The invocation's packs, and what comes before each of its runs within the subgroup.
Element packs[RUNS_PER_INVOCATION * PACKS_PER_RUN][PACK_ITEMS];
Element run_prefix[RUNS_PER_INVOCATION];

// The tile's total alone. Every invocation of the workgroup must call it, with a barrier since the workgroup scan was
// last used.
Element tile_reduce(Words source, uint stride, uint extent) {
    Element subgroup_total = identity();
    [[unroll]] for (uint round = 0; round < RUNS_PER_INVOCATION; round++) {
        Element run_total = identity();
        [[unroll]] for (uint p = 0; p < PACKS_PER_RUN; p++) {
            Element pack[PACK_ITEMS];
            load_pack(source, stride, run_start(round) + p * PACK_ITEMS, extent, QUAD_ACCESS, pack);
            [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
                run_total = combine(run_total, pack[i]);
            }
        }
        subgroup_total = combine(subgroup_total, subgroup_reduce(run_total));
    }
    Element tile_total;
    workgroup_exclusive_scan(subgroup_total, tile_total);
    return tile_total;
}

// Way up: loads the tile, and gives what comes before the subgroup within it; before the invocation, where the
// workgroup scan is of invocations, each of which then has one run. Every invocation of the workgroup must call it, once.
Element tile_up(Words source, uint stride, uint extent, out Element tile_total) {
    Element subgroup_total = identity();
    [[unroll]] for (uint round = 0; round < RUNS_PER_INVOCATION; round++) {
        Element run_total = identity();
        [[unroll]] for (uint p = 0; p < PACKS_PER_RUN; p++) {
            uint slot = round * PACKS_PER_RUN + p;
            load_pack(source, stride, run_start(round) + p * PACK_ITEMS, extent, QUAD_ACCESS, packs[slot]);
            [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
                run_total = combine(run_total, packs[slot][i]);
            }
        }
#ifdef SCANS_INVOCATIONS
        run_prefix[round] = identity();
        subgroup_total = run_total;
#else
        Element round_total;
        run_prefix[round] = combine(subgroup_total, subgroup_exclusive_scan(run_total, round_total));
        subgroup_total = combine(subgroup_total, round_total);
#endif
    }
#ifdef SCANS_INVOCATIONS
    return invocations_exclusive_scan(subgroup_total, tile_total);
#else
    return workgroup_exclusive_scan(subgroup_total, tile_total);
#endif
}

// Way down: stores the tile, each run from its own prefix. `carry` comes before the subgroup.
void tile_down(Words destination, uint stride, uint extent, Element carry) {
    [[unroll]] for (uint round = 0; round < RUNS_PER_INVOCATION; round++) {
        Element sum = combine(carry, run_prefix[round]);
        [[unroll]] for (uint p = 0; p < PACKS_PER_RUN; p++) {
            uint slot = round * PACKS_PER_RUN + p;
            [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
                Element next = combine(sum, packs[slot][i]);
                if (EXCLUSIVE) {
                    packs[slot][i] = sum;
                } else {
                    packs[slot][i] = next;
                }
                sum = next;
            }
            store_pack(destination, stride, run_start(round) + p * PACK_ITEMS, extent, QUAD_ACCESS, packs[slot]);
        }
    }
}

#endif
