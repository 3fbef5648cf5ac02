// Ranking of a tile's keys by a digit of up to 8 bits: the lanes of a subgroup match equal digits.
//
// A subgroup has consecutive keys in the subgroup-striped arrangement, and a table with a word for each bin. Item by
// item, its lanes match digits: the rank of a key in the subgroup is the bin's word plus the number of lower matching
// lanes, and the last matching lane advances the word.
//
//   count_tile   tables become the subgroups' counts: with EARLY_COUNTS by atomic adds, else by ranking
//   rank_tile    tables are scanned over the subgroups, and the bins' totals over the bins
//
// With EARLY_COUNTS keys are ranked in rank_tile, from scanned tables: a single-pass sort can publish its counts
// before, and needs fewer registers. With SHARED_MASKS lanes match by a mask for each bin in shared memory, instead
// of a ballot for each bit of the digit; this requires subgroups of up to 32 lanes.
//
// With both, a full tile of one digit keeps its order and is not ranked, since all lanes would contend for the mask
// of one bin.
//
// Ranks in any order take one table of the workgroup and an atomic add for each key, in place of the two functions:
//
//   count_tile_in_any_order   the table becomes the workgroup's counts, and ranks those in the bin
//   rank_tile_in_any_order    adds the bins' first ranks
//
// Shared memory: the larger of a tile and of the tables, RADIX words for each subgroup, or twice as many with
//                SHARED_MASKS; the workgroup scan's, and a word.
// Source: Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022; lanes match as
//         in Ashkiani et al., "GPU Multisplit", PPoPP 2016; early counts and shared masks are from CUB's
//         BlockRadixRankMatchEarlyCounts.

#include "common/main_path.glsl"

// The maximum of subgroups in a workgroup, whatever their size: the number of tables.
layout(constant_id = ID_MAX_SUBGROUPS) const uint MAX_SUBGROUPS = 16;
layout(constant_id = ID_EARLY_COUNTS) const bool EARLY_COUNTS = false;
layout(constant_id = ID_SHARED_MASKS) const bool SHARED_MASKS = false;

const uint TABLES = MAX_SUBGROUPS * RADIX;
const uint RANKING_WORDS = SHARED_MASKS ? 2 * TABLES : TABLES;

// The subgroups' tables, followed by their masks; then the ranked tile.
shared uint s_tile[TILE_ITEMS > RANKING_WORDS ? TILE_ITEMS : RANKING_WORDS];

const bool HAS_EARLY_OUT = EARLY_COUNTS && SHARED_MASKS;
// Whether the tile is full and one bin has all of its keys.
shared bool s_is_one_digit;

uint bin_count[BINS_PER_INVOCATION];

// The ranks; with PACKED_RANKS of two items a word.
uint ranks[PACKED_RANKS ? (ITEMS_PER_INVOCATION + 1) / 2 : ITEMS_PER_INVOCATION];

uint rank_at(uint i) {
    return PACKED_RANKS ? bitfieldExtract(ranks[i / 2], int(i % 2 * 16), 16) : ranks[i];
}

// Sets the rank of item `i`, after the ranks of the items before.
void set_rank(uint i, uint rank) {
    if (PACKED_RANKS) {
        ranks[i / 2] = i % 2 == 0 ? rank : ranks[i / 2] | rank << 16;
    } else {
        ranks[i] = rank;
    }
}

// Adds to the rank of item `i`, which stays below 2^16.
void add_to_rank(uint i, uint addend) {
    ranks[PACKED_RANKS ? i / 2 : i] += PACKED_RANKS ? addend << (i % 2 * 16) : addend;
}

