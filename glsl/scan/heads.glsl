// Head flags of segments, in the representations of `scan/segments.glsl`, in scan order: a bit for each row of an
// invocation.
//
// A boundary precedes each row that begins a segment. In a forward scan the head is that row; in reverse it is the
// row before the boundary.

// Rows of all tiles. Row indices have 32 bits.
uint row_count_of(Tiles tiles) {
    return (tiles.count - 1) * TILE_STEP + tiles.last_extent;
}

// Whether a segment begins at `row`, which is neither the first nor beyond the last.
bool begins_at(Words heads, uint row) {
    if (HEADS == BITS) {
        return (advance_words(heads, row / 32, 1).word[0] >> (row % 32) & 1) != 0;
    }
    if (HEADS == KEYS32 || HEADS == KEYS64) {
        Words before = advance_words(heads, row - 1, KEY_WORDS);
        bool differs = before.word[0] != before.word[KEY_WORDS];
        if (KEY_WORDS == 2) {
            differs = differs || before.word[1] != before.word[KEY_WORDS + 1];
        }
        return differs;
    }
    return advance_words(heads, row, 1).word[0] != 0;
}

// Whether a slot of the tile has the first row of a segment of a fixed size, in scan order.
bool is_first_of_segment(uint slot, Tile tile, Tiles tiles) {
    uint row = row_of_slot(slot, tile.extent);
    bool is_last = row + 1 == tile.extent || (slot + 1) % SEGMENT_STEP == 0;
    bool is_first = row != NO_ROW && (REVERSE ? is_last : slot % SEGMENT_STEP == 0);
    if (HAS_LONG_SEGMENTS) {
        uint row_of_segment = tile.memory_index * TILE_ITEMS + slot;
        is_first = slot < tile.extent && row_of_segment == (REVERSE ? segment_rows_of(tile, tiles) - 1 : 0);
    }
    return is_first;
}

// Loads the head flags of the invocation's rows.
uint load_heads(Words heads, Tile tile, Tiles tiles) {
    uint row_count = row_count_of(tiles);
    uint bits = 0;
    for (uint slot = 0; slot < PACKS; slot++) {
        for (uint i = 0; i < PACK_ITEMS; i++) {
            uint row = first_row() + pack_offset(slot) * PACK_ITEMS + (REVERSE ? PACK_ITEMS - 1 - i : i);
            uint boundary = tile.memory_index * TILE_STEP + row + (REVERSE ? 1 : 0);
            bool is_inside = row < tile.extent && boundary > 0 && boundary < row_count;
            bool begins = false;
            if (HEADS == FIXED_SIZE) {
                begins = is_first_of_segment(row, tile, tiles);
            } else if (is_inside) {
                begins = begins_at(heads, boundary);
            }
            bits |= uint(begins) << (slot * PACK_ITEMS + i);
        }
    }
    return bits;
}

uint is_head(uint heads, uint slot, uint i) {
    return heads >> (slot * PACK_ITEMS + i) & 1;
}

Element with_head(Value value, uint heads, uint slot, uint i) {
    return Element(value, is_head(heads, slot, i));
}

Element not_a_head(Value value) {
    return Element(value, 0);
}

// The initial value of every segment.
Value initial = value_identity();

// Loads it from a row at `words`, unless that is null.
void load_initial(Words words, uint column_count, uint column) {
    if (!is_null(words)) {
        initial = load_value(column_from(words, 0, 1, column_count, column));
    }
}

Value without_head(Element inclusive) {
    return combine(initial, inclusive.value);
}

// The exclusive result of a row: the part of its prefix inside its segment. On the levels above the rows, the tile's
// prefix may end inside a segment that began in an earlier tile.
Value exclusive_result(Element before, uint heads, uint slot, uint i) {
    if (HEADS != TILES && is_head(heads, slot, i) == 1) {
        return initial;
    }
    return combine(initial, before.value);
}
