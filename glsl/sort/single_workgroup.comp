// Stable sort of all keys, and of their values, in one workgroup: digit after digit, in registers and shared memory;
// with SEGMENTED of each queued segment, in a workgroup of its own.
//
// Dispatch: 1 workgroup; with SEGMENTED the workgroups of dispatch_args, one for each segment of list; there may be
//           none.
// Reads:    keys, element_count keys, at most a tile, or with FUNCTIONS elements that keys are computed from, and data; values, as many values, or null: then a value is its key's
//           index; indirect_count, where it is not null, one word. With SEGMENTED list, as many segments as
//           dispatch_args counts, of at most a tile each; their keys and values; dispatch_args; indices are masked as in
//           short_segments.comp.
// Writes:   sorted, element_count keys, unless it is null; sorted_values, as many values (only with VALUE_WORDS);
//           with SEGMENTED the keys and values of the segments. They may be keys and values.
// Shared:   the ranking's.
// Pass model: reference::passes::sort::stable_order, and with SEGMENTED reference::passes::segmented_sort::sort_segments.
// Source:   each round is a pass as in scatter.comp; CUB's DeviceRadixSort has a kernel for a single tile, too.

#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef FUNCTIONS
#define USES_KEY_OF
#include "common/called.glsl"
#endif
#include "sort/exchange.glsl"
#ifdef SEGMENTED
#include "sort/segments.glsl"
#else
#include "common/tiles.glsl"
#endif

layout(push_constant, std430) uniform Push {
    Words keys;
    Words sorted;
    Words values;
    Words sorted_values;
#ifdef SEGMENTED
    Words list;
    Words dispatch_args;
#else
    // An indirect count, or null; element_count is its maximum.
    Words indirect_count;
    uint element_count;
#endif
    // The bits to sort by.
    uint begin_bit;
    uint end_bit;
#ifdef SEGMENTED
    // All bits, or 0 for indices within a segment.
    uint begin_mask;
#endif
#ifdef FUNCTIONS
    Words data;
#endif
} push;

// What the workgroup sorts: all keys, or a segment of them. The last row of a dispatch may exceed the workgroup count.
#ifdef SEGMENTED
Segment segment;

#define FIRST_KEY advance_keys(push.keys, segment.begin, 1)
#define FROM_FIRST(array, words) advance_words(array, segment.begin, words)
#define KEY_INDEX(index) (segment.begin + index)
#define VALUE_INDEX(index) ((segment.begin & push.begin_mask) + index)
#define IS_SURPLUS (workgroup_index() >= push.dispatch_args.word[ARGS_TILE_COUNT])

uint load_extent() {
    segment = load_segment(push.list, workgroup_index());
    return segment.extent;
}
#else
#define FIRST_KEY push.keys
#define FROM_FIRST(array, words) array
#define KEY_INDEX(index) index
#define VALUE_INDEX(index) index
#define IS_SURPLUS (workgroup_index() > 0)

uint load_extent() {
    return count_of(push.element_count, push.indirect_count);
}
#endif

#if VALUE_WORDS > 0
// The index in the tile from which each of the invocation's keys came.
uint origin[ITEMS_PER_INVOCATION];

// Permutes the values into the order of the keys.
void permute_values(uint extent) {
    uint value_words[VALUE_WORDS][ITEMS_PER_INVOCATION];
    [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            if (is_null(push.values)) {
                value_words[w][i] = VALUE_INDEX(origin[i]);
            } else if (item_index(i) < extent) {
                value_words[w][i] = FROM_FIRST(push.values, VALUE_WORDS).word[origin[i] * VALUE_WORDS + w];
            }
        }
    }
    // The sort may be in place: orders all reads before the writes.
    buffer_barrier();
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (item_index(i) < extent) {
            [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
                FROM_FIRST(push.sorted_values, VALUE_WORDS).word[item_index(i) * VALUE_WORDS + w] = value_words[w][i];
            }
        }
    }
}
#endif

void main() {
    if (IS_SURPLUS) {
        return;
    }
    uint extent = load_extent();
#ifdef FUNCTIONS
    compute_tile(push.keys, 0, extent, push.data, key_words);
#else
    load_tile(FIRST_KEY, extent, key_words);
#endif
#if VALUE_WORDS > 0
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        origin[i] = item_index(i);
    }
#endif
    for (uint shift = push.begin_bit; shift < push.end_bit; shift += RADIX_BITS) {
        uint width = min(push.end_bit - shift, RADIX_BITS);
        Digit digit = Digit(shift, (1u << width) - 1);
        count_tile(digit, extent);
        rank_tile(digit);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; w++) {
            scatter_to_items(key_words[w]);
        }
#if VALUE_WORDS > 0
        scatter_to_items(origin);
#endif
        barrier();
    }
    if (!is_null(push.sorted)) {
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            if (item_index(i) < extent) {
                store_key(advance_keys(push.sorted, KEY_INDEX(item_index(i)), 1), 0, key_at(i));
            }
        }
    }
#if VALUE_WORDS > 0
    permute_values(extent);
#endif
}
