// The layout of a scan tile over its workgroup: subgroups, rounds and packs.
//
// Each subgroup has one contiguous part of the tile, which it processes in RUNS_PER_INVOCATION rounds; in a round
// each lane has a run of PACKS_PER_RUN consecutive packs, and runs of consecutive lanes are consecutive. Short runs
// coalesce the loads of a GPU's lanes; one long run needs a single subgroup scan, which suits a CPU.
//
//   subgroup s   | round 0: lane 0, lane 1, … | round 1: lane 0, lane 1, … |
//                            run = PACKS_PER_RUN packs of PACK_ITEMS rows
//
// With REVERSE the layout is mirrored: the first tile in scan order is the last in memory, and so are its first pack
// and the pack's first row. Packs keep their boundaries, so that quads remain aligned.

#include "common/main_path.glsl"
#include "common/workgroup_scan.glsl"
#include "common/tiles.glsl"

layout(constant_id = ID_RUNS_PER_INVOCATION) const uint RUNS_PER_INVOCATION = 4;
layout(constant_id = ID_PACKS_PER_RUN) const uint PACKS_PER_RUN = 1;
// Values are accessed by quads: source and destination are 16-byte aligned, and without MIXED_ACCESS no quad is
// partial.
layout(constant_id = ID_QUAD_ACCESS) const bool QUAD_ACCESS = false;
// Full tiles are accessed without bounds checks, and the last one word by word: one branch per tile, which suits
// GPUs. llvmpipe executes both sides of a branch, one lane at a time.
layout(constant_id = ID_MIXED_ACCESS) const bool MIXED_ACCESS = false;
// From the last row to the first.
layout(constant_id = ID_REVERSE) const bool REVERSE = false;

const uint RUN_ITEMS = PACKS_PER_RUN * PACK_ITEMS;
const uint TILE_ITEMS = WORKGROUP_SIZE * RUNS_PER_INVOCATION * RUN_ITEMS;
// Rows from one tile to the next.
#ifdef HEADED
#include "scan/segments.glsl"
#else
#define TILE_STEP TILE_ITEMS
#define HAS_WHOLE_SEGMENTS false
#define HAS_LONG_SEGMENTS false
#define HAS_PADDING false
#define SEGMENT_ROWS 1
#define SEGMENT_STEP 1
#define SEGMENT_TILES 1
#endif

// A workgroup's tile.
struct Tile {
    // In scan order; at or beyond the tile count for surplus workgroups.
    uint index;
    // In memory order; of a long segment, within it.
    uint memory_index;
    uint extent;
    // With STRIDED.
    uint column;
};

// Rows of the tile's segment, with HAS_LONG_SEGMENTS: `tiles` counts segments then.
uint segment_rows_of(Tile tile, Tiles tiles) {
    return tile.index / SEGMENT_TILES + 1 < tiles.count ? SEGMENT_ROWS : tiles.last_extent;
}

// Consecutive workgroups take the columns of one tile, which share cache lines.
Tile tile_of_workgroup(Tiles tiles, uint column_count) {
    Tile tile;
#ifdef STRIDED
    tile.index = workgroup_index() / column_count;
    tile.column = workgroup_index() % column_count;
#else
    tile.index = workgroup_index();
    tile.column = 0;
#endif
    if (HAS_LONG_SEGMENTS) {
        uint part = tile.index % SEGMENT_TILES;
        tile.memory_index = REVERSE ? SEGMENT_TILES - 1 - part : part;
        uint first = tile.memory_index * TILE_ITEMS;
        uint rows = segment_rows_of(tile, tiles);
        tile.extent = min(max(rows, first) - first, TILE_ITEMS);
    } else {
        tile.memory_index = REVERSE ? tiles.count - 1 - tile.index : tile.index;
        tile.extent = MAIN_PATH || tile.memory_index + 1 < tiles.count ? TILE_STEP : tiles.last_extent;
    }
    return tile;
}

// Words between a column's values in consecutive rows.
uint row_stride(uint column_count) {
#ifdef STRIDED
    return column_count * ELEMENT_WORDS;
#else
    return ELEMENT_WORDS;
#endif
}

// A pointer to the column's value in row `row` * `rows` of `table`.
Words column_from(Words table, uint row, uint rows, uint column_count, uint column) {
    Words words = advance_words(table, row, rows * row_stride(column_count));
#ifdef STRIDED
    words = advance_words(words, column, ELEMENT_WORDS);
#endif
    return words;
}

// Whether a workgroup is one too many.
bool is_surplus(Tile tile, Tiles tiles) {
    return tile.index / SEGMENT_TILES >= tiles.count;
}

#ifdef PACKED_ROWS
Words tile_of_source(Words source, Tile tile, uint column_count) {
    return advance_source(source, tile.memory_index, TILE_STEP);
}

Words tile_of_results(Words destination, Tile tile, uint column_count) {
    return advance_results(destination, tile.memory_index, TILE_STEP);
}
#else
#define tile_of_results tile_of_source

// A pointer to the first row of the tile in `table`, in its column.
Words tile_of_source(Words table, Tile tile, uint column_count) {
#ifdef HEADED
    // Row indices have 32 bits.
    uint segment_row = HAS_LONG_SEGMENTS ? tile.index / SEGMENT_TILES * SEGMENT_ROWS : 0;
    return column_from(table, segment_row + tile.memory_index * TILE_STEP, 1, column_count, tile.column);
#else
    return column_from(table, tile.memory_index, TILE_STEP, column_count, tile.column);
#endif
}
#endif

// Packs of an invocation, in scan order.
const uint PACKS = RUNS_PER_INVOCATION * PACKS_PER_RUN;

// Packs from the invocation's first one, in scan order, to pack `slot`.
uint packs_before(uint slot) {
    return slot / PACKS_PER_RUN * gl_SubgroupSize * PACKS_PER_RUN + slot % PACKS_PER_RUN;
}

// The row, relative to the tile, of the invocation's first pack in memory; pack_offset is the number of packs from
// there to pack `slot`: a small number, and on a GPU a constant.
uint first_row() {
    uint run = gl_SubgroupID * RUNS_PER_INVOCATION * gl_SubgroupSize + gl_SubgroupInvocationID;
    uint first = run * PACKS_PER_RUN;
    return (REVERSE ? TILE_ITEMS / PACK_ITEMS - 1 - first - packs_before(PACKS - 1) : first) * PACK_ITEMS;
}

uint pack_offset(uint slot) {
    return REVERSE ? packs_before(PACKS - 1) - packs_before(slot) : packs_before(slot);
}

// Rows of the tile from the invocation's first row on.
uint rows_left(uint extent) {
    return max(extent, first_row()) - first_row();
}
