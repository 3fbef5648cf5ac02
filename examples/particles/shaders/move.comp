// A step of each particle: it falls, its neighbours push it away and drag it along, and the walls throw it back.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "particles.glsl"

layout(push_constant, std430) uniform Push {
    Vectors positions;
    Vectors velocities;
    Words offsets;
    Words counts;
    Words lists;
    Vectors next_positions;
    Vectors next_velocities;
    uint count;
} push;

const int GRAVITY = 24;
const int MAX_SPEED = REACH / 2;

void main() {
    uint particle = gl_GlobalInvocationID.x;
    if (particle >= push.count) {
        return;
    }
    ivec2 position = push.positions.vector[particle];
    ivec2 velocity = push.velocities.vector[particle];
    ivec2 pushed = ivec2(0);
    ivec2 dragged = ivec2(0);
    uint first = push.offsets.word[particle];
    for (uint k = 0; k < push.counts.word[particle]; k++) {
        uint other = push.lists.word[first + k];
        ivec2 apart = push.positions.vector[other] - position;
        int strength = (REACH * REACH - apart.x * apart.x - apart.y * apart.y) >> 18;
        pushed -= (apart * strength) >> 12;
        dragged += (push.velocities.vector[other] - velocity) >> 5;
    }
    velocity += pushed + dragged + ivec2(0, GRAVITY);
    velocity -= velocity >> 7;
    velocity = clamp(velocity, ivec2(-MAX_SPEED), ivec2(MAX_SPEED));
    position += velocity;
    for (int axis = 0; axis < 2; axis++) {
        if (position[axis] < 0 || position[axis] >= SIDE) {
            position[axis] = position[axis] < 0 ? -position[axis] : 2 * SIDE - 1 - position[axis];
            velocity[axis] = -(velocity[axis] >> 1);
        }
    }
    push.next_positions.vector[particle] = position;
    push.next_velocities.vector[particle] = velocity;
}
