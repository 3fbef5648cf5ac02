// Gather of packed elements: destination[i] = source[indices[i]], of elements of 8 or 16 bits.
//
// An invocation writes words of memory, each a workgroup's invocations apart from the next, as `packed/pack.comp` does.
//
// An index beyond the source yields 0, without a read.
//
// Dispatch: a workgroup for each UNITS_PER_INVOCATION * WORKGROUP_SIZE words of memory that hold an element.
// Reads:    source, source_count elements, of which the indexed ones are read, in whole words of memory; indices, count
//           words; indirect_count where it is not null.
// Writes:   destination, count elements, of any address.
// Shared:   nothing.
// Limits:   2^32 - 2^20 elements, so that a tile's are 32-bit numbers.
// Pass model: none; the first line says the result.
// Source:   He, Govindaraju, Luo and Smith, "Efficient Gather and Scatter Operations on Graphics Processors", SC
//           2007: the coalescing of its reads decides the cost of a gather.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/address.glsl"
#include "common/dispatch.glsl"
#include "common/packed.glsl"

layout(constant_id = ID_UNITS_PER_INVOCATION) const uint UNITS_PER_INVOCATION = 1;

layout(push_constant, std430) uniform Push {
    Words source;
    Words indices;
    Words destination;
    Words indirect_count;
    uint count;
    uint source_count;
} push;

void main() {
    uvec2 address = uvec2(push.destination);
    uint before = elements_before(address);
    uint count = count_of(push.count, push.indirect_count);
    uint tile = workgroup_index();
    uint tile_words = UNITS_PER_INVOCATION * WORKGROUP_SIZE;
    if (tile >= ceil_div(before + count, tile_words * PACKED_PER_WORD)) {
        return;
    }
    Words memory = advance_words(word_before(address), tile, tile_words);
    [[unroll]] for (uint unit = 0; unit < UNITS_PER_INVOCATION; unit++) {
        uint word = unit * WORKGROUP_SIZE + gl_LocalInvocationIndex;
        uint bits = 0;
        uint mask = 0;
        [[unroll]] for (uint i = 0; i < PACKED_PER_WORD; i++) {
            // Below 0 for those before the destination, which as an unsigned number is no less than the count.
            uint element = (tile * tile_words + word) * PACKED_PER_WORD + i - before;
            if (element < count) {
                uint index = advance_words(push.indices, element, 1).word[0];
                bits |= (index < push.source_count ? packed_at(push.source, index) : 0) << i * PACKED_BITS;
                mask |= PACKED_MASK << i * PACKED_BITS;
            }
        }
        store_packed(memory, word, bits, mask);
    }
}
