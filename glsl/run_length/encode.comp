// Single-pass encoding of runs of equal elements: each element is read once.
//
// The first element of a run is its head. A head writes the value and the offset of its run, and the length of the run
// before it: the distance to the head before, which another tile may have. So tiles look back at two numbers, of the
// runs that are kept and of the last head. A workgroup that waits for a stalled tile tests that tile itself, so that no
// workgroup relies on the progress of another.
//
// Dispatch: tile_count workgroups, in any order; surplus workgroups return.
// Reads:    elements, KEY_WORDS words each, with KEY_BITS as many bits; indirect_tiles, tile_count and last_extent, where it is not null.
// Writes:   values, KEPT_WORDS words, 0 or KEY_WORDS, offsets, with KEPT_INDICES, and lengths, a word, of each run that
//           is kept, in order: all runs, or with NON_TRIVIAL the runs of more than one element; run_count, their
//           number; state, which begins as 0: 4 words, and STATUS_WORDS for each tile. With COUNTED counts, 4 words, which
//           accumulate.
// Shared:   the workgroup scan's, and 4 words.
// Pass model: reference::passes::run_length::encoded.
// Source:   CUB, DeviceRunLengthEncode; Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
//           Look-back", NVIDIA, 2016; Smith, Levien and Owens, "Decoupled Fallback: A Portable Single-Pass GPU Scan",
//           SPAA 2025.

#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERATOR_RUNS
#include "common/address.glsl"
#include "common/tiles.glsl"
#include "common/workgroup_scan.glsl"
#include "select/tile_keys.glsl"

// Words of a value that are stored, and whether offsets are.
layout(constant_id = ID_KEPT_WORDS) const uint KEPT_WORDS = 0;
layout(constant_id = ID_KEPT_INDICES) const bool KEPT_INDICES = false;
// Keeps the runs of more than one element alone.
layout(constant_id = ID_NON_TRIVIAL) const bool NON_TRIVIAL = false;

