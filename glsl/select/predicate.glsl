// Predicates of a selection.
//
// A comparison is an interval of orders (`sort/key.glsl`), since each of them keeps the keys of one interval, or all
// others. It is computed once for an invocation. Floats compare as in IEEE 754: -0 equals +0, and a NaN satisfies `!=`
// alone.

#include "select/interface.glsl"
#include "sort/key.glsl"

// The number of a predicate: `Predicate` of `config.rs`.
const uint FLAGS8 = 0;
const uint FLAGS32 = 1;
const uint COMPARE = 2;
// The first key of each run of equal keys. Floats: -0 equals +0, and all NaNs are equal.
const uint UNIQUE = 3;
layout(constant_id = ID_PREDICATE) const uint PREDICATE = FLAGS32;

// The number of a comparison: `Comparison` of `config.rs`.
const uint LESS = 0;
const uint LESS_EQUAL = 1;
const uint EQUAL = 2;
const uint NOT_EQUAL = 3;
const uint GREATER_EQUAL = 4;
const uint GREATER = 5;
// From one operand, included, to another, excluded.
const uint RANGE = 6;
layout(constant_id = ID_COMPARISON) const uint COMPARISON = LESS;
// Of three parts, of the keys that the first comparison rejects.
layout(constant_id = ID_SECOND_COMPARISON) const uint SECOND_COMPARISON = LESS;

// Parts in the result: 1 keeps the selected elements, 2 or 3 keep all.
layout(constant_id = ID_PARTS) const uint PARTS = 1;

const uint SIGN_BIT = 0x80000000;
#if KEY_WORDS == 2
const uint EXPONENT = 0x7ff00000;
#define KEY(high) Key(0, high)
#define KEY_OF(words) words
#else
const uint EXPONENT = 0x7f800000;
#define KEY(high) high
#define KEY_OF(words) words.x
#endif

bool is_less(Key a, Key b) {
#if KEY_WORDS == 2
    return a.y < b.y || (a.y == b.y && a.x < b.x);
#else
    return a < b;
#endif
}

Key successor(Key order) {
#if KEY_WORDS == 2
    return Key(order.x + 1, order.y + (order.x == ~0 ? 1 : 0));
#else
    return order + 1;
#endif
}

Key predecessor(Key order) {
#if KEY_WORDS == 2
    return Key(order.x - 1, order.y - (order.x == 0 ? 1 : 0));
#else
    return order - 1;
#endif
}

// The orders from `first` to `last`, both included: none if `last` is less.
struct Interval {
    Key first;
    Key last;
};

const Interval NOTHING = Interval(Key(~0), Key(0));

bool contains(Interval interval, Key order) {
    return !is_less(order, interval.first) && !is_less(interval.last, order);
}

// Orders of all keys that are numbers.
Interval numbers() {
    if (KEY_NUMBERS == FLOAT) {
        return Interval(ordered(KEY(SIGN_BIT | EXPONENT)), ordered(KEY(EXPONENT)));
    }
    return Interval(Key(0), Key(~0));
}

// Orders of the numbers that equal `key`; nothing for a NaN.
Interval equals(Key key) {
    Key order = ordered(key);
    Interval equal = Interval(order, order);
    if (KEY_NUMBERS == FLOAT) {
        Key plus_zero = ordered(Key(0));
        Key minus_zero = ordered(KEY(SIGN_BIT));
        equal.first = order == plus_zero ? minus_zero : order;
        equal.last = order == minus_zero ? plus_zero : order;
        if (!contains(numbers(), order)) {
            return NOTHING;
        }
    }
    return equal;
}

// Orders of the keys that satisfy a comparison with `bound`, of a range from there to `range_end`; for NOT_EQUAL of
// those that do not.
Interval satisfying(uint comparison, Key bound, Key range_end) {
    Interval all = numbers();
    Interval equal = equals(bound);
    // Of a NaN, which no number equals.
    bool is_nothing = is_less(equal.last, equal.first);
    if (comparison == EQUAL || comparison == NOT_EQUAL || is_nothing) {
        return equal;
    }
    if (comparison == LESS_EQUAL) {
        return Interval(all.first, equal.last);
    }
    if (comparison == GREATER) {
        return equal.last == all.last ? NOTHING : Interval(successor(equal.last), all.last);
    }
    if (comparison == GREATER_EQUAL) {
        return Interval(equal.first, all.last);
    }
    Interval end = comparison == RANGE ? equals(range_end) : equal;
    if (is_less(end.last, end.first) || end.first == all.first) {
        return NOTHING;
    }
    return Interval(comparison == RANGE ? equal.first : all.first, predecessor(end.first));
}

// The intervals of the comparisons.
struct Tests {
    Interval first;
    Interval second;
};

Tests make_tests() {
    Tests tests = Tests(NOTHING, NOTHING);
    if (PREDICATE != COMPARE) {
        return tests;
    }
    Key bound = KEY_OF(push.bound);
    Key range_end = KEY_OF(push.range_end);
    Key second_bound = KEY_OF(push.second_bound);
    Key second_range_end = KEY_OF(push.second_range_end);
    if (!is_null(push.bounds)) {
        bound = load_key(push.bounds, 0);
        uint next = 1;
        if (COMPARISON == RANGE) {
            range_end = load_key(push.bounds, next++);
        }
        if (PARTS == 3) {
            second_bound = load_key(push.bounds, next);
            if (SECOND_COMPARISON == RANGE) {
                second_range_end = load_key(push.bounds, next + 1);
            }
        }
    }
    tests.first = satisfying(COMPARISON, bound, range_end);
    if (PARTS == 3) {
        tests.second = satisfying(SECOND_COMPARISON, second_bound, second_range_end);
    }
    return tests;
}

bool satisfies(uint comparison, Interval interval, Key key) {
    return contains(interval, ordered(key)) != (comparison == NOT_EQUAL);
}

// The key, equal for all keys that UNIQUE treats as equal.
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
