// Histogram of all digits in one read of the keys, before the first pass of a sort: the bits in which keys differ,
// and with BINS the digit counts of each pass and their exclusive prefix sums. The last workgroup to finish writes
// the dispatch arguments of the passes; a pass is one dispatch for each portion of the keys.
//
// A workgroup has one tile, or with MAX_WORKGROUPS strides over several. Subgroup s adds to copy s mod COPIES of the
// counters in shared memory.
//
// Dispatch: striding_workgroups(tile_count) workgroups; surplus workgroups return.
// Reads:    keys, element_count keys, or with FUNCTIONS elements that keys are computed from, and data; indirect_tiles, tile_count and last_extent, where it is not null.
// Writes:   state, which begins as 0: 5 words; dispatch_args, DISPATCH_ARGS_WORDS for each portion of each of
//           PASS_COUNT passes, and for the final copy; with BINS bins, which begin as 0: HISTOGRAM_WORDS words for
//           each portion of each pass. The bins of a pass's first portion become the offset of each digit's first
//           key.
// Shared:   1 word, and with BINS COPIES * RADIX * PASS_COUNT words.
// Pass model: reference::passes::digit_histogram::Config::histogram.
// Source:   the single upfront histogram is from Adinets and Merrill, "Onesweep", 2022; passes over digits that
//           are equal in all keys are skipped.

#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef FUNCTIONS
#define USES_KEY_OF
#include "common/called.glsl"
#endif
#include "common/grid.glsl"
#include "common/last_workgroup.glsl"
#include "common/stride.glsl"
#include "common/tiles.glsl"
#include "common/element.glsl"
#include "sort/dispatch_args.glsl"
#include "sort/tile.glsl"
#ifdef BINS
#include "sort/offsets.glsl"
#endif

// Passes of the sort.
layout(constant_id = ID_PASS_COUNT) const uint PASS_COUNT = 4;

// Keys of a full tile that an invocation loads before it counts the first.
layout(constant_id = ID_LOADS_IN_FLIGHT) const uint LOADS_IN_FLIGHT = 1;
// Whether it loads them 16 bytes at a time: whether the keys begin at a multiple of 16, as all tiles then do.
#if defined FUNCTIONS || defined KEY_BITS
const bool QUAD_ACCESS = false;
#else
layout(constant_id = ID_QUAD_ACCESS) const bool QUAD_ACCESS = false;
#endif

layout(push_constant, std430) uniform Push {
    Words keys;
    Words state;
    Words dispatch_args;
    Words bins;
    Words indirect_tiles;
    uint tile_count;
    // Keys in the last tile; all others are full.
    uint last_extent;
    // Items per invocation of the passes, which may differ from the items of this kernel.
    uint pass_items_per_invocation;
    // The maximum of workgroups of a dispatch of a pass, as MAX_WORKGROUPS.
    uint pass_max_workgroups;
    // Tiles per portion, and portions.
    uint portion_tiles;
    uint portion_count;
    // The bits to sort by, divided among the passes as evenly as possible.
    uint begin_bit;
    uint end_bit;
    // The maximum of workgroups in a row of a dispatch.
    uint max_row;
    // IN_PLACE, EVERY_PASS or INDICES, with BEGINS_AS_INDICES, NO_LAST_KEYS and EVEN.
    uint result;
#ifdef FUNCTIONS
    Words data;
#endif
} push;

// The result is in the primary buffers: passes whose digit is equal in all keys are skipped.
const uint IN_PLACE = 0;
// Every pass runs, from the primary to the alternate buffers, which the host chooses for each pass.
const uint EVERY_PASS = 1;
// The result is the permutation: the keys are not changed.
const uint INDICES = 2;
// A bit: the values of the first pass that runs are the indices of the keys.
const uint BEGINS_AS_INDICES = 4;
// A bit: the last pass that runs writes no keys.
const uint NO_LAST_KEYS = 8;
// A bit, for IN_PLACE and an even PASS_COUNT: one more pass runs where an odd number would, in place of the copy.
const uint EVEN = 16;

// Words of state: the bits of the order that are set in some key, and those that are clear in some key; finished
// workgroups.
const uint SET = 0;
const uint CLEAR = 2;
const uint DONE = 4;

// Sets bits in the words of state from `first` on, and returns those that were set.
Key or_bits(uint first, Key bits) {
    [[unroll]] for (uint w = 0; w < KEY_WORDS; w++) {
        KEY_WORD(bits, w) = atomicOr(push.state.word[first + w], KEY_WORD(bits, w));
    }
    return bits;
}

