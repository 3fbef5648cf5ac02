// Merge of two sorted arrays into one, stable: of equal keys, the keys of a come first.
//
// A workgroup merges a tile of the result. The tile begins and ends on two diagonals of the merge path, the way through the
// grid of a's and b's keys that the result takes; a search on each finds how many keys are a's before it, by as many tests
// at a time as a subgroup has lanes. The keys of the tile are copied to shared memory, where each invocation finds its own
// diagonal by halving and merges some keys one by one, into registers. By way of shared memory they are stored in order, and
// values follow the positions that their keys had. Accesses are of words, or with KEY_BITS of keys, since the tile's part of each array
// begins at any key; neighbouring lanes access neighbouring ones. With ROUNDS an invocation loads several before it uses the first.
//
// With FUNCTIONS keys are elements of the caller's, which compare by `less`. It reads them by address, so that none is in
// shared memory: the elements of a tile stay in caches, and their words move as the words of values do.
//
//   s_keys      | a's keys of the tile | b's keys |, then the merged keys
//   s_positions | position in s_keys of key 0 and, in the high half, of key 1 | of keys 2 and 3 | … |
//
// Dispatch: a workgroup for each TILE_ITEMS keys of both arrays together.
// Reads:    a and b, a_count and b_count keys; a_values and b_values, WORDS_PER_VALUE words for each key; indirect_counts,
//           a_count and b_count, where it is not null; with FUNCTIONS data.
// Writes:   destination, the keys of both; destination_values, likewise.
// Shared:   KEY_WORDS words for each key of a tile, one with KEY_BITS, with values half a word more, with FUNCTIONS half a word;
//           and 5 words.
// Limits:   2^32 - 1 tiles; without WIDE_OFFSETS, and of counts on the device, 2^32 - 1 keys together; a tile is up to 2^16
//           keys, and 2^15 words of values and elements for each invocation, since LOOPS_END_AT_65535.
// Pass model: none; the first line says the result.
// Source:   Green, McColl and Bader, "GPU Merge Path - A GPU Merging Algorithm", ICS 2012; Odeh, Green, Mwassi, Shmueli and
//           Birk, "Merge Path - Parallel Merging Made Simple", IPDPSW 2012.

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

// Even.
layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 2;
#ifdef ROUNDS
// Keys, and words of values, that an invocation loads before it uses the first.
layout(constant_id = ID_LOADS_IN_FLIGHT) const uint LOADS_IN_FLIGHT = 8;
#endif
// 0 without values. A constant, so that the compiler divides by multiplication.
layout(constant_id = ID_WORDS_PER_VALUE) const uint WORDS_PER_VALUE = 0;

// Whether values, or elements, follow the positions of keys.
#ifdef FUNCTIONS
const bool MOVES_ROWS = true;
#else
const bool MOVES_ROWS = WORDS_PER_VALUE > 0;
#endif

const uint TILE_ITEMS = WORKGROUP_SIZE * ITEMS_PER_INVOCATION;
#ifdef ROUNDS
// Keys, or words of values, of a round of loads. Those beyond a tile's last are loads of this one, so that what is left of a
// tile is in flight together as well.
const uint ROUND_ITEMS = WORKGROUP_SIZE * LOADS_IN_FLIGHT;
#endif

layout(push_constant, std430) uniform Push {
    Words a;
    Words b;
    Words destination;
    Words a_values;
    Words b_values;
    Words destination_values;
    Words indirect_counts;
    uvec2 a_count;
    uvec2 b_count;
#ifdef FUNCTIONS
    Words data;
#endif
} push;

#ifndef FUNCTIONS
// In numpy's order the keys, since several may have one order; else their orders.
shared Key s_keys[TILE_ITEMS];
#endif
shared uint s_positions[MOVES_ROWS ? TILE_ITEMS / 2 : 1];
shared uvec2 s_begins[2];

#ifdef FUNCTIONS
// The tile's first element of a and of b; how many it has of a, and in all.
uvec2 first_of_a;
uvec2 first_of_b;
uint tile_a_extent;
uint tile_extent;

Key order_at(uint position) {
    uint element = min(position, tile_extent - 1);
    bool is_of_a = element < tile_a_extent;
    return element_at(is_of_a ? first_of_a : first_of_b, is_of_a ? element : element - tile_a_extent);
}

bool comes_before(Key a, Key b) {
    return less(Words(a), Words(b), push.data);
}

bool goes_before(uvec2 of_a, uvec2 of_b) {
    return !comes_before(of_b, of_a);
}
#else
// The key as it is in shared memory.
Key shared_form(Key key) {
    return ARE_IN_NUMPY_ORDER ? key : ordered(key);
}

Key order_at(uint position) {
    Key key = s_keys[min(position, TILE_ITEMS - 1)];
    return ARE_IN_NUMPY_ORDER ? compared(key) : key;
}

