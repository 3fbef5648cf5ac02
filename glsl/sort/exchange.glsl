// Exchange of words between the invocations of a workgroup, through the shared memory of the ranking.
//
// Needs:    what `sort/rank.glsl` needs
// Gives:    scatter_to_striped, scatter_to_items, and all of `sort/rank.glsl`
// Shared:   the shared memory of `sort/rank.glsl`
// Barriers: 2, in EXCHANGE_PARTS parts 2 each

#include "sort/rank.glsl"

// Scatters a word of each item to its rank in shared memory. Every invocation must call it, with a barrier after the
// previous use of shared memory, and a barrier before the words are read.
void scatter_to_shared(uint words[ITEMS_PER_INVOCATION]) {
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        s_tile[rank_at(i)] = words[i];
    }
}

// Loads the words of the invocation's ranks in the striped arrangement.
void load_striped(out uint words[ITEMS_PER_INVOCATION]) {
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        words[i] = s_tile[striped_index(i)];
    }
}

// Exchanges words from ranked items to the striped arrangement. Every invocation must call it.
void scatter_to_striped(inout uint words[ITEMS_PER_INVOCATION]) {
    barrier();
    scatter_to_shared(words);
    barrier();
    load_striped(words);
}

// scatter_to_items with several EXCHANGE_PARTS of the tile: an invocation's items, in the blocked arrangement, are in one of
// them, and it keeps them beside its words, which later parts take.
void scatter_parts_to_items(inout uint words[ITEMS_PER_INVOCATION]) {
    uint exchanged[ITEMS_PER_INVOCATION];
    [[unroll]] for (uint part = 0; part < EXCHANGE_PARTS; part++) {
        uint first = part * EXCHANGED_ITEMS;
        barrier();
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            // Ranks before the part wrap.
            if (rank_at(i) - first < EXCHANGED_ITEMS) {
                s_tile[rank_at(i) - first] = words[i];
            }
        }
        barrier();
        if (item_index(0) - first < EXCHANGED_ITEMS) {
            [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
                exchanged[i] = s_tile[item_index(i) - first];
            }
        }
    }
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        words[i] = exchanged[i];
    }
}

// Exchanges words from ranked items to the arrangement of item_index. Every invocation must call it.
void scatter_to_items(inout uint words[ITEMS_PER_INVOCATION]) {
    if (EXCHANGE_PARTS > 1) {
        scatter_parts_to_items(words);
    } else {
        barrier();
        scatter_to_shared(words);
        barrier();
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            words[i] = s_tile[item_index(i)];
        }
    }
}
