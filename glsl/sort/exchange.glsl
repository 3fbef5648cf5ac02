// How a ranked tile is put in order, a word of every item at a time, in the memory that ranked it. To be included behind a
// ranking. Items at and beyond `extent` are none. All of the workgroup must call these.

#ifndef SUBSWEEP_SORT_EXCHANGE
#define SUBSWEEP_SORT_EXCHANGE

void put_in_order(uint words[ITEMS_PER_INVOCATION], uint extent) {
    barrier();
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (item_place(i) < extent) {
            s_tile[rank[i]] = words[i];
        }
    }
    barrier();
}

// Gives each item the word of that which stands at its place after.
void exchange_for_after(inout uint words[ITEMS_PER_INVOCATION], uint extent) {
    put_in_order(words, extent);
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (place_after(i) < extent) {
            words[i] = s_tile[place_after(i)];
        }
    }
}

// Gives each item the word of that which stands at its place before: to be ranked again.
void exchange_for_before(inout uint words[ITEMS_PER_INVOCATION], uint extent) {
    put_in_order(words, extent);
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (item_place(i) < extent) {
            words[i] = s_tile[item_place(i)];
        }
    }
}

#endif
