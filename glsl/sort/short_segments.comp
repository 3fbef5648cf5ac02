// Sorts short segments, stably, and a value with each key: some neighbouring lanes of a subgroup hold a segment, and each
// counts the keys that come before its own.
//
// Dispatch: the workgroups of dispatch_args, which may be none; WORKGROUP_SIZE / CLUSTER_LANES segments each.
// Reads:    list, the segments that dispatch_args counts, of up to CLUSTER_LANES * ITEMS_PER_INVOCATION keys; keys; values, or
//           null: then a value is the key's place; dispatch_args.
// Writes:   sorted, the keys of these segments, or nothing where it is null; sorted_values, as many values (only with
//           VALUE_WORDS). They may be what is read.
// Shared:   nothing.
// Pass model: reference::passes::segmented_sort::sort_segments.
// Source:   sorting by counting is that of Knuth, The Art of Computer Programming, vol. 3, section 5.2.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#include "common/dispatch.glsl"
#include "sort/key.glsl"
#include "sort/segments.glsl"

// Lanes of a segment: no more than a subgroup has, and a divisor of those.
layout(constant_id = 1) const uint CLUSTER_LANES = 4;
layout(constant_id = 2) const uint ITEMS_PER_INVOCATION = 8;

layout(push_constant, std430) uniform Push {
    Words keys;
    Words sorted;
    Words values;
    Words sorted_values;
    Words list;
    Words dispatch_args;
    // The bits to sort by, of the low word of a key's order and of the high one.
    uint low_mask;
    uint high_mask;
} push;

const uint SEGMENTS_PER_WORKGROUP = WORKGROUP_SIZE / CLUSTER_LANES;

// The bits of a key's order that count.
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
    // Beyond the last, a workgroup's first segment need not fit 32 bits.
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
    // Even where there are none: SwiftShader crashes on a pointer that a branch has chosen.
    Words values = advance_words(push.values, segment.begin, VALUE_WORDS);
    uint value[VALUE_WORDS][ITEMS_PER_INVOCATION];
    bool are_places = is_null(push.values);
#endif
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint place = i * CLUSTER_LANES + lane;
        key[i] = Key(0);
        rank[i] = 0;
        if (place < extent) {
            key[i] = load_key(keys, place);
        }
        own[i] = compared(key[i]);
        others[i] = own[i];
#if VALUE_WORDS > 0
        [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
            value[w][i] = segment.begin + place;
            if (!are_places && place < extent) {
                value[w][i] = values.word[place * VALUE_WORDS + w];
            }
        }
#endif
    }

    // Both loops stay loops, as long as the longest segment: what the others hold moves to the array's first element, for
    // an array that such a loop indexes leaves the registers.
    uint longest = subgroupMax(extent);
    for (uint k = 0; k < ITEMS_PER_INVOCATION && k * CLUSTER_LANES < longest; k++) {
        for (uint l = 0; l < CLUSTER_LANES && k * CLUSTER_LANES + l < longest; l++) {
            uint place = k * CLUSTER_LANES + l;
            Key other = subgroupShuffle(others[0], first_lane + l);
            [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
                bool is_earlier = place < i * CLUSTER_LANES + lane;
                bool is_before = is_less(other, own[i]) || (is_earlier && other == own[i]);
                rank[i] += place < extent && is_before ? 1 : 0;
            }
        }
        [[unroll]] for (uint i = 1; i < ITEMS_PER_INVOCATION; i++) {
            others[i - 1] = others[i];
        }
    }

    // A segment is read before it is written over, and no subgroup but one has to do with it.
    subgroupBarrier();
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (i * CLUSTER_LANES + lane < extent) {
            // A place can be beyond 2^31, too far for an index.
            uint place = segment.begin + rank[i];
            if (!is_null(push.sorted)) {
                store_key(advance_words(push.sorted, place, KEY_WORDS), key[i]);
            }
#if VALUE_WORDS > 0
            Words to = advance_words(push.sorted_values, place, VALUE_WORDS);
            [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
                to.word[w] = value[w][i];
            }
#endif
        }
    }
}
