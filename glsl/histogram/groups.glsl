// The values of a tile of a histogram in groups: a group has four for each invocation of the workgroup.
//
// Before it is included: the constants of `count.comp`, Value, with PACKED `common/packed.glsl`, with FUNCTIONS
// `common/called.glsl`, push.source and push.data.

// Whether the same words of all quads are of half of the columns at most: equal values of many lanes in one counter.
const bool TURNS_QUADS = QUAD_ACCESS && COLUMN_COUNT % 2 == 0;
const uint GROUP_VALUES = 4 * WORKGROUP_SIZE;
// In place of a number of values: all of them exist.
const uint ALL_EXIST = ~0;

bool exists(uint i, uint value_count) {
    return value_count == ALL_EXIST || i < value_count;
}

// With TURNS_QUADS, rotates a quad by the invocation's index modulo 4: neighbours count different columns at a time.
uvec4 turned(uvec4 quad) {
    if (TURNS_QUADS) {
        quad = mix(quad, quad.yzwx, bvec4(gl_LocalInvocationIndex & 1));
        quad = mix(quad, quad.zwxy, bvec4(gl_LocalInvocationIndex & 2));
    }
    return quad;
}

// The positions of an invocation's values in a group: of a quad, or of words that neighbouring invocations load together.
uvec4 positions_in(uint begin) {
    uvec4 k = turned(uvec4(0, 1, 2, 3));
    return QUAD_ACCESS ? begin + 4 * gl_LocalInvocationIndex + k : begin + gl_LocalInvocationIndex + k * WORKGROUP_SIZE;
}

uint load_word(Words source, uint i, uint value_count) {
    if (!exists(i, value_count)) {
        return 0;
    }
    return source.word[i];
}

// Whether all values of a group exist.
bool is_whole(uint begin, uint value_count) {
    return value_count == ALL_EXIST || begin + GROUP_VALUES <= value_count;
}

// The invocation's words of the group that begins at word `begin` of the tile; 0 for those that do not exist.
uvec4 load_words(Words source, uint begin, uint value_count) {
    uvec4 words;
    if (QUAD_ACCESS && is_whole(begin, value_count)) {
        words = turned(Quads(uvec2(source)).quad[begin / 4 + gl_LocalInvocationIndex]);
    } else {
        uvec4 i = positions_in(begin);
        words = uvec4(load_word(source, i.x, value_count), load_word(source, i.y, value_count),
            load_word(source, i.z, value_count), load_word(source, i.w, value_count));
    }
    return words;
}

#if defined FUNCTIONS
// The index of the tile's first element.
uint first_index;

Value load_value(uint i, uint value_count) {
    Value value = Value(0);
    if (exists(i, value_count)) {
        value = computed_key(push.source, first_index + i, push.data);
    }
    return value;
}

// As load_words(), of values that a function of the caller computes.
Values load_group(Words source, uint begin, uint value_count) {
    uvec4 i = positions_in(begin);
    return four_of(load_value(i.x, value_count), load_value(i.y, value_count), load_value(i.z, value_count),
        load_value(i.w, value_count));
}
#elif defined WIDE
Value load_value(Words source, uint i, uint value_count) {
    if (!exists(i, value_count)) {
        return uvec2(0);
    }
    return load_element(source, i);
}

// As load_words(), of two words each.
Values load_group(Words source, uint begin, uint value_count) {
    if (QUAD_ACCESS && is_whole(begin, value_count)) {
        Quads quads = Quads(uvec2(source));
        uint first = (begin / 4 + gl_LocalInvocationIndex) * 2;
        uvec4 earlier = quads.quad[first];
        uvec4 later = quads.quad[first + 1];
        return Values(turned(uvec4(earlier.xz, later.xz)), turned(uvec4(earlier.yw, later.yw)));
    }
    uvec4 i = positions_in(begin);
    return four_of(load_value(source, i.x, value_count), load_value(source, i.y, value_count),
        load_value(source, i.z, value_count), load_value(source, i.w, value_count));
}
#elif defined PACKED
uint load_bits(Words source, uint i, uint value_count) {
    if (!exists(i, value_count)) {
        return 0;
    }
    return packed_at(source, i);
}

// As load_words(), of packed elements.
Values load_group(Words source, uint begin, uint value_count) {
    if (QUAD_ACCESS && is_whole(begin, value_count)) {
        return turned(unpacked_quad(source, begin / 4 + gl_LocalInvocationIndex));
    }
    uvec4 i = positions_in(begin);
    return unpacked(uvec4(load_bits(source, i.x, value_count), load_bits(source, i.y, value_count),
        load_bits(source, i.z, value_count), load_bits(source, i.w, value_count)));
}
#else
#define load_group load_words
#endif
