// The cell of each particle: the keys of the sort.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "particles.glsl"

layout(push_constant, std430) uniform Push {
    Vectors positions;
    Words cells;
    uint count;
} push;

void main() {
    uint particle = gl_GlobalInvocationID.x;
    if (particle < push.count) {
        push.cells.word[particle] = cell_of(push.positions.vector[particle]);
    }
}
