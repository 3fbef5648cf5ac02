// Tiles of a selection: load and test, rank, scatter.
//
// Counts within a tile are packed: the count of the first part in the low half of a word, of the second in the high half.
// Counts of several tiles and indices of elements have OFFSET_WORDS.

#include "common/counts.glsl"
#include "common/dispatch.glsl"
#include "common/main_path.glsl"
#include "common/tiles.glsl"
#include "common/workgroup_scan.glsl"
#include "select/predicate.glsl"

#define WIDE_INDICES WIDE_OFFSETS
#include "select/tile_keys.glsl"

// Words of an element and of a value that are stored, 0 to 2, and whether the indices are.
layout(constant_id = ID_KEPT_WORDS) const uint KEPT_WORDS = 0;
layout(constant_id = ID_KEPT_VALUE_WORDS) const uint KEPT_VALUE_WORDS = 0;
layout(constant_id = ID_KEPT_INDICES) const bool KEPT_INDICES = false;

// Bytes of an element that is stored.
#ifdef KEY_BITS
const uint ELEMENT_SIZE = KEY_SIZE;
#else
const uint ELEMENT_SIZE = 4 * KEPT_WORDS;
#endif
const bool TESTS_KEYS = PREDICATE == COMPARE || PREDICATE == UNIQUE;
// Counts of a tile in `state`.
const uint COUNTED_PARTS = PARTS == 3 ? 2 : 1;

// Numbers of elements in the first part, and of three parts in the second.
struct Counts {
    uvec2 first;
    uvec2 second;
};

// Bit `k` states that item `k` of the invocation is in the part.
uint in_first = 0;
uint in_second = 0;

// Loads and tests the items of `tile`, `extent` of them and at least one, after make_intervals(). An item at or beyond
// the extent is in no part; the last element is loaded in its place, so that no load needs a branch.
void test_tile(uint tile, uint extent) {
    if (PREDICATE == FLAGS8) {
        Words flags = advance_words(push.tested, tile, TILE_ITEMS / 4);
        [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
            uint index = min(item_index(k), extent - 1);
            uint flag = flags.word[index / 4] >> (index % 4 * 8) & 0xff;
            in_first |= uint(flag != 0) << k;
        }
    } else if (PREDICATE == FLAGS32) {
        Words flags = advance_words(push.tested, tile, TILE_ITEMS);
        [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
            in_first |= uint(flags.word[min(item_index(k), extent - 1)] != 0) << k;
        }
#ifdef FUNCTIONS
    } else if (PREDICATE == CALLED) {
        Words elements = advance_words(push.tested, tile, TILE_ITEMS * SOURCE_WORDS);
        [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
            uint index = min(item_index(k), extent - 1);
            Words words = advance_words(elements, index, SOURCE_WORDS);
            in_first |= uint(is_kept(words, tile * TILE_ITEMS + index, push.data)) << k;
        }
#endif
    } else {
        load_keys(push.tested, tile, extent);
    }
    if (PREDICATE == COMPARE) {
        [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
            bool is_first = satisfies(COMPARISON, first_interval, keys[k]);
            in_first |= uint(is_first) << k;
            if (PARTS == 3) {
                in_second |= uint(!is_first && satisfies(SECOND_COMPARISON, second_interval, keys[k])) << k;
            }
        }
    }
    if (PREDICATE == UNIQUE) {
        in_first = head_bits(tile, key_before(push.tested, tile, extent));
    }
    uint in_bounds = bits_in_bounds(extent);
    in_first &= in_bounds;
    in_second &= in_bounds;
}

// The counts of the invocation's items.
uint item_counts() {
    return uint(bitCount(in_first)) | uint(bitCount(in_second)) << 16;
}

// The counts of all earlier subgroups of the workgroup. Every invocation of the workgroup must call it, with a barrier
// after the previous use of the workgroup scan.
uint rank_tile(out uint tile_counts) {
    return workgroup_exclusive_scan(subgroupAdd(item_counts()), tile_counts);
}

// Counts as words of their own.
uvec2 counts_of(uint counts) {
    return uvec2(counts & 0xffff, counts >> 16);
}

// One or two words at `index` of an array of as many; the rest is 0.
uvec2 load_kept(Words words, uint index, uint word_count) {
    if (word_count == 2) {
        return uvec2(words.word[2 * index], words.word[2 * index + 1]);
    }
    return uvec2(words.word[index], 0);
}

void store_kept(Words words, uint index, uint word_count, uvec2 kept) {
    if (word_count == 2) {
        words.word[2 * index] = kept.x;
        words.word[2 * index + 1] = kept.y;
    } else {
        words.word[index] = kept.x;
    }
}

// The element at `index` of an array, and the same for storing.
uvec2 load_element(Words elements, uint index) {
#ifdef KEY_BITS
    return uvec2(load_key(elements, index), 0);
#else
    return load_kept(elements, index, KEPT_WORDS);
#endif
}

