// Single-pass scan with decoupled look-back: each element is read once and written once.
//
// A workgroup takes the next tile, publishes the tile aggregate, looks back over the aggregates and prefixes of
// earlier tiles, and publishes its own inclusive prefix. A tile is stalled if its workgroup makes no progress; a
// workgroup that waits for a stalled tile reduces that tile itself, so that no workgroup relies on the progress of
// another.
//
// The order of additions depends on which earlier tiles have published a prefix, and varies from run to run. With
// FIXED_TREE the order is fixed:
//
//   tiles    | 0 … 31 | 32 … 63 | 64 … tile |    publish aggregates, never a prefix; GROUP_TILES is 32
//   groups   P(0) ──────► P(1) ─────► P(2)       P(0) is the identity, P(h + 1) = P(h) + the totals of group h
//   carry of the tile = P(2) + the totals of 64 … tile - 1
//
// The totals of a group are added in chunks of as many tiles as a subgroup has lanes, from the group's first tile on.
// Every workgroup that passes the end of a group publishes the next group's exclusive prefix, always with the same
// bits.
//
// Dispatch: tile_count workgroups, in any order; surplus workgroups return.
// Reads:    source, element_count elements, which must not be overwritten during the dispatch, since a fallback reads
//           a tile again; initial, one element, where it is not null; indirect_tiles, tile_count and last_extent,
//           where it is not null.
// Writes:   destination, element_count elements; state, which begins as 0: 4 words, STATUS_WORDS for each tile, and
//           with FIXED_TREE STATUS_WORDS for each group. With COUNTED counts, 4 words, which accumulate.
// Shared:   the workgroup scan's, and 2 words and an element.
// Pass model: reference::passes::scan::chained.
// Source:   Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA, 2016; Smith,
//           Levien and Owens, "Decoupled Fallback: A Portable Single-Pass GPU Scan", SPAA 2025.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "scan/tile_scan.glsl"

