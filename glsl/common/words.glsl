// The type of a value: ELEMENT_WORDS words of 32 bits, which only its operator interprets.

// PAIRS makes a value of one or two pairs of words.
#if ELEMENT_WORDS == 1
#define Value uint
#elif ELEMENT_WORDS == 2
#define Value uvec2
#define PAIRS(first, second) first
#elif ELEMENT_WORDS == 3
#define Value uvec3
#elif ELEMENT_WORDS == 4
#define Value uvec4
#define PAIRS(first, second) Value(first, second)
#else
#define Value uint[ELEMENT_WORDS]
#endif

#if ELEMENT_WORDS == 1
#define ELEMENT_WORD(element, w) element
#else
#define ELEMENT_WORD(element, w) element[w]
#endif

// The type of a result that is stored of an element, where it has another one.
#ifdef RESULT_WORDS
#if RESULT_WORDS == 1
#define Result uint
#elif RESULT_WORDS == 2
#define Result uvec2
#elif RESULT_WORDS == 3
#define Result uvec3
#elif RESULT_WORDS == 4
#define Result uvec4
#else
#define Result uint[RESULT_WORDS]
#endif
#endif

// The type that is combined: the value alone, until `common/segmented.glsl` adds a head flag.
#define Element Value
