// Search in a sorted array: for each needle the number of keys that are less, or that are not greater.
//
// With NaNs behind all numbers, equal to each other, and -0 equal to 0, as in numpy. The search adds powers of two, from
// the greatest in the count on, to a position: `step` is added if the key before the new position counts. So it never
// branches, and its first steps see the same few keys for every needle. These are in shared memory:
//
//   s_orders   | - | key stride - 1 | key 2 * stride - 1 | key 3 * stride - 1 | … |     stride: 2 to the other steps
//
// An invocation searches for four needles at a time, whose loads are in flight together.
//
// Dispatch: tile_count workgroups.
// Reads:    sorted, up to sorted_count keys; needles, a key each; indirect_tiles, tile_count and last_extent, where it is
//           not null; indirect_sorted_count, one word, where it is not null.
// Writes:   positions, a word for each needle.
// Shared:   2^SHARED_STEPS keys.
// Limits:   less than 2^32 sorted keys.
// Pass model: none; the first line says the result.
// Source:   Knuth, "The Art of Computer Programming", vol. 3, 1973, 6.2.1: a uniform binary search, after L. E. Shar;
//           Khuong and Morin, "Array Layouts for Comparison-Based Searching", ACM JEA, 2017: without branches; Thrust,
//           lower_bound and upper_bound of vectors.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/dispatch.glsl"
#include "common/tiles.glsl"
#include "operator/names.glsl"

// 1 or 2.
layout(constant_id = ID_WORDS_PER_KEY) const uint WORDS_PER_KEY = 1;
// The number type of keys.
layout(constant_id = ID_KEY_NUMBERS) const uint KEY_NUMBERS = UNSIGNED;
// A multiple of 4.
layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 4;
// Whether keys that equal the needle count.
layout(constant_id = ID_UPPER) const bool UPPER = false;
// Steps whose keys are in shared memory, at least 1.
layout(constant_id = ID_SHARED_STEPS) const uint SHARED_STEPS = 1;

layout(push_constant, std430) uniform Push {
    Words sorted;
    Words needles;
    Words positions;
    Words indirect_tiles;
    Words indirect_sorted_count;
    uint tile_count;
    // Needles in the last tile; all others are full.
    uint last_extent;
    // The maximum of an indirect count.
    uint sorted_count;
} push;

// An order's words, low word first.
shared uint s_orders[WORDS_PER_KEY << SHARED_STEPS];

// Four keys, or their orders, by words: 0 in place of the low word of a key that has one word.
struct Four {
    uvec4 low;
    uvec4 high;
};

const uint SIGN = 0x80000000;
const uint FLIPPED_SIGN = KEY_NUMBERS == SIGNED ? SIGN : 0;
// Twice the high word of infinity: that of its order.
const uint LAST = WORDS_PER_KEY == 2 ? 0xffe00000 : 0xff000000;
// The high word of a NaN's order.
const uint BEYOND = WORDS_PER_KEY == 2 ? LAST : LAST + 1;
const uint LOW_MASK = WORDS_PER_KEY == 2 ? ~0 : 0;

// The orders of keys, unsigned numbers that compare as the keys do. That of a float is its magnitude, with its sign, after
// that of -infinity; NaNs come to lie behind infinity, from where the negative ones wrap around, and are made equal there.
Four orders(Four keys) {
    keys.high ^= FLIPPED_SIGN;
    if (KEY_NUMBERS == FLOAT) {
        uvec4 negative = uvec4(ivec4(keys.high) >> 31);
        keys.high = ((keys.high & ~SIGN) ^ negative) + (uvec4(equal(keys.low, uvec4(0))) & negative) + LAST / 2;
        keys.low = (keys.low ^ negative) - negative;
        uvec4 low = max(min(keys.low, uvec4(1)), uvec4(greaterThan(keys.high, uvec4(LAST))));
        keys.low = mix(low, keys.low, lessThan(keys.high, uvec4(LAST))) & LOW_MASK;
        keys.high = min(keys.high, uvec4(BEYOND));
    }
    return keys;
}

