// The version of the pieces that docs/pieces.md lists, and the language extensions of all kernels. A kernel that has
// declarations before its first other include includes this file first.

#ifndef SUBSWEEP_EXTENSIONS
#define SUBSWEEP_EXTENSIONS

// The version of the crate: 10,000 times the major version, plus 100 times the minor version, plus the patch.
#define SUBSWEEP_GLSL_VERSION 100

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_vote : require
#ifdef KEY_BITS
#if KEY_BITS == 8
#extension GL_EXT_shader_8bit_storage : require
#else
#extension GL_EXT_shader_16bit_storage : require
#endif
#endif

#endif
