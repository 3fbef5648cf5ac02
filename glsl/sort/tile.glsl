// A sort tile: the keys that a workgroup holds in registers and ranks by one digit.
//
//   item_index(i)     the index in the tile of the invocation's item `i`, in the arrangement of the ranking
//   rank_at(i)        the index of its key in the tile, stably sorted by the digit
//   striped_index(i)  its index in the striped arrangement: neighbouring invocations hold neighbouring keys
//
// A partial tile is padded with the last key in the sort's order. Padding ranks after all keys of the tile, even
// equal ones, because the ranking is stable: only loads and stores depend on the tile's extent. With PADS_BY_INDEX its digits do.

#ifndef SUBSWEEP_SORT_TILE
#define SUBSWEEP_SORT_TILE

#include "sort/pass.glsl"

layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 16;

// Ranks of two items in a word, since a tile has at most 2^16 keys, and bins in place of offsets: more instructions for
// fewer registers, which bound how many workgroups are resident.
layout(constant_id = ID_PACKED_RANKS) const bool PACKED_RANKS = false;

// Parts in which a sort in one workgroup exchanges its tile, so that shared memory holds a part: a power of two that divides
// the workgroup.
layout(constant_id = ID_EXCHANGE_PARTS) const uint EXCHANGE_PARTS = 1;

const uint TILE_ITEMS = WORKGROUP_SIZE * ITEMS_PER_INVOCATION;
const uint EXCHANGED_ITEMS = TILE_ITEMS / EXCHANGE_PARTS;
// Consecutive bins of the digit's histogram that an invocation handles. With more invocations than bins, the last
// invocations handle none.
const uint BINS_PER_INVOCATION = RADIX > WORKGROUP_SIZE ? RADIX / WORKGROUP_SIZE : 1;

struct Digit {
    uint shift;
    uint mask;
};

// The invocation's keys, word by word.
uint key_words[KEY_WORDS][ITEMS_PER_INVOCATION];

#if KEY_WORDS == 2
#define key_at(i) uvec2(key_words[0][i], key_words[1][i])
#else
#define key_at(i) key_words[0][i]
#endif

// No function: it would copy the array in and out.
#if KEY_WORDS == 2
#define set_key(words, i, key) { Key set_key_value = key; words[0][i] = set_key_value.x; words[1][i] = set_key_value.y; }
#else
#define set_key(words, i, key) words[0][i] = key
#endif

// Bin `k` of those that the invocation handles; bins from RADIX on do not exist, and FOR_EACH_BIN leaves
// them out.
uint bin_index(uint k) {
    return invocation_index() * BINS_PER_INVOCATION + k;
}

#define FOR_EACH_BIN(k) [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) if (bin_index(k) < RADIX)

uint striped_index(uint i) {
    return i * WORKGROUP_SIZE + invocation_index();
}

#endif
