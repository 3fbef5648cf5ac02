// Predicates of a selection, and the push constants of its kernels.
//
// A comparison is an interval of orders (`common/key.glsl`), since each of them keeps the keys of one interval, or all
// others. It is computed once for an invocation. Floats compare as in IEEE 754: -0 equals +0, and a NaN satisfies `!=`
// alone.

#include "common/address.glsl"
#include "common/key.glsl"

layout(push_constant, std430) uniform Push {
    // Flags, keys, or the elements of functions.
    Words tested;
    // Elements, where they are not the keys.
    Words source;
    Words values;
    Words destination;
    Words destination_values;
    Words destination_indices;
    // Counts of tiles and their prefixes; of the single pass the ticket and the descriptors.
    Words state;
    Words selected_counts;
    // Operands of the comparisons, where they are in device memory: one of each comparison, two of a range.
    Words operands;
    Words indirect_tiles;
    // Tiles, or with an indirect count the maximum.
    uint tile_count;
    // Elements in the last tile; all others are full.
    uint last_extent;
    // Operands of the comparisons from the host.
    uvec2 operand;
    uvec2 range_end;
    uvec2 second_operand;
    uvec2 second_range_end;
#ifdef COUNTED
    Words counts;
#endif
#ifdef FUNCTIONS
    Words data;
#endif
} push;

// Predicates; `Predicate::numbers` of `config.rs` has the same numbers.
const uint FLAGS8 = 0;
const uint FLAGS32 = 1;
const uint COMPARE = 2;
// The first key of each run of equal keys. Floats: -0 equals +0, and all NaNs are equal.
const uint UNIQUE = 3;
// Whether the caller's function keeps it.
const uint CALLED = 4;
#ifdef FUNCTIONS
const uint PREDICATE = CALLED;
#else
layout(constant_id = ID_PREDICATE) const uint PREDICATE = FLAGS32;
#endif

// Comparisons; `Comparison` of `config.rs` has the same numbers.
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
#ifdef SINGLE_PART
const uint SECOND_COMPARISON = LESS;
#else
layout(constant_id = ID_SECOND_COMPARISON) const uint SECOND_COMPARISON = LESS;
#endif

// Parts in the result: 1 keeps the selected elements, 2 or 3 keep all.
#ifdef SINGLE_PART
const uint PARTS = 1;
#else
layout(constant_id = ID_PARTS) const uint PARTS = 1;
#endif

#if KEY_WORDS == 2
#define KEY_OF(words) words
#else
#define KEY_OF(words) words.x
#endif

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
    if (ARE_FLOATS) {
        return Interval(ordered(KEY(SIGN_BIT | EXPONENT)), ordered(KEY(EXPONENT)));
    }
    return Interval(Key(0), Key(~0));
}

// Orders of the numbers that equal `key`; nothing for a NaN.
Interval equals(Key key) {
    Key order = ordered(key);
    Interval equal = Interval(order, order);
    if (ARE_FLOATS) {
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

// Orders of the keys that satisfy a comparison with `operand`, of a range from there to `range_end`; for NOT_EQUAL of
// those that do not.
Interval satisfying(uint comparison, Key operand, Key range_end) {
    Interval all = numbers();
    Interval equal = equals(operand);
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

// The intervals of both comparisons, after make_intervals().
Interval first_interval;
Interval second_interval;

void make_intervals() {
    if (PREDICATE != COMPARE) {
        return;
    }
    Key operand = KEY_OF(push.operand);
    Key range_end = KEY_OF(push.range_end);
    Key second_operand = KEY_OF(push.second_operand);
    Key second_range_end = KEY_OF(push.second_range_end);
    if (!is_null(push.operands)) {
        operand = load_key(push.operands, 0);
        uint next = 1;
        if (COMPARISON == RANGE) {
            range_end = load_key(push.operands, next++);
        }
        if (PARTS == 3) {
            second_operand = load_key(push.operands, next);
            if (SECOND_COMPARISON == RANGE) {
                second_range_end = load_key(push.operands, next + 1);
            }
        }
    }
    first_interval = satisfying(COMPARISON, operand, range_end);
    if (PARTS == 3) {
        second_interval = satisfying(SECOND_COMPARISON, second_operand, second_range_end);
    }
}

bool satisfies(uint comparison, Interval interval, Key key) {
    return contains(interval, ordered(key)) != (comparison == NOT_EQUAL);
}
