// Reduces each full chunk into its own last entry: the first stage of tutorial 14.
//
// Dispatch: chunk_count workgroups of 32; last_extent is unused, since every chunk is full.
// Reads:    table, the chunks' entries of COLUMNS words.
// Writes:   table, the last entry of each chunk.
// Shared:   the workgroup scan's.
// Pass model: reference::passes::scan::chunk_sum.
// Limits:   the operator must commute, for an invocation combines entries that are a batch apart.
// Source:   tutorial 14, cmk_sum_tuple_count.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "scan/chunk.glsl"

void main() {
    uint chunk = workgroup_index();
    if (chunk >= push.chunk_count) {
        return;
    }
    Element sum = identity();
    for (uint batch = 0; batch < BATCHES_PER_CHUNK; batch++) {
        sum = combine(sum, load_value(entry(chunk, batch * BATCH + invocation_index())));
    }
    // The barriers of the scan also order all reads before the write of the last entry.
    Element chunk_sum;
    workgroup_exclusive_scan(subgroup_reduce(sum), chunk_sum);
    if (gl_LocalInvocationIndex == 0) {
        store_value(entry(chunk, CHUNK_ITEMS - 1), chunk_sum);
    }
}
