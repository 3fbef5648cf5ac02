// Exchanges words between the invocations of a workgroup, through the shared memory that ranked the tile. To be included
// behind a ranking.

#ifndef SUBSWEEP_SORT_EXCHANGE
#define SUBSWEEP_SORT_EXCHANGE

// Puts a word of each item where its rank is. Every invocation must call it, with a barrier since shared memory was last
// used; and a barrier must come before the words are read.
void scatter_to_shared(uint words[ITEMS_PER_INVOCATION]) {
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        s_tile[rank[i]] = words[i];
    }
}

// Loads the words of the items whose ranks are the invocation's in the striped arrangement.
void load_striped(out uint words[ITEMS_PER_INVOCATION]) {
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        words[i] = s_tile[striped_index(i)];
    }
}

// Exchanges words into the striped arrangement. Every invocation must call it.
void scatter_to_striped(inout uint words[ITEMS_PER_INVOCATION]) {
    barrier();
    scatter_to_shared(words);
    barrier();
    load_striped(words);
}

// Gives each invocation the words of the items that have its item_index as rank. Every invocation must call it.
void scatter_to_items(inout uint words[ITEMS_PER_INVOCATION]) {
    barrier();
    scatter_to_shared(words);
    barrier();
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        words[i] = s_tile[item_index(i)];
    }
}

#endif
