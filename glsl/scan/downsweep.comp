// Scan of each tile from its carry-in: the downsweep of reduce-then-scan; on a single tile, the whole scan.
//
// With REDUCES_BEFORE the whole scan of a few tiles, by an operator that commutes: each workgroup reduces all elements
// before its tile itself, so that no state is cleared and no workgroup waits for another. Tile t of t_max reads t + 1
// tiles, all but the first from caches.
//
// Dispatch: tile_count workgroups; with STRIDED column_count for each tile.
//           With segments of a fixed size longer than a tile, SEGMENT_TILES workgroups for each segment: tile_count is the
//           number of segments, and last_extent the rows of the last one.
// Reads:    source, element_count rows: an element, or with STRIDED column_count of them; carries, tile_count such
//           rows where it is not null: the exclusive prefix of each tile, with REDUCES_BEFORE one row, the prefix of
//           the first; heads, as in `scan/segments.glsl`, and initial, such a row, where it is not null (both only with
//           HEADED); indirect_tiles, tile_count and last_extent, where it is not null.
// Writes:   destination, element_count rows; may be source itself, since an invocation reads and writes the same
//           elements, unless REDUCES_BEFORE.
// Shared:   the workgroup scan's.
// Pass model: reference::passes::scan::scan_tiles; with HEADED of rows of reference::passes::segmented_scan::Headed.
// Source:   tutorial 14, "global prefix sum"; Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, ch. 11.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "scan/tile_scan.glsl"

layout(push_constant, std430) uniform Push {
    Words source;
    Words destination;
    Words carries;
    Words heads;
    Words initial;
    Words indirect_tiles;
    uint tile_count;
    // Rows in the last tile; all others are full.
    uint last_extent;
    // Elements of a row, with STRIDED.
    uint column_count;
#ifdef FUNCTIONS
    Words data;
#endif
} push;

#if defined HEADED || defined STRIDED || defined SCANS_INVOCATIONS || defined FUNCTIONS
const bool REDUCES_BEFORE = false;
#define total_before(tile, tiles) identity()
#else
layout(constant_id = ID_REDUCES_BEFORE) const bool REDUCES_BEFORE = false;

// Packs of a round, which an invocation has in flight where the compiler unrolls a loop of constant length. There is no
// hint: SwiftShader keeps this code in every downsweep, and compiles it for minutes if it is unrolled.
const uint PACKS_BEFORE = 8;

// The total of all elements before the tile in scan order. Every invocation of the workgroup must call it, before the
// workgroup scan is used.
Element total_before(Tile tile, Tiles tiles) {
    // In reverse order those after it, the last tile of which may be partial.
    uint first_extent = REVERSE ? tiles.last_extent : TILE_ITEMS;
    uint rows = (tile.index - 1) * TILE_ITEMS + first_extent;
    Words source = advance_source(push.source, REVERSE ? tile.memory_index + 1 : 0, TILE_ITEMS * ELEMENT_WORDS);
    uint last = (rows - 1) / PACK_ITEMS;
    Element total = identity();
    [[dont_unroll]] for (uint begin = 0; begin <= last; begin += PACKS_BEFORE * WORKGROUP_SIZE) {
        for (uint k = 0; k < PACKS_BEFORE; k++) {
            uint pack = begin + k * WORKGROUP_SIZE + gl_LocalInvocationIndex;
            // The last pack in place of those after it, so that no branch is between loads.
            uint loaded = min(pack, last);
            bool is_whole = !REVERSE || !MIXED_ACCESS || (loaded + 1) * PACK_ITEMS <= rows;
            Value values[PACK_ITEMS];
            if (QUAD_ACCESS && is_whole) {
                load_quads(source, loaded, values);
            } else {
                load_pack(source, ELEMENT_WORDS, loaded, rows, false, values);
            }
            Element pack_total = from_memory(values[0]);
            [[unroll]] for (uint i = 1; i < PACK_ITEMS; i++) {
                pack_total = combine(pack_total, from_memory(values[i]));
            }
            if (pack > last) {
                pack_total = identity();
            }
            total = combine(total, pack_total);
        }
    }
    total = subgroup_reduce(total);
    if (subgroupElect()) {
        s_subgroup_prefix[gl_SubgroupID] = total;
    }
    barrier();
    total = identity();
    [[dont_unroll]] for (uint s = 0; s < gl_NumSubgroups; s++) {
        total = combine(total, s_subgroup_prefix[s]);
    }
    // The workgroup scan takes the same memory.
    barrier();
    return total;
}
#endif

Value carry_into(Tile tile) {
    uint row = REDUCES_BEFORE ? 0 : tile.index;
    return load_value(column_from(push.carries, row, 1, push.column_count, tile.column));
}

void main() {
    Tiles tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    Tile tile = tile_of_workgroup(tiles, push.column_count);
    if (is_surplus(tile, tiles)) {
        return;
    }
    uint stride = row_stride(push.column_count);
    Words source = tile_of_source(push.source, tile, push.column_count);
    Words destination = tile_of_results(push.destination, tile, push.column_count);
    uint heads = load_heads(push.heads, tile, tiles);
    load_initial(push.initial, push.column_count, tile.column);

#ifdef SOURCE_WORDS
    if (TRANSFORMS) {
        transform_tile(push.source, tile, push.data);
    } else
#endif
    load_tile(source, stride, tile.extent);
    Element before = identity();
    if (REDUCES_BEFORE && tile.index > 0) {
        before = total_before(tile, tiles);
    }
    Element tile_total;
    Element carry = scan_runs(heads, tile_total);
    if (REDUCES_BEFORE) {
        carry = combine(before, carry);
    }
    if (!is_null(push.carries)) {
        carry = combine(not_a_head(carry_into(tile)), carry);
    }

    apply_carry(heads, carry);
#ifdef RESULT_WORDS
    if (STORES) {
        store_results(push.destination, tile, push.data);
    } else
#endif
    store_tile(destination, stride, tile.extent);
}
