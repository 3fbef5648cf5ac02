// Ranks the keys of a tile by a digit of up to 4 bits: packed counters of every invocation, scanned over the workgroup.
//
// Every invocation owns consecutive keys and counts its own digits in registers. One scan over the counters of all
// invocations, digit by digit, tells where the first key of each digit of each invocation stands in the tile.
//
// It ranks in two steps, as rank_by_match.glsl does, and leaves the same behind.
//
// Shared memory: max(tile, RADIX / 2 * WORKGROUP_SIZE) words, and the workgroup scan's.
// Source: Satish, Harris and Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs", IPDPS 2009; counters
// are packed as in CUB's BlockRadixRank.

#ifndef SUBSWEEP_SORT_RANK
#define SUBSWEEP_SORT_RANK

#include "common/workgroup_scan.glsl"
#include "sort/digit_bytes.glsl"
#include "sort/load_quads.glsl"
#include "sort/tile.glsl"

// A counter word holds digit w in its low half and digit w + RADIX / 2 in its high half.
const uint COUNTER_WORDS = RADIX / 2;
const uint COUNTERS = COUNTER_WORDS * WORKGROUP_SIZE;

// First the counters, word-major (word w of invocation i at w * WORKGROUP_SIZE + i), then the tile in order.
shared uint s_tile[TILE_ITEMS > COUNTERS ? TILE_ITEMS : COUNTERS];

// Of each bin that the invocation handles: the rank of the first of the tile's keys.
uint bin_first[BINS_PER_INVOCATION];

// The blocked arrangement.
uint item_index(uint i) {
    return invocation_index() * ITEMS_PER_INVOCATION + i;
}

// Loads the tile's `extent` keys from `keys` on.
void load_tile(Words keys, uint extent) {
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i += 4) {
        Key quad[4];
        load_quad(keys, item_index(i), extent, quad);
        [[unroll]] for (uint k = 0; k < 4; k++) {
            set_key(i + k, quad[k]);
        }
    }
}

// A prefix out of the scanned counters: the low or the high half of its word.
uint counter_prefix(uint digit, uint invocation) {
    uint word = s_tile[(digit % COUNTER_WORDS) * WORKGROUP_SIZE + invocation];
    return digit < COUNTER_WORDS ? word & 0xffff : word >> 16;
}

// Counts each invocation's keys into its counters, padding included. Every invocation must call it, with a barrier since
// shared memory was last used.
void count_tile(Digit digit, uint extent) {
    DigitBytes counts = DigitBytes(uvec4(0));
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint bin = digit_of(key_at(i), digit.shift, digit.mask);
        rank[i] = digit_count(counts, bin);
        count_digit(counts, bin);
    }
    [[unroll]] for (uint w = 0; w < COUNTER_WORDS; w++) {
        s_tile[w * WORKGROUP_SIZE + invocation_index()] =
            digit_count(counts, w) | digit_count(counts, w + COUNTER_WORDS) << 16;
    }
    barrier();
}

// Ranks the keys, behind count_tile. Every invocation must call it, in uniform flow, and a barrier must come before shared
// memory is used again.
void rank_tile(Digit digit) {
    // The counters of the whole tile are scanned in the order (word, invocation), each invocation a stretch of them.
    uint invocation = invocation_index();
    uint stretch_total = 0;
    uint stretch[COUNTER_WORDS];
    [[unroll]] for (uint w = 0; w < COUNTER_WORDS; w++) {
        stretch[w] = s_tile[invocation * COUNTER_WORDS + w];
        stretch_total += stretch[w];
    }
    uint subgroup_total, tile_total;
    uint prefix = subgroup_exclusive_scan(stretch_total, subgroup_total);
    prefix += workgroup_exclusive_scan(subgroup_total, tile_total);
    // All low digits come before all high ones.
    prefix += tile_total << 16;
    [[unroll]] for (uint w = 0; w < COUNTER_WORDS; w++) {
        s_tile[invocation * COUNTER_WORDS + w] = prefix;
        prefix += stretch[w];
    }
    barrier();

    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        rank[i] += counter_prefix(digit_of(key_at(i), digit.shift, digit.mask), invocation);
    }
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        bin_first[k] = bin_index(k) < RADIX ? counter_prefix(bin_index(k), 0) : 0;
    }
}

#endif
