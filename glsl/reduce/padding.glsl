// What a tile lacks: an element that changes no bit of what it is combined with. For sums of floats that is -0, since
// 0 + -0 is 0; for all other operators their identity.

#include "common/element.glsl"

Element padding() {
#if defined OPERATOR_WORDS32
    if (OPERATOR == ADD && NUMBERS == FLOAT) {
        return Element(0x80000000);
    }
#elif defined OPERATOR_FLOAT64
    if (OPERATOR == ADD) {
        return PAIRS(uvec2(0, 0x80000000), uvec2(0, 0x80000000));
    }
#endif
    return identity();
}
