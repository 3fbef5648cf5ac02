// Looks at all keys once, before the first pass of a sort: which bits of their order differ, and with BINS, how many keys
// have each digit of each pass. The last workgroup to be done then writes the dispatch arguments of the passes, each of which is one
// dispatch for each portion of the keys.
//
// Dispatch: tile_count workgroups.
// Reads:    keys, element_count keys; tiles_on_device, tile_count and last_extent, where it is not null.
// Writes:   state, which begins as 0: 5 words; dispatch_args, DISPATCH_ARGS_WORDS for each portion of each of PASS_COUNT passes, and
//           for the copy behind them; with BINS bins, which begin as 0: HISTOGRAM_WORDS words for each portion of each pass, of
//           which those of the first in the end tell where the first key of each digit goes.
// Shared:   the workgroup scan's, 1 word, and with BINS RADIX * PASS_COUNT words.
// Pass model: reference::passes::digit_histogram::Config::histogram.
// Source:   the one histogram of Adinets and Merrill, "Onesweep", 2022; that what all keys agree in need not be sorted by is
//           as old as radix sort.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common/grid.glsl"
#include "common/last_workgroup.glsl"
#include "common/tiles.glsl"
#include "common/workgroup_scan.glsl"
#include "sort/dispatch_args.glsl"
#include "sort/tile.glsl"
#ifdef BINS
#include "sort/offsets.glsl"
#endif

layout(constant_id = 7) const uint PASS_COUNT = 4;

// Of ITEMS_PER_INVOCATION, which is a multiple.
const uint ITEMS_PER_ROUND = 4;

layout(push_constant, std430) uniform Push {
    Words keys;
    Words state;
    Words dispatch_args;
    Words bins;
    Words tiles_on_device;
    uint tile_count;
    // Keys in the last tile; all others are full.
    uint last_extent;
    // The tiles of a pass are of as many invocations, which may take more keys or fewer.
    uint pass_items_per_invocation;
    // What a portion holds, and how many of them there are.
    uint portion_tiles;
    uint portion_count;
    // The bits to sort by, which the passes share out as evenly as they go.
    uint begin_bit;
    uint end_bit;
    // Workgroups in a row of a dispatch.
    uint max_row;
    // One of the following.
    uint result;
} push;

// The keys are to end where they were: passes in which all agree are left out.
const uint IN_PLACE = 0;
// The keys are to end where the last pass leaves them, which the host knows: all passes run.
const uint ANYWHERE = 1;
// The keys stay as they are, and their places are told.
const uint INDICES = 2;

// Words of state: bits of the order that some key has, and that some key lacks; and workgroups that are done.
const uint SET = 0;
const uint CLEAR = 2;
const uint DONE = 4;

#ifdef BINS
shared uint s_bins[RADIX * PASS_COUNT];
#endif

// The bits of a pass.
Digit digit_of_pass(uint pass) {
    uint bits = push.end_bit - push.begin_bit;
    uint least = bits / PASS_COUNT;
    uint wider = bits % PASS_COUNT;
    uint width = least + (pass < wider ? 1 : 0);
    uint shift = push.begin_bit + pass * least + min(pass, wider);
    // Behind the last bit there is nothing left to shift to.
    return Digit(width == 0 ? 0 : shift, (1u << width) - 1);
}

// How far a dispatch goes, and between which arrays.
void store_dispatch_args(uint index, uint tile_count, uint last_extent, PingPong ping_pong) {
    Words words = advance_words(push.dispatch_args, index, DISPATCH_ARGS_WORDS);
    store_grid(words, tile_count, push.max_row);
    words.word[ARGS_TILE_COUNT] = tile_count;
    words.word[ARGS_LAST_EXTENT] = last_extent;
    words.word[ARGS_PING_PONG] = ping_pong_word(ping_pong);
    words.word[ARGS_COUNTER_COUNT] = tile_count * RADIX;
}

