// What the stages of a frame hand to one another. `scene.rs` has the same splat, `frame.rs` the same footprint's size.

#ifndef SPLATS_SPLAT
#define SPLATS_SPLAT

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

// A Gaussian in space.
struct Splat {
    vec4 position_and_opacity;
    // Of the covariance xx, xy, xz and yy, then yz and zz.
    vec4 covariance_low;
    vec2 covariance_high;
    // The square roots of red, green and blue, 8 bits each: more of the bits are where eyes see steps.
    uint color;
    // Three signed bytes: who sees it from behind does not see it. Zeros of what has no back.
    uint normal;
};

// The same Gaussian on the picture, in coordinates from -1 to 1.
struct Footprint {
    vec2 center;
    // One standard deviation along each axis of the ellipse.
    vec2 major;
    vec2 minor;
    // Red and green, blue and opacity: linear, as halves.
    uvec2 color;
};

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Splats {
    Splat splat[];
};
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Footprints {
    Footprint footprint[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats {
    float value[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words {
    uint word[];
};

// What is fainter than the last bit of a picture is not there.
const float FAINTEST = 1.0 / 255.0;

// How many standard deviations away a Gaussian of this opacity is as faint as that.
float reach_of(float opacity) {
    return sqrt(max(2.0 * log(opacity / FAINTEST), 0.0));
}

#endif
