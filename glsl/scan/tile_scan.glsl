// Tile scan: load-and-reduce, then apply-and-store from the carry-in. The tile stays in registers in between, so that
// it is read once.

#include "scan/tile.glsl"
#include "workgroup_scan/invocations.glsl"

layout(constant_id = ID_EXCLUSIVE) const bool EXCLUSIVE = false;

// The invocation's packs, and the exclusive prefix of each of its runs within the subgroup.
Value packs[PACKS][PACK_ITEMS];
Element run_prefix[RUNS_PER_INVOCATION];

void reverse_pack(inout Value pack[PACK_ITEMS]) {
    if (REVERSE) {
        [[unroll]] for (uint i = 0; i < PACK_ITEMS / 2; i++) {
            Value value = pack[i];
            pack[i] = pack[PACK_ITEMS - 1 - i];
            pack[PACK_ITEMS - 1 - i] = value;
        }
    }
}

// Converts a pack to scan order and to the operator's form.
void from_memory_pack(inout Value pack[PACK_ITEMS]) {
    [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
        pack[i] = from_memory(pack[i]);
    }
    reverse_pack(pack);
}

// Whether a tile that is not of TILE_ITEMS rows is accessed by quads: without MIXED_ACCESS none is partial, and a tile of
// whole segments has whole ones, which the host has found.
bool has_whole_quads(uint extent) {
    return QUAD_ACCESS && (!MIXED_ACCESS || (HAS_WHOLE_SEGMENTS && extent == TILE_STEP));
}

const uint NO_ROW = ~0u;

// The row of a slot in a tile of whole segments; NO_ROW in padding, which follows a segment in scan order.
uint row_of_slot(uint slot, uint extent) {
    uint position = slot % SEGMENT_STEP - (REVERSE ? SEGMENT_STEP - SEGMENT_ROWS : 0);
    uint row = slot / SEGMENT_STEP * SEGMENT_ROWS + position;
    return position < SEGMENT_ROWS && row < extent ? row : NO_ROW;
}

// The first slot of pack `slot` of the invocation.
uint slot_of_pack(uint slot) {
    return first_row() + pack_offset(slot) * PACK_ITEMS;
}

// Loads a tile of segments with padding; by quads only where segments are of whole packs.
void load_segments(Words source, uint stride, uint extent) {
    bool by_quads = has_whole_quads(extent);
    [[unroll]] for (uint slot = 0; slot < PACKS; slot++) {
        [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
            packs[slot][i] = to_memory(value_identity());
        }
        if (by_quads) {
            uint row = row_of_slot(slot_of_pack(slot), extent);
            if (row != NO_ROW) {
                load_quads(source, row / PACK_ITEMS, packs[slot]);
            }
        } else {
            [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
                uint row = row_of_slot(slot_of_pack(slot) + i, extent);
                if (row != NO_ROW) {
                    packs[slot][i] = load_entry(source, row * stride);
                }
            }
        }
    }
}

void store_segments(Words destination, uint stride, uint extent) {
    bool by_quads = has_whole_quads(extent);
    [[unroll]] for (uint slot = 0; slot < PACKS; slot++) {
        if (by_quads) {
            uint row = row_of_slot(slot_of_pack(slot), extent);
            if (row != NO_ROW) {
                store_quads(destination, row / PACK_ITEMS, packs[slot]);
            }
        } else {
            [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
                uint row = row_of_slot(slot_of_pack(slot) + i, extent);
                if (row != NO_ROW) {
                    store_entry(destination, row * stride, packs[slot][i]);
                }
            }
        }
    }
}

