// The key of structures by several fields: a part of up to KEY_WORDS * 32 bits, as an unsigned number with its order.
//
// The first field is the most significant. The kernel has the fields of the part from the least significant on, of which
// the first may lack its low SKIPPED_BITS, which are in a less significant part, and the last its high bits.
//
//   key of 16 bytes:  | first field | second field             | third field |
//   parts:            | a more significant part     | the least significant one    |
//
// Dispatch: a workgroup for each WORKGROUP_SIZE * ITEMS_PER_INVOCATION structures; surplus workgroups return.
// Reads:    structures, of which the fields; indices, structure_count words, unless null: the structure of each key, else
//           all in order. indirect_count, a word, unless null.
// Writes:   keys, structure_count keys of KEY_WORDS words.
// Shared:   nothing.
// Pass model: reference::passes::field_keys::field_keys
// Source:   the words of numpy's structured types, and of common/key.glsl.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/address.glsl"
#include "common/dispatch.glsl"
#include "common/tiles.glsl"
#include "operator/names.glsl"

layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 1;
layout(constant_id = ID_STRUCTURE_WORDS) const uint STRUCTURE_WORDS = 1;
layout(constant_id = ID_SKIPPED_BITS) const uint SKIPPED_BITS = 0;

// The fields of the part; 0 for none.
layout(constant_id = ID_FIELD_0) const uint FIELD_0 = 0;
layout(constant_id = ID_FIELD_1) const uint FIELD_1 = 0;
layout(constant_id = ID_FIELD_2) const uint FIELD_2 = 0;
layout(constant_id = ID_FIELD_3) const uint FIELD_3 = 0;
layout(constant_id = ID_FIELD_4) const uint FIELD_4 = 0;
layout(constant_id = ID_FIELD_5) const uint FIELD_5 = 0;
layout(constant_id = ID_FIELD_6) const uint FIELD_6 = 0;
layout(constant_id = ID_FIELD_7) const uint FIELD_7 = 0;

// A field in a word: | offset, bytes: 20 bits | 0 | descending | numbers: 3 bits | bits: 7 |
const uint FIELD_NUMBERS = 7;
const uint FIELD_DESCENDING = 10;
const uint FIELD_OFFSET = 12;

layout(push_constant, std430) uniform Push {
    Words structures;
    Words indices;
    Words keys;
    // The number of structures, at most structure_count.
    Words indirect_count;
    uint structure_count;
} push;

uint bits_of_field(uint field) {
    return field & 0x7f;
}

// The bits of a field, low word first; those above are 0.
uvec2 load_field(Words structure, uint field) {
    uint offset = field >> FIELD_OFFSET;
    uint bits = bits_of_field(field);
    uint word = structure.word[offset / 4];
    if (bits == 64) {
        return uvec2(word, structure.word[offset / 4 + 1]);
    }
    uint mask = bits == 32 ? ~0 : (1 << (bits & 31)) - 1;
    return uvec2(word >> offset % 4 * 8 & mask, 0);
}

// The order of a field, as `compared` of common/key.glsl, for any number of bits.
uvec2 order_of(uvec2 value, uint field) {
    uint bits = bits_of_field(field);
    uint numbers = field >> FIELD_NUMBERS & 7;
    bool is_wide = bits == 64;
    // The word with the sign, and its bits.
    uint high = is_wide ? value.y : value.x;
    uint mask = bits >= 32 ? ~0 : (1 << (bits & 31)) - 1;
    uint sign = (mask >> 1) + 1;
    uint low = is_wide ? value.x : 0;
    if (numbers >= NUMPY_FLOAT) {
        bool is_brain = numbers == NUMPY_BRAIN_FLOAT;
        uint exponent = is_wide ? 0x7ff00000 : bits == 32 ? 0x7f800000 : is_brain ? 0x7f80 : 0x7c00;
        uint magnitude = high & ~sign;
        bool is_nan = magnitude > exponent || (magnitude == exponent && low != 0);
        bool is_zero = magnitude == 0 && low == 0;
        high = is_nan ? mask >> 1 : is_zero ? 0 : high;
        low = is_nan ? ~0 : low;
    }
    bool is_flipped = numbers >= FLOAT && (high & sign) != 0;
    bool is_descending = (field >> FIELD_DESCENDING & 1) != 0;
    high ^= is_flipped ? mask : numbers == UNSIGNED ? 0 : sign;
    high ^= is_descending ? mask : 0;
    low ^= is_flipped != is_descending ? ~0 : 0;
    return is_wide ? uvec2(low, high) : uvec2(high, 0);
}

// `bits` shifted left by a number of bits, or right by a negative one, of less than 64.
uvec2 shifted(uvec2 bits, int shift) {
    uint by = uint(abs(shift));
    uint rest = by & 31;
    // Two shifts instead of one by 32 - rest: a shift by 32 is undefined.
    if (shift >= 0) {
        uvec2 moved = uvec2(bits.x << rest, bits.y << rest | bits.x >> 1 >> (31 - rest));
        return by < 32 ? moved : uvec2(0, moved.x);
    }
    uvec2 moved = uvec2(bits.x >> rest | bits.y << 1 << (31 - rest), bits.y >> rest);
    return by < 32 ? moved : uvec2(moved.y, 0);
}

// Adds a field to a key, from bit `shift` on.
void add_field(inout uvec2 key, inout int shift, Words structure, uint field) {
    if (field != 0) {
        key |= shifted(order_of(load_field(structure, field), field), shift);
        shift += int(bits_of_field(field));
    }
}

// The part's bits of the key of a structure.
uvec2 key_of(Words structure) {
    uvec2 key = uvec2(0);
    int shift = -int(SKIPPED_BITS);
    add_field(key, shift, structure, FIELD_0);
    add_field(key, shift, structure, FIELD_1);
    add_field(key, shift, structure, FIELD_2);
    add_field(key, shift, structure, FIELD_3);
    add_field(key, shift, structure, FIELD_4);
    add_field(key, shift, structure, FIELD_5);
    add_field(key, shift, structure, FIELD_6);
    add_field(key, shift, structure, FIELD_7);
    return key;
}

void main() {
    uint count = count_of(push.structure_count, push.indirect_count);
    uint tile_items = WORKGROUP_SIZE * ITEMS_PER_INVOCATION;
    uint tile = workgroup_index();
    // Compared in tiles: the first structure of a surplus workgroup may exceed 32 bits.
    if (count == 0 || tile > (count - 1) / tile_items) {
        return;
    }
    uint extent = min(count - tile * tile_items, tile_items);
    Words indices = advance_words(push.indices, tile, tile_items);
    Words keys = advance_words(push.keys, tile, tile_items * KEY_WORDS);

    // All loads precede the first store, so that they are in flight together.
    uint sources[ITEMS_PER_INVOCATION];
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        uint i = k * WORKGROUP_SIZE + gl_LocalInvocationIndex;
        if (i < extent) {
            sources[k] = is_null(push.indices) ? tile * tile_items + i : indices.word[i];
        }
    }
    uvec2 orders[ITEMS_PER_INVOCATION];
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        uint i = k * WORKGROUP_SIZE + gl_LocalInvocationIndex;
        if (i < extent) {
            orders[k] = key_of(advance_words(push.structures, sources[k], STRUCTURE_WORDS));
        }
    }
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        uint i = k * WORKGROUP_SIZE + gl_LocalInvocationIndex;
        if (i < extent) {
#if KEY_WORDS == 2
            keys.word[2 * i] = orders[k].x;
            keys.word[2 * i + 1] = orders[k].y;
#else
            keys.word[i] = orders[k].x;
#endif
        }
    }
}
