// Reduction of tiles, in an order that depends on the number of values alone.
//
// A tile has CLUSTER_LANES * PACKS_PER_INVOCATION packs of PACK_VALUES values. An invocation combines its packs, from
// the first to the last, as vectors: each value of a pack with the same value of the next one. Then it combines the
// values of one column: the first half of the pack with the second, until FLAT_COLUMNS are left. `reduce/tree.glsl`
// combines the invocations. Neighbouring invocations load neighbouring packs, INTERLEAVE at a time:
//
//   INTERLEAVE 128 | round 0: invocation 0, 1, 2, …, 127 | round 1: invocation 0, 1, 2, …, 127 | …
//   INTERLEAVE 4   | round 0: invocation 0, 1, 2, 3 | round 1: invocation 0, 1, 2, 3 | … | round 0: invocation 4, …
//   INTERLEAVE 1   | invocation 0: round 0, round 1, … | invocation 1: round 0, … |       in order, for any operator
//
// Rows of 1, 2 or 4 columns that fill a pack are flat: a value of a pack has the same column in each. Of other rows a
// workgroup reduces one column (BY_COLUMN).
//
// With PACKED the source has elements of 8 or 16 bits, the words of which are what other dispatches of the reduction take.
//
// BY_ROW reduces segments of SEGMENT_ROWS values instead, such as the rows of a table. A tile is then what CLUSTER_LANES
// invocations reduce: a segment, of which a workgroup has several, or a part of one. The results of these parts are the
// segments of the next dispatch, of column_count values.
//
// Dispatch: tile_count workgroups, at least one; with BY_COLUMN column_count for each tile. With BY_ROW tile_count is the
//           number of groups of segments, a segment for each CLUSTER_LANES invocations, and each has a workgroup for each
//           part of a segment.
// Reads:    source, the rows; source_rows, a word for each value, which ascend in a column, with FROM_PARTIALS: the values
//           are keys then; indirect_tiles, tile_count and last_extent, where it is not null.
// Writes:   sums, a row for each tile, with BY_ROW a value for each part of a segment; groups, a row for each 4 invocations
//           that have one, where it is not null (not with ARG); sum_rows, column_count words for each tile (only with
//           ARG), and sums where it is not null. Without rows the one result is the identity, or the row ~0. With BOTH,
//           arrays of results have the results of minima, followed by as many results of maxima: sums, sum_rows, and where
//           they are the source, source and source_rows.
// Shared:   a partial result for each 2 invocations.
// Pass model: reference::passes::reduce::reduce_tiles.
// Source:   Harris, "Optimizing Parallel Reduction in CUDA", 2007; Demmel and Nguyen, "Fast Reproducible Floating-Point
//           Summation", ARITH 2013, names what makes the bits of a sum depend on the machine: the order of operations.
//           CUB, DeviceSegmentedReduce with segments of a fixed size: sizes for a few lanes and for a workgroup.

#version 460
#extension GL_GOOGLE_include_directive : require

#ifdef OPERATOR_WORDS32
#define VALUE_WORDS 1
#else
#define VALUE_WORDS 2
#endif
#ifdef FUNCTIONS
#undef VALUE_WORDS
#define VALUE_WORDS ELEMENT_WORDS
#endif
#include "common/constants.glsl"
// Columns whose values are beside each other in a pack; 1 with BY_COLUMN.
layout(constant_id = ID_FLAT_COLUMNS) const uint FLAT_COLUMNS = 1;
#include "reduce/partial.glsl"
#include "common/tiles.glsl"
#ifdef PACKED
#include "common/packed.glsl"
#endif

layout(constant_id = ID_PACKS_PER_INVOCATION) const uint PACKS_PER_INVOCATION = 8;
layout(constant_id = ID_INTERLEAVE) const uint INTERLEAVE = 1;
layout(constant_id = ID_BY_COLUMN) const bool BY_COLUMN = false;
layout(constant_id = ID_BY_ROW) const bool BY_ROW = false;
// Invocations that reduce a tile: all, or with BY_ROW as many as share a segment or a part of one.
layout(constant_id = ID_CLUSTER_LANES) const uint CLUSTER_LANES = 128;
// The source's values of a segment, with BY_ROW: the last may have fewer. last_extent counts these.
layout(constant_id = ID_SEGMENT_ROWS) const uint SEGMENT_ROWS = 1;
// The source is the result of another such dispatch.
layout(constant_id = ID_FROM_PARTIALS) const bool FROM_PARTIALS = false;
// As in `scan/tile.glsl`.
layout(constant_id = ID_QUAD_ACCESS) const bool QUAD_ACCESS = false;
layout(constant_id = ID_MIXED_ACCESS) const bool MIXED_ACCESS = false;

