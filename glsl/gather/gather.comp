// Gather: destination[i] = source[indices[i]].
//
// An element is UNITS_PER_ELEMENT units of UNIT_WORDS words, each copied by one access. Neighbouring invocations
// write neighbouring units of the destination, and read neighbouring units within an element. A tile is as many whole
// elements as fit a workgroup's units, at least one; an element of more units is copied in parts.
//
//   tile of small elements   | element 0: unit 0, unit 1, … | element 1: unit 0, unit 1, … | … | unused units |
//   tile of one large one    | part 0 | part 1 | … | last part, partial |         one workgroup per part
//
// An index beyond the source yields an element of zeros, without a read, or with KEEPS_OTHERS leaves the destination's. With
// IN_ORDER it is a copy of the first elements.
//
// Dispatch: PARTS_PER_ELEMENT workgroups for each of tile_count tiles.
// Reads:    source, source_count elements, of which the indexed ones are read; indices, element_count words, unless
//           IN_ORDER; indirect_tiles, tile_count and last_extent, where it is not null.
// Writes:   destination, element_count elements.
// Shared:   nothing.
// Limits:   an element is less than 2^29 words.
// Pass model: none; the first line says the result.
// Source:   He, Govindaraju, Luo and Smith, "Efficient Gather and Scatter Operations on Graphics Processors", SC
//           2007: the coalescing of its reads decides the cost of a gather.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/address.glsl"
#include "common/dispatch.glsl"
#include "common/tiles.glsl"

// 1, 2 or 4: source and destination are aligned to as many words.
layout(constant_id = ID_UNIT_WORDS) const uint UNIT_WORDS = 1;
// A constant, so that the compiler divides by multiplication.
layout(constant_id = ID_UNITS_PER_ELEMENT) const uint UNITS_PER_ELEMENT = 1;
layout(constant_id = ID_TILE_ELEMENTS) const uint TILE_ELEMENTS = 1;
layout(constant_id = ID_PARTS_PER_ELEMENT) const uint PARTS_PER_ELEMENT = 1;
layout(constant_id = ID_UNITS_PER_INVOCATION) const uint UNITS_PER_INVOCATION = 1;
// destination[i] = source[i].
layout(constant_id = ID_IN_ORDER) const bool IN_ORDER = false;
// An index beyond the source leaves its element as it was.
layout(constant_id = ID_KEEPS_OTHERS) const bool KEEPS_OTHERS = false;

const uint ELEMENT_WORDS = UNITS_PER_ELEMENT * UNIT_WORDS;

layout(buffer_reference, std430, buffer_reference_align = 8) buffer Pairs {
    uvec2 pair[];
};

layout(push_constant, std430) uniform Push {
    Words source;
    Words indices;
    Words destination;
    Words indirect_tiles;
    uint tile_count;
    // Elements in the last tile; all others are full.
    uint last_extent;
    uint source_count;
} push;

// The words of a unit, followed by zeros.
uvec4 load_unit(Words words, uint unit) {
    if (UNIT_WORDS == 4) {
        return Quads(uvec2(words)).quad[unit];
    }
    if (UNIT_WORDS == 2) {
        return uvec4(Pairs(uvec2(words)).pair[unit], 0, 0);
    }
    return uvec4(words.word[unit], 0, 0, 0);
}

void store_unit(Words words, uint unit, uvec4 value) {
    if (UNIT_WORDS == 4) {
        Quads(uvec2(words)).quad[unit] = value;
    } else if (UNIT_WORDS == 2) {
        Pairs(uvec2(words)).pair[unit] = value.xy;
    } else {
        words.word[unit] = value.x;
    }
}

void main() {
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    uint tile = workgroup_index() / PARTS_PER_ELEMENT;
    uint part = workgroup_index() % PARTS_PER_ELEMENT;
    if (tile >= tiles.count) {
        return;
    }
    uint unit_count = (tile + 1 < tiles.count ? TILE_ELEMENTS : tiles.last_extent) * UNITS_PER_ELEMENT;
    Words indices = advance_words(push.indices, tile, TILE_ELEMENTS);
    Words destination = advance_words(push.destination, tile, TILE_ELEMENTS * ELEMENT_WORDS);
    uint first = part * UNITS_PER_INVOCATION * WORKGROUP_SIZE + gl_LocalInvocationIndex;

    // All loads precede the first store, so that they are in flight together: the compiler cannot move a load before
    // a store that may alias it.
    uint sources[UNITS_PER_INVOCATION];
    [[unroll]] for (uint k = 0; k < UNITS_PER_INVOCATION; k++) {
        uint unit = first + k * WORKGROUP_SIZE;
        if (unit < unit_count) {
            uint element = unit / UNITS_PER_ELEMENT;
            sources[k] = IN_ORDER ? tile * TILE_ELEMENTS + element : indices.word[element];
        }
    }
    uvec4 values[UNITS_PER_INVOCATION];
    [[unroll]] for (uint k = 0; k < UNITS_PER_INVOCATION; k++) {
        uint unit = first + k * WORKGROUP_SIZE;
        values[k] = uvec4(0);
        if (unit < unit_count && sources[k] < push.source_count) {
            Words element = advance_words(push.source, sources[k], ELEMENT_WORDS);
            values[k] = load_unit(element, unit % UNITS_PER_ELEMENT);
        }
    }
    [[unroll]] for (uint k = 0; k < UNITS_PER_INVOCATION; k++) {
        uint unit = first + k * WORKGROUP_SIZE;
        if (unit < unit_count && (!KEEPS_OTHERS || sources[k] < push.source_count)) {
            store_unit(destination, unit, values[k]);
        }
    }
}