// Orders a subgroup's accesses to shared memory.
void subgroup_shared_barrier() {
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

// Exchanges within a subgroup are atomic: race detectors of shared memory know workgroup barriers alone.
uint load_shared(uint index) {
    return atomicLoad(s_tile[index], gl_ScopeSubgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

void store_shared(uint index, uint word) {
    atomicStore(s_tile[index], word, gl_ScopeSubgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

// The subgroup-striped arrangement.
uint item_index(uint i) {
    return (gl_SubgroupID * ITEMS_PER_INVOCATION + i) * gl_SubgroupSize + gl_SubgroupInvocationID;
}

void load_tile(Words keys, uint extent, out uint words[KEY_WORDS][ITEMS_PER_INVOCATION]) {
    Words first = advance_keys(keys, item_index(0), 1);
    if (extent == TILE_ITEMS) {
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            set_key(words, i, load_key(first, i * gl_SubgroupSize));
        }
    } else {
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            Key key = last_key();
            if (item_index(i) < extent) {
                key = load_key(first, i * gl_SubgroupSize);
            }
            set_key(words, i, key);
        }
    }
}

// The lanes with the same digit.
uvec4 match_digit(uint digit, uvec4 no_lanes) {
    uvec4 differing = no_lanes;
    [[unroll]] for (uint bit = 0; bit < RADIX_BITS; bit++) {
        // The bit, sign-extended: compilers turn a select into a divergent branch.
        int is_set = bitfieldExtract(int(digit), int(bit), 1);
        differing |= subgroupBallot(is_set != 0) ^ uint(is_set);
    }
    return ~differing;
}

// Ranks the keys by the subgroup's table, whose words advance by the ranked keys. Every invocation must call it.
void rank_in_subgroup(Digit digit) {
    uint table = gl_SubgroupID * RADIX;
    uvec4 no_lanes = ~subgroupBallot(true);
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint bin = digit_at(i, digit);
        uvec4 peers;
        if (SHARED_MASKS) {
            atomicOr(s_tile[TABLES + table + bin], gl_SubgroupEqMask.x);
            subgroup_shared_barrier();
            peers = uvec4(load_shared(TABLES + table + bin), 0, 0, 0);
        } else {
            peers = match_digit(bin, no_lanes);
        }
        uint rank = load_shared(table + bin) + subgroupBallotExclusiveBitCount(peers);
        set_rank(i, rank);
        bool is_last = (peers & gl_SubgroupGtMask) == uvec4(0);
        subgroup_shared_barrier();
        if (is_last) {
            store_shared(table + bin, rank + 1);
            if (SHARED_MASKS) {
                store_shared(TABLES + table + bin, 0);
            }
        }
        subgroup_shared_barrier();
    }
}

void count_tile(Digit digit, uint extent) {
    ranked_extent = extent;
    uint table = gl_SubgroupID * RADIX;
    for (uint bin = 0; bin < RADIX; bin += gl_SubgroupSize) {
        store_shared(table + bin + gl_SubgroupInvocationID, 0);
        if (SHARED_MASKS) {
            store_shared(TABLES + table + bin + gl_SubgroupInvocationID, 0);
        }
    }
    subgroup_shared_barrier();
    if (EARLY_COUNTS) {
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            atomicAdd(s_tile[table + digit_at(i, digit)], 1u);
        }
        if (HAS_EARLY_OUT && gl_LocalInvocationIndex == 0) {
            s_is_one_digit = false;
        }
    } else {
        rank_in_subgroup(digit);
    }
    barrier();
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        uint bin = bin_index(k);
        uint count = 0;
        if (bin < RADIX) {
            for (uint subgroup = 0; subgroup < gl_NumSubgroups; subgroup++) {
                count += s_tile[subgroup * RADIX + bin];
            }
        }
        // Padding has the last digit.
        bin_count[k] = bin == digit.mask ? count - (TILE_ITEMS - extent) : count;
        if (HAS_EARLY_OUT && bin_count[k] == TILE_ITEMS) {
            s_is_one_digit = true;
        }
    }
}

// Sets bin_first, by the scan of bin_count. Every invocation must call it, once.
void rank_bins() {
    uint invocation_count = 0;
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        bin_first[k] = invocation_count;
        invocation_count += bin_count[k];
    }
    uint subgroup_count, tile_count;
    uint prefix = subgroup_exclusive_scan(invocation_count, subgroup_count);
    prefix += workgroup_exclusive_scan(subgroup_count, tile_count);
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        bin_first[k] += prefix;
    }
}

void rank_tile(Digit digit) {
    rank_bins();
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        uint bin = bin_index(k);
        if (bin < RADIX) {
            uint first = bin_first[k];
            for (uint subgroup = 0; subgroup < gl_NumSubgroups; subgroup++) {
                uint count = s_tile[subgroup * RADIX + bin];
                s_tile[subgroup * RADIX + bin] = first;
                first += count;
            }
        }
    }
    barrier();
    if (EARLY_COUNTS) {
        // Uniform over the workgroup: lavapipe treats the fences of one branch as workgroup barriers.
        if (HAS_EARLY_OUT && !MAIN_PATH && s_is_one_digit) {
            [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
                set_rank(i, item_index(i));
            }
        } else {
            rank_in_subgroup(digit);
        }
    } else {
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            add_to_rank(i, s_tile[gl_SubgroupID * RADIX + digit_at(i, digit)]);
        }
    }
}

// count_tile for rank_tile_in_any_order.
void count_tile_in_any_order(Digit digit, uint extent) {
    FOR_EACH_BIN(k) {
        s_tile[bin_index(k)] = 0;
    }
    barrier();
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        // Padding is not counted, and ranks last.
        uint rank = item_index(i);
        if (extent == TILE_ITEMS || item_index(i) < extent) {
            rank = atomicAdd(s_tile[digit_of(key_at(i), digit.shift, digit.mask)], 1u);
        }
        set_rank(i, rank);
    }
    barrier();
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        bin_count[k] = bin_index(k) < RADIX ? s_tile[bin_index(k)] : 0;
    }
}

// Ranks the keys; the keys of a digit are in any order.
void rank_tile_in_any_order(Digit digit, uint extent) {
    rank_bins();
    FOR_EACH_BIN(k) {
        s_tile[bin_index(k)] = bin_first[k];
    }
    barrier();
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (extent == TILE_ITEMS || item_index(i) < extent) {
            add_to_rank(i, s_tile[digit_of(key_at(i), digit.shift, digit.mask)]);
        }
    }
}
