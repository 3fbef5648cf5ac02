// Compaction of a selection or partition: its down-sweep.
//
// Dispatch: tile_count workgroups.
// Reads:    as count.comp; state, the inclusive scan of its counts, unless it is null for a single tile; source and
//           values, element_count of each, of which the kept ones are read.
// Writes:   destination, destination_values and destination_indices, an element each for every kept one, in order: those
//           of the first part, of PARTS > 1 behind them those of the others; selected_counts, the numbers of elements in the
//           first PARTS - 1 parts, at least one.
// Shared:   the workgroup scan's.
// Pass model: reference::passes::select::compacted.
// Source:   as count.comp.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "select/tile.glsl"

// The counts of all tiles up to `tile`.
uvec2 prefix_of(uint tile) {
    Words prefix = advance_words(push.state, tile, COUNT_WORDS);
    return uvec2(prefix.word[0], PARTS == 3 ? prefix.word[COUNT_WORDS - 1] : 0);
}

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
        load_kept_items(tile, extent);
    }
    uint tile_counts;
    uint before_subgroup = rank_tile(tile_counts);
    uvec2 before = uvec2(0);
    uvec2 totals = unpacked(tile_counts);
    if (!is_null(push.state)) {
        totals = prefix_of(tiles.count - 1);
        if (tile > 0) {
            before = prefix_of(tile - 1);
        }
    }
    scatter_tile(tile, extent, before_subgroup, before, totals);
    store_counts(tile, tiles.count, totals);
}