// The digit of a pass.
Digit digit_of_pass(uint pass) {
    uint bits = push.end_bit - push.begin_bit;
    uint least = bits / PASS_COUNT;
    uint wider = bits % PASS_COUNT;
    uint width = least + (pass < wider ? 1 : 0);
    uint shift = push.begin_bit + pass * least + min(pass, wider);
    // An empty digit after the last bit must not shift by the width of a key.
    return Digit(width == 0 ? 0 : shift, (1u << width) - 1);
}

// Writes the arguments of one dispatch of at most `max_workgroups`, as MAX_WORKGROUPS.
void store_dispatch_args(uint index, uint tile_count, uint last_extent, PingPong ping_pong, uint max_workgroups) {
    Words words = advance_words(push.dispatch_args, index, DISPATCH_ARGS_WORDS);
    store_grid(words, striding_workgroups(tile_count, max_workgroups), push.max_row);
    words.word[ARGS_TILE_COUNT] = tile_count;
    words.word[ARGS_LAST_EXTENT] = last_extent;
    words.word[ARGS_PING_PONG] = ping_pong_word(ping_pong);
    words.word[ARGS_COUNTER_COUNT] = tile_count * RADIX;
}

// Writes the arguments of a pass, portion by portion.
void store_args_of_pass(uint pass, uint tile_count, uint last_extent, PingPong ping_pong) {
    for (uint portion = 0; portion < push.portion_count; portion++) {
        uint first = min(portion * push.portion_tiles, tile_count);
        uint tiles = min(tile_count - first, push.portion_tiles);
        bool is_last = first + tiles == tile_count;
        uint extent = is_last ? last_extent : push.pass_items_per_invocation * WORKGROUP_SIZE;
        uint index = pass * push.portion_count + portion;
        store_dispatch_args(index, tiles, extent, ping_pong, push.pass_max_workgroups);
    }
}

// The passes that run, a bit for each. A pass runs if keys differ in its digit; `differing` has the bits in which some
// keys differ.
uint running_passes(Key differing, uint result) {
    if (result == EVERY_PASS) {
        return 0xffffffffu >> (32 - PASS_COUNT);
    }
    uint passes = 0;
    [[dont_unroll]] for (uint pass = 0; pass < PASS_COUNT; pass++) {
        Digit digit = digit_of_pass(pass);
        passes |= (bits_of(differing, digit.shift, digit.mask) != 0 ? 1 : 0) << pass;
    }
    // Passes write the indices, so at least one must run. NVIDIA 580.159 compiled `if (passes == 0 && …)` wrongly here: of
    // two passes that had to run, one ran.
    passes = max(passes, (push.result & BEGINS_AS_INDICES) != 0 ? 1 : 0);
    // The first pass that would be skipped.
    if ((push.result & EVEN) != 0 && bitCount(passes) % 2 == 1) {
        passes |= passes + 1;
    }
    return passes;
}

// Writes the arguments of all passes, by one invocation, of keys that differ in the bits of `differing`.
void store_args_of_passes(Key differing, Tiles tiles) {
    // The number of keys may exceed 32 bits; the number of rounds, in which each invocation takes one key, does not.
    uint round_count = (tiles.count - 1) * ITEMS_PER_INVOCATION + ceil_div(tiles.last_extent, WORKGROUP_SIZE);
    uint tile_count = ceil_div(round_count, push.pass_items_per_invocation);
    // Both sides may wrap: their difference does not.
    uint last_extent = (tiles.count - 1) * TILE_ITEMS + tiles.last_extent -
        (tile_count - 1) * push.pass_items_per_invocation * WORKGROUP_SIZE;
    uint result = push.result & (BEGINS_AS_INDICES - 1);
    bool all_must_run = result == EVERY_PASS;
    bool is_argsort = result == INDICES;
    bool begins_as_indices = (push.result & BEGINS_AS_INDICES) != 0;
    uint passes = running_passes(differing, result);
    // One invocation: unrolled, the loop would be as long as the rest of the kernel.
    [[dont_unroll]] for (uint pass = 0; pass < PASS_COUNT; pass++) {
        uint runs = bitCount(bitfieldExtract(passes, 0, int(pass)));
        uint runs_left = bitCount(passes >> pass);
        bool is_back = runs % 2 == 1 && !all_must_run;
        uint from = is_back ? ALTERNATE : PRIMARY;
        uint to = is_back ? PRIMARY : ALTERNATE;
        PingPong ping_pong = PingPong(from, to, from, to, runs % 2);
        if (is_argsort) {
            ping_pong.keys_from = runs == 0 ? PRIMARY : runs % 2 == 0 ? SECOND_ALTERNATE : ALTERNATE;
            ping_pong.keys_to = runs % 2 == 0 ? ALTERNATE : SECOND_ALTERNATE;
            // The last pass that runs writes the indices to the primary buffer.
            ping_pong.values_from = runs_left % 2 == 1 ? ALTERNATE : PRIMARY;
            ping_pong.values_to = runs_left % 2 == 1 ? PRIMARY : ALTERNATE;
        }
        if (begins_as_indices && runs == 0) {
            ping_pong.values_from = SECOND_ALTERNATE;
        }
        if ((push.result & NO_LAST_KEYS) != 0 && runs_left == 1) {
            ping_pong.keys_to = NOWHERE;
        }
        bool is_run = (passes >> pass & 1) != 0;
        store_args_of_pass(pass, is_run ? tile_count : 0, last_extent, ping_pong);
    }
    // A result in the alternate buffer is copied back. After EVERY_PASS the host records the copy only if it is needed.
    bool is_copied = all_must_run || result == IN_PLACE && bitCount(passes) % 2 == 1;
    PingPong back = PingPong(ALTERNATE, PRIMARY, ALTERNATE, PRIMARY, 0);
    store_dispatch_args(PASS_COUNT * push.portion_count, is_copied ? tile_count : 0, last_extent, back, 0);
}

