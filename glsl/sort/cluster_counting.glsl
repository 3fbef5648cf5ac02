// Stable ranks of the elements of a cluster by comparison counting: each lane counts the elements that precede its own.
//
// Source: Knuth, The Art of Computer Programming, vol. 3, section 5.2.

// Of the elements of a lane, the rank in the segment.
uint rank[ITEMS_PER_INVOCATION];

// Counts the ranks of the elements of lane `lane` of a cluster that has `extent`. `longest` is the longest extent of the
// subgroup, every lane of which must call it.
void rank_by_counting(uint lane, uint extent, uint longest) {
    uint first_lane = gl_SubgroupInvocationID - lane;
    Key others[ITEMS_PER_INVOCATION];
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        others[i] = order[i];
        rank[i] = 0;
    }
    // Both loops are not unrolled and run to the longest segment. The other lanes' keys shift to the first element of
    // the array, since an array indexed by such a loop would not stay in registers.
    for (uint k = 0; k < ITEMS_PER_INVOCATION && k * CLUSTER_LANES < longest; k++) {
        for (uint l = 0; l < CLUSTER_LANES && k * CLUSTER_LANES + l < longest; l++) {
            uint position = k * CLUSTER_LANES + l;
            Key other = subgroupShuffle(others[0], first_lane + l);
            [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
                rank[i] += position < extent && is_less(other, position, order[i], i * CLUSTER_LANES + lane) ? 1 : 0;
            }
        }
        [[unroll]] for (uint i = 1; i < ITEMS_PER_INVOCATION; i++) {
            others[i - 1] = others[i];
        }
    }
}
