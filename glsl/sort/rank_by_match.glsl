// Ranks the keys of a tile by a digit of up to 8 bits: in every subgroup, lanes find out by ballots which of them have the
// same digit, and the first of these counts for all.
//
// A subgroup owns consecutive keys, and its lanes take neighbours of them, so that their loads go together. It counts in
// a table of its own, round after round, in the order of its keys; the tables of all subgroups are then scanned, digit by
// digit, and what they add up to is scanned over the digits.
//
// Shared memory: max(tile, RADIX * WORKGROUP_SIZE / subgroup size) words, RADIX words, and the workgroup scan's.
// Source: Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022, whose lanes match
// digits as those of Ashkiani et al., "GPU Multisplit", PPoPP 2016.

#ifndef SUBSWEEP_SORT_RANK_BY_MATCH
#define SUBSWEEP_SORT_RANK_BY_MATCH

#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#include "common/workgroup_scan.glsl"
#include "sort/tile.glsl"

// The most subgroups of a workgroup, whatever lanes they have: the tables' room.
layout(constant_id = 6) const uint MAX_SUBGROUPS = 16;

const uint TABLES = MAX_SUBGROUPS * RADIX;

// First the tables, subgroup by subgroup, then the tile in order.
shared uint s_tile[TILE_ITEMS > TABLES ? TILE_ITEMS : TABLES];
// Where the first key of each digit stands in the tile.
shared uint s_first_of_digit[RADIX];

// The keys of the tile that have a digit, of those that the invocation looks after.
uint own_count[OWN_DIGITS];

// Where the invocation's key `i` lies in the tile.
uint item_place(uint i) {
    return (gl_SubgroupID * ITEMS_PER_INVOCATION + i) * gl_SubgroupSize + gl_SubgroupInvocationID;
}

void load_items(Words keys, uint extent) {
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        Key key = Key(0);
        if (item_place(i) < extent) {
            key = load_key(keys, item_place(i));
        }
        set_key(i, key);
    }
}

// The lanes that have the same digit as this one, if they have one.
uvec4 matching_lanes(uint digit, bool is_item) {
    uvec4 peers = subgroupBallot(is_item);
    [[unroll]] for (uint bit = 0; bit < RADIX_BITS; bit++) {
        bool is_set = (digit >> bit & 1) != 0;
        uvec4 votes = subgroupBallot(is_set);
        peers &= is_set ? votes : ~votes;
    }
    return peers;
}

// The first of some lanes, word by word: RADV of Mesa 22.3 cannot compile subgroupBallotFindLSB for 64 lanes where they
// have different ballots.
uint first_of(uvec4 lanes) {
    uint first = 96 + findLSB(lanes.w);
    first = lanes.z != 0 ? 64 + findLSB(lanes.z) : first;
    first = lanes.y != 0 ? 32 + findLSB(lanes.y) : first;
    return lanes.x != 0 ? findLSB(lanes.x) : first;
}

// Ranks the invocation's keys, of which those at and beyond `extent` are none; their ranks mean nothing. All of the
// workgroup must call it, in uniform flow, with a barrier since shared memory was last used; and a barrier must come
// before it is used again.
void rank_items(Digit digit, uint extent) {
    uint invocation = invocation_index();
    uint table = gl_SubgroupID * RADIX;
    for (uint d = gl_SubgroupInvocationID; d < RADIX; d += gl_SubgroupSize) {
        s_tile[table + d] = 0;
    }
    barrier();

    // A lane's count of one round is in the table before another lane's of the next: the shuffle waits for what it gives.
    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        bool is_item = item_place(i) < extent;
        uint own = digit_of(key_at(i), digit.shift, digit.mask);
        uvec4 peers = matching_lanes(own, is_item);
        uint first = is_item ? first_of(peers) : gl_SubgroupInvocationID;
        uint before = 0;
        if (is_item && gl_SubgroupInvocationID == first) {
            before = atomicAdd(s_tile[table + own], subgroupBallotBitCount(peers));
        }
        rank[i] = subgroupShuffle(before, first) + subgroupBallotExclusiveBitCount(peers);
    }
    barrier();

    uint own_total = 0;
    uint own_first[OWN_DIGITS];
    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation * OWN_DIGITS + k;
        uint count = 0;
        if (d < RADIX) {
            for (uint subgroup = 0; subgroup < gl_NumSubgroups; subgroup++) {
                uint more = s_tile[subgroup * RADIX + d];
                s_tile[subgroup * RADIX + d] = count;
                count += more;
            }
        }
        own_count[k] = count;
        own_first[k] = own_total;
        own_total += count;
    }
    uint tile_total;
    uint prefix = workgroup_exclusive_scan(subgroup_reduce(own_total), tile_total);
    prefix += subgroup_exclusive_scan(own_total);
    [[unroll]] for (uint k = 0; k < OWN_DIGITS; k++) {
        uint d = invocation * OWN_DIGITS + k;
        if (d < RADIX) {
            s_first_of_digit[d] = prefix + own_first[k];
        }
    }
    barrier();

    [[unroll]] for (uint i = 0; i < ITEMS_PER_INVOCATION; i++) {
        uint own = digit_of(key_at(i), digit.shift, digit.mask);
        rank[i] += s_first_of_digit[own] + s_tile[table + own];
    }
}

// Where the first key of a digit stands in the tile.
uint first_of_digit(uint digit) {
    return s_first_of_digit[digit];
}

#endif
