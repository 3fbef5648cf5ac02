// Elements of a scan, and their layout in memory.
//
// Needs:    nothing, for sums of u32; for an operator of the kernel's own, ELEMENT_WORDS, the type Element of
//           `common/words.glsl`, identity and combine
// Gives:    identity, combine, subgroup_reduce, subgroup_exclusive_scan, load_value, store_value
// Shared:   none
// Barriers: none
//
// A kernel has the operator before it includes this file, if it has defined ELEMENT_WORDS. Else a define selects the file of
// the element type and its operator: OPERATOR_WORDS32, OPERATOR_WORDS64,
// OPERATOR_FLOAT64, OPERATOR_RUNS, or in place of the first FUNCTIONS for those of a caller, in `functions.glsl`. Without
// one, elements are rows of COLUMNS u32, summed column by column (tutorial 14 of the C-for-Metal package calls them
// tuples). An operator file defines ELEMENT_WORDS, includes `common/words.glsl`, which then defines the type
// `Element`, and declares
//
//   Element identity();                               neutral on both sides
//   Element combine(Element earlier, Element later);  associative; it need not commute
//
// With OPERATOR_HAS_MEMORY_FORM it also declares `from_memory` and `to_memory`, which convert between the form in
// memory and the form in registers; with OPERATOR_HAS_SUBGROUP, `subgroup_reduce` and both forms of
// `subgroup_exclusive_scan`.
//
// Values are loaded and stored in *packs*: the fewest values that are a whole number of 16-byte quads. A build with
// STRIDED scans one column of a table, whose values are a row apart. A build with HEADED combines values with their
// head flags: there an Element is more than the Value in memory.

#ifndef SUBSWEEP_ELEMENT
#define SUBSWEEP_ELEMENT

#include "common/address.glsl"

#ifdef HEADED
#define identity value_identity
#else
#define value_identity identity
#endif

#ifdef ELEMENT_WORDS
// The kernel's own operator.
#elif defined FUNCTIONS && defined OPERATOR_WORDS32
// In place of the operator that the kernel is listed with.
#undef OPERATOR_WORDS32
#define USES_COMBINE
#include "functions.glsl"
#include "common/stages.glsl"
#elif defined OPERATOR_WORDS32
#include "operator/words32.glsl"
#elif defined OPERATOR_WORDS64
#include "operator/words64.glsl"
#elif defined OPERATOR_FLOAT64
#include "operator/float64.glsl"
#elif defined OPERATOR_RUNS
#include "operator/runs.glsl"
#else
#define SUMS_ONLY
#include "operator/words32.glsl"
#endif

#ifndef OPERATOR_HAS_MEMORY_FORM
Value from_memory(Value words) {
    return words;
}

Value to_memory(Value words) {
    return words;
}
#endif

#ifdef HEADED
#undef identity
#include "common/segmented.glsl"
#endif

#if defined HEADED || !defined OPERATOR_HAS_SUBGROUP
#define SUBGROUP_BY_SHUFFLE
#include "common/subgroup_by_shuffle.glsl"
#endif

#if ELEMENT_WORDS % 4 == 0
#define PACK_ITEMS 1
#elif ELEMENT_WORDS % 2 == 0
#define PACK_ITEMS 2
#else
#define PACK_ITEMS 4
#endif
#define PACK_QUADS (PACK_ITEMS * ELEMENT_WORDS / 4)

// Loads the value that begins at `word`, in its form in memory.
Value load_words(Words words, uint word) {
    Value value;
#if ELEMENT_WORDS == 1
    value = words.word[word];
#else
    [[unroll]] for (uint w = 0; w < ELEMENT_WORDS; w++) {
        value[w] = words.word[word + w];
    }
#endif
    return value;
}

void store_words(Words words, uint word, Value value) {
#if ELEMENT_WORDS == 1
    words.word[word] = value;
#else
    [[unroll]] for (uint w = 0; w < ELEMENT_WORDS; w++) {
        words.word[word + w] = value[w];
    }
#endif
}

// Loads the value at `words`, in its form in registers.
Value load_value(Words words) {
    return from_memory(load_words(words, 0));
}

void store_value(Words words, Value value) {
    store_words(words, 0, to_memory(value));
}

#define PACK_WORD(pack, word) ELEMENT_WORD(pack[(word) / ELEMENT_WORDS], (word) % ELEMENT_WORDS)

// Loads pack `pack` of the packs that begin at `words`, a multiple of 16 bytes, by quads. All of its values are in
// bounds.
void load_quads(Words words, uint pack, out Value values[PACK_ITEMS]) {
    Quads quads = Quads(uvec2(words));
    uvec4 quad[PACK_QUADS];
    [[unroll]] for (uint q = 0; q < PACK_QUADS; q++) {
        quad[q] = quads.quad[pack * PACK_QUADS + q];
    }
    [[unroll]] for (uint w = 0; w < PACK_QUADS * 4; w++) {
        PACK_WORD(values, w) = quad[w / 4][w % 4];
    }
}

void store_quads(Words words, uint pack, Value values[PACK_ITEMS]) {
    Quads quads = Quads(uvec2(words));
    [[unroll]] for (uint q = 0; q < PACK_QUADS; q++) {
        uvec4 quad;
        [[unroll]] for (uint w = 0; w < 4; w++) {
            quad[w] = PACK_WORD(values, q * 4 + w);
        }
        quads.quad[pack * PACK_QUADS + q] = quad;
    }
}

// Loads pack `pack` of the `extent` values at `words`, in their form in memory; values at and beyond `extent` are not
// read and are identities. Values are `stride` words apart. `by_quads` states that `words` is a multiple of 16 bytes
// and that no pack crosses `extent`. There is no fallback by words beside the quads: llvmpipe executes both sides of
// a branch, one lane at a time.
void load_pack(Words words, uint stride, uint pack, uint extent, bool by_quads, out Value values[PACK_ITEMS]) {
    [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
        values[i] = to_memory(value_identity());
    }
    if (by_quads) {
        if (pack * PACK_ITEMS < extent) {
            load_quads(words, pack, values);
        }
    } else {
        [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
            if (pack * PACK_ITEMS + i < extent) {
                values[i] = load_words(words, (pack * PACK_ITEMS + i) * stride);
            }
        }
    }
}

void store_pack(Words words, uint stride, uint pack, uint extent, bool by_quads, Value values[PACK_ITEMS]) {
    if (by_quads) {
        if (pack * PACK_ITEMS < extent) {
            store_quads(words, pack, values);
        }
    } else {
        [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
            if (pack * PACK_ITEMS + i < extent) {
                store_words(words, (pack * PACK_ITEMS + i) * stride, values[i]);
            }
        }
    }
}

#endif
