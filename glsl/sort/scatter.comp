// Stable scatter of each tile's keys, and of their values, by one digit; with SEGMENTED within the long segments, by
// the segment tile queue.
//
// Dispatch: the workgroups of dispatch_args, which may be none.
// Reads:    one of keys, keys_alt and keys_alt2, and one of values and values_alt, as dispatch_args selects: all
//           elements, or instead of values the keys' indices; offsets, RADIX * tile_count words: the exclusive prefix
//           sum of the counts; dispatch_args. With SEGMENTED keys; values, or null: then a value is its key's index;
//           tiles, as many as dispatch_args counts; the long_segments of these tiles; offsets and dispatch_args.
// Writes:   another of these buffers of keys, and of values (only with VALUE_WORDS); with SEGMENTED sorted and
//           sorted_values, the elements of the segments.
// Shared:   the ranking's, and RADIX words.
// Pass model: reference::passes::sort::scatter, and with SEGMENTED reference::passes::segmented_sort::scatter.
// Source:   tutorial 13, cmk_radix_bucket.

#version 460
#extension GL_GOOGLE_include_directive : require
#define NARROW_OFFSETS
#include "sort/tile_scatter.glsl"
#ifdef SEGMENTED
#include "sort/segments.glsl"
#endif

layout(push_constant, std430) uniform Push {
    Words keys;
#ifdef SEGMENTED
    Words sorted;
    Words values;
    Words sorted_values;
#else
    Words keys_alt;
    Words keys_alt2;
    Words values;
    Words values_alt;
#endif
    Words offsets;
#ifdef SEGMENTED
    Words tiles;
    Words long_segments;
#endif
    Words dispatch_args;
    uint shift;
    uint digit_mask;
} push;

void main() {
#ifdef SEGMENTED
    if (workgroup_index() >= push.dispatch_args.word[ARGS_TILE_COUNT]) {
        return;
    }
    SegmentTile segment_tile = load_segment_tile(push.tiles, push.long_segments, workgroup_index(), TILE_ITEMS);
    uint tile = segment_tile.tile;
    uint tile_count = segment_tile.tile_count;
    uint extent = segment_tile.extent;
    // Counts of all segments are scanned together: subtracts the counts of the segments before.
    Words offsets = advance_words(push.offsets, segment_tile.first_tile, RADIX);
    uint before = offsets.word[0] - segment_tile.begin;
    uint first_index = segment_tile.first_index;
    Words keys = push.keys;
    Words sorted = push.sorted;
    Values values = Values(push.values, push.sorted_values, is_null(push.values));
#else
    uint tile = workgroup_index();
    PassArgs pass = load_pass_args(push.dispatch_args);
    if (tile >= pass.tile_count) {
        return;
    }
    uint tile_count = pass.tile_count;
    uint extent = tile_extent(pass, tile, TILE_ITEMS);
    Words offsets = push.offsets;
    const uint before = 0;
    uint first_index = tile * TILE_ITEMS;
    Words keys = buffer_of(pass.ping_pong.keys_from, push.keys, push.keys_alt, push.keys_alt2);
    Words sorted = buffer_of(pass.ping_pong.keys_to, push.keys, push.keys_alt, push.keys_alt2);
    Values values = values_of(pass.ping_pong, push.values, push.values_alt);
#endif
    Digit digit = Digit(push.shift, push.digit_mask);

    load_tile(advance_words(keys, first_index, KEY_WORDS), extent);
    count_tile(digit, extent);
    rank_tile(digit);
    FOR_EACH_BIN(k) {
        uint offset = offsets.word[count_index(bin_index(k), tile, tile_count)] - before;
        set_bin_offset(k, uvec2(offset, 0));
    }
    barrier();
    if (EXCHANGE) {
        scatter_to_shared(key_words[0]);
        barrier();
    }
#if VALUE_WORDS > 0
    load_values(values, uvec2(first_index, 0), extent);
#endif
    store_keys(sorted, digit, extent);
#if VALUE_WORDS > 0
    store_values(values, extent);
#endif
}
