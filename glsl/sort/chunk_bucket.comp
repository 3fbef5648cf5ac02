// Moves the keys of each chunk to their places in the order of one digit, batch by batch, as the seed does.
//
// Dispatch: tile_count workgroups of 32.
// Reads:    keys, element_count keys; values, as many values, or null: then a value is the key's place; offsets,
//           RADIX * tile_count words: the exclusive scan of the counts.
// Writes:   sorted, element_count keys, and sorted_values, as many values (both only with VALUE_WORDS); neither may
//           overlap what is read.
// Shared:   2 * RADIX words.
// CPU twin: reference::sort::chunk_bucket.
// Source:   tutorial 13, cmk_radix_bucket. Its cm_pack_mask, which makes one 32-bit word of 32 lanes' truth values, is
//           a subgroup ballot; subgroups of fewer lanes put their ballots together in shared memory. Its cm_cbit is
//           bitCount.

#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_ballot : require
#include "sort/chunk.glsl"

layout(push_constant, std430) uniform Push {
    Words keys;
    Words sorted;
    Words values;
    Words sorted_values;
    Words offsets;
    uint tile_count;
    // Keys in the last chunk; all others are full.
    uint last_extent;
    uint shift;
    uint digit_mask;
} push;

// Which of the batch's 32 keys have the digit.
shared uint s_mask[RADIX];
// Where the next key of the digit goes.
shared uint s_next[RADIX];

void main() {
    uint chunk = workgroup_index();
    if (chunk >= push.tile_count) {
        return;
    }
    uint extent = chunk + 1 < push.tile_count ? CHUNK_ITEMS : push.last_extent;
    Words keys = advance_words(push.keys, chunk, CHUNK_ITEMS * KEY_WORDS);
    uint lane = invocation_index();

    if (lane < RADIX) {
        s_mask[lane] = 0;
        s_next[lane] = push.offsets.word[count_index(lane, chunk, push.tile_count)];
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
            uint place = s_next[digit] + bitCount(earlier);
            // A place can be beyond 2^31, too far for an index.
            store_key(advance_words(push.sorted, place, KEY_WORDS), key);
#if VALUE_WORDS > 0
            Words value = advance_words(push.sorted_values, place, VALUE_WORDS);
            if (all(equal(uvec2(push.values), uvec2(0)))) {
                value.word[0] = chunk * CHUNK_ITEMS + index;
            } else {
                move_value(advance_words(push.values, chunk, CHUNK_ITEMS * VALUE_WORDS), index, value);
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
