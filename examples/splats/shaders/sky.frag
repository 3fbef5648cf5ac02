// What is behind all splats: an evening, with the sun out of sight on the left.

#version 460

// From -1 at the left and the top to 1.
layout(location = 0) in vec2 position;

layout(location = 0) out vec4 color;

const vec3 ZENITH = vec3(0.10, 0.22, 0.42);
const vec3 HAZE = vec3(0.55, 0.62, 0.66);
const vec3 ABYSS = vec3(0.20, 0.29, 0.40);
const vec3 GLOW = vec3(0.50, 0.27, 0.10);

void main() {
    vec3 above = mix(HAZE, ZENITH, smoothstep(0.15, -1.15, position.y));
    vec3 sky = mix(above, ABYSS, smoothstep(0.05, 1.1, position.y));
    sky += GLOW * exp(-1.6 * length((position - vec2(-1.05, -0.1)) * vec2(1.0, 1.3)));
    color = vec4(sky, 1.0);
}
