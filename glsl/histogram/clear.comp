// Clears the counts of a histogram. A fill would need the handle of their buffer.
//
// Dispatch: one workgroup for each WORKGROUP_SIZE * WORDS_PER_INVOCATION words.
// Writes:   counts, word_count words of 0.
// Shared:   nothing.
// Pass model: none; the first line says the result.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/address.glsl"
#include "common/dispatch.glsl"

layout(push_constant, std430) uniform Push {
    Words counts;
    uint word_count;
} push;

const uint WORDS_PER_INVOCATION = 4;

void main() {
    uint first = workgroup_index() * WORDS_PER_INVOCATION * WORKGROUP_SIZE + gl_LocalInvocationIndex;
    [[unroll]] for (uint k = 0; k < WORDS_PER_INVOCATION; k++) {
        uint word = first + k * WORKGROUP_SIZE;
        if (word < push.word_count) {
            push.counts.word[word] = 0;
        }
    }
}