bool comes_before(Key a, Key b) {
    return is_less(a, b);
}

bool goes_before(uvec2 of_a, uvec2 of_b) {
    return !is_less(compared(load_key(Words(of_b), 0)), compared(load_key(Words(of_a), 0)));
}

// Key `position` of a tile, whose first keys are a's.
Key key_of_tile(uvec2 a, uvec2 b, uint a_extent, uint position) {
    return load_key(Words(position < a_extent ? a : b), position < a_extent ? position : position - a_extent);
}

void store_merged(Words destination, uint item, Key merged) {
    store_key(destination, item, ARE_IN_NUMPY_ORDER ? merged : unordered(merged));
}
#endif

#include "merge/path.glsl"

// The number of a's keys before a diagonal, on which as many keys are merged. Every lane of the subgroup must call it.
uvec2 keys_of_a(uvec2 diagonal, uvec2 a_count, uvec2 b_count) {
    uvec2 low = count_difference(diagonal, count_min(diagonal, b_count));
    uvec2 high = count_min(diagonal, a_count);
    Words a = advance_keys(push.a, low, 1);
    Words b = advance_keys(push.b, count_difference(diagonal, high), 1);
    uvec2 extent = count_difference(high, low);
    if (!WIDE_OFFSETS) {
        return uvec2(low.x + pairs_before_path(a, b, KEY_SIZE, extent.x), 0);
    }
    return wide_sum(low, pairs_before_path(a, b, KEY_SIZE, extent));
}

uint position_of(uint item) {
    return s_positions[item / 2] >> item % 2 * 16 & 0xffff;
}

// Word `index` of a tile's merged rows, of `row_words` words each.
uint row_word(uvec2 a, uvec2 b, uint a_extent, uint row_words, uint index) {
    uint position = position_of(index / row_words);
    Words rows = Words(position < a_extent ? a : b);
    uint row = position < a_extent ? position : position - a_extent;
    return rows.word[row * row_words + index % row_words];
}

// Moves the rows of a tile: values, or elements.
void move_rows(uvec2 a, uvec2 b, uint a_extent, uint row_words, Words destination, uint extent) {
    uint word_count = extent * row_words;
    uint i = gl_LocalInvocationIndex;
#ifdef ROUNDS
    for (; i < word_count; i += ROUND_ITEMS) {
        uint words[LOADS_IN_FLIGHT];
        [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k++) {
            words[k] = row_word(a, b, a_extent, row_words, min(i + k * WORKGROUP_SIZE, word_count - 1));
        }
        [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k++) {
            uint index = i + k * WORKGROUP_SIZE;
            if (index < word_count) {
                destination.word[index] = words[k];
            }
        }
    }
#else
    for (; i < word_count; i += WORKGROUP_SIZE) {
        destination.word[i] = row_word(a, b, a_extent, row_words, i);
    }
#endif
}

// The number of a's keys before a diagonal of the tile, by halving.
uint keys_of_a_in_tile(uint diagonal, uint a_extent, uint b_extent) {
    // Fixed steps, since a value that comes out of a loop which lanes leave one by one is wrong on some drivers.
    uint a_position = diagonal - min(diagonal, b_extent);
    uint high = min(diagonal, a_extent);
    [[dont_unroll]] for (uint step = 1 << findMSB(TILE_ITEMS); step > 0; step /= 2) {
        uint next = a_position + step;
        bool exists = next <= high;
        Key of_a = order_at(exists ? next - 1 : 0);
        Key of_b = order_at(exists ? a_extent + diagonal - next : 0);
        a_position = exists && !comes_before(of_b, of_a) ? next : a_position;
    }
    return a_position;
}

#ifndef FUNCTIONS
// Copies the keys of a tile to shared memory.
void load_keys(uvec2 a, uvec2 b, uint a_extent, uint extent) {
    uint i = gl_LocalInvocationIndex;
#ifdef ROUNDS
    for (; i < extent; i += ROUND_ITEMS) {
        Key keys[LOADS_IN_FLIGHT];
        [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k++) {
            keys[k] = key_of_tile(a, b, a_extent, min(i + k * WORKGROUP_SIZE, extent - 1));
        }
        [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k++) {
            uint position = i + k * WORKGROUP_SIZE;
            if (position < extent) {
                s_keys[position] = shared_form(keys[k]);
            }
        }
    }
#else
    for (; i < extent; i += WORKGROUP_SIZE) {
        s_keys[i] = shared_form(key_of_tile(a, b, a_extent, i));
    }
#endif
}

