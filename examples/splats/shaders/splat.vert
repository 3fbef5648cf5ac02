// Step 5 of a frame: each instance is a splat, its four vertices the corners of the rectangle around its ellipse.
//
// Reads: order, what is drawn one after the other, the furthest first; seen, the splats in view, where it is not null: order then
//        has indices into it; footprints.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "splat.glsl"

layout(push_constant, std430) uniform Push {
    readonly Words order;
    readonly Words seen;
    readonly Footprints footprints;
} push;

// In standard deviations along the axes of the ellipse.
layout(location = 0) out vec2 deviation;
layout(location = 1) flat out vec4 color;

void main() {
    uint splat = push.order.word[gl_InstanceIndex];
    if (any(notEqual(uvec2(push.seen), uvec2(0)))) {
        splat = push.seen.word[splat];
    }
    Footprint footprint = push.footprints.footprint[splat];
    color = vec4(unpackHalf2x16(footprint.color.x), unpackHalf2x16(footprint.color.y));
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0;
    deviation = corner * reach_of(color.a);
    vec2 position = footprint.center + deviation.x * footprint.major + deviation.y * footprint.minor;
    gl_Position = vec4(position, 0.0, 1.0);
}
