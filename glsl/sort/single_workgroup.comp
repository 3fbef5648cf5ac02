// Sorts all keys in one workgroup, stably, and a value with each: digit after digit, in registers and shared memory.
//
// Dispatch: 1 workgroup.
// Reads:    keys, element_count keys, at most a tile; values, as many values, or null: then a value is the key's place;
//           count_on_device, where it is not null, one word.
// Writes:   sorted, element_count keys, or nothing where it is null; sorted_values, as many values (only with
//           VALUE_WORDS). They may be what is read.
// Shared:   the ranking's.
// CPU twin: reference::sort::single_workgroup.
// Source:   scatter.comp, a pass of which is a round here; CUB's DeviceRadixSort has a kernel for a single tile, too.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "sort/rank_by_counters.glsl"
#include "sort/exchange.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
    Words sorted;
    Words values;
    Words sorted_values;
    // Where it is not null, a word that says how many keys there are, of which no more than element_count are taken.
    Words count_on_device;
    uint element_count;
    // The bits to sort by.
    uint begin_bit;
    uint end_bit;
} push;

bool is_null(Words words) {
    return all(equal(uvec2(words), uvec2(0)));
}

#if VALUE_WORDS > 0
// Where the invocation's keys came from.
uint origin[ITEMS_PER_INVOCATION];

// Puts the values in the order of the keys.
void move_values(uint extent) {
    uint value_words[VALUE_WORDS][ITEMS_PER_INVOCATION];
    [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            if (is_null(push.values)) {
                value_words[w][i] = origin[i];
            } else if (item_place(i) < extent) {
                value_words[w][i] = push.values.word[origin[i] * VALUE_WORDS + w];
            }
        }
    }
    // All are read before one is written over.
    memoryBarrierBuffer();
    barrier();
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (item_place(i) < extent) {
            [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
                push.sorted_values.word[item_place(i) * VALUE_WORDS + w] = value_words[w][i];
            }
        }
    }
}
#endif

void main() {
    // The last row of a dispatch may be partly beyond the end.
    if (workgroup_index() > 0) {
        return;
    }
    uint extent = push.element_count;
    if (!is_null(push.count_on_device)) {
        extent = min(extent, push.count_on_device.word[0]);
    }
    load_items(push.keys, extent);
#if VALUE_WORDS > 0
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        origin[i] = item_place(i);
    }
#endif
    for (uint shift = push.begin_bit; shift < push.end_bit; shift += RADIX_BITS) {
        uint width = min(push.end_bit - shift, RADIX_BITS);
        rank_items(Digit(shift, (1u << width) - 1), extent);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; w++) {
            exchange_for_before(key_words[w], extent);
        }
#if VALUE_WORDS > 0
        exchange_for_before(origin, extent);
#endif
        barrier();
    }
    if (!is_null(push.sorted)) {
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            if (item_place(i) < extent) {
                store_key(advance_words(push.sorted, item_place(i), KEY_WORDS), key_at(i));
            }
        }
    }
#if VALUE_WORDS > 0
    move_values(extent);
#endif
}
