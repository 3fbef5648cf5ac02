// One element from each invocation, scanned over the workgroup by Sklansky's network.
//
// Blocks double: every element of an upper block takes in the last element of the lower block beside it, which nobody
// writes in that step, so that one barrier a step is enough. As few steps as there can be, log2 N, and N / 2 operations
// in each, half the invocations at rest; the price is that a whole block reads one element. `scan/double_blocks.comp`
// does the same with the whole device.
//
// Shared:   WORKGROUP_SIZE elements.
// Model:    reference::workgroup_scan::sklansky.
// Source:   Sklansky, "Conditional-Sum Addition Logic", IRE Transactions on Electronic Computers, 1960.

#ifndef SUBSWEEP_WORKGROUP_SCAN_SKLANSKY
#define SUBSWEEP_WORKGROUP_SCAN_SKLANSKY

#include "common/dispatch.glsl"
#include "common/element.glsl"

shared Element s_prefix[WORKGROUP_SIZE];

// As `invocations.glsl` says.
uint scan_invocations(uint i, Element value) {
    s_prefix[i] = value;
    barrier();
    for (uint block = 1; block < WORKGROUP_SIZE; block *= 2) {
        if ((i & block) != 0) {
            value = combine(s_prefix[(i & ~(block - 1)) - 1], value);
            s_prefix[i] = value;
        }
        barrier();
    }
    return 0;
}

#endif