#ifdef BINS
layout(constant_id = ID_COPIES) const uint COPIES = 1;

// The counters of a copy.
const uint COUNTERS = RADIX * PASS_COUNT;

shared uint s_bins[COPIES * COUNTERS];

void clear_bins() {
    for (uint d = invocation_index(); d < COPIES * COUNTERS; d += WORKGROUP_SIZE) {
        s_bins[d] = 0;
    }
    barrier();
}

// Counts the digits of a key's order.
void count_digits(Key order) {
    uint copy = gl_SubgroupID % COPIES * COUNTERS;
    for (uint pass = 0; pass < PASS_COUNT; pass++) {
        Digit digit = digit_of_pass(pass);
        atomicAdd(s_bins[copy + pass * RADIX + bits_of(order, digit.shift, digit.mask)], 1u);
    }
}

// The histogram of a pass's first portion.
Words bins_of_pass(uint pass) {
    return advance_words(push.bins, pass * push.portion_count, HISTOGRAM_WORDS);
}

// Adds to a bin, concurrently with other workgroups.
void add_to_bin(Words bins, uint digit, uint keys) {
    uint before = atomicAdd(bins.word[digit], keys);
    // Exactly one addition wraps the low word.
    if (WIDE_OFFSETS && before + keys < keys) {
        atomicAdd(bins.word[RADIX + digit], 1u);
    }
}

void add_to_bins() {
    barrier();
    for (uint d = invocation_index(); d < COUNTERS; d += WORKGROUP_SIZE) {
        uint keys = s_bins[d];
        [[unroll]] for (uint c = 1; c < COPIES; c++) {
            keys += s_bins[c * COUNTERS + d];
        }
        if (keys != 0) {
            add_to_bin(bins_of_pass(d / RADIX), d % RADIX, keys);
        }
    }
}

// Digits whose counts a lane loads together.
const uint DIGITS_PER_LANE = RADIX < 8 ? RADIX : 8;

// Exclusive prefix sum of one word of each digit, mod 2^32, by a subgroup. `carry` is the sum of the digits before.
void scan_digits(inout uint words[DIGITS_PER_LANE], inout uint carry) {
    uint own_total = 0;
    [[unroll]] for (uint k = 0; k < DIGITS_PER_LANE; k++) {
        own_total += words[k];
    }
    uint all;
    uint prefix = carry + subgroup_exclusive_scan(own_total, all);
    carry += all;
    [[unroll]] for (uint k = 0; k < DIGITS_PER_LANE; k++) {
        uint word = words[k];
        words[k] = prefix;
        prefix += word;
    }
}

// A word of a bin, by an atomic, which bypasses non-coherent caches.
uint load_bin(Words bins, uint word, uint digit) {
    return digit < RADIX ? atomicAdd(bins.word[word + digit], 0u) : 0;
}

void store_bin(Words bins, uint word, uint digit, uint value) {
    if (digit < RADIX) {
        atomicExchange(bins.word[word + digit], value);
    }
}

