// Moves the keys of each tile to their places in the order of one digit, stably, and a value with each; with LISTED within
// the long segments that tiles are of.
//
// Dispatch: tile_count workgroups; with LISTED those of its schedule, which may be none.
// Reads:    keys, element_count keys; values, as many values, or null: then a value is the key's place; offsets,
//           RADIX * tile_count words: the exclusive scan of the counts. With LISTED tiles, as many as schedule counts,
//           and the long_segments that they are of; schedule.
// Writes:   sorted, element_count keys, and sorted_values, as many values (both only with VALUE_WORDS); neither may
//           overlap what is read. With LISTED those of the segments.
// Shared:   the ranking's, and RADIX words.
// CPU twin: reference::sort::scatter, and with LISTED reference::sort::segments::scatter.
// Source:   tutorial 13, cmk_radix_bucket.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef RANK_BY_MATCH
#include "sort/rank_by_match.glsl"
#else
#include "sort/rank_by_counters.glsl"
#endif
#include "sort/move.glsl"
#ifdef LISTED
#include "sort/segments.glsl"
#endif

layout(push_constant, std430) uniform Push {
    Words keys;
    Words sorted;
    Words values;
    Words sorted_values;
    Words offsets;
#ifdef LISTED
    Words tiles;
    Words long_segments;
    Words schedule;
#else
    uint tile_count;
    // Keys in the last tile; all others are full.
    uint last_extent;
#endif
    uint shift;
    uint digit_mask;
} push;

void main() {
#ifdef LISTED
    if (workgroup_index() >= push.schedule.word[SCHEDULED]) {
        return;
    }
    SegmentTile listed = load_segment_tile(push.tiles, push.long_segments, workgroup_index(), TILE_ITEMS);
    uint extent = listed.extent;
    // Counts of all segments are scanned together: what lies before a segment's own is not of it.
    Words offsets = advance_words(push.offsets, listed.first_tile, RADIX);
    uint before = offsets.word[0] - listed.begin;
#else
    uint tile = workgroup_index();
    if (tile >= push.tile_count) {
        return;
    }
    uint extent = tile + 1 < push.tile_count ? TILE_ITEMS : push.last_extent;
#endif
    Digit digit = Digit(push.shift, push.digit_mask);

#ifdef LISTED
    load_items(advance_words(push.keys, listed.first_place, KEY_WORDS), extent);
#else
    load_items(advance_words(push.keys, tile, TILE_ITEMS * KEY_WORDS), extent);
#endif
    rank_items(digit, extent);
    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation_index() * OWN_DIGITS + k;
        if (d < RADIX) {
#ifdef LISTED
            uint offset = offsets.word[count_index(d, listed.tile, listed.tile_count)] - before;
#else
            uint offset = push.offsets.word[count_index(d, tile, push.tile_count)];
#endif
            s_digit_offset[d] = offset - first_of_digit(d);
        }
    }

    bool are_places = all(equal(uvec2(push.values), uvec2(0)));
    Values values = Values(push.values, push.sorted_values, are_places);
#ifdef LISTED
    move_items(push.sorted, values, listed.first_place, digit, extent);
#else
    move_items(push.sorted, values, tile * TILE_ITEMS, digit, extent);
#endif
}
