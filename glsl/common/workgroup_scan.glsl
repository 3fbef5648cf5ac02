// Exclusive scan of subgroup totals over the workgroup: the level between subgroup and device.
//
// Needs:    what `common/element.glsl` needs
// Gives:    workgroup_exclusive_scan, and all of `common/element.glsl`
// Shared:   (WORKGROUP_SIZE / 4 + 1) * ELEMENT_WORDS * 4 bytes, enough for subgroups of 4 lanes and more
// Barriers: 2

#ifndef SUBSWEEP_WORKGROUP_SCAN
#define SUBSWEEP_WORKGROUP_SCAN

#include "common/dispatch.glsl"
#include "common/element.glsl"

const uint MIN_SUBGROUP_SIZE = 4;

// Exclusive prefixes of the subgroup totals, followed by the workgroup total.
shared Element s_subgroup_prefix[WORKGROUP_SIZE / MIN_SUBGROUP_SIZE + 1];

// The total of all earlier subgroups, in each invocation. `subgroup_total` is the same in every lane of a subgroup.
// Every invocation of the workgroup must call it, in uniform control flow, and once: a second call needs a barrier
// first.
Element workgroup_exclusive_scan(Element subgroup_total, out Element workgroup_total) {
    if (subgroupElect()) {
        s_subgroup_prefix[gl_SubgroupID] = subgroup_total;
    }
    barrier();
    // At 4 lanes a workgroup of 256 has 64 subgroups: the first one scans as many totals at a time as it has lanes.
    if (gl_SubgroupID == 0) {
        Element carry = identity();
        for (uint first = 0; first < gl_NumSubgroups; first += gl_SubgroupSize) {
            uint i = first + gl_SubgroupInvocationID;
            Element total = identity();
            if (i < gl_NumSubgroups) {
                total = s_subgroup_prefix[i];
            }
            Element round_total;
            Element prefix = combine(carry, subgroup_exclusive_scan(total, round_total));
            if (i < gl_NumSubgroups) {
                s_subgroup_prefix[i] = prefix;
            }
            carry = combine(carry, round_total);
        }
        if (subgroupElect()) {
            s_subgroup_prefix[gl_NumSubgroups] = carry;
        }
    }
    barrier();
    workgroup_total = s_subgroup_prefix[gl_NumSubgroups];
    return s_subgroup_prefix[gl_SubgroupID];
}

#endif
