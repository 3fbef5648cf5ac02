// Queues of a segmented sort, one for each size class.
//
//   queue of a class:  | begin | extent | of each of its segments, in any order
//   long segments:     | begin | extent | first tile | tiles | of each, in any order; their tiles are consecutive
//
// Dispatch arguments have the layout of `dispatch_args.glsl`, with the number of segments, or of tiles of the segment
// tile queue, as their tile count; last extent and ping_pong are unused.

#ifndef SUBSWEEP_SORT_SEGMENTS
#define SUBSWEEP_SORT_SEGMENTS

#include "sort/dispatch_args.glsl"

const uint SEGMENT_WORDS = 2;
const uint LONG_SEGMENT_WORDS = 4;

// A segment: the index of its first key, and its number of keys.
struct Segment {
    uint begin;
    uint extent;
};

Segment load_segment(Words queue, uint index) {
    Words entry = advance_words(queue, index, SEGMENT_WORDS);
    return Segment(entry.word[0], entry.word[1]);
}

// A tile of a long segment.
struct SegmentTile {
    // The index of the segment's first key, and of the tile's.
    uint begin;
    uint first_index;
    // The tile's index in its segment, the segment's tiles, and the first of them among the tiles of all segments.
    uint tile;
    uint tile_count;
    uint first_tile;
    // The tile's keys.
    uint extent;
};

// Loads tile `index` of the segment tile queue `tiles`, which holds the segment of each tile.
SegmentTile load_segment_tile(Words tiles, Words long_segments, uint index, uint tile_items) {
    uint slot = advance_words(tiles, index, 1).word[0];
    Words entry = advance_words(long_segments, slot, LONG_SEGMENT_WORDS);
    SegmentTile tile;
    tile.begin = entry.word[0];
    tile.first_tile = entry.word[2];
    tile.tile_count = entry.word[3];
    tile.tile = index - tile.first_tile;
    uint before = tile.tile * tile_items;
    tile.first_index = tile.begin + before;
    tile.extent = min(entry.word[1] - before, tile_items);
    return tile;
}

#endif