layout(push_constant, std430) uniform Push {
    Words source;
    Words source_rows;
    Words sums;
    Words sum_rows;
    Words groups;
    Words indirect_tiles;
    uint tile_count;
    // Rows in the last tile; all others are full. With BY_ROW values of the source in the last group of segments.
    uint last_extent;
    // With BY_ROW values of a segment.
    uint column_count;
#ifdef FUNCTIONS
    Words data;
#endif
} push;

const uint TILE_VALUES = CLUSTER_LANES * PACKS_PER_INVOCATION * PACK_VALUES;
const uint TILE_ROWS = TILE_VALUES / FLAT_COLUMNS;
// Bytes of a value of the source.
#ifdef PACKED
const uint VALUE_SIZE = PACKED_BITS / 8;
#else
const uint VALUE_SIZE = VALUE_WORDS * 4;
#endif

// Values between two of a pack.
uint value_stride() {
    return BY_COLUMN ? push.column_count : 1;
}

// The pack of round `round`, from the invocation's first one.
uint pack_offset(uint round) {
    return round * INTERLEAVE;
}

uint first_pack() {
    uint position = invocation_index() % CLUSTER_LANES;
    return position / INTERLEAVE * INTERLEAVE * PACKS_PER_INVOCATION + position % INTERLEAVE;
}

#ifdef FUNCTIONS
#define load_whole_pack(words, pack) load_words(words, (pack) * ELEMENT_WORDS)
#else
// Word `w` of value `value`.
uint value_word(Words values, uint value, uint w) {
#ifdef PACKED
    return unpacked(packed_at(values, value * value_stride()));
#else
    return values.word[value * value_stride() * VALUE_WORDS + w];
#endif
}

Element load_whole_pack(Words words, uint pack) {
    if (QUAD_ACCESS) {
#ifdef PACKED
        return unpacked_quad(words, pack);
#else
        return Quads(uvec2(words)).quad[pack];
#endif
    }
    uint value = pack * PACK_VALUES;
    Element element;
    [[unroll]] for (uint w = 0; w < ELEMENT_WORDS; w++) {
        element[w] = value_word(words, value + w / VALUE_WORDS, w % VALUE_WORDS);
    }
    return element;
}
#endif

// The values of the pack that are before `value_count`, and padding.
Element load_partial_pack(Words words, uint pack, uint value_count) {
#ifdef ARG
    Element element = Element(~0);
#else
    Element element = to_memory(padding());
#endif
#ifdef FUNCTIONS
    if (pack < value_count) {
        element = load_words(words, pack * ELEMENT_WORDS);
    }
#else
    // With BY_ROW a row may end within a tile, and quads are whole but in the last row.
    bool is_whole = BY_ROW && (pack + 1) * PACK_VALUES <= value_count;
    if (QUAD_ACCESS && (!MIXED_ACCESS || is_whole)) {
        if (pack * PACK_VALUES < value_count) {
            element = load_whole_pack(words, pack);
        }
        return element;
    }
    [[unroll]] for (uint v = 0; v < PACK_VALUES; v++) {
        uint value = pack * PACK_VALUES + v;
        if (value < value_count) {
            [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
                element[v * VALUE_WORDS + w] = value_word(words, value, w);
            }
        }
    }
#endif
    return element;
}

// Loads the invocation's packs, all before their use, so that they are in flight together.
void load_packs(Words first, uint left, bool is_whole, out Element packs[PACKS_PER_INVOCATION]) {
    if (is_whole) {
        [[unroll]] for (uint round = 0; round < PACKS_PER_INVOCATION; round++) {
            packs[round] = load_whole_pack(first, pack_offset(round));
        }
    } else {
        [[unroll]] for (uint round = 0; round < PACKS_PER_INVOCATION; round++) {
            packs[round] = load_partial_pack(first, pack_offset(round), left);
        }
    }
}

