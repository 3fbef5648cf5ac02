// Packing: stores the element of words[i] as element i of a packed array.
//
// An invocation writes words of memory, each a workgroup's invocations apart from the next; of the first and the last one,
// which others may write as well, the bits that are its own.
//
// Dispatch: a workgroup for each UNITS_PER_INVOCATION * WORKGROUP_SIZE words of memory that hold an element.
// Reads:    words, a multiple of 16 bytes, one for each element. Counts where they are not null.
// Writes:   elements, of any address.
// Shared:   nothing.
// Limits:   2^30 elements.
// Pass model: reference::packed::packed
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
    [[unroll]] for (uint unit = 0; unit < UNITS_PER_INVOCATION; unit++) {
        uint word = (workgroup_index() * UNITS_PER_INVOCATION + unit) * WORKGROUP_SIZE + gl_LocalInvocationIndex;
        uint bits = 0;
        uint mask = 0;
        [[unroll]] for (uint i = 0; i < PACKED_PER_WORD; i++) {
            // Below 0 for those before the array, which as an unsigned number is no less than the count.
            uint index = word * PACKED_PER_WORD + i - before;
            if (index < count) {
                bits |= packed(push.words.word[index]) << i * PACKED_BITS;
                mask |= PACKED_MASK << i * PACKED_BITS;
            }
        }
        store_packed(memory, word, bits, mask);
    }
}
