// Exclusive prefix sums of the numbers of heads of tiles, their total, and the dispatch of the runs.
//
// Dispatch: one workgroup: a tile has many rows, so that there are few tiles.
// Reads:    tile_heads, a word for each of tile_count; indirect_tiles, tile_count, where it is not null.
// Writes:   tile_heads, their exclusive prefix sums; run_count, one word, the total; grid, the three workgroup counts of
//           an indirect dispatch with an invocation for each column of each run, in workgroups of run_invocations.
// Shared:   the workgroup scan's.
// Pass model: reference::passes::reduce::scan_heads.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/grid.glsl"
#include "common/tiles.glsl"
#include "common/workgroup_scan.glsl"

layout(constant_id = ID_ITEMS_PER_INVOCATION) const uint ITEMS_PER_INVOCATION = 8;

layout(push_constant, std430) uniform Push {
    Words tile_heads;
    Words run_count;
    Words grid;
    Words indirect_tiles;
    uint tile_count;
    uint column_count;
    // Invocations of a workgroup of the dispatch of the runs.
    uint run_invocations;
    // The maximum of workgroups in a row of a dispatch.
    uint max_row;
} push;

void main() {
    if (workgroup_index() > 0) {
        return;
    }
    Tiles tiles = tiles_of(push.tile_count, 0, push.indirect_tiles);
    uint total = 0;
    for (uint first = 0; first < tiles.count; first += WORKGROUP_SIZE * ITEMS_PER_INVOCATION) {
        uint own = first + invocation_index() * ITEMS_PER_INVOCATION;
        uint counts[ITEMS_PER_INVOCATION];
        uint sum = 0;
        [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
            counts[k] = 0;
            if (own + k < tiles.count) {
                counts[k] = advance_words(push.tile_heads, own, 1).word[k];
            }
            sum += counts[k];
        }
        uint subgroup_total;
        uint prefix = total + subgroup_exclusive_scan(sum, subgroup_total);
        uint round_total;
        prefix += workgroup_exclusive_scan(subgroup_total, round_total);
        [[unroll]] for (uint k = 0; k < ITEMS_PER_INVOCATION; k++) {
            if (own + k < tiles.count) {
                advance_words(push.tile_heads, own, 1).word[k] = prefix;
            }
            prefix += counts[k];
        }
        total += round_total;
        // Before the next round uses the shared memory of the scan.
        barrier();
    }
    if (invocation_index() == 0) {
        push.run_count.word[0] = total;
        store_grid(push.grid, ceil_div(total * push.column_count, push.run_invocations), push.max_row);
    }
}
