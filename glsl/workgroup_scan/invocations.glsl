// Workgroup scan of one element per invocation, by the textbook network that a define selects.
// `common/workgroup_scan.glsl`, in contrast, scans by subgroup operations.
//
// Needs:    WORKGROUP_SCAN_KOGGE_STONE, WORKGROUP_SCAN_KOGGE_STONE_DOUBLE_BUFFERED, WORKGROUP_SCAN_BRENT_KUNG,
//           WORKGROUP_SCAN_SKLANSKY or WORKGROUP_SCAN_SEQUENTIAL, and what `common/element.glsl` needs
// Gives:    invocations_exclusive_scan, and all of `common/element.glsl`
// Shared:   WORKGROUP_SIZE * ELEMENT_WORDS * 4 bytes, double-buffered twice as many
// Barriers: 2 to 2 log2(WORKGROUP_SIZE) + 1
//
// The network's file declares `s_prefix` and defines scan_invocations.

#include "common/dispatch.glsl"
#include "common/element.glsl"

#define SCANS_INVOCATIONS
// Invocation `i` passes `value`. The result is an index into `s_prefix`: the inclusive prefix of invocation j is
// element j from there on. All writes are followed by a barrier.
uint scan_invocations(uint i, Element value);

#if defined WORKGROUP_SCAN_KOGGE_STONE
#include "workgroup_scan/kogge_stone.glsl"
#elif defined WORKGROUP_SCAN_KOGGE_STONE_DOUBLE_BUFFERED
#include "workgroup_scan/kogge_stone_double_buffered.glsl"
#elif defined WORKGROUP_SCAN_BRENT_KUNG
#include "workgroup_scan/brent_kung.glsl"
#elif defined WORKGROUP_SCAN_SKLANSKY
#include "workgroup_scan/sklansky.glsl"
#elif defined WORKGROUP_SCAN_SEQUENTIAL
#include "workgroup_scan/sequential.glsl"
#else
#undef SCANS_INVOCATIONS
#endif

#ifdef SCANS_INVOCATIONS
// The exclusive prefix in the order of invocations, and the workgroup total. Every invocation of the workgroup must
// call it, in uniform control flow, and once: a second call needs a barrier first.
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