// A pass, portion by portion.
void store_args_of_pass(uint pass, uint tile_count, uint last_extent, PingPong ping_pong) {
    for (uint portion = 0; portion < push.portion_count; portion++) {
        uint first = min(portion * push.portion_tiles, tile_count);
        uint tiles = min(tile_count - first, push.portion_tiles);
        bool is_last = first + tiles == tile_count;
        uint extent = is_last ? last_extent : push.pass_items_per_invocation * WORKGROUP_SIZE;
        store_dispatch_args(pass * push.portion_count + portion, tiles, extent, ping_pong);
    }
}

// Which passes run, by one invocation: those in whose digit not all keys agree. `differing` has the bits in which some
// differ.
void store_args_of_passes(Key differing, Tiles tiles) {
    // Keys can be more than a word counts. Rounds are not, in which each invocation takes a key.
    uint round_count = (tiles.count - 1) * ITEMS_PER_INVOCATION + ceil_div(tiles.last_extent, WORKGROUP_SIZE);
    uint tile_count = ceil_div(round_count, push.pass_items_per_invocation);
    // Both sides may run over: what is left does not.
    uint last_extent = (tiles.count - 1) * TILE_ITEMS + tiles.last_extent -
        (tile_count - 1) * push.pass_items_per_invocation * WORKGROUP_SIZE;
    bool is_argsort = push.result == INDICES;
    uint run_count = 0;
    for (uint pass = 0; pass < PASS_COUNT; pass++) {
        Digit digit = digit_of_pass(pass);
        run_count += bits_of(differing, digit.shift, digit.mask) != 0 ? 1 : 0;
    }
    // Places are told by the last pass that runs, so that one must.
    bool first_must_run = is_argsort && run_count == 0;
    bool all_must_run = push.result == ANYWHERE;
    uint runs_left = all_must_run ? PASS_COUNT : first_must_run ? 1 : run_count;
    uint runs = 0;
    for (uint pass = 0; pass < PASS_COUNT; pass++) {
        Digit digit = digit_of_pass(pass);
        bool must_run = all_must_run || first_must_run && pass == 0;
        bool is_run = must_run || bits_of(differing, digit.shift, digit.mask) != 0;
        uint from = runs % 2 == 0 ? PRIMARY : ALTERNATE;
        uint to = runs % 2 == 0 ? ALTERNATE : PRIMARY;
        PingPong ping_pong = PingPong(from, to, from, to, runs % 2);
        if (is_argsort) {
            ping_pong.keys_from = runs == 0 ? PRIMARY : runs % 2 == 0 ? SECOND_ALTERNATE : ALTERNATE;
            ping_pong.keys_to = runs % 2 == 0 ? ALTERNATE : SECOND_ALTERNATE;
            // The last run puts the places where the caller wants them.
            ping_pong.values_from = runs == 0 ? SECOND_ALTERNATE : runs_left % 2 == 1 ? ALTERNATE : PRIMARY;
            ping_pong.values_to = runs_left % 2 == 1 ? PRIMARY : ALTERNATE;
        }
        store_args_of_pass(pass, is_run ? tile_count : 0, last_extent, ping_pong);
        runs += is_run ? 1 : 0;
        runs_left -= is_run ? 1 : 0;
    }
    // What has ended aside is copied back.
    bool is_copied = push.result == IN_PLACE && runs % 2 == 1;
    PingPong back = PingPong(ALTERNATE, PRIMARY, ALTERNATE, PRIMARY, 0);
    store_dispatch_args(PASS_COUNT * push.portion_count, is_copied ? tile_count : 0, last_extent, back);
}

#ifdef BINS
// The bins of a pass's first portion.
Words bins_of_pass(uint pass) {
    return advance_words(push.bins, pass * push.portion_count, HISTOGRAM_WORDS);
}

// Adds keys of a digit to a bin, as others do at the same time.
void add_to_bin(Words bins, uint digit, uint keys) {
    uint before = atomicAdd(bins.word[digit], keys);
    // Whoever runs the low word over is alone in that.
    if (WIDE_OFFSETS && before + keys < keys) {
        atomicAdd(bins.word[RADIX + digit], 1u);
    }
}

