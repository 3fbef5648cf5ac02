// Copies words, by quads where both addresses are multiples of 16: the bandwidth bound of every benchmark.
//
// Dispatch: ceil(unit_count / (WORKGROUP_SIZE * UNITS_PER_INVOCATION)) workgroups, at least one, where a unit is a quad
//           with QUAD_ACCESS, otherwise a word.
// Reads:    source, word_count words.
// Writes:   destination, word_count words.
// Pass model: none; the destination is the source.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/address.glsl"
#include "common/dispatch.glsl"

layout(constant_id = ID_UNITS_PER_INVOCATION) const uint UNITS_PER_INVOCATION = 4;
layout(constant_id = ID_QUAD_ACCESS) const bool QUAD_ACCESS = true;

layout(push_constant, std430) uniform Push {
    Words source;
    Words destination;
    uint word_count;
} push;

void main() {
    uint tile_units = WORKGROUP_SIZE * UNITS_PER_INVOCATION;
    uint unit_count = QUAD_ACCESS ? push.word_count / 4 : push.word_count;
    uint tile = workgroup_index();
    if (QUAD_ACCESS && tile == 0 && gl_LocalInvocationIndex < push.word_count % 4) {
        uint i = gl_LocalInvocationIndex;
        Words source = Words(advance(uvec2(push.source), unit_count, 16));
        Words destination = Words(advance(uvec2(push.destination), unit_count, 16));
        destination.word[i] = source.word[i];
    }
    // Compared in tiles: the first unit of a surplus workgroup may exceed 32 bits.
    if (unit_count == 0 || tile > (unit_count - 1) / tile_units) {
        return;
    }
    uint extent = min(unit_count - tile * tile_units, tile_units);
    uint tile_size = tile_units * (QUAD_ACCESS ? 16 : 4);
    uvec2 source = advance(uvec2(push.source), tile, tile_size);
    uvec2 destination = advance(uvec2(push.destination), tile, tile_size);
    [[unroll]] for (uint k = 0; k < UNITS_PER_INVOCATION; k++) {
        uint i = k * WORKGROUP_SIZE + gl_LocalInvocationIndex;
        if (i < extent) {
            if (QUAD_ACCESS) {
                Quads(destination).quad[i] = Quads(source).quad[i];
            } else {
                Words(destination).word[i] = Words(source).word[i];
            }
        }
    }
}
