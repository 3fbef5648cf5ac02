// One element from each invocation, scanned over the workgroup by Kogge and Stone's network, one barrier a step.
//
// A step reads one buffer and writes the other, so that nobody overwrites what another has still to read, and the
// barrier between reading and writing is gone. For that, invocations that have nothing to add copy their element: the
// same operations as with one buffer, N log2 N - (N - 1), and twice the shared memory.
//
// Shared:   2 * WORKGROUP_SIZE elements.
// Model:    reference::workgroup_scan::kogge_stone_double_buffered.
// Source:   Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, 2022, ch. 11.2; the network as in
//           `kogge_stone.glsl`.

#ifndef SUBSWEEP_WORKGROUP_SCAN_KOGGE_STONE_DOUBLE_BUFFERED
#define SUBSWEEP_WORKGROUP_SCAN_KOGGE_STONE_DOUBLE_BUFFERED

#include "common/dispatch.glsl"
#include "common/element.glsl"

// One buffer behind the other.
shared Element s_prefix[2 * WORKGROUP_SIZE];

// As `invocations.glsl` says.
uint scan_invocations(uint i, Element value) {
    uint from = 0;
    s_prefix[i] = value;
    barrier();
    for (uint distance = 1; distance < WORKGROUP_SIZE; distance *= 2) {
        if (i >= distance) {
            value = combine(s_prefix[from + i - distance], value);
        }
        from = WORKGROUP_SIZE - from;
        s_prefix[from + i] = value;
        barrier();
    }
    return from;
}

#endif