// A word of each bin that the invocation handles, as others have left it: not from a cache of one's own. `first` is
// where that of digit 0 lies.
void load_own(Words bins, uint first, out uint words[BINS_PER_INVOCATION]) {
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        uint d = bin_index(k);
        words[k] = 0;
        if (d < RADIX) {
            words[k] = atomicAdd(bins.word[first + d], 0u);
        }
    }
}

void store_own(Words bins, uint first, uint words[BINS_PER_INVOCATION]) {
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        uint d = bin_index(k);
        if (d < RADIX) {
            atomicExchange(bins.word[first + d], words[k]);
        }
    }
}

// Scans a word of each digit exclusively. All of the workgroup must call it, with a barrier since shared memory was last
// used.
void scan_digits(inout uint words[BINS_PER_INVOCATION]) {
    uint own_total = 0;
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        own_total += words[k];
    }
    uint all;
    uint prefix = workgroup_exclusive_scan(subgroup_reduce(own_total), all);
    prefix += subgroup_exclusive_scan(own_total);
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        uint word = words[k];
        words[k] = prefix;
        prefix += word;
    }
    barrier();
}

// Where the first key of each digit goes, in a pass. All of the workgroup must call it, with a barrier since shared memory
// was last used.
void scan_bins(uint pass) {
    Words bins = bins_of_pass(pass);
    uint low[BINS_PER_INVOCATION];
    uint first_low[BINS_PER_INVOCATION];
    load_own(bins, 0, low);
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        first_low[k] = low[k];
    }
    scan_digits(first_low);
    store_own(bins, 0, first_low);
    if (WIDE_OFFSETS) {
        uint high[BINS_PER_INVOCATION];
        load_own(bins, RADIX, high);
        // A digit that runs the sum of the low words over carries one.
        [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
            high[k] += first_low[k] + low[k] < low[k] ? 1 : 0;
        }
        scan_digits(high);
        store_own(bins, RADIX, high);
    }
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
    for (uint d = invocation_index(); d < RADIX * PASS_COUNT; d += WORKGROUP_SIZE) {
        s_bins[d] = 0;
    }
    barrier();
#endif

    Key set = Key(0);
    Key clear = Key(0);
    // Some at a time: all of them, in every pass, would be more code than the cache of a GPU's instructions holds.
    [[dont_unroll]] for (uint first = 0; first < ITEMS_PER_INVOCATION; first += ITEMS_PER_ROUND) {
        [[unroll]] for (uint k = 0; k < ITEMS_PER_ROUND; k++) {
            uint i = first + k;
            if (striped_index(i) < extent) {
                Key order = ordered(load_key(keys, striped_index(i)));
                set |= order;
                clear |= ~order;
#ifdef BINS
                for (uint pass = 0; pass < PASS_COUNT; pass++) {
                    Digit digit = digit_of_pass(pass);
                    atomicAdd(s_bins[pass * RADIX + bits_of(order, digit.shift, digit.mask)], 1u);
                }
#endif
            }
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
    for (uint d = invocation_index(); d < RADIX * PASS_COUNT; d += WORKGROUP_SIZE) {
        if (s_bins[d] != 0) {
            add_to_bin(bins_of_pass(d / RADIX), d % RADIX, s_bins[d]);
        }
    }
#endif

    if (!is_last_workgroup(push.state, DONE, tiles.count)) {
        return;
    }
    if (invocation_index() == 0) {
#if KEY_WORDS == 2
        uvec2 differing = uvec2(atomicOr(push.state.word[SET], 0u), atomicOr(push.state.word[SET + 1], 0u)) &
            uvec2(atomicOr(push.state.word[CLEAR], 0u), atomicOr(push.state.word[CLEAR + 1], 0u));
#else
        uint differing = atomicOr(push.state.word[SET], 0u) & atomicOr(push.state.word[CLEAR], 0u);
#endif
        store_args_of_passes(differing, tiles);
    }
#ifdef BINS
    for (uint pass = 0; pass < PASS_COUNT; pass++) {
        scan_bins(pass);
    }
#endif
}
