// A tile as its workgroup sorts it by one digit: every invocation holds some of its keys, gives each a rank in the tile,
// and takes others out of shared memory, where they then lie in order.
//
//   place before:  item_place(i) of key i, as the ranking likes it
//   rank:          where the key stands in the order of the digit, among keys of one digit as before
//   place after:   i * WORKGROUP_SIZE + invocation, so that neighbours write neighbouring words

#ifndef SUBSWEEP_SORT_TILE
#define SUBSWEEP_SORT_TILE

#include "sort/pass.glsl"

layout(constant_id = 2) const uint ITEMS_PER_INVOCATION = 16;
// Keys are a multiple of 16 bytes.
layout(constant_id = 3) const bool QUAD_ACCESS = false;

const uint TILE_ITEMS = WORKGROUP_SIZE * ITEMS_PER_INVOCATION;
// Digits that an invocation looks after, which follow one another. Where there are fewer than invocations, the last ones
// look after none.
const uint OWN_DIGITS = RADIX > WORKGROUP_SIZE ? RADIX / WORKGROUP_SIZE : 1;

// A pass: what its tiles have in common.
struct Digit {
    uint shift;
    uint mask;
};

// The invocation's keys, a word of all of them after the other, and their ranks.
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

uint place_after(uint i) {
    return i * WORKGROUP_SIZE + invocation_index();
}

#endif
