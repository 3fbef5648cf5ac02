// Takes the first k indices of each row of a sorted array of indices, and their keys and values.
//
// Dispatch: row_count * chunk_count workgroups.
// Reads:    keys, rows of column_count keys, or with FUNCTIONS elements that keys are computed from, and data; sorted, rows of
//           sorted_count indices of keys in rows of column_count, from the index of the row's first key on; indirect_rows, a
//           word, unless null; values, WORDS_PER_VALUE words for each key, unless null. With UNEQUAL segments and ks, a word for
//           each row, unless null; with segments rows of key_count keys and values.
// Writes:   top_keys, row_count rows of k keys, unless null; top_indices, as many columns, unless null; all_indices, as
//           many indices like the indices of sorted, unless null; top_values, as many values, unless values is null. In slots
//           without a result keys and values are 0, and indices 2^32 - 1.
// Limits:   less than 2^32 keys.
// Shared:   nothing.
// Pass model: none; the lines above say the result.

#version 460
#extension GL_GOOGLE_include_directive : require

#ifdef FUNCTIONS
#define USES_KEY_OF
#include "common/called.glsl"
#endif
#include "common/dispatch.glsl"
#include "common/key.glsl"
#include "common/tiles.glsl"

// 0 without values. A constant, so that the compiler divides by multiplication.
layout(constant_id = ID_WORDS_PER_VALUE) const uint WORDS_PER_VALUE = 0;

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
    Words values;
    Words top_values;
    Words segments;
    Words ks;
    uint key_count;
#ifdef FUNCTIONS
    Words data;
#endif
} push;

#include "top_k/row.glsl"

#ifdef FUNCTIONS
#define load_sorted_key(keys, source, column) computed_key(push.keys, source.x + column, push.data)
#else
#define load_sorted_key(keys, source, column) load_key(keys, column)
#endif

void main() {
    uint first = workgroup_index() % push.chunk_count * WORKGROUP_SIZE;
    uint rank = first + gl_LocalInvocationIndex;
    uint row = workgroup_index() / push.chunk_count;
    if (row >= count_of(push.row_count, push.indirect_rows)) {
        return;
    }
    Row shape = row_of(row, push.column_count);
    uint count = min(shape.k, shape.columns);
    uvec2 source = first_key_of(shape, row, push.column_count);
    Words sorted = advance_words(push.sorted, row, push.sorted_count);
    if (WORDS_PER_VALUE > 0 && !is_null(push.values)) {
        // Neighbouring invocations copy neighbouring words, however wide a value is.
        uint word_count = min(push.k - first, WORKGROUP_SIZE) * WORDS_PER_VALUE;
        Words top_values = advance_words(push.top_values, row * push.k + first, WORDS_PER_VALUE);
        Words values = advance_words(push.values, source, WORDS_PER_VALUE);
        for (uint i = gl_LocalInvocationIndex; i < word_count; i += WORKGROUP_SIZE) {
            uint word = 0;
            if (!UNEQUAL || first + i / WORDS_PER_VALUE < count) {
                uint column = sorted.word[first + i / WORDS_PER_VALUE] - row * push.column_count;
                word = advance_words(values, column, WORDS_PER_VALUE).word[i % WORDS_PER_VALUE];
            }
            top_values.word[i] = word;
        }
    }
    if (rank >= push.k) {
        return;
    }
    bool is_result = !UNEQUAL || rank < count;
    uint index = ~0;
    uint column = ~0;
    if (is_result) {
        index = sorted.word[rank];
        column = index - row * push.column_count;
    }
    if (!is_null(push.top_keys)) {
        Words keys = advance_words(push.keys, source, KEY_WORDS);
        Words top_keys = advance_words(push.top_keys, row, push.k * KEY_WORDS);
        Key key = Key(0);
        if (is_result) {
            key = load_sorted_key(keys, source, column);
        }
        store_key(top_keys, rank, key);
    }
    if (!is_null(push.top_indices)) {
        advance_words(push.top_indices, row, push.k).word[rank] = column;
    }
    if (!is_null(push.all_indices)) {
        advance_words(push.all_indices, row, push.k).word[rank] = index;
    }
}
