// Equality of keys by value: -0 equals +0, and all NaNs are equal.

#ifndef SUBSWEEP_KEY_EQUALITY
#define SUBSWEEP_KEY_EQUALITY

#include "sort/key.glsl"

const uint SIGN_BIT = 0x80000000;
#if KEY_WORDS == 2
const uint EXPONENT = 0x7ff00000;
#define KEY(high) Key(0, high)
#else
const uint EXPONENT = 0x7f800000;
#define KEY(high) high
#endif

bool is_less(Key a, Key b) {
#if KEY_WORDS == 2
    return a.y < b.y || (a.y == b.y && a.x < b.x);
#else
    return a < b;
#endif
}

// The key, the same for all keys that are equal.
Key canonical(Key key) {
    if (KEY_NUMBERS == FLOAT) {
#if KEY_WORDS == 2
        Key magnitude = Key(key.x, key.y & ~SIGN_BIT);
#else
        Key magnitude = key & ~SIGN_BIT;
#endif
        if (magnitude == Key(0)) {
            return magnitude;
        }
        if (is_less(KEY(EXPONENT), magnitude)) {
            return Key(~0);
        }
    }
    return key;
}

#endif
