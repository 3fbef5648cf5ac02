// States of a tile in a decoupled look-back, and what COUNTED builds count of it, into the push constant `counts`.

const uint NOT_READY = 0;
// The tile aggregate.
const uint AGGREGATE = 1;
// The inclusive prefix: the total of the tile and all tiles before it.
const uint PREFIX = 2;

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
