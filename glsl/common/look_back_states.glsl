// States of a tile in a decoupled look-back, how its descriptors are accessed, and what COUNTED builds count, into the
// push constant `counts`.

#include "common/address.glsl"
#include "common/constants.glsl"

const uint NOT_READY = 0;
// The tile aggregate.
const uint AGGREGATE = 1;
// The inclusive prefix: the total of the tile and all tiles before it.
const uint PREFIX = 2;

// Whether descriptors are read by atomic loads, or by read-modify-writes that change nothing.
layout(constant_id = ID_STATUS_LOADS) const bool STATUS_LOADS = false;
// Whether a workgroup publishes by atomic stores where no other value may be kept, or by read-modify-writes.
layout(constant_id = ID_STATUS_STORES) const bool STATUS_STORES = false;
// Tiles that an invocation reads together: their loads are issued before the first is looked at.
layout(constant_id = ID_LOOK_BACK_WINDOW) const uint LOOK_BACK_WINDOW = 1;

// Reads a word of a descriptor. Payload and status share a word: the order of accesses does not matter, and without
// the Vulkan memory model, with which one driver loses stores, the scope is the device.
uint load_status(Words words, uint w) {
    uint word;
    if (STATUS_LOADS) {
        word = atomicLoad(words.word[w], gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    } else {
        word = atomicOr(words.word[w], 0u);
    }
    return word;
}

#ifdef COUNTED
// Counters, in the order in which `Workload::look_back` reads them.
const uint WINDOWS = 0;
const uint SPINS = 1;
const uint FALLBACKS = 2;
const uint LONGEST = 3;
// Fault injection: every Nth tile publishes nothing, as a stalled workgroup; 0 for none.
layout(constant_id = ID_STALL_EVERY) const uint STALL_EVERY = 0;

void count(uint counter) {
    if (subgroupElect()) {
        atomicAdd(push.counts.word[counter], 1u);
    }
}

bool publishes(uint tile) {
    return STALL_EVERY == 0 || tile % STALL_EVERY != 0;
}
#else
#define count(counter)
#define publishes(tile) true
#endif
