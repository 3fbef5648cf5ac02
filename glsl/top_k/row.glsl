// The rows of a table, or with UNEQUAL rows that have lengths of their own, or a k of their own, up to k. They begin at the
// indices in segments, and end where the next begins. Such a row has as many results as keys if these are fewer than its k; in
// its other slots are keys and values of 0, and indices of 2^32 - 1.
//
// Before it is included, push has top_keys, top_indices, indirect_rows, row_count, k, top_values, segments, ks and key_count.

// Whether rows have their own lengths or k.
layout(constant_id = ID_UNEQUAL) const bool UNEQUAL = false;
// 0 without values. A constant, so that the compiler divides by multiplication.
layout(constant_id = ID_WORDS_PER_VALUE) const uint WORDS_PER_VALUE = 0;

// The index of the first key, where rows are segments, the number of keys, and k.
struct Row {
    uint first;
    uint columns;
    uint k;
};

bool has_segments() {
    return !is_null(push.segments);
}

// Row `index`, of up to `columns` keys.
Row row_of(uint index, uint columns) {
    Row row = Row(0, columns, push.k);
    if (!UNEQUAL) {
        return row;
    }
    if (has_segments()) {
        Words segment = advance_words(push.segments, index, 1);
        uint end = push.key_count;
        if (index + 1 < count_of(push.row_count, push.indirect_rows)) {
            end = min(segment.word[1], end);
        }
        row.first = min(segment.word[0], end);
        row.columns = min(end - row.first, row.columns);
    }
    if (!is_null(push.ks)) {
        row.k = min(advance_words(push.ks, index, 1).word[0], row.k);
    }
    return row;
}

// Writes the slots of a row from the `count`-th on: `lane` is the index of the invocation among the `lanes` that call it.
void fill_slots_of_row(uint row, uint count, uint lane, uint lanes) {
    Words top_keys = advance_words(push.top_keys, row, push.k * KEY_WORDS);
    Words top_indices = advance_words(push.top_indices, row, push.k);
    for (uint rank = count + lane; rank < push.k; rank += lanes) {
        if (!is_null(push.top_keys)) {
            store_key(top_keys, rank, Key(0));
        }
        if (!is_null(push.top_indices)) {
            top_indices.word[rank] = ~0;
        }
    }
    Words top_values = advance_words(push.top_values, row, push.k * WORDS_PER_VALUE);
    for (uint i = count * WORDS_PER_VALUE + lane; i < push.k * WORDS_PER_VALUE; i += lanes) {
        top_values.word[i] = 0;
    }
}
