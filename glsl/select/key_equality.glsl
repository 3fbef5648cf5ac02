// Equality of keys by value: -0 equals +0, and all NaNs are equal.

#ifndef SUBSWEEP_KEY_EQUALITY
#define SUBSWEEP_KEY_EQUALITY

#include "sort/key.glsl"

const uint SIGN_BIT = 0x80000000;
// The highest word of an infinity.
#if KEY_WORDS == 2
const uint EXPONENT = 0x7ff00000;
#else
const uint EXPONENT = 0x7f800000;
#endif

// The key, the same for all keys that are equal.
Key canonical(Key key) {
    if (KEY_NUMBERS == FLOAT) {
#if KEY_WORDS == 2
        Key magnitude = Key(key.x, key.y & ~SIGN_BIT);
        bool is_nan = magnitude.y > EXPONENT || (magnitude.y == EXPONENT && magnitude.x != 0);
#else
        Key magnitude = key & ~SIGN_BIT;
        bool is_nan = magnitude > EXPONENT;
#endif
        if (magnitude == Key(0)) {
            return magnitude;
        }
        if (is_nan) {
            return Key(~0);
        }
    }
    return key;
}

#endif
