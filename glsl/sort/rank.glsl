// Ranking of a tile's keys by a digit: `rank_by_match.glsl` with RANK_BY_MATCH, else `rank_by_counters.glsl`.
//
// A ranking defines the functions declared here, which are called in this order, and declares
//
// Needs:    RANK_BY_MATCH or not; what `common/key.glsl` needs; the specialization constants of the shape
// Gives:    Digit, key_words, key_at, load_tile, count_tile, rank_tile, rank_at, bin_first, bin_index, item_index,
//           striped_index, and all of `common/key.glsl`
// Shared:   max(4 * tile, tables) + WORKGROUP_SIZE + 4 bytes; tables of 4 * RADIX * MAX_SUBGROUPS bytes, or by counters of
//           2 * RADIX * WORKGROUP_SIZE; by match 4 bytes more
// Barriers: count_tile 1, rank_tile 3
//
// The constants are WORKGROUP_SIZE, ITEMS_PER_INVOCATION (16), RADIX_BITS (4), and by match MAX_SUBGROUPS (16), no fewer than
// there are. By match RADIX_BITS is 8, and the workgroup size divides 256 or is larger. By counters RADIX_BITS is at most 4, and
// items are a multiple of 4, at most 252. A tile has at most 65,532 keys.
//
//   s_tile        shared memory of at least a tile of words, which it uses from count_tile to rank_tile
//   rank_at(i)    the rank of the invocation's item `i`, after rank_tile
//   bin_first[k]  the rank of the first key of the invocation's bin `k`, after rank_tile
//   bin_count[k]  the keys of that bin, after count_tile (only with RANK_BY_MATCH)

#include "common/key.glsl"
#include "common/workgroup_scan.glsl"
#include "sort/tile.glsl"

// The index in the tile of the invocation's item `i`.
uint item_index(uint i);

// Loads the invocation's items of the `extent` keys from `keys` on, word by word.
void load_tile(Words keys, uint extent, out uint words[KEY_WORDS][ITEMS_PER_INVOCATION]);

#ifdef FUNCTIONS
// Likewise of the keys that are computed from elements, the tile's first of which is `first`.
void compute_tile(Words elements, uint first, uint extent, Words data, out uint words[KEY_WORDS][ITEMS_PER_INVOCATION]) {
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        Key key = last_key();
        if (item_index(i) < extent) {
            key = computed_key(elements, first + item_index(i), data);
        }
        set_key(words, i, key);
    }
}
#endif

// Counts the keys of each bin. Every invocation must call it, in uniform control flow, with a barrier after the
// previous use of shared memory.
void count_tile(Digit digit, uint extent);

// Ranks the keys, after count_tile. Every invocation must call it, in uniform control flow, and a barrier must
// precede the next use of shared memory.
void rank_tile(Digit digit);

uint bin_first[BINS_PER_INVOCATION];

// Keys of the tile that is ranked.
uint ranked_extent;

// The digit of the invocation's item `i`, of padding the last one.
uint digit_at(uint i, Digit digit) {
    uint bin = digit_of(key_at(i), digit.shift, digit.mask);
    return PADS_BY_INDEX && item_index(i) >= ranked_extent ? digit.mask : bin;
}

#ifdef RANK_BY_MATCH
#include "sort/rank_by_match.glsl"
#else
#include "sort/rank_by_counters.glsl"
#endif