// Loads the tile's `extent` rows from `source`, which are `stride` words apart.
void load_tile(Words source, uint stride, uint extent) {
    Words first = advance_source(source, first_row(), stride);
    if (HAS_PADDING) {
        load_segments(source, stride, extent);
    } else if (MIXED_ACCESS && extent == TILE_ITEMS) {
        [[unroll]] for (uint slot = 0; slot < PACKS; slot++) {
            if (QUAD_ACCESS) {
                load_quads(first, pack_offset(slot), packs[slot]);
            } else {
                [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
                    packs[slot][i] = load_entry(first, (pack_offset(slot) * PACK_ITEMS + i) * stride);
                }
            }
        }
    } else {
        uint left = rows_left(extent);
        bool by_quads = has_whole_quads(extent);
        [[unroll]] for (uint slot = 0; slot < PACKS; slot++) {
            load_pack(first, stride, pack_offset(slot), left, by_quads, packs[slot]);
        }
    }
    [[unroll]] for (uint slot = 0; slot < PACKS; slot++) {
        from_memory_pack(packs[slot]);
    }
}

void store_tile(Words destination, uint stride, uint extent) {
    [[unroll]] for (uint slot = 0; slot < PACKS; slot++) {
        reverse_pack(packs[slot]);
        [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
            packs[slot][i] = to_memory(packs[slot][i]);
        }
    }
    Words first = advance_results(destination, first_row(), stride);
    if (HAS_PADDING) {
        store_segments(destination, stride, extent);
    } else if (MIXED_ACCESS && extent == TILE_ITEMS) {
        [[unroll]] for (uint slot = 0; slot < PACKS; slot++) {
            if (QUAD_ACCESS) {
                store_quads(first, pack_offset(slot), packs[slot]);
            } else {
                [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
                    store_entry(first, (pack_offset(slot) * PACK_ITEMS + i) * stride, packs[slot][i]);
                }
            }
        }
    } else {
        uint left = rows_left(extent);
        bool by_quads = has_whole_quads(extent);
        [[unroll]] for (uint slot = 0; slot < PACKS; slot++) {
            store_pack(first, stride, pack_offset(slot), left, by_quads, packs[slot]);
        }
    }
}

#if defined SOURCE_WORDS || defined RESULT_WORDS
// The index of the tile's first row, modulo 2^32.
uint first_index(Tile tile) {
    return (HAS_LONG_SEGMENTS ? tile.index / SEGMENT_TILES * SEGMENT_ROWS : 0) + tile.memory_index * TILE_STEP;
}

// A pointer to the tile's first row of `words` words; see tile_from.
Words rows_from(Words table, Tile tile, uint words) {
#ifdef HEADED
    return advance_words(table, first_index(tile), words);
#else
    return advance_words(table, tile.memory_index, TILE_STEP * words);
#endif
}

// The tile's row of value `i` of pack `slot`, in memory order; not below `extent` for padding.
uint row_of_value(uint slot, uint i, uint extent) {
    uint position = slot_of_pack(slot) + i;
    return HAS_PADDING ? row_of_slot(position, extent) : position;
}
#endif

#ifdef SOURCE_WORDS
// As load_tile, of elements that a function of the caller computes.
void transform_tile(Words source, Tile tile, Words data) {
    Words first = rows_from(source, tile, SOURCE_WORDS);
    [[unroll]] for (uint slot = 0; slot < PACKS; slot++) {
        [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
            uint row = row_of_value(slot, i, tile.extent);
            packs[slot][i] = value_identity();
            if (row < tile.extent) {
                packs[slot][i] = transformed(first, row, first_index(tile) + row, data);
            }
        }
        reverse_pack(packs[slot]);
    }
}
#endif

#ifdef RESULT_WORDS
// As store_tile, of results of another type.
void store_results(Words destination, Tile tile, Words data) {
    Words first = rows_from(destination, tile, RESULT_WORDS);
    [[unroll]] for (uint slot = 0; slot < PACKS; slot++) {
        reverse_pack(packs[slot]);
        [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
            uint row = row_of_value(slot, i, tile.extent);
            if (row < tile.extent) {
                store_result(first, row, packs[slot][i], first_index(tile) + row, data);
            }
        }
    }
}
#endif

