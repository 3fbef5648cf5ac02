// Step 1 of a frame: where each splat falls on the picture, how far away it is, and whether it is seen at all.
//
// Dispatch: an invocation for each of count splats.
// Reads:    splats.
// Writes:   depths, where they are not null, and flags, for each splat; footprints, for those that are seen; of the VkDrawIndirectCommand at draw
//           all but the number of instances, which the selection writes.
// Source:   Zwicker, Pfister, van Baar and Gross, "EWA splatting", IEEE TVCG 2002: a Gaussian in space is taken for a
//           Gaussian on the picture, by the projection's derivative in its center.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "splat.glsl"
#include "depth_of.glsl"

layout(local_size_x = 128) in;

layout(push_constant, std430) uniform Push {
    Splats splats;
    Floats depths;
    Words flags;
    Footprints footprints;
    // The rows of the camera: right, down and forward, each with its translation.
    vec4 right;
    vec4 down;
    vec4 forward;
    // Pixels that a unit takes at a distance of one, across and down.
    vec2 focal;
    // Pixels from the middle of the picture to its edges.
    vec2 half_size;
    // What is nearer is not seen.
    float near;
    uint count;
    Words draw;
} push;

// A pixel is no point: what is finer than it is spread over so much of it (variance, in pixels squared).
const float PIXEL_VARIANCE = 0.2;

// One standard deviation along the ellipse's longer axis, in pixels.
vec2 major_axis(vec3 covariance, float variance) {
    vec2 along = vec2(covariance.y, variance - covariance.x);
    vec2 of_upright = covariance.x >= covariance.z ? vec2(1.0, 0.0) : vec2(0.0, 1.0);
    return sqrt(variance) * (dot(along, along) > 1e-12 ? normalize(along) : of_upright);
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    if (i == 0) {
        // Four corners, from the first corner and the first instance on.
        push.draw.word[0] = 4;
        push.draw.word[2] = 0;
        push.draw.word[3] = 0;
    }
    Splat splat = push.splats.splat[i];
    vec4 position = vec4(splat.position_and_opacity.xyz, 1.0);
    float opacity = splat.position_and_opacity.w;
    float depth = depth_of(push.forward, position.xyz);
    vec3 seen_at = vec3(dot(push.right, position), dot(push.down, position), depth);
    // Null where the sort computes depths.
    if (any(notEqual(uvec2(push.depths), uvec2(0)))) {
        push.depths.value[i] = depth;
    }

    mat3 camera = transpose(mat3(push.right.xyz, push.down.xyz, push.forward.xyz));
    bool is_back = dot(camera * unpackSnorm4x8(splat.normal).xyz, seen_at) > 0.0;
    if (seen_at.z < push.near || opacity <= FAINTEST || is_back) {
        push.flags.word[i] = 0;
        return;
    }

    // The covariance on the picture: J C S transpose(C) transpose(J), with the camera C and the derivative J.
    mat3 covariance = mat3(
        splat.covariance_low.xyz,
        splat.covariance_low.yw, splat.covariance_high.x,
        splat.covariance_low.z, splat.covariance_high
    );
    vec2 scale = push.focal / seen_at.z;
    vec2 center = scale * seen_at.xy;
    vec3 across = vec3(scale.x, 0.0, -center.x / seen_at.z) * camera;
    vec3 along = vec3(0.0, scale.y, -center.y / seen_at.z) * camera;
    vec3 on_picture = vec3(
        dot(across, covariance * across) + PIXEL_VARIANCE,
        dot(across, covariance * along),
        dot(along, covariance * along) + PIXEL_VARIANCE
    );

    // Its eigenvalues are the variances along the axes of the ellipse.
    float mean = 0.5 * (on_picture.x + on_picture.z);
    float spread = length(vec2(0.5 * (on_picture.x - on_picture.z), on_picture.y));
    vec2 major = major_axis(on_picture, mean + spread);
    vec2 minor = vec2(-major.y, major.x) * sqrt(max(mean - spread, PIXEL_VARIANCE) / (mean + spread));

    float radius = length(major) * reach_of(opacity);
    bool is_seen = all(lessThan(abs(center) - radius, push.half_size));
    push.flags.word[i] = is_seen ? 1 : 0;
    if (is_seen) {
        vec3 color = unpackUnorm4x8(splat.color).rgb;
        color *= color;
        uvec2 packed_color = uvec2(packHalf2x16(color.rg), packHalf2x16(vec2(color.b, opacity)));
        vec2 pixel = 1.0 / push.half_size;
        push.footprints.footprint[i] = Footprint(center * pixel, major * pixel, minor * pixel, packed_color);
    }
}
