// One element from each invocation, scanned over the workgroup, by the network that a define names: what the textbooks
// teach, where `common/workgroup_scan.glsl` leaves most of it to the device's subgroups.
//
// The network's file declares `s_prefix`, and has
//
//   uint scan_invocations(uint i, Element value);
//
// in which invocation `i` gives `value`. When it returns, all have passed a barrier behind the last write, and the sum
// up to and with invocation j's value is element j of `s_prefix`, counted from the index that is returned.

#ifndef SUBSWEEP_WORKGROUP_SCAN_INVOCATIONS
#define SUBSWEEP_WORKGROUP_SCAN_INVOCATIONS

#if defined WORKGROUP_SCAN_KOGGE_STONE
#include "workgroup_scan/kogge_stone.glsl"
#define SCANS_INVOCATIONS
#elif defined WORKGROUP_SCAN_KOGGE_STONE_DOUBLE_BUFFERED
#include "workgroup_scan/kogge_stone_double_buffered.glsl"
#define SCANS_INVOCATIONS
#elif defined WORKGROUP_SCAN_BRENT_KUNG
#include "workgroup_scan/brent_kung.glsl"
#define SCANS_INVOCATIONS
#elif defined WORKGROUP_SCAN_SKLANSKY
#include "workgroup_scan/sklansky.glsl"
#define SCANS_INVOCATIONS
#elif defined WORKGROUP_SCAN_SEQUENTIAL
#include "workgroup_scan/sequential.glsl"
#define SCANS_INVOCATIONS
#endif

#ifdef SCANS_INVOCATIONS
// What comes before `value` in the order of invocations, and the workgroup's total. Every invocation of the workgroup
// must call it, in uniform flow, and once: a second call would need a barrier first.
Element invocations_exclusive_scan(Element value, out Element workgroup_total) {
    uint i = invocation_index();
    uint first = scan_invocations(i, value);
    workgroup_total = s_prefix[first + WORKGROUP_SIZE - 1];
    Element prefix = identity();
    if (i > 0) {
        prefix = s_prefix[first + i - 1];
    }
    return prefix;
}
#endif

#endif
