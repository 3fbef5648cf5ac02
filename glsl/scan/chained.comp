// Scans each tile as soon as what comes before it is known: one pass over memory.
//
// A workgroup takes the next tile, tells the tile's total, looks back over the totals and prefixes that earlier tiles
// have told, and tells its own prefix. Where an earlier tile stays silent, because its workgroup does not run, the one
// that waits sums that tile up itself: nothing here relies on another workgroup's progress.
//
// Dispatch: tile_count workgroups, in any order; more are left alone.
// Reads:    source, element_count elements, which nobody may overwrite meanwhile: a tile may be read again.
// Writes:   destination, element_count elements; state, 4 + tile_count * STATUS_WORDS words, which begin as 0.
// Shared:   the workgroup scan's, and 2 words and an element.
// CPU twin: reference::scan::chained.
// Source:   Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA, 2016; Smith, Levien
//           and Owens, "Decoupled Fallback: A Portable Single-Pass GPU Scan", SPAA 2025.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_ballot : require
#include "scan/tile_scan.glsl"
#include "common/look_back.glsl"

layout(push_constant, std430) uniform Push {
    Words source;
    Words destination;
    // The next tile, and from word 4 on the tiles' statuses.
    Words state;
    uint tile_count;
    // Elements in the last tile; all others are full.
    uint last_extent;
#ifdef COUNTED
    Words counts;
#endif
} push;

// How often a window of tiles is looked at before one of them is summed up in its workgroup's place.
const uint SPIN_LIMIT = 4;
const uint NONE = ~0;

shared uint s_tile;
shared uint s_silent_tile;
shared Element s_carry;

uint extent_of(uint tile) {
    return tile + 1 < push.tile_count ? TILE_ITEMS : push.last_extent;
}

Words source_of(uint tile) {
    return advance_words(push.source, tile, TILE_ITEMS * ELEMENT_WORDS);
}

Words status_of(uint tile) {
    return advance_words(advance_words(push.state, 1, 4), tile, STATUS_WORDS);
}

#ifdef COUNTED
// Counters, in the order of `ChainedCounts`.
const uint WINDOWS = 0;
const uint SPINS = 1;
const uint FALLBACKS = 2;
const uint LONGEST = 3;
// The workgroups of every so manyth tile tell nothing, as if they had stopped; 0 if all tell.
layout(constant_id = 8) const uint SILENT_EVERY = 0;

void count(uint counter, uint more) {
    if (subgroupElect()) {
        atomicAdd(push.counts.word[counter], more);
    }
}

bool tells(uint tile) {
    return SILENT_EVERY == 0 || tile % SILENT_EVERY != 0;
}
#else
#define count(counter, more)
#define tells(tile) true
#endif

// Looks back from tile `end`, which is not 0, as many tiles at a time as a subgroup has lanes, and puts what they tell
// in front of `carry`: until it comes to a prefix, or to a tile that stays silent. Returns that tile, if any, and leaves
// `end` behind it. Every lane of the subgroup must call it.
uint look_back(inout uint end, inout Element carry) {
    uint lane = gl_SubgroupInvocationID;
    for (;;) {
        // Lanes look at tiles in their order, the last lane at the nearest. What would lie before tile 0 is nothing.
        bool exists = end + lane >= gl_SubgroupSize;
        Words tile = status_of(exists ? end + lane - gl_SubgroupSize : 0);
        Element told;
        bool has_prefix;
        uint first, behind_silent;
        for (uint turn = 0; turn < SPIN_LIMIT; turn++) {
            uint status = AGGREGATE;
            told = identity();
            if (exists) {
                status = read_status(tile, told);
            }
            uvec4 prefixes = subgroupBallot(status == PREFIX);
            uvec4 silent = subgroupBallot(status == NOT_READY);
            has_prefix = subgroupBallotBitCount(prefixes) > 0;
            first = has_prefix ? subgroupBallotFindMSB(prefixes) : 0;
            behind_silent = subgroupBallotBitCount(silent) > 0 ? subgroupBallotFindMSB(silent) + 1 : 0;
            if (behind_silent <= first) {
                break;
            }
            count(SPINS, 1);
        }
        count(WINDOWS, 1);
        bool is_stuck = behind_silent > first;
        first = max(first, behind_silent);
        if (lane < first) {
            told = identity();
        }
        carry = combine(subgroup_reduce(told), carry);
        end = max(end + first, gl_SubgroupSize) - gl_SubgroupSize;
        if (is_stuck) {
            return end - 1;
        }
        if (has_prefix || end == 0) {
            return NONE;
        }
    }
}

// What all tiles before `tile`, which is not 0, come to, in every invocation. All of the workgroup must call it.
Element carry_into(uint tile) {
    // Of the first subgroup alone: what lies in [end, tile).
    Element carry = identity();
    uint end = tile;
    for (;;) {
        if (gl_SubgroupID == 0) {
            uint silent = look_back(end, carry);
            if (subgroupElect()) {
                s_silent_tile = silent;
            }
        }
        barrier();
        uint silent = s_silent_tile;
        if (silent == NONE) {
            break;
        }
        Element total = tile_reduce(source_of(silent), ELEMENT_WORDS, extent_of(silent), 0);
        if (gl_SubgroupID == 0) {
            count(FALLBACKS, 1);
            if (subgroupElect()) {
                tell_aggregate(status_of(silent), total);
            }
            carry = combine(total, carry);
            end = silent;
        }
        if (silent == 0) {
            break;
        }
    }
    if (gl_LocalInvocationIndex == 0) {
        s_carry = carry;
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
    if (tile >= push.tile_count) {
        return;
    }
    uint extent = extent_of(tile);
    Element total;
    Element before_subgroup = tile_up(source_of(tile), ELEMENT_WORDS, extent, 0, total);
    Element carry = identity();
    if (tile > 0) {
        if (gl_LocalInvocationIndex == 0 && tells(tile)) {
            tell_aggregate(status_of(tile), total);
        }
        carry = carry_into(tile);
    }
    if (gl_LocalInvocationIndex == 0 && tells(tile)) {
        tell_prefix(status_of(tile), combine(carry, total));
    }
    tile_down(advance_words(push.destination, tile, TILE_ITEMS * ELEMENT_WORDS), ELEMENT_WORDS, extent, 0,
        combine(carry, before_subgroup));
}
