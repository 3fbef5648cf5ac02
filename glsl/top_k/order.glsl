// Keys of a top-k, of one word or two by a specialization constant: a key of one word is the high word of a Key, whose low
// word is 0.
//
// Their order is that of `sort/key.glsl`, but equal where numpy has equal keys: -0 equals 0, and every NaN is the same
// number, greater than all others. The first in order is the best.

#define KEY_WORDS 2
#include "sort/key.glsl"

layout(constant_id = ID_WORDS_PER_KEY) const uint WORDS_PER_KEY = 1;

const uint INFINITY_BITS = WORDS_PER_KEY == 2 ? 0x7ff00000 : 0x7f800000;
const uint LOW_MASK = WORDS_PER_KEY == 2 ? ~0 : 0;

Key load_top_key(Words keys, uint index) {
    if (WORDS_PER_KEY == 2) {
        return load_key(keys, index);
    }
    return Key(0, keys.word[index]);
}

void store_top_key(Words keys, uint index, Key key) {
    if (WORDS_PER_KEY == 2) {
        store_key(advance_words(keys, index, 2), key);
    } else {
        keys.word[index] = key.y;
    }
}

bool is_less(Key a, Key b) {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

Key numpy_order(Key key) {
    if (KEY_NUMBERS == FLOAT) {
        uint high = key.y & 0x7fffffff;
        if (high == 0 && key.x == 0) {
            key = Key(0);
        } else if (is_less(Key(0, INFINITY_BITS), Key(key.x, high))) {
            key = Key(~0, 0x7fffffff);
        }
    }
    Key order = ordered(key);
    return Key(order.x & LOW_MASK, order.y);
}
