// Moves all keys to their places in the order of one digit in a single pass, stably, and a value with each: every tile
// tells how many of each digit it has, and finds out from earlier tiles where its own go.
//
//   | tile 0: PREFIX | tile 1: PREFIX | tile 2: AGGREGATE | tile 3: nothing yet | tile 4 |
//                            ▲               │ added up            ▲ counted again,     │ looks back, digit by digit
//                            └───────────────┴─────────────────────┴ if it stays silent ┘
//
// A word of status holds counts of up to 30 bits. More keys are moved by several dispatches, a portion each.
//
// Dispatch: the workgroups of its schedule, in any order; more are left alone.
// Reads:    an array of keys and one of values, as the schedule says: those of a portion, or instead of values the keys'
//           places; bins, BINS_WORDS words: where the portion's first key of each digit goes; schedule.
// Writes:   another array of keys, and of values; next_bins, BINS_WORDS words, where it is not null: the bins of the next
//           portion; the region of the portion that is in use, which begins as 0: 4 words, and RADIX words for each tile;
//           and zeros to ticket and statuses of the other region, which the next pass uses. With COUNTED counts, 4 words, which go on
//           from what they were.
// Shared:   the ranking's, BINS_WORDS words and 2 words.
// CPU twin: reference::sort::onesweep.
// Source:   Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022; the fallback is that
//           of Smith, Levien and Owens, "Decoupled Fallback: A Portable Single-Pass GPU Scan", SPAA 2025.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_vote : require
#include "sort/rank_by_match.glsl"
#include "sort/move.glsl"
#include "sort/schedule.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
    Words keys_aside;
    Words keys_other;
    Words values;
    Words values_aside;
    Words bins;
    Words next_bins;
    Words region;
    Words other_region;
    Words schedule;
    // The tile of all keys with which the portion begins.
    uint first_tile;
    uint shift;
    uint digit_mask;
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

// How often nothing new is found before a tile is counted in its workgroup's place. Tiles tell only when they have ranked
// all of their keys, and to count one again takes as long as many looks.
const uint SPIN_LIMIT = 100;

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

// The region of the portion that is in use.
uvec2 region;

// The statuses of a tile of the portion.
Words status_in(uvec2 region, uint tile) {
    return advance_words(advance_words(Words(region), 1, 4), tile, RADIX);
}

Words status_of(uint tile) {
    return status_in(region, tile);
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

// Counts a tile that stays silent, which is none of the last, and tells it in its place. All of the workgroup must call
// it. An invocation clears and reads only the digits that it looks after, so no barrier need close it.
void count_silent(Words keys, uint tile, Digit digit) {
    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation_index() * OWN_DIGITS + k;
        if (d < RADIX) {
            s_tile[d] = 0;
        }
    }
    barrier();
    Words first = advance_words(keys, tile, TILE_ITEMS * KEY_WORDS);
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        atomicAdd(s_tile[digit_of(load_key(first, place_after(i)), digit.shift, digit.mask)], 1u);
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
}

void main() {
    Scheduled pass = load_schedule(push.schedule);
    bool is_swapped = pass.route.region == 1;
    region = is_swapped ? uvec2(push.other_region) : uvec2(push.region);
    uvec2 next_region = is_swapped ? uvec2(push.region) : uvec2(push.other_region);
    if (gl_LocalInvocationIndex == 0) {
        s_ticket = atomicAdd(Words(region).word[0], 1u);
        s_silent = 0;
    }
    barrier();
    uint tile = s_ticket;
    if (tile >= pass.tile_count) {
        return;
    }
    Words all_keys = array_of(pass.route.keys_from, push.keys, push.keys_aside, push.keys_other);
    Words sorted = array_of(pass.route.keys_to, push.keys, push.keys_aside, push.keys_other);
    Words keys = advance_words(all_keys, push.first_tile, TILE_ITEMS * KEY_WORDS);
    uint extent = tile_extent(pass, tile, TILE_ITEMS);
    Digit digit = Digit(push.shift, push.digit_mask);

    load_items(advance_words(keys, tile, TILE_ITEMS * KEY_WORDS), extent);
    rank_items(digit, extent);
    if (tile == 0 && gl_LocalInvocationIndex == 0) {
        Words(next_region).word[0] = 0;
    }
    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation_index() * OWN_DIGITS + k;
        before[k] = 0;
        end[k] = tile;
        if (d < RADIX) {
            status_in(next_region, tile).word[d] = 0;
            if (tells(tile)) {
                tell(tile, d, tile == 0 ? PREFIX : AGGREGATE, own_count[k]);
            }
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
        count_silent(keys, silent - 1, digit);
    }

    bool hands_on = tile + 1 == pass.tile_count && !is_null(push.next_bins);
    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation_index() * OWN_DIGITS + k;
        if (d < RADIX) {
            uint through = before[k] + own_count[k];
            if (tile > 0 && tells(tile)) {
                tell(tile, d, PREFIX, through);
            }
            uvec2 bin = load_bin(push.bins, d);
            set_digit_place(d, place_plus(bin, before[k]));
            if (hands_on) {
                store_bin(push.next_bins, d, place_plus(bin, through));
            }
        }
    }
    Values values = values_of(pass.route, push.values, push.values_aside);
    uvec2 tile_first;
    umulExtended(push.first_tile + tile, TILE_ITEMS, tile_first.y, tile_first.x);
    move_items(sorted, values, tile_first, digit, extent);
}
