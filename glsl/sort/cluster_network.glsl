// Stable sort of the elements of a cluster by a bitonic network. Rows, of an element of each lane, are sorted, and then
// merged pairwise. Each exchange leaves the lesser element at the lower position, so that the padding after a segment stays
// there: rows beyond the longest segment of a subgroup are skipped.
//
// Source: Batcher, "Sorting Networks and Their Applications", AFIPS 1968.

// Steps that merge rows, and pairs of rows in the last one; rows beyond ITEMS_PER_INVOCATION are padding.
const uint ROW_STEPS = ITEMS_PER_INVOCATION > 8 ? 4 : ITEMS_PER_INVOCATION > 4 ? 3 : ITEMS_PER_INVOCATION > 2 ? 2 :
    ITEMS_PER_INVOCATION > 1 ? 1 : 0;
const uint ROW_PAIRS = 1 << ROW_STEPS >> 1;

// Of the elements of a lane, the index in the segment.
uint index[ITEMS_PER_INVOCATION];

// Exchanges the elements of each lane and the one whose number differs by `mask`; the highest bit of that is `bit`. The
// lesser one goes to the lower lane.
void exchange_lanes(uint mask, uint bit, uint longest) {
    bool keeps_lesser = (gl_SubgroupInvocationID & bit) == 0;
    [[unroll]] for (uint pair = 0; pair < ITEMS_PER_INVOCATION; pair += 2) {
        // The same in all lanes of the subgroup. Two rows for each branch.
        if (pair == 0 || pair * CLUSTER_LANES < longest) {
            [[unroll]] for (uint k = 0; k < 2; k++) {
                uint i = pair + k;
                if (i < ITEMS_PER_INVOCATION) {
                    Key other = subgroupShuffleXor(order[i], mask);
                    uint other_index = HAS_INDICES ? subgroupShuffleXor(index[i], mask) : 0;
                    bool takes = is_less(other, other_index, order[i], index[i]) == keeps_lesser;
                    order[i] = takes ? other : order[i];
                    index[i] = takes ? other_index : index[i];
                }
            }
        }
    }
}

// Exchanges the elements of row `low` and of row `high` in the lanes whose number differs by `mask`; the greater
// ones go to row `high`, each to the lane of the lesser one.
void exchange_rows(uint low, uint high, uint mask, uint longest) {
    if (high < ITEMS_PER_INVOCATION && has_row(low, longest)) {
        Key other = mask == 0 ? order[high] : subgroupShuffleXor(order[high], mask);
        uint other_index = !HAS_INDICES ? 0 : mask == 0 ? index[high] : subgroupShuffleXor(index[high], mask);
        bool swap = is_less(other, other_index, order[low], index[low]);
        order[high] = swap ? order[low] : other;
        index[high] = swap ? index[low] : other_index;
        order[low] = swap ? other : order[low];
        index[low] = swap ? other_index : index[low];
    }
}

// Sorts the elements of lane `lane` of a cluster by order and index. `longest` is the longest extent of the subgroup, every
// lane of which must call it.
void sort_by_network(uint lane, uint longest) {
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        index[i] = i * CLUSTER_LANES + lane;
    }
    [[unroll]] for (uint lanes = 2; lanes <= CLUSTER_LANES; lanes *= 2) {
        exchange_lanes(lanes - 1, lanes / 2, longest);
        [[unroll]] for (uint bit = lanes / 4; bit > 0; bit /= 2) {
            exchange_lanes(bit, bit, longest);
        }
    }
    // Two runs of rows make a bitonic sequence if one is mirrored. The upper half of what the first exchange leaves
    // stays mirrored in its rows: it is bitonic either way.
    [[unroll]] for (uint row_step = 0; row_step < ROW_STEPS; row_step++) {
        uint run = 1 << row_step;
        if (run * CLUSTER_LANES < longest) {
            [[unroll]] for (uint pair = 0; pair < ROW_PAIRS; pair++) {
                uint first = pair / run * 2 * run;
                exchange_rows(first + pair % run, first + 2 * run - 1 - pair % run, CLUSTER_LANES - 1, longest);
            }
            [[unroll]] for (uint step = 0; step < ROW_STEPS; step++) {
                uint distance = run >> 1 >> step;
                if (distance > 0) {
                    [[unroll]] for (uint pair = 0; pair < ROW_PAIRS; pair++) {
                        uint low = pair / distance * 2 * distance + pair % distance;
                        exchange_rows(low, low + distance, 0, longest);
                    }
                }
            }
            [[unroll]] for (uint bit = CLUSTER_LANES / 2; bit > 0; bit /= 2) {
                exchange_lanes(bit, bit, longest);
            }
        }
    }
}
