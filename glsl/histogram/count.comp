// Histogram of each column of a table: the number of values in each bin, or with WEIGHTED the sum of their weights.
//
// Bin b has the values from edge b on and below edge b + 1; the last bin has the last edge as well. Other values, and
// NaNs, are in no bin. Values and edges are compared by their keys, unsigned numbers in the same order, so that no
// driver's treatment of denormals matters. With WIDE values and edges have two words, the low one first. With PACKED values
// have 8 or 16 bits in memory, and edges the words of `common/packed.glsl`.
//
// Bins of equal widths are guessed: `histogram/bins.glsl`.
//
//   s_counts   | bin 0: copy 0, copy 1, … | bin 1: copy 0, copy 1, … | … | for each column in turn
//
// A workgroup counts a tile, or with MAX_WORKGROUPS strides over several, in shared memory, in COPIES counters for each
// bin: neighbouring invocations, whose values are often equal, use different ones. Then it adds the sums to the counts
// in device memory. With 0 copies, for counters that do not fit in shared memory, every value is added to the counts in
// device memory.
//
// Dispatch: striding_workgroups(tile_count) workgroups; surplus workgroups return.
// Reads:    source, rows of COLUMN_COUNT values, with QUAD_ACCESS 16 bytes at a time, or with FUNCTIONS elements that the values of
//           one column are computed from, and data; with WEIGHTED weights, a word for each;
//           edges, BIN_COUNT + 1 values, of which those between the first and the last ascend; indirect_tiles, tile_count
//           and last_extent, where it is not null.
// Writes:   counts, BIN_COUNT words for each column: adds to them.
// Shared:   COPIES * BIN_COUNT * COLUMN_COUNT + 3 words, and the shared edges.
// Limits:   less than 2^28 counters; a count is less than 2^32. With QUAD_ACCESS source and tiles are whole quads, and so are
//           weights.
// Pass model: none; the second line says the result.
// Source:   Podlozhnyuk, "Histogram Calculation in CUDA", NVIDIA, 2007: counters in shared memory, added up in device
//           memory; Gómez-Luna, González-Linares, Benavides and Guil, "An Optimized Approach to Histogram Computation on
//           GPU", Machine Vision and Applications, 2013: copies of the counters; numpy: a guess that the edges correct.

#version 460
#extension GL_GOOGLE_include_directive : require

#ifdef FUNCTIONS
#define USES_KEY_OF
// Keys are compared by this kernel's own means.
#ifdef WIDE
#define KEY_WORDS 2
#define Key uvec2
#else
#define KEY_WORDS 1
#define Key uint
#endif
#include "common/called.glsl"
#endif
#include "common/dispatch.glsl"
#include "common/stride.glsl"
#include "common/tiles.glsl"
#include "operator/names.glsl"
#ifdef PACKED
#include "common/packed.glsl"
#endif

layout(constant_id = ID_NUMBERS) const uint NUMBERS = UNSIGNED;
layout(constant_id = ID_BIN_COUNT) const uint BIN_COUNT = 1;
// A constant, so that the compiler divides by multiplication.
layout(constant_id = ID_COLUMN_COUNT) const uint COLUMN_COUNT = 1;
layout(constant_id = ID_TILE_ROWS) const uint TILE_ROWS = 1;
// 0 or a power of two.
layout(constant_id = ID_COPIES) const uint COPIES = 1;
// BIN_COUNT + 1 if the edges are copied to shared memory, else 0.
layout(constant_id = ID_SHARED_EDGES) const uint SHARED_EDGES = 0;
// Whether the bins are of equal widths, but for rounding.
layout(constant_id = ID_EVEN) const bool EVEN = false;
layout(constant_id = ID_QUAD_ACCESS) const bool QUAD_ACCESS = false;
layout(constant_id = ID_WEIGHTED) const bool WEIGHTED = false;
// Values that an invocation loads before it counts the first: 4, 8 or 16.
layout(constant_id = ID_LOADS_IN_FLIGHT) const uint LOADS_IN_FLIGHT = 16;

