// The merge path: the way through the grid of the keys of two sorted arrays, a and b, that their merge takes. Before it is
// included, goes_before is defined: whether key `a_index` of a comes before key `b_index` of b, as it does where they are equal.

// The number of a's keys before a diagonal, on which as many keys are merged: the first of a's keys that does not go before
// the key of b that the diagonal pairs it with. The lanes of a subgroup test keys at equal distances, and search on between
// the last that goes before and the next one. Every lane of the subgroup must call it.
uint keys_of_a(uint diagonal, uvec2 counts) {
    uint low = diagonal - min(diagonal, counts.y);
    uint high = min(diagonal, counts.x);
    while (low < high) {
        uint distance = (high - low - 1) / gl_SubgroupSize + 1;
        uint index = low + gl_SubgroupInvocationID * distance;
        bool is_before = index < high;
        if (is_before) {
            is_before = goes_before(index, diagonal - 1 - index);
        }
        uint count = subgroupBallotBitCount(subgroupBallot(is_before));
        high = count == 0 ? low : min(low + count * distance, high);
        low = count == 0 ? low : low + (count - 1) * distance + 1;
    }
    return low;
}