#ifdef ARG
// The index of value `v` of the invocation's pack of round `round` in the tile.
uint value_index(uint round, uint v) {
    return (first_pack() + pack_offset(round)) * PACK_VALUES + v;
}

// Replaces what is not before `value_count` by padding.
void pad(uint value_count, bool is_whole, inout Element packs[PACKS_PER_INVOCATION]) {
    if (!is_whole) {
        [[unroll]] for (uint round = 0; round < PACKS_PER_INVOCATION; round++) {
            [[unroll]] for (uint v = 0; v < PACK_VALUES; v++) {
                [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
                    packs[round][v * VALUE_WORDS + w] |= value_index(round, v) < value_count ? 0 : ~0;
                }
            }
        }
    }
}

// Replaces the packs by their keys, and what is not before `value_count` by padding.
void make_keys(uint value_count, bool is_whole, inout Element packs[PACKS_PER_INVOCATION]) {
    [[unroll]] for (uint round = 0; round < PACKS_PER_INVOCATION; round++) {
        packs[round] = FROM_PARTIALS ? packs[round] : keys_of(packs[round]);
    }
    pad(value_count, is_whole, packs);
}

// The rows of the values of rounds `rounds`. `row_words` has the rows of values that are results of another dispatch.
Rows rows_of(Rows rounds, uint value_count, Words row_words, uint tile) {
    Rows rows;
    [[unroll]] for (uint v = 0; v < PACK_VALUES; v++) {
        uint value = value_index(rounds[v], v);
        rows[v] = ~0;
        if (value < value_count) {
            rows[v] = FROM_PARTIALS ? row_words.word[value * value_stride()] : tile * TILE_ROWS + value / FLAT_COLUMNS;
        }
    }
    return rows;
}

// The total of the invocation's packs. Rows ascend with the rounds: a value is taken only if it is less than all before,
// and its round is kept in place of its row. Rows that another dispatch has found ascend too, from tile to tile.
Least combine_packs(Element packs[PACKS_PER_INVOCATION], uint value_count, Words row_words, uint tile) {
    Least total = Least(packs[0], Rows(0));
    [[unroll]] for (uint round = 1; round < PACKS_PER_INVOCATION; round++) {
        [[unroll]] for (uint v = 0; v < PACK_VALUES; v++) {
            if (is_less(packs[round], total.keys, v)) {
                take(total, packs[round], round, v);
            }
        }
    }
    total.rows = rows_of(total.rows, value_count, row_words, tile);
    return total;
}
#else
#define make_keys(value_count, is_whole, packs)

Partial combine_packs(Element packs[PACKS_PER_INVOCATION], uint value_count, Words row_words, uint tile) {
    Partial total = from_memory(packs[0]);
    [[unroll]] for (uint round = 1; round < PACKS_PER_INVOCATION; round++) {
        total = combine_partials(total, from_memory(packs[round]));
    }
    return total;
}
#endif

// The total of the invocation's packs of a tile with `value_count` values. With FROM_PARTIALS and BOTH the source has
// `source_rows` rows of results of minima.
Partial reduce_packs(Words source, Words row_words, uint value_count, uint tile, uint source_rows) {
    // A pack's first value is counted from the tile's first value.
    Words first = Words(advance(uvec2(source), first_pack() * PACK_VALUES, value_stride() * VALUE_SIZE));
    uint left = max(value_count, first_pack() * PACK_VALUES) - first_pack() * PACK_VALUES;
    bool is_whole = MIXED_ACCESS && value_count == TILE_VALUES;
    Element packs[PACKS_PER_INVOCATION];
    load_packs(first, left, is_whole, packs);
    make_keys(value_count, is_whole, packs);
#ifdef BOTH
    Partial partial;
    partial.least = combine_packs(packs, value_count, row_words, tile);
    if (FROM_PARTIALS) {
        load_packs(advance_words(first, source_rows, push.column_count * VALUE_WORDS), left, is_whole, packs);
        row_words = advance_words(row_words, source_rows, push.column_count);
    } else {
        [[unroll]] for (uint round = 0; round < PACKS_PER_INVOCATION; round++) {
            packs[round] = opposite(packs[round]);
        }
    }
    pad(value_count, is_whole, packs);
    partial.greatest = combine_packs(packs, value_count, row_words, tile);
    return partial;
#else
    return combine_packs(packs, value_count, row_words, tile);
#endif
}

