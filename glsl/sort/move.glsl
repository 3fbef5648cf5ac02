// How a ranked tile leaves its workgroup: through shared memory, where it lies in order, so that keys of one digit go as
// one run. To be included behind a ranking, whose `s_tile` it uses.

#ifndef SUBSWEEP_SORT_MOVE
#define SUBSWEEP_SORT_MOVE

#include "sort/exchange.glsl"
#include "sort/values.glsl"

// What to add to a key's rank in the tile to get its place in the output.
shared uint s_digit_offset[RADIX];

// Stores the tile's keys, and what goes with them, by `s_digit_offset`. `tile_first` is the place of the tile's first key.
// All of the workgroup must call it.
void move_items(Words sorted, Values values, uint tile_first, Digit digit, uint extent) {
    // The last word of all stays in shared memory until it is asked for.
#if VALUE_WORDS > 0
    [[unroll]] for (uint w = 0; w < KEY_WORDS; w++) {
        exchange_for_after(key_words[w], extent);
    }
    uint origin[ITEMS_PER_INVOCATION];
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        origin[i] = item_place(i);
    }
    put_in_order(origin, extent);
    // Even where there are none: SwiftShader crashes on a pointer that a branch has chosen.
    Words tile_values = advance_words(values.from, tile_first, VALUE_WORDS);
#else
    [[unroll]] for (uint w = 0; w < KEY_WORDS - 1; w++) {
        exchange_for_after(key_words[w], extent);
    }
    put_in_order(key_words[KEY_WORDS - 1], extent);
#endif
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (place_after(i) < extent) {
            uint word = s_tile[place_after(i)];
#if VALUE_WORDS == 0
            key_words[KEY_WORDS - 1][i] = word;
#endif
            Key key = key_at(i);
            // A place can be beyond 2^31, too far for an index.
            uint place = s_digit_offset[digit_of(key, digit.shift, digit.mask)] + place_after(i);
            store_key(advance_words(sorted, place, KEY_WORDS), key);
#if VALUE_WORDS > 0
            Words value = advance_words(values.to, place, VALUE_WORDS);
            if (values.are_places) {
                value.word[0] = tile_first + word;
            } else {
                move_value(tile_values, word, value);
            }
#endif
        }
    }
}

#endif
