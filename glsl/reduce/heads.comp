// Heads of runs of equal keys: counts them in each tile, or stores them.
//
// Dispatch: tile_count workgroups.
// Reads:    keys, one for each row: a head is the first row and each row whose key is another number than the one before
//           it; with STORES_HEADS tile_heads; indirect_tiles, tile_count and last_extent, where it is not null.
// Writes:   tile_heads, the number of heads of each tile; with STORES_HEADS instead offsets and unique_keys, the row and
//           the key of each head: tile_heads then has the number of heads before each tile.
// Shared:   the workgroup scan's.
// Pass model: reference::passes::reduce::heads_of.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/key.glsl"
#include "common/tiles.glsl"
#include "common/workgroup_scan.glsl"

layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 8;
layout(constant_id = ID_STORES_HEADS) const bool STORES_HEADS = false;

layout(push_constant, std430) uniform Push {
    Words keys;
    Words tile_heads;
    Words offsets;
    Words unique_keys;
    Words indirect_tiles;
    uint tile_count;
    // Rows in the last tile; all others are full.
    uint last_extent;
} push;

const uint TILE_ITEMS = WORKGROUP_SIZE * ITEMS_PER_INVOCATION;

void main() {
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    uint tile = workgroup_index();
    if (tile >= tiles.count) {
        return;
    }
    uint extent = tile + 1 < tiles.count ? TILE_ITEMS : tiles.last_extent;
    uint tile_row = tile * TILE_ITEMS;
    // Each subgroup has one part of the tile, and a lane one row in each round.
    uint first = gl_SubgroupID * gl_SubgroupSize * ITEMS_PER_INVOCATION + gl_SubgroupInvocationID;

    uint head_bits = 0;
    uint head_count = 0;
    for (uint round = 0; round < ITEMS_PER_INVOCATION; round++) {
        uint row = first + round * gl_SubgroupSize;
        bool is_head = row < extent && tile_row + row == 0;
        if (row < extent && tile_row + row > 0) {
            Words before = advance_words(push.keys, tile_row + row - 1, KEY_WORDS);
            is_head = canonical(load_key(before, 1)) != canonical(load_key(before, 0));
        }
        head_bits |= uint(is_head) << round;
        head_count += subgroupBallotBitCount(subgroupBallot(is_head));
    }
    uint tile_head_count;
    uint rank = workgroup_exclusive_scan(head_count, tile_head_count);
    if (!STORES_HEADS) {
        if (gl_LocalInvocationIndex == 0) {
            advance_words(push.tile_heads, tile, 1).word[0] = tile_head_count;
        }
        return;
    }

    rank += advance_words(push.tile_heads, tile, 1).word[0];
    for (uint round = 0; round < ITEMS_PER_INVOCATION; round++) {
        bool is_head = (head_bits >> round & 1) != 0;
        uvec4 heads = subgroupBallot(is_head);
        uint head = rank + subgroupBallotExclusiveBitCount(heads);
        if (is_head) {
            uint row = tile_row + first + round * gl_SubgroupSize;
            advance_words(push.offsets, head, 1).word[0] = row;
            Key key = load_key(advance_words(push.keys, row, KEY_WORDS), 0);
            store_key(advance_words(push.unique_keys, head, KEY_WORDS), 0, key);
        }
        rank += subgroupBallotBitCount(heads);
    }
}
