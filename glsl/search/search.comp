// Search in a sorted array: for each needle the number of keys that are less, or that are not greater.
//
// Keys compare as the numbers of numpy do (`common/key.glsl`). The search adds powers of two, from
// the greatest in the count on, to a position: `step` is added if the key before the new position counts. So it never
// branches, and its first steps see the same few keys for every needle. These are in shared memory:
//
//   s_orders   | - | key stride - 1 | key 2 * stride - 1 | key 3 * stride - 1 | … |     stride: 2 to the other steps
//
// An invocation searches for four needles at a time, whose loads are in flight together.
//
// With ALONG_ROWS needles are rows of needle_length keys, each of which is searched for in its own row of sorted_length
// sorted keys; nothing is in shared memory, since the needles of a tile may be of many rows. Needles of more rows than
// sorted ones are searched for in the last of these.
//
// With WIDE_OFFSETS positions are numbers of 64 bits. Steps of 2^32 keys find the high word of each, and the others search on
// among the keys from there to the next step; none are in shared memory.
//
// With FUNCTIONS keys are elements of the caller's, which compare by `less`, and are known by their addresses. Nothing is in
// shared memory, where `less` could not read them: the first steps read the same few elements out of caches.
//
// Dispatch: tile_count workgroups.
// Reads:    sorted, up to sorted_count keys; needles, a key each; indirect_tiles, tile_count and last_extent, where it is
//           not null; indirect_sorted_count, one word, where it is not null; with FUNCTIONS data.
// Writes:   positions, OFFSET_WORDS for each needle.
// Shared:   2^SHARED_STEPS keys; with FUNCTIONS nothing.
// Limits:   2^32 - 1 tiles; without WIDE_OFFSETS less than 2^32 sorted keys; with ALONG_ROWS as many needles.
// Pass model: none; the first line says the result.
// Source:   Knuth, "The Art of Computer Programming", vol. 3, 1973, 6.2.1: a uniform binary search, after L. E. Shar;
//           Khuong and Morin, "Array Layouts for Comparison-Based Searching", ACM JEA, 2017: without branches; Thrust,
//           lower_bound and upper_bound of vectors.

#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef FUNCTIONS
#define USES_LESS
#include "common/called.glsl"
#else
#include "common/key.glsl"
#endif
#include "common/counts.glsl"
#include "common/dispatch.glsl"
#include "common/tiles.glsl"

// A multiple of 4.
layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 4;
// Whether keys that equal the needle count.
layout(constant_id = ID_UPPER) const bool UPPER = false;
#ifndef FUNCTIONS
// Steps whose keys are in shared memory, at least 1.
layout(constant_id = ID_SHARED_STEPS) const uint SHARED_STEPS = 1;
#endif
// Whether each row is searched by itself. Not with WIDE_OFFSETS.
layout(constant_id = ID_ALONG_ROWS) const bool ALONG_ROWS = false;

layout(push_constant, std430) uniform Push {
    Words sorted;
    Words needles;
    Words positions;
    Words indirect_tiles;
    Words indirect_sorted_count;
    uint tile_count;
    // Needles in the last tile; all others are full.
    uint last_extent;
    // Or the maximum of an indirect count.
    uvec2 sorted_count;
    // Keys of a row, both at least 1.
    uint sorted_length;
    uint needle_length;
#ifdef FUNCTIONS
    Words data;
#endif
} push;

#ifdef FUNCTIONS
Key order_of(Words element) {
    return uvec2(element);
}

bool comes_before(Key a, Key b) {
    return less(Words(a), Words(b), push.data);
}
#else
shared Key s_orders[1 << SHARED_STEPS];

Key order_of(Words key) {
    return compared(load_key(key, 0));
}

bool comes_before(Key a, Key b) {
    return is_less(a, b);
}
#endif

// The orders of the keys at `index` of an array.
Key[4] load_orders(Words keys, uvec4 index) {
    Key orders[4];
    [[unroll]] for (uint i = 0; i < 4; i++) {
        orders[i] = order_of(advance_keys(keys, index[i], 1));
    }
    return orders;
}

// The positions after a step to `next`, for those keys before it that count and are among the first `last`.
uvec4 stepped(uvec4 position, uvec4 next, uvec4 last, Key before[4], Key needles[4]) {
    [[unroll]] for (uint i = 0; i < 4; i++) {
        bool counts = UPPER ? !comes_before(needles[i], before[i]) : comes_before(before[i], needles[i]);
        bool exists = next[i] <= last[i];
        position[i] = mix(position[i], next[i], counts && exists);
    }
    return position;
}

