// Slots of a row that have no results.
//
// Before it is included, push has top_keys, top_indices, k and top_values.

// 0 without values. A constant, so that the compiler divides by multiplication.
layout(constant_id = ID_WORDS_PER_VALUE) const uint WORDS_PER_VALUE = 0;

// Writes the slots of a row from the `count`-th on: `lane` is the index of the invocation among the `lanes` that call it.
void fill_slots_of_row(uint row, uint count, uint lane, uint lanes) {
    Words top_keys = advance_keys(push.top_keys, row, push.k);
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
