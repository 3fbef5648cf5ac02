// Histogram of each column of a table: the number of values in each bin, or with WEIGHTED the sum of their weights.
//
// Bin b has the values from edge b on and below edge b + 1; the last bin has the last edge as well. Other values, and
// NaNs, are in no bin. Values and edges are compared by their keys, unsigned numbers in the same order, so that no
// driver's treatment of denormals matters. With WIDE values and edges have two words, the low one first. With PACKED values
// have 8 or 16 bits in memory, and edges the words of `common/packed.glsl`.
//
// Bins of equal widths are guessed by t(x) = (x - first edge) * bins per unit, rounded at each operation. Edges decide where the
// guess is not certain. All operations are monotone, in any rounding mode: a value from edge e(c) on has no t below t(e(c)), and one
// below the edge none above t(p(c)), where p(c) is the number before the edge; of floats, the edge itself. Each workgroup
// computes how far off the guesses of the inner edges are, c from 1 to BIN_COUNT - 1, of floats of the last edge as well:
// SHORT = max(c - t(e(c))) and OVER = max(t(p(c)) - c), each at least -1. Then, whatever the errors of edges and t,
//
//   t(x) > b + OVER         is of bin b or a later one
//   t(x) < b + 1 - SHORT    is of bin b or an earlier one.
//
// Where both hold, b is the bin. The middle of this interval is (1 + OVER - SHORT) / 2 after b; the b whose middle is nearest to t is
// guessed, and is certain where t is nearer than half of the interval. t - b is exact, or less than 1 and off by a rounding.
//
// Integers have t(x) = (x - first edge + 1/2) * bins per unit, and edges rounded up. With w bins per unit, but for rounding,
// t(p(c)) lies between c - w/2 and c + w/2, and t(e(c)) between c + w/2 and c + 3w/2: bins are shifted by w/2, and as OVER < w/2 and
// w/2 <= -SHORT all values are certain. Where bins are narrower than half an integer, the bound of -1 leaves values to the edges. In
// range no integer is before the first edge or beyond the last: a t beyond the middles of the outer bins is taken as these.
//
// Floats have SHORT + OVER >= 0, and the middle of a bin is its own. Those in no bin are known by t as well. Below the
// first edge no t is above t(e(0)) = 0, and beyond the last one none is below t(e(BIN_COUNT)), which no value in range
// exceeds. So t(x) < 0 and t(x) > BIN_COUNT + OVER are of no bin.
//
// All of this holds for any t that is monotone. Integers of 64 bits have the distance in units of a power of two, so that the
// distance of the last edge fits 32 bits; floats of 64 bits are rounded towards 0 to 32 bits before the subtraction. A range
// that f32 cannot tell apart has no guess.
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
// Whether the deviations of the edges are known: each workgroup has looked at all of them.
const bool HAS_DEVIATIONS = EVEN && SHARED_EDGES != 0;
// Values that a workgroup loads at a time, and values of a round of such loads, which are in flight together.
const uint GROUP_VALUES = 4 * WORKGROUP_SIZE;
const uint ROUND_VALUES = LOADS_IN_FLIGHT * WORKGROUP_SIZE;
// Whether the same words of all quads are of half of the columns at most: equal values of many lanes in one counter.
const bool TURNS_QUADS = QUAD_ACCESS && COLUMN_COUNT % 2 == 0;
const uint SIGN = 0x80000000;
#ifdef WIDE
const uint VALUE_WORDS = 2;
#else
const uint VALUE_WORDS = 1;
#endif
#ifdef PACKED
const uint VALUE_SIZE = PACKED_BITS / 8;
#else
const uint VALUE_SIZE = VALUE_WORDS * 4;
#endif
// The guess, its neighbor, and the halves of 2^16 bins.
const uint MAX_STEPS = 18;

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

// In place of a number of values: all of them exist.
const uint ALL_EXIST = ~0;
// The bin of a value that is in none.
const uint NO_BIN = ~0;

bool exists(uint i, uint value_count) {
    return value_count == ALL_EXIST || i < value_count;
}

