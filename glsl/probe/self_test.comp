// Self-test of a device: the subgroup, shared memory and atomic operations that every kernel relies on. Each failed
// check sets its bit.
//
// Dispatch: any number of full workgroups.
// Reads:    nothing.
// Writes:   verdict, 2 words, which begin as 0: the bits of the failed checks; the number of invocations.
// Shared:   2 * WORKGROUP_SIZE words.
// Pass model: none; the expected verdict is 0 and every invocation counted.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/address.glsl"
#include "common/dispatch.glsl"

layout(push_constant, std430) uniform Push {
    Words verdict;
    uint subgroup_size;
} push;

const uint SIZE = 1u << 0;
const uint LANE_ORDER = 1u << 1;
const uint VOTE = 1u << 2;
const uint ARITHMETIC = 1u << 3;
const uint BALLOT = 1u << 4;
const uint SHUFFLE = 1u << 5;
const uint SHARED_MEMORY = 1u << 6;

shared uint s_seen[WORKGROUP_SIZE];
shared uint s_value[WORKGROUP_SIZE];

// A value that differs between lanes and between workgroups.
uint value_of(uint lane) {
    return (lane + 1) * 2654435761u + workgroup_index();
}

void main() {
    uint lanes = gl_SubgroupSize;
    uint lane = gl_SubgroupInvocationID;
    uint failed = 0;

    if (lanes != push.subgroup_size || gl_NumSubgroups * lanes != WORKGROUP_SIZE) {
        failed |= SIZE;
    }

    // invocation_index() is a permutation of the workgroup.
    s_seen[gl_LocalInvocationIndex] = 0;
    barrier();
    if (invocation_index() < WORKGROUP_SIZE) {
        atomicAdd(s_seen[invocation_index()], 1);
    }
    barrier();
    if (s_seen[gl_LocalInvocationIndex] != 1) {
        failed |= LANE_ORDER;
    }

    if (!subgroupAll(lane < lanes) || subgroupAny(lane >= lanes) || subgroupAll(lane == 0)) {
        failed |= VOTE;
    }

    // Sums wrap, and scans follow lane order.
    uint before = 0;
    uint total = 0;
    for (uint other = 0; other < lanes; other++) {
        before += other < lane ? value_of(other) : 0;
        total += value_of(other);
    }
    uint value = value_of(lane);
    bool sums = subgroupAdd(value) == total && subgroupExclusiveAdd(value) == before;
    if (!sums || subgroupInclusiveAdd(value) != before + value) {
        failed |= ARITHMETIC;
    }

    uvec4 odd = subgroupBallot((lane & 1) == 1);
    bool counts = subgroupBallotBitCount(odd) == lanes / 2 && subgroupBallotExclusiveBitCount(odd) == lane / 2;
    if (!counts || (odd[lane / 32] >> (lane % 32) & 1) != (lane & 1)) {
        failed |= BALLOT;
    }

    uint next = (lane + 1) % lanes;
    if (subgroupShuffle(value, next) != value_of(next)) {
        failed |= SHUFFLE;
    }

    s_value[gl_LocalInvocationIndex] = gl_LocalInvocationIndex * 3 + 1;
    barrier();
    uint mirrored = WORKGROUP_SIZE - 1 - gl_LocalInvocationIndex;
    if (s_value[mirrored] != mirrored * 3 + 1) {
        failed |= SHARED_MEMORY;
    }

    atomicOr(push.verdict.word[0], failed);
    atomicAdd(push.verdict.word[1], 1);
}
