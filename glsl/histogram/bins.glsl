// The bins of values, by their keys, or for bins of equal widths by a guess.
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
// Before it is included: the constants of `count.comp`, push.edges, s_edges, and Value.

// Whether the deviations of the edges are known: each workgroup has looked at all of them.
const bool HAS_DEVIATIONS = EVEN && SHARED_EDGES != 0;
// The bin of a value that is in none.
const uint NO_BIN = ~0;
// The guess, its neighbor, and the halves of 2^16 bins.
const uint MAX_STEPS = 18;

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
