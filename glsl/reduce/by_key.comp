// Single-pass reduction of runs of equal keys: each key and each value is read once.
//
// The first row of a run is its head. A head writes the key of its run, and the result of the run before it. So tiles
// look back at two numbers: how many runs have begun, and the reduction of the last one so far. A workgroup that waits
// for a stalled tile reduces that tile itself, so that no workgroup relies on the progress of another. For operators
// whose results do not depend on the order of operations: the order in a tile depends on the subgroup size.
//
// Dispatch: tile_count workgroups, in any order; surplus workgroups return.
// Reads:    keys, KEY_WORDS words, and source, a value of ELEMENT_WORDS words, for each row; indirect_tiles, tile_count
//           and last_extent, where it is not null.
// Writes:   unique_keys and destination, the first key and the reduction of each run, in order; run_count, one word;
//           state, which begins as 0: 4 words, and STATUS_WORDS for each tile. With COUNTED counts, 4 words, which
//           accumulate.
// Shared:   the workgroup scan's, 2 words and an element.
// Pass model: reference::passes::reduce::heads_of, and a loop over the rows of each run.
// Source:   CUB, DeviceReduce::ReduceByKey; Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
//           Look-back", NVIDIA, 2016; Smith, Levien and Owens, "Decoupled Fallback: A Portable Single-Pass GPU Scan",
//           SPAA 2025.

#version 460
#extension GL_GOOGLE_include_directive : require
#define COUNTED_HEADS
#include "common/address.glsl"
#include "common/tiles.glsl"
#include "common/workgroup_scan.glsl"
#include "select/tile_keys.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
    Words source;
    Words unique_keys;
    Words destination;
    // The ticket and the descriptors.
    Words state;
    Words run_count;
    Words indirect_tiles;
    // Tiles, or with an indirect count the maximum.
    uint tile_count;
    // Rows in the last tile; all others are full.
    uint last_extent;
#ifdef COUNTED
    Words counts;
#endif
} push;

#include "common/look_back.glsl"

shared uint s_tile;
shared uint s_stalled_tile;
shared Element s_before;

Tiles tiles;
// Bit `k` states that item `k` of the invocation is a head.
uint heads;
// Bit `k` states that a head is among the items `k` of the lanes up to the own one.
uint closed;
// The reduction of the items `k` of the lanes up to the own one, from the last head among them on.
Value totals[ITEMS_PER_INVOCATION];

uint extent_of(uint tile) {
    return tile + 1 < tiles.count ? TILE_ITEMS : tiles.last_extent;
}

// Scans items `k` of a subgroup's lanes, for all `k` at once: their shuffles are in flight together. Every lane of the
// subgroup must call it.
void scan_lanes() {
    uint lane = gl_SubgroupInvocationID;
    closed = heads;
    for (uint distance = 1; distance < gl_SubgroupSize; distance *= 2) {
        bool has_earlier = lane >= distance;
        uint from = has_earlier ? lane - distance : lane;
        uint earlier_closed = subgroupShuffle(closed, from);
        [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
            Value earlier = value_of_lane(totals[k], from);
            if (has_earlier && (closed >> k & 1) == 0) {
                totals[k] = combine(earlier, totals[k]);
            }
        }
        closed |= has_earlier ? earlier_closed : 0;
    }
}

// Loads the rows of a tile, finds its heads, and reduces its rows up to each item. Every lane of the subgroup must call
// it.
void reduce_tile(uint tile) {
    uint extent = extent_of(tile);
    heads = 0;
    if (extent > 0) {
        load_keys(push.keys, tile, extent);
        Words values = advance_words(push.source, tile, TILE_ITEMS * ELEMENT_WORDS);
        [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
            totals[k] = load_words(values, min(item_index(k), extent - 1) * ELEMENT_WORDS);
        }
        heads = head_bits(tile, key_before(push.keys, tile, extent)) & bits_in_bounds(extent);
    }
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        totals[k] = item_index(k) < extent ? from_memory(totals[k]) : value_identity();
    }
    scan_lanes();
}

// The reduction of all earlier subgroups of the tile, and of the whole tile, after reduce_tile(). Every invocation of
// the workgroup must call it, with a barrier after the previous use of the workgroup scan.
Element rank_tile(out Element tile_total) {
    uint last_lane = gl_SubgroupSize - 1;
    uint last_closed = subgroupShuffle(closed, last_lane);
    Element total = Element(value_identity(), subgroupAdd(bitCount(heads)));
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        Value last = value_of_lane(totals[k], last_lane);
        total.value = (last_closed >> k & 1) != 0 ? last : combine(total.value, last);
    }
    return workgroup_exclusive_scan(total, tile_total);
}

