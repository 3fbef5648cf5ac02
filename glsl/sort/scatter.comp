// Moves the keys of each tile to their places in the order of one digit, stably, and a value with each.
//
// Dispatch: tile_count workgroups.
// Reads:    keys, element_count keys; values, as many values, or null: then a value is the key's place; offsets,
//           RADIX * tile_count words: the exclusive scan of the counts.
// Writes:   sorted, element_count keys, and sorted_values, as many values (both only with VALUE_WORDS); neither may
//           overlap what is read.
// Shared:   the ranking's, and RADIX words.
// CPU twin: reference::sort::scatter.
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

layout(push_constant, std430) uniform Push {
    Words keys;
    Words sorted;
    Words values;
    Words sorted_values;
    Words offsets;
    uint tile_count;
    // Keys in the last tile; all others are full.
    uint last_extent;
    uint shift;
    uint digit_mask;
} push;

void main() {
    uint tile = workgroup_index();
    if (tile >= push.tile_count) {
        return;
    }
    uint extent = tile + 1 < push.tile_count ? TILE_ITEMS : push.last_extent;
    Digit digit = Digit(push.shift, push.digit_mask);

    load_items(advance_words(push.keys, tile, TILE_ITEMS * KEY_WORDS), extent);
    rank_items(digit, extent);
    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation_index() * OWN_DIGITS + k;
        if (d < RADIX) {
            uint offset = push.offsets.word[count_index(d, tile, push.tile_count)];
            s_digit_offset[d] = offset - first_of_digit(d);
        }
    }

    bool are_places = all(equal(uvec2(push.values), uvec2(0)));
    Values values = Values(push.values, push.sorted_values, are_places);
    move_items(push.sorted, values, tile * TILE_ITEMS, digit, extent);
}
