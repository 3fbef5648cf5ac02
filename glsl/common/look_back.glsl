// What tiles tell one another: one word of status and half a word of payload, twice for each word of an element.
//
//   | status: 2 bits | 14 bits of nothing | 16 bits of payload |
//
// An element is told when all its words have one status. A word only moves up, from NOT_READY by way of AGGREGATE to
// PREFIX, and is touched by atomic read-modify-writes alone, which carry all there is to know: nothing has to be ordered
// around them, where one of the drivers loses stores around a fence.
//
// Source: Smith, Levien and Owens, "Decoupled Fallback: A Portable Single-Pass GPU Scan", SPAA 2025.

#ifndef SUBSWEEP_LOOK_BACK
#define SUBSWEEP_LOOK_BACK

#include "common/element.glsl"

const uint NOT_READY = 0;
// The tile's own total.
const uint AGGREGATE = 1;
// That of the tile and all before it.
const uint PREFIX = 2;

const uint STATUS_WORDS = 2 * ELEMENT_WORDS;

#if ELEMENT_WORDS == 1
#define ELEMENT_WORD(element, w) element
#else
#define ELEMENT_WORD(element, w) element[w]
#endif

uint status_word(uint status, Element element, uint w) {
    return status << 30 | (ELEMENT_WORD(element, w / 2) >> (w % 2 * 16) & 0xffff);
}

void tell_prefix(Words tile, Element prefix) {
    [[unroll]] for (uint w = 0; w < STATUS_WORDS; w++) {
        atomicMax(tile.word[w], status_word(PREFIX, prefix, w));
    }
}

// The tile's own workgroup and any that sums it up in its place may tell the total, in bits that differ where a
// compiler rounds one of the two otherwise: whoever is first tells all of it.
void tell_aggregate(Words tile, Element total) {
    if (atomicCompSwap(tile.word[0], 0u, status_word(AGGREGATE, total, 0)) == 0) {
        [[unroll]] for (uint w = 1; w < STATUS_WORDS; w++) {
            atomicMax(tile.word[w], status_word(AGGREGATE, total, w));
        }
    }
}

// What the tile has told; while it is telling, that is nothing yet.
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

#endif
