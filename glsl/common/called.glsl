// Functions of a caller that read elements, in `functions.glsl` on the compiler's include path. It defines ELEMENT_WORDS, the
// words of an element, and as far as the kernel USES them
//
//   bool keep(Element element, uint index, Words data);     USES_KEEP: whether a selection keeps the element
//   Key key_of(Words element, uint index, Words data);      USES_KEY_OF: what a sort or a top-k compares and a histogram counts,
//                                                           in the form of its type
//   bool less(Words a, Words b, Words data);                USES_LESS: whether element a comes before b in a sorted array
//
// `index` is the element's index in its array, and `data` is the caller's. A kernel includes this file before all others.

#include "common/address.glsl"
#if defined USES_KEY_OF && !defined Key
#include "common/key.glsl"
#endif
#include "functions.glsl"

// In place of the macro that `common/stages.glsl` takes.
#undef SOURCE_WORDS
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
// The key of element `column` of a row that begins at element `first` of an array, modulo 2^32, and at `elements`.
Key computed_key(Words elements, uint first, uint column, Words data) {
    return key_of(advance_words(elements, column, SOURCE_WORDS), first + column, data);
}

// The key of element `index` of an array.
Key computed_key(Words elements, uint index, Words data) {
    return key_of(advance_words(elements, index, SOURCE_WORDS), index, data);
}
#endif

#ifdef USES_LESS
// The address of element `index` of an array.
uvec2 element_at(uvec2 elements, uint index) {
    return advance(elements, index, 4 * SOURCE_WORDS);
}

// What sorted arrays have in place of keys: an element, known by its address.
#define Key uvec2
const uint KEY_SIZE = 4 * SOURCE_WORDS;
#define advance_keys(elements, count, run_length) advance_words(elements, count, (run_length) * SOURCE_WORDS)
#endif

// The macros of the caller's elements; the files that follow define their own.
#undef ELEMENT_WORDS
#undef ELEMENT_WORD
#undef Element
#undef Value
#undef PAIRS
