// Looks at all keys once, before the first pass of a sort: which bits of their order differ, and with BINS, how many keys
// have each digit of each pass. The last workgroup to be done then makes the schedule of the passes.
//
// Dispatch: tile_count workgroups.
// Reads:    keys, element_count keys; tiles_on_device, tile_count and last_extent, where it is not null.
// Writes:   state, which begins as 0: 5 words; schedule, SCHEDULE_WORDS for each of pass_count and for the copy behind
//           them; with BINS bins, which begin as 0: RADIX words for each of pass_count, in the end where the first key
//           of each digit goes.
// Shared:   the workgroup scan's, 1 word, and with BINS RADIX * MAX_PASSES words.
// CPU twin: reference::sort::survey.
// Source:   the one histogram of Adinets and Merrill, "Onesweep", 2022; that what all keys agree in need not be sorted by is
//           as old as radix sort.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common/workgroup_scan.glsl"
#include "sort/route.glsl"
#include "sort/tile.glsl"

// Passes that there is room for, with BINS.
layout(constant_id = 7) const uint MAX_PASSES = 4;

layout(push_constant, std430) uniform Push {
    Words keys;
    Words state;
    Words schedule;
#ifdef BINS
    Words bins;
#endif
    Words tiles_on_device;
    uint tile_count;
    // Keys in the last tile; all others are full.
    uint last_extent;
    // The tiles of a pass, and their last extent, may be others.
    uint pass_tile_items;
    // The bits to sort by, which the passes share out as evenly as they go.
    uint begin_bit;
    uint end_bit;
    uint pass_count;
    // Workgroups in a row of a dispatch.
    uint max_row;
    // The keys stay as they are, and their places are told.
    uint is_argsort;
} push;

// Words of state: bits of the order that some key has, and that some key lacks; and workgroups that are done.
const uint SET = 0;
const uint CLEAR = 2;
const uint DONE = 4;

shared uint s_is_last;
#ifdef BINS
shared uint s_bins[RADIX * MAX_PASSES];
#endif

// The bits of a pass.
Digit digit_of_pass(uint pass) {
    uint bits = push.end_bit - push.begin_bit;
    uint least = bits / push.pass_count;
    uint wider = bits % push.pass_count;
    uint width = least + (pass < wider ? 1 : 0);
    uint shift = push.begin_bit + pass * least + min(pass, wider);
    // Behind the last bit there is nothing left to shift to.
    return Digit(width == 0 ? 0 : shift, (1u << width) - 1);
}

uint ceil_div(uint dividend, uint divisor) {
    return dividend / divisor + (dividend % divisor == 0 ? 0 : 1);
}

// How far a dispatch goes, and between which arrays.
void schedule_dispatch(uint index, uint tile_count, uint last_extent, uint route) {
    Words words = advance_words(push.schedule, index, SCHEDULE_WORDS);
    uint grid_rows = max(ceil_div(tile_count, push.max_row), 1);
    words.word[0] = ceil_div(tile_count, grid_rows);
    words.word[1] = grid_rows;
    words.word[2] = 1;
    words.word[3] = tile_count;
    words.word[4] = last_extent;
    words.word[5] = route;
}

// Which passes run, by one invocation: those of which not all keys agree in the digit. `differing` has the bits in which
// some differ.
void schedule_passes(Key differing, uint element_count) {
    uint tile_count = ceil_div(element_count, push.pass_tile_items);
    uint last_extent = element_count - (max(tile_count, 1) - 1) * push.pass_tile_items;
    uint run_count = 0;
    for (uint pass = 0; pass < push.pass_count; pass++) {
        Digit digit = digit_of_pass(pass);
        run_count += bits_of(differing, digit.shift, digit.mask) != 0 ? 1 : 0;
    }
    // Places are told by the last pass that runs, so that one must.
    bool is_argsort = push.is_argsort != 0;
    bool first_must_run = is_argsort && run_count == 0;
    uint runs_left = first_must_run ? 1 : run_count;
    uint runs = 0;
    for (uint pass = 0; pass < push.pass_count; pass++) {
        Digit digit = digit_of_pass(pass);
        bool is_run = bits_of(differing, digit.shift, digit.mask) != 0 || (first_must_run && pass == 0);
        uint from = runs % 2 == 0 ? CALLERS : ASIDE;
        uint to = runs % 2 == 0 ? ASIDE : CALLERS;
        uint route = route_of(from, to, from, to);
        if (is_argsort) {
            uint other = runs == 0 ? CALLERS : runs % 2 == 0 ? OTHER : ASIDE;
            // The last run puts the places where the caller wants them.
            uint places_to = runs_left % 2 == 1 ? CALLERS : ASIDE;
            uint places_from = runs == 0 ? OTHER : runs_left % 2 == 1 ? ASIDE : CALLERS;
            route = route_of(other, runs % 2 == 0 ? ASIDE : OTHER, places_from, places_to);
        }
        schedule_dispatch(pass, is_run ? tile_count : 0, last_extent, route);
        runs += is_run ? 1 : 0;
        runs_left -= is_run ? 1 : 0;
    }
    // What has ended aside is copied back.
    bool is_aside = !is_argsort && runs % 2 == 1;
    schedule_dispatch(push.pass_count, is_aside ? tile_count : 0, last_extent, 0);
}

