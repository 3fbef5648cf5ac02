// Unpacking: words[i] is the word of element i of a packed array.
//
// An invocation writes quads of words, each a workgroup's invocations apart from the next. Where the array begins with
// a word of memory, the elements of a quad are one word or two; else each element loads its word.
//
// Dispatch: a workgroup for each 4 * UNITS_PER_INVOCATION * WORKGROUP_SIZE elements.
// Reads:    elements, of any address; whole words of memory that hold one. Counts where they are not null.
// Writes:   words, a multiple of 16 bytes, one for each element.
// Shared:   nothing.
// Limits:   2^30 elements.
// Pass model: reference::packed::unpacked
// Source:   IEEE 754-2019, 3.4 and 5.4.2: formats, and conversions between them.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/address.glsl"
#include "common/dispatch.glsl"
#include "common/packed.glsl"

layout(constant_id = ID_UNITS_PER_INVOCATION) const uint UNITS_PER_INVOCATION = 1;

layout(push_constant, std430) uniform Push {
    Words elements;
    Words words;
    Words first_indirect;
    Words second_indirect;
    uint first;
    uint second;
    uint divisor;
    uint times;
    uint minus;
    uint chunk;
    uint count;
} push;

void main() {
    uvec2 address = uvec2(push.elements);
    Words memory = word_before(address);
    uint before = elements_before(address);
    uint count = count_of(PackedRun(push.first_indirect, push.second_indirect, push.first, push.second, push.divisor,
        push.times, push.minus, push.chunk, push.count));
    [[unroll]] for (uint q = 0; q < UNITS_PER_INVOCATION; q++) {
        uint quad = (workgroup_index() * UNITS_PER_INVOCATION + q) * WORKGROUP_SIZE + gl_LocalInvocationIndex;
        if (before == 0 && quad * 4 + 4 <= count) {
            Quads(uvec2(push.words)).quad[quad] = unpacked_quad(memory, quad);
        } else {
            [[unroll]] for (uint i = 0; i < 4; i++) {
                if (quad * 4 + i < count) {
                    uint index = before + quad * 4 + i;
                    uint shift = index % PACKED_PER_WORD * PACKED_BITS;
                    push.words.word[quad * 4 + i] = unpacked(memory.word[index / PACKED_PER_WORD] >> shift);
                }
            }
        }
    }
}
