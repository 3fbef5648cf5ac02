// Copies 16-byte quads: the bandwidth bound of every benchmark.
//
// Dispatch: ceil(quad_count / (WORKGROUP_SIZE * QUADS_PER_INVOCATION)) workgroups.
// Reads:    source, quad_count quads.
// Writes:   destination, quad_count quads.
// Pass model: none; the destination is the source.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/address.glsl"
#include "common/dispatch.glsl"

layout(constant_id = ID_QUADS_PER_INVOCATION) const uint QUADS_PER_INVOCATION = 4;

layout(push_constant, std430) uniform Push {
    Quads source;
    Quads destination;
    uint quad_count;
} push;

void main() {
    uint tile_quads = WORKGROUP_SIZE * QUADS_PER_INVOCATION;
    uint tile = workgroup_index();
    // Compared in tiles: the first quad of a surplus workgroup may exceed 32 bits.
    if (tile > (push.quad_count - 1) / tile_quads) {
        return;
    }
    uint extent = min(push.quad_count - tile * tile_quads, tile_quads);
    Quads source = Quads(advance(uvec2(push.source), tile, tile_quads * 16));
    Quads destination = Quads(advance(uvec2(push.destination), tile, tile_quads * 16));
    [[unroll]] for (uint k = 0; k < QUADS_PER_INVOCATION; k++) {
        uint i = k * WORKGROUP_SIZE + gl_LocalInvocationIndex;
        if (i < extent) {
            destination.quad[i] = source.quad[i];
        }
    }
}
