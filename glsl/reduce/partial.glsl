// Partial results: an element of the operator. With ARG the least of each value of a pack, and its row; the first of
// equals. Then values are keys in ascending order as unsigned numbers, and a NaN is the least of all.

#include "reduce/padding.glsl"

// Values of a pack of 16 bytes; an element of a custom operator is one value.
#ifdef OPERATOR_CUSTOM
#define PACK_VALUES 1
#else
#define PACK_VALUES (4 / VALUE_WORDS)
#endif

Element element_of_lane_xor(Element element, uint mask) {
#if ELEMENT_WORDS <= 4
    return subgroupShuffleXor(element, mask);
#else
    [[unroll]] for (uint w = 0; w < ELEMENT_WORDS; w++) {
        element[w] = subgroupShuffleXor(element[w], mask);
    }
    return element;
#endif
}

#ifdef ARG
#if PACK_VALUES == 4
#define Rows uvec4
#else
#define Rows uvec2
#endif

struct Partial {
    Element keys;
    Rows rows;
};

// Greater than every key, or equal; and beyond every row.
Partial padding_partial() {
    return Partial(Element(~0), Rows(~0));
}

Partial combine_partials(Partial earlier, Partial later) {
    [[unroll]] for (uint v = 0; v < PACK_VALUES; v++) {
        uint last = (v + 1) * VALUE_WORDS - 1;
        bool is_less = later.keys[last] < earlier.keys[last];
        bool is_equal = later.keys[last] == earlier.keys[last];
#if VALUE_WORDS == 2
        is_less = is_less || (is_equal && later.keys[last - 1] < earlier.keys[last - 1]);
        is_equal = is_equal && later.keys[last - 1] == earlier.keys[last - 1];
#endif
        if (is_less || (is_equal && later.rows[v] < earlier.rows[v])) {
            [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
                earlier.keys[v * VALUE_WORDS + w] = later.keys[v * VALUE_WORDS + w];
            }
            earlier.rows[v] = later.rows[v];
        }
    }
    return earlier;
}

Partial partial_of_lane_xor(Partial partial, uint mask) {
    return Partial(element_of_lane_xor(partial.keys, mask), subgroupShuffleXor(partial.rows, mask));
}

// Keys of which the least is sought, of values in memory. -0 equals +0, as it does in numpy.
Element keys_of(Element words) {
    if (NUMBERS == FLOAT) {
        [[unroll]] for (uint v = 0; v < PACK_VALUES; v++) {
            uint last = (v + 1) * VALUE_WORDS - 1;
            bool is_zero = words[last] << 1 == 0;
#if VALUE_WORDS == 2
            is_zero = is_zero && words[last - 1] == 0;
#endif
            words[last] = is_zero ? 0 : words[last];
        }
    }
    words = from_memory(words);
    return OPERATOR == MAX ? ~words : words;
}
#else
#define Partial Element
#define padding_partial() padding()
#define combine_partials(earlier, later) combine(earlier, later)
#define partial_of_lane_xor(partial, mask) element_of_lane_xor(partial, mask)
#endif

#include "reduce/tree.glsl"
