// Counts the digits of each tile, of up to 8 bits, in shared memory; with LISTED of tiles of long segments.
//
// Dispatch: tile_count workgroups; with LISTED those of its schedule, which may be none.
// Reads:    keys, element_count keys; with LISTED tiles, as many as schedule counts, and the long_segments that they are
//           of; schedule.
// Writes:   counts, RADIX * tile_count words, digit-major; with LISTED segment by segment.
// Shared:   RADIX words.
// CPU twin: reference::sort::count_bins, and with LISTED reference::sort::segments::count_bins.
// Source:   the histograms of Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, ch. 9.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef LISTED
#include "sort/segments.glsl"
#endif
#include "sort/tile.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
    Words counts;
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

#ifdef LISTED
#define COUNT(d, tile) \
    advance_words(push.counts, listed.first_tile, RADIX).word[count_index(d, tile, listed.tile_count)]
#else
#define COUNT(d, tile) push.counts.word[count_index(d, tile, push.tile_count)]
#endif

shared uint s_bins[RADIX];

void main() {
#ifdef LISTED
    if (workgroup_index() >= push.schedule.word[SCHEDULED]) {
        return;
    }
    SegmentTile listed = load_segment_tile(push.tiles, push.long_segments, workgroup_index(), TILE_ITEMS);
    uint tile = listed.tile;
    uint extent = listed.extent;
    Words keys = advance_words(push.keys, listed.first_place, KEY_WORDS);
#else
    uint tile = workgroup_index();
    if (tile >= push.tile_count) {
        return;
    }
    uint extent = tile + 1 < push.tile_count ? TILE_ITEMS : push.last_extent;
    Words keys = advance_words(push.keys, tile, TILE_ITEMS * KEY_WORDS);
#endif

    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation_index() * OWN_DIGITS + k;
        if (d < RADIX) {
            s_bins[d] = 0;
        }
    }
    barrier();
    // Order does not matter to a count: neighbours load neighbouring keys.
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (place_after(i) < extent) {
            atomicAdd(s_bins[digit_of(load_key(keys, place_after(i)), push.shift, push.digit_mask)], 1u);
        }
    }
    barrier();
    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation_index() * OWN_DIGITS + k;
        if (d < RADIX) {
            COUNT(d, tile) = s_bins[d];
        }
    }
}