bvec4 both(bvec4 one, bvec4 other) {
    return bvec4(uvec4(one) & uvec4(other));
}

// Value is a value, or its key; Values are four of them.
#ifdef WIDE
#include "common/wide.glsl"
#define Value uvec2

struct Values {
    uvec4 low;
    uvec4 high;
};

Values four_of(Value x, Value y, Value z, Value w) {
    return Values(uvec4(x.x, y.x, z.x, w.x), uvec4(x.y, y.y, z.y, w.y));
}

Value first_of(Values values) {
    return uvec2(values.low.x, values.high.x);
}

Values rotated(Values values) {
    return Values(values.low.yzwx, values.high.yzwx);
}

Values chosen(Values no, Values yes, bvec4 is_yes) {
    return Values(mix(no.low, yes.low, is_yes), mix(no.high, yes.high, is_yes));
}

bvec4 are_at_most(Values values, Values others) {
    bvec4 is_high_less = lessThan(values.high, others.high);
    bvec4 is_low_at_most = both(equal(values.high, others.high), lessThanEqual(values.low, others.low));
    return bvec4(uvec4(is_high_less) | uvec4(is_low_at_most));
}

Value load_word_pair(Words words, uint i) {
    return uvec2(words.word[2 * i], words.word[2 * i + 1]);
}
#define load_element load_word_pair

// The keys of values. -0 and 0 have one key; the keys of NaNs are beyond the keys of both infinities.
Values keys_of(Values values) {
    if (NUMBERS == SIGNED) {
        values.high ^= SIGN;
    }
    if (NUMBERS == FLOAT) {
        bvec4 is_zero = both(equal(values.high, uvec4(SIGN)), equal(values.low, uvec4(0)));
        values.high = mix(values.high, uvec4(0), is_zero);
        uvec4 negative = uvec4(ivec4(values.high) >> 31);
        values.low ^= negative;
        values.high ^= negative | SIGN;
    }
    return values;
}

// The values as floats of 32 bits, which are not farther from 0 than the floats of 64 bits.
vec4 narrowed(Values values) {
    ivec4 exponents = ivec4(values.high >> 20 & 0x7ff) - (1023 - 127);
    uvec4 mantissas = (values.high & 0xfffff) << 3 | values.low >> 29;
    uvec4 magnitudes = uvec4(clamp(exponents, 0, 255)) << 23;
    magnitudes = mix(magnitudes, magnitudes | mantissas, both(greaterThan(exponents, ivec4(0)),
        lessThan(exponents, ivec4(255))));
    return uintBitsToFloat(magnitudes | values.high & SIGN);
}

// The distances of values from a lesser one; of integers in units of 2^shift.
vec4 distances_of(Values values, Value lesser, uint shift) {
    if (NUMBERS == FLOAT) {
        return narrowed(values) - narrowed(four_of(lesser, lesser, lesser, lesser));
    }
    uvec4 borrows;
    uvec4 low = usubBorrow(values.low, uvec4(lesser.x), borrows);
    uvec4 high = values.high - lesser.y - borrows;
    // A shift by 32 is undefined.
    uvec4 shifted = low >> 1 >> (shift - 1 & 31) | high << (32 - shift & 31);
    return vec4(shift == 0 ? low : shifted);
}

// By which the distance of one value from a lesser one fits 32 bits.
uint distance_shift(Value value, Value lesser) {
    uint high = value.y - lesser.y - uint(value.x < lesser.x);
    return NUMBERS == FLOAT ? 0 : uint(findMSB(high) + 1);
}

Value one_before(Value value) {
    return uvec2(value.x - 1, value.y - uint(value.x == 0));
}
#else
#define Value uint
#define Values uvec4
#define four_of uvec4

Value first_of(Values values) {
    return values.x;
}

Values rotated(Values values) {
    return values.yzwx;
}

#define chosen mix
#define are_at_most lessThanEqual

bool is_less(Value value, Value other) {
    return value < other;
}

#define load_element(words, i) words.word[i]

