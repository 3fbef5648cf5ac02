// Functions of a caller that read elements, in `functions.glsl` on the compiler's include path. It defines ELEMENT_WORDS, the
// words of an element, and as far as the kernel USES them
//
//   bool keep(Element element, uint index, Words data);     USES_KEEP: whether a selection keeps the element
//   Key key_of(Words element, uint index, Words data);      USES_KEY_OF: the key that a sort compares, in the form of its type
//
// `index` is that of the element in its array, and `data` the caller's. A kernel includes this file before all others.

#include "common/address.glsl"
#ifdef USES_KEY_OF
#include "common/key.glsl"
#endif
#include "functions.glsl"

const uint SOURCE_WORDS = ELEMENT_WORDS;

#ifdef USES_KEEP
Element load_element(Words words) {
#if ELEMENT_WORDS == 1
    return words.word[0];
#else
    Element element;
    [[unroll]] for (uint w = 0; w < ELEMENT_WORDS; w++) {
        element[w] = words.word[w];
    }
    return element;
#endif
}

// Whether element `index` of an array is kept; `words` are its words.
bool is_kept(Words words, uint index, Words data) {
    return keep(load_element(words), index, data);
}
#endif

#ifdef USES_KEY_OF
// The key of element `index` of an array.
Key computed_key(Words elements, uint index, Words data) {
    return key_of(advance_words(elements, index, SOURCE_WORDS), index, data);
}
#endif

// Those of the caller's elements; what follows has others.
#undef ELEMENT_WORDS
#undef ELEMENT_WORD
#undef Element
#undef Value
#undef PAIRS
