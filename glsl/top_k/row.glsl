// The rows of a table, or with UNEQUAL rows that have lengths of their own, or a k of their own, up to k. They begin at the
// indices in segments, and end where the next begins. Such a row has as many results as keys if these are fewer than its k; in
// its other slots are keys and values of 0, and indices of 2^32 - 1.
//
// Before it is included, push has indirect_rows, row_count, k, segments, ks and key_count.

// Whether rows have their own lengths or k.
layout(constant_id = ID_UNEQUAL) const bool UNEQUAL = false;

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

// The index of the first key of row `index`, of up to `columns` keys. Selects between indices, not pointers: SwiftShader crashes
// on a pointer that a branch has selected.
uvec2 first_key_of(Row row, uint index, uint columns) {
    return mix(wide_product(index, columns), uvec2(row.first, 0), bvec2(UNEQUAL && has_segments()));
}
