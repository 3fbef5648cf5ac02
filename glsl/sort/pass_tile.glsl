// The tile of a workgroup in a pass over all keys, or with SEGMENTED over the segment tile queue.

#include "sort/segments.glsl"

// A tile of a long segment, or of all keys as the only one.
struct PassTile {
    // The index of the segment's first key, and of the tile's.
    uint begin;
    uint first_index;
    // The tile's index in its segment, the segment's tiles, and the first of them among the tiles of all segments.
    uint index;
    uint count;
    uint first_tile;
    // The tile's keys.
    uint extent;
};

#ifdef SEGMENTED
#define TILE_COUNT push.dispatch_args.word[ARGS_TILE_COUNT]

// The queue holds the segment of each tile.
PassTile tile_of_workgroup() {
    uint slot = advance_words(push.tiles, workgroup_index(), 1).word[0];
    Words entry = advance_words(push.long_segments, slot, LONG_SEGMENT_WORDS);
    PassTile tile;
    tile.begin = entry.word[0];
    tile.first_tile = entry.word[2];
    tile.count = entry.word[3];
    tile.index = workgroup_index() - tile.first_tile;
    uint before = tile.index * TILE_ITEMS;
    tile.first_index = tile.begin + before;
    tile.extent = min(entry.word[1] - before, TILE_ITEMS);
    return tile;
}
#else
PassArgs pass = load_pass_args(push.dispatch_args);
#define TILE_COUNT pass.tile_count

PassTile tile_of_workgroup() {
    uint tile = workgroup_index();
    return PassTile(0, tile * TILE_ITEMS, tile, TILE_COUNT, 0, tile_extent(pass, tile, TILE_ITEMS));
}
#endif
