// Classifies segments into size classes, each with a queue, and writes the dispatch arguments of the kernels that
// sort them.
//
// A workgroup reserves queue entries with one atomic per class in device memory: its subgroups count their segments in
// shared memory before. The last workgroup to finish writes the dispatch arguments. Segments that do not overlap, as
// required, fit their queues; a class whose queue overflows is not sorted.
//
// Dispatch: an invocation for each of segment_count; with none, dispatch_args is not written and should be 0.
// Reads:    segments, segment_count words: the begin of each segment; segment_ends, as many, or where it is null each segment
//           ends where the next begins, and the last with the elements; nothing of both with row_length, where segments are
//           the whole rows of the elements;
//           indirect_segment_count and indirect_element_count, where they are not null, one word each.
// Writes:   state, which begins as 0: 7 words; short_segments, small_segments and large_segments, up to
//           short_capacity, small_capacity and large_capacity entries of SEGMENT_WORDS; long_segments, up to
//           long_capacity entries of LONG_SEGMENT_WORDS; dispatch_args, DISPATCH_ARGS_WORDS for each of 5 dispatches.
// Shared:   9 words.
// Pass model: reference::passes::segmented_sort::classify.
// Source:   size classes as in Hou, Liu, Wang and Feng, "Fast Segmented Sort on GPUs", ICS 2017, and CUB's
//           DeviceSegmentedSort.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/dispatch.glsl"
#include "common/grid.glsl"
#include "common/last_workgroup.glsl"
#include "common/tiles.glsl"
#include "sort/segments.glsl"

// Shorter segments need no sorting.
layout(constant_id = ID_MIN_EXTENT) const uint MIN_EXTENT = 2;
// The longest extent of each size class; longer segments are in the class LONG.
layout(constant_id = ID_MAX_SHORT) const uint MAX_SHORT = 32;
layout(constant_id = ID_MAX_SMALL) const uint MAX_SMALL = 512;
layout(constant_id = ID_MAX_LARGE) const uint MAX_LARGE = 4096;
// Short segments per workgroup.
layout(constant_id = ID_SHORT_PER_WORKGROUP) const uint SHORT_PER_WORKGROUP = 16;
// Keys per tile, and bins of a digit, of the passes over long segments.
layout(constant_id = ID_TILE_ITEMS) const uint TILE_ITEMS = 4096;
layout(constant_id = ID_RADIX) const uint RADIX = 256;

layout(push_constant, std430) uniform Push {
    Words segments;
    Words state;
    Words dispatch_args;
    Words short_segments;
    Words small_segments;
    Words large_segments;
    Words long_segments;
    // Indirect counts, or null; the following counts are their maxima.
    Words indirect_segment_count;
    Words indirect_element_count;
    Words segment_ends;
    uint segment_count;
    uint element_count;
    uint short_capacity;
    uint small_capacity;
    uint large_capacity;
    uint long_capacity;
    uint tile_capacity;
    // The maximum of workgroups in a row of a dispatch.
    uint max_row;
    // Elements of each segment, or 0.
    uint row_length;
} push;

// Size classes; a class is also the index of its segment count in state.
const uint SHORT = 0;
const uint SMALL = 1;
const uint LARGE = 2;
const uint LONG = 3;
const uint CLASSES = 4;
// Further words of state: tiles of long segments; whether their number overflowed; finished workgroups.
const uint TILES = 4;
const uint OVERFLOW = 5;
const uint DONE = 6;

// Dispatches are numbered by class; LONG has a workgroup for each long segment, and the last dispatch one for each of
// their tiles.
const uint TILES_DISPATCH = CLASSES;

uint class_of(uint extent) {
    if (extent < MIN_EXTENT) {
        return CLASSES;
    }
    return extent <= MAX_SHORT ? SHORT : extent <= MAX_SMALL ? SMALL : extent <= MAX_LARGE ? LARGE : LONG;
}

uint capacity_of(uint kind) {
    return kind == SHORT ? push.short_capacity : kind == SMALL ? push.small_capacity :
        kind == LARGE ? push.large_capacity : push.long_capacity;
}

// The entry at `slot` of a class's queue. Selects between addresses, not pointers: SwiftShader crashes on a pointer
// that a branch has selected.
Words entry_of(uint kind, uint slot) {
    uvec2 queue = kind == SHORT ? uvec2(push.short_segments) : kind == SMALL ? uvec2(push.small_segments) :
        kind == LARGE ? uvec2(push.large_segments) : uvec2(push.long_segments);
    return advance_words(Words(queue), slot, kind == LONG ? LONG_SEGMENT_WORDS : SEGMENT_WORDS);
}

// Segments of the workgroup in each class, and the first of their queue slots.
shared uint s_counts[CLASSES];
shared uint s_first_slots[CLASSES];

