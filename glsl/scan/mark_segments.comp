// Head bits of segments from their offsets.
//
// Dispatch: an invocation for each of offset_count.
// Reads:    offsets, offset_count words: the rows at which segments begin. Offsets at and beyond row_count are
//           ignored.
// Writes:   heads, a bit for each of row_count rows, which begins as 0.
// Shared:   nothing.
// Pass model: reference::passes::segmented_scan::mark_segments.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/address.glsl"
#include "common/dispatch.glsl"

layout(push_constant, std430) uniform Push {
    Words offsets;
    Words heads;
    uint offset_count;
    uint row_count;
} push;

void main() {
    uint workgroup = workgroup_index();
    // The first offset of a surplus workgroup may exceed 32 bits.
    if (workgroup > (push.offset_count - 1) / WORKGROUP_SIZE) {
        return;
    }
    uint index = workgroup * WORKGROUP_SIZE + invocation_index();
    if (index >= push.offset_count) {
        return;
    }
    uint row = advance_words(push.offsets, index, 1).word[0];
    if (row < push.row_count) {
        atomicOr(advance_words(push.heads, row / 32, 1).word[0], 1u << (row % 32));
    }
}
