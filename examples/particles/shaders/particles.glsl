// What the kernels of the particles share. All arithmetic is of whole numbers, so that every device has the same bits.

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(local_size_x = 64) in;

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words {
    uint word[];
};
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Vectors {
    ivec2 vector[];
};

// Side of the square that holds the particles, and of its cells, which is the reach of a particle.
const int SIDE = 1 << 20;
const int REACH = 1 << 13;
const uint GRID = uint(SIDE / REACH);

// Neighbours of a particle beyond these are left out.
const uint MAX_NEIGHBOURS = 64;

uint cell_of(ivec2 position) {
    uvec2 cell = uvec2(position / REACH);
    return cell.y * GRID + cell.x;
}
