// Tile counts of a selection: its up-sweep.
//
// Dispatch: tile_count workgroups.
// Reads:    tested, element_count flags or keys; operands, the operands of the comparisons, where it is not null;
//           indirect_tiles, tile_count and last_extent, where it is not null.
// Writes:   state, for each tile the number of its elements in the first part, and of three parts in the second one, a
//           word each, or two.
// Shared:   the workgroup scan's.
// Pass model: reference::passes::select::tile_counts.
// Source:   Billeter, Olsson and Assarsson, "Efficient Stream Compaction on Wide SIMD Many-Core Architectures", HPG
//           2009: counts, their scan, and the elements again.

#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef FUNCTIONS
#define USES_KEEP
#include "common/called.glsl"
#endif
#include "select/tile.glsl"

void main() {
    make_intervals();
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    uint tile = workgroup_index();
    if (tile >= tiles.count) {
        return;
    }
    uint extent = tile + 1 < tiles.count ? TILE_ITEMS : tiles.last_extent;
    if (extent > 0) {
        test_tile(tile, extent);
    }
    uint tile_counts;
    rank_tile(tile_counts);
    if (gl_LocalInvocationIndex == 0) {
        Words counts = advance_words(push.state, tile, COUNTED_PARTS * OFFSET_WORDS);
        store_kept(counts, 0, OFFSET_WORDS, uvec2(counts_of(tile_counts).x, 0));
        if (PARTS == 3) {
            store_kept(counts, 1, OFFSET_WORDS, uvec2(counts_of(tile_counts).y, 0));
        }
    }
}
