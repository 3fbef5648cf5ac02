// Block doubling: one step of a scan by the Sklansky network over the whole device.
//
// Blocks are 2^block_bits elements, each scanned by itself, the last one partial. Every element of the upper block of
// a pair adds the last element of the lower one. No element is both written and read by another invocation, so that
// the step works in place. The first step, of blocks of one element, also copies the elements from source to
// destination.
//
//   before  | lower block ▒| upper block  |       ▒ is added to every element of the upper block
//   after   |          one block          |
//
// An invocation updates one element of an upper block; in the first step it handles a pair. For a workgroup, pairs of
// small blocks are two consecutive tiles of WORKGROUP_SIZE elements, and a large block's part is one tile.
//
// Dispatch: at least the tiles of upper blocks; tile_count, rounded up to whole pairs and halved, covers small
//           blocks.
// Reads:    source, element_count elements.
// Writes:   destination, the elements of upper blocks; with FROM_SOURCE all elements. It must be source without
//           FROM_SOURCE, and may be with it.
// Shared:   none.
// Limits:   WORKGROUP_SIZE is a power of two.
// Pass model: reference::passes::scan::double_blocks.
// Source:   Rosenberg, "Mr. Peabody and Sherman: Cumulative Sum", University of Miami, 2022, method 1; the network is
//           Sklansky's, "Conditional-Sum Addition Logic", IRE Transactions on Electronic Computers, 1960.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/dispatch.glsl"
#include "common/element.glsl"

layout(constant_id = ID_FROM_SOURCE) const bool FROM_SOURCE = false;

layout(push_constant, std430) uniform Push {
    Words source;
    Words destination;
    uint tile_count;
    // Elements in the last tile; all others are full.
    uint last_extent;
    uint block_bits;
} push;

Words element(Words table, uint tile, uint index) {
    return advance_words(advance_words(table, tile, WORKGROUP_SIZE * ELEMENT_WORDS), index, ELEMENT_WORDS);
}

void main() {
    uint w = workgroup_index();
    uint k = gl_LocalInvocationIndex;
    uint tile_bits = findMSB(WORKGROUP_SIZE);

    // The invocation's element of an upper block and the last element of the lower block, each relative to a tile.
    uint tile, upper, last_tile, last;
    if (push.block_bits < tile_bits) {
        uint pair = k >> push.block_bits << (push.block_bits + 1);
        uint block = 1 << push.block_bits;
        tile = last_tile = 2 * w;
        last = pair + block - 1;
        upper = pair + block + (k & (block - 1));
    } else {
        uint block_tiles_bits = push.block_bits - tile_bits;
        uint pair = w >> block_tiles_bits << (block_tiles_bits + 1);
        uint block_tiles = 1 << block_tiles_bits;
        last_tile = pair + block_tiles - 1;
        tile = pair + block_tiles + (w & (block_tiles - 1));
        last = WORKGROUP_SIZE - 1;
        upper = k;
    }
    if (tile >= push.tile_count) {
        return;
    }
    // Elements from the tile's start to the end, at most two tiles.
    uint extent = push.tile_count - tile > 2 ? 2 * WORKGROUP_SIZE
        : (push.tile_count - tile - 1) * WORKGROUP_SIZE + push.last_extent;

    if (FROM_SOURCE) {
        // The lower block is one element, its last.
        if (last < extent) {
            Element lower = load_value(element(push.source, tile, last));
            store_value(element(push.destination, tile, last), lower);
            if (upper < extent) {
                Element value = load_value(element(push.source, tile, upper));
                store_value(element(push.destination, tile, upper), combine(lower, value));
            }
        }
    } else if (upper < extent) {
        Element lower = load_value(element(push.source, last_tile, last));
        Element value = load_value(element(push.source, tile, upper));
        store_value(element(push.destination, tile, upper), combine(lower, value));
    }
}
