// Tile scatter: stores a ranked tile to the offsets of its bins. Keys are exchanged through shared memory, in which
// the keys of a digit are consecutive, so that stores coalesce.
//
// Without EXCHANGE every invocation scatters its keys from registers: a CPU gains nothing by coalescing.

#include "sort/exchange.glsl"
#include "sort/offsets.glsl"
#include "sort/scatter_buffers.glsl"

layout(constant_id = ID_EXCHANGE) const bool EXCHANGE = true;

// The output offset of each bin's first key, minus its rank: low words, and with WIDE_OFFSETS then high words.
shared uint s_bin_offset[HISTOGRAM_WORDS];

// Sets the output offset of the first key of the invocation's bin `k`.
void set_bin_offset(uint k, uvec2 offset) {
    uvec2 base = count_difference(offset, uvec2(bin_first[k], 0));
    s_bin_offset[bin_index(k)] = base.x;
    if (WIDE_OFFSETS) {
        s_bin_offset[RADIX + bin_index(k)] = base.y;
    }
}

// The output offset of the key with the digit `bin` and the rank `rank`.
uvec2 scatter_offset(uint bin, uint rank) {
    return count_sum(uvec2(s_bin_offset[bin], WIDE_OFFSETS ? s_bin_offset[RADIX + bin] : 0), uvec2(rank, 0));
}

uint stored_index(uint i) {
    return EXCHANGE ? striped_index(i) : item_index(i);
}

uint stored_rank(uint i) {
    return EXCHANGE ? striped_index(i) : rank_at(i);
}

#if VALUE_WORDS > 0
// Values are stored to the offsets of their keys. Offsets of one word are kept; offsets of two words, and with PACKED_RANKS all
// offsets, are computed again from the bins, four a word.
const bool KEEPS_OFFSETS = !WIDE_OFFSETS && !PACKED_RANKS;

uint stored_offset[KEEPS_OFFSETS ? ITEMS_PER_INVOCATION : 1];
uint stored_bins[(ITEMS_PER_INVOCATION + 3) / 4];

uint stored_bin(uint i) {
    return bitfieldExtract(stored_bins[i / 4], int(i % 4 * 8), 8);
}

// Keeps the offset of item `i`, after the offsets of the items before.
void keep_offset(uint i, uint bin, uint offset) {
    if (KEEPS_OFFSETS) {
        stored_offset[i] = offset;
    } else {
        stored_bins[i / 4] = i % 4 == 0 ? bin : stored_bins[i / 4] | bin << (i % 4 * 8);
    }
}
#else
#define keep_offset(i, bin, offset)
#endif

void store_item_key(uint i, Key key, Words sorted, Digit digit) {
    uint bin = digit_of(key, digit.shift, digit.mask);
    uvec2 offset = scatter_offset(bin, stored_rank(i));
    keep_offset(i, bin, offset.x);
    if (is_written(sorted)) {
        // The offset may exceed 2^31, which an array index cannot.
        store_key(advance_keys(sorted, offset, 1), 0, key);
    }
}

#if KEY_WORDS == 1 && VALUE_WORDS == 0
// Keys that an invocation loads from the exchanged tile before it stores the first. All of them would take registers that
// bound how many workgroups are resident.
const uint STORES_IN_FLIGHT = 4;

// Stores the keys of the exchanged tile.
void store_exchanged_keys(Words sorted, Digit digit, uint extent) {
    [[dont_unroll]] for (uint first = 0; first < ITEMS_PER_INVOCATION; first += STORES_IN_FLIGHT) {
        [[unroll]] for (uint i = first; i < first + STORES_IN_FLIGHT; i++) {
            // Leaves out those beyond the last item, too.
            if (striped_index(i) < extent) {
                store_item_key(i, s_tile[striped_index(i)], sorted, digit);
            }
        }
    }
}
#endif

// Stores the keys, where the pass writes them, after scatter_to_shared of their first word, set_bin_offset and a
// barrier. Every invocation must call it.
void store_keys(Words sorted, Digit digit, uint extent) {
#if KEY_WORDS == 1 && VALUE_WORDS == 0
    if (EXCHANGE) {
        store_exchanged_keys(sorted, digit, extent);
        return;
    }
#endif
    if (EXCHANGE) {
        load_striped(key_words[0]);
        [[unroll]] for (uint w = 1; w < KEY_WORDS; w++) {
            scatter_to_striped(key_words[w]);
        }
    }
    if (extent == TILE_ITEMS) {
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            store_item_key(i, key_at(i), sorted, digit);
        }
    } else {
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            if (stored_index(i) < extent) {
                store_item_key(i, key_at(i), sorted, digit);
            }
        }
    }
}

#if VALUE_WORDS > 0
uint value_words[VALUE_WORDS][ITEMS_PER_INVOCATION];

// Loads the values of the invocation's keys; `tile_offset` is the offset of the tile's first key.
void load_values(Values values, uvec2 tile_offset, uint extent) {
    if (values.are_indices) {
        // Indices have 32 bits, which bounds the number of keys of an argsort.
        [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
            value_words[0][i] = tile_offset.x + item_index(i);
        }
        return;
    }
    Words tile = advance_words(values.from, tile_offset, VALUE_WORDS);
    Words first = advance_words(tile, item_index(0), VALUE_WORDS);
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint index = item_index(i) - item_index(0);
        [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
            if (extent == TILE_ITEMS || item_index(i) < extent) {
                value_words[w][i] = first.word[index * VALUE_WORDS + w];
            }
        }
    }
}

// Stores the values, after load_values and store_keys. Every invocation must call it.
void store_values(Values values, uint extent) {
    if (EXCHANGE) {
        [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
            scatter_to_striped(value_words[w]);
        }
    }
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (extent == TILE_ITEMS || stored_index(i) < extent) {
            uvec2 offset = uvec2(KEEPS_OFFSETS ? stored_offset[i] : 0, 0);
            if (!KEEPS_OFFSETS) {
                offset = scatter_offset(stored_bin(i), stored_rank(i));
            }
            Words value = advance_words(values.to, offset, VALUE_WORDS);
            [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
                value.word[w] = value_words[w][i];
            }
        }
    }
}
#else
#define load_values(values, tile_offset, extent)
#define store_values(values, extent)
#endif
