// One invocation's own digit counts in registers: a byte for each of up to 16 digits, four to a word.
//
// The word is found by comparing, not by indexing: an array indexed by data would leave the registers.

#ifndef SUBSWEEP_SORT_DIGIT_BYTES
#define SUBSWEEP_SORT_DIGIT_BYTES

// At most 255 keys an invocation, or a byte would run over.
struct DigitBytes {
    uvec4 words;
};

void count_digit(inout DigitBytes counts, uint digit) {
    uint one = 1u << (8 * (digit & 3));
    uint word = digit >> 2;
    counts.words += mix(uvec4(0), uvec4(one), equal(uvec4(word), uvec4(0, 1, 2, 3)));
}

uint digit_count(DigitBytes counts, uint digit) {
    uint word = digit >> 2;
    uint low = (word & 1) == 0 ? counts.words.x : counts.words.y;
    uint high = (word & 1) == 0 ? counts.words.z : counts.words.w;
    return bitfieldExtract(word < 2 ? low : high, int(8 * (digit & 3)), 8);
}

#endif
