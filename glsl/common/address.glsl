// Pointers: device addresses in push constants, no descriptors.
//
// SPIR-V treats an index into a runtime array as a signed 32-bit number, and a device may lack 64-bit integers. So
// each tile first advances its pointers to its own first element, by a 64-bit sum of two words with an explicit
// carry, and indexes from there with small numbers.
//
// Needs:    nothing
// Gives:    Words, Quads, is_null, advance, advance_words
// Shared:   none
// Barriers: none

#ifndef SUBSWEEP_ADDRESS
#define SUBSWEEP_ADDRESS

#include "common/extensions.glsl"
#include "common/wide.glsl"

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words {
    uint word[];
};

// For addresses that are a multiple of 16 bytes.
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Quads {
    uvec4 quad[];
};

// Whether the pointer is null.
bool is_null(Words words) {
    return all(equal(uvec2(words), uvec2(0)));
}

// `address` + `count` * `size`, in bytes, in 64 bits.
uvec2 advance(uvec2 address, uint count, uint size) {
    return wide_sum(address, wide_product(count, size));
}

// The same for a 64-bit count in two words, low word first.
uvec2 advance(uvec2 address, uvec2 count, uint size) {
    uvec2 advanced = advance(address, count.x, size);
    return uvec2(advanced.x, advanced.y + count.y * size);
}

// `words` advanced by `count` runs of `run_length` words.
Words advance_words(Words words, uint count, uint run_length) {
    return Words(advance(uvec2(words), count, run_length * 4));
}

Words advance_words(Words words, uvec2 count, uint run_length) {
    return Words(advance(uvec2(words), count, run_length * 4));
}

#endif
