// Values of 64 bits of a histogram, in two words, the low one first. Value is a value, or its key; Values are four of them.
//
// Before it is included: NUMBERS and both().

#include "common/wide.glsl"

#define Value uvec2

const uint VALUE_WORDS = 2;
const uint SIGN = 0x80000000;

struct Values {
    uvec4 low;
    uvec4 high;
};

const Values NONE = Values(uvec4(0), uvec4(0));

Values four_of(Value x, Value y, Value z, Value w) {
    return Values(uvec4(x.x, y.x, z.x, w.x), uvec4(x.y, y.y, z.y, w.y));
}

Value first_of(Values values) {
    return uvec2(values.low.x, values.high.x);
}

Values rotated(Values values) {
    return Values(values.low.yzwx, values.high.yzwx);
}

Values chosen(Values no, Values yes, bvec4 is_yes) {
    return Values(mix(no.low, yes.low, is_yes), mix(no.high, yes.high, is_yes));
}

bvec4 are_at_most(Values values, Values others) {
    bvec4 is_high_less = lessThan(values.high, others.high);
    bvec4 is_low_at_most = both(equal(values.high, others.high), lessThanEqual(values.low, others.low));
    return bvec4(uvec4(is_high_less) | uvec4(is_low_at_most));
}

Value load_word_pair(Words words, uint i) {
    return uvec2(words.word[2 * i], words.word[2 * i + 1]);
}
#define load_element load_word_pair

// The keys of values. -0 and 0 have one key; the keys of NaNs are beyond the keys of both infinities.
Values keys_of(Values values) {
    if (NUMBERS == SIGNED) {
        values.high ^= SIGN;
    }
    if (NUMBERS == FLOAT) {
        bvec4 is_zero = both(equal(values.high, uvec4(SIGN)), equal(values.low, uvec4(0)));
        values.high = mix(values.high, uvec4(0), is_zero);
        uvec4 negative = uvec4(ivec4(values.high) >> 31);
        values.low ^= negative;
        values.high ^= negative | SIGN;
    }
    return values;
}

// The values as floats of 32 bits, which are not farther from 0 than the floats of 64 bits.
vec4 narrowed(Values values) {
    ivec4 exponents = ivec4(values.high >> 20 & 0x7ff) - (1023 - 127);
    uvec4 mantissas = (values.high & 0xfffff) << 3 | values.low >> 29;
    uvec4 magnitudes = uvec4(clamp(exponents, 0, 255)) << 23;
    magnitudes = mix(magnitudes, magnitudes | mantissas, both(greaterThan(exponents, ivec4(0)),
        lessThan(exponents, ivec4(255))));
    return uintBitsToFloat(magnitudes | values.high & SIGN);
}

// The distances of values from a lesser one; of integers in units of 2^shift.
vec4 distances_of(Values values, Value lesser, uint shift) {
    if (NUMBERS == FLOAT) {
        return narrowed(values) - narrowed(four_of(lesser, lesser, lesser, lesser));
    }
    uvec4 borrows;
    uvec4 low = usubBorrow(values.low, uvec4(lesser.x), borrows);
    uvec4 high = values.high - lesser.y - borrows;
    // A shift by 32 is undefined.
    uvec4 shifted = low >> 1 >> (shift - 1 & 31) | high << (32 - shift & 31);
    return vec4(shift == 0 ? low : shifted);
}

// By which the distance of one value from a lesser one fits 32 bits.
uint distance_shift(Value value, Value lesser) {
    uint high = value.y - lesser.y - uint(value.x < lesser.x);
    return NUMBERS == FLOAT ? 0 : uint(findMSB(high) + 1);
}

Value one_before(Value value) {
    return uvec2(value.x - 1, value.y - uint(value.x == 0));
}
