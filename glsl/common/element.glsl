// Elements of a scan, and their layout in memory.
//
// Needs:    nothing, for sums of u32; for an operator of the kernel's own, ELEMENT_WORDS, the type Element of
//           `common/words.glsl`, identity and combine
// Gives:    identity, combine, subgroup_reduce, subgroup_exclusive_scan, load_value, store_value; for the rows of source and
//           destination advance_source, advance_results, load_pack, store_pack
// Shared:   none
// Barriers: none
//
// A kernel has the operator before it includes this file, if it has defined ELEMENT_WORDS. Else a define selects the file of
// the element type and its operator: OPERATOR_WORDS32, OPERATOR_WORDS64,
// OPERATOR_FLOAT64, OPERATOR_RUNS, or in place of the first FUNCTIONS for a caller's type and operator, in `functions.glsl`.
// Without one, elements are rows of COLUMNS u32, summed column by column (tutorial 14 of the C-for-Metal package calls them
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
// Values are loaded and stored in *packs*: the fewest values that are a whole number of 16-byte quads. With PACKED_ROWS rows are
// elements of 8 or 16 bits, four to a pack, which values are the words of; all others, such as carries, are words. A build with
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

#ifdef PACKED_ROWS
#include "common/packed.glsl"
// Whether elements of the destination are words, as in registers.
layout(constant_id = ID_UNPACKED_RESULTS) const bool UNPACKED_RESULTS = false;
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

// The rows of the source and of the destination.
#ifdef PACKED_ROWS
const uint ELEMENT_SIZE = PACKED_BITS / 8;

Words advance_source(Words rows, uint count, uint run_length) {
    return Words(advance(uvec2(rows), count, run_length * ELEMENT_SIZE));
}

Words advance_results(Words rows, uint count, uint run_length) {
    return Words(advance(uvec2(rows), count, run_length * (UNPACKED_RESULTS ? 4 : ELEMENT_SIZE)));
}

Value load_entry(Words rows, uint row) {
    return unpacked(packed_at(rows, row));
}

void store_entry(Words rows, uint row, Value value) {
    if (UNPACKED_RESULTS) {
        rows.word[row] = value;
    } else {
        store_packed_at(rows, row, value);
    }
}
#else
#define advance_source advance_words
#define advance_results advance_words
#define load_entry load_words
#define store_entry store_words
#endif

// Loads the value at `words`, in its form in registers.
Value load_value(Words words) {
    return from_memory(load_words(words, 0));
}

void store_value(Words words, Value value) {
    store_words(words, 0, to_memory(value));
}

#define PACK_WORD(pack, word) ELEMENT_WORD(pack[(word) / ELEMENT_WORDS], (word) % ELEMENT_WORDS)

// Loads pack `pack` of the packs that begin at `words`, a multiple of 16 bytes, with PACKED_ROWS of a word, by quads. All of its values
// are in bounds.
void load_quads(Words words, uint pack, out Value values[PACK_ITEMS]) {
#ifdef PACKED_ROWS
    uvec4 quad = unpacked_quad(words, pack);
    [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
        values[i] = quad[i];
    }
#else
    Quads quads = Quads(uvec2(words));
    uvec4 quad[PACK_QUADS];
    [[unroll]] for (uint q = 0; q < PACK_QUADS; q++) {
        quad[q] = quads.quad[pack * PACK_QUADS + q];
    }
    [[unroll]] for (uint w = 0; w < PACK_QUADS * 4; w++) {
        PACK_WORD(values, w) = quad[w / 4][w % 4];
    }
#endif
}

void store_quads(Words words, uint pack, Value values[PACK_ITEMS]) {
#ifdef PACKED_ROWS
    if (!UNPACKED_RESULTS) {
        store_packed_quad(words, pack, uvec4(values[0], values[1], values[2], values[3]));
        return;
    }
#endif
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
// read and are identities. Values are `stride` words apart, with PACKED_ROWS as many elements. `by_quads` states that `words` is
// aligned for load_quads and that no pack crosses `extent`. There is no fallback by words beside the quads: llvmpipe executes both sides of
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
                values[i] = load_entry(words, (pack * PACK_ITEMS + i) * stride);
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
                store_entry(words, (pack * PACK_ITEMS + i) * stride, values[i]);
            }
        }
    }
}

#endif
