// Packed elements: types of 8 and 16 bits, several in a word of memory, and their conversion to words and back.
//
// Arithmetic and comparisons take numbers of 32 bits. By value a number becomes the u32, i32 or f32 that equals it, with
// the same NaN. A sort takes keys: the low bits of such a word are the key's order, as in `common/key.glsl`, the high
// bits the key itself, so that keys in numpy's order, of which several are equal, keep their bits.
//
// Conversions are of integers: a driver may flush half floats that are denormal, or round them towards zero.

#ifndef SUBSWEEP_PACKED
#define SUBSWEEP_PACKED

#include "common/constants.glsl"
#include "common/grid.glsl"
#include "common/tiles.glsl"

// Bits of an element, 8 or 16.
layout(constant_id = ID_PACKED_BITS) const uint PACKED_BITS = 8;
layout(constant_id = ID_PACKED_NUMBERS) const uint PACKED_NUMBERS = 0;
layout(constant_id = ID_PACKED_FORM) const uint PACKED_FORM = 0;

// Values of PACKED_NUMBERS: a half float is IEEE 754's binary16, a brain float the high half of an f32.
const uint PACKED_SIGNED = 1;
const uint PACKED_HALF = 2;
const uint PACKED_BRAIN = 3;

// Values of PACKED_FORM: numbers by value, those beyond the type's least and greatest as these; keys with their orders.
const uint SATURATED = 1;
const uint KEYS = 2;
const uint NUMPY_KEYS = 3;

const uint PACKED_PER_WORD = 32 / PACKED_BITS;
const uint PACKED_MASK = PACKED_BITS == 8 ? 0xff : 0xffff;
const uint PACKED_SIGN = PACKED_BITS == 8 ? 0x80 : 0x8000;
const uint PACKED_INFINITY = PACKED_NUMBERS == PACKED_HALF ? 0x7c00 : 0x7f80;
const bool PACKED_FLOATS = PACKED_NUMBERS == PACKED_HALF || PACKED_NUMBERS == PACKED_BRAIN;

// The f32 of half floats.
uvec4 floats_of_halves(uvec4 bits) {
    uvec4 signs = (bits & 0x8000) << 16;
    uvec4 exponents = bits >> 10 & 31;
    uvec4 mantissas = bits & 0x3ff;
    // A denormal is mantissa * 2^-24: its highest bit becomes the implicit one.
    ivec4 highest = findMSB(mantissas);
    uvec4 denormals = uvec4(103 + highest) << 23 | (mantissas << (23 - highest) & 0x7fffff);
    uvec4 small = mix(denormals, uvec4(0), equal(mantissas, uvec4(0)));
    uvec4 normal = (exponents + 112) << 23 | mantissas << 13;
    uvec4 large = 0x7f800000 | mantissas << 13;
    uvec4 magnitudes = mix(mix(normal, large, equal(exponents, uvec4(31))), small, equal(exponents, uvec4(0)));
    return signs | magnitudes;
}

