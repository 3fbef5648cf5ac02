// Stable scatter of each tile's keys, and of their values, by one digit; with SEGMENTED within the long segments, by
// the segment tile queue.
//
// Dispatch: the workgroups of dispatch_args, which may be none.
// Reads:    one of keys, keys_alt and keys_alt2, and one of values and values_alt, as dispatch_args selects: all
//           elements, or instead of values the keys' indices; offsets, RADIX * tile_count words: the exclusive prefix
//           sum of the counts; dispatch_args. With SEGMENTED keys; values, or null: then a value is its key's index;
//           tiles, as many as dispatch_args counts; the long_segments of these tiles; offsets and dispatch_args; indices
//           are masked as in short_segments.comp.
// Writes:   another of these buffers of keys, unless NO_LAST_KEYS, and of values (only with VALUE_WORDS); with
//           SEGMENTED sorted, unless it is null, and sorted_values, the elements of the segments.
// Shared:   the ranking's, and RADIX words.
// Pass model: reference::passes::sort::scatter, and with SEGMENTED reference::passes::segmented_sort::scatter.
// Source:   tutorial 13, cmk_radix_bucket.

#version 460
#extension GL_GOOGLE_include_directive : require
#define NARROW_OFFSETS
#include "sort/tile_scatter.glsl"

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
#ifdef SEGMENTED
    // All bits, or 0 for indices within a segment.
    uint begin_mask;
#endif
} push;

#include "sort/pass_tile.glsl"

#ifdef SEGMENTED
#define OFFSETS advance_words(push.offsets, tile.first_tile, RADIX)
// Counts of all segments are scanned together: subtracts the counts of the segments before.
#define BEFORE (offsets.word[0] - tile.begin)
#define KEYS push.keys
#define SORTED push.sorted
#define VALUES Values(push.values, push.sorted_values, is_null(push.values))
#define FIRST_VALUE (tile.first_index - (values.are_indices ? tile.begin & ~push.begin_mask : 0))
#else
#define OFFSETS push.offsets
#define BEFORE 0
#define KEYS KEYS_FROM
#define SORTED KEYS_TO
#define VALUES values_of(pass.ping_pong, push.values, push.values_alt)
#define FIRST_VALUE tile.first_index
#endif

void main() {
    if (workgroup_index() >= TILE_COUNT) {
        return;
    }
    PassTile tile = tile_of_workgroup();
    Words offsets = OFFSETS;
    uint before = BEFORE;
    Words keys = KEYS;
    Words sorted = SORTED;
    Values values = VALUES;
    Digit digit = Digit(push.shift, push.digit_mask);

    load_tile(advance_keys(keys, tile.first_index, 1), tile.extent, key_words);
    count_tile(digit, tile.extent);
    rank_tile(digit);
    FOR_EACH_BIN(k) {
        uint offset = offsets.word[count_index(bin_index(k), tile.index, tile.count)] - before;
        set_bin_offset(k, uvec2(offset, 0));
    }
    barrier();
    if (EXCHANGE) {
        scatter_to_shared(key_words[0]);
        barrier();
    }
    load_values(values, uvec2(FIRST_VALUE, 0), tile.extent);
    store_keys(sorted, digit, tile.extent);
    store_values(values, tile.extent);
}
