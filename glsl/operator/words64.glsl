// Operators of u64 and i64, and minimum and maximum of f64, on rows of COLUMNS of them, one or two. They use 32-bit
// integers alone, since a device may lack shaderInt64.
//
// A number is two words, low word first. Minima and maxima map it as `words32.glsl` does.

#define ELEMENT_WORDS (2 * COLUMNS)
#include "common/wide.glsl"
#include "common/words.glsl"
#include "operator/names.glsl"

layout(constant_id = ID_OPERATOR) const uint OPERATOR = ADD;
layout(constant_id = ID_NUMBERS) const uint NUMBERS = UNSIGNED;

const bool IS_ORDERED = OPERATOR == MIN || OPERATOR == MAX;

const uint SIGN = 0x80000000;
// The high word; the low word is 0.
const uint INFINITY = 0x7ff00000;

// The mapped -inf and +inf of f64, else the least and greatest number. Selected word by word: Mesa 22.3 selects
// wrongly between constant vectors.
const uvec2 LEAST = uvec2(NUMBERS == FLOAT ? ~0 : 0, NUMBERS == FLOAT ? ~(SIGN | INFINITY) : 0);
const uvec2 GREATEST = uvec2(NUMBERS == FLOAT ? 0 : ~0, NUMBERS == FLOAT ? SIGN | INFINITY : ~0);

uvec2 identity_pair() {
    if (OPERATOR == MUL) {
        return uvec2(1, 0);
    } else if (OPERATOR == MIN) {
        return GREATEST;
    } else if (OPERATOR == MAX) {
        return LEAST;
    } else if (OPERATOR == AND) {
        return uvec2(~0);
    }
    return uvec2(0);
}

uvec2 combine_pair(uvec2 earlier, uvec2 later) {
    uvec2 both;
    if (OPERATOR == MUL) {
        umulExtended(earlier.x, later.x, both.y, both.x);
        both.y += earlier.x * later.y + earlier.y * later.x;
    } else if (OPERATOR == MIN) {
        both = is_less(later, earlier) ? later : earlier;
    } else if (OPERATOR == MAX) {
        both = is_less(earlier, later) ? later : earlier;
    } else if (OPERATOR == AND) {
        both = earlier & later;
    } else if (OPERATOR == OR) {
        both = earlier | later;
    } else if (OPERATOR == XOR) {
        both = earlier ^ later;
    } else {
        uint carry;
        both.x = uaddCarry(earlier.x, later.x, carry);
        both.y = earlier.y + later.y + carry;
    }
    return both;
}

uvec2 pair_from_memory(uvec2 pair) {
    if (IS_ORDERED && NUMBERS == SIGNED) {
        pair.y ^= SIGN;
    }
    if (IS_ORDERED && NUMBERS == FLOAT) {
        uint upper = pair.y & ~SIGN;
        bool is_nan = upper > INFINITY || (upper == INFINITY && pair.x != 0);
        uint is_negative = 0 - (pair.y >> 31);
        pair ^= uvec2(is_negative, is_negative | SIGN);
        pair = is_nan ? uvec2(OPERATOR == MAX ? ~0 : 0) : pair;
    }
    return pair;
}

uvec2 pair_to_memory(uvec2 pair) {
    if (IS_ORDERED && NUMBERS == SIGNED) {
        pair.y ^= SIGN;
    }
    if (IS_ORDERED && NUMBERS == FLOAT) {
        uint was_negative = (pair.y >> 31) - 1;
        pair ^= uvec2(was_negative, was_negative | SIGN);
    }
    return pair;
}

#define OPERATOR_HAS_MEMORY_FORM

Element identity() {
    return PAIRS(identity_pair(), identity_pair());
}

Element combine(Element earlier, Element later) {
    return PAIRS(combine_pair(earlier.xy, later.xy), combine_pair(earlier.zw, later.zw));
}

Element from_memory(Element words) {
    return PAIRS(pair_from_memory(words.xy), pair_from_memory(words.zw));
}

Element to_memory(Element words) {
    return PAIRS(pair_to_memory(words.xy), pair_to_memory(words.zw));
}