// Stores the merged keys of a tile in order, from shared memory.
void store_keys(Words destination, uint extent) {
    uint i = gl_LocalInvocationIndex;
#ifdef ROUNDS
    for (; i < extent; i += ROUND_ITEMS) {
        Key keys[LOADS_IN_FLIGHT];
        [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k++) {
            keys[k] = s_keys[min(i + k * WORKGROUP_SIZE, extent - 1)];
        }
        [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k++) {
            uint position = i + k * WORKGROUP_SIZE;
            if (position < extent) {
                store_merged(destination, position, keys[k]);
            }
        }
    }
#else
    for (; i < extent; i += WORKGROUP_SIZE) {
        store_merged(destination, i, s_keys[i]);
    }
#endif
}
#endif

void main() {
    uvec2 a_count = push.a_count;
    uvec2 b_count = push.b_count;
    if (!is_null(push.indirect_counts)) {
        a_count = uvec2(push.indirect_counts.word[0], 0);
        b_count = uvec2(push.indirect_counts.word[1], 0);
    }
    uvec2 total = wide_sum(a_count, b_count);
    uvec2 first = wide_product(workgroup_index(), TILE_ITEMS);
    // From the tile's first key to the last of all. One comparison: after several lavapipe masks the lanes of all that follows.
    uvec2 last = wide_difference(wide_difference(total, first), uvec2(1, 0));
    if (int(last.y) < 0) {
        return;
    }
    first = narrowed(first);
    uint extent = min(TILE_ITEMS - 1, last.y > 0 ? ~0u : last.x) + 1;
    for (uint side = gl_SubgroupID; side < 2; side += gl_NumSubgroups) {
        uvec2 begin = keys_of_a(count_sum(first, uvec2(side * extent, 0)), a_count, b_count);
        if (subgroupElect()) {
            s_begins[side] = begin;
        }
    }
    barrier();
    // Arrays that are not sorted may have the end before the begin, or too far after it.
    uvec2 a_begin = narrowed(s_begins[0]);
    uvec2 a_end = count_min(s_begins[1], count_sum(a_begin, uvec2(extent, 0)));
    uint a_extent = count_difference(a_end, count_min(a_begin, a_end)).x;
    uvec2 b_begin = count_difference(first, a_begin);
    // Addresses, since SwiftShader takes no pointers that a condition chooses.
    uvec2 a = uvec2(advance_keys(push.a, a_begin, 1));
    uvec2 b = uvec2(advance_keys(push.b, b_begin, 1));
#ifdef FUNCTIONS
    first_of_a = a;
    first_of_b = b;
    tile_a_extent = a_extent;
    tile_extent = extent;
#else
    load_keys(a, b, a_extent, extent);
    barrier();
#endif

    uint diagonal = min(gl_LocalInvocationIndex * ITEMS_PER_INVOCATION, extent);
    uint a_position = keys_of_a_in_tile(diagonal, a_extent, extent - a_extent);
    uint b_position = a_extent + diagonal - a_position;
    Key of_a = order_at(a_position);
    Key of_b = order_at(b_position);
    uint positions = 0;
#ifndef FUNCTIONS
    Key merged[ITEMS_PER_INVOCATION];
#endif
#ifdef FUNCTIONS
    // The caller's function is compiled once.
    [[dont_unroll]]
#else
    [[unroll]]
#endif
    for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        bool is_of_a = b_position >= extent || a_position < a_extent && !comes_before(of_b, of_a);
        uint position = is_of_a ? a_position : b_position;
#ifndef FUNCTIONS
        if (ARE_IN_NUMPY_ORDER) {
            merged[i] = s_keys[min(position, TILE_ITEMS - 1)];
        } else {
            merged[i] = is_of_a ? of_a : of_b;
        }
#endif
        Key next = order_at(position + 1);
        a_position = is_of_a ? position + 1 : a_position;
        b_position = is_of_a ? b_position : position + 1;
        of_a = is_of_a ? next : of_a;
        of_b = is_of_a ? of_b : next;
        positions = positions >> 16 | position << 16;
        if (MOVES_ROWS && i % 2 != 0) {
            s_positions[(gl_LocalInvocationIndex * ITEMS_PER_INVOCATION + i) / 2] = positions;
        }
    }
    barrier();
#ifndef FUNCTIONS
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        s_keys[gl_LocalInvocationIndex * ITEMS_PER_INVOCATION + i] = merged[i];
    }
    barrier();
#endif

    Words destination = advance_keys(push.destination, first, 1);
#ifdef FUNCTIONS
    move_rows(a, b, a_extent, SOURCE_WORDS, destination, extent);
#else
    store_keys(destination, extent);
#endif
    if (WORDS_PER_VALUE == 0) {
        return;
    }
    uvec2 a_values = uvec2(advance_words(push.a_values, a_begin, WORDS_PER_VALUE));
    uvec2 b_values = uvec2(advance_words(push.b_values, b_begin, WORDS_PER_VALUE));
    Words destination_values = advance_words(push.destination_values, first, WORDS_PER_VALUE);
    move_rows(a_values, b_values, a_extent, WORDS_PER_VALUE, destination_values, extent);
}
