// Workgroup numbering, and the one specialization constant that every kernel has: constant 0 is the workgroup size.

#ifndef SUBSWEEP_DISPATCH
#define SUBSWEEP_DISPATCH

#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require

layout(local_size_x_id = 0) in;
#define WORKGROUP_SIZE gl_WorkGroupSize.x

// The invocation's place in the workgroup, in the order of subgroups and lanes: what order depends on.
uint invocation_index() {
    return gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
}

// A dispatch of more workgroups than fit in x goes on in y; the last row may be partly beyond the end. Rows may come in
// several dispatches: gl_NumWorkGroups.y is then a part's, and no kernel may use it.
uint workgroup_index() {
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

// A barrier() that orders what the workgroup does in buffers, too: by itself that orders shared memory alone, and a memory
// barrier beside it orders only what its own invocation does. All of the workgroup must call it, in uniform flow.
void buffer_barrier() {
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeDevice, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
        gl_SemanticsAcquireRelease);
}

#endif
