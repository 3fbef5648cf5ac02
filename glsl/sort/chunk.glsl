// The chunk of tutorial 13: 256 keys, 32 at a time, by a workgroup of 32 that stands for one hardware thread.
//
// With subgroups of more than 32 lanes the workgroup is the first lanes of one.

#include "sort/pass.glsl"

layout(constant_id = ID_BATCHES_PER_CHUNK) const uint BATCHES_PER_CHUNK = 8;

const uint BATCH = WORKGROUP_SIZE;
const uint CHUNK_ITEMS = BATCH * BATCHES_PER_CHUNK;
