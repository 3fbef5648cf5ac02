// Step 3 of a frame: those that are seen, and none between them.
//
// Each knows its place from the scan, the number of those before it; the last one knows how many there are, and writes it
// where the sort and the draw read it.
//
// Dispatch: an invocation for each of count splats.
// Reads:    depths, flags and places, for each splat.
// Writes:   keys and order, for each that is seen; the VkDrawIndirectCommand at draw.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "splat.glsl"

layout(local_size_x = 128) in;

layout(push_constant, std430) uniform Push {
    Floats depths;
    Words flags;
    // The exclusive scan of the flags.
    Words places;
    Floats keys;
    Words order;
    Words draw;
    uint count;
} push;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count) {
        return;
    }
    uint flag = push.flags.word[i];
    uint place = push.places.word[i];
    if (flag != 0) {
        push.keys.value[place] = push.depths.value[i];
        push.order.word[place] = i;
    }
    if (i == push.count - 1) {
        // Four corners, as many instances as splats are seen, and the first of each.
        push.draw.word[0] = 4;
        push.draw.word[1] = place + flag;
        push.draw.word[2] = 0;
        push.draw.word[3] = 0;
    }
}