#ifndef FUNCTIONS
// The value `distance` after each value of a pack, where there is one.
#ifdef ARG
Least value_behind(Least partial, uint distance) {
    Least behind = partial;
    [[unroll]] for (uint v = 0; v + distance < PACK_VALUES; v++) {
        behind.rows[v] = partial.rows[v + distance];
        [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
            behind.keys[v * VALUE_WORDS + w] = partial.keys[(v + distance) * VALUE_WORDS + w];
        }
    }
    return behind;
}

#ifdef BOTH
Partial value_behind(Partial partial, uint distance) {
    return Partial(value_behind(partial.least, distance), value_behind(partial.greatest, distance));
}
#endif
#else
Partial value_behind(Partial partial, uint distance) {
    return distance * VALUE_WORDS == 2 ? partial.zwzw : partial.yyww;
}
#endif
#endif

// Combines the values of one column in a pack.
Partial combine_values(Partial partial) {
#if PACK_VALUES == 4
    if (FLAT_COLUMNS <= 2) {
        partial = combine_first(partial, value_behind(partial, 2), 2);
    }
#endif
#if PACK_VALUES >= 2
    if (FLAT_COLUMNS == 1) {
        partial = combine_first(partial, value_behind(partial, 1), 1);
    }
#endif
    return partial;
}

#ifndef ARG
// Stores a row of results, or with BY_COLUMN a column of it, at the words of a row.
void store_row(Words row, uint column, Partial partial) {
    Element words = to_memory(partial);
#ifdef FUNCTIONS
    store_words(row, 0, words);
#else
    [[unroll]] for (uint w = 0; w < ELEMENT_WORDS; w++) {
        if (w < FLAT_COLUMNS * VALUE_WORDS) {
            row.word[column * VALUE_WORDS + w] = words[w];
        }
    }
#endif
}
#else
void store_row(Words row, Words row_words, uint column, Least partial) {
    [[unroll]] for (uint v = 0; v < PACK_VALUES; v++) {
        if (v < FLAT_COLUMNS) {
            row_words.word[column + v] = partial.rows[v];
            if (!is_null(push.sums)) {
                [[unroll]] for (uint w = 0; w < VALUE_WORDS; w++) {
                    row.word[(column + v) * VALUE_WORDS + w] = partial.keys[v * VALUE_WORDS + w];
                }
            }
        }
    }
}
#endif

// What a workgroup reduces, or with BY_ROW the invocation's cluster.
struct Part {
    // Of the rows, or of a segment.
    uint tile;
    uint column;
    // Index of the tile or the segment, in units of `step` values; and the index of the result.
    uint first_index;
    uint step;
    uint result;
    uint value_count;
    bool exists;
    // Rows of the source, and of results and their values, of all workgroups.
    uint source_rows;
    uint result_rows;
    uint result_columns;
};

Part part_of(Tiles tiles) {
    Part part;
    if (BY_ROW) {
        uint part_count = (push.column_count - 1) / TILE_VALUES + 1;
        uint group = workgroup_index() / part_count;
        uint in_group = invocation_index() / CLUSTER_LANES;
        uint group_segments = WORKGROUP_SIZE / CLUSTER_LANES;
        uint segment = group * group_segments + in_group;
        bool is_last = group + 1 == tiles.count;
        uint segments = is_last ? (tiles.last_extent - 1) / SEGMENT_ROWS + 1 : group_segments;
        part.exists = group < tiles.count && in_group < segments;
        // Only the source's last segment may be short; the parts that it lacks are padding.
        bool is_short = push.column_count == SEGMENT_ROWS && is_last && in_group + 1 == segments;
        uint length = is_short ? tiles.last_extent - in_group * SEGMENT_ROWS : push.column_count;
        part.tile = workgroup_index() % part_count;
        part.column = 0;
        part.first_index = segment;
        part.step = push.column_count;
        part.result = segment * part_count + part.tile;
        uint begin = part.tile * TILE_VALUES;
        part.value_count = part.exists && begin < length ? min(length - begin, TILE_VALUES) : 0;
        uint all_segments = (tiles.count - 1) * group_segments + (tiles.last_extent - 1) / SEGMENT_ROWS + 1;
        part.source_rows = all_segments;
        part.result_rows = all_segments;
        part.result_columns = part_count;
    } else {
        part.tile = BY_COLUMN ? workgroup_index() / push.column_count : workgroup_index();
        part.column = BY_COLUMN ? workgroup_index() % push.column_count : 0;
        part.first_index = part.tile;
        part.step = TILE_ROWS * push.column_count;
        part.result = part.tile;
        part.exists = part.tile < max(tiles.count, 1);
        part.value_count = (part.tile + 1 < tiles.count ? TILE_ROWS : tiles.last_extent) * FLAT_COLUMNS;
        uint tile_count = max(tiles.count, 1);
        part.source_rows = (tile_count - 1) * TILE_ROWS + tiles.last_extent;
        part.result_rows = tile_count;
        part.result_columns = push.column_count;
    }
    return part;
}

