// What is scanned: the element, its operator, and how a subgroup combines it.
//
// COLUMNS u32 sums side by side, one row of a table (tutorial 14 of the C-for-Metal package calls it a tuple). A
// build without COLUMNS scans single numbers.
//
// Rows are loaded and stored in *packs*: the fewest rows that are a whole number of 16-byte quads.

#ifndef SUBSWEEP_ELEMENT
#define SUBSWEEP_ELEMENT

#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "common/address.glsl"

#ifndef COLUMNS
#define COLUMNS 1
#endif

#if COLUMNS == 1
#define Element uint
#define PACK_ITEMS 4
#define PACK_QUADS 1
#elif COLUMNS == 2
#define Element uvec2
#define PACK_ITEMS 2
#define PACK_QUADS 1
#elif COLUMNS == 3
#define Element uvec3
#define PACK_ITEMS 4
#define PACK_QUADS 3
#elif COLUMNS == 4
#define Element uvec4
#define PACK_ITEMS 1
#define PACK_QUADS 1
#endif

const Element IDENTITY = Element(0);

Element combine(Element earlier, Element later) {
    return earlier + later;
}

// Every invocation of the subgroup must call these.
Element subgroup_reduce(Element value) {
    return subgroupAdd(value);
}

Element subgroup_exclusive_scan(Element value) {
    return subgroupExclusiveAdd(value);
}

Element load_element(Words words, uint index) {
#if COLUMNS == 1
    return words.word[index];
#else
    Element element;
    [[unroll]] for (uint column = 0; column < COLUMNS; column++) {
        element[column] = words.word[index * COLUMNS + column];
    }
    return element;
#endif
}

void store_element(Words words, uint index, Element element) {
#if COLUMNS == 1
    words.word[index] = element;
#else
    [[unroll]] for (uint column = 0; column < COLUMNS; column++) {
        words.word[index * COLUMNS + column] = element[column];
    }
#endif
}

uint pack_word(Element pack[PACK_ITEMS], uint word) {
#if COLUMNS == 1
    return pack[word];
#else
    return pack[word / COLUMNS][word % COLUMNS];
#endif
}

// Loads the pack whose first row is `first`; rows at and beyond `extent` are not touched and count as identity.
// `quad_access` says that `words` is a multiple of 16 bytes.
void load_pack(Words words, uint first, uint extent, bool quad_access, out Element pack[PACK_ITEMS]) {
    if (quad_access && first + PACK_ITEMS <= extent) {
        Quads quads = Quads(uvec2(words));
        uvec4 quad[PACK_QUADS];
        [[unroll]] for (uint q = 0; q < PACK_QUADS; q++) {
            quad[q] = quads.quad[first / PACK_ITEMS * PACK_QUADS + q];
        }
        [[unroll]] for (uint w = 0; w < PACK_QUADS * 4; w++) {
#if COLUMNS == 1
            pack[w] = quad[0][w];
#else
            pack[w / COLUMNS][w % COLUMNS] = quad[w / 4][w % 4];
#endif
        }
    } else {
        [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
            pack[i] = IDENTITY;
            if (first + i < extent) {
                pack[i] = load_element(words, first + i);
            }
        }
    }
}

void store_pack(Words words, uint first, uint extent, bool quad_access, Element pack[PACK_ITEMS]) {
    if (quad_access && first + PACK_ITEMS <= extent) {
        Quads quads = Quads(uvec2(words));
        [[unroll]] for (uint q = 0; q < PACK_QUADS; q++) {
            uvec4 quad;
            [[unroll]] for (uint w = 0; w < 4; w++) {
                quad[w] = pack_word(pack, q * 4 + w);
            }
            quads.quad[first / PACK_ITEMS * PACK_QUADS + q] = quad;
        }
    } else {
        [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
            if (first + i < extent) {
                store_element(words, first + i, pack[i]);
            }
        }
    }
}

#endif
