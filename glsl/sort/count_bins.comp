// Counts the digits of each tile, of up to 8 bits, in shared memory.
//
// Dispatch: tile_count workgroups.
// Reads:    keys, element_count keys.
// Writes:   counts, RADIX * tile_count words, digit-major.
// Shared:   RADIX words.
// CPU twin: reference::sort::count_bins.
// Source:   the histograms of Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, ch. 9.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "sort/tile.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
    Words counts;
    uint tile_count;
    // Keys in the last tile; all others are full.
    uint last_extent;
    uint shift;
    uint digit_mask;
} push;

shared uint s_bins[RADIX];

void main() {
    uint tile = workgroup_index();
    if (tile >= push.tile_count) {
        return;
    }
    uint extent = tile + 1 < push.tile_count ? TILE_ITEMS : push.last_extent;
    Words keys = advance_words(push.keys, tile, TILE_ITEMS * KEY_WORDS);

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
            push.counts.word[count_index(d, tile, push.tile_count)] = s_bins[d];
        }
    }
}
