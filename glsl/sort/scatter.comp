// Moves the keys of each tile to their places in the order of one digit, stably.
//
// Every invocation owns consecutive keys, and counts its own digits in registers. One scan over the packed counts of
// all invocations, digit by digit, ranks every key within the tile. The tile is then put in order in shared memory, so
// that keys of one digit leave as one run.
//
// Dispatch: tile_count workgroups.
// Reads:    keys, element_count words; offsets, RADIX * tile_count words: the exclusive scan of the counts.
// Writes:   sorted, element_count words; must not overlap keys.
// Shared:   max(tile, RADIX / 2 * WORKGROUP_SIZE) + RADIX words, and the workgroup scan's.
// CPU twin: reference::sort::scatter.
// Source:   tutorial 13, cmk_radix_bucket; the ranking is that of Satish, Harris and Garland, "Designing Efficient
//           Sorting Algorithms for Manycore GPUs", IPDPS 2009, with counters packed as in CUB's BlockRadixRank.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common/workgroup_scan.glsl"
#include "sort/pass.glsl"
#include "sort/digit_bytes.glsl"

layout(constant_id = 2) const uint QUADS_PER_INVOCATION = 4;
// Keys are a multiple of 16 bytes.
layout(constant_id = 3) const bool QUAD_ACCESS = false;

const uint ITEMS_PER_INVOCATION = QUADS_PER_INVOCATION * 4;
const uint TILE_ITEMS = WORKGROUP_SIZE * ITEMS_PER_INVOCATION;
// A counter word holds digit w in its low half and digit w + RADIX / 2 in its high half.
const uint COUNTER_WORDS = RADIX / 2;
const uint COUNTERS = COUNTER_WORDS * WORKGROUP_SIZE;

layout(push_constant, std430) uniform Push {
    Words keys;
    Words sorted;
    Words offsets;
    uint tile_count;
    // Keys in the last tile; all others are full.
    uint last_extent;
    uint shift;
    uint digit_mask;
} push;

// First the counters, word-major (word w of invocation i at w * WORKGROUP_SIZE + i), then the tile in order.
shared uint s_tile[TILE_ITEMS > COUNTERS ? TILE_ITEMS : COUNTERS];
// What to add to a key's rank in the tile to get its place in the output.
shared uint s_digit_offset[RADIX];

// A prefix out of the scanned counters: the low or the high half of its word.
uint counter_prefix(uint digit, uint invocation) {
    uint word = s_tile[(digit % COUNTER_WORDS) * WORKGROUP_SIZE + invocation];
    return digit < COUNTER_WORDS ? word & 0xffff : word >> 16;
}

void main() {
    uint tile = workgroup_index();
    if (tile >= push.tile_count) {
        return;
    }
    uint extent = tile + 1 < push.tile_count ? TILE_ITEMS : push.last_extent;
    Words keys = advance_words(push.keys, tile, TILE_ITEMS);
    uint invocation = invocation_index();
    uint first = invocation * ITEMS_PER_INVOCATION;

    // Load, and rank each key among the invocation's own keys of its digit.
    uint key[ITEMS_PER_INVOCATION];
    uint rank[ITEMS_PER_INVOCATION];
    DigitBytes counts = DigitBytes(uvec4(0));
    [[unroll]] for (uint q = 0; q < QUADS_PER_INVOCATION; q++) {
        uint quad_first = first + q * 4;
        uvec4 quad = load_keys(keys, quad_first, extent, QUAD_ACCESS);
        [[unroll]] for (uint i = 0; i < 4; i++) {
            key[q * 4 + i] = quad[i];
            uint digit = digit_of(quad[i], push.shift, push.digit_mask);
            rank[q * 4 + i] = digit_count(counts, digit);
            if (quad_first + i < extent) {
                count_digit(counts, digit);
            }
        }
    }

    // Scan the counters of the whole tile in the order (word, invocation), each invocation a stretch of them.
    [[unroll]] for (uint w = 0; w < COUNTER_WORDS; w++) {
        s_tile[w * WORKGROUP_SIZE + invocation] =
            digit_count(counts, w) | digit_count(counts, w + COUNTER_WORDS) << 16;
    }
    barrier();
    uint stretch_total = 0;
    uint stretch[COUNTER_WORDS];
    [[unroll]] for (uint w = 0; w < COUNTER_WORDS; w++) {
        stretch[w] = s_tile[invocation * COUNTER_WORDS + w];
        stretch_total += stretch[w];
    }
    uint tile_total;
    uint prefix = workgroup_exclusive_scan(subgroup_reduce(stretch_total), tile_total);
    prefix += subgroup_exclusive_scan(stretch_total);
    // All low digits come before all high ones.
    prefix += tile_total << 16;
    [[unroll]] for (uint w = 0; w < COUNTER_WORDS; w++) {
        s_tile[invocation * COUNTER_WORDS + w] = prefix;
        prefix += stretch[w];
    }
    barrier();

    // Rank every key in the tile.
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        rank[i] += counter_prefix(digit_of(key[i], push.shift, push.digit_mask), invocation);
    }
    if (invocation < RADIX) {
        uint offset = push.offsets.word[count_index(invocation, tile, push.tile_count)];
        s_digit_offset[invocation] = offset - counter_prefix(invocation, 0);
    }
    barrier();

    // The counters are spent: put the tile in order in their place.
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (first + i < extent) {
            s_tile[rank[i]] = key[i];
        }
    }
    barrier();
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint place = i * WORKGROUP_SIZE + invocation;
        if (place < extent) {
            uint value = s_tile[place];
            uint digit = digit_of(value, push.shift, push.digit_mask);
            // A place can be beyond 2^31, too far for an index.
            advance_words(push.sorted, s_digit_offset[digit] + place, 1).word[0] = value;
        }
    }
}
