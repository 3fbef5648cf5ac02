// Keys: KEY_WORDS words of 32 bits, 1 or 2, low word first; or, with KEY_BITS, 8 or 16 bits in memory, which are the low bits
// of a word in a register, whose other bits are 0. With UNPACKS_KEYS such keys are in registers as the numbers of 32 bits of
// `common/packed.glsl`, which compare with a caller's numbers that the type lacks.
//
// Keys are stored in the form of their type, and compared by an unsigned number, their *order*: a signed integer has
// its sign bit flipped, a float all bits if it is negative and else the sign bit (the order of Rust's `total_cmp`); a
// descending sort flips all bits once more. The order is computed where it is needed, without a branch.
//
// Needs:    KEY_WORDS, 1 unless it is defined, or KEY_BITS, and the feature storageBuffer8BitAccess or storageBuffer16BitAccess;
//           the specialization constants KEY_NUMBERS (0 unsigned, 1 signed, 2 float, 3 float in numpy's order, 4
//           with KEY_BITS a brain float in it) and DESCENDING; with UNPACKS_KEYS the constants of `common/packed.glsl`
// Gives:    Key, load_key, store_key, advance_keys, ordered, unordered, compared, last_key, digit_of
// Shared:   none
// Barriers: none
//
// In numpy's order -0 equals 0, and every NaN is the same number, greater than all others: keys are compared by the order
// of their *canonical* form, and keep their bits.

#ifndef SUBSWEEP_KEY
#define SUBSWEEP_KEY

#include "common/address.glsl"
#include "operator/names.glsl"
#ifdef UNPACKS_KEYS
#include "common/packed.glsl"
#elif defined KEY_BITS
#define SHORT_KEYS
#endif

#ifndef KEY_WORDS
#define KEY_WORDS 1
#endif

// The number type of keys.
layout(constant_id = ID_KEY_NUMBERS) const uint KEY_NUMBERS = UNSIGNED;
layout(constant_id = ID_DESCENDING) const bool DESCENDING = false;

#ifdef SHORT_KEYS
const uint KEY_MASK = (1u << KEY_BITS) - 1;
#else
const uint KEY_MASK = ~0;
#endif
const uint SIGN_BIT = KEY_MASK ^ KEY_MASK >> 1;
const bool ARE_FLOATS = KEY_NUMBERS >= FLOAT;
const bool ARE_IN_NUMPY_ORDER = KEY_NUMBERS >= NUMPY_FLOAT;
const uint FLIPPED_IF_NEGATIVE = ARE_FLOATS ? KEY_MASK : 0;
const uint FLIPPED_SIGN = KEY_NUMBERS == UNSIGNED ? 0 : SIGN_BIT;
const uint FLIPPED = DESCENDING ? KEY_MASK : 0;

// All bits, if the sign of a key's high word is set.
#ifdef SHORT_KEYS
#define SIGN_MASK(word) uint(bitfieldExtract(int(word), KEY_BITS - 1, 1))
#else
#define SIGN_MASK(word) uint(int(word) >> 31)
#endif

// KEY makes a key of its high word. EXPONENT is the high word of an infinity.
#if KEY_WORDS == 2
#define Key uvec2
#define KEY_WORD(key, w) key[w]
#define KEY(high) Key(0, high)
const uint EXPONENT = 0x7ff00000;
#else
#define Key uint
#define KEY_WORD(key, w) key
#define KEY(high) (high)
#ifdef SHORT_KEYS
const uint EXPONENT = KEY_NUMBERS == NUMPY_BRAIN_FLOAT ? 0x7f80 : 0x7c00;
#else
const uint EXPONENT = 0x7f800000;
#endif

// Compares orders of one word; `is_less` of `common/wide.glsl` compares orders of two words.
bool is_less(Key a, Key b) {
    return a < b;
}
#endif

// Bytes of a key in memory.
#ifdef KEY_BITS
const uint KEY_SIZE = KEY_BITS / 8;

#if KEY_BITS == 8
#define StoredKey uint8_t
#else
#define StoredKey uint16_t
#endif
layout(buffer_reference, std430, buffer_reference_align = KEY_BITS / 8) buffer StoredKeys {
    StoredKey key[];
};
#else
const uint KEY_SIZE = 4 * KEY_WORDS;
#endif

