// Ranking of a tile's keys by a digit of up to 4 bits: packed counters of each invocation, scanned over the
// workgroup.
//
// Each invocation has consecutive keys (the blocked arrangement) and counts its digits in registers. One exclusive
// prefix sum over the counters of all invocations, digit by digit, is the rank of the first key of each digit of each
// invocation.
//
// Shared memory: max(tile / EXCHANGE_PARTS, RADIX / 2 * WORKGROUP_SIZE) words, and the workgroup scan's.
// Source: Satish, Harris and Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs", IPDPS 2009;
//         counters are packed as in CUB's BlockRadixRank.

#include "sort/digit_bytes.glsl"
#include "sort/load_quads.glsl"

// A counter word holds digit w in its low half and digit w + RADIX / 2 in its high half.
const uint COUNTER_WORDS = RADIX / 2;
const uint COUNTERS = COUNTER_WORDS * WORKGROUP_SIZE;

// First the counters, word-major (word w of invocation i at w * WORKGROUP_SIZE + i), then the ranked tile, or a part of it.
shared uint s_tile[EXCHANGED_ITEMS > COUNTERS ? EXCHANGED_ITEMS : COUNTERS];

uint rank[ITEMS_PER_INVOCATION];

#define rank_at(i) rank[i]

// The blocked arrangement.
uint item_index(uint i) {
    return invocation_index() * ITEMS_PER_INVOCATION + i;
}

void load_tile(Words keys, uint extent, out uint words[KEY_WORDS][ITEMS_PER_INVOCATION]) {
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i += 4) {
        Key quad[4];
        load_quad(keys, item_index(i), extent, quad);
        [[unroll]] for (uint k = 0; k < 4; k++) {
            set_key(words, i + k, quad[k]);
        }
    }
}

// A scanned counter: the low or the high half of its word.
uint counter_prefix(uint digit, uint invocation) {
    uint word = s_tile[(digit % COUNTER_WORDS) * WORKGROUP_SIZE + invocation];
    return digit < COUNTER_WORDS ? word & 0xffff : word >> 16;
}

// Counts the invocation's keys into its counters, padding included.
void count_tile(Digit digit, uint extent) {
    ranked_extent = extent;
    DigitBytes counts = DigitBytes(uvec4(0));
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint bin = digit_at(i, digit);
        rank[i] = digit_count(counts, bin);
        count_digit(counts, bin);
    }
    [[unroll]] for (uint w = 0; w < COUNTER_WORDS; w++) {
        s_tile[w * WORKGROUP_SIZE + invocation_index()] =
            digit_count(counts, w) | digit_count(counts, w + COUNTER_WORDS) << 16;
    }
    barrier();
}

void rank_tile(Digit digit) {
    // The tile's counters are scanned in the order (word, invocation), a contiguous part by each invocation.
    uint invocation = invocation_index();
    uint part_total = 0;
    uint part[COUNTER_WORDS];
    [[unroll]] for (uint w = 0; w < COUNTER_WORDS; w++) {
        part[w] = s_tile[invocation * COUNTER_WORDS + w];
        part_total += part[w];
    }
    uint subgroup_total, tile_total;
    uint prefix = subgroup_exclusive_scan(part_total, subgroup_total);
    prefix += workgroup_exclusive_scan(subgroup_total, tile_total);
    // All low digits precede all high ones.
    prefix += tile_total << 16;
    [[unroll]] for (uint w = 0; w < COUNTER_WORDS; w++) {
        s_tile[invocation * COUNTER_WORDS + w] = prefix;
        prefix += part[w];
    }
    barrier();

    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        rank[i] += counter_prefix(digit_at(i, digit), invocation);
    }
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        bin_first[k] = bin_index(k) < RADIX ? counter_prefix(bin_index(k), 0) : 0;
    }
}
