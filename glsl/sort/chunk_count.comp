// Digit counts of each chunk, in packed 16-bit counters, as in tutorial 13; with BIN_BY_BIN in a counter for each
// digit, which the tutorial calls the intuitive and slower way.
//
// Dispatch: the workgroups of dispatch_args, of 32 invocations.
// Reads:    one of keys, keys_alt and keys_alt2, as dispatch_args selects: all keys; dispatch_args.
// Writes:   counts, RADIX * tile_count words, digit-major.
// Shared:   RADIX / 2 words, or RADIX.
// Pass model: reference::passes::sort::tile_counts.
// Source:   tutorial 13, cmk_radix_count: each lane has counters of its own, which are then reduced for all digits
//           together. Its one 64-bit addition of four 16-bit counters is a subgroup addition of a uvec2 here, and the
//           cm_sum of each row a subgroup addition of each digit's counter.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "sort/chunk.glsl"
#include "sort/dispatch_args.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
    Words keys_alt;
    Words keys_alt2;
    Words counts;
    Words dispatch_args;
    uint shift;
    uint digit_mask;
} push;

#ifdef BIN_BY_BIN

#define Counter uint
const uint DIGITS_OF_COUNTER = 1;

Counter one_of(uint digit) {
    return 1;
}

uint count_of(Counter count, uint digit) {
    return count;
}

#else

// 16 bits for each digit.
#define Counter uvec2
const uint DIGITS_OF_COUNTER = 4;

Counter one_of(uint digit) {
    uint one = 1u << (16 * (digit & 1));
    return (digit & 2) == 0 ? uvec2(one, 0) : uvec2(0, one);
}

uint count_of(Counter count, uint digit) {
    uint pair = (digit & 2) == 0 ? count.x : count.y;
    return (digit & 1) == 0 ? pair & 0xffff : pair >> 16;
}

#endif

const uint COUNTERS = RADIX / DIGITS_OF_COUNTER;

shared Counter s_counts[COUNTERS];

// Adds to a counter of the chunk, concurrently with other subgroups.
void add_to_count(uint counter, Counter sum) {
#ifdef BIN_BY_BIN
    atomicAdd(s_counts[counter], sum);
#else
    atomicAdd(s_counts[counter].x, sum.x);
    atomicAdd(s_counts[counter].y, sum.y);
#endif
}

void main() {
    uint chunk = workgroup_index();
    PassArgs pass = load_pass_args(push.dispatch_args);
    if (chunk >= pass.tile_count) {
        return;
    }
    uint extent = tile_extent(pass, chunk, CHUNK_ITEMS);
    Words keys = advance_words(KEYS_FROM, chunk, CHUNK_ITEMS * KEY_WORDS);

    if (gl_LocalInvocationIndex < COUNTERS) {
        s_counts[gl_LocalInvocationIndex] = Counter(0);
    }
    barrier();

    Counter counters[COUNTERS];
    [[unroll]] for (uint i = 0; i < COUNTERS; i++) {
        counters[i] = Counter(0);
    }
    for (uint batch = 0; batch < BATCHES_PER_CHUNK; batch++) {
        uint index = batch * BATCH + invocation_index();
        if (index < extent) {
            uint digit = digit_of(load_key(keys, index), push.shift, push.digit_mask);
            [[unroll]] for (uint i = 0; i < COUNTERS; i++) {
                counters[i] += digit / DIGITS_OF_COUNTER == i ? one_of(digit) : Counter(0);
            }
        }
    }

    [[unroll]] for (uint i = 0; i < COUNTERS; i++) {
        Counter sum = subgroupAdd(counters[i]);
        if (subgroupElect()) {
            add_to_count(i, sum);
        }
    }
    barrier();

    uint digit = gl_LocalInvocationIndex;
    if (digit < RADIX) {
        uint count = count_of(s_counts[digit / DIGITS_OF_COUNTER], digit);
        push.counts.word[count_index(digit, chunk, pass.tile_count)] = count;
    }
}
