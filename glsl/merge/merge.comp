// Merge of two sorted arrays into one, stable: of equal keys those of a come first.
//
// A workgroup merges a tile of the result. The tile begins and ends on two diagonals of the merge path, the way through the
// grid of a's and b's keys that the result takes; a search on each finds how many keys are a's before it, by as many tests
// at a time as a subgroup has lanes. Those of the tile are copied to shared memory, where each invocation finds its own
// diagonal by halving and merges some keys one by one. The places of the tile's keys are then read in their new order.
// Accesses are words, since the tile's part of each array begins at any key; neighbouring lanes access neighbouring ones.
// With ROUNDS an invocation loads several before it uses the first.
//
// With FUNCTIONS keys are elements of the caller's, which compare by `less`. It reads them by address, so that none is in
// shared memory: the elements of a tile stay in caches, and their words move as those of values do.
//
//   s_keys     | a's keys of the tile | b's keys |
//   s_places   | place in s_keys of key 0 and, in the high half, of key 1 | of keys 2 and 3 | … |
//
// Dispatch: a workgroup for each TILE_ITEMS keys of both arrays together.
// Reads:    a and b, a_count and b_count keys; a_values and b_values, WORDS_PER_VALUE words for each key; indirect_counts,
//           a_count and b_count, where it is not null; with FUNCTIONS data.
// Writes:   destination, the keys of both; destination_values, likewise.
// Shared:   KEY_WORDS words and a half for each key of a tile, with FUNCTIONS half a word, and 2 words.
// Limits:   less than 2^32 keys together; a tile is up to 2^16 keys, and 2^15 words of values and elements for each invocation,
//           since LOOPS_END_AT_65535.
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
#include "common/dispatch.glsl"

// Even.
layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 2;
#ifdef ROUNDS
// Keys, and words of values, that an invocation loads before it uses the first.
layout(constant_id = ID_LOADS_IN_FLIGHT) const uint LOADS_IN_FLIGHT = 8;
#endif
// 0 without values. A constant, so that the compiler divides by multiplication.
layout(constant_id = ID_WORDS_PER_VALUE) const uint WORDS_PER_VALUE = 0;

const uint TILE_ITEMS = WORKGROUP_SIZE * ITEMS_PER_INVOCATION;
#ifdef ROUNDS
// Keys, or words of values, of a round of loads, and the distance of an invocation's last one from its first. What is left
// of a tile is loaded one by one.
const uint ROUND_ITEMS = WORKGROUP_SIZE * LOADS_IN_FLIGHT;
const uint LAST_LOAD = ROUND_ITEMS - WORKGROUP_SIZE;
#endif

layout(push_constant, std430) uniform Push {
    Words a;
    Words b;
    Words destination;
    Words a_values;
    Words b_values;
    Words destination_values;
    Words indirect_counts;
    uint a_count;
    uint b_count;
#ifdef FUNCTIONS
    Words data;
#endif
} push;

#ifndef FUNCTIONS
// In numpy's order the keys, since several may have one order; else their orders.
shared Key s_keys[TILE_ITEMS];
#endif
shared uint s_places[TILE_ITEMS / 2];
shared uint s_begins[2];

#ifdef FUNCTIONS
// The address of an element.
#define Key uvec2

// The tile's first element of a and of b; how many it has of a, and in all.
uvec2 first_of_a;
uvec2 first_of_b;
uint tile_a_extent;
uint tile_extent;

Key order_at(uint place) {
    uint element = min(place, tile_extent - 1);
    bool is_of_a = element < tile_a_extent;
    return element_at(is_of_a ? first_of_a : first_of_b, is_of_a ? element : element - tile_a_extent);
}

bool comes_before(Key a, Key b) {
    return less(Words(a), Words(b), push.data);
}

bool goes_before(uint a_index, uint b_index) {
    return !comes_before(element_at(uvec2(push.b), b_index), element_at(uvec2(push.a), a_index));
}
#else
Key key_at(uvec2 keys, uint index) {
    return load_key(Words(advance(keys, index, 4 * KEY_WORDS)), 0);
}

