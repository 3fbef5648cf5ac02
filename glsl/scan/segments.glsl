// Representations of segments, and the step between tiles. An including file has TILE_ITEMS before it.

// A word for each row, nonzero where a segment begins.
const uint FLAGS = 0;
// A key of one or two words for each row: a segment is a run of equal keys.
const uint KEYS32 = 1;
const uint KEYS64 = 2;
// A bit for each row.
const uint BITS = 3;
// For the levels above the rows: a word for each tile, nonzero if a segment begins in it.
const uint TILES = 4;
// No words: a segment begins at each multiple of SEGMENT_ROWS.
const uint FIXED_SIZE = 5;

layout(constant_id = ID_HEADS) const uint HEADS = FLAGS;

layout(constant_id = ID_SEGMENT_ROWS) const uint SEGMENT_ROWS = 1;
// The next power of two.
layout(constant_id = ID_SEGMENT_STEP) const uint SEGMENT_STEP = 1;

// Segments of a fixed size are scanned in an order that depends on their size and the position alone, so that equal segments
// have equal results, in bits:
//
//   whole segments   | segment 0 | padding | segment 1 | padding | …    a tile, with SEGMENT_STEP from one to the next
//   longer ones      | tile 0 | tile 1 | … | partial tile |             a segment
//
// In tiles of a power of two, runs, rounds and subgroups divide a segment from its first slot on, wherever it is: where it
// does not begin at the first of them, its head keeps all that precedes it out. Subgroup scans are Kogge-Stone scans,
// in which the order of a sum depends on the distance from the head.
const bool HAS_WHOLE_SEGMENTS = HEADS == FIXED_SIZE && SEGMENT_ROWS <= TILE_ITEMS;
const bool HAS_LONG_SEGMENTS = HEADS == FIXED_SIZE && !HAS_WHOLE_SEGMENTS;
const bool HAS_PADDING = HAS_WHOLE_SEGMENTS && SEGMENT_ROWS != SEGMENT_STEP;
// Rows from one tile to the next.
const uint TILE_STEP = HAS_WHOLE_SEGMENTS ? TILE_ITEMS / SEGMENT_STEP * SEGMENT_ROWS : TILE_ITEMS;
// Tiles of a long segment.
const uint SEGMENT_TILES = HAS_LONG_SEGMENTS ? (SEGMENT_ROWS - 1) / TILE_ITEMS + 1 : 1;

// Words of a key.
const uint KEY_WORDS = HEADS == KEYS64 ? 2 : 1;
