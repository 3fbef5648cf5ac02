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

// Rows from one tile to the next: whole segments, where a tile holds one. Such tiles need no carry-in.
const bool HAS_WHOLE_SEGMENTS = HEADS == FIXED_SIZE && SEGMENT_ROWS <= TILE_ITEMS;
const uint TILE_STEP = HAS_WHOLE_SEGMENTS ? TILE_ITEMS / SEGMENT_ROWS * SEGMENT_ROWS : TILE_ITEMS;

// Words of a key.
const uint KEY_WORDS = HEADS == KEYS64 ? 2 : 1;
