// Takes the first k indices of each row of a sorted array of indices, and their keys.
//
// Dispatch: row_count * chunk_count workgroups.
// Reads:    keys, rows of column_count keys; sorted, rows of sorted_count indices of keys, less than the index of
//           the row's first key plus column_count; indirect_rows, a word, unless null.
// Writes:   top_keys, row_count rows of k keys, unless null; top_indices, as many columns, unless null; all_indices, as
//           many indices of keys, unless null.
// Shared:   nothing.
// Pass model: none; the lines above say the result.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/dispatch.glsl"
#include "common/tiles.glsl"
#include "top_k/order.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
    Words sorted;
    Words top_keys;
    Words top_indices;
    Words all_indices;
    // The number of rows, at most row_count.
    Words indirect_rows;
    uint row_count;
    uint column_count;
    uint sorted_count;
    // Workgroups of a row.
    uint chunk_count;
    uint k;
} push;

void main() {
    uint rank = workgroup_index() % push.chunk_count * WORKGROUP_SIZE + gl_LocalInvocationIndex;
    uint row = workgroup_index() / push.chunk_count;
    if (row >= count_of(push.row_count, push.indirect_rows) || rank >= push.k) {
        return;
    }
    uint index = advance_words(push.sorted, row, push.sorted_count).word[rank];
    uint column = index - row * push.column_count;
    if (!is_null(push.top_keys)) {
        Words keys = advance_words(push.keys, row, push.column_count * WORDS_PER_KEY);
        Words top_keys = advance_words(push.top_keys, row, push.k * WORDS_PER_KEY);
        store_top_key(top_keys, rank, load_top_key(keys, column));
    }
    if (!is_null(push.top_indices)) {
        advance_words(push.top_indices, row, push.k).word[rank] = column;
    }
    if (!is_null(push.all_indices)) {
        advance_words(push.all_indices, row, push.k).word[rank] = index;
    }
}
