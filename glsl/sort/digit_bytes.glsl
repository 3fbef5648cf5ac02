// Digit counts of one invocation in registers: a byte for each of up to 16 digits, four per word.
//
// The word is selected by comparison, not by indexing: an array indexed by data would not stay in registers.

// At most 255 keys per invocation, or a byte would overflow.
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
