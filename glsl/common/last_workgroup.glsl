// How a dispatch ends in one workgroup, which goes on with what all the others have written. Shared memory: 1 word.

#ifndef SUBSWEEP_LAST_WORKGROUP
#define SUBSWEEP_LAST_WORKGROUP

#include "common/address.glsl"
#include "common/dispatch.glsl"

shared uint s_is_last;

// Whether the workgroup is the last of `workgroup_count` to call this: then its atomics find what theirs have left; of
// plain stores, which are not coherent, that is not said. They count themselves in a word of `state`, which begins as 0.
// All of the workgroup must call it, in uniform flow, once.
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
