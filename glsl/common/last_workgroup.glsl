// Last-workgroup detection: the last workgroup of a dispatch to finish continues with the results of all.
//
// Needs:    nothing
// Gives:    is_last_workgroup
// Shared:   4 bytes
// Barriers: 2

#ifndef SUBSWEEP_LAST_WORKGROUP
#define SUBSWEEP_LAST_WORKGROUP

#include "common/address.glsl"
#include "common/dispatch.glsl"

shared uint s_is_last;

// Whether the workgroup is the last of `workgroup_count` to call this. Its atomics then observe the atomics of the
// others before their calls; plain stores are not coherent and need not be visible. The count is a word of `state`
// that begins as 0. Every invocation of the workgroup must call it, in uniform control flow, once.
bool is_last_workgroup(Words state, uint counter, uint workgroup_count) {
    // The one invocation that counts waits for all of its workgroup.
    buffer_barrier();
    if (invocation_index() == 0) {
        s_is_last = atomicAdd(state.word[counter], 1u) + 1 == workgroup_count ? 1 : 0;
    }
    buffer_barrier();
    return s_is_last != 0;
}

#endif
