// The table of tutorial 14: every chunk's sum is kept in the chunk's own last row, level above level.
//
// At level 0 the entries are the table's rows. A chunk is CHUNK_ITEMS entries, and its last entry is an entry of the
// next level; so at a level whose entries are `stride` rows apart, entry j is row (j + 1) * stride - 1. A workgroup
// of BATCH invocations, which stands for one hardware thread of the tutorial, processes a chunk BATCH entries at a
// time.

#include "common/workgroup_scan.glsl"

layout(constant_id = ID_BATCHES_PER_CHUNK) const uint BATCHES_PER_CHUNK = 8;

const uint BATCH = WORKGROUP_SIZE;
const uint CHUNK_ITEMS = BATCH * BATCHES_PER_CHUNK;

layout(push_constant, std430) uniform Push {
    Words table;
    uint stride;
    uint chunk_count;
    // Entries in the last chunk; all others are full.
    uint last_extent;
} push;

// A pointer to entry `index` of chunk `chunk`.
Words entry(uint chunk, uint index) {
    uint row_size = COLUMNS * 4;
    uvec2 address = advance(uvec2(push.table), push.stride - 1, row_size);
    address = advance(address, chunk * CHUNK_ITEMS + index, push.stride * row_size);
    return Words(address);
}
