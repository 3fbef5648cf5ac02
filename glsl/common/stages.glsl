// What functions of a caller, in `functions.glsl`, do before and after they combine elements. Both are optional:
//
//   Element transform(Words source, uint index, Words data);   with SOURCE_WORDS, the words that an element is computed from
//   Result store(Element element, uint index, Words data);     with RESULT_WORDS, the words that are stored of a result
//
// Only the first level has a source, and the last one results: bits of OPERATOR say what a pipeline has.

#include "common/constants.glsl"

#if defined SOURCE_WORDS || defined RESULT_WORDS
layout(constant_id = ID_OPERATOR) const uint OPERATOR = 0;
#endif

#ifdef SOURCE_WORDS
const bool TRANSFORMS = (OPERATOR & 1) != 0;

// The element of row `row` of `source`, which has this index.
Element transformed(Words source, uint row, uint index, Words data) {
    return transform(advance_words(source, row, SOURCE_WORDS), index, data);
}
#endif

#ifdef RESULT_WORDS
const bool STORES = (OPERATOR & 2) != 0;

// Stores the result of an element, which has this index, as row `row` of `results`.
void store_result(Words results, uint row, Element element, uint index, Words data) {
    Result result = store(element, index, data);
    Words words = advance_words(results, row, RESULT_WORDS);
#if RESULT_WORDS == 1
    words.word[0] = result;
#else
    [[unroll]] for (uint w = 0; w < RESULT_WORDS; w++) {
        words.word[w] = result[w];
    }
#endif
}
#endif