// Exclusive prefix sum of a pass's histogram: the offset of each digit's first key. Every lane of a subgroup must
// call it.
void scan_bins_of_pass(Words bins) {
    uint carry = 0;
    uint high_carry = 0;
    for (uint first = 0; first < RADIX; first += gl_SubgroupSize * DIGITS_PER_LANE) {
        uint digit = first + gl_SubgroupInvocationID * DIGITS_PER_LANE;
        uint low[DIGITS_PER_LANE];
        uint high[DIGITS_PER_LANE];
        uint first_low[DIGITS_PER_LANE];
        [[unroll]] for (uint k = 0; k < DIGITS_PER_LANE; k++) {
            low[k] = load_bin(bins, 0, digit + k);
            high[k] = WIDE_OFFSETS ? load_bin(bins, RADIX, digit + k) : 0;
            first_low[k] = low[k];
        }
        scan_digits(first_low, carry);
        [[unroll]] for (uint k = 0; k < DIGITS_PER_LANE; k++) {
            store_bin(bins, 0, digit + k, first_low[k]);
        }
        if (WIDE_OFFSETS) {
            // Where the sum of low words wraps, the digit carries one into the high words.
            [[unroll]] for (uint k = 0; k < DIGITS_PER_LANE; k++) {
                high[k] += first_low[k] + low[k] < low[k] ? 1 : 0;
            }
            scan_digits(high, high_carry);
            [[unroll]] for (uint k = 0; k < DIGITS_PER_LANE; k++) {
                store_bin(bins, RADIX, digit + k, high[k]);
            }
        }
    }
}

// Scans the histograms of all passes, one a subgroup at a time.
void scan_bins() {
    for (uint pass = gl_SubgroupID; pass < PASS_COUNT; pass += gl_NumSubgroups) {
        scan_bins_of_pass(bins_of_pass(pass));
    }
}
#else
#define clear_bins()
#define count_digits(order)
#define add_to_bins()
#define scan_bins()
#endif

// The bits that are set, and those that are clear, in some order of the invocation's keys.
Key set = Key(0);
Key clear = Key(0);

void add_key(Key key) {
    Key order = compared(key);
    set |= order;
    clear |= ~order;
    count_digits(order);
}

#ifdef FUNCTIONS
// The first key of the tile.
uint first_key;

#define key_of_tile(keys, index) computed_key(push.keys, first_key + (index), push.data)
#else
#define key_of_tile(keys, index) load_key(keys, index)
#endif

#define KEYS_PER_QUAD (4 / KEY_WORDS)

// Loads keys of a full tile, from the invocation's key `first` on.
void load_keys(Words keys, uint first, out Key loaded[LOADS_IN_FLIGHT]) {
    if (QUAD_ACCESS) {
        Quads quads = Quads(uvec2(keys));
        [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k += KEYS_PER_QUAD) {
            uvec4 quad = quads.quad[striped_index((first + k) / KEYS_PER_QUAD)];
#if KEY_WORDS == 2
            loaded[k] = quad.xy;
            loaded[k + 1] = quad.zw;
#else
            [[unroll]] for (uint w = 0; w < 4; w++) {
                loaded[k + w] = quad[w];
            }
#endif
        }
    } else {
        [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k++) {
            loaded[k] = key_of_tile(keys, striped_index(first + k));
        }
    }
}

// A few keys at a time: unrolled over all items and passes, the code would exceed a GPU's instruction cache.
void add_tile(Words keys, uint extent) {
    if (LOADS_IN_FLIGHT > 1 && extent == TILE_ITEMS) {
        [[dont_unroll]] for (uint first = 0; first < ITEMS_PER_INVOCATION; first += LOADS_IN_FLIGHT) {
            Key loaded[LOADS_IN_FLIGHT];
            load_keys(keys, first, loaded);
            [[unroll]] for (uint k = 0; k < LOADS_IN_FLIGHT; k++) {
                add_key(loaded[k]);
            }
        }
    } else {
        [[dont_unroll]] for (uint first = 0; first < ITEMS_PER_INVOCATION; first += 4) {
            [[unroll]] for (uint k = 0; k < 4; k++) {
                uint i = first + k;
                if (striped_index(i) < extent) {
                    add_key(key_of_tile(keys, striped_index(i)));
                }
            }
        }
    }
}

void main() {
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    uint workgroups = striding_workgroups(tiles.count, MAX_WORKGROUPS);
    uint tile = workgroup_index();
    if (tile >= workgroups) {
        return;
    }
    clear_bins();
    do {
        uint extent = tile + 1 < tiles.count ? TILE_ITEMS : tiles.last_extent;
#ifdef FUNCTIONS
        first_key = tile * TILE_ITEMS;
#endif
        add_tile(advance_keys(push.keys, tile, TILE_ITEMS), extent);
        tile += workgroups;
    } while (MAX_WORKGROUPS != 0 && tile < tiles.count);
    set = subgroupOr(set);
    clear = subgroupOr(clear);
    if (subgroupElect()) {
        or_bits(SET, set);
        or_bits(CLEAR, clear);
    }
    add_to_bins();

    if (!is_last_workgroup(push.state, DONE, workgroups)) {
        return;
    }
    // By the last subgroup, while the first ones scan.
    if (invocation_index() == WORKGROUP_SIZE - 1) {
        store_args_of_passes(or_bits(SET, Key(0)) & or_bits(CLEAR, Key(0)), tiles);
    }
    scan_bins();
}
