// How a ranked tile leaves its workgroup: through shared memory, where it lies in order, so that keys of one digit go as
// one run. To be included behind a ranking, whose `s_tile` it uses.

#ifndef SUBSWEEP_SORT_MOVE
#define SUBSWEEP_SORT_MOVE

#include "sort/exchange.glsl"
#include "sort/places.glsl"
#include "sort/values.glsl"

// What to add to a key's rank in the tile to get its place in the output: of every digit the low word, and behind those the
// high ones, where places are wide.
shared uint s_digit_offset[BINS_WORDS];

// Says where the tile's first key of a digit goes.
void set_digit_place(uint digit, uvec2 place) {
    uvec2 offset = place_minus(place, first_of_digit(digit));
    s_digit_offset[digit] = offset.x;
    if (WIDE_PLACES) {
        s_digit_offset[RADIX + digit] = offset.y;
    }
}

// Where the key of a rank in the tile goes.
uvec2 place_of(uint digit, uint rank) {
    if (WIDE_PLACES) {
        return place_plus(uvec2(s_digit_offset[digit], s_digit_offset[RADIX + digit]), rank);
    }
    return uvec2(s_digit_offset[digit] + rank, 0);
}

// Stores the tile's keys, and what goes with them, by the places of its digits. `tile_first` is the place of the tile's first
// key. All of the workgroup must call it.
void move_items(Words sorted, Values values, uvec2 tile_first, Digit digit, uint extent) {
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
            uvec2 place = place_of(digit_of(key, digit.shift, digit.mask), place_after(i));
            store_key(advance_words(sorted, place, KEY_WORDS), key);
#if VALUE_WORDS > 0
            Words value = advance_words(values.to, place, VALUE_WORDS);
            if (values.are_places) {
                // Of 32 bits: a sort that tells places has no more keys.
                value.word[0] = tile_first.x + word;
            } else {
                move_value(tile_values, word, value);
            }
#endif
        }
    }
}

#endif
