// Tile descriptors of the decoupled look-back: two words for each word of an element, each with a status and half of
// that word.
//
//   | status: 2 bits | 14 bits unused | 16 bits of payload |
//
// An element is published when all of its words have the same status. A word goes from NOT_READY by way of AGGREGATE
// to PREFIX, and is accessed by atomic read-modify-writes alone. Status and payload share a word, so that no fence is
// needed: one driver loses stores around a fence.
//
// Source: Smith, Levien and Owens, "Decoupled Fallback: A Portable Single-Pass GPU Scan", SPAA 2025.

#include "common/element.glsl"
#include "common/look_back_states.glsl"

const uint STATUS_WORDS = 2 * ELEMENT_WORDS;

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