Values keys_of(Values values) {
    if (NUMBERS == SIGNED) {
        return values ^ SIGN;
    }
    if (NUMBERS == FLOAT) {
        values = mix(values, uvec4(0), equal(values, uvec4(SIGN)));
        return values ^ (uvec4(ivec4(values) >> 31) | SIGN);
    }
    return values;
}

vec4 distances_of(Values values, Value lesser, uint shift) {
    return NUMBERS == FLOAT ? uintBitsToFloat(values) - uintBitsToFloat(lesser) : vec4(values - lesser);
}

uint distance_shift(Value value, Value lesser) {
    return 0;
}

Value one_before(Value value) {
    return value - 1;
}
#endif

Values all_of(Value value) {
    return four_of(value, value, value, value);
}

Value key_of(Value value) {
    return first_of(keys_of(all_of(value)));
}

Value edge_key(uint e) {
#ifdef WIDE
    return SHARED_EDGES != 0 ? uvec2(s_edges[2 * e], s_edges[2 * e + 1]) : key_of(load_element(push.edges, e));
#else
    return SHARED_EDGES != 0 ? s_edges[e] : key_of(load_element(push.edges, e));
#endif
}

Values edge_keys(uvec4 e) {
    return four_of(edge_key(e.x), edge_key(e.y), edge_key(e.z), edge_key(e.w));
}

// The bins of keys in range: the last one that begins at or below each. By halving: in each step of all lanes.
uvec4 search(Values keys) {
    uvec4 bins = uvec4(0);
    [[dont_unroll]] for (uint step = 1 << findMSB(BIN_COUNT); step > 0; step /= 2) {
        uvec4 next = bins + step;
        bvec4 exists = lessThan(next, uvec4(BIN_COUNT));
        Values begins = edge_keys(mix(uvec4(0), next, exists));
        bins = mix(bins, next, both(exists, are_at_most(begins, keys)));
    }
    return bins;
}

