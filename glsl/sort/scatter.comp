// Moves the keys of each tile to their places in the order of one digit, stably, and a value with each; with LISTED within
// the long segments that tiles are of.
//
// Dispatch: the workgroups of its schedule, which may be none.
// Reads:    an array of keys and one of values, as the schedule says: all of them, or instead of values the keys' places;
//           offsets, RADIX * tile_count words: the exclusive scan of the counts; schedule. With LISTED keys, and values or
//           null: then a value is the key's place; tiles, as many as schedule counts, and the long_segments that they are
//           of.
// Writes:   another array of keys, and of values (only with VALUE_WORDS); with LISTED sorted and sorted_values, those of
//           the segments.
// Shared:   the ranking's, and RADIX words.
// Pass model: reference::passes::sort::scatter, and with LISTED reference::passes::segmented_sort::scatter.
// Source:   tutorial 13, cmk_radix_bucket.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef RANK_BY_MATCH
#include "sort/rank_by_match.glsl"
#else
#include "sort/rank_by_counters.glsl"
#endif
#define NARROW_OFFSETS
#include "sort/tile_scatter.glsl"
#ifdef LISTED
#include "sort/segments.glsl"
#endif

layout(push_constant, std430) uniform Push {
    Words keys;
#ifdef LISTED
    Words sorted;
    Words values;
    Words sorted_values;
#else
    Words keys_aside;
    Words keys_other;
    Words values;
    Words values_aside;
#endif
    Words offsets;
#ifdef LISTED
    Words tiles;
    Words long_segments;
#endif
    Words schedule;
    uint shift;
    uint digit_mask;
} push;

void main() {
#ifdef LISTED
    if (workgroup_index() >= push.schedule.word[SCHEDULED]) {
        return;
    }
    SegmentTile listed = load_segment_tile(push.tiles, push.long_segments, workgroup_index(), TILE_ITEMS);
    uint tile = listed.tile;
    uint tile_count = listed.tile_count;
    uint extent = listed.extent;
    // Counts of all segments are scanned together: what lies before a segment's own is not of it.
    Words offsets = advance_words(push.offsets, listed.first_tile, RADIX);
    uint before = offsets.word[0] - listed.begin;
    uint first_place = listed.first_place;
    Words keys = push.keys;
    Words sorted = push.sorted;
    Values values = Values(push.values, push.sorted_values, is_null(push.values));
#else
    uint tile = workgroup_index();
    Scheduled pass = load_schedule(push.schedule);
    if (tile >= pass.tile_count) {
        return;
    }
    uint tile_count = pass.tile_count;
    uint extent = tile_extent(pass, tile, TILE_ITEMS);
    Words offsets = push.offsets;
    const uint before = 0;
    uint first_place = tile * TILE_ITEMS;
    Words keys = array_of(pass.route.keys_from, push.keys, push.keys_aside, push.keys_other);
    Words sorted = array_of(pass.route.keys_to, push.keys, push.keys_aside, push.keys_other);
    Values values = values_of(pass.route, push.values, push.values_aside);
#endif
    Digit digit = Digit(push.shift, push.digit_mask);

    load_tile(advance_words(keys, first_place, KEY_WORDS), extent);
    count_tile(digit, extent);
    rank_tile(digit);
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        if (bin_index(k) < RADIX) {
            uint offset = offsets.word[count_index(bin_index(k), tile, tile_count)] - before;
            set_bin_offset(k, uvec2(offset, 0));
        }
    }
    barrier();
    if (EXCHANGE) {
        scatter_to_shared(key_words[0]);
        barrier();
    }
#if VALUE_WORDS > 0
    load_values(values, uvec2(first_place, 0), extent);
#endif
    store_keys(sorted, digit, extent);
#if VALUE_WORDS > 0
    store_values(values, extent);
#endif
}
