// A Gaussian, its color multiplied by its opacity: what blending adds to what shines through it.

#version 460

layout(location = 0) in vec2 deviation;
layout(location = 1) flat in vec4 color;

layout(location = 0) out vec4 blended;

void main() {
    float opacity = color.a * exp(-0.5 * dot(deviation, deviation));
    blended = vec4(color.rgb * opacity, opacity);
}
