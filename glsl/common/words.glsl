// The type of a value: ELEMENT_WORDS words of 32 bits, which only its operator interprets.

#ifndef SUBSWEEP_WORDS
#define SUBSWEEP_WORDS

#if ELEMENT_WORDS == 1
#define Value uint
#elif ELEMENT_WORDS == 2
#define Value uvec2
#elif ELEMENT_WORDS == 3
#define Value uvec3
#elif ELEMENT_WORDS == 4
#define Value uvec4
#else
#define Value uint[ELEMENT_WORDS]
#endif

// The type that is combined: the value alone, until `common/segmented.glsl` adds a head flag.
#define Element Value

#endif