// The orders of the keys at `index` of an array.
Four load_orders(Words words, uvec4 index) {
    Words key[4];
    [[unroll]] for (uint i = 0; i < 4; i++) {
        key[i] = advance_words(words, index[i], WORDS_PER_KEY);
    }
    Four keys = Four(uvec4(0), uvec4(0));
    [[unroll]] for (uint i = 0; i < 4; i++) {
        keys.high[i] = key[i].word[WORDS_PER_KEY - 1];
    }
    if (WORDS_PER_KEY == 2) {
        [[unroll]] for (uint i = 0; i < 4; i++) {
            keys.low[i] = key[i].word[0];
        }
    }
    return orders(keys);
}

// The positions after a step to `next`, for those keys before it that count and are among the first `last`.
uvec4 stepped(uvec4 position, uvec4 next, uint last, Four before, Four needles) {
    bvec4 low = mix(lessThan(before.low, needles.low), lessThanEqual(before.low, needles.low), bvec4(UPPER));
    bvec4 counts = mix(lessThan(before.high, needles.high), low, equal(before.high, needles.high));
    return mix(position, next, mix(bvec4(false), counts, lessThanEqual(next, uvec4(last))));
}

void main() {
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    uint tile = workgroup_index();
    if (tile >= tiles.count) {
        return;
    }
    uint count = count_of(push.sorted_count, push.indirect_sorted_count);
    uint steps = uint(findMSB(count) + 1);
    uint shared_steps = min(steps, SHARED_STEPS);
    uint other_steps = steps - shared_steps;
    // The last of the keys in shared memory.
    uint last = count >> other_steps;
    [[dont_unroll]] for (uint k = gl_LocalInvocationIndex + 1; k <= last; k += WORKGROUP_SIZE) {
        // Four times the same, of which compilers leave one.
        Four order = load_orders(push.sorted, uvec4((k << other_steps) - 1));
        if (WORDS_PER_KEY == 2) {
            s_orders[WORDS_PER_KEY * k] = order.low.x;
        }
        s_orders[WORDS_PER_KEY * k + WORDS_PER_KEY - 1] = order.high.x;
    }
    barrier();

    uint tile_items = ITEMS_PER_INVOCATION * WORKGROUP_SIZE;
    uint extent = tile + 1 < tiles.count ? tile_items : tiles.last_extent;
    Words needles = advance_words(push.needles, tile, tile_items * WORDS_PER_KEY);
    Words positions = advance_words(push.positions, tile, tile_items);
    [[dont_unroll]] for (uint begin = 0; begin < extent; begin += 4 * WORKGROUP_SIZE) {
        uvec4 item = begin + gl_LocalInvocationIndex + uvec4(0, 1, 2, 3) * WORKGROUP_SIZE;
        Four sought = load_orders(needles, min(item, uvec4(extent - 1)));
        uvec4 position = uvec4(0);
        [[dont_unroll]] for (uint step = (1 << shared_steps) >> 1; step > 0; step /= 2) {
            uvec4 next = position + step;
            uvec4 word = WORDS_PER_KEY * min(next, uvec4(last));
            Four before = Four(uvec4(0), uvec4(0));
            [[unroll]] for (uint i = 0; i < 4; i++) {
                before.high[i] = s_orders[word[i] + WORDS_PER_KEY - 1];
            }
            if (WORDS_PER_KEY == 2) {
                [[unroll]] for (uint i = 0; i < 4; i++) {
                    before.low[i] = s_orders[word[i]];
                }
            }
            position = stepped(position, next, last, before, sought);
        }
        position <<= other_steps;
        [[dont_unroll]] for (uint step = (1 << other_steps) >> 1; step > 0; step /= 2) {
            uvec4 next = position + step;
            Four before = load_orders(push.sorted, min(next, uvec4(count)) - 1);
            position = stepped(position, next, count, before, sought);
        }
        [[unroll]] for (uint i = 0; i < 4; i++) {
            if (item[i] < extent) {
                positions.word[item[i]] = position[i];
            }
        }
    }
}