void main() {
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    uint tile = workgroup_index();
    if (tile >= tiles.count) {
        return;
    }
    uint count = count_of(push.sorted_count.x, push.indirect_sorted_count);
    // The high word of the count.
    uint blocks = WIDE_OFFSETS && is_null(push.indirect_sorted_count) ? push.sorted_count.y : 0;
    uint last_row = 0;
    if (ALONG_ROWS && count > 0) {
        last_row = max(count / push.sorted_length, 1) - 1;
        count = min(count, push.sorted_length);
    }
    uint steps = blocks > 0 ? 32 : uint(findMSB(count) + 1);
#ifdef FUNCTIONS
    uint shared_steps = 0;
#else
    uint shared_steps = ALONG_ROWS || WIDE_OFFSETS ? 0 : min(steps, SHARED_STEPS);
#endif
    uint other_steps = steps - shared_steps;
#ifndef FUNCTIONS
    // The last of the keys in shared memory.
    uint last = shared_steps == 0 ? 0 : count >> other_steps;
    [[dont_unroll]] for (uint k = gl_LocalInvocationIndex + 1; k <= last; k += WORKGROUP_SIZE) {
        s_orders[k] = order_of(advance_keys(push.sorted, (k << other_steps) - 1, 1));
    }
    barrier();
#endif

    uint tile_items = ITEMS_PER_INVOCATION * WORKGROUP_SIZE;
    uint extent = tile + 1 < tiles.count ? tile_items : tiles.last_extent;
    Words needles = advance_keys(push.needles, tile, tile_items);
    Words positions = advance_words(push.positions, tile, tile_items * OFFSET_WORDS);
    [[dont_unroll]] for (uint begin = 0; begin < extent; begin += 4 * WORKGROUP_SIZE) {
        uvec4 item = begin + gl_LocalInvocationIndex + uvec4(0, 1, 2, 3) * WORKGROUP_SIZE;
        Key sought[4] = load_orders(needles, min(item, uvec4(extent - 1)));
        uvec4 position = uvec4(0);
#ifndef FUNCTIONS
        [[dont_unroll]] for (uint step = (1 << shared_steps) >> 1; step > 0; step /= 2) {
            uvec4 next = position + step;
            uvec4 k = min(next, uvec4(last));
            Key before[4];
            [[unroll]] for (uint i = 0; i < 4; i++) {
                before[i] = s_orders[k[i]];
            }
            position = stepped(position, next, uvec4(last), before, sought);
        }
        position <<= shared_steps == 0 ? 0 : other_steps;
#endif
        // The high word of each position, and the number of keys from there on among which its low word is.
        uvec4 high = uvec4(0);
        uvec4 counts = uvec4(count);
        if (WIDE_OFFSETS) {
            [[dont_unroll]] for (uint step = (1 << findMSB(blocks) + 1) >> 1; step > 0; step /= 2) {
                uvec4 next = high + step;
                Key before[4];
                [[unroll]] for (uint i = 0; i < 4; i++) {
                    uvec2 index = uvec2(~0u, min(next[i], blocks) - 1);
                    before[i] = order_of(advance_keys(push.sorted, index, 1));
                }
                high = stepped(high, next, uvec4(blocks), before, sought);
            }
            counts = mix(uvec4(~0u), counts, equal(high, uvec4(blocks)));
        }
        // The address of the key before each needle's row, or before the keys among which its low word is.
        uvec2 rows[4];
        [[unroll]] for (uint i = 0; i < 4; i++) {
            uint row = ALONG_ROWS ? min((tile * tile_items + item[i]) / push.needle_length, last_row) : 0;
            uvec2 first = WIDE_OFFSETS ? uvec2(0, high[i]) : wide_product(row, push.sorted_length);
            rows[i] = uvec2(advance_keys(push.sorted, wide_difference(first, uvec2(1, 0)), 1));
        }
        [[dont_unroll]] for (uint step = other_steps == 0 ? 0 : 1 << other_steps - 1; step > 0; step /= 2) {
            uvec4 next = position + step;
            Key before[4];
            if (ALONG_ROWS || WIDE_OFFSETS) {
                [[unroll]] for (uint i = 0; i < 4; i++) {
                    before[i] = order_of(advance_keys(Words(rows[i]), min(next[i], counts[i]), 1));
                }
            } else {
                before = load_orders(push.sorted, min(next, uvec4(count)) - 1);
            }
            position = stepped(position, next, counts, before, sought);
        }
        [[unroll]] for (uint i = 0; i < 4; i++) {
            if (item[i] < extent && WIDE_OFFSETS) {
                positions.word[2 * item[i]] = position[i];
                positions.word[2 * item[i] + 1] = high[i];
            } else if (item[i] < extent) {
                positions.word[item[i]] = position[i];
            }
        }
    }
}
