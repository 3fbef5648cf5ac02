// A step of a simulation fused with the selection of its survivors: each particle is loaded once, moved, and, if it is alive,
// stored once, after the survivors of all particles before it. Survivors keep their order.
//
// Dispatch: ceil(capacity / TILE_ITEMS) workgroups, at least one, in any order; surplus workgroups return.
// Reads:    count, one word: particles there are, at most capacity; particles, which must not be overwritten during the
//           dispatch, since a fallback reads a tile again.
// Writes:   survivors; survivor_count, one word; state, which begins as 0: 4 words, and STATUS_WORDS for each tile.
// Shared:   the workgroup scan's, and 3 words.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/extensions.glsl"
layout(local_size_x = 256) in;
#include "common/dispatch.glsl"
#include "common/grid.glsl"
#include "common/tiles.glsl"
#include "common/workgroup_scan.glsl"

struct Particle {
    vec3 position;
    // Seconds left.
    float life;
    vec3 velocity;
    float mass;
};
const uint PARTICLE_SIZE = 32;

layout(buffer_reference, std430, buffer_reference_align = 16) buffer Particles {
    Particle particle[];
};

layout(push_constant, std430) uniform Push {
    Words particles;
    Words count;
    Words survivors;
    Words survivor_count;
    Words state;
    uint capacity;
    float dt;
} push;

#include "common/look_back.glsl"

const uint ITEMS = 4;
const uint TILE_ITEMS = WORKGROUP_SIZE * ITEMS;

shared uint s_tile;
shared uint s_stalled_tile;
shared uint s_before;

// The index in the tile of the invocation's item `k`. A subgroup has consecutive particles, item by item in the order of its
// lanes: loads coalesce, and ballots count in order.
uint item_index(uint k) {
    return (gl_SubgroupID * ITEMS + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
}

// The simulation. `precise`, so that a CPU has the same bits.
Particle step_of(Particle particle) {
    precise vec3 velocity = particle.velocity + vec3(0, -9.75 * push.dt, 0);
    precise vec3 way = velocity * push.dt;
    precise vec3 position = particle.position + way;
    precise float life = particle.life - push.dt;
    return Particle(position, life, velocity, particle.mass);
}

bool is_alive(Particle particle) {
    return particle.life > 0 && particle.position.y > 0;
}

uint extent_of(uint tile, uint count) {
    return min(count - min(count, tile * TILE_ITEMS), TILE_ITEMS);
}

// Loads and moves the invocation's particles of the tile. Bit `k` of the result states that item `k` survives.
uint move_tile(uint tile, uint count, out Particle moved[ITEMS]) {
    uint extent = extent_of(tile, count);
    // Small indices from the tile's own 64-bit address.
    Particles first = Particles(advance(uvec2(push.particles), tile, TILE_ITEMS * PARTICLE_SIZE));
    uint survives = 0;
    [[unroll]] for (uint k = 0; k < ITEMS; k++) {
        if (item_index(k) < extent) {
            moved[k] = step_of(first.particle[item_index(k)]);
            survives |= uint(is_alive(moved[k])) << k;
        }
    }
    return survives;
}

// The tile's survivors before the subgroup's, and in the whole tile. Every invocation of the workgroup must call it, with a
// barrier after the previous call.
uint rank_tile(uint survives, out uint tile_total) {
    uint subgroup_total = 0;
    [[unroll]] for (uint k = 0; k < ITEMS; k++) {
        subgroup_total += subgroupBallotBitCount(subgroupBallot((survives >> k & 1) != 0));
    }
    return workgroup_exclusive_scan(subgroup_total, tile_total);
}

// Fallback: the survivors of a tile whose workgroup makes no progress, counted on its behalf.
uint count_stalled_tile(uint tile, uint count) {
    Particle unused[ITEMS];
    uint tile_total;
    rank_tile(move_tile(tile, count, unused), tile_total);
    return tile_total;
}

// The survivors of all tiles before `tile`, which is not 0. Every invocation of the workgroup must call it.
uint survivors_before(uint tile, uint count) {
    // In the first subgroup alone: the survivors of the tiles from `end` to `tile`.
    uint before = 0;
    uint end = tile;
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
        uint total = count_stalled_tile(stalled, count);
        if (gl_SubgroupID == 0) {
            if (subgroupElect()) {
                publish_aggregate(status_of(stalled), total);
            }
            before += total;
            end = stalled;
        }
        if (stalled == 0) {
            break;
        }
    }
    if (gl_SubgroupID == 0 && subgroupElect()) {
        s_before = before;
    }
    barrier();
    return s_before;
}

void main() {
    // Tiles in the order in which workgroups begin: all earlier tiles have begun.
    if (gl_LocalInvocationIndex == 0) {
        s_tile = atomicAdd(push.state.word[0], 1u);
    }
    barrier();
    uint tile = s_tile;
    uint count = count_of(push.capacity, push.count);
    // One tile even of no particles, which writes the count.
    uint tile_count = max(ceil_div(count, TILE_ITEMS), 1);
    if (tile >= tile_count) {
        return;
    }
    Particle moved[ITEMS];
    uint survives = move_tile(tile, count, moved);
    uint tile_total;
    uint before_subgroup = rank_tile(survives, tile_total);
    uint before = 0;
    if (tile > 0) {
        if (gl_LocalInvocationIndex == 0) {
            publish_aggregate(status_of(tile), tile_total);
        }
        before = survivors_before(tile, count);
    }
    if (gl_LocalInvocationIndex == 0) {
        publish_prefix(status_of(tile), before + tile_total);
        if (tile + 1 == tile_count) {
            push.survivor_count.word[0] = before + tile_total;
        }
    }
    Particles survivors = Particles(advance(uvec2(push.survivors), before, PARTICLE_SIZE));
    uint next = before_subgroup;
    [[unroll]] for (uint k = 0; k < ITEMS; k++) {
        bool is_kept = (survives >> k & 1) != 0;
        uvec4 kept = subgroupBallot(is_kept);
        if (is_kept) {
            survivors.particle[next + subgroupBallotExclusiveBitCount(kept)] = moved[k];
        }
        next += subgroupBallotBitCount(kept);
    }
}
