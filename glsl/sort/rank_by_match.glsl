// Ranks a tile's keys by a digit of up to 8 bits: lanes of a subgroup that have the same digit find each other.
//
// A subgroup owns consecutive keys in the subgroup-striped arrangement, and a table with a word for each bin. Key by key,
// its lanes match digits: a key's rank in the subgroup is the bin's word and the number of lower lanes that match, and the
// last of the matching lanes moves the word on.
//
//   count_tile   tables hold the subgroup's counts: with EARLY_COUNTS by atomic adds, else by ranking
//   rank_tile    tables are scanned over the subgroups, and the bins' totals over the bins
//
// With EARLY_COUNTS keys are ranked in rank_tile, from tables that are already scanned: a single-pass sort can publish its
// counts before, and needs fewer registers. With SHARED_MASKS lanes match by a mask for each bin in shared memory, in place
// of a ballot for each bit of the digit; it takes subgroups of up to 32 lanes.
//
// A full tile in which all keys have the same digit keeps their order: with both it is not ranked, since all lanes would add to
// the mask of one bin.
//
// Shared memory: the larger of a tile and of the tables, RADIX words for each subgroup, or twice as many with SHARED_MASKS;
// the workgroup scan's, and a word.
// Source: Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022; lanes match as in
// Ashkiani et al., "GPU Multisplit", PPoPP 2016; early counts and shared masks are those of CUB's BlockRadixRankMatchEarlyCounts.

#ifndef SUBSWEEP_SORT_RANK_BY_MATCH
#define SUBSWEEP_SORT_RANK_BY_MATCH

#extension GL_KHR_shader_subgroup_ballot : require
#include "common/main_path.glsl"
#include "common/workgroup_scan.glsl"
#include "sort/tile.glsl"

// The most subgroups that the workgroup can have, whatever their size: room for their tables.
layout(constant_id = 6) const uint MAX_SUBGROUPS = 16;
layout(constant_id = 11) const bool EARLY_COUNTS = false;
layout(constant_id = 12) const bool SHARED_MASKS = false;

const uint TABLES = MAX_SUBGROUPS * RADIX;
const uint RANKING_WORDS = SHARED_MASKS ? 2 * TABLES : TABLES;

// The subgroups' tables, and behind them their masks; then the tile.
shared uint s_tile[TILE_ITEMS > RANKING_WORDS ? TILE_ITEMS : RANKING_WORDS];

const bool HAS_EARLY_OUT = EARLY_COUNTS && SHARED_MASKS;
// Whether the tile is full, and one bin has all of its keys.
shared bool s_is_one_digit;

// Of each bin that the invocation handles: the tile's keys, and the rank of the first of them.
uint bin_count[BINS_PER_INVOCATION];
uint bin_first[BINS_PER_INVOCATION];

// Orders what a subgroup does in shared memory.
void subgroup_shared_barrier() {
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

// What lanes exchange within a subgroup is atomic: a watch over shared memory knows the barriers of workgroups alone.
uint load_shared(uint index) {
    return atomicLoad(s_tile[index], gl_ScopeSubgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

void store_shared(uint index, uint word) {
    atomicStore(s_tile[index], word, gl_ScopeSubgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

uint item_index(uint i) {
    return (gl_SubgroupID * ITEMS_PER_INVOCATION + i) * gl_SubgroupSize + gl_SubgroupInvocationID;
}

// Loads the tile's `extent` keys from `keys` on.
void load_tile(Words keys, uint extent) {
    Words first = advance_words(keys, item_index(0), KEY_WORDS);
    if (extent == TILE_ITEMS) {
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            set_key(i, load_key(first, i * gl_SubgroupSize));
        }
    } else {
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            Key key = last_key();
            if (item_index(i) < extent) {
                key = load_key(first, i * gl_SubgroupSize);
            }
            set_key(i, key);
        }
    }
}

// The lanes that have the same digit.
uvec4 match_digit(uint digit, uvec4 no_lanes) {
    uvec4 differing = no_lanes;
    [[unroll]] for (uint bit = 0; bit < RADIX_BITS; bit++) {
        // The bit in all bits: compilers make a divergent branch of a select.
        int is_set = bitfieldExtract(int(digit), int(bit), 1);
        differing |= subgroupBallot(is_set != 0) ^ uint(is_set);
    }
    return ~differing;
}

// Ranks the keys from the subgroup's table on, which then holds what comes behind them. Every invocation must call it.
void rank_in_subgroup(Digit digit) {
    uint table = gl_SubgroupID * RADIX;
    uvec4 no_lanes = ~subgroupBallot(true);
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint bin = digit_of(key_at(i), digit.shift, digit.mask);
        uvec4 peers;
        if (SHARED_MASKS) {
            atomicOr(s_tile[TABLES + table + bin], gl_SubgroupEqMask.x);
            subgroup_shared_barrier();
            peers = uvec4(load_shared(TABLES + table + bin), 0, 0, 0);
        } else {
            peers = match_digit(bin, no_lanes);
        }
        rank[i] = load_shared(table + bin) + subgroupBallotExclusiveBitCount(peers);
        bool is_last = (peers & gl_SubgroupGtMask) == uvec4(0);
        subgroup_shared_barrier();
        if (is_last) {
            store_shared(table + bin, rank[i] + 1);
            if (SHARED_MASKS) {
                store_shared(TABLES + table + bin, 0);
            }
        }
        subgroup_shared_barrier();
    }
}

// Counts the keys of each bin into `bin_count`. Every invocation must call it, in uniform flow, with a barrier since shared
// memory was last used.
void count_tile(Digit digit, uint extent) {
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
            atomicAdd(s_tile[table + digit_of(key_at(i), digit.shift, digit.mask)], 1u);
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

// Ranks the keys, behind count_tile. Every invocation must call it, and a barrier must come before shared memory is used
// again.
void rank_tile(Digit digit) {
    uint invocation_count = 0;
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        bin_first[k] = invocation_count;
        invocation_count += bin_count[k];
    }
    uint subgroup_count, tile_count;
    uint prefix = subgroup_exclusive_scan(invocation_count, subgroup_count);
    prefix += workgroup_exclusive_scan(subgroup_count, tile_count);
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        uint bin = bin_index(k);
        bin_first[k] += prefix;
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
        // The same in all subgroups: lavapipe takes the fences of the one way for barriers of the workgroup.
        if (HAS_EARLY_OUT && !MAIN_PATH && s_is_one_digit) {
            [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
                rank[i] = item_index(i);
            }
        } else {
            rank_in_subgroup(digit);
        }
    } else {
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            rank[i] += s_tile[gl_SubgroupID * RADIX + digit_of(key_at(i), digit.shift, digit.mask)];
        }
    }
}

#endif
