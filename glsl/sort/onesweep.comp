// Onesweep pass: a stable scatter of keys, and of their values, by one digit in a single pass, by decoupled look-back
// with one descriptor for each bin of each tile.
//
//   | tile 0: PREFIX | tile 1: PREFIX | tile 2: AGGREGATE | tile 3: not ready | tile 4 |
//                            ▲               │ added              ▲ counted again,     │ looks back, bin by bin
//                            └───────────────┴────────────────────┴ if stalled         ┘
//
//   descriptor:   | status: 2 bits | count: 30 bits |    every second pass that runs flips the highest bit
//
// A pass leaves PREFIX in all descriptors. With the highest bit flipped, neither a PREFIX nor an AGGREGATE of one
// pass is a valid status of the next, so that descriptors are cleared once for all passes. More keys than 30 bits can
// count are sorted in portions, a dispatch each.
//
// With FIRST_IN_ANY_ORDER the first pass ranks by an atomic add for each key.
//
// With FUNCTIONS keys are the elements from which a function of the caller computes keys in the first pass that runs: that
// which writes indices.
//
// With MAX_WORKGROUPS a workgroup takes the ticket of its next tile while it ranks one, and loads that tile's keys while
// it stores the keys of this one. It waits for lower tickets alone, each of whose tiles its workgroup handles before those
// with higher tickets.
//
// Dispatch: the workgroups of dispatch_args or more, in any order; surplus workgroups return.
// Reads:    one of keys, keys_alt and keys_alt2, and one of values and values_alt, as dispatch_args selects: the
//           elements of the portion, or instead of values the keys' indices; bins, HISTOGRAM_WORDS words: the offset
//           of the portion's first key of each bin; dispatch_args.
// Writes:   another of these buffers of keys, unless NO_LAST_KEYS, and of values; next_bins, HISTOGRAM_WORDS
//           words, where it is not null: the bins of the next portion; state of the portion, which begins as 0: the
//           tile counters of MAX_PASSES passes, and RADIX descriptors for each tile. With COUNTED counts, 4 words, which
//           accumulate.
// Shared:   the ranking's, HISTOGRAM_WORDS words and 3 words.
// Pass model: reference::passes::sort::onesweep.
// Source:   Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022; the fallback
//           is from Smith, Levien and Owens, "Decoupled Fallback: A Portable Single-Pass GPU Scan", SPAA 2025.

#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef FUNCTIONS
#define USES_KEY_OF
#include "common/called.glsl"
#endif
#define RANK_BY_MATCH
#include "common/stride.glsl"
#include "sort/tile_scatter.glsl"
#include "sort/dispatch_args.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
    Words keys_alt;
    Words keys_alt2;
    Words values;
    Words values_alt;
    Words bins;
    Words next_bins;
    Words state;
    Words dispatch_args;
    // The first tile of the portion, among all tiles.
    uint first_tile;
    // The index of the pass, whether earlier ones run or not.
    uint pass;
    uint shift;
    uint digit_mask;
#ifdef COUNTED
    Words counts;
#endif
#ifdef FUNCTIONS
    Words data;
#endif
} push;

#include "common/look_back_states.glsl"

// Passes by 8 bits of a key of 64.
const uint MAX_PASSES = 8;

const uint COUNT_BITS = 30;
const uint COUNT_MASK = (1u << COUNT_BITS) - 1;

// Look-back rounds without progress before the fallback histogram of a stalled tile: about the time that it takes.
layout(constant_id = ID_SPIN_LIMIT) const uint SPIN_LIMIT = 100;

const bool STRIDES = MAX_WORKGROUPS != 0;

// Whether the first pass keeps no order of keys with the same digit: where it sorts by the lowest bits, and nothing but whole
// keys is sorted, equal keys cannot be told apart, and others are ordered by the passes to come.
layout(constant_id = ID_FIRST_IN_ANY_ORDER) const bool FIRST_IN_ANY_ORDER = false;

shared uint s_tile_index;
// One more than the last stalled tile of any invocation; 0 if none. Double-buffered between rounds.
shared uint s_stalled[2];

// Flips the highest bit of all descriptors of this pass.
uint flip;

#ifdef FUNCTIONS
// Whether the pass computes its keys.
bool computes_keys;

// No functions: they would copy the array in and out.
#define LOAD_KEYS(first, tile, extent, words) \
    if (computes_keys) { \
        compute_tile(push.keys, (push.first_tile + tile) * TILE_ITEMS, extent, push.data, words); \
    } else { \
        load_tile(first, extent, words); \
    }

