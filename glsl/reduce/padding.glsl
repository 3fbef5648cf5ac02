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

// The total; a total of nothing but -0 becomes 0, as in numpy. By the bits: compilers drop a sum with 0.
Element settled(Element total) {
#if defined OPERATOR_WORDS32
    if (OPERATOR == ADD && NUMBERS == FLOAT) {
        [[unroll]] for (uint w = 0; w < ELEMENT_WORDS; w++) {
            uint word = ELEMENT_WORD(total, w);
            ELEMENT_WORD(total, w) = word == 0x80000000 ? 0 : word;
        }
    }
#elif defined OPERATOR_FLOAT64
    if (OPERATOR == ADD) {
        [[unroll]] for (uint w = 0; w < ELEMENT_WORDS; w += 2) {
            total[w + 1] = total[w] == 0 && total[w + 1] == 0x80000000 ? 0 : total[w + 1];
        }
    }
#endif
    return total;
}
