// The fixed tree of a tile: partial results of WORKGROUP_SIZE invocations, combined in pairs, then pairs of pairs.
//
//   distance 1   | 0 1 | 2 3 | 4 5 | 6 7 | …      pairs of lanes, by shuffles
//   distance 2   | 0   2     | 4   6     | …
//   …                                             from the subgroup size on through shared memory
//
// The pairs are the same at every subgroup size from 4 to 128, so that sums of floats have the same bits. `earlier`
// always has the lower index: operators need not commute.
//
// An including file defines the type `Partial`, `padding_partial()`, which changes no bit of what it is combined with,
// `combine_partials(earlier, later)`, and `partial_of_lane_xor(partial, mask)`.
//
// Needs:    Partial, padding_partial, combine_partials, partial_of_lane_xor; a WORKGROUP_SIZE that is a power of two
// Gives:    combine_lanes, combine_groups
// Shared:   WORKGROUP_SIZE / 2 of Partial
// Barriers: combine_groups up to 3 in a workgroup of 256

#include "common/dispatch.glsl"

// Invocations that have combined their partial results before the tree leaves registers: the smallest subgroup.
const uint GROUP_LANES = 4;

// Results of subgroups in their order, of one round after the other: at 4 lanes 32, 8 and 2.
shared Partial s_partial[WORKGROUP_SIZE / 2];

// Combines the partial results of lanes: the results of each `begin` lanes are combined already, of each `end` afterwards.
// Every lane of the subgroup must call it; the lowest lane of each `end` has the result.
Partial combine_lanes(Partial partial, uint begin, uint end) {
    for (uint distance = begin; distance < end; distance *= 2) {
        partial = combine_partials(partial, partial_of_lane_xor(partial, distance));
    }
    return partial;
}

// The total of the workgroup in its first invocation, from the results of groups of GROUP_LANES. Every invocation of the
// workgroup must call it, once.
Partial combine_groups(Partial partial) {
    partial = combine_lanes(partial, GROUP_LANES, gl_SubgroupSize);
    uint first = 0;
    // Results left, in the first lanes of as many subgroups. Few lanes take several rounds.
    uint count = gl_NumSubgroups;
    while (count > 1) {
        if (gl_SubgroupInvocationID == 0 && gl_SubgroupID < count) {
            s_partial[first + gl_SubgroupID] = partial;
        }
        barrier();
        if (gl_SubgroupID * gl_SubgroupSize < count) {
            partial = padding_partial();
            if (invocation_index() < count) {
                partial = s_partial[first + invocation_index()];
            }
            partial = combine_lanes(partial, 1, min(count, gl_SubgroupSize));
        }
        first += count;
        count = count / gl_SubgroupSize;
    }
    return partial;
}