// The same of one key, from a guess on: the neighbor is next, since rounding is all that an even bin may be off by, then the
// middle of the bins that are left. The lanes of a subgroup leave the loop together: a value that comes out of a loop
// which lanes leave one by one is wrong on some drivers. Every lane of the subgroup must call it.
uint corrected(uint bin, Value key) {
    uint low = 0;
    uint high = BIN_COUNT - 1;
    [[dont_unroll]] for (uint step = 0; step < MAX_STEPS; step++) {
        bool is_below = is_less(key, edge_key(bin));
        bool is_above = bin < high && !is_less(key, edge_key(bin + 1));
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

// The same of four keys, one after the other: together they would take as many steps as the one that takes most.
uvec4 each_corrected(uvec4 bins, Values keys) {
    [[dont_unroll]] for (uint k = 0; k < 4; k++) {
        bins = uvec4(bins.yzw, corrected(bins.x, first_of(keys)));
        keys = rotated(keys);
    }
    return bins;
}

// The range of all bins.
struct Range {
    Value first;
    Value first_key;
    Value last_key;
    // Of distances.
    uint shift;
    // Whether a bin is guessed: neither the quotient nor a distance within the range overflows.
    bool is_guessed;
    float bins_per_unit;
    // Where the middle of a bin is, from its begin, not negative, and how far from it t may be for the guess to be certain; negative
    // if none is.
    float middle;
    float certain_radius;
};

Range load_range() {
    Value first = load_element(push.edges, 0);
    Value last = load_element(push.edges, BIN_COUNT);
    uint shift = distance_shift(last, first);
    Value first_key = key_of(first);
    Value last_key = key_of(last);
    float size = distances_of(all_of(last), first, shift).x;
    // A NaN is not between them.
    bool is_guessed = is_less(first_key, last_key) && size > 1e-30 && size < 1e38;
    float bins_per_unit = is_guessed ? float(BIN_COUNT) / size : 0;
    return Range(first, first_key, last_key, shift, is_guessed, bins_per_unit, 0.5, -1);
}

// t of values. Without contraction, so that it is the same number for an edge and for a value.
vec4 bins_from_first(Values values, Range range) {
    vec4 distances = distances_of(values, range.first, range.shift);
    if (NUMBERS != FLOAT) {
        distances += 0.5;
    }
    precise vec4 t = distances * range.bins_per_unit;
    return t;
}

// SHORT + 1 and OVER + 1 of edge `e`, not negative, so that their bits have the order of the floats. An inner edge that equals the
// first one has no number before it in range: OVER is huge then, and nothing is certain.
uvec2 deviations_of(uint e, Value edge, Range range) {
    Value before = NUMBERS == FLOAT ? edge : one_before(edge);
    precise vec4 beyond = bins_from_first(four_of(edge, before, edge, before), range) - float(e);
    precise vec2 deviations = max(vec2(-beyond.x, beyond.y) + 1, 0);
    bool is_inner = e != 0 && (NUMBERS == FLOAT || e != BIN_COUNT);
    return is_inner ? floatBitsToUint(deviations) : uvec2(0);
}

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

// With TURNS_QUADS, rotates a quad by the invocation's index modulo 4: neighbours count different columns at a time.
uvec4 turned(uvec4 quad) {
    if (TURNS_QUADS) {
        quad = mix(quad, quad.yzwx, bvec4(gl_LocalInvocationIndex & 1));
        quad = mix(quad, quad.zwxy, bvec4(gl_LocalInvocationIndex & 2));
    }
    return quad;
}

// The positions of an invocation's values in a group: of a quad, or of words that neighbouring invocations load together.
uvec4 positions_in(uint begin) {
    uvec4 k = turned(uvec4(0, 1, 2, 3));
    return QUAD_ACCESS ? begin + 4 * gl_LocalInvocationIndex + k : begin + gl_LocalInvocationIndex + k * WORKGROUP_SIZE;
}

uint load_word(Words source, uint i, uint value_count) {
    if (!exists(i, value_count)) {
        return 0;
    }
    return source.word[i];
}

// Whether all values of a group exist.
bool is_whole(uint begin, uint value_count) {
    return value_count == ALL_EXIST || begin + GROUP_VALUES <= value_count;
}

// The invocation's words of the group that begins at word `begin` of the tile; 0 for those that do not exist.
uvec4 load_words(Words source, uint begin, uint value_count) {
    uvec4 words;
    if (QUAD_ACCESS && is_whole(begin, value_count)) {
        words = turned(Quads(uvec2(source)).quad[begin / 4 + gl_LocalInvocationIndex]);
    } else {
        uvec4 i = positions_in(begin);
        words = uvec4(load_word(source, i.x, value_count), load_word(source, i.y, value_count),
            load_word(source, i.z, value_count), load_word(source, i.w, value_count));
    }
    return words;
}

#if defined FUNCTIONS
// The index of the tile's first element.
uint first_index;

Value load_value(uint i, uint value_count) {
    Value value = Value(0);
    if (exists(i, value_count)) {
        value = computed_key(push.source, first_index + i, push.data);
    }
    return value;
}

// As load_words(), of values that a function of the caller computes.
Values load_group(Words source, uint begin, uint value_count) {
    uvec4 i = positions_in(begin);
    return four_of(load_value(i.x, value_count), load_value(i.y, value_count), load_value(i.z, value_count),
        load_value(i.w, value_count));
}
#elif defined WIDE
Value load_value(Words source, uint i, uint value_count) {
    if (!exists(i, value_count)) {
        return uvec2(0);
    }
    return load_element(source, i);
}

// As load_words(), of two words each.
Values load_group(Words source, uint begin, uint value_count) {
    if (QUAD_ACCESS && is_whole(begin, value_count)) {
        Quads quads = Quads(uvec2(source));
        uint first = (begin / 4 + gl_LocalInvocationIndex) * 2;
        uvec4 earlier = quads.quad[first];
        uvec4 later = quads.quad[first + 1];
        return Values(turned(uvec4(earlier.xz, later.xz)), turned(uvec4(earlier.yw, later.yw)));
    }
    uvec4 i = positions_in(begin);
    return four_of(load_value(source, i.x, value_count), load_value(source, i.y, value_count),
        load_value(source, i.z, value_count), load_value(source, i.w, value_count));
}
#elif defined PACKED
uint load_bits(Words source, uint i, uint value_count) {
    if (!exists(i, value_count)) {
        return 0;
    }
    return packed_at(source, i);
}

// As load_words(), of packed elements.
Values load_group(Words source, uint begin, uint value_count) {
    if (QUAD_ACCESS && is_whole(begin, value_count)) {
        return turned(unpacked_quad(source, begin / 4 + gl_LocalInvocationIndex));
    }
    uvec4 i = positions_in(begin);
    return unpacked(uvec4(load_bits(source, i.x, value_count), load_bits(source, i.y, value_count),
        load_bits(source, i.z, value_count), load_bits(source, i.w, value_count)));
}
#else
#define load_group load_words
#endif

#ifdef WIDE
const Values NONE = Values(uvec4(0), uvec4(0));
#else
const Values NONE = uvec4(0);
#endif

bvec4 are_in_range(Values keys, Range range) {
    return both(are_at_most(all_of(range.first_key), keys), are_at_most(keys, all_of(range.last_key)));
}

// The same of integers, whose first edge is below the last one.
bvec4 integers_in_range(Values values, Range range) {
#ifdef WIDE
    return are_in_range(keys_of(values), range);
#else
    return lessThanEqual(values - range.first, uvec4(range.last_key - range.first_key));
#endif
}

// The bins whose middles are nearest to each t.
vec4 nearest_bins(vec4 t, Range range) {
    return floor(t + (0.5 - range.middle));
}

// Whether each t is certainly of a bin.
bvec4 are_certain(vec4 t, vec4 bin, Range range) {
    precise vec4 from_middle = t - bin - range.middle;
    return lessThan(abs(from_middle), vec4(range.certain_radius));
}

// The bins of values, or NO_BIN, by their keys. Every lane of the subgroup must call it.
uvec4 bins_by_keys(Values values, bvec4 exist, Range range) {
    Values keys = keys_of(values);
    bvec4 is_counted = both(exist, are_in_range(keys, range));
    // Any value in range in place of others, so that all lanes take part.
    keys = chosen(all_of(range.first_key), keys, is_counted);
    uvec4 bins;
    if (EVEN) {
        vec4 t = bins_from_first(chosen(all_of(range.first), values, is_counted), range);
        bins = each_corrected(min(uvec4(t), BIN_COUNT - 1), keys);
    } else {
        bins = search(keys);
    }
    return mix(uvec4(NO_BIN), bins, is_counted);
}

// The bins of values, or others than bins. Every lane of the subgroup must call it.
uvec4 bins_of(Values values, bvec4 exist, Range range) {
    // One for all: without a certain guess nothing is computed twice.
    if (HAS_DEVIATIONS && range.certain_radius > 0) {
        vec4 t = bins_from_first(values, range);
        bvec4 is_counted = exist;
        if (NUMBERS == FLOAT) {
            // A NaN is in no bin, and no operand of a minimum. By its bits: a compiler may take it that there is none.
            bvec4 is_nan = greaterThan(floatBitsToUint(t) & ~SIGN, uvec4(0x7f800000));
            t = clamp(mix(t, vec4(-0.5), is_nan), -0.5, BIN_COUNT + 0.5);
        } else {
            is_counted = both(exist, integers_in_range(values, range));
            // By their bits, which have the same order: a minimum of floats tests for NaNs.
            uvec4 bits = floatBitsToUint(t);
            bits = clamp(bits, floatBitsToUint(range.middle), floatBitsToUint(BIN_COUNT - 1 + range.middle));
            t = uintBitsToFloat(bits);
        }
        vec4 bin = nearest_bins(t, range);
        if (!subgroupAny(any(both(is_counted, not(are_certain(t, bin, range)))))) {
            // Bin -1 is NO_BIN.
            return mix(uvec4(NO_BIN), uvec4(ivec4(bin)), is_counted);
        }
    }
    return bins_by_keys(values, exist, range);
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
