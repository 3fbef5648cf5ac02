// Digit histogram of each tile in shared memory, for digits of up to 8 bits; with SEGMENTED of each tile of the
// segment tile queue.
//
// Dispatch: the workgroups of dispatch_args, which may be none.
// Reads:    one of keys, keys_alt and keys_alt2, as dispatch_args selects: all keys; dispatch_args. With SEGMENTED
//           keys; tiles, as many as dispatch_args counts; the long_segments of these tiles; dispatch_args.
// Writes:   counts, RADIX * tile_count words, digit-major; with SEGMENTED digit-major within each segment.
// Shared:   RADIX words.
// Pass model: reference::passes::sort::tile_counts, and with SEGMENTED reference::passes::segmented_sort::tile_counts.
// Source:   the histograms of Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, ch. 9.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "sort/tile.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
#ifndef SEGMENTED
    Words keys_alt;
    Words keys_alt2;
#endif
    Words counts;
#ifdef SEGMENTED
    Words tiles;
    Words long_segments;
#endif
    Words dispatch_args;
    uint shift;
    uint digit_mask;
} push;

#include "sort/pass_tile.glsl"

#ifdef SEGMENTED
#define COUNTS advance_words(push.counts, tile.first_tile, RADIX)
#define KEYS advance_keys(push.keys, tile.first_index, 1)
#else
#define COUNTS push.counts
#define KEYS advance_keys(KEYS_FROM, tile.index, TILE_ITEMS)
#endif

shared uint s_bins[RADIX];

void main() {
    if (workgroup_index() >= TILE_COUNT) {
        return;
    }
    PassTile tile = tile_of_workgroup();
    Words counts = COUNTS;
    Words keys = KEYS;

    FOR_EACH_BIN(k) {
        s_bins[bin_index(k)] = 0;
    }
    barrier();
    // Counting ignores order: neighbouring invocations load neighbouring keys.
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        if (striped_index(i) < tile.extent) {
            atomicAdd(s_bins[digit_of(load_key(keys, striped_index(i)), push.shift, push.digit_mask)], 1u);
        }
    }
    barrier();
    FOR_EACH_BIN(k) {
        counts.word[count_index(bin_index(k), tile.index, tile.count)] = s_bins[bin_index(k)];
    }
}