layout(push_constant, std430) uniform Push {
    Words source;
    Words destination;
    // The tile counter in word 0; from word 4 on the descriptors of tiles, then the descriptors of groups.
    Words state;
    Words initial;
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

// Whether the plan alone determines the order of additions.
layout(constant_id = ID_FIXED_TREE) const bool FIXED_TREE = false;

// Tiles of a group with FIXED_TREE. The pass check also runs groups of fewer tiles than a subgroup has lanes.
layout(constant_id = ID_GROUP_TILES) const uint GROUP_TILES = 32;

shared uint s_tile;
shared uint s_stalled_tile;
shared Element s_carry;

Tiles tiles;

// The index of a tile in memory order.
uint memory_index(uint tile) {
    return REVERSE ? tiles.count - 1 - tile : tile;
}

uint extent_of(uint tile) {
    return MAIN_PATH || memory_index(tile) + 1 < tiles.count ? TILE_ITEMS : tiles.last_extent;
}

Words source_of(uint tile) {
    return advance_source(push.source, memory_index(tile), TILE_ITEMS * ELEMENT_WORDS);
}

// The descriptor of a group's exclusive prefix. Groups follow all tiles of the capacity.
Words status_of_group(uint group) {
    return advance_words(status_of(push.tile_count), group, STATUS_WORDS);
}

// The position of a subgroup's walk through the fixed tree.
struct Walk {
    // The first tile not added yet: the first of a chunk.
    uint tile;
    // The exclusive prefix of the tile's group, and the total of the group's tiles before the tile.
    Element before_group;
    Element in_group;
    // Whether the aggregate of the lane's tile of the chunk is published, and the aggregate.
    bool is_published;
    Element aggregate;
};

// Begins a walk at the last group, up to the group of `tile`, whose prefix is published. Every lane of the subgroup must
// call it.
Walk walk_towards(uint tile) {
    uint lane = gl_SubgroupInvocationID;
    // The prefix of group 0 is the identity, published or not.
    uint group = tile / GROUP_TILES;
    uint window = group;
    while (window > 0) {
        // Lanes map to groups in order, the last lane to the nearest group.
        bool exists = window + lane >= gl_SubgroupSize;
        Element unused;
        bool is_published = !exists;
        if (exists) {
            is_published = read_status(status_of_group(window + lane + 1 - gl_SubgroupSize), unused) == PREFIX;
        }
        uvec4 published = subgroupBallot(is_published);
        if (subgroupBallotBitCount(published) > 0) {
            uint end = window + subgroupBallotFindMSB(published) + 1;
            window = max(end, gl_SubgroupSize) - gl_SubgroupSize;
            break;
        }
        window = max(window, gl_SubgroupSize) - gl_SubgroupSize;
    }
    Walk walk = Walk(window * GROUP_TILES, identity(), identity(), false, identity());
    // A published prefix is final: each lane may read it for itself.
    if (window > 0) {
        read_status(status_of_group(window), walk.before_group);
    }
    return walk;
}

// The tiles of the chunk that begins at `tile`: 0 at `end`.
uint chunk_size(uint tile, uint end) {
    return min(min(GROUP_TILES - tile % GROUP_TILES, end - tile), gl_SubgroupSize);
}

// Adds a chunk's aggregates, one of each lane, and publishes the prefix of the group that begins after it, if
// `publishes_groups`. Every lane of the subgroup must call it.
void add_chunk(inout Walk walk, uint chunk, Element aggregate, bool publishes_groups) {
    if (gl_SubgroupInvocationID >= chunk) {
        aggregate = identity();
    }
    walk.in_group = combine(walk.in_group, subgroup_reduce(aggregate));
    walk.tile += chunk;
    if (walk.tile % GROUP_TILES == 0) {
        walk.before_group = combine(walk.before_group, walk.in_group);
        walk.in_group = identity();
        if (publishes_groups && subgroupElect()) {
            publish_prefix(status_of_group(walk.tile / GROUP_TILES), walk.before_group);
        }
    }
}

// Adds the aggregates of all tiles before `end`, and publishes the prefix of each group on the way if
// `publishes_groups`. Reads LOOK_BACK_WINDOW chunks together and waits for the first. Stops at a stalled tile and
// returns it, else NONE. Every lane of the subgroup must call it.
uint walk_on(inout Walk walk, uint end, bool publishes_groups) {
    uint lane = gl_SubgroupInvocationID;
    while (walk.tile < end) {
        uint first[LOOK_BACK_WINDOW];
        uint chunk[LOOK_BACK_WINDOW];
        bool is_waiting[LOOK_BACK_WINDOW];
        Element aggregate[LOOK_BACK_WINDOW];
        uint next = walk.tile;
        [[unroll]] for (uint c = 0; c < LOOK_BACK_WINDOW; c++) {
            first[c] = next;
            chunk[c] = chunk_size(next, end);
            next += chunk[c];
            is_waiting[c] = lane < chunk[c] && !(c == 0 && walk.is_published);
            aggregate[c] = walk.aggregate;
        }
        uvec4 stalled;
        for (uint spin = 0; spin < SPIN_LIMIT; spin++) {
            [[unroll]] for (uint c = 0; c < LOOK_BACK_WINDOW; c++) {
                // As in look_back: no branch between the loads of several chunks.
                if (LOOK_BACK_WINDOW > 1 || is_waiting[c]) {
                    Element published;
                    uint status = read_status(status_of(is_waiting[c] ? first[c] + lane : 0), published);
                    if (is_waiting[c]) {
                        aggregate[c] = published;
                        is_waiting[c] = status == NOT_READY;
                    }
                }
            }
            stalled = subgroupBallot(is_waiting[0]);
            if (subgroupBallotBitCount(stalled) == 0) {
                break;
            }
            count(SPINS);
        }
        count_window();
        walk.is_published = lane < chunk[0] && !is_waiting[0];
        walk.aggregate = aggregate[0];
        if (subgroupBallotBitCount(stalled) > 0) {
            return walk.tile + subgroupBallotFindLSB(stalled);
        }
        walk.is_published = false;
        add_chunk(walk, chunk[0], aggregate[0], publishes_groups);
        bool is_complete = true;
        [[unroll]] for (uint c = 1; c < LOOK_BACK_WINDOW; c++) {
            is_complete = is_complete && chunk[c] > 0 && !subgroupAny(is_waiting[c]);
            if (is_complete) {
                add_chunk(walk, chunk[c], aggregate[c], publishes_groups);
            }
        }
    }
    return NONE;
}

// Fallback: reduces a stalled tile on behalf of its workgroup. Every invocation of the workgroup must call it, with a
// barrier after the previous use of the workgroup scan. With FIXED_TREE the result must equal the result of `scan_runs`
// bit for bit: both fold a run from the identity and end in the same subgroup and workgroup scans; `combine` is precise,
// so that no compiler may evaluate the two differently.
Element reduce_stalled_tile(uint tile) {
    Words first = advance_source(source_of(tile), first_row(), ELEMENT_WORDS);
    uint left = rows_left(extent_of(tile));
    Element subgroup_total = identity();
    [[dont_unroll]] for (uint round = 0; round < RUNS_PER_INVOCATION; round++) {
        Element run_total = identity();
        [[dont_unroll]] for (uint p = 0; p < PACKS_PER_RUN; p++) {
            Value pack[PACK_ITEMS];
            load_pack(first, ELEMENT_WORDS, pack_offset(round * PACKS_PER_RUN + p), left, false, pack);
            from_memory_pack(pack);
            [[unroll]] for (uint i = 0; i < PACK_ITEMS; i++) {
                run_total = combine(run_total, pack[i]);
            }
        }
        Element round_total;
        subgroup_exclusive_scan(run_total, round_total);
        subgroup_total = combine(subgroup_total, round_total);
    }
    Element tile_total;
    workgroup_exclusive_scan(subgroup_total, tile_total);
    return tile_total;
}

// The first subgroup looks back for its workgroup. OTHER_SUBGROUPS with MAIN_PATH compiles the main path of the
// others.
layout(constant_id = ID_OTHER_SUBGROUPS) const bool OTHER_SUBGROUPS = false;
#define LOOKS_BACK (!OTHER_SUBGROUPS && gl_SubgroupID == 0)

// The exclusive prefix of `tile`, which is not 0, in every invocation. Every invocation of the workgroup must call
// it.
Element carry_into(uint tile) {
    // In the first subgroup alone: the total of [end, tile).
    Element carry = identity();
    uint end = tile;
    Walk walk;
    if (FIXED_TREE && gl_SubgroupID == 0) {
        walk = walk_towards(tile);
    }
    for (;;) {
        if (LOOKS_BACK) {
            uint stalled;
            if (FIXED_TREE) {
                stalled = walk_on(walk, tile, publishes(tile));
            } else {
                stalled = look_back(end, carry);
            }
            if (subgroupElect()) {
                s_stalled_tile = stalled;
            }
        }
        barrier();
        uint stalled = s_stalled_tile;
        if (MAIN_PATH || stalled == NONE) {
            break;
        }
        Element total = reduce_stalled_tile(stalled);
        if (gl_SubgroupID == 0) {
            count(FALLBACKS);
            if (subgroupElect()) {
                publish_aggregate(status_of(stalled), total);
            }
            if (!FIXED_TREE) {
                carry = combine(total, carry);
                end = stalled;
            } else if (walk.tile + gl_SubgroupInvocationID == stalled) {
                // Used directly, not read back: the tile's own workgroup may have published some of its words and
                // stopped.
                walk.aggregate = total;
                walk.is_published = true;
            }
        }
        if (!FIXED_TREE && stalled == 0) {
            break;
        }
    }
    count_look_back();
    if (gl_SubgroupID == 0 && subgroupElect()) {
        s_carry = FIXED_TREE ? combine(walk.before_group, walk.in_group) : carry;
    }
    barrier();
    return s_carry;
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
    uint extent = extent_of(tile);
    load_tile(source_of(tile), ELEMENT_WORDS, extent);
    Element total;
    Element before_subgroup = scan_runs(0, total);
    Element carry = identity();
    if ((FIXED_TREE || tile > 0) && gl_LocalInvocationIndex == 0 && publishes(tile)) {
        publish_aggregate(status_of(tile), total);
    }
    if (tile > 0) {
        carry = carry_into(tile);
    }
    if (!FIXED_TREE && gl_LocalInvocationIndex == 0 && publishes(tile)) {
        publish_prefix(status_of(tile), combine(carry, total));
    }
    // Added in front of all tiles, and never published, so that the fallback needs no initial value.
    if (!is_null(push.initial)) {
        carry = combine(load_value(push.initial), carry);
    }
    Words destination = advance_results(push.destination, memory_index(tile), TILE_ITEMS * ELEMENT_WORDS);
    apply_carry(0, combine(carry, before_subgroup));
    store_tile(destination, ELEMENT_WORDS, extent);
}
