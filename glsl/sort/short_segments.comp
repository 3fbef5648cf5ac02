// Stable sort of short segments, and of their values, by comparison counting: a cluster of neighbouring lanes holds a
// segment, and each lane counts the keys that precede its own.
//
// Dispatch: the workgroups of dispatch_args, which may be none; WORKGROUP_SIZE / CLUSTER_LANES segments per
//           workgroup.
// Reads:    list, as many segments as dispatch_args counts, of up to CLUSTER_LANES * ITEMS_PER_INVOCATION keys; keys;
//           values, or null: then a value is its key's index; dispatch_args.
// Writes:   sorted, the keys of these segments, unless it is null; sorted_values, as many values (only with
//           VALUE_WORDS). They may be keys and values.
// Shared:   nothing.
// Pass model: reference::passes::segmented_sort::sort_segments.
// Source:   sorting by counting is that of Knuth, The Art of Computer Programming, vol. 3, section 5.2.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/dispatch.glsl"
#include "sort/key.glsl"
#include "sort/segments.glsl"

// Lanes per segment: a divisor of the subgroup size.
layout(constant_id = ID_CLUSTER_LANES) const uint CLUSTER_LANES = 4;
layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 8;

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
} push;

const uint SEGMENTS_PER_WORKGROUP = WORKGROUP_SIZE / CLUSTER_LANES;

// The bits of a key's order to sort by.
Key compared(Key key) {
#if KEY_WORDS == 2
    return ordered(key) & uvec2(push.low_mask, push.high_mask);
#else
    return ordered(key) & push.low_mask;
#endif
}

bool is_less(Key a, Key b) {
#if KEY_WORDS == 2
    return a.y < b.y || (a.y == b.y && a.x < b.x);
#else
    return a < b;
#endif
}

void main() {
    uint workgroup = workgroup_index();
    uint segment_count = push.dispatch_args.word[ARGS_TILE_COUNT];
    // The first segment of a surplus workgroup may exceed 32 bits.
    if (segment_count == 0 || workgroup > (segment_count - 1) / SEGMENTS_PER_WORKGROUP) {
        return;
    }
    uint index = workgroup * SEGMENTS_PER_WORKGROUP + invocation_index() / CLUSTER_LANES;
    uint lane = gl_SubgroupInvocationID % CLUSTER_LANES;
    uint first_lane = gl_SubgroupInvocationID - lane;
    Segment segment = Segment(0, 0);
    if (index < segment_count) {
        segment = load_segment(push.list, index);
    }
    uint extent = segment.extent;

    Words keys = advance_words(push.keys, segment.begin, KEY_WORDS);
    Key key[ITEMS_PER_INVOCATION];
    Key own[ITEMS_PER_INVOCATION];
    Key others[ITEMS_PER_INVOCATION];
    uint rank[ITEMS_PER_INVOCATION];
#if VALUE_WORDS > 0
    // Advanced even if null: SwiftShader crashes on a pointer that a branch has selected.
    Words values = advance_words(push.values, segment.begin, VALUE_WORDS);
    uint value[VALUE_WORDS][ITEMS_PER_INVOCATION];
    bool are_indices = is_null(push.values);
#endif
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint position = i * CLUSTER_LANES + lane;
        key[i] = Key(0);
        rank[i] = 0;
        if (position < extent) {
            key[i] = load_key(keys, position);
        }
        own[i] = compared(key[i]);
        others[i] = own[i];
#if VALUE_WORDS > 0
        [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
            value[w][i] = segment.begin + position;
            if (!are_indices && position < extent) {
                value[w][i] = values.word[position * VALUE_WORDS + w];
            }
        }
#endif
    }

    // Both loops are not unrolled and run to the longest segment. The other lanes' keys shift to the first element of
    // the array, since an array indexed by such a loop would not stay in registers.
    uint longest = subgroupMax(extent);
    for (uint k = 0; k < ITEMS_PER_INVOCATION && k * CLUSTER_LANES < longest; k++) {
        for (uint l = 0; l < CLUSTER_LANES && k * CLUSTER_LANES + l < longest; l++) {
            uint position = k * CLUSTER_LANES + l;
            Key other = subgroupShuffle(others[0], first_lane + l);
            [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
                bool is_earlier = position < i * CLUSTER_LANES + lane;
                bool is_before = is_less(other, own[i]) || (is_earlier && other == own[i]);
                rank[i] += position < extent && is_before ? 1 : 0;
            }
        }
        [[unroll]] for (uint i = 1; i < ITEMS_PER_INVOCATION; i++) {
            others[i - 1] = others[i];
        }
    }

    // The sort may be in place: orders the reads of a segment before its writes. Only one subgroup accesses a
    // segment.
    subgroupBarrier();
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (i * CLUSTER_LANES + lane < extent) {
            // The index may exceed 2^31, which an array index cannot.
            uint sorted_index = segment.begin + rank[i];
            if (!is_null(push.sorted)) {
                store_key(advance_words(push.sorted, sorted_index, KEY_WORDS), key[i]);
            }
#if VALUE_WORDS > 0
            Words to = advance_words(push.sorted_values, sorted_index, VALUE_WORDS);
            [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
                to.word[w] = value[w][i];
            }
#endif
        }
    }
}
