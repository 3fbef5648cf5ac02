// Moves all keys to their places in the order of one digit in a single pass, stably, and a value with each: every tile
// tells how many of each digit it has, and finds out from earlier tiles where its own go.
//
//   | tile 0: PREFIX | tile 1: PREFIX | tile 2: AGGREGATE | tile 3: nothing yet | tile 4 |
//                            ▲               │ added up            ▲ counted again,     │ looks back, digit by digit
//                            └───────────────┴─────────────────────┴ if it stays silent ┘
//
// Dispatch: tile_count workgroups, in any order; more are left alone.
// Reads:    an array of keys, element_count of them, and one of values, as `sort/route.glsl` says; bins, RADIX words: where
//           the first key of each digit goes; schedule, where it is not null.
// Writes:   another array of keys, and of values; state, which begins as 0: 4 words, and RADIX words for each tile. With
//           COUNTED counts, 4 words, which go on from what they were.
// Shared:   the ranking's, RADIX words and 2 words.
// CPU twin: reference::sort::onesweep.
// Source:   Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022; the fallback is that
//           of Smith, Levien and Owens, "Decoupled Fallback: A Portable Single-Pass GPU Scan", SPAA 2025.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_vote : require
#include "sort/rank_by_match.glsl"
#include "sort/move.glsl"
#include "sort/route.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
    Words keys_aside;
    Words keys_other;
    Words values;
    Words values_aside;
    Words bins;
    Words state;
    Words schedule;
    uint tile_count;
    // Keys in the last tile; all others are full.
    uint last_extent;
    uint shift;
    uint digit_mask;
    // Where there is no schedule.
    uint route;
#ifdef COUNTED
    Words counts;
#endif
} push;

// A word of status for each digit of a tile: nothing yet, or how many keys of the digit the tile has, or how many it and
// all before it have; behind the status, 30 bits of count.
const uint NOT_READY = 0;
const uint AGGREGATE = 1;
const uint PREFIX = 2;
const uint COUNT_BITS = 30;

// How often nothing new is found before a tile is counted in its workgroup's place.
const uint SPIN_LIMIT = 4;

shared uint s_ticket;
// One more than the tile that somebody waits for; 0 if nobody waits.
shared uint s_silent;

#ifdef COUNTED
const uint WINDOWS = 0;
const uint SPINS = 1;
const uint FALLBACKS = 2;
// The workgroups of every so manyth tile tell nothing, as if they had stopped; 0 if all tell.
layout(constant_id = 8) const uint SILENT_EVERY = 0;

void count(uint counter) {
    if (subgroupElect()) {
        atomicAdd(push.counts.word[counter], 1u);
    }
}

bool tells(uint tile) {
    return SILENT_EVERY == 0 || tile % SILENT_EVERY != 0;
}
#else
#define count(counter)
#define tells(tile) true
#endif

Words status_of(uint tile) {
    return advance_words(advance_words(push.state, 1, 4), tile, RADIX);
}

void tell(uint tile, uint digit, uint status, uint keys) {
    atomicMax(status_of(tile).word[digit], status << COUNT_BITS | keys);
}

// What the invocation knows of the keys before its tile, of each digit that it looks after: how many there are from
// tile `end` on; if `end` is 0, of all.
uint before[OWN_DIGITS];
uint end[OWN_DIGITS];

// Looks back until the subgroup knows all, or has found nothing new for a while. Every lane of it must call this.
void look_back() {
    for (uint spins = 0; spins < SPIN_LIMIT;) {
        bool is_waiting = false;
        bool has_found = false;
        [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
            uint d = invocation_index() * OWN_DIGITS + k;
            if (d < RADIX && end[k] > 0) {
                uint word = atomicOr(status_of(end[k] - 1).word[d], 0u);
                uint status = word >> COUNT_BITS;
                if (status == NOT_READY) {
                    is_waiting = true;
                } else {
                    has_found = true;
                    before[k] += word & ((1u << COUNT_BITS) - 1);
                    end[k] = status == PREFIX ? 0 : end[k] - 1;
                }
            }
        }
        count(WINDOWS);
        // All lanes leave together.
        if (!subgroupAny(is_waiting || has_found)) {
            break;
        }
        if (!subgroupAny(has_found)) {
            spins++;
            count(SPINS);
        }
    }
}

