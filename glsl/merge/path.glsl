// The merge path: the way through the grid of the keys of two sorted arrays, a and b, that their merge takes. Before it is
// included, goes_before is defined: whether the key of a at one address comes before the key of b at another, as it does where
// they are equal.

// Where the path may cross a diagonal of the grid, `extent` keys from `a` on are paired with as many from `b` on, the first with
// the last. The number of pairs before the path: the first of a's keys that does not go before its key of b. The lanes of a
// subgroup test keys at equal distances, and search on between the last that goes before and the next one. Every lane of the
// subgroup must call it.
uint pairs_before_path(Words a, Words b, uint key_size, uint extent) {
    uint low = 0;
    uint high = extent;
    while (low < high) {
        uint distance = (high - low - 1) / gl_SubgroupSize + 1;
        uint index = low + gl_SubgroupInvocationID * distance;
        bool is_before = index < high;
        if (is_before) {
            uvec2 of_b = advance(uvec2(b), extent - 1 - index, key_size);
            is_before = goes_before(advance(uvec2(a), index, key_size), of_b);
        }
        uint count = subgroupBallotBitCount(subgroupBallot(is_before));
        high = count == 0 ? low : min(low + count * distance, high);
        low = count == 0 ? low : low + (count - 1) * distance + 1;
    }
    return low;
}

// The same for any number of pairs. Of 2^32 and more the lanes test the last of every 2^32.
uvec2 pairs_before_path(Words a, Words b, uint key_size, uvec2 extent) {
    uvec2 low = uvec2(0);
    uvec2 last = wide_difference(extent, uvec2(1, 0));
    while (any(notEqual(extent, uvec2(0)))) {
        // A unit is 2^32 keys, or one.
        bool is_wide = extent.y > 0;
        uint units = is_wide ? extent.y : extent.x;
        uint distance = (units - 1) / gl_SubgroupSize + 1;
        uint unit = gl_SubgroupInvocationID * distance;
        bool is_before = unit < units;
        if (is_before) {
            uvec2 index = wide_sum(low, is_wide ? uvec2(~0u, unit) : uvec2(unit, 0));
            uvec2 of_b = advance(uvec2(b), wide_difference(last, index), key_size);
            is_before = goes_before(advance(uvec2(a), index, key_size), of_b);
        }
        uint count = subgroupBallotBitCount(subgroupBallot(is_before));
        uint begin = count == 0 ? 0 : (count - 1) * distance + 1;
        uint rest = count == 0 ? 0 : min(distance - 1, units - begin);
        low = wide_sum(low, is_wide ? uvec2(0, begin) : uvec2(begin, 0));
        // A tested key that does not go before is left out, the last of its unit.
        extent = !is_wide ? uvec2(rest, 0) : uvec2(begin + rest < units ? ~0u : extent.x, rest);
    }
    return low;
}
