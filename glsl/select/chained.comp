// Single-pass selection with decoupled look-back: each element is read once, and written once if it is kept.
//
// A workgroup takes the next tile, publishes its count, looks back over the counts and prefixes of earlier tiles, and
// publishes its own prefix. A workgroup that waits for a stalled tile counts that tile itself, so that no workgroup
// relies on the progress of another.
//
// Dispatch: tile_count workgroups, in any order; surplus workgroups return.
// Reads:    tested, source, values, operands and indirect_tiles, as compact.comp.
// Writes:   destination, destination_values, destination_indices and selected_counts, as compact.comp; state, which begins
//           as 0: 4 words, and STATUS_WORDS for each tile. With COUNTED counts, 4 words, which accumulate.
// Shared:   the workgroup scan's, and 3 words.
// Pass model: reference::passes::select::compacted.
// Source:   Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA, 2016; Smith,
//           Levien and Owens, "Decoupled Fallback: A Portable Single-Pass GPU Scan", SPAA 2025.

#version 460
#extension GL_GOOGLE_include_directive : require
#ifdef FUNCTIONS
#define USES_KEEP
#include "common/called.glsl"
#endif
#define SINGLE_PART
#define NARROW_OFFSETS
#include "select/tile.glsl"
#include "common/look_back.glsl"

shared uint s_tile;
shared uint s_stalled_tile;
shared uint s_before;

Tiles tiles;

uint extent_of(uint tile) {
    return MAIN_PATH || tile + 1 < tiles.count ? TILE_ITEMS : tiles.last_extent;
}

// Fallback: counts a stalled tile on behalf of its workgroup. Every invocation of the workgroup must call it, with a
// barrier after the previous use of the workgroup scan.
uint count_stalled_tile(uint tile) {
    uint own = in_first;
    in_first = 0;
    test_tile(tile, extent_of(tile));
    uint tile_counts;
    rank_tile(tile_counts);
    in_first = own;
    return tile_counts;
}

// The count of all tiles before `tile`, which is not 0, in every invocation. Every invocation of the workgroup must
// call it.
uint count_before(uint tile) {
    // In the first subgroup alone: the count of [end, tile).
    uint before = 0;
    uint end = tile;
    for (;;) {
        if (gl_SubgroupID == 0) {
            uint stalled = look_back(end, before);
            if (subgroupElect()) {
                s_stalled_tile = stalled;
            }
        }
        barrier();
        uint stalled = s_stalled_tile;
        if (MAIN_PATH || stalled == NONE) {
            break;
        }
        uint stalled_count = count_stalled_tile(stalled);
        if (gl_SubgroupID == 0) {
            count(FALLBACKS);
            if (subgroupElect()) {
                publish_aggregate(status_of(stalled), stalled_count);
            }
            before += stalled_count;
            end = stalled;
        }
        if (stalled == 0) {
            break;
        }
    }
    count_look_back();
    if (gl_SubgroupID == 0 && subgroupElect()) {
        s_before = before;
    }
    barrier();
    return s_before;
}

void main() {
    make_intervals();
    if (gl_LocalInvocationIndex == 0) {
        s_tile = atomicAdd(push.state.word[0], 1u);
    }
    barrier();
    uint tile = s_tile;
    tiles = tiles_of(push.tile_count, push.last_extent, push.indirect_tiles);
    if (tile >= tiles.count) {
        return;
    }
    uint extent = extent_of(tile);
    if (extent > 0) {
        test_tile(tile, extent);
        load_kept_items(tile, extent);
    }
    uint tile_count;
    uint before_subgroup = rank_tile(tile_count);
    uint before = 0;
    if (tile > 0) {
        if (gl_LocalInvocationIndex == 0 && publishes(tile)) {
            publish_aggregate(status_of(tile), tile_count);
        }
        before = count_before(tile);
    }
    if (gl_LocalInvocationIndex == 0 && publishes(tile)) {
        publish_prefix(status_of(tile), before + tile_count);
    }
    Counts none = Counts(uvec2(0), uvec2(0));
    scatter_tile(tile, extent, before_subgroup, Counts(uvec2(before, 0), none.second), none);
    store_counts(tile, tiles.count, Counts(uvec2(before + tile_count, 0), none.second));
}