// The half float next to an f32, of two the even one.
uint half_of_float(uint bits) {
    uint sign = bits >> 16 & 0x8000;
    uint magnitude = bits & 0x7fffffff;
    uint exponent = magnitude >> 23;
    // A half float has the high bits of the mantissa alone.
    uint nan = 0x7c00 | max(magnitude >> 13 & 0x3ff, magnitude == 0x7f800000 ? 0 : 1);
    // Beyond the greatest number the carry of the mantissa makes an infinity.
    uint normal = (magnitude - (112 << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    // In units of 2^-24: less than half of one is 0.
    uint shift = clamp(126 - exponent, 14, 25);
    uint significand = (magnitude & 0x7fffff) | 0x800000;
    uint denormal = (significand + (1 << (shift - 1)) - 1 + (significand >> shift & 1)) >> shift;
    uint finite = magnitude < 0x38800000 ? denormal : magnitude < 0x47800000 ? normal : 0x7c00;
    return sign | (magnitude >= 0x7f800000 ? nan : finite);
}

// The brain float next to an f32, of two the even one.
uint brain_of_float(uint bits) {
    bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    // A NaN whose mantissa is in the low half alone would be an infinity.
    uint nan = bits >> 16 | ((bits & 0x7f0000) == 0 ? 1 : 0);
    return is_nan ? nan : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// The orders of keys among all keys of their type, as `compared` of `common/key.glsl` computes them.
uvec4 packed_orders(uvec4 bits) {
    if (PACKED_FLOATS) {
        uvec4 magnitudes = bits & 0x7fff;
        if (PACKED_FORM == NUMPY_KEYS) {
            bits = mix(bits, uvec4(0), equal(magnitudes, uvec4(0)));
            bits = mix(bits, uvec4(0x7fff), greaterThan(magnitudes, uvec4(PACKED_INFINITY)));
        }
        return bits ^ mix(uvec4(0x8000), uvec4(0xffff), notEqual(bits & 0x8000, uvec4(0)));
    }
    return PACKED_NUMBERS == PACKED_SIGNED ? bits ^ PACKED_SIGN : bits;
}

// The words of elements, whose bits are the lowest.
uvec4 unpacked(uvec4 bits) {
    bits &= PACKED_MASK;
    if (PACKED_FORM >= KEYS) {
        return bits << 16 | packed_orders(bits);
    }
    if (PACKED_NUMBERS == PACKED_SIGNED) {
        return uvec4(bitfieldExtract(ivec4(bits), 0, int(PACKED_BITS)));
    }
    if (PACKED_NUMBERS == PACKED_HALF) {
        return floats_of_halves(bits);
    }
    return PACKED_NUMBERS == PACKED_BRAIN ? bits << 16 : bits;
}

uint unpacked(uint bits) {
    return unpacked(uvec4(bits)).x;
}

// The element of a word, in the lowest bits; those above are 0.
uint packed(uint word) {
    if (PACKED_FORM >= KEYS) {
        return word >> 16 & PACKED_MASK;
    }
    if (PACKED_NUMBERS == PACKED_HALF) {
        return half_of_float(word);
    }
    if (PACKED_NUMBERS == PACKED_BRAIN) {
        return brain_of_float(word);
    }
    if (PACKED_FORM == SATURATED && PACKED_NUMBERS == PACKED_SIGNED) {
        word = uint(clamp(int(word), -int(PACKED_SIGN), int(PACKED_SIGN) - 1));
    } else if (PACKED_FORM == SATURATED) {
        word = min(word, PACKED_MASK);
    }
    return word & PACKED_MASK;
}

// The elements of a run: `ceil((first + second) / divisor) * times - minus`, at most all `count` of them. Counts in
// device memory are at most the host's.
struct PackedRun {
    Words first_indirect;
    Words second_indirect;
    uint first;
    uint second;
    uint divisor;
    uint times;
    uint minus;
    // The run begins with element `chunk * 2^30`.
    uint chunk;
    uint count;
};

uint count_of(PackedRun run) {
    uint rows = count_of(run.first, run.first_indirect) + count_of(run.second, run.second_indirect);
    uvec2 all = wide_product(ceil_div(rows, run.divisor), run.times);
    uint borrow;
    uint low = usubBorrow(all.x, run.minus, borrow);
    uint chunk = (all.y - borrow) << 2 | low >> 30;
    bool is_negative = all.y < borrow;
    uint in_chunk = chunk > run.chunk ? run.count : chunk < run.chunk ? 0 : low & 0x3fffffff;
    return is_negative ? 0 : min(run.count, in_chunk);
}

// Writes the bits of `mask` of a word of memory. Of others the rest may be, who may write theirs at the same time: each of
// two atomic operations leaves them.
void store_packed(Words memory, uint word, uint bits, uint mask) {
    if (mask == ~0) {
        memory.word[word] = bits;
    } else if (mask != 0) {
        atomicAnd(memory.word[word], ~mask);
        atomicOr(memory.word[word], bits);
    }
}

// The word of memory at or before an address of any alignment.
Words word_before(uvec2 address) {
    return Words(uvec2(address.x & ~3, address.y));
}

// The element at an index of an array of any alignment, in the lowest bits.
uint packed_at(Words elements, uint index) {
    uvec2 address = advance(uvec2(elements), index, PACKED_BITS / 8);
    return word_before(address).word[0] >> (address.x & 3) * 8 & PACKED_MASK;
}

// Stores the element of a word at an index of such an array.
void store_packed_at(Words elements, uint index, uint word) {
    uvec2 address = advance(uvec2(elements), index, PACKED_BITS / 8);
    uint shift = (address.x & 3) * 8;
    store_packed(word_before(address), 0, packed(word) << shift, PACKED_MASK << shift);
}

// The words of the four elements of quad `quad` of an array that begins with a word of memory.
uvec4 unpacked_quad(Words memory, uint quad) {
    uvec4 bits;
    if (PACKED_BITS == 8) {
        uint word = memory.word[quad];
        bits = uvec4(word, word >> 8, word >> 16, word >> 24);
    } else {
        uvec2 pair = uvec2(memory.word[quad * 2], memory.word[quad * 2 + 1]);
        bits = uvec4(pair.x, pair.x >> 16, pair.y, pair.y >> 16);
    }
    return unpacked(bits);
}

// Stores the elements of four words, as quad `quad` of such an array.
void store_packed_quad(Words memory, uint quad, uvec4 words) {
    uvec4 bits = uvec4(packed(words.x), packed(words.y), packed(words.z), packed(words.w));
    if (PACKED_BITS == 8) {
        memory.word[quad] = bits.x | bits.y << 8 | bits.z << 16 | bits.w << 24;
    } else {
        memory.word[quad * 2] = bits.x | bits.y << 16;
        memory.word[quad * 2 + 1] = bits.z | bits.w << 16;
    }
}

// Elements between the word of memory and the address.
uint elements_before(uvec2 address) {
    return (address.x & 3) * 8 / PACKED_BITS;
}

#endif