// Counts a tile that stays silent, and tells it in its place. All of the workgroup must call it.
void count_silent(Words keys, uint tile, uint extent, Digit digit) {
    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation_index() * OWN_DIGITS + k;
        if (d < RADIX) {
            s_tile[d] = 0;
        }
    }
    barrier();
    Words first = advance_words(keys, tile, TILE_ITEMS * KEY_WORDS);
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (place_after(i) < extent) {
            atomicAdd(s_tile[digit_of(load_key(first, place_after(i)), digit.shift, digit.mask)], 1u);
        }
    }
    barrier();
    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation_index() * OWN_DIGITS + k;
        if (d < RADIX) {
            tell(tile, d, AGGREGATE, s_tile[d]);
            if (end[k] == tile + 1) {
                before[k] += s_tile[d];
                end[k] = tile;
            }
        }
    }
    barrier();
}

void main() {
    if (gl_LocalInvocationIndex == 0) {
        s_ticket = atomicAdd(push.state.word[0], 1u);
        s_silent = 0;
    }
    barrier();
    uint tile = s_ticket;
    uint tile_count = push.tile_count;
    uint last_extent = push.last_extent;
    uint route = push.route;
    if (any(notEqual(uvec2(push.schedule), uvec2(0)))) {
        tile_count = push.schedule.word[3];
        last_extent = push.schedule.word[4];
        route = push.schedule.word[5];
    }
    if (tile >= tile_count) {
        return;
    }
    Words keys = array_of(keys_from(route), push.keys, push.keys_aside, push.keys_other);
    Words sorted = array_of(keys_to(route), push.keys, push.keys_aside, push.keys_other);
    uint extent = tile + 1 < tile_count ? TILE_ITEMS : last_extent;
    Digit digit = Digit(push.shift, push.digit_mask);

    load_items(advance_words(keys, tile, TILE_ITEMS * KEY_WORDS), extent);
    rank_items(digit, extent);
    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation_index() * OWN_DIGITS + k;
        before[k] = 0;
        end[k] = tile;
        if (d < RADIX && tells(tile)) {
            tell(tile, d, tile == 0 ? PREFIX : AGGREGATE, own_count[k]);
        }
    }

    // As often as tiles stay silent; each time one less.
    for (;;) {
        look_back();
        uint waits_for = 0;
        [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
            uint d = invocation_index() * OWN_DIGITS + k;
            waits_for = max(waits_for, d < RADIX ? end[k] : 0);
        }
        waits_for = subgroupMax(waits_for);
        if (subgroupElect()) {
            atomicMax(s_silent, waits_for);
        }
        barrier();
        uint silent = s_silent;
        barrier();
        if (silent == 0) {
            break;
        }
        if (gl_LocalInvocationIndex == 0) {
            s_silent = 0;
        }
        count(FALLBACKS);
        count_silent(keys, silent - 1, silent < tile_count ? TILE_ITEMS : last_extent, digit);
    }

    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation_index() * OWN_DIGITS + k;
        if (d < RADIX) {
            if (tile > 0 && tells(tile)) {
                tell(tile, d, PREFIX, before[k] + own_count[k]);
            }
            s_digit_offset[d] = push.bins.word[d] + before[k] - first_of_digit(d);
        }
    }
#if VALUE_WORDS > 0
    Words values_before = array_of(values_from(route), push.values, push.values_aside, push.values);
    Words values_after = array_of(values_to(route), push.values, push.values_aside, push.values);
    Values values = Values(values_before, values_after, values_from(route) == OTHER);
#else
    Values values = Values(sorted, sorted, false);
#endif
    move_items(sorted, values, tile * TILE_ITEMS, digit, extent);
}
