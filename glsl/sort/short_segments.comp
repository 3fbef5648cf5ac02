// Stable sort of short segments, and of their values, in registers: a cluster of neighbouring lanes holds a segment, and
// ranks its keys by counting, or with BY_NETWORK sorts them by a network.
//
// Keys are compared by the bits to sort by and then by their index in the segment, by which keys and values are loaded
// after a network; keys alone need no index there if those that are compared as equal are the same.
//
//   position i * CLUSTER_LANES + l of a segment: row i of lane l
//
// Dispatch: the workgroups of dispatch_args, which may be none; WORKGROUP_SIZE / CLUSTER_LANES segments per
//           workgroup.
// Reads:    list, as many segments as dispatch_args counts, of up to CLUSTER_LANES * ITEMS_PER_INVOCATION keys; keys;
//           values, or null: then a value is its key's index, in its segment or with begin_mask in all keys;
//           dispatch_args.
// Writes:   sorted, the keys of these segments, unless it is null; sorted_values, as many values (only with
//           VALUE_WORDS). They may be keys and values.
// Shared:   nothing.
// Pass model: reference::passes::segmented_sort::sort_segments.
// Source:   in cluster_network.glsl and cluster_counting.glsl.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/dispatch.glsl"
#include "common/key.glsl"
#include "sort/segments.glsl"

// Lanes per segment: a power of two, and at most the subgroup size.
layout(constant_id = ID_CLUSTER_LANES) const uint CLUSTER_LANES = 4;
// Keys per lane, at most 16.
layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 8;
#ifdef BY_NETWORK
// Keys are compared by all bits, so that equal ones are the same.
layout(constant_id = ID_ALL_BITS) const bool ALL_BITS = false;
#endif

layout(push_constant, std430) uniform Push {
    Words keys;
    Words sorted;
    Words values;
    Words sorted_values;
    Words list;
    Words dispatch_args;
    // Masks of the bits to sort by, in the low and high word of a key's order.
    uint low_mask;
    uint high_mask;
    // All bits, or 0 for indices within a segment.
    uint begin_mask;
} push;

const uint SEGMENTS_PER_WORKGROUP = WORKGROUP_SIZE / CLUSTER_LANES;
#ifdef BY_NETWORK
// Whether elements are compared by their index.
const bool HAS_INDICES = VALUE_WORDS > 0 || !ALL_BITS;
#else
const bool HAS_INDICES = true;
#endif

// Rows of the lower half.
const uint HALF_ROWS = (ITEMS_PER_INVOCATION + 1) / 2;

// Of the elements of a lane, the bits to sort by.
Key order[ITEMS_PER_INVOCATION];

// The bits of a key's order to sort by.
Key compared_bits(Key key) {
#if KEY_WORDS == 2
    return compared(key) & uvec2(push.low_mask, push.high_mask);
#else
    return compared(key) & push.low_mask;
#endif
}

bool is_less(Key a, uint a_index, Key b, uint b_index) {
    if (!HAS_INDICES) {
        return is_less(a, b);
    }
    return mix(is_less(a, b), a_index < b_index, a == b);
}

// Whether a row may have elements of a segment of `longest`, the longest one of the subgroup. Rows of the upper half are
// skipped together, by a branch of all lanes, which a comparison of each lane's position would not be.
bool has_row(uint i, uint longest) {
    return i < HALF_ROWS || HALF_ROWS * CLUSTER_LANES < longest;
}

#ifdef BY_NETWORK
#include "sort/cluster_network.glsl"
#else
#include "sort/cluster_counting.glsl"
#endif

void main() {
    uint workgroup = workgroup_index();
    uint segment_count = push.dispatch_args.word[ARGS_TILE_COUNT];
    // The first segment of a surplus workgroup may exceed 32 bits.
    if (segment_count == 0 || workgroup > (segment_count - 1) / SEGMENTS_PER_WORKGROUP) {
        return;
    }
    uint in_list = workgroup * SEGMENTS_PER_WORKGROUP + invocation_index() / CLUSTER_LANES;
    uint lane = gl_SubgroupInvocationID % CLUSTER_LANES;
    Segment segment = Segment(0, 0);
    if (in_list < segment_count) {
        segment = load_segment(push.list, in_list);
    }
    uint extent = segment.extent;
    uint longest = subgroupMax(extent);

    Words keys = advance_words(push.keys, segment.begin, KEY_WORDS);
    Key key[ITEMS_PER_INVOCATION];
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint position = i * CLUSTER_LANES + lane;
        // Padding, which stays after the keys of a segment.
        key[i] = last_key();
        if (has_row(i, longest)) {
            if (position < extent) {
                key[i] = load_key(keys, position);
            }
        }
        order[i] = PADS_BY_INDEX && position >= extent ? Key(~0) : compared_bits(key[i]);
    }
#ifdef BY_NETWORK
    sort_by_network(lane, longest);
#else
    rank_by_counting(lane, extent, longest);
#endif

    bool writes_keys = !is_null(push.sorted);
#if VALUE_WORDS > 0
    // Advanced even if null: SwiftShader crashes on a pointer that a branch has selected.
    Words values = advance_words(push.values, segment.begin, VALUE_WORDS);
    uint value[VALUE_WORDS][ITEMS_PER_INVOCATION];
    bool are_indices = is_null(push.values);
#endif
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint position = i * CLUSTER_LANES + lane;
        bool exists = has_row(i, longest) && position < extent;
#ifdef BY_NETWORK
        // Of the element that the network has brought here.
        uint from = index[i];
        if (!HAS_INDICES) {
            key[i] = unordered(order[i]);
        }
        if (HAS_INDICES && exists && writes_keys) {
            key[i] = load_key(keys, from);
        }
#else
        uint from = position;
#endif
#if VALUE_WORDS > 0
        [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
            value[w][i] = (segment.begin & push.begin_mask) + from;
            if (exists && !are_indices) {
                value[w][i] = values.word[from * VALUE_WORDS + w];
            }
        }
#endif
    }

    // The sort may be in place: orders the reads of a segment before its writes. Only one subgroup accesses a
    // segment.
    subgroupBarrier();
    Words sorted = advance_words(push.sorted, segment.begin, KEY_WORDS);
#if VALUE_WORDS > 0
    Words sorted_values = advance_words(push.sorted_values, segment.begin, VALUE_WORDS);
#endif
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint position = i * CLUSTER_LANES + lane;
        if (has_row(i, longest) && position < extent) {
#ifndef BY_NETWORK
            position = rank[i];
#endif
            if (writes_keys) {
                store_key(advance_words(sorted, position, KEY_WORDS), 0, key[i]);
            }
#if VALUE_WORDS > 0
            [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
                sorted_values.word[position * VALUE_WORDS + w] = value[w][i];
            }
#endif
        }
    }
}
