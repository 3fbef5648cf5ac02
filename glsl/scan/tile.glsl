// How a workgroup goes through its tile: what reduce and downsweep have in common.
//
// A tile is one contiguous stretch of rows for each subgroup; a stretch is RUNS_PER_INVOCATION rounds; in a round each
// lane takes PACKS_PER_RUN packs that follow one another, and the next lane goes on behind it. Short runs keep the
// lanes' loads together, as a GPU likes; one long run needs a single subgroup scan, as a CPU likes.
//
//   subgroup s   | round 0: lane 0, lane 1, … | round 1: lane 0, lane 1, … |
//                            run = PACKS_PER_RUN packs of PACK_ITEMS rows
//
// With REVERSE all of this is mirrored, tile by tile and pack by pack: the first tile is the last in memory, and so are
// its first pack and the pack's first row. Packs stay where they are, so that quads stay quads.

#ifndef SUBSWEEP_SCAN_TILE
#define SUBSWEEP_SCAN_TILE

#include "common/main_path.glsl"
#include "common/workgroup_scan.glsl"
#include "common/tiles.glsl"

layout(constant_id = 1) const uint RUNS_PER_INVOCATION = 4;
layout(constant_id = 2) const uint PACKS_PER_RUN = 1;
// Values are accessed by quads: source and destination are multiples of 16 bytes, and without MIXED_ACCESS no quad is cut off
// by the last row.
layout(constant_id = 3) const bool QUAD_ACCESS = false;
// Full tiles are accessed without bounds checks, and the last one word by word: one branch a tile, as GPUs like. llvmpipe
// executes both sides of a branch, a lane at a time.
layout(constant_id = 14) const bool MIXED_ACCESS = false;
// From the last row to the first.
layout(constant_id = 9) const bool REVERSE = false;

const uint RUN_ITEMS = PACKS_PER_RUN * PACK_ITEMS;
const uint TILE_ITEMS = WORKGROUP_SIZE * RUNS_PER_INVOCATION * RUN_ITEMS;

// What a workgroup takes.
struct Tile {
    // In the order of the scan; beyond the last there is nothing to do.
    uint index;
    // In memory.
    uint place;
    uint extent;
    // With STRIDED.
    uint column;
};

// The columns of a tile's rows follow one another, for they share cache lines.
Tile tile_of_workgroup(Tiles tiles, uint column_count) {
    Tile tile;
#ifdef STRIDED
    tile.index = workgroup_index() / column_count;
    tile.column = workgroup_index() % column_count;
#else
    tile.index = workgroup_index();
    tile.column = 0;
#endif
    tile.place = REVERSE ? tiles.count - 1 - tile.index : tile.index;
    tile.extent = MAIN_PATH || tile.place + 1 < tiles.count ? TILE_ITEMS : tiles.last_extent;
    return tile;
}

// Words from a column's value in one row to that in the next.
uint row_stride(uint column_count) {
#ifdef STRIDED
    return column_count * ELEMENT_WORDS;
#else
    return ELEMENT_WORDS;
#endif
}

// The column's value in row `row` * `rows` of `table`.
Words column_from(Words table, uint row, uint rows, uint column_count, uint column) {
    Words words = advance_words(table, row, rows * row_stride(column_count));
#ifdef STRIDED
    words = advance_words(words, column, ELEMENT_WORDS);
#endif
    return words;
}

// The invocation's packs, in the order of the scan.
const uint PACKS = RUNS_PER_INVOCATION * PACKS_PER_RUN;

// Packs from the invocation's first in the order of the scan to pack `slot`.
uint packs_before(uint slot) {
    return slot / PACKS_PER_RUN * gl_SubgroupSize * PACKS_PER_RUN + slot % PACKS_PER_RUN;
}

// The row, counted from the tile's first, with which the invocation's first pack in memory begins; and packs from there to
// pack `slot`: a small number, and on a GPU a constant.
uint first_row() {
    uint run = gl_SubgroupID * RUNS_PER_INVOCATION * gl_SubgroupSize + gl_SubgroupInvocationID;
    uint first = run * PACKS_PER_RUN;
    return (REVERSE ? TILE_ITEMS / PACK_ITEMS - 1 - first - packs_before(PACKS - 1) : first) * PACK_ITEMS;
}

uint pack_offset(uint slot) {
    return REVERSE ? packs_before(PACKS - 1) - packs_before(slot) : packs_before(slot);
}

// Rows of the tile from the invocation's first on.
uint rows_left(uint extent) {
    return max(extent, first_row()) - first_row();
}

#endif
