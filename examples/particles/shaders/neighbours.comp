// The neighbours of each particle: their number, or, where there is memory for the lists, the neighbours. Particles are in
// the order of their cells, so that the particles of three neighbouring cells are together.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "particles.glsl"

layout(push_constant, std430) uniform Push {
    Vectors positions;
    // The particles in the order of their cells, and the first of each cell.
    Words order;
    Words starts;
    Words counts;
    // The first neighbour of each particle in `lists`; both null to count.
    Words offsets;
    Words lists;
    uint count;
} push;

void main() {
    uint particle = gl_GlobalInvocationID.x;
    if (particle >= push.count) {
        return;
    }
    ivec2 position = push.positions.vector[particle];
    uint cell = cell_of(position);
    uvec2 at = uvec2(cell % GRID, cell / GRID);
    uint first_column = max(at.x, 1) - 1;
    uint end_column = min(at.x + 2, GRID);
    bool has_lists = any(notEqual(uvec2(push.lists), uvec2(0)));
    uint offset = 0;
    if (has_lists) {
        offset = push.offsets.word[particle];
    }
    uint found = 0;
    for (uint row = max(at.y, 1) - 1; row < min(at.y + 2, GRID); row++) {
        uint end = push.starts.word[row * GRID + end_column];
        for (uint place = push.starts.word[row * GRID + first_column]; place < end; place++) {
            uint other = push.order.word[place];
            ivec2 apart = push.positions.vector[other] - position;
            int squared = apart.x * apart.x + apart.y * apart.y;
            bool is_near = all(lessThan(abs(apart), ivec2(REACH))) && squared < REACH * REACH;
            if (is_near && other != particle && found < MAX_NEIGHBOURS) {
                if (has_lists) {
                    push.lists.word[offset + found] = other;
                }
                found++;
            }
        }
    }
    if (!has_lists) {
        push.counts.word[particle] = found;
    }
}