// The queue slot of an invocation whose segment is in a class. Every invocation of the workgroup must call it, in uniform
// control flow, once.
uint queue_slot(uint kind) {
    if (gl_LocalInvocationIndex < CLASSES) {
        s_counts[gl_LocalInvocationIndex] = 0;
    }
    barrier();
    uint slot = 0;
    [[unroll]] for (uint c = 0; c < CLASSES; c++) {
        uvec4 votes = subgroupBallot(kind == c);
        uint first = 0;
        if (subgroupElect() && any(notEqual(votes, uvec4(0)))) {
            first = atomicAdd(s_counts[c], subgroupBallotBitCount(votes));
        }
        first = subgroupBroadcastFirst(first);
        slot = kind == c ? first + subgroupBallotExclusiveBitCount(votes) : slot;
    }
    barrier();
    if (gl_LocalInvocationIndex < CLASSES) {
        uint count = s_counts[gl_LocalInvocationIndex];
        if (count > 0) {
            s_first_slots[gl_LocalInvocationIndex] = atomicAdd(push.state.word[gl_LocalInvocationIndex], count);
        }
    }
    barrier();
    return s_first_slots[min(kind, CLASSES - 1)] + slot;
}

void store_dispatch_args(uint index, uint count, uint per_workgroup) {
    Words words = advance_words(push.dispatch_args, index, DISPATCH_ARGS_WORDS);
    store_grid(words, ceil_div(count, per_workgroup), push.max_row);
    words.word[ARGS_TILE_COUNT] = count;
    words.word[ARGS_COUNTER_COUNT] = count * RADIX;
}

void store_args_of_classes() {
    [[unroll]] for (uint kind = SHORT; kind < LONG; kind++) {
        uint count = atomicOr(push.state.word[kind], 0u);
        count = count <= capacity_of(kind) ? count : 0;
        store_dispatch_args(kind, count, kind == SHORT ? SHORT_PER_WORKGROUP : 1);
    }
    uint long_count = atomicOr(push.state.word[LONG], 0u);
    uint tile_count = atomicOr(push.state.word[TILES], 0u);
    bool fit = atomicOr(push.state.word[OVERFLOW], 0u) == 0 && long_count <= push.long_capacity &&
        tile_count <= push.tile_capacity;
    store_dispatch_args(LONG, fit ? long_count : 0, 1);
    store_dispatch_args(TILES_DISPATCH, fit ? tile_count : 0, 1);
}

void main() {
    uint workgroup = workgroup_index();
    uint segment_count = count_of(push.segment_count, push.indirect_segment_count);
    uint element_count = count_of(push.element_count, push.indirect_element_count);
    bool are_rows = push.row_length > 0;
    if (are_rows) {
        segment_count = min(segment_count, element_count / push.row_length);
    }
    uint workgroup_count = ceil_div(segment_count, WORKGROUP_SIZE);
    // The first segment of a surplus workgroup may exceed 32 bits.
    if (workgroup >= workgroup_count) {
        return;
    }
    uint first = workgroup * WORKGROUP_SIZE;
    uint index = invocation_index();
    Segment segment = Segment(0, 0);
    if (are_rows && index < segment_count - first) {
        segment = Segment((first + index) * push.row_length, push.row_length);
    } else if (index < segment_count - first) {
        Words begins = advance_words(push.segments, first, 1);
        segment.begin = min(begins.word[index], element_count);
        uint end = element_count;
        if (!is_null(push.segment_ends)) {
            end = min(advance_words(push.segment_ends, first, 1).word[index], end);
        } else if (index + 1 < segment_count - first) {
            end = min(begins.word[index + 1], end);
        }
        segment.extent = end - min(segment.begin, end);
    }

    uint kind = class_of(segment.extent);
    uint slot = queue_slot(kind);
    uint first_tile = 0;
    uint tile_count = ceil_div(segment.extent, TILE_ITEMS);
    if (kind == LONG) {
        first_tile = atomicAdd(push.state.word[TILES], tile_count);
        uint carry;
        uaddCarry(first_tile, tile_count, carry);
        if (carry != 0) {
            atomicOr(push.state.word[OVERFLOW], 1u);
        }
    }
    if (kind < CLASSES && slot < capacity_of(kind)) {
        Words entry = entry_of(kind, slot);
        entry.word[0] = segment.begin;
        entry.word[1] = segment.extent;
        if (kind == LONG) {
            entry.word[2] = first_tile;
            entry.word[3] = tile_count;
        }
    }

    if (!is_last_workgroup(push.state, DONE, workgroup_count)) {
        return;
    }
    if (index == 0) {
        store_args_of_classes();
    }
}
