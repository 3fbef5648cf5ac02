// Top-k of each row of few keys, in registers: a cluster of neighbouring lanes holds a row, and ranks its keys by counting. The
// first k keys in order are the result, and of equal keys, the ones with the lowest indices.
//
//   position i * CLUSTER_LANES + l of a row: item i of lane l
//
// Dispatch: a workgroup for each WORKGROUP_SIZE / CLUSTER_LANES rows.
// Reads:    keys, row_count rows of column_count keys, or with FUNCTIONS elements that keys are computed from, and data;
//           indirect_rows, a word, unless null; if WORDS_PER_VALUE > 0, values, as many values of as many words. With UNEQUAL
//           segments and ks, a word for each row, unless null; with segments rows of key_count keys and values.
// Writes:   top_keys and top_indices, unless null: k keys and words for each row, in the order of the keys if SORTED, else of
//           the indices; if WORDS_PER_VALUE > 0, top_values, as many values.
// Limits:   column_count at most CLUSTER_LANES * ITEMS_PER_INVOCATION; 2^14 words of values in a row, since LOOPS_END_AT_65535.
// Shared:   nothing.
// Pass model: reference::passes::top_k::select.
// Source:   in cluster_counting.glsl.

#version 460
#extension GL_GOOGLE_include_directive : require

#ifdef FUNCTIONS
#define USES_KEY_OF
#include "common/called.glsl"
#endif
#include "common/dispatch.glsl"
#include "common/key.glsl"
#include "common/tiles.glsl"

// Lanes per row: a power of two, and at most the subgroup size.
layout(constant_id = ID_CLUSTER_LANES) const uint CLUSTER_LANES = 4;
// Keys per lane, at most 8.
layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 1;
// Whether the result is in the order of the keys, and not of the indices.
layout(constant_id = ID_SORTED) const bool SORTED = false;

layout(push_constant, std430) uniform Push {
    Words keys;
    Words top_keys;
    Words top_indices;
    // The number of rows, at most row_count.
    Words indirect_rows;
    uint row_count;
    uint column_count;
    uint k;
    uint key_count;
    Words values;
    Words top_values;
    Words segments;
    Words ks;
#ifdef FUNCTIONS
    Words data;
#endif
} push;

#include "top_k/row.glsl"
#include "top_k/slots.glsl"

const uint ROWS_PER_WORKGROUP = WORKGROUP_SIZE / CLUSTER_LANES;
// Lanes that copy neighbouring words of a value.
const uint VALUE_LANES = WORDS_PER_VALUE > 4 ? 8 : WORDS_PER_VALUE > 1 ? 4 : 1;
const uint LANES_OF_VALUE = VALUE_LANES < CLUSTER_LANES ? VALUE_LANES : CLUSTER_LANES;

// The orders of the keys of a lane.
Key order[ITEMS_PER_INVOCATION];

// Of equal keys the first comes first.
bool is_less(Key a, uint a_index, Key b, uint b_index) {
    return mix(is_less(a, b), a_index < b_index, a == b);
}

#include "sort/cluster_counting.glsl"

// The number of selected keys of lower indices, for item `i`, whose lanes are selected or not; `count` is the number of selected
// keys of the items before, and then with this item's. Every lane of the subgroup must call it.
uint selected_before(bool is_selected, uint first_lane, inout uint count) {
    uint before = subgroupBallotExclusiveBitCount(subgroupBallot(is_selected));
    uint before_cluster = subgroupShuffle(before, first_lane);
    uint through_cluster = subgroupShuffle(before + uint(is_selected), first_lane + CLUSTER_LANES - 1);
    uint index = count + before - before_cluster;
    count += through_cluster - before_cluster;
    return index;
}

void main() {
    uint row_count = count_of(push.row_count, push.indirect_rows);
    uint workgroup = workgroup_index();
    // The first row of a surplus workgroup may exceed 32 bits.
    if (row_count == 0 || workgroup > (row_count - 1) / ROWS_PER_WORKGROUP) {
        return;
    }
    uint index = workgroup * ROWS_PER_WORKGROUP + invocation_index() / CLUSTER_LANES;
    uint lane = gl_SubgroupInvocationID % CLUSTER_LANES;
    uint first_lane = gl_SubgroupInvocationID - lane;
    Row row = Row(0, 0, 0);
    if (index < row_count) {
        row = row_of(index, push.column_count);
    }
    uint k = min(row.k, row.columns);

    uvec2 first = first_key_of(row, index, push.column_count);
#ifdef FUNCTIONS
    Words keys = advance_words(push.keys, first, SOURCE_WORDS);
#else
    Words keys = advance_keys(push.keys, first, 1);
#endif
    Key key[ITEMS_PER_INVOCATION];
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint position = i * CLUSTER_LANES + lane;
        key[i] = Key(0);
        if (position < row.columns) {
#ifdef FUNCTIONS
            key[i] = computed_key(keys, first.x, position, push.data);
#else
            key[i] = load_key(keys, position);
#endif
        }
        order[i] = compared(key[i]);
    }
    rank_by_counting(lane, row.columns, subgroupMax(row.columns));

    Words top_keys = advance_keys(push.top_keys, index, push.k);
    Words top_indices = advance_words(push.top_indices, index, push.k);
    // Of each item, the slot; k and more if it is not selected.
    uint slot[ITEMS_PER_INVOCATION];
    uint count = 0;
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint position = i * CLUSTER_LANES + lane;
        bool is_selected = position < row.columns && rank[i] < k;
        slot[i] = rank[i];
        if (!SORTED) {
            slot[i] = selected_before(is_selected, first_lane, count);
        }
        slot[i] = is_selected ? slot[i] : ~0;
        if (is_selected && !is_null(push.top_keys)) {
            store_key(top_keys, slot[i], key[i]);
        }
        if (is_selected && !is_null(push.top_indices)) {
            top_indices.word[slot[i]] = position;
        }
    }
    if (WORDS_PER_VALUE > 0) {
        Words values = advance_words(push.values, first, WORDS_PER_VALUE);
        Words top_values = advance_words(push.top_values, index, push.k * WORDS_PER_VALUE);
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            [[dont_unroll]] for (uint round = 0; round < LANES_OF_VALUE; round++) {
                uint from = round * (CLUSTER_LANES / LANES_OF_VALUE) + lane / LANES_OF_VALUE;
                uint to = subgroupShuffle(slot[i], first_lane + from);
                Words value = advance_words(values, i * CLUSTER_LANES + from, WORDS_PER_VALUE);
                Words top_value = advance_words(top_values, to, WORDS_PER_VALUE);
                for (uint w = lane % LANES_OF_VALUE; to < k && w < WORDS_PER_VALUE; w += LANES_OF_VALUE) {
                    top_value.word[w] = value.word[w];
                }
            }
        }
    }
    if (UNEQUAL && index < row_count) {
        fill_slots_of_row(index, k, lane, CLUSTER_LANES);
    }
}
