// Tile descriptors of the decoupled look-back: two words for each word of an element, each with a status and half of
// that word.
//
//   | status: 2 bits | 14 bits unused | 16 bits of payload |
//
// An element is published when all of its words have the same status. A word goes from NOT_READY by way of AGGREGATE
// to PREFIX, and is accessed by atomic read-modify-writes alone. Status and payload share a word, so that no fence is
// needed: one driver loses stores around a fence. Descriptors follow 4 words of the push constant `state`.
//
// Source: Smith, Levien and Owens, "Decoupled Fallback: A Portable Single-Pass GPU Scan", SPAA 2025.

#include "common/element.glsl"
#include "common/look_back_states.glsl"

const uint STATUS_WORDS = 2 * ELEMENT_WORDS;

// Reads of a window of descriptors before the fallback reduces a stalled tile.
const uint SPIN_LIMIT = 4;
const uint NONE = ~0;

Words status_of(uint tile) {
    return advance_words(advance_words(push.state, 1, 4), tile, STATUS_WORDS);
}

uint status_word(uint status, Element element, uint w) {
    return status << 30 | (ELEMENT_WORD(element, w / 2) >> (w % 2 * 16) & 0xffff);
}

void publish_prefix(Words tile, Element prefix) {
    [[unroll]] for (uint w = 0; w < STATUS_WORDS; w++) {
        atomicMax(tile.word[w], status_word(PREFIX, prefix, w));
    }
}

// Publishes a tile aggregate. The tile's own workgroup publishes it, and so may every workgroup that reduces a
// stalled tile; their bits may differ where compilers round differently. The first compare-and-swap decides whose
// words are published.
void publish_aggregate(Words tile, Element total) {
    if (atomicCompSwap(tile.word[0], 0u, status_word(AGGREGATE, total, 0)) == 0) {
        [[unroll]] for (uint w = 1; w < STATUS_WORDS; w++) {
            atomicMax(tile.word[w], status_word(AGGREGATE, total, w));
        }
    }
}

// Reads a descriptor: its status and its element. The status is NOT_READY unless all words have the same one.
uint read_status(Words tile, out Element element) {
    uint first = atomicOr(tile.word[0], 0u);
    uint status = first >> 30;
    uint half_word = first & 0xffff;
    [[unroll]] for (uint w = 1; w < STATUS_WORDS; w++) {
        uint word = atomicOr(tile.word[w], 0u);
        status = word >> 30 == status ? status : NOT_READY;
        if (w % 2 == 0) {
            half_word = word & 0xffff;
        } else {
            ELEMENT_WORD(element, w / 2) = half_word | word << 16;
        }
    }
    return status;
}

#ifdef COUNTED
// Look-back windows of the workgroup's tile.
uint windows = 0;

void count_window() {
    windows++;
    count(WINDOWS);
}

void count_look_back() {
    if (gl_SubgroupID == 0 && subgroupElect()) {
        atomicMax(push.counts.word[LONGEST], windows);
    }
}
#else
#define count_window()
#define count_look_back()
#endif

// Looks back from tile `end`, which is not 0, over a window of as many tiles as a subgroup has lanes at a time. Adds
// the published values in front of `carry`, down to a prefix or a stalled tile, and moves `end` down accordingly.
// Returns the stalled tile, or NONE. Every lane of the subgroup must call it.
uint look_back(inout uint end, inout Element carry) {
    uint lane = gl_SubgroupInvocationID;
    for (;;) {
        // Lanes map to tiles in order, the last lane to the nearest tile. Lanes before tile 0 contribute the
        // identity.
        bool exists = end + lane >= gl_SubgroupSize;
        Words tile = status_of(exists ? end + lane - gl_SubgroupSize : 0);
        Element published;
        bool has_prefix;
        uint first, behind_stalled;
        for (uint spin = 0; spin < SPIN_LIMIT; spin++) {
            uint status = AGGREGATE;
            published = identity();
            if (exists) {
                status = read_status(tile, published);
            }
            uvec4 prefixes = subgroupBallot(status == PREFIX);
            uvec4 stalled = subgroupBallot(status == NOT_READY);
            has_prefix = subgroupBallotBitCount(prefixes) > 0;
            first = has_prefix ? subgroupBallotFindMSB(prefixes) : 0;
            behind_stalled = subgroupBallotBitCount(stalled) > 0 ? subgroupBallotFindMSB(stalled) + 1 : 0;
            if (behind_stalled <= first) {
                break;
            }
            count(SPINS);
        }
        count_window();
        bool is_stuck = behind_stalled > first;
        first = max(first, behind_stalled);
        if (lane < first) {
            published = identity();
        }
        carry = combine(subgroup_reduce(published), carry);
        end = max(end + first, gl_SubgroupSize) - gl_SubgroupSize;
        if (is_stuck) {
            return end - 1;
        }
        if (has_prefix || end == 0) {
            return NONE;
        }
    }
}
