// Prepares the segmented sort of whole rows: keys in the form of their order, and a segment for each row.
//
// Dispatch: row_count * chunk_count workgroups.
// Reads:    keys, row_count rows of column_count keys, or with FUNCTIONS elements that keys are computed from, and data;
//           indirect_rows, a word, unless null. With UNEQUAL segments and ks, a word for each row, unless null; with segments
//           rows of key_count keys.
// Writes:   orders, row_count rows of column_count keys, of which a shorter one has the first; begins, the index there of the
//           first key of each row, and with UNEQUAL ends, that after its last; and if top_begins is not null, there the index
//           of each row's result. With indirect_rows the numbers of keys and results to counts.
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

layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 1;

layout(push_constant, std430) uniform Push {
    Words keys;
    Words orders;
    Words begins;
    Words top_begins;
    Words counts;
    // The number of rows, at most row_count.
    Words indirect_rows;
    uint row_count;
    uint column_count;
    // Workgroups of a row.
    uint chunk_count;
    uint k;
    Words ends;
    Words segments;
    Words ks;
    uint key_count;
#ifdef FUNCTIONS
    Words data;
#endif
} push;

#include "top_k/row.glsl"

#ifdef FUNCTIONS
#define load_row_key(keys, source, column) computed_key(push.keys, source.x + column, push.data)
#else
#define load_row_key(keys, source, column) load_key(keys, column)
#endif

void main() {
    uint chunk = workgroup_index() % push.chunk_count;
    uint row = workgroup_index() / push.chunk_count;
    uint row_count = count_of(push.row_count, push.indirect_rows);
    uint first = chunk * WORKGROUP_SIZE * ITEMS_PER_INVOCATION + gl_LocalInvocationIndex;
    if (row == 0 && first == 0 && !is_null(push.indirect_rows)) {
        push.counts.word[0] = row_count * push.column_count;
        push.counts.word[1] = row_count * push.k;
    }
    if (row >= row_count) {
        return;
    }
    Row shape = row_of(row, push.column_count);
    if (first == 0) {
        push.begins.word[row] = row * push.column_count;
        if (UNEQUAL) {
            push.ends.word[row] = row * push.column_count + shape.columns;
        }
        if (!is_null(push.top_begins)) {
            push.top_begins.word[row] = row * push.k;
        }
    }
    uvec2 source = first_key_of(shape, row, push.column_count);
    Words keys = advance_words(push.keys, source, KEY_WORDS);
    Words orders = advance_words(push.orders, row, push.column_count * KEY_WORDS);
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint column = first + i * WORKGROUP_SIZE;
        if (column < shape.columns) {
            store_key(orders, column, compared(load_row_key(keys, source, column)));
        }
    }
}
