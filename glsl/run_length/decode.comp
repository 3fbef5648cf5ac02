// Decoding of runs: finds the run of each element, and stores the run's value or its index.
//
// ends has the sums of the lengths, so that the run of element i is the first whose end is above i. A subgroup searches
// the runs of its first and of its last element with all its lanes; between these, each lane searches the runs of its own
// elements. Runs of no elements cost a subgroup nothing but a wider search.
//
// With PACKED values and elements have 8 or 16 bits, at any address. A subgroup's elements then begin with a word of memory,
// and neighbouring lanes join the elements of a word, which one of them stores.
//
// Dispatch: one workgroup for each WORKGROUP_SIZE * ITEMS_PER_INVOCATION elements of capacity, at least one.
// Reads:    ends, ascending, and values of KEPT_WORDS words, or with PACKED in whole words of memory, one for each run;
//           indirect_count, the number of runs, where it is not null.
// Writes:   elements, at most capacity, of KEPT_WORDS words, or where that is 0 of one word, the index of the run;
//           element_count, the sum of all lengths.
// Shared:   nothing.
// Limits:   fewer than 2^31 runs; the sum of the lengths is below 2^32; with PACKED capacity and the elements
//           before the array in its first word, together, as well.
// Pass model: none; the first line says the result.
// Source:   Kaldewey, Hagen, Di Blas and Sedlar, "Parallel Search on Video Cards", HotPar 2009: a search by all lanes;
//           CUB's BlockRunLengthDecode: a tile of elements in place of one of runs.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/address.glsl"
#include "common/dispatch.glsl"
#include "common/tiles.glsl"
#ifdef PACKED
#include "common/packed.glsl"
#endif

layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 1;
#ifndef PACKED
// Words of a value, 1 or 2; 0 stores the indices of runs.
layout(constant_id = ID_KEPT_WORDS) const uint KEPT_WORDS = 1;

const uint STORED_WORDS = KEPT_WORDS == 0 ? 1 : KEPT_WORDS;
#endif

layout(push_constant, std430) uniform Push {
    Words ends;
    Words values;
    Words elements;
    Words element_count;
    Words indirect_count;
    // The number of runs; with indirect_count its maximum.
    uint run_count;
    // Elements that fit.
    uint capacity;
} push;

uint end_of(uint run) {
    return advance_words(push.ends, run, 1).word[0];
}

// The first of the runs from `low` whose end is above `element`; `high` if none below it is. All lanes call it with the
// same arguments.
uint run_of(uint element, uint low, uint high) {
    while (low < high) {
        // Each lane has the last run of a step; the steps before the first end above `element` are left out.
        uint step = (high - low - 1) / gl_SubgroupSize + 1;
        uint step_count = (high - low) / step;
        bool is_before = false;
        if (gl_SubgroupInvocationID < step_count) {
            is_before = end_of(low + (gl_SubgroupInvocationID + 1) * step - 1) <= element;
        }
        uint before = subgroupBallotBitCount(subgroupBallot(is_before));
        high = before < step_count ? low + (before + 1) * step - 1 : high;
        low += before * step;
    }
    return low;
}

#ifdef PACKED
// Joins the elements of the words of memory that begin at `first`, an item of each lane, and stores them.
void store_items(uint first, bool exists, uint run) {
    uint shift = gl_SubgroupInvocationID % PACKED_PER_WORD * PACKED_BITS;
    uint bits = exists ? packed_at(push.values, run) << shift : 0;
    uint mask = exists ? PACKED_MASK << shift : 0;
    [[unroll]] for (uint lanes = 1; lanes < PACKED_PER_WORD; lanes *= 2) {
        bits |= subgroupShuffleXor(bits, lanes);
        mask |= subgroupShuffleXor(mask, lanes);
    }
    if (gl_SubgroupInvocationID % PACKED_PER_WORD == 0) {
        uint word = first / PACKED_PER_WORD + gl_SubgroupInvocationID / PACKED_PER_WORD;
        store_packed(advance_words(word_before(uvec2(push.elements)), word, 1), 0, bits, mask);
    }
}
#endif

void main() {
    uint run_count = count_of(push.run_count, push.indirect_count);
    uint total = run_count == 0 ? 0 : end_of(run_count - 1);
    if (workgroup_index() == 0 && gl_LocalInvocationIndex == 0) {
        push.element_count.word[0] = total;
    }
    uint stored = min(total, push.capacity);
    uint subgroup = workgroup_index() * gl_NumSubgroups + gl_SubgroupID;
    uint subgroup_items = gl_SubgroupSize * ITEMS_PER_INVOCATION;
    // The dispatch covers capacity, which has at most 2^32 - 1 elements: of its last workgroup, some may begin beyond.
    uvec2 wide_first = wide_product(subgroup, subgroup_items);
    uint first = wide_first.x;
    // Items of the subgroup before its first element: with PACKED the rest of a word before the array.
    uint skipped = 0;
#ifdef PACKED
    uint before = elements_before(uvec2(push.elements));
    uint first_item = first;
    skipped = before - min(before, first);
    first -= min(before, first);
#endif
    if (wide_first.y != 0 || first >= stored) {
        return;
    }
    uint extent = min(stored - first, subgroup_items - skipped);
    uint low = run_of(first, 0, run_count - 1);
    uint size = run_of(first + extent - 1, low, run_count - 1) - low;

    Words ends = advance_words(push.ends, low, 1);
    uint runs[ITEMS_PER_INVOCATION];
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        runs[k] = 0;
    }
    while (size > 0) {
        uint half_size = size - size / 2;
        [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
            uint item = max(k * gl_SubgroupSize + gl_SubgroupInvocationID, skipped) - skipped;
            runs[k] += ends.word[runs[k] + half_size - 1] <= first + item ? half_size : 0;
        }
        size -= half_size;
    }

#ifdef PACKED
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        // Of an item before the first element a number that is no less than the extent.
        uint item = k * gl_SubgroupSize + gl_SubgroupInvocationID - skipped;
        store_items(first_item + k * gl_SubgroupSize, item < extent, low + runs[k]);
    }
#else
    Words elements = advance_words(push.elements, first, STORED_WORDS);
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        uint item = k * gl_SubgroupSize + gl_SubgroupInvocationID;
        if (item < extent) {
            uint run = low + runs[k];
            if (KEPT_WORDS == 0) {
                elements.word[item] = run;
            } else {
                Words value = advance_words(push.values, run, KEPT_WORDS);
                [[unroll]] for (uint w = 0; w < KEPT_WORDS; w++) {
                    elements.word[item * KEPT_WORDS + w] = value.word[w];
                }
            }
        }
    }
#endif
}
