// Workgroup numbering, and the specialization constant of every kernel: the workgroup size.
//
// Needs:    subgroups that are full, and a workgroup size in one dimension: by its specialization constant 0, whose default is 1,
//           or by a `layout(local_size_x = …) in;` before this file
// Gives:    WORKGROUP_SIZE, invocation_index, workgroup_index, buffer_barrier
// Shared:   none
// Barriers: buffer_barrier 1

#ifndef SUBSWEEP_DISPATCH
#define SUBSWEEP_DISPATCH

#include "common/constants.glsl"
#include "common/extensions.glsl"

layout(local_size_x_id = ID_WORKGROUP_SIZE) in;
#define WORKGROUP_SIZE gl_WorkGroupSize.x

// The invocation's index in the workgroup, in the order of subgroups and lanes. Results that depend on order use it,
// since the mapping of gl_LocalInvocationIndex to subgroups and lanes is implementation-defined.
uint invocation_index() {
    return gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
}

// The workgroup's linear index. A dispatch of more workgroups than fit in x has several rows in y; the last row may
// exceed the workgroup count. Rows may be split over several dispatches: gl_NumWorkGroups.y then covers one part
// only, and no kernel may use it.
uint workgroup_index() {
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

// A workgroup barrier that orders accesses to buffers and to shared memory: barrier() orders shared memory alone, and
// a memory barrier beside it orders only the accesses of its own invocation. Every invocation of the workgroup must
// call it, in uniform control flow.
void buffer_barrier() {
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeDevice, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
        gl_SemanticsAcquireRelease);
}

#endif
