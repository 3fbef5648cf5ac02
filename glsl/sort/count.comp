// Digit counts of each tile, for digits of up to 4 bits.
//
// Dispatch: the workgroups of dispatch_args.
// Reads:    one of keys, keys_alt and keys_alt2, as dispatch_args selects: all keys; dispatch_args.
// Writes:   counts, RADIX * tile_count words, digit-major.
// Shared:   8 words.
// Pass model: reference::passes::sort::tile_counts.
// Source:   tutorial 13, cmk_radix_count: counters of all digits packed into words and reduced together.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "sort/tile.glsl"
#include "sort/digit_bytes.glsl"
#include "sort/load_quads.glsl"
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

// Two 16-bit counts per word: .x of a word of DigitBytes holds its bytes 0 and 2, .y its bytes 1 and 3.
shared uvec2 s_counts[4];

void main() {
    uint tile = workgroup_index();
    PassArgs pass = load_pass_args(push.dispatch_args);
    if (tile >= pass.tile_count) {
        return;
    }
    uint extent = tile_extent(pass, tile, TILE_ITEMS);
    Words keys = advance_keys(KEYS_FROM, tile, TILE_ITEMS);

    if (gl_LocalInvocationIndex < 4) {
        s_counts[gl_LocalInvocationIndex] = uvec2(0);
    }
    barrier();

    DigitBytes counts = DigitBytes(uvec4(0));
    [[unroll]] for (uint q = 0; q < ITEMS_PER_INVOCATION / 4; q++) {
        // Counting ignores order: neighbouring invocations load neighbouring quads.
        uint first = (q * WORKGROUP_SIZE + gl_LocalInvocationIndex) * 4;
        Key quad[4];
        load_quad(keys, first, extent, quad);
        [[unroll]] for (uint i = 0; i < 4; i++) {
            if (first + i < extent) {
                count_digit(counts, digit_of(quad[i], push.shift, push.digit_mask));
            }
        }
    }

    // Bytes widen to 16 bits, which hold the count of a whole tile, before the subgroup reduction.
    uvec4 even = subgroupAdd(counts.words & 0x00ff00ff);
    uvec4 odd = subgroupAdd((counts.words >> 8) & 0x00ff00ff);
    if (subgroupElect()) {
        [[unroll]] for (uint w = 0; w < 4; w++) {
            if (w * 4 < RADIX) {
                atomicAdd(s_counts[w].x, even[w]);
                atomicAdd(s_counts[w].y, odd[w]);
            }
        }
    }
    barrier();

    uint digit = gl_LocalInvocationIndex;
    if (digit < RADIX) {
        uvec2 packed = s_counts[digit >> 2];
        uint pair = (digit & 1) == 0 ? packed.x : packed.y;
        uint count = (digit & 2) == 0 ? pair & 0xffff : pair >> 16;
        push.counts.word[count_index(digit, tile, pass.tile_count)] = count;
    }
}
