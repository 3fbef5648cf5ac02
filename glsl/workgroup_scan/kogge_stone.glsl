// One element from each invocation, scanned over the workgroup by Kogge and Stone's network, two barriers a step.
//
// After the step of distance d, an invocation holds the sum of the last 2d elements up to its own. Every invocation
// works in every step: log2 N steps, N log2 N - (N - 1) operations for a workgroup of N.
//
// The sources show the same with one barrier a step, as what must not be done (PMPP slide "Incorrect!", the OpenCL
// exercise "Can not use"):
//
//   if (i >= distance) s_prefix[i] = combine(s_prefix[i - distance], s_prefix[i]);
//   barrier();
//
// There invocation i - distance overwrites s_prefix[i - distance], and invocation i reads it, between the same two
// barriers. Nothing orders the two. Read first, it is the sum that the step before left, as it should be. Written
// first, it already holds the elements up to i - 2 * distance and before, which invocation i will take in a later step
// as well: they are counted twice. The invocations of one subgroup may happen to go in step, so that it fails only
// where two subgroups meet, and only now and then. Hence everyone reads into a register, all wait, everyone writes, and
// all wait again. The second of these barriers is a true dependence, write before read; the first is a false one, and
// two buffers do without it: `kogge_stone_double_buffered.glsl`.
//
// Shared:   WORKGROUP_SIZE elements.
// Model:    reference::workgroup_scan::kogge_stone.
// Source:   Kogge and Stone, "A Parallel Algorithm for the Efficient Solution of a General Class of Recurrence
//           Equations", IEEE Transactions on Computers, 1973; Hwu, Kirk and El Hajj, Programming Massively Parallel
//           Processors, 2022, ch. 11.2; Sun, OpenCL exercise 5, "Prefix sum".

#ifndef SUBSWEEP_WORKGROUP_SCAN_KOGGE_STONE
#define SUBSWEEP_WORKGROUP_SCAN_KOGGE_STONE

#include "common/dispatch.glsl"
#include "common/element.glsl"

shared Element s_prefix[WORKGROUP_SIZE];

// As `invocations.glsl` says.
uint scan_invocations(uint i, Element value) {
    s_prefix[i] = value;
    barrier();
    for (uint distance = 1; distance < WORKGROUP_SIZE; distance *= 2) {
        Element earlier = identity();
        if (i >= distance) {
            earlier = s_prefix[i - distance];
        }
        barrier();
        if (i >= distance) {
            value = combine(earlier, value);
            s_prefix[i] = value;
        }
        barrier();
    }
    return 0;
}

#endif
