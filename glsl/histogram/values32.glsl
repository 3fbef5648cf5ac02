// Values of 32 bits of a histogram, or the words of `common/packed.glsl`. Value is a value, or its key; Values are four of them.
//
// Before it is included: NUMBERS.

#define Value uint
#define Values uvec4
#define four_of uvec4
#define chosen mix
#define are_at_most lessThanEqual
#define load_element(words, i) words.word[i]

const uint VALUE_WORDS = 1;
const uint SIGN = 0x80000000;
const Values NONE = uvec4(0);

Value first_of(Values values) {
    return values.x;
}

Values rotated(Values values) {
    return values.yzwx;
}

bool is_less(Value value, Value other) {
    return value < other;
}

// The keys of values. -0 and 0 have one key; the keys of NaNs are beyond the keys of both infinities.
Values keys_of(Values values) {
    if (NUMBERS == SIGNED) {
        return values ^ SIGN;
    }
    if (NUMBERS == FLOAT) {
        values = mix(values, uvec4(0), equal(values, uvec4(SIGN)));
        return values ^ (uvec4(ivec4(values) >> 31) | SIGN);
    }
    return values;
}

vec4 distances_of(Values values, Value lesser, uint shift) {
    return NUMBERS == FLOAT ? uintBitsToFloat(values) - uintBitsToFloat(lesser) : vec4(values - lesser);
}

uint distance_shift(Value value, Value lesser) {
    return 0;
}

Value one_before(Value value) {
    return value - 1;
}