layout(push_constant, std430) uniform Push {
    Words elements;
    Words values;
    Words offsets;
    Words lengths;
    // The ticket and the descriptors.
    Words state;
    Words run_count;
    Words indirect_tiles;
    // Tiles, or with an indirect count the maximum.
    uint tile_count;
    // Elements in the last tile; all others are full.
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
// Bit `k` states that item `k` of the invocation is a head, and that its run is kept.
uint heads;
uint kept;

uint extent_of(uint tile) {
    return tile + 1 < tiles.count ? TILE_ITEMS : tiles.last_extent;
}

// Loads and tests the elements of a tile. Every lane of the subgroup must call it.
void test_tile(uint tile) {
    heads = 0;
    kept = 0;
    uint extent = extent_of(tile);
    if (extent == 0) {
        return;
    }
    load_keys(push.elements, tile, extent);
    uint lane = gl_SubgroupInvocationID;
    bool is_last_lane = lane == gl_SubgroupSize - 1;
    uint first = item_index(0) - lane;
    uint end = first + ITEMS_PER_INVOCATION * gl_SubgroupSize;
    bool has_key_after = end < extent || tile + 1 < tiles.count;
    // The key before the subgroup's first one in its first lane, and the one after its last in its last.
    Key neighbour = Key(0);
    bool is_before = lane == 0 && has_key_before(tile) && first < extent;
    if (is_before || (NON_TRIVIAL && is_last_lane && has_key_after)) {
        uint index = tile * TILE_ITEMS + (is_before ? first - 1 : end);
        neighbour = load_key(advance_keys(push.elements, index, 1), 0);
    }
    uint in_bounds = bits_in_bounds(extent);
    heads = head_bits(tile, neighbour) & in_bounds;
    kept = heads;
    if (NON_TRIVIAL) {
        // A run of one element: a head follows, or nothing.
        uint ends = heads | ~in_bounds;
        bool ends_after = !has_key_after || canonical(neighbour) != canonical(keys[ITEMS_PER_INVOCATION - 1]);
        uint ends_next = subgroupShuffle(ends, is_last_lane ? 0 : lane + 1);
        if (is_last_lane) {
            ends_next = bitfieldInsert(ends_next >> 1, uint(ends_after), int(ITEMS_PER_INVOCATION - 1), 1);
        }
        kept &= ~ends_next;
    }
}

// The runs up to a head at index `head` - 1 of `tile`, as runs of the whole array; the same for no head.
Element of_array(Element runs, uint tile) {
    return Element(runs.x, runs.y > 0 ? tile * TILE_ITEMS + runs.y : 0);
}

// The runs of all earlier subgroups of the tile, and of the whole tile, after test_tile(); heads are counted from the
// tile's first element. Every invocation of the workgroup must call it, with a barrier after the previous use of the
// workgroup scan.
Element rank_tile(out Element tile_runs) {
    uint last = heads == 0 ? 0 : item_index(findMSB(heads)) + 1;
    return workgroup_exclusive_scan(subgroup_reduce(Element(bitCount(kept), last)), tile_runs);
}

// The runs of all tiles before `tile`, which is not 0, in every invocation. Every invocation of the workgroup must call
// it.
Element runs_before(uint tile) {
    // In the first subgroup alone: the runs of [end, tile).
    Element before = identity();
    uint end = tile;
    bool has_tested_others = false;
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
        has_tested_others = true;
        test_tile(stalled);
        Element stalled_runs;
        rank_tile(stalled_runs);
        if (gl_SubgroupID == 0) {
            count(FALLBACKS);
            stalled_runs = of_array(stalled_runs, stalled);
            if (subgroupElect()) {
                publish_aggregate(status_of(stalled), stalled_runs);
            }
            before = combine(stalled_runs, before);
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
    // Loading a tile again is rare, and holding two takes registers.
    if (has_tested_others) {
        test_tile(tile);
    }
    barrier();
    return s_before;
}

// The index of the highest bit; there is one.
uint highest_bit(uvec4 ballot) {
    ivec4 bits = findMSB(ballot);
    return bits.w >= 0 ? bits.w + 96 : bits.z >= 0 ? bits.z + 64 : bits.y >= 0 ? bits.y + 32 : bits.x;
}

// Stores the length of a run that ends at a head or at the end of the elements. `runs` is the number of runs that are
// kept so far, this one included, and `first` is the number of runs that all earlier tiles keep.
void store_length(Words lengths, uint first, uint runs, uint length) {
    if (!NON_TRIVIAL || length > 1) {
        lengths.word[runs - max(first, 1)] = length;
    }
}

// Stores the runs of a tile. `before` are the runs of all earlier tiles, and `before_subgroup` the runs of earlier subgroups
// of the tile. Every lane of the subgroup must call it.
void store_runs(uint tile, Element before, Element before_subgroup, Words lengths) {
    Words values = advance_keys(push.values, before.x, 1);
    Words offsets = advance_words(push.offsets, before.x, 1);
    // 1 more than the index of the last head before the subgroup's next items, and the tile's runs before these.
    uint last = combine(before, of_array(before_subgroup, tile)).y;
    uint next = before_subgroup.x;
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        bool is_head = (heads >> k & 1) != 0;
        bool is_kept = (kept >> k & 1) != 0;
        uvec4 head_ballot = subgroupBallot(is_head);
        uvec4 kept_ballot = NON_TRIVIAL ? subgroupBallot(is_kept) : head_ballot;
        uint to = next + subgroupBallotExclusiveBitCount(kept_ballot);
        uvec4 earlier = head_ballot & gl_SubgroupLtMask;
        uint index = tile * TILE_ITEMS + item_index(k);
        uint first_lane = index + 1 - gl_SubgroupInvocationID;
        uint previous = earlier == uvec4(0) ? last : first_lane + highest_bit(earlier);
        if (is_head && previous > 0) {
            store_length(lengths, before.x, before.x + to, index + 1 - previous);
        }
        if (is_kept) {
            if (KEPT_WORDS > 0) {
                store_key(advance_keys(values, to, 1), 0, keys[k]);
            }
            if (KEPT_INDICES) {
                offsets.word[to] = index;
            }
        }
        next += subgroupBallotBitCount(kept_ballot);
        last = head_ballot == uvec4(0) ? last : first_lane + highest_bit(head_ballot);
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
    test_tile(tile);
    Element tile_runs;
    Element before_subgroup = rank_tile(tile_runs);
    tile_runs = of_array(tile_runs, tile);
    Element before = identity();
    if (tile > 0) {
        if (gl_LocalInvocationIndex == 0 && publishes(tile)) {
            publish_aggregate(status_of(tile), tile_runs);
        }
        before = runs_before(tile);
    }
    Element all = combine(before, tile_runs);
    if (gl_LocalInvocationIndex == 0 && publishes(tile)) {
        publish_prefix(status_of(tile), all);
    }
    // The length of the last run that earlier tiles keep is stored here, too.
    Words lengths = advance_words(push.lengths, max(before.x, 1) - 1, 1);
    store_runs(tile, before, before_subgroup, lengths);
    if (tile + 1 == tiles.count && gl_LocalInvocationIndex == 0) {
        push.run_count.word[0] = all.x;
        if (all.y > 0) {
            store_length(lengths, before.x, all.x, tile * TILE_ITEMS + tiles.last_extent + 1 - all.y);
        }
    }
}