Key load_key(Words keys, uint index) {
#ifdef UNPACKS_KEYS
    return unpacked(uint(StoredKeys(uvec2(keys)).key[index]));
#elif defined KEY_BITS
    return uint(StoredKeys(uvec2(keys)).key[index]);
#elif KEY_WORDS == 2
    return uvec2(keys.word[2 * index], keys.word[2 * index + 1]);
#else
    return keys.word[index];
#endif
}

void store_key(Words keys, uint index, Key key) {
#ifdef UNPACKS_KEYS
    StoredKeys(uvec2(keys)).key[index] = StoredKey(packed(key));
#elif defined KEY_BITS
    StoredKeys(uvec2(keys)).key[index] = StoredKey(key);
#elif KEY_WORDS == 2
    keys.word[2 * index] = key.x;
    keys.word[2 * index + 1] = key.y;
#else
    keys.word[index] = key;
#endif
}

// `keys` advanced by `count` runs of `run_length` keys.
Words advance_keys(Words keys, uint count, uint run_length) {
    return Words(advance(uvec2(keys), count, run_length * KEY_SIZE));
}

Words advance_keys(Words keys, uvec2 count, uint run_length) {
    return Words(advance(uvec2(keys), count, run_length * KEY_SIZE));
}

// The key's order: an unsigned number that compares as the key does.
Key ordered(Key key) {
#if KEY_WORDS == 2
    uint flipped = SIGN_MASK(key.y) & FLIPPED_IF_NEGATIVE;
    return uvec2(key.x ^ flipped, key.y ^ (flipped | FLIPPED_SIGN)) ^ FLIPPED;
#else
    uint flipped = SIGN_MASK(key) & FLIPPED_IF_NEGATIVE;
    return key ^ (flipped | FLIPPED_SIGN) ^ FLIPPED;
#endif
}

// The key of an order.
Key unordered(Key order) {
    order ^= FLIPPED;
#if KEY_WORDS == 2
    uint flipped = ~SIGN_MASK(order.y) & FLIPPED_IF_NEGATIVE;
    return Key(order.x ^ flipped, order.y ^ (flipped | FLIPPED_SIGN));
#else
    uint flipped = ~SIGN_MASK(order) & FLIPPED_IF_NEGATIVE;
    return order ^ (flipped | FLIPPED_SIGN);
#endif
}

// The form of all keys that are equal.
Key canonical(Key key) {
    if (!ARE_IN_NUMPY_ORDER) {
        return key;
    }
    Key magnitude = key & ~KEY(SIGN_BIT);
    bool is_nan = is_less(KEY(EXPONENT), magnitude);
    bool is_zero = magnitude == Key(0);
    Key number = is_zero ? magnitude : key;
    Key nan = Key(KEY_MASK) & ~KEY(SIGN_BIT);
    return is_nan ? nan : number;
}

// The order by which a key is compared, which several keys may have.
Key compared(Key key) {
    return ordered(canonical(key));
}

// Whether padding is known by its index alone: in numpy's descending order the last key is -∞, whose digits are not the last.
const bool PADS_BY_INDEX = ARE_IN_NUMPY_ORDER && DESCENDING;

// The last key in the sort's order, but with PADS_BY_INDEX: all bits of its order are set, so that every digit is the last one.
Key last_key() {
    // Its order, before the flip of a descending sort.
    uint order = DESCENDING ? 0 : KEY_MASK;
    uint flipped = DESCENDING ? FLIPPED_IF_NEGATIVE : 0;
#if KEY_WORDS == 2
    return uvec2(order ^ flipped, order ^ (flipped | FLIPPED_SIGN));
#else
    return order ^ (flipped | FLIPPED_SIGN);
#endif
}

// The bits of `mask` of an order, from bit `shift` on, which is less than the key's width.
uint bits_of(Key order, uint shift, uint mask) {
#if KEY_WORDS == 2
    // Two shifts instead of one by 32 - shift: a shift by 32 is undefined.
    uint low = order.x >> (shift & 31) | order.y << 1 << (31 - (shift & 31));
    return (shift < 32 ? low : order.y >> (shift & 31)) & mask;
#else
    return (order >> shift) & mask;
#endif
}

uint digit_of(Key key, uint shift, uint mask) {
    return bits_of(compared(key), shift, mask);
}

#endif
