// A tile as its workgroup holds it: read once, kept in registers, and stored again from its carry-in.

#ifndef SUBSWEEP_SCAN_TILE_SCAN
#define SUBSWEEP_SCAN_TILE_SCAN

#include "scan/tile.glsl"
#include "workgroup_scan/invocations.glsl"

layout(constant_id = 4) const bool EXCLUSIVE = false;

// The invocation's packs, and what comes before each of its runs within the subgroup.
Value packs[RUNS_PER_INVOCATION * PACKS_PER_RUN][PACK_ITEMS];
Element run_prefix[RUNS_PER_INVOCATION];

// To or from the order of the scan.
void turn(inout Value pack[PACK_ITEMS]) {
    if (REVERSE) {
        [[unroll]] for (uint i = 0; i < PACK_ITEMS / 2; i++) {
            Value value = pack[i];
            pack[i] = pack[PACK_ITEMS - 1 - i];
            pack[PACK_ITEMS - 1 - i] = value;
        }
    }
}

void load_in_order(Words source, uint stride, uint extent, uint round, uint p, out Value pack[PACK_ITEMS]) {
    load_pack(source, stride, pack_start(round, p), extent, QUAD_ACCESS, pack);
    turn(pack);
}

#ifdef SEGMENTED
#include "scan/heads.glsl"
#else
#define with_head(value, heads, slot, i) value
#define without_head(element) element
#define exclusive_result(before, heads, slot, i) before
#endif

// The tile's total alone. Every invocation of the workgroup must call it, with a barrier since the workgroup scan was
// last used. `heads`, here and below, is of a SEGMENTED build.
Element tile_reduce(Words source, uint stride, uint extent, uint heads) {
    Element subgroup_total = identity();
    [[unroll]] for (uint round = 0; round < RUNS_PER_INVOCATION; round++) {
        Element run_total = identity();
        [[unroll]] for (uint p = 0; p < PACKS_PER_RUN; p++) {
            Value pack[PACK_ITEMS];
            load_in_order(source, stride, extent, round, p, pack);
            [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
                run_total = combine(run_total, with_head(pack[i], heads, round * PACKS_PER_RUN + p, i));
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
Element tile_up(Words source, uint stride, uint extent, uint heads, out Element tile_total) {
    Element subgroup_total = identity();
    [[unroll]] for (uint round = 0; round < RUNS_PER_INVOCATION; round++) {
        Element run_total = identity();
        [[unroll]] for (uint p = 0; p < PACKS_PER_RUN; p++) {
            uint slot = round * PACKS_PER_RUN + p;
            load_in_order(source, stride, extent, round, p, packs[slot]);
            [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
                run_total = combine(run_total, with_head(packs[slot][i], heads, slot, i));
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
void tile_down(Words destination, uint stride, uint extent, uint heads, Element carry) {
    [[unroll]] for (uint round = 0; round < RUNS_PER_INVOCATION; round++) {
        Element sum = combine(carry, run_prefix[round]);
        [[unroll]] for (uint p = 0; p < PACKS_PER_RUN; p++) {
            uint slot = round * PACKS_PER_RUN + p;
            [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
                Element next = combine(sum, with_head(packs[slot][i], heads, slot, i));
                if (EXCLUSIVE) {
                    packs[slot][i] = exclusive_result(sum, heads, slot, i);
                } else {
                    packs[slot][i] = without_head(next);
                }
                sum = next;
            }
            turn(packs[slot]);
            store_pack(destination, stride, pack_start(round, p), extent, QUAD_ACCESS, packs[slot]);
        }
    }
}

#endif