void store_element(Words elements, uint index, uvec2 element) {
#ifdef KEY_BITS
    store_key(elements, index, element.x);
#else
    store_kept(elements, index, KEPT_WORDS, element);
#endif
}

uvec2 kept_elements[ITEMS_PER_INVOCATION];
uvec2 kept_values[ITEMS_PER_INVOCATION];

// Loads what is stored of the tile's items. All loads precede the first store, so that they are in flight together: the
// compiler cannot move a load before a store that may alias it.
void load_kept_items(uint tile, uint extent) {
    Words elements = Words(advance(uvec2(push.source), tile, TILE_ITEMS * ELEMENT_SIZE));
    Words values = advance_words(push.values, tile, TILE_ITEMS * KEPT_VALUE_WORDS);
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        bool is_kept = item_index(k) < extent && (PARTS > 1 || (in_first >> k & 1) != 0);
        kept_elements[k] = uvec2(0);
        kept_values[k] = uvec2(0);
        if (TESTS_KEYS) {
#if KEY_WORDS == 2
            kept_elements[k] = keys[k];
#else
            kept_elements[k] = uvec2(keys[k], 0);
#endif
        } else if (KEPT_WORDS > 0 && is_kept) {
            kept_elements[k] = load_element(elements, item_index(k));
        }
        if (KEPT_VALUE_WORDS > 0 && is_kept) {
            kept_values[k] = load_kept(values, item_index(k), KEPT_VALUE_WORDS);
        }
    }
}

// Where the tile's items of each part begin in an array of the result: indices, or addresses. Addresses and no pointers,
// since SwiftShader crashes on a choice between pointers.
struct Begins {
    uvec2 first;
    uvec2 second;
    uvec2 rejected;
};

// The addresses of elements of `size` bytes at these indices.
Begins begins_of(Words words, uint size, Begins indices) {
    uvec2 address = uvec2(words);
    return Begins(advance(address, indices.first, size), advance(address, indices.second, size),
        advance(address, indices.rejected, size));
}

Words begin_of(Begins begins, bool is_first, bool is_second) {
    uvec2 rejected = PARTS == 3 && is_second ? begins.second : begins.rejected;
    return Words(PARTS == 1 || is_first ? begins.first : rejected);
}

// Stores the items of a tile. `before` are the counts of all earlier tiles, and `totals` the counts of all tiles, which must be
// right only with PARTS > 1. Every lane of the subgroup must call it.
void scatter_tile(uint tile, uint extent, uint before_subgroup, Counts before, Counts totals) {
    uvec2 first_index = narrowed(wide_product(tile, TILE_ITEMS));
    uvec2 rejected_before = count_difference(first_index, count_sum(before.first, before.second));
    Begins begins = Begins(before.first, count_sum(totals.first, before.second),
        count_sum(count_sum(totals.first, totals.second), rejected_before));
    Begins elements = begins_of(push.destination, ELEMENT_SIZE, begins);
    Begins values = begins_of(push.destination_values, 4 * KEPT_VALUE_WORDS, begins);
    Begins indices = begins_of(push.destination_indices, 4 * OFFSET_WORDS, begins);
    // The tile's items of each part before the subgroup's next ones.
    uvec2 next = counts_of(before_subgroup);
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        bool is_first = (in_first >> k & 1) != 0;
        bool is_second = (in_second >> k & 1) != 0;
        uvec4 first = subgroupBallot(is_first);
        uvec2 earlier = next + uvec2(subgroupBallotExclusiveBitCount(first), 0);
        next.x += subgroupBallotBitCount(first);
        uint to = earlier.x;
        bool is_kept = is_first;
        if (PARTS == 3) {
            uvec4 second = subgroupBallot(is_second);
            earlier.y += subgroupBallotExclusiveBitCount(second);
            next.y += subgroupBallotBitCount(second);
        }
        if (PARTS > 1) {
            to = is_first ? earlier.x : is_second ? earlier.y : item_index(k) - earlier.x - earlier.y;
            is_kept = item_index(k) < extent;
        }
        if (is_kept) {
            if (KEPT_WORDS > 0) {
                store_element(begin_of(elements, is_first, is_second), to, kept_elements[k]);
            }
            if (KEPT_VALUE_WORDS > 0) {
                store_kept(begin_of(values, is_first, is_second), to, KEPT_VALUE_WORDS, kept_values[k]);
            }
            if (KEPT_INDICES) {
                Words to_index = begin_of(indices, is_first, is_second);
                store_kept(to_index, to, OFFSET_WORDS, count_sum(first_index, uvec2(item_index(k), 0)));
            }
        }
    }
}

// Stores the counts of the parts but the last, from one invocation of the workgroup of the last tile.
void store_counts(uint tile, uint tile_count, Counts totals) {
    if (tile + 1 == tile_count && gl_LocalInvocationIndex == 0) {
        store_kept(push.selected_counts, 0, OFFSET_WORDS, totals.first);
        if (PARTS == 3) {
            store_kept(push.selected_counts, 1, OFFSET_WORDS, totals.second);
        }
    }
}