// The reduction of all tiles before `tile`, which is not 0, in every invocation. Every invocation of the workgroup must
// call it.
Element total_before(uint tile) {
    // In the first subgroup alone: the reduction of [end, tile).
    Element before = identity();
    uint end = tile;
    bool has_reduced_others = false;
    for (;;) {
        if (gl_SubgroupID == 0) {
            uint stalled = look_back(end, before);
            if (subgroupElect()) {
                s_stalled_tile = stalled;
            }
        }
        barrier();
        uint stalled = s_stalled_tile;
        if (stalled == NONE) {
            break;
        }
        // Fallback: on behalf of the tile's own workgroup.
        has_reduced_others = true;
        reduce_tile(stalled);
        Element stalled_total;
        rank_tile(stalled_total);
        if (gl_SubgroupID == 0) {
            count(FALLBACKS);
            if (subgroupElect()) {
                publish_aggregate(status_of(stalled), stalled_total);
            }
            before = combine(stalled_total, before);
            end = stalled;
        }
        if (stalled == 0) {
            break;
        }
    }
    count_look_back();
    if (gl_SubgroupID == 0 && subgroupElect()) {
        s_before = before;
    }
    // Reducing a tile again is rare, and holding two takes registers.
    if (has_reduced_others) {
        reduce_tile(tile);
    }
    barrier();
    return s_before;
}

// Stores the result of a run that ends at a head or with the rows. `runs` is the number of runs so far, this one
// included, and `first` the number of runs of all earlier tiles.
void store_result(Words results, uint first, uint runs, Value result) {
    store_words(results, (runs - max(first, 1)) * ELEMENT_WORDS, to_memory(result));
}

// Stores the runs of a tile. `before` is the reduction of all earlier tiles, and `before_subgroup` the reduction of earlier
// subgroups of the tile. Every lane of the subgroup must call it.
void store_runs(Element before, Element before_subgroup, Words results) {
    Words unique_keys = advance_words(push.unique_keys, before.is_head, KEY_WORDS);
    uint lane = gl_SubgroupInvocationID;
    uint next = before_subgroup.is_head;
    // The reduction of the rows before the subgroup's next items, from the last head on.
    Value carry = combine(before, before_subgroup).value;
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        bool is_head = (heads >> k & 1) != 0;
        uvec4 ballot = subgroupBallot(is_head);
        uint to = next + subgroupBallotExclusiveBitCount(ballot);
        Value total = (closed >> k & 1) != 0 ? totals[k] : combine(carry, totals[k]);
        Value earlier = value_of_lane(total, max(lane, 1) - 1);
        Value previous = lane == 0 ? carry : earlier;
        if (is_head) {
            if (before.is_head + to > 0) {
                store_result(results, before.is_head, before.is_head + to, previous);
            }
            store_key(advance_words(unique_keys, to, KEY_WORDS), 0, keys[k]);
        }
        next += subgroupBallotBitCount(ballot);
        carry = value_of_lane(total, gl_SubgroupSize - 1);
    }
}

void main() {
    if (gl_LocalInvocationIndex == 0) {
        s_tile = atomicAdd(push.state.word[0], 1u);
    }
    barrier();
    uint tile = s_tile;
    tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    if (tile >= tiles.count) {
        return;
    }
    reduce_tile(tile);
    Element tile_total;
    Element before_subgroup = rank_tile(tile_total);
    Element before = identity();
    if (tile > 0) {
        if (gl_LocalInvocationIndex == 0 && publishes(tile)) {
            publish_aggregate(status_of(tile), tile_total);
        }
        before = total_before(tile);
    }
    Element all = combine(before, tile_total);
    if (gl_LocalInvocationIndex == 0 && publishes(tile)) {
        publish_prefix(status_of(tile), all);
    }
    // The result of the last run of earlier tiles is stored here, too.
    Words results = advance_words(push.destination, max(before.is_head, 1) - 1, ELEMENT_WORDS);
    store_runs(before, before_subgroup, results);
    if (tile + 1 == tiles.count && gl_LocalInvocationIndex == 0) {
        push.run_count.word[0] = all.is_head;
        if (all.is_head > 0) {
            store_result(results, before.is_head, all.is_head, all.value);
        }
    }
}
