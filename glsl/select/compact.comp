// Compaction of a selection or partition: its down-sweep.
//
// With SUMS_COUNTS each workgroup adds up the counts of the tiles itself, in place of a scan before: of a few tiles, whose
// counts one load of each invocation fetches.
//
// Dispatch: tile_count workgroups.
// Reads:    as count.comp; state, the inclusive scan of its counts, or with SUMS_COUNTS these, unless it is null for a
//           single tile; source and values, element_count of each, of which the kept ones are read.
// Writes:   destination, destination_values and destination_indices, an element each for every kept one, in order: the
//           first part, and with PARTS > 1 the other parts after it; selected_counts, the numbers of elements in the
//           first PARTS - 1 parts, at least one.
// Shared:   the workgroup scan's, and 2 * COUNTED_PARTS words.
// Pass model: reference::passes::select::compacted.
// Source:   as count.comp.

#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef FUNCTIONS
#define USES_KEEP
#include "common/called.glsl"
#endif
#include "select/tile.glsl"

layout(constant_id = ID_SUMS_COUNTS) const bool SUMS_COUNTS = false;

// The counts of the tiles before the workgroup's, and of all tiles: few, so that a word counts their elements.
shared uint s_before[COUNTED_PARTS];
shared uint s_totals[COUNTED_PARTS];

// The counts at `tile` of `state`.
Counts counts_at(uint tile) {
    Words counts = advance_words(push.state, tile, COUNTED_PARTS * OFFSET_WORDS);
    uvec2 second = uvec2(0);
    if (PARTS == 3) {
        second = load_kept(counts, 1, OFFSET_WORDS);
    }
    return Counts(load_kept(counts, 0, OFFSET_WORDS), second);
}

// Adds up the counts of the tiles before `tile`, and of all. Every invocation must call it, once.
void sum_counts(uint tile, uint tile_count) {
    if (gl_LocalInvocationIndex < COUNTED_PARTS) {
        s_before[gl_LocalInvocationIndex] = 0;
        s_totals[gl_LocalInvocationIndex] = 0;
    }
    barrier();
    uvec2 before = uvec2(0);
    uvec2 totals = uvec2(0);
    for (uint t = gl_LocalInvocationIndex; t < tile_count; t += WORKGROUP_SIZE) {
        Counts of_tile = counts_at(t);
        uvec2 counts = uvec2(of_tile.first.x, of_tile.second.x);
        totals += counts;
        before += t < tile ? counts : uvec2(0);
    }
    before = subgroupAdd(before);
    totals = subgroupAdd(totals);
    if (subgroupElect()) {
        [[unroll]] for (uint w = 0; w < COUNTED_PARTS; w++) {
            atomicAdd(s_before[w], before[w]);
            atomicAdd(s_totals[w], totals[w]);
        }
    }
    barrier();
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
    Counts before = Counts(uvec2(0), uvec2(0));
    Counts totals = Counts(uvec2(counts_of(tile_counts).x, 0), uvec2(counts_of(tile_counts).y, 0));
    if (SUMS_COUNTS) {
        sum_counts(tile, tiles.count);
        before.first.x = s_before[0];
        totals.first.x = s_totals[0];
        before.second.x = PARTS == 3 ? s_before[COUNTED_PARTS - 1] : 0;
        totals.second.x = PARTS == 3 ? s_totals[COUNTED_PARTS - 1] : 0;
    } else if (!is_null(push.state)) {
        totals = counts_at(tiles.count - 1);
        if (tile > 0) {
            before = counts_at(tile - 1);
        }
    }
    scatter_tile(tile, extent, before_subgroup, before, totals);
    store_counts(tile, tiles.count, totals);
}
