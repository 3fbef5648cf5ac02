// Counts the digits of each tile, of up to 8 bits, in shared memory; with LISTED of tiles of long segments.
//
// Dispatch: the workgroups of its schedule, which may be none.
// Reads:    an array of keys, as the schedule says: all of them; with LISTED keys, tiles, as many as schedule counts, and
//           the long_segments that they are of; schedule.
// Writes:   counts, RADIX * tile_count words, digit-major; with LISTED segment by segment.
// Shared:   RADIX words.
// Pass model: reference::passes::sort::tile_counts, and with LISTED reference::passes::segmented_sort::tile_counts.
// Source:   the histograms of Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, ch. 9.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef LISTED
#include "sort/segments.glsl"
#endif
#include "sort/schedule.glsl"
#include "sort/tile.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
#ifndef LISTED
    Words keys_aside;
    Words keys_other;
#endif
    Words counts;
#ifdef LISTED
    Words tiles;
    Words long_segments;
#endif
    Words schedule;
    uint shift;
    uint digit_mask;
} push;

shared uint s_bins[RADIX];

void main() {
#ifdef LISTED
    if (workgroup_index() >= push.schedule.word[SCHEDULED]) {
        return;
    }
    SegmentTile listed = load_segment_tile(push.tiles, push.long_segments, workgroup_index(), TILE_ITEMS);
    uint tile = listed.tile;
    uint tile_count = listed.tile_count;
    uint extent = listed.extent;
    Words counts = advance_words(push.counts, listed.first_tile, RADIX);
    Words keys = advance_words(push.keys, listed.first_place, KEY_WORDS);
#else
    uint tile = workgroup_index();
    Scheduled pass = load_schedule(push.schedule);
    if (tile >= pass.tile_count) {
        return;
    }
    uint tile_count = pass.tile_count;
    uint extent = tile_extent(pass, tile, TILE_ITEMS);
    Words counts = push.counts;
    Words all_keys = array_of(pass.route.keys_from, push.keys, push.keys_aside, push.keys_other);
    Words keys = advance_words(all_keys, tile, TILE_ITEMS * KEY_WORDS);
#endif

    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        uint d = bin_index(k);
        if (d < RADIX) {
            s_bins[d] = 0;
        }
    }
    barrier();
    // Order does not matter to a count: neighbours load neighbouring keys.
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (striped_index(i) < extent) {
            atomicAdd(s_bins[digit_of(load_key(keys, striped_index(i)), push.shift, push.digit_mask)], 1u);
        }
    }
    barrier();
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        uint d = bin_index(k);
        if (d < RADIX) {
            counts.word[count_index(d, tile, tile_count)] = s_bins[d];
        }
    }
}
