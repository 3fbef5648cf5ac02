// An element as the kernels hold it: ELEMENT_WORDS words of 32 bits, which only its operator can read.

#ifndef SUBSWEEP_WORDS
#define SUBSWEEP_WORDS

#if ELEMENT_WORDS == 1
#define Element uint
#elif ELEMENT_WORDS == 2
#define Element uvec2
#elif ELEMENT_WORDS == 3
#define Element uvec3
#elif ELEMENT_WORDS == 4
#define Element uvec4
#else
#define Element uint[ELEMENT_WORDS]
#endif

#endif