#ifdef HEADED
#include "scan/heads.glsl"
#else
#define load_heads(heads, tile, tiles) 0
#define load_initial(words, column_count, column)
#define not_a_head(value) value
#define with_head(value, heads, slot, i) value
#define without_head(element) element
#define exclusive_result(before, heads, slot, i) before
#endif

// The total of the invocation's run in round `round`. `heads`, here and below, holds the head flags of a HEADED
// build.
Element reduce_run(uint round, uint heads) {
    Element total = identity();
    [[unroll]] for (uint p = 0; p < PACKS_PER_RUN; p++) {
        uint slot = round * PACKS_PER_RUN + p;
        [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
            total = combine(total, with_head(packs[slot][i], heads, slot, i));
        }
    }
    return total;
}

#ifdef SUBGROUP_BY_SHUFFLE
// Inclusive subgroup scans, one for each round. The loop over rounds is the inner one: around the loop over distances
// it would not be unrolled, and arrays indexed by round would not stay in registers.
void subgroup_inclusive_scans(inout Element totals[RUNS_PER_INVOCATION]) {
    for (uint distance = 1; distance < gl_SubgroupSize; distance *= 2) {
        [[unroll]] for (uint round = 0; round < RUNS_PER_INVOCATION; round++) {
            totals[round] = combine_earlier(totals[round], distance);
        }
    }
}

#define subgroup_total_of(scanned) element_of_last_lane(scanned)
#define lane_prefix_of(scanned, total) exclusive_of_inclusive(scanned, total)
#else
#define subgroup_inclusive_scans(totals)
#define subgroup_total_of(total) subgroup_reduce(total)
#define lane_prefix_of(value, total) subgroup_exclusive_scan(value, total)
#endif

// The totals of the invocation's runs.
void reduce_runs(uint heads, out Element totals[RUNS_PER_INVOCATION]) {
    [[unroll]] for (uint round = 0; round < RUNS_PER_INVOCATION; round++) {
        totals[round] = reduce_run(round, heads);
    }
}

// The total of the loaded tile. Every invocation of the workgroup must call it, with a barrier after the previous use
// of the workgroup scan.
Element reduce_tile(uint heads) {
#ifdef SCANS_INVOCATIONS
    Element tile_total;
    invocations_exclusive_scan(reduce_run(0, heads), tile_total);
    return tile_total;
#else
    Element totals[RUNS_PER_INVOCATION];
    reduce_runs(heads, totals);
    subgroup_inclusive_scans(totals);
    Element subgroup_total = identity();
    [[unroll]] for (uint round = 0; round < RUNS_PER_INVOCATION; round++) {
        subgroup_total = combine(subgroup_total, subgroup_total_of(totals[round]));
    }
    Element tile_total;
    workgroup_exclusive_scan(subgroup_total, tile_total);
    return tile_total;
#endif
}

// Load-and-reduce of the loaded tile: the exclusive prefix of the subgroup within the tile, or, with a workgroup scan
// of invocations, the exclusive prefix of the invocation, which then has one run. Every invocation of the workgroup must call
// it, once.
Element scan_runs(uint heads, out Element tile_total) {
#ifdef SCANS_INVOCATIONS
    run_prefix[0] = identity();
    return invocations_exclusive_scan(reduce_run(0, heads), tile_total);
#else
    reduce_runs(heads, run_prefix);
    subgroup_inclusive_scans(run_prefix);
    Element subgroup_total = identity();
    [[unroll]] for (uint round = 0; round < RUNS_PER_INVOCATION; round++) {
        Element round_total;
        Element lane_prefix = lane_prefix_of(run_prefix[round], round_total);
        run_prefix[round] = combine(subgroup_total, lane_prefix);
        subgroup_total = combine(subgroup_total, round_total);
    }
    return workgroup_exclusive_scan(subgroup_total, tile_total);
#endif
}

// Apply: scans each run from its own prefix, after scan_runs. `carry` is the prefix of the subgroup.
void apply_carry(uint heads, Element carry) {
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
        }
    }
}
