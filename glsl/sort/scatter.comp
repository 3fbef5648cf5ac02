// Moves the keys of each tile to their places in the order of one digit, stably, and a value with each.
//
// Dispatch: the workgroups of its schedule.
// Reads:    an array of keys and one of values, as the schedule says: all of them, or instead of values the keys' places;
//           offsets, RADIX * tile_count words: the exclusive scan of the counts; schedule.
// Writes:   another array of keys, and of values (only with VALUE_WORDS).
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
    Words keys_aside;
    Words keys_other;
    Words values;
    Words values_aside;
    Words offsets;
    Words schedule;
    uint shift;
    uint digit_mask;
} push;

void main() {
    uint tile = workgroup_index();
    Scheduled pass = load_schedule(push.schedule);
    if (tile >= pass.tile_count) {
        return;
    }
    uint extent = tile_extent(pass, tile, TILE_ITEMS);
    Words keys = array_of(pass.route.keys_from, push.keys, push.keys_aside, push.keys_other);
    Words sorted = array_of(pass.route.keys_to, push.keys, push.keys_aside, push.keys_other);
    Digit digit = Digit(push.shift, push.digit_mask);

    load_items(advance_words(keys, tile, TILE_ITEMS * KEY_WORDS), extent);
    rank_items(digit, extent);
    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation_index() * OWN_DIGITS + k;
        if (d < RADIX) {
            uint offset = push.offsets.word[count_index(d, tile, pass.tile_count)];
            s_digit_offset[d] = offset - first_of_digit(d);
        }
    }

    Values values = values_of(pass.route, push.values, push.values_aside);
    move_items(sorted, values, tile * TILE_ITEMS, digit, extent);
}