// The key as it is in shared memory.
Key shared_form(Key key) {
    return KEY_NUMBERS == NUMPY_FLOAT ? key : ordered(key);
}

Key load_shared(uint place) {
    return s_keys[min(place, TILE_ITEMS - 1)];
}

Key order_at(uint place) {
    Key key = load_shared(place);
    return KEY_NUMBERS == NUMPY_FLOAT ? compared(key) : key;
}

bool comes_before(Key a, Key b) {
    return is_less(a, b);
}

bool goes_before(uint a_index, uint b_index) {
    Key of_a = compared(key_at(uvec2(push.a), a_index));
    return !is_less(compared(key_at(uvec2(push.b), b_index)), of_a);
}

// Key `place` of a tile, whose first keys are a's.
Key key_of_tile(uvec2 a, uvec2 b, uint a_extent, uint place) {
    return key_at(place < a_extent ? a : b, place < a_extent ? place : place - a_extent);
}

void store_merged(Words destination, uint item, Key merged) {
    store_key(destination, item, KEY_NUMBERS == NUMPY_FLOAT ? merged : unordered(merged));
}
#endif

#include "merge/path.glsl"

uint place_of(uint item) {
    return s_places[item / 2] >> item % 2 * 16 & 0xffff;
}

// Word `index` of a tile's merged rows, of `row_words` words each.
uint row_word(uvec2 a, uvec2 b, uint a_extent, uint row_words, uint index) {
    uint place = place_of(index / row_words);
    bool is_of_a = place < a_extent;
    Words rows = Words(is_of_a ? a : b);
    uint row = is_of_a ? place : place - a_extent;
    return rows.word[row * row_words + index % row_words];
}

// Moves the rows of a tile: values, or elements.
void move_rows(uvec2 a, uvec2 b, uint a_extent, uint row_words, Words destination, uint extent) {
    uint word_count = extent * row_words;
    uint i = gl_LocalInvocationIndex;
#ifdef ROUNDS
    for (; i + LAST_LOAD < word_count; i += ROUND_ITEMS) {
        uint words[LOADS_IN_FLIGHT];
        [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k++) {
            words[k] = row_word(a, b, a_extent, row_words, i + k * WORKGROUP_SIZE);
        }
        [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k++) {
            destination.word[i + k * WORKGROUP_SIZE] = words[k];
        }
    }
#endif
    for (; i < word_count; i += WORKGROUP_SIZE) {
        destination.word[i] = row_word(a, b, a_extent, row_words, i);
    }
}