const uint COUNTERS = BIN_COUNT * COLUMN_COUNT;

// Whether both are true, component by component.
bvec4 both(bvec4 one, bvec4 other) {
    return bvec4(uvec4(one) & uvec4(other));
}

#ifdef WIDE
#include "histogram/values64.glsl"
#else
#include "histogram/values32.glsl"
#endif

// Bytes of a value in memory.
#ifdef PACKED
const uint VALUE_SIZE = PACKED_BITS / 8;
#else
const uint VALUE_SIZE = VALUE_WORDS * 4;
#endif
// Values of a round, whose loads are in flight together.
const uint ROUND_VALUES = LOADS_IN_FLIGHT * WORKGROUP_SIZE;

layout(push_constant, std430) uniform Push {
    Words source;
    Words edges;
    Words counts;
    Words indirect_tiles;
    Words weights;
    uint tile_count;
    // Rows in the last tile; all others are full.
    uint last_extent;
#ifdef FUNCTIONS
    Words data;
#endif
} push;

// A word more of the counters, since no array is empty. After the edges lie SHORT + 1 and OVER + 1, as bits of floats.
shared uint s_counts[COPIES * COUNTERS + 1];
const uint DEVIATIONS = SHARED_EDGES * VALUE_WORDS;
shared uint s_edges[DEVIATIONS + 2];

#include "histogram/bins.glsl"
#include "histogram/groups.glsl"

void add(uint counter, uint count) {
    atomicAdd(push.counts.word[counter], count);
}

void count_value(uint i, uint bin, uint weight) {
    uint counter = i % COLUMN_COUNT * BIN_COUNT + bin;
    if (bin < BIN_COUNT) {
        if (COPIES != 0) {
            atomicAdd(s_counts[counter * COPIES + (gl_LocalInvocationIndex & (COPIES - 1))], weight);
        } else {
            add(counter, weight);
        }
    }
}

// Counts the values of a group that are in range. Every invocation of the workgroup must call it.
void count_group(Values values, Words weights, uint begin, uint value_count, Range range) {
    uvec4 i = positions_in(begin);
    uvec4 added = uvec4(1);
    if (WEIGHTED) {
        added = load_words(weights, begin, value_count);
    }
    bvec4 exist = bvec4(exists(i.x, value_count), exists(i.y, value_count), exists(i.z, value_count), exists(i.w, value_count));
    uvec4 bins = bins_of(values, exist, range);
    count_value(i.x, bins.x, added.x);
    count_value(i.y, bins.y, added.y);
    count_value(i.z, bins.z, added.z);
    count_value(i.w, bins.w, added.w);
}

// Counts the values of a round: of up to four groups, whose loads are in flight together. Groups have names, since an array is kept in
// memory by a compiler that does not unroll loops around loops. Counting a group is most of the kernel, and stands here three times:
// for the groups of a half of a whole round, and for one of any, of which those that begin before `value_count` exist. Every
// invocation of the workgroup must call it.
void count_round(Words source, Words weights, uint begin, uint value_count, bool all_exist, Range range) {
    uint existing = all_exist ? ALL_EXIST : value_count;
    Values first = load_group(source, begin, existing);
    Values second = NONE;
    Values third = NONE;
    Values fourth = NONE;
    if (LOADS_IN_FLIGHT > 4) {
        second = load_group(source, begin + GROUP_VALUES, existing);
    }
    if (LOADS_IN_FLIGHT > 8) {
        third = load_group(source, begin + 2 * GROUP_VALUES, existing);
        fourth = load_group(source, begin + 3 * GROUP_VALUES, existing);
    }
    uint end = begin + ROUND_VALUES;
    if (all_exist) {
        [[dont_unroll]] for (; begin < end; begin += 2 * GROUP_VALUES) {
            count_group(first, weights, begin, ALL_EXIST, range);
            if (LOADS_IN_FLIGHT > 4) {
                count_group(second, weights, begin + GROUP_VALUES, ALL_EXIST, range);
            }
            first = third;
            second = fourth;
        }
    } else {
        end = min(end, value_count);
        [[dont_unroll]] for (; begin < end; begin += GROUP_VALUES) {
            count_group(first, weights, begin, value_count, range);
            first = second;
            second = third;
            third = fourth;
        }
    }
}

