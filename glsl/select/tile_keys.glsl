// Keys of a tile, and its heads: the keys that differ from the key before them.
//
// A subgroup has ITEMS_PER_INVOCATION times as many consecutive keys as it has lanes. So a ballot ranks its lanes, and
// neighbouring lanes store neighbouring elements.

#include "common/dispatch.glsl"
#include "common/key.glsl"

layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 1;
// Whether there may be 2^32 keys and more.
#ifndef WIDE_INDICES
#define WIDE_INDICES false
#endif

const uint TILE_ITEMS = WORKGROUP_SIZE * ITEMS_PER_INVOCATION;

// The index in the tile of item `k` of the invocation.
uint item_index(uint k) {
    return (gl_SubgroupID * ITEMS_PER_INVOCATION + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
}

Key keys[ITEMS_PER_INVOCATION];

// Loads the keys of `tile`, `extent` of them and at least one. At and beyond the extent the last key is loaded in their
// place, so that no load needs a branch.
void load_keys(Words all_keys, uint tile, uint extent) {
    Words tile_keys = advance_keys(all_keys, tile, TILE_ITEMS);
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        keys[k] = load_key(tile_keys, min(item_index(k), extent - 1));
    }
}

// Bit `k` states that item `k` of the invocation is before the extent.
uint bits_in_bounds(uint extent) {
    uint bits = 0;
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        bits |= uint(item_index(k) < extent) << k;
    }
    return bits;
}

// Whether a key precedes the subgroup's first one.
bool has_key_before(uint tile) {
    return tile > 0 || item_index(0) > gl_SubgroupInvocationID;
}

// The key before the subgroup's first one, in its first lane, where there is one.
Key key_before(Words all_keys, uint tile, uint extent) {
    uint first = item_index(0) - gl_SubgroupInvocationID;
    Key before = Key(0);
    if (gl_SubgroupInvocationID == 0 && has_key_before(tile) && first < extent) {
        Words words = advance_keys(all_keys, tile * TILE_ITEMS + first - 1, 1);
        if (WIDE_INDICES) {
            uvec2 index = wide_sum(wide_product(tile, TILE_ITEMS), uvec2(first, 0));
            words = advance_keys(all_keys, wide_difference(index, uvec2(1, 0)), 1);
        }
        before = load_key(words, 0);
    }
    return before;
}

// Bit `k` states that item `k` of the invocation is a head, after load_keys(); bits at and beyond the extent are
// undefined. `before` is the key before the subgroup's first one, in its first lane, where there is one. Every lane of
// the subgroup must call it.
uint head_bits(uint tile, Key before) {
    uint lane = gl_SubgroupInvocationID;
    Key last = canonical(before);
    uint bits = lane == 0 && !has_key_before(tile) ? 1 : 0;
    [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
        Key key = canonical(keys[k]);
        Key rotated = subgroupShuffle(key, lane == 0 ? gl_SubgroupSize - 1 : lane - 1);
        Key previous = lane == 0 ? last : rotated;
        last = rotated;
        bits |= uint(key != previous) << k;
    }
    return bits;
}