#ifdef BINS
// Where the first key of each digit goes, in a pass. All of the workgroup must call it, with a barrier since shared memory
// was last used.
void scan_bins(uint pass) {
    uint own_total = 0;
    uint own_first[OWN_DIGITS];
    Words bins = advance_words(push.bins, pass, RADIX);
    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation_index() * OWN_DIGITS + k;
        own_first[k] = own_total;
        // As others have added to it: not from a cache of one's own.
        own_total += d < RADIX ? atomicAdd(bins.word[d], 0u) : 0;
    }
    uint all;
    uint prefix = workgroup_exclusive_scan(subgroup_reduce(own_total), all);
    prefix += subgroup_exclusive_scan(own_total);
    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation_index() * OWN_DIGITS + k;
        if (d < RADIX) {
            atomicExchange(bins.word[d], prefix + own_first[k]);
        }
    }
    barrier();
}
#endif

void main() {
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.tiles_on_device);
    uint tile = workgroup_index();
    if (tile >= tiles.count) {
        return;
    }
    uint extent = tile + 1 < tiles.count ? TILE_ITEMS : tiles.last_extent;
    Words keys = advance_words(push.keys, tile, TILE_ITEMS * KEY_WORDS);
#ifdef BINS
    for (uint d = invocation_index(); d < RADIX * push.pass_count; d += WORKGROUP_SIZE) {
        s_bins[d] = 0;
    }
    barrier();
#endif

    Key set = Key(0);
    Key clear = Key(0);
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (place_after(i) < extent) {
            Key order = ordered(load_key(keys, place_after(i)));
            set |= order;
            clear |= ~order;
#ifdef BINS
            for (uint pass = 0; pass < push.pass_count; pass++) {
                Digit digit = digit_of_pass(pass);
                atomicAdd(s_bins[pass * RADIX + bits_of(order, digit.shift, digit.mask)], 1u);
            }
#endif
        }
    }
    set = subgroupOr(set);
    clear = subgroupOr(clear);
    if (subgroupElect()) {
#if KEY_WORDS == 2
        atomicOr(push.state.word[SET], set.x);
        atomicOr(push.state.word[SET + 1], set.y);
        atomicOr(push.state.word[CLEAR], clear.x);
        atomicOr(push.state.word[CLEAR + 1], clear.y);
#else
        atomicOr(push.state.word[SET], set);
        atomicOr(push.state.word[CLEAR], clear);
#endif
    }
#ifdef BINS
    barrier();
    for (uint d = invocation_index(); d < RADIX * push.pass_count; d += WORKGROUP_SIZE) {
        if (s_bins[d] != 0) {
            atomicAdd(push.bins.word[d], s_bins[d]);
        }
    }
#endif

    // Whoever is last finds what all others have told.
    memoryBarrierBuffer();
    barrier();
    if (invocation_index() == 0) {
        s_is_last = atomicAdd(push.state.word[DONE], 1u) + 1 == tiles.count ? 1 : 0;
    }
    barrier();
    if (s_is_last == 0) {
        return;
    }
    memoryBarrierBuffer();
    if (invocation_index() == 0) {
#if KEY_WORDS == 2
        uvec2 differing = uvec2(atomicOr(push.state.word[SET], 0u), atomicOr(push.state.word[SET + 1], 0u)) &
            uvec2(atomicOr(push.state.word[CLEAR], 0u), atomicOr(push.state.word[CLEAR + 1], 0u));
#else
        uint differing = atomicOr(push.state.word[SET], 0u) & atomicOr(push.state.word[CLEAR], 0u);
#endif
        schedule_passes(differing, (tiles.count - 1) * TILE_ITEMS + tiles.last_extent);
    }
#ifdef BINS
    for (uint pass = 0; pass < push.pass_count; pass++) {
        scan_bins(pass);
    }
#endif
}