// Counts the values of a tile: whole rounds, which test no index, and what is left. Every invocation of the workgroup must call it.
void count_tile(Words source, Words weights, uint value_count, Range range) {
    uint begin = 0;
    [[dont_unroll]] for (; begin + ROUND_VALUES <= value_count; begin += ROUND_VALUES) {
        count_round(source, weights, begin, value_count, true, range);
    }
    if (begin < value_count) {
        count_round(source, weights, begin, value_count, false, range);
    }
}

void main() {
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    uint workgroups = striding_workgroups(tiles.count, MAX_WORKGROUPS);
    uint tile = workgroup_index();
    if (tile >= workgroups) {
        return;
    }
    Range range = load_range();
    if (COPIES != 0) {
        for (uint c = gl_LocalInvocationIndex; c < COPIES * COUNTERS; c += WORKGROUP_SIZE) {
            s_counts[c] = 0;
        }
    }
    uvec2 deviations = uvec2(0);
    // All lanes leave the loop together, with the deviations.
    for (uint begin = 0; begin < SHARED_EDGES; begin += WORKGROUP_SIZE) {
        uint e = begin + gl_LocalInvocationIndex;
        if (e < SHARED_EDGES) {
            Value edge = load_element(push.edges, e);
#ifdef WIDE
            Value key = key_of(edge);
            s_edges[2 * e] = key.x;
            s_edges[2 * e + 1] = key.y;
#else
            s_edges[e] = key_of(edge);
#endif
            // Else distances may be infinite, and their products with 0 NaNs.
            if (HAS_DEVIATIONS && range.is_guessed) {
                deviations = max(deviations, deviations_of(e, edge, range));
            }
        }
    }
    if (HAS_DEVIATIONS && gl_LocalInvocationIndex < 2) {
        s_edges[DEVIATIONS + gl_LocalInvocationIndex] = 0;
    }
    barrier();
    if (HAS_DEVIATIONS) {
        deviations = subgroupMax(deviations);
        if (subgroupElect()) {
            atomicMax(s_edges[DEVIATIONS], deviations.x);
            atomicMax(s_edges[DEVIATIONS + 1], deviations.y);
        }
        barrier();
        float begin = uintBitsToFloat(s_edges[DEVIATIONS + 1]) - 1;
        float end = 2 - uintBitsToFloat(s_edges[DEVIATIONS]);
        if (NUMBERS != FLOAT) {
            range.middle = max((begin + end) / 2, 0);
        }
        // Less by more than the rounding of both sides of the comparison.
        float radius = min(range.middle - begin, end - range.middle) - 1.0 / (1 << 20);
        range.certain_radius = range.is_guessed ? radius : -1;
    }

    do {
        uint value_count = (tile + 1 < tiles.count ? TILE_ROWS : tiles.last_extent) * COLUMN_COUNT;
        Words source = Words(advance(uvec2(push.source), tile, TILE_ROWS * COLUMN_COUNT * VALUE_SIZE));
        Words weights = push.weights;
        if (WEIGHTED) {
            weights = advance_words(weights, tile, TILE_ROWS * COLUMN_COUNT);
        }
#ifdef FUNCTIONS
        first_index = tile * TILE_ROWS;
#endif
        count_tile(source, weights, value_count, range);
        tile += workgroups;
    } while (MAX_WORKGROUPS != 0 && tile < tiles.count);
    if (COPIES == 0) {
        return;
    }
    barrier();
    for (uint counter = gl_LocalInvocationIndex; counter < COUNTERS; counter += WORKGROUP_SIZE) {
        uint count = 0;
        [[unroll]] for (uint k = 0; k < COPIES; k++) {
            count += s_counts[counter * COPIES + k];
        }
        if (count != 0) {
            add(counter, count);
        }
    }
}
