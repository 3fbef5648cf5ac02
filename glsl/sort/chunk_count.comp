// Counts the digits of each chunk with packed 16-bit counters, as the seed does.
//
// Dispatch: the workgroups of its schedule, of 32 invocations.
// Reads:    an array of keys, as the schedule says: all of them; schedule.
// Writes:   counts, RADIX * tile_count words, digit-major.
// Shared:   RADIX / 2 words.
// CPU twin: reference::sort::chunk_count.
// Source:   tutorial 13, cmk_radix_count: each lane counts for itself, then the counters of all digits are added up
//           together. Its one 64-bit add for four 16-bit counters is a subgroup addition of a uvec2 here.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "sort/chunk.glsl"
#include "sort/schedule.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
    Words keys_aside;
    Words keys_other;
    Words counts;
    Words schedule;
    uint shift;
    uint digit_mask;
} push;

// Four digits each, 16 bits a digit.
const uint QUARTETS = RADIX / 4;

shared uvec2 s_counts[QUARTETS];

void main() {
    uint chunk = workgroup_index();
    Scheduled pass = load_schedule(push.schedule);
    if (chunk >= pass.tile_count) {
        return;
    }
    uint extent = tile_extent(pass, chunk, CHUNK_ITEMS);
    Words all_keys = array_of(pass.route.keys_from, push.keys, push.keys_aside, push.keys_other);
    Words keys = advance_words(all_keys, chunk, CHUNK_ITEMS * KEY_WORDS);

    if (gl_LocalInvocationIndex < QUARTETS) {
        s_counts[gl_LocalInvocationIndex] = uvec2(0);
    }
    barrier();

    uvec2 counters[QUARTETS];
    [[unroll]] for (uint quartet = 0; quartet < QUARTETS; quartet++) {
        counters[quartet] = uvec2(0);
    }
    for (uint batch = 0; batch < BATCHES_PER_CHUNK; batch++) {
        uint index = batch * BATCH + invocation_index();
        if (index < extent) {
            uint digit = digit_of(load_key(keys, index), push.shift, push.digit_mask);
            uint one = 1u << (16 * (digit & 1));
            uvec2 increment = (digit & 2) == 0 ? uvec2(one, 0) : uvec2(0, one);
            [[unroll]] for (uint quartet = 0; quartet < QUARTETS; quartet++) {
                counters[quartet] += digit / 4 == quartet ? increment : uvec2(0);
            }
        }
    }

    [[unroll]] for (uint quartet = 0; quartet < QUARTETS; quartet++) {
        uvec2 sum = subgroupAdd(counters[quartet]);
        if (subgroupElect()) {
            atomicAdd(s_counts[quartet].x, sum.x);
            atomicAdd(s_counts[quartet].y, sum.y);
        }
    }
    barrier();

    uint digit = gl_LocalInvocationIndex;
    if (digit < RADIX) {
        uvec2 packed = s_counts[digit / 4];
        uint pair = (digit & 2) == 0 ? packed.x : packed.y;
        uint count = (digit & 1) == 0 ? pair & 0xffff : pair >> 16;
        push.counts.word[count_index(digit, chunk, pass.tile_count)] = count;
    }
}
