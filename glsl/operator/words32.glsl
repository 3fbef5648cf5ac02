// Operators of u32, i32 and f32, on rows of COLUMNS of them, one to four.
//
// Minima and maxima compare unsigned numbers: signed integers and floats are mapped to unsigned numbers of the same
// order on load, and back on store. A NaN maps to the number that always wins, and back to a NaN; denormals compare
// as numbers, and -0 is less than +0.
//
// SUMS_ONLY compiles the u32 sum alone, without specialization constants.

#ifndef COLUMNS
#define COLUMNS 1
#endif
#define ELEMENT_WORDS COLUMNS
#include "common/words.glsl"
#include "operator/names.glsl"

#ifdef SUMS_ONLY
const uint OPERATOR = ADD;
const uint NUMBERS = UNSIGNED;
#else
layout(constant_id = ID_OPERATOR) const uint OPERATOR = ADD;
layout(constant_id = ID_NUMBERS) const uint NUMBERS = UNSIGNED;
#endif

const bool IS_ORDERED = OPERATOR == MIN || OPERATOR == MAX;
const bool IS_FLOAT = NUMBERS == FLOAT && !IS_ORDERED;

const uint SIGN = 0x80000000;
const uint INFINITY = 0x7f800000;
const uint ONE = 0x3f800000;

// The mapped -inf and +inf of floats, else the least and greatest number.
const uint LEAST = NUMBERS == FLOAT ? ~(SIGN | INFINITY) : 0;
const uint GREATEST = NUMBERS == FLOAT ? SIGN | INFINITY : ~0;

const uint IDENTITY_WORD = OPERATOR == MUL ? (NUMBERS == FLOAT ? ONE : 1)
    : OPERATOR == MIN                      ? GREATEST
    : OPERATOR == MAX                      ? LEAST
    : OPERATOR == AND                      ? ~0
                                           : 0;

Element identity() {
    return Element(IDENTITY_WORD);
}

#define OPERATOR_HAS_MEMORY_FORM

Element from_memory(Element words) {
    if (IS_ORDERED && NUMBERS == SIGNED) {
        words ^= SIGN;
    }
    if (IS_ORDERED && NUMBERS == FLOAT) {
        // All ones where the column is a NaN, without a branch for each column.
        Element is_nan = Element(0) - ((INFINITY - (words & ~SIGN)) >> 31);
        Element is_negative = Element(0) - (words >> 31);
        words ^= is_negative | SIGN;
        words = OPERATOR == MAX ? words | is_nan : words & ~is_nan;
    }
    return words;
}

Element to_memory(Element words) {
    if (IS_ORDERED && NUMBERS == SIGNED) {
        words ^= SIGN;
    }
    if (IS_ORDERED && NUMBERS == FLOAT) {
        words ^= ((words >> 31) - 1) | SIGN;
    }
    return words;
}

Element combine(Element earlier, Element later) {
    // Precise, since 0 + x differs from x for -0, and a compiler might fold one use and not another.
    precise Element both;
    if (OPERATOR == MUL) {
        if (IS_FLOAT) {
            both = floatBitsToUint(uintBitsToFloat(earlier) * uintBitsToFloat(later));
        } else {
            both = earlier * later;
        }
    } else if (OPERATOR == MIN) {
        both = min(earlier, later);
    } else if (OPERATOR == MAX) {
        both = max(earlier, later);
    } else if (OPERATOR == AND) {
        both = earlier & later;
    } else if (OPERATOR == OR) {
        both = earlier | later;
    } else if (OPERATOR == XOR) {
        both = earlier ^ later;
    } else if (IS_FLOAT) {
        both = floatBitsToUint(uintBitsToFloat(earlier) + uintBitsToFloat(later));
    } else {
        both = earlier + later;
    }
    return both;
}

#define OPERATOR_HAS_SUBGROUP

// Sets `result` to the result of the operator's function on `value`.
#define CALL_BY_OPERATOR(result, value, add, mul, least, greatest, and, or, xor) \
    if (OPERATOR == MUL) { \
        if (IS_FLOAT) { \
            result = floatBitsToUint(mul(uintBitsToFloat(value))); \
        } else { \
            result = mul(value); \
        } \
    } else if (OPERATOR == MIN) { \
        result = least(value); \
    } else if (OPERATOR == MAX) { \
        result = greatest(value); \
    } else if (OPERATOR == AND) { \
        result = and(value); \
    } else if (OPERATOR == OR) { \
        result = or(value); \
    } else if (OPERATOR == XOR) { \
        result = xor(value); \
    } else if (IS_FLOAT) { \
        result = floatBitsToUint(add(uintBitsToFloat(value))); \
    } else { \
        result = add(value); \
    }

Element subgroup_reduce(Element value) {
    Element total;
    CALL_BY_OPERATOR(total, value, subgroupAdd, subgroupMul, subgroupMin, subgroupMax, subgroupAnd, subgroupOr,
        subgroupXor)
    return total;
}

Element subgroup_exclusive_scan(Element value) {
    Element prefix;
    CALL_BY_OPERATOR(prefix, value, subgroupExclusiveAdd, subgroupExclusiveMul, subgroupExclusiveMin,
        subgroupExclusiveMax, subgroupExclusiveAnd, subgroupExclusiveOr, subgroupExclusiveXor)
    return prefix;
}

Element subgroup_exclusive_scan(Element value, out Element total) {
    Element prefix = subgroup_exclusive_scan(value);
    total = subgroupShuffle(combine(prefix, value), gl_SubgroupSize - 1);
    return prefix;
}
