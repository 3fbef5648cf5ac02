// How a segmented sort lists its segments: by their lengths, for whatever sorts such.
//
//   list of a class:  | begin | extent | of each of its segments, in any order
//   long segments:    | begin | extent | first tile | tiles | of each, in any order; their tiles follow one another
//
// Dispatch arguments are those of `dispatch_args.glsl`, but that it counts segments, or tiles, which have
// extents of their own, and that the host knows the ping_pong.

#ifndef SUBSWEEP_SORT_SEGMENTS
#define SUBSWEEP_SORT_SEGMENTS

#include "sort/dispatch_args.glsl"

const uint LIST_WORDS = 2;
const uint LONG_WORDS = 4;

// Keys that are sorted by themselves: so many from the place of the first on.
struct Segment {
    uint begin;
    uint extent;
};

Segment load_segment(Words list, uint index) {
    Words entry = advance_words(list, index, LIST_WORDS);
    return Segment(entry.word[0], entry.word[1]);
}

// A tile of a long segment.
struct SegmentTile {
    // The place of the segment's first key, and of the tile's.
    uint begin;
    uint first_place;
    // The tile among its segment's, which lie behind those of other segments.
    uint tile;
    uint tile_count;
    uint first_tile;
    // Its keys.
    uint extent;
};

// The tile at `index` of all. `tiles` tell of which long segment each is.
SegmentTile load_segment_tile(Words tiles, Words long_segments, uint index, uint tile_items) {
    uint slot = advance_words(tiles, index, 1).word[0];
    Words entry = advance_words(long_segments, slot, LONG_WORDS);
    SegmentTile tile;
    tile.begin = entry.word[0];
    tile.first_tile = entry.word[2];
    tile.tile_count = entry.word[3];
    tile.tile = index - tile.first_tile;
    uint before = tile.tile * tile_items;
    tile.first_place = tile.begin + before;
    tile.extent = min(entry.word[1] - before, tile_items);
    return tile;
}

#endif
