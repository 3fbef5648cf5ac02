// Counts the digits of each tile, of up to 8 bits, in shared memory.
//
// Dispatch: the workgroups of its schedule.
// Reads:    an array of keys, as the schedule says: all of them; schedule.
// Writes:   counts, RADIX * tile_count words, digit-major.
// Shared:   RADIX words.
// CPU twin: reference::sort::count_bins.
// Source:   the histograms of Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, ch. 9.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "sort/schedule.glsl"
#include "sort/tile.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
    Words keys_aside;
    Words keys_other;
    Words counts;
    Words schedule;
    uint shift;
    uint digit_mask;
} push;

shared uint s_bins[RADIX];

void main() {
    uint tile = workgroup_index();
    Scheduled pass = load_schedule(push.schedule);
    if (tile >= pass.tile_count) {
        return;
    }
    uint extent = tile_extent(pass, tile, TILE_ITEMS);
    Words all_keys = array_of(pass.route.keys_from, push.keys, push.keys_aside, push.keys_other);
    Words keys = advance_words(all_keys, tile, TILE_ITEMS * KEY_WORDS);

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
            push.counts.word[count_index(d, tile, pass.tile_count)] = s_bins[d];
        }
    }
}
