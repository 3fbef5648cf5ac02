// Inclusive prefix sum of each chunk in place, from the last entry of the preceding chunk: the third stage of
// tutorial 14.
//
// Dispatch: chunk_count workgroups of 32.
// Reads:    table, the chunks' entries of COLUMNS words, and the last entry of the preceding chunk.
// Writes:   table, the chunks' entries, inclusive; with HAS_SUMS all but the last of a full chunk, which the level
//           above has already written. So no workgroup writes an entry that another reads.
// Shared:   the workgroup scan's.
// Pass model: reference::passes::scan::chunk_prefix.
// Source:   tutorial 14, cmk_prefix.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "scan/chunk.glsl"

layout(constant_id = ID_HAS_SUMS) const bool HAS_SUMS = false;

void main() {
    uint chunk = workgroup_index();
    if (chunk >= push.chunk_count) {
        return;
    }
    uint extent = chunk + 1 < push.chunk_count ? CHUNK_ITEMS : push.last_extent;
    if (HAS_SUMS) {
        extent = min(extent, CHUNK_ITEMS - 1);
    }
    Element carry = identity();
    if (chunk > 0) {
        carry = load_value(entry(chunk - 1, CHUNK_ITEMS - 1));
    }
    for (uint batch = 0; batch < BATCHES_PER_CHUNK; batch++) {
        uint index = batch * BATCH + invocation_index();
        Element value = identity();
        if (index < extent) {
            value = load_value(entry(chunk, index));
        }
        Element batch_total;
        Element prefix = workgroup_exclusive_scan(subgroup_reduce(value), batch_total);
        prefix = combine(prefix, combine(subgroup_exclusive_scan(value), value));
        if (index < extent) {
            store_value(entry(chunk, index), combine(carry, prefix));
        }
        carry = combine(carry, batch_total);
        // The next batch overwrites the shared prefixes: by then everyone has read these.
        barrier();
    }
}
