// Sum and product of f64, on rows of COLUMNS of them, one or two; requires shaderFloat64.

#define ELEMENT_WORDS (2 * COLUMNS)
#include "common/words.glsl"
#include "operator/names.glsl"

layout(constant_id = ID_OPERATOR) const uint OPERATOR = ADD;
layout(constant_id = ID_NUMBERS) const uint NUMBERS = FLOAT;

const uvec2 IDENTITY_PAIR = uvec2(0, OPERATOR == MUL ? 0x3ff00000 : 0);

uvec2 combine_pair(uvec2 earlier, uvec2 later) {
    double a = packDouble2x32(earlier);
    double b = packDouble2x32(later);
    // Precise, as in `words32.glsl`.
    precise double both = OPERATOR == MUL ? a * b : a + b;
    return unpackDouble2x32(both);
}

Element identity() {
    return PAIRS(IDENTITY_PAIR, IDENTITY_PAIR);
}

Element combine(Element earlier, Element later) {
    return PAIRS(combine_pair(earlier.xy, later.xy), combine_pair(earlier.zw, later.zw));
}
