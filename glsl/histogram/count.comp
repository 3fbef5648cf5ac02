// Histogram of each column of a table: the number of values in each bin.
//
// Bin b has the values from edge b on and below edge b + 1; the last bin has the last edge as well. Other values, and
// NaNs, are in no bin. Values and edges are compared by their keys, unsigned numbers in the same order, so that no
// driver's treatment of denormals matters. Bins of equal widths are guessed by a multiplication; the edges decide.
//
//   s_counts   | bin 0: copy 0, copy 1, … | bin 1: copy 0, copy 1, … | … | for each column in turn
//
// A workgroup counts a tile, or with MAX_WORKGROUPS strides over several, in shared memory, in COPIES counters for each
// bin: neighbouring invocations, whose values are often equal, use different ones. Then it adds the sums to the counts
// in device memory. With 0 copies, for counters that do not fit in shared memory, every value is added to the counts in
// device memory.
//
// Dispatch: striding_workgroups(tile_count) workgroups; surplus workgroups return.
// Reads:    source, rows of COLUMN_COUNT words; edges, BIN_COUNT + 1 words, of which those between the first and the
//           last ascend; indirect_tiles, tile_count and last_extent, where it is not null.
// Writes:   counts, BIN_COUNT words for each column: adds to them.
// Shared:   COPIES * BIN_COUNT * COLUMN_COUNT + SHARED_EDGES + 2 words.
// Limits:   less than 2^28 counters; a count is less than 2^32.
// Pass model: none; the second line says the result.
// Source:   Podlozhnyuk, "Histogram Calculation in CUDA", NVIDIA, 2007: counters in shared memory, added up in device
//           memory; Gómez-Luna, González-Linares, Benavides and Guil, "An Optimized Approach to Histogram Computation on
//           GPU", Machine Vision and Applications, 2013: copies of the counters; numpy: a guess that the edges correct.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/dispatch.glsl"
#include "common/stride.glsl"
#include "common/tiles.glsl"
#include "operator/names.glsl"

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

const uint COUNTERS = BIN_COUNT * COLUMN_COUNT;
const uint SIGN = 0x80000000;
// The guess, its neighbor, and the halves of 2^16 bins.
const uint MAX_STEPS = 18;

layout(push_constant, std430) uniform Push {
    Words source;
    Words edges;
    Words counts;
    Words indirect_tiles;
    uint tile_count;
    // Rows in the last tile; all others are full.
    uint last_extent;
} push;

// A word more each, since no array is empty.
shared uint s_counts[COPIES * COUNTERS + 1];
shared uint s_edges[SHARED_EDGES + 1];

// The key of a value. -0 and 0 have one key; those of NaNs are beyond those of both infinities.
uint key_of(uint value) {
    if (NUMBERS == SIGNED) {
        return value ^ SIGN;
    }
    if (NUMBERS == FLOAT) {
        value = value == SIGN ? 0 : value;
        return (value & SIGN) != 0 ? ~value : value | SIGN;
    }
    return value;
}

// The key of an edge.
uint edge_key(uint e) {
    return SHARED_EDGES != 0 ? s_edges[e] : key_of(push.edges.word[e]);
}

// The distance of a value from a lesser one.
float distance_of(uint value, uint lesser) {
    return NUMBERS == FLOAT ? uintBitsToFloat(value) - uintBitsToFloat(lesser) : float(value - lesser);
}

// The bin of `key`, a key in range: the last one that begins at or below it. By halving: in each step of all lanes.
uint search(uint key) {
    uint bin = 0;
    [[dont_unroll]] for (uint step = 1 << findMSB(BIN_COUNT); step > 0; step /= 2) {
        uint next = bin + step;
        bool exists = next < BIN_COUNT;
        uint begin = edge_key(exists ? next : 0);
        bin = exists && begin <= key ? next : bin;
    }
    return bin;
}

