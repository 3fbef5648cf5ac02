// Partial results: an element of the operator. With ARG the least of each value of a pack, and its row; the first of
// equals. Then values are keys in ascending order as unsigned numbers, and a NaN is the least of all. With BOTH also the
// greatest, which is the least of the keys in descending order.

#include "reduce/padding.glsl"

// Values of a pack of 16 bytes; an element of a caller's functions is one value.
#ifdef FUNCTIONS
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

struct Least {
    Element keys;
    Rows rows;
};

#ifdef BOTH
struct Partial {
    Least least;
    Least greatest;
};
#else
#define Partial Least
#endif

// Greater than every key, or equal; and beyond every row.
Partial padding_partial() {
    Least least = Least(Element(~0), Rows(~0));
#ifdef BOTH
    return Partial(least, least);
#else
    return least;
#endif
}

// Whether key `v` is less than key `v` of `others`.
bool is_less(Element keys, Element others, uint v) {
    uint last = (v + 1) * VALUE_WORDS - 1;
#if VALUE_WORDS == 2
    bool is_less = keys[last - 1] < others[last - 1];
    return keys[last] < others[last] || (keys[last] == others[last] && is_less);
#else
    return keys[last] < others[last];
#endif
}

// Takes value `v` of another partial result.
void take(inout Least partial, Element keys, uint row, uint v) {
    [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
        partial.keys[v * VALUE_WORDS + w] = keys[v * VALUE_WORDS + w];
    }
    partial.rows[v] = row;
}

// Combines the first `count` values; of the others it keeps the earlier ones.
Least combine_first(Least earlier, Least later, uint count) {
    [[unroll]] for (uint v = 0; v < count; v++) {
        bool is_first = !is_less(earlier.keys, later.keys, v) && later.rows[v] < earlier.rows[v];
        if (is_less(later.keys, earlier.keys, v) || is_first) {
            take(earlier, later.keys, later.rows[v], v);
        }
    }
    return earlier;
}

#ifdef BOTH
Partial combine_first(Partial earlier, Partial later, uint count) {
    return Partial(combine_first(earlier.least, later.least, count),
        combine_first(earlier.greatest, later.greatest, count));
}
#endif

// Once the values of a column are combined.
Partial combine_partials(Partial earlier, Partial later) {
    return combine_first(earlier, later, min(FLAT_COLUMNS, PACK_VALUES));
}

Least partial_of_lane_xor(Least partial, uint mask) {
    return Least(element_of_lane_xor(partial.keys, mask), subgroupShuffleXor(partial.rows, mask));
}

#ifdef BOTH
Partial partial_of_lane_xor(Partial partial, uint mask) {
    return Partial(partial_of_lane_xor(partial.least, mask), partial_of_lane_xor(partial.greatest, mask));
}
#endif

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

// The keys of minima in the opposite order: a NaN, whose key is 0, stays the least of all.
Element opposite(Element keys) {
    Element others = ~keys;
    if (NUMBERS == FLOAT) {
        [[unroll]] for (uint w = 0; w < ELEMENT_WORDS; w++) {
            bool is_nan = keys[w] == 0;
#if VALUE_WORDS == 2
            is_nan = is_nan && keys[w ^ 1] == 0;
#endif
            others[w] = is_nan ? 0 : others[w];
        }
    }
    return others;
}
#else
#define Partial Element
#define padding_partial() padding()
#define combine_partials(earlier, later) combine(earlier, later)
#define combine_first(earlier, later, count) combine(earlier, later)
#define partial_of_lane_xor(partial, mask) element_of_lane_xor(partial, mask)
#endif

#include "reduce/tree.glsl"
