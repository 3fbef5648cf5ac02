// A tile: the keys that a workgroup holds in registers and ranks by one digit.
//
//   item_index(i)     where the invocation's key `i` lies in the tile as it is loaded; the ranking chooses it
//   rank[i]           where the key goes in the tile, stably sorted by the digit
//   striped_index(i)  the striped arrangement: neighbouring invocations hold neighbouring keys
//
// A tile that is not full is padded with the key that is ordered last. Padding ranks behind all keys of the tile, those that
// equal it included, because the ranking is stable: only loads and stores look at the tile's extent.

#ifndef SUBSWEEP_SORT_TILE
#define SUBSWEEP_SORT_TILE

#include "sort/pass.glsl"

layout(constant_id = 2) const uint ITEMS_PER_INVOCATION = 16;

const uint TILE_ITEMS = WORKGROUP_SIZE * ITEMS_PER_INVOCATION;
// Consecutive bins of the digit's histogram that an invocation handles. With more invocations than bins, the last
// invocations handle none.
const uint BINS_PER_INVOCATION = RADIX > WORKGROUP_SIZE ? RADIX / WORKGROUP_SIZE : 1;

struct Digit {
    uint shift;
    uint mask;
};

// The invocation's keys, word by word, and their ranks.
uint key_words[KEY_WORDS][ITEMS_PER_INVOCATION];
uint rank[ITEMS_PER_INVOCATION];

#if KEY_WORDS == 2
#define key_at(i) uvec2(key_words[0][i], key_words[1][i])
#else
#define key_at(i) key_words[0][i]
#endif

void set_key(uint i, Key key) {
#if KEY_WORDS == 2
    key_words[0][i] = key.x;
    key_words[1][i] = key.y;
#else
    key_words[0][i] = key;
#endif
}

// Bin `k` of those that the invocation handles; there is none from RADIX on.
uint bin_index(uint k) {
    return invocation_index() * BINS_PER_INVOCATION + k;
}

uint striped_index(uint i) {
    return i * WORKGROUP_SIZE + invocation_index();
}

#endif