void main() {
    uvec2 counts = uvec2(push.a_count, push.b_count);
    if (!is_null(push.indirect_counts)) {
        counts = uvec2(push.indirect_counts.word[0], push.indirect_counts.word[1]);
    }
    uint total = counts.x + counts.y;
    uint first = workgroup_index() * TILE_ITEMS;
    // The workgroups of the last row may be beyond 2^32 keys.
    if (workgroup_index() >= total / TILE_ITEMS + (total % TILE_ITEMS == 0 ? 0 : 1)) {
        return;
    }
    uint extent = min(TILE_ITEMS, total - first);
    for (uint side = gl_SubgroupID; side < 2; side += gl_NumSubgroups) {
        uint begin = keys_of_a(first + side * extent, counts);
        if (subgroupElect()) {
            s_begins[side] = begin;
        }
    }
    barrier();
    // Arrays that are not sorted may have the end before the begin, or too far behind it.
    uint a_begin = s_begins[0];
    uint a_extent = clamp(s_begins[1], a_begin, a_begin + extent) - a_begin;
    uint b_begin = first - a_begin;
    uint b_extent = extent - a_extent;
    // Addresses, since SwiftShader takes no pointers that a condition chooses.
#ifdef FUNCTIONS
    first_of_a = element_at(uvec2(push.a), a_begin);
    first_of_b = element_at(uvec2(push.b), b_begin);
    tile_a_extent = a_extent;
    tile_extent = extent;
#else
    uvec2 a = advance(uvec2(push.a), a_begin, 4 * KEY_WORDS);
    uvec2 b = advance(uvec2(push.b), b_begin, 4 * KEY_WORDS);
    uint i = gl_LocalInvocationIndex;
#ifdef ROUNDS
    for (; i + LAST_LOAD < extent; i += ROUND_ITEMS) {
        Key keys[LOADS_IN_FLIGHT];
        [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k++) {
            keys[k] = key_of_tile(a, b, a_extent, i + k * WORKGROUP_SIZE);
        }
        [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k++) {
            s_keys[i + k * WORKGROUP_SIZE] = shared_form(keys[k]);
        }
    }
#endif
    for (; i < extent; i += WORKGROUP_SIZE) {
        s_keys[i] = shared_form(key_of_tile(a, b, a_extent, i));
    }
    barrier();
#endif

    // Fixed steps, since a value that comes out of a loop which lanes leave one by one is wrong on some drivers.
    uint diagonal = min(gl_LocalInvocationIndex * ITEMS_PER_INVOCATION, extent);
    uint a_place = diagonal - min(diagonal, b_extent);
    uint high = min(diagonal, a_extent);
    [[dont_unroll]] for (uint step = 1 << findMSB(TILE_ITEMS); step > 0; step /= 2) {
        uint next = a_place + step;
        bool exists = next <= high;
        Key of_a = order_at(exists ? next - 1 : 0);
        Key of_b = order_at(exists ? a_extent + diagonal - next : 0);
        a_place = exists && !comes_before(of_b, of_a) ? next : a_place;
    }
    uint b_place = a_extent + diagonal - a_place;
    Key of_a = order_at(a_place);
    Key of_b = order_at(b_place);
    uint places = 0;
    [[dont_unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        bool is_of_a = b_place >= extent || a_place < a_extent && !comes_before(of_b, of_a);
        uint place = is_of_a ? a_place : b_place;
        Key next = order_at(place + 1);
        a_place = is_of_a ? place + 1 : a_place;
        b_place = is_of_a ? b_place : place + 1;
        of_a = is_of_a ? next : of_a;
        of_b = is_of_a ? of_b : next;
        places = places >> 16 | place << 16;
        if (i % 2 != 0) {
            s_places[(gl_LocalInvocationIndex * ITEMS_PER_INVOCATION + i) / 2] = places;
        }
    }
    barrier();

#ifdef FUNCTIONS
    Words destination = advance_words(push.destination, first, SOURCE_WORDS);
    move_rows(first_of_a, first_of_b, a_extent, SOURCE_WORDS, destination, extent);
#else
    Words destination = advance_words(push.destination, first, KEY_WORDS);
    i = gl_LocalInvocationIndex;
#ifdef ROUNDS
    for (; i + LAST_LOAD < extent; i += ROUND_ITEMS) {
        Key keys[LOADS_IN_FLIGHT];
        [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k++) {
            keys[k] = load_shared(place_of(i + k * WORKGROUP_SIZE));
        }
        [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k++) {
            store_merged(destination, i + k * WORKGROUP_SIZE, keys[k]);
        }
    }
#endif
    for (; i < extent; i += WORKGROUP_SIZE) {
        store_merged(destination, i, load_shared(place_of(i)));
    }
#endif
    if (WORDS_PER_VALUE == 0) {
        return;
    }
    uvec2 a_values = advance(uvec2(push.a_values), a_begin, WORDS_PER_VALUE * 4);
    uvec2 b_values = advance(uvec2(push.b_values), b_begin, WORDS_PER_VALUE * 4);
    Words destination_values = advance_words(push.destination_values, first, WORDS_PER_VALUE);
    move_rows(a_values, b_values, a_extent, WORDS_PER_VALUE, destination_values, extent);
}
