// A pass of a merge sort of elements, by their indices: runs that are sorted, two by two into one. The first pass makes runs of
// a tile, in as many rounds in shared memory; a later one merges runs of run_tiles tiles, each workgroup a tile of the result.
//
// An element does not move: it is read where `less` compares it, out of caches as far as the elements of a tile fit. With
// FUNCTIONS `less` is the caller's; without, elements are words that compare as numbers. Equal elements stay in order.
//
//   s_indices   | indices of the tile, before a round | after it |     and the other way round in the next one
//
// Dispatch: a workgroup for each TILE_ITEMS elements.
// Reads:    elements, element_count of them; source, an index of each, but in the first pass; indirect_count, one word, where
//           it is not null; with FUNCTIONS data.
// Writes:   destination, the indices in order.
// Shared:   2 words for each element of a tile, and 2 words.
// Limits:   less than 2^32 elements.
// Pass model: reference::passes::merge_runs::sorted_runs.
// Source:   Satish, Harris and Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs", IPDPS 2009: tiles, then
//           merges; Green, McColl and Bader, "GPU Merge Path - A GPU Merging Algorithm", ICS 2012: what a workgroup merges.

#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef FUNCTIONS
#define USES_LESS
#include "common/called.glsl"
#endif
#include "common/dispatch.glsl"
#include "common/grid.glsl"
#include "common/tiles.glsl"

// A power of two.
layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 2;

const uint TILE_ITEMS = WORKGROUP_SIZE * ITEMS_PER_INVOCATION;

layout(push_constant, std430) uniform Push {
    Words elements;
    Words source;
    Words destination;
    Words indirect_count;
    // Or the maximum of an indirect count.
    uint element_count;
    // Tiles of a run of source, a power of two; 0 in the first pass.
    uint run_tiles;
#ifdef FUNCTIONS
    Words data;
#endif
} push;

shared uint s_indices[2 * TILE_ITEMS];
shared uint s_begins[2];

// Whether the element at one index comes before the element at another, if they are not in order.
bool comes_before(uint index, uint other) {
#ifdef FUNCTIONS
    uvec2 elements = uvec2(push.elements);
    return less(Words(element_at(elements, index)), Words(element_at(elements, other)), push.data);
#else
    return advance_words(push.elements, index, 1).word[0] < advance_words(push.elements, other, 1).word[0];
#endif
}

uint source_at(uint position) {
    return advance_words(push.source, position, 1).word[0];
}

bool goes_before(uvec2 of_a, uvec2 of_b) {
    return !comes_before(Words(of_b).word[0], Words(of_a).word[0]);
}

#include "merge/path.glsl"

// The pair of runs of `width` items around a position of the tile: where the first begins, where the second, and their end.
uvec3 pair_at(uint position, uint width, uint extent) {
    uint begin = position - position % (2 * width);
    return min(uvec3(begin, begin + width, begin + 2 * width), uvec3(extent));
}

// Merges this invocation's items, from the half of shared memory at `from` to that at `to`; the first of them is in `pair`.
void merge_items(uint from, uint to, uvec3 pair, uint width, uint extent) {
    uint begin = min(gl_LocalInvocationIndex * ITEMS_PER_INVOCATION, extent);
    uint diagonal = begin - pair.x;
    uint a = pair.x + diagonal - min(diagonal, pair.z - pair.y);
    uint high = pair.x + min(diagonal, pair.y - pair.x);
    // Fixed steps, since a value that comes out of a loop which lanes leave one by one is wrong on some drivers.
    [[dont_unroll]] for (uint step = 1 << findMSB(width); step > 0; step /= 2) {
        uint next = a + step;
        if (next <= high && !comes_before(s_indices[from + pair.y + begin - next], s_indices[from + next - 1])) {
            a = next;
        }
    }
    uint b = pair.y + begin - a;
    uint end = min(begin + ITEMS_PER_INVOCATION, extent);
    [[dont_unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint position = begin + i;
        if (position < end) {
            if (position == pair.z) {
                pair = pair_at(position, width, extent);
                a = pair.x;
                b = pair.y;
            }
            bool is_of_b = a == pair.y || b < pair.z && comes_before(s_indices[from + b], s_indices[from + a]);
            s_indices[to + position] = s_indices[from + (is_of_b ? b : a)];
            a += is_of_b ? 0 : 1;
            b += is_of_b ? 1 : 0;
        }
    }
}

void main() {
    uint count = count_of(push.element_count, push.indirect_count);
    if (workgroup_index() >= ceil_div(count, TILE_ITEMS)) {
        return;
    }
    uint first = workgroup_index() * TILE_ITEMS;
    uint extent = min(TILE_ITEMS, count - first);
    uint a_extent = extent;
    if (push.run_tiles == 0) {
        for (uint i = gl_LocalInvocationIndex; i < extent; i += WORKGROUP_SIZE) {
            s_indices[i] = first + i;
        }
    } else {
        // The position of the first index of the tile's pair of runs.
        uint pair = workgroup_index() / (2 * push.run_tiles) * (2 * push.run_tiles) * TILE_ITEMS;
        uint a_count = min(push.run_tiles * TILE_ITEMS, count - pair);
        uint b_count = min(push.run_tiles * TILE_ITEMS, count - pair - a_count);
        for (uint side = gl_SubgroupID; side < 2; side += gl_NumSubgroups) {
            uint diagonal = first - pair + side * extent;
            uint low = diagonal - min(diagonal, b_count);
            uint high = min(diagonal, a_count);
            Words a = advance_words(push.source, pair + low, 1);
            Words b = advance_words(push.source, pair + a_count + diagonal - high, 1);
            uint begin = low + pairs_before_path(a, b, 4, high - low);
            if (subgroupElect()) {
                s_begins[side] = begin;
            }
        }
        barrier();
        // Where `less` is no order the end may be before the begin, or too far after it.
        uint a_begin = s_begins[0];
        a_extent = clamp(s_begins[1], a_begin, a_begin + extent) - a_begin;
        uint a = pair + a_begin;
        uint b = first - a_begin + a_count;
        for (uint i = gl_LocalInvocationIndex; i < extent; i += WORKGROUP_SIZE) {
            s_indices[i] = source_at(i < a_extent ? a + i : b + i - a_extent);
        }
    }
    barrier();

    // Runs of one index on; or the two that were loaded, in one round.
    bool is_first = push.run_tiles == 0;
    uint from = 0;
    [[dont_unroll]] for (uint width = is_first ? 1 : TILE_ITEMS; width < (is_first ? extent : 2 * TILE_ITEMS); width *= 2) {
        uint begin = min(gl_LocalInvocationIndex * ITEMS_PER_INVOCATION, extent);
        uvec3 pair = is_first ? pair_at(begin, width, extent) : uvec3(0, a_extent, extent);
        merge_items(from, TILE_ITEMS - from, pair, width, extent);
        from = TILE_ITEMS - from;
        barrier();
    }
    Words destination = advance_words(push.destination, first, 1);
    for (uint i = gl_LocalInvocationIndex; i < extent; i += WORKGROUP_SIZE) {
        destination.word[i] = s_indices[from + i];
    }
}