// A pointer to the part's first value, of `size` bytes each.
Words first_of(Words values, Part part, uint size) {
    uvec2 address = advance(uvec2(values), part.first_index, part.step * size);
    return Words(advance(address, BY_ROW ? part.tile : part.column, BY_ROW ? TILE_VALUES * size : size));
}

#ifdef SOURCE_WORDS
// As reduce_packs, of elements that a function of the caller computes.
Partial reduce_transformed(Part part) {
    Words source = first_of(push.source, part, SOURCE_WORDS * 4);
    uint first_index = part.first_index * part.step + (BY_ROW ? part.tile * TILE_VALUES : 0);
    Element packs[PACKS_PER_INVOCATION];
    [[unroll]] for (uint round = 0; round < PACKS_PER_INVOCATION; round++) {
        uint value = first_pack() + pack_offset(round);
        packs[round] = padding();
        if (value < part.value_count) {
            packs[round] = transformed(source, value, first_index + value, push.data);
        }
    }
    return combine_packs(packs, part.value_count, push.source, part.tile);
}
#endif

void main() {
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    Part part = part_of(tiles);
    // The same for all invocations; with BY_ROW the first segment of a group exists.
    if (BY_ROW ? workgroup_index() / ((push.column_count - 1) / TILE_VALUES + 1) >= tiles.count : !part.exists) {
        return;
    }
    uint row_words = (BY_ROW ? 1 : push.column_count) * VALUE_WORDS;
    Words source = first_of(push.source, part, VALUE_SIZE);
#ifdef ARG
    Words source_rows = first_of(push.source_rows, part, 4);
#else
    Words source_rows = push.source;
#endif
    Partial partial;
#ifdef SOURCE_WORDS
    if (TRANSFORMS) {
        partial = reduce_transformed(part);
    } else
#endif
    partial = reduce_packs(source, source_rows, part.value_count, part.tile, part.source_rows);
    partial = combine_values(partial);
    partial = combine_lanes(partial, 1, GROUP_LANES);
#ifndef ARG
    uint group = invocation_index() / GROUP_LANES;
    uint group_rows = GROUP_LANES * PACKS_PER_INVOCATION * PACK_VALUES;
    if (!is_null(push.groups) && invocation_index() % GROUP_LANES == 0 && group * group_rows < part.value_count) {
        uint groups_per_tile = WORKGROUP_SIZE / GROUP_LANES;
        Words groups = advance_words(push.groups, part.tile, groups_per_tile * row_words);
        store_row(advance_words(groups, group, row_words), part.column, partial);
    }
#endif
    if (CLUSTER_LANES > GROUP_LANES) {
        partial = combine_groups(partial);
    }
    if (part.exists && invocation_index() % CLUSTER_LANES == 0) {
#ifdef RESULT_WORDS
        if (STORES) {
            store_result(push.sums, part.result, partial, part.result, push.data);
            return;
        }
#endif
        Words sums = advance_words(push.sums, part.result, row_words);
#ifdef ARG
        Words sum_rows = advance_words(push.sum_rows, part.result, row_words / VALUE_WORDS);
#ifdef BOTH
        store_row(sums, sum_rows, part.column, partial.least);
        sums = advance_words(sums, part.result_rows, part.result_columns * VALUE_WORDS);
        sum_rows = advance_words(sum_rows, part.result_rows, part.result_columns);
        store_row(sums, sum_rows, part.column, partial.greatest);
#else
        store_row(sums, sum_rows, part.column, partial);
#endif
#else
        store_row(sums, part.column, settled(partial));
#endif
    }
}