Key key_of_tile(Words first, uint tile, uint index) {
    if (computes_keys) {
        return computed_key(push.keys, (push.first_tile + tile) * TILE_ITEMS + index, push.data);
    }
    return load_key(first, index);
}
#else
#define LOAD_KEYS(first, tile, extent, words) load_tile(first, extent, words)
#define key_of_tile(first, tile, index) load_key(first, index)
#endif

Words descriptors_of(uint tile) {
    return advance_words(advance_words(push.state, 1, MAX_PASSES), tile, RADIX);
}

uint descriptor(uint status, uint count) {
    return (status << COUNT_BITS | count) ^ flip;
}

// Publishes a descriptor of the workgroup's own tile.
void publish(uint tile, uint bin, uint status, uint count) {
    Words descriptors = descriptors_of(tile);
    uint word = descriptor(status, count);
    if (STATUS_STORES) {
        atomicStore(descriptors.word[bin], word, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    } else {
        atomicExchange(descriptors.word[bin], word);
    }
}

// For each bin of the invocation: the keys in the tiles before, as far as the look-back has come; and the end of the
// tiles still to look back over, 0 when done.
uint exclusive_prefix[BINS_PER_INVOCATION];
uint look_back_tile[BINS_PER_INVOCATION];

// Looks back until all lanes of the subgroup are done, or have made no progress for SPIN_LIMIT rounds. A round reads
// LOOK_BACK_WINDOW tiles for each bin, tile 0 in place of tiles before it. Every lane must call it.
void look_back() {
    for (uint spins = 0; spins < SPIN_LIMIT;) {
        bool is_waiting = false;
        bool has_found = false;
        [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
            if (look_back_tile[k] > 0) {
                uint nearest = look_back_tile[k] - 1;
                uint words[LOOK_BACK_WINDOW];
                [[unroll]] for (uint t = 0; t < LOOK_BACK_WINDOW; t++) {
                    words[t] = load_status(descriptors_of(nearest - min(t, nearest)), bin_index(k)) ^ flip;
                }
                bool is_next = true;
                [[unroll]] for (uint t = 0; t < LOOK_BACK_WINDOW; t++) {
                    uint status = words[t] >> COUNT_BITS;
                    bool is_published = status == AGGREGATE || status == PREFIX;
                    if (is_next && is_published) {
                        has_found = true;
                        exclusive_prefix[k] += words[t] & COUNT_MASK;
                        look_back_tile[k] = status == PREFIX ? 0 : look_back_tile[k] - 1;
                    } else if (is_next) {
                        is_waiting = true;
                    }
                    is_next = is_next && is_published && look_back_tile[k] > 0;
                }
            }
        }
        count(WINDOWS);
        // All lanes leave the loop together.
        if (!subgroupAny(is_waiting || has_found)) {
            break;
        }
        if (!subgroupAny(has_found)) {
            spins++;
            count(SPINS);
        }
    }
}

// Fallback histogram: counts the keys of a stalled tile, which is never the last one, and publishes its aggregate.
// Every invocation must call it, in uniform control flow. Invocations clear and read their own bins alone, so that no
// final barrier is needed.
void count_stalled_tile(Words keys, uint tile, Digit digit) {
    FOR_EACH_BIN(k) {
        s_bin_offset[bin_index(k)] = 0;
    }
    barrier();
    Words first = advance_keys(keys, tile, TILE_ITEMS);
    [[dont_unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        atomicAdd(s_bin_offset[digit_of(key_of_tile(first, tile, striped_index(i)), digit.shift, digit.mask)], 1u);
    }
    barrier();
    FOR_EACH_BIN(k) {
        uint bin = bin_index(k);
        uint keys_of_bin = s_bin_offset[bin];
        // The tile's own workgroup may resume at any time: its descriptors are not replaced.
        uint found = load_status(descriptors_of(tile), bin);
        uint status = (found ^ flip) >> COUNT_BITS;
        if (status != AGGREGATE && status != PREFIX) {
            atomicCompSwap(descriptors_of(tile).word[bin], found, descriptor(AGGREGATE, keys_of_bin));
        }
        if (look_back_tile[k] == tile + 1) {
            exclusive_prefix[k] += keys_of_bin;
            look_back_tile[k] = tile;
        }
    }
}

// Adds the keys in the tiles before `tile` to exclusive_prefix, with one round of the look-back, and one more for each
// stalled tile. Every invocation must call it.
void look_back_from(uint tile, Words keys, Digit digit) {
    [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
        exclusive_prefix[k] = 0;
        look_back_tile[k] = bin_index(k) < RADIX ? tile : 0;
    }
    for (uint slot = 0;; slot ^= 1) {
        look_back();
        uint stalled = 0;
        [[unroll]] for (uint k = 0; k < BINS_PER_INVOCATION; k++) {
            stalled = max(stalled, look_back_tile[k]);
        }
        stalled = subgroupMax(stalled);
        if (subgroupElect() && stalled > 0) {
            atomicMax(s_stalled[slot], stalled);
        }
        barrier();
        stalled = s_stalled[slot];
        if (MAIN_PATH || stalled == 0) {
            break;
        }
        // No invocation accesses the other slot before the barriers of the fallback.
        if (gl_LocalInvocationIndex == 0) {
            s_stalled[slot ^ 1] = 0;
        }
        count(FALLBACKS);
        count_stalled_tile(keys, stalled - 1, digit);
    }
}

// Takes the ticket of a tile, by one invocation.
void take_tile() {
    s_tile_index = atomicAdd(push.state.word[push.pass], 1u);
}

void main() {
    // The ticket does not depend on the arguments: both are on their way together.
    if (gl_LocalInvocationIndex == 0) {
        take_tile();
    }
    PassArgs pass = load_pass_args(push.dispatch_args);
    flip = pass.ping_pong.parity << 31;
    barrier();
    uint tile = s_tile_index;
    if (tile >= pass.tile_count) {
        return;
    }
    Words keys = advance_keys(KEYS_FROM, push.first_tile, TILE_ITEMS);
    Words sorted = KEYS_TO;
    Values values = values_of(pass.ping_pong, push.values, push.values_alt);
    Digit digit = Digit(push.shift, push.digit_mask);
    bool is_any_order = FIRST_IN_ANY_ORDER && push.pass == 0;
#ifdef FUNCTIONS
    computes_keys = values.are_indices;
#endif
    LOAD_KEYS(advance_keys(keys, tile, TILE_ITEMS), tile, tile_extent(pass, tile, TILE_ITEMS), key_words);

    for (uint round = 1;; round++) {
        uint extent = tile_extent(pass, tile, TILE_ITEMS);
        bool takes_next = STRIDES && round < MAX_STRIDE_TILES;
        if (is_any_order) {
            count_tile_in_any_order(digit, extent);
        } else {
            count_tile(digit, extent);
        }
        FOR_EACH_BIN(k) {
            if (publishes(tile)) {
                publish(tile, bin_index(k), tile == 0 ? PREFIX : AGGREGATE, bin_count[k]);
            }
        }
        if (gl_LocalInvocationIndex == 0) {
            s_stalled[0] = 0;
            if (takes_next) {
                take_tile();
            }
        }
        if (is_any_order) {
            rank_tile_in_any_order(digit, extent);
        } else {
            rank_tile(digit);
        }
        if (EXCHANGE) {
            barrier();
            scatter_to_shared(key_words[0]);
        }
        look_back_from(tile, keys, digit);

        bool has_next_portion = tile + 1 == pass.tile_count && !is_null(push.next_bins);
        FOR_EACH_BIN(k) {
            uint bin = bin_index(k);
            uint inclusive_prefix = exclusive_prefix[k] + bin_count[k];
            if (tile > 0 && publishes(tile)) {
                publish(tile, bin, PREFIX, inclusive_prefix);
            }
            uvec2 offset = load_offset(push.bins, bin);
            set_bin_offset(k, count_sum(offset, uvec2(exclusive_prefix[k], 0)));
            if (has_next_portion) {
                store_offset(push.next_bins, bin, count_sum(offset, uvec2(inclusive_prefix, 0)));
            }
        }
        barrier();
        uint next_tile = takes_next ? s_tile_index : pass.tile_count;
        bool has_next = next_tile < pass.tile_count;
        uint next_words[KEY_WORDS][ITEMS_PER_INVOCATION];
        if (has_next) {
            Words next_keys = advance_keys(keys, next_tile, TILE_ITEMS);
            LOAD_KEYS(next_keys, next_tile, tile_extent(pass, next_tile, TILE_ITEMS), next_words);
        }
        load_values(values, wide_product(push.first_tile + tile, TILE_ITEMS), extent);
        store_keys(sorted, digit, extent);
        store_values(values, extent);
        if (!has_next) {
            return;
        }
        tile = next_tile;
        [[unroll]] for (uint w = 0; w < KEY_WORDS; w++) {
            [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
                key_words[w][i] = next_words[w][i];
            }
        }
        // Before the next tile's tables take the place of the exchanged tile.
        barrier();
    }
}
