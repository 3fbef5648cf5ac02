// Stable scatter of each chunk's keys by one digit, batch by batch, as in tutorial 13.
//
// Dispatch: the workgroups of dispatch_args, of 32 invocations.
// Reads:    one of keys, keys_alt and keys_alt2, and one of values and values_alt, as dispatch_args selects: all
//           elements, or instead of values the keys' indices; offsets, RADIX * tile_count words: the exclusive prefix
//           sum of the counts; dispatch_args.
// Writes:   another of these buffers of keys, unless NO_LAST_KEYS, and of values (only with VALUE_WORDS).
// Shared:   2 * RADIX words.
// Pass model: reference::passes::sort::scatter.
// Source:   tutorial 13, cmk_radix_bucket. Its cm_pack_mask, which packs 32 lanes' booleans into a 32-bit word, is a
//           subgroup ballot; subgroups of fewer lanes merge their ballots in shared memory. Its cm_cbit is bitCount.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "sort/chunk.glsl"
#include "sort/scatter_buffers.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
    Words keys_alt;
    Words keys_alt2;
    Words values;
    Words values_alt;
    Words offsets;
    Words dispatch_args;
    uint shift;
    uint digit_mask;
} push;

// For each digit, the mask of the batch's 32 keys that have it.
shared uint s_mask[RADIX];
// For each digit, the offset of its next key in the output.
shared uint s_next[RADIX];

#if VALUE_WORDS > 0
void copy_value(Words values, uint index, Words to) {
    [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
        to.word[w] = values.word[index * VALUE_WORDS + w];
    }
}
#endif

void main() {
    uint chunk = workgroup_index();
    PassArgs pass = load_pass_args(push.dispatch_args);
    if (chunk >= pass.tile_count) {
        return;
    }
    uint extent = tile_extent(pass, chunk, CHUNK_ITEMS);
    Words keys = advance_words(KEYS_FROM, chunk, CHUNK_ITEMS * KEY_WORDS);
    Words sorted = KEYS_TO;
#if VALUE_WORDS > 0
    Values values = values_of(pass.ping_pong, push.values, push.values_alt);
    Words chunk_values = advance_words(values.from, chunk * CHUNK_ITEMS, VALUE_WORDS);
#endif
    uint lane = invocation_index();

    if (lane < RADIX) {
        s_mask[lane] = 0;
        s_next[lane] = push.offsets.word[count_index(lane, chunk, pass.tile_count)];
    }
    barrier();

    for (uint batch = 0; batch < BATCHES_PER_CHUNK; batch++) {
        uint index = batch * BATCH + lane;
        bool in_chunk = index < extent;
        Key key = Key(0);
        if (in_chunk) {
            key = load_key(keys, index);
        }
        uint digit = digit_of(key, push.shift, push.digit_mask);

        for (uint bucket = 0; bucket < RADIX; bucket++) {
            uint mask = subgroupBallot(in_chunk && digit == bucket).x;
            if (subgroupElect()) {
                atomicOr(s_mask[bucket], mask << (gl_SubgroupID * gl_SubgroupSize));
            }
        }
        barrier();

        if (in_chunk) {
            uint earlier = s_mask[digit] & ((1u << lane) - 1);
            uint sorted_index = s_next[digit] + bitCount(earlier);
            if (is_written(sorted)) {
                // The offset may exceed 2^31, which an array index cannot.
                store_key(advance_words(sorted, sorted_index, KEY_WORDS), 0, key);
            }
#if VALUE_WORDS > 0
            Words value = advance_words(values.to, sorted_index, VALUE_WORDS);
            if (values.are_indices) {
                value.word[0] = chunk * CHUNK_ITEMS + index;
            } else {
                copy_value(chunk_values, index, value);
            }
#endif
        }
        barrier();
        if (lane < RADIX) {
            s_next[lane] += bitCount(s_mask[lane]);
            s_mask[lane] = 0;
        }
        barrier();
    }
}