// The same, from a guess on: its neighbor is next, since rounding is all that an even bin may be off by, then the
// middle of the bins that are left. The lanes of a subgroup leave the loop together: a value that comes out of a loop
// which lanes leave one by one is wrong on some drivers. Every lane of the subgroup must call it.
uint corrected(uint bin, uint key) {
    uint low = 0;
    uint high = BIN_COUNT - 1;
    [[dont_unroll]] for (uint step = 0; step < MAX_STEPS; step++) {
        bool is_below = key < edge_key(bin);
        bool is_above = bin < high && edge_key(bin + 1) <= key;
        if (!subgroupAny(is_below || is_above)) {
            break;
        }
        high = is_below ? bin - 1 : is_above ? high : bin;
        low = is_above ? bin + 1 : is_below ? low : bin;
        uint neighbor = is_below ? high : low;
        bin = step == 0 ? neighbor : (low + high + 1) / 2;
    }
    return bin;
}

// The range of all bins.
struct Range {
    uint first;
    uint first_key;
    uint last_key;
    // Whether a bin is guessed: neither the quotient nor a distance within the range overflows.
    bool is_guessed;
    float bins_per_unit;
};

Range load_range() {
    uint first = push.edges.word[0];
    uint last = push.edges.word[BIN_COUNT];
    float size = distance_of(last, first);
    // A NaN is not between them.
    bool is_guessed = size > 1e-30 && size < 1e38;
    return Range(first, key_of(first), key_of(last), is_guessed, float(BIN_COUNT) / size);
}

void add(uint counter, uint count) {
    atomicAdd(push.counts.word[counter], count);
}

// Counts value `i` of the tile, if it `exists` and is in range. Every lane of the subgroup must call it.
void count_value(uint value, uint i, bool exists, Range range) {
    uint key = key_of(value);
    bool is_counted = exists && range.first_key <= key && key <= range.last_key;
    // Any value in range in place of others, so that all lanes take part.
    key = is_counted ? key : range.first_key;
    uint bin;
    if (EVEN) {
        float distance = distance_of(is_counted ? value : range.first, range.first);
        uint guess = min(uint(distance * range.bins_per_unit), BIN_COUNT - 1);
        bin = corrected(range.is_guessed ? guess : 0, key);
    } else {
        bin = search(key);
    }
    uint counter = i % COLUMN_COUNT * BIN_COUNT + bin;
    if (is_counted) {
        if (COPIES != 0) {
            atomicAdd(s_counts[counter * COPIES + (gl_LocalInvocationIndex & (COPIES - 1))], 1u);
        } else {
            add(counter, 1);
        }
    }
}

uint load_value(Words source, uint i, uint value_count) {
    return i < value_count ? source.word[i] : 0;
}

// Counts the values of a tile. Every invocation of the workgroup must call it.
void count_tile(Words source, uint value_count, Range range) {
    // Four values at a time, so that their loads are in flight together. Each by name: an array is kept in memory by a
    // compiler that does not unroll loops around loops, and a loop over them takes twice as long on a CPU.
    [[dont_unroll]] for (uint begin = 0; begin < value_count; begin += 4 * WORKGROUP_SIZE) {
        uint i = begin + gl_LocalInvocationIndex;
        uint j = i + WORKGROUP_SIZE;
        uint k = j + WORKGROUP_SIZE;
        uint l = k + WORKGROUP_SIZE;
        uint first = load_value(source, i, value_count);
        uint second = load_value(source, j, value_count);
        uint third = load_value(source, k, value_count);
        uint fourth = load_value(source, l, value_count);
        count_value(first, i, i < value_count, range);
        count_value(second, j, j < value_count, range);
        count_value(third, k, k < value_count, range);
        count_value(fourth, l, l < value_count, range);
    }
}

void main() {
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    uint workgroups = striding_workgroups(tiles.count, MAX_WORKGROUPS);
    uint tile = workgroup_index();
    if (tile >= workgroups) {
        return;
    }
    if (COPIES != 0) {
        for (uint c = gl_LocalInvocationIndex; c < COPIES * COUNTERS; c += WORKGROUP_SIZE) {
            s_counts[c] = 0;
        }
    }
    for (uint e = gl_LocalInvocationIndex; e < SHARED_EDGES; e += WORKGROUP_SIZE) {
        s_edges[e] = key_of(push.edges.word[e]);
    }
    barrier();

    Range range = load_range();
    do {
        uint value_count = (tile + 1 < tiles.count ? TILE_ROWS : tiles.last_extent) * COLUMN_COUNT;
        count_tile(advance_words(push.source, tile, TILE_ROWS * COLUMN_COUNT), value_count, range);
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
