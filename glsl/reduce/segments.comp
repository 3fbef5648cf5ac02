// Reduction of segments from the sums of aligned groups of rows.
//
// A level has a row for each aligned group of GROUP_ROWS rows of the level below: level 0 is the source. A segment is
// the rows before its first whole group, its whole groups, and the rows after its last one. The groups are rows of the
// next level, and so on; a segment without a whole group ends there. So a segment of any length takes fewer than
// 2 * GROUP_ROWS rows of each level, by one invocation, and its order of operations depends on its first and last row
// alone. With PACKED_ROWS the rows of the source have elements of 8 or 16 bits, and so have the rows of the results unless these
// are unpacked; all levels above are words.
//
//   level 0   | . . a a | a a a a | a a a a | a a . . |      rows of the segment: front 2, back 2
//   level 1             |    A         A    |                two whole groups
//
// Dispatch: an invocation for each column of each segment.
// Reads:    source, the rows; sums, the levels above it up to level_count, one after the other, each as large as for
//           row_count rows; offsets, a word for each segment: its first row; ends, likewise the row at which it ends, or
//           null: then offsets ascend, and a segment ends at the next one, the last with the rows; indirect_count, the
//           number of rows, and indirect_segments, the number of segments, where they are not null.
// Writes:   results, a row for each segment; the identity for one without rows. Of a packed result its bytes alone, by two atomic
//           operations, since its neighbours in the word are of other invocations.
// Shared:   nothing.
// Pass model: reference::passes::reduce::reduce_segments.
// Source:   the levels are a range tree; Blelloch, "Prefix Sums and Their Applications", CMU-CS-90-190, 1990, has the
//           up-sweep that makes them.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/dispatch.glsl"
#include "common/grid.glsl"
#include "common/tiles.glsl"
#include "reduce/padding.glsl"

layout(push_constant, std430) uniform Push {
    Words source;
    Words sums;
    Words offsets;
    Words ends;
    Words results;
    Words indirect_count;
    Words indirect_segments;
    uint row_count;
    uint segment_count;
    uint column_count;
    uint level_count;
#ifdef FUNCTIONS
    Words data;
#endif
} push;

const uint GROUP_ROWS = 32;

// `total`, and the rows `begin` to `end` of a column at `words` after it, in order; with PACKED_ROWS level 0 is read from the
// source itself. The lanes of a subgroup leave the loop together: some drivers mix up what lanes load that leave one by one.
Element add_rows(Element total, uint level, uint column, Words words, uint begin, uint end) {
    uint stride = push.column_count * ELEMENT_WORDS;
#ifdef SOURCE_WORDS
    // An element of functions is a row, so that level 0 is at its first column.
    bool transforms = level == 0;
    if (transforms) {
        stride = SOURCE_WORDS;
    }
#endif
#ifdef PACKED_ROWS
    Words elements = advance_source(push.source, begin, stride);
#endif
    words = advance_words(words, begin, stride);
    uint count = end - begin;
    for (uint i = 0; subgroupAny(i < count); i++) {
        if (i < count) {
#if defined SOURCE_WORDS
            if (transforms) {
                total = combine(total, transformed(words, i, begin + i, push.data));
            } else
#elif defined PACKED_ROWS
            if (level == 0) {
                total = combine(total, from_memory(load_entry(elements, i * stride + column)));
            } else
#endif
            total = combine(total, from_memory(load_words(words, i * stride)));
        }
    }
    return total;
}

void main() {
    uint index = workgroup_index() * WORKGROUP_SIZE + invocation_index();
    uint segment = index / push.column_count;
    uint column = index % push.column_count;
    uint segment_count = count_of(push.segment_count, push.indirect_segments);
    uint row_count = count_of(push.row_count, push.indirect_count);
    bool is_segment = workgroup_index() <= (push.segment_count * push.column_count - 1) / WORKGROUP_SIZE
        && segment < segment_count;
    uint begin = 0;
    uint end = 0;
    if (is_segment) {
        Words offsets = advance_words(push.offsets, segment, 1);
        begin = min(offsets.word[0], row_count);
        end = row_count;
        if (!is_null(push.ends)) {
            end = min(advance_words(push.ends, segment, 1).word[0], row_count);
        } else if (segment + 1 < segment_count) {
            end = min(offsets.word[1], row_count);
        }
        // Offsets that descend, and ends before their offsets.
        end = max(begin, end);
    }

    // As numbers: SwiftShader fails to compile a pointer that changes from iteration to iteration.
    uvec2 sums = uvec2(advance_words(push.sums, column, ELEMENT_WORDS));
#ifdef PACKED_ROWS
    uvec2 words = sums;
#else
    uvec2 words = uvec2(advance_words(push.source, column, ELEMENT_WORDS));
#endif
    uint sum_count = ceil_div(push.row_count, GROUP_ROWS);
    Element front = padding();
    Element back = padding();
    for (uint level = 0; level <= push.level_count; level++) {
        uint first_group = ceil_div(begin, GROUP_ROWS);
        uint end_group = end / GROUP_ROWS;
        bool has_groups = level < push.level_count && first_group < end_group;
        uint front_end = has_groups ? first_group * GROUP_ROWS : end;
        uint back_begin = has_groups ? end_group * GROUP_ROWS : end;
        front = add_rows(front, level, column, Words(words), begin, front_end);
        back = combine(add_rows(padding(), level, column, Words(words), back_begin, end), back);
        begin = has_groups ? first_group : 0;
        end = has_groups ? end_group : 0;
        words = sums;
        sums = advance(sums, sum_count, push.column_count * ELEMENT_WORDS * 4);
        sum_count = ceil_div(sum_count, GROUP_ROWS);
    }
    if (is_segment) {
        Element total = settled(combine(front, back));
#ifdef RESULT_WORDS
        store_result(push.results, segment, total, segment, push.data);
#else
        Words results = advance_results(push.results, segment, push.column_count * ELEMENT_WORDS);
        store_entry(results, column * ELEMENT_WORDS, to_memory(total));
#endif
    }
}
