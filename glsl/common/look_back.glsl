// Tile descriptors of the decoupled look-back: two words for each word of an element, each with a status and half of
// that word.
//
//   | status: 2 bits | 14 bits unused | 16 bits of payload |
//
// An element is published when all of its words have the same status. A word goes from NOT_READY by way of AGGREGATE
// to PREFIX, and is accessed by atomics alone. Status and payload share a word, so that no fence is needed: one driver
// loses stores around a fence. Descriptors follow 4 words of LOOK_BACK_STATE. With HEADED the head flag is another word of an
// element.
//
// Needs:    LOOK_BACK_STATE, an expression of type Words, unless it is push.state; what `common/element.glsl` needs
// Gives:    STATUS_WORDS, NONE, status_of, publish_aggregate, publish_prefix, look_back
// Shared:   none
// Barriers: none
//
// All words of LOOK_BACK_STATE are 0 before the dispatch: 4, of which a kernel counts its tiles in the first, and STATUS_WORDS
// for each tile. A workgroup takes the number of its tile from that counter, so that all earlier tiles have begun. Vulkan does
// not promise that workgroups which have begun make progress: look_back reads a tile SPIN_LIMIT times and returns it as
// stalled, and the caller reduces it again, from an input that nothing overwrites.
//
// Source: Smith, Levien and Owens, "Decoupled Fallback: A Portable Single-Pass GPU Scan", SPAA 2025.

#include "common/element.glsl"
#include "common/look_back_states.glsl"

#ifdef HEADED
const uint STATUS_WORDS = 2 * (ELEMENT_WORDS + 1);

uint word_of(Element element, uint w) {
    uint word = element.is_head;
    if (w < ELEMENT_WORDS) {
        word = ELEMENT_WORD(element.value, w);
    }
    return word;
}

void set_word(inout Element element, uint w, uint word) {
    if (w < ELEMENT_WORDS) {
        ELEMENT_WORD(element.value, w) = word;
    } else {
        element.is_head = word;
    }
}
#else
const uint STATUS_WORDS = 2 * ELEMENT_WORDS;

#define word_of(element, w) ELEMENT_WORD(element, w)
#define set_word(element, w, word) ELEMENT_WORD(element, w) = word
#endif

// Reads of a window of descriptors before the fallback reduces a stalled tile.
layout(constant_id = ID_SPIN_LIMIT) const uint SPIN_LIMIT = 4;
const uint NONE = ~0;

#ifndef LOOK_BACK_STATE
#define LOOK_BACK_STATE push.state
#endif

// The descriptor of a tile.
Words status_of(uint tile) {
    return advance_words(advance_words(LOOK_BACK_STATE, 1, 4), tile, STATUS_WORDS);
}

uint status_word(uint status, Element element, uint w) {
    return status << 30 | (word_of(element, w / 2) >> (w % 2 * 16) & 0xffff);
}

// Publishes a prefix, which replaces every other value: all workgroups that publish it have the same bits. One invocation
// of a workgroup calls it.
void publish_prefix(Words tile, Element prefix) {
    [[unroll]] for (uint w = 0; w < STATUS_WORDS; w++) {
        uint word = status_word(PREFIX, prefix, w);
        if (STATUS_STORES) {
            atomicStore(tile.word[w], word, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
        } else {
            atomicMax(tile.word[w], word);
        }
    }
}

// Publishes a tile aggregate. The tile's own workgroup publishes it, and so may every workgroup that reduces a
// stalled tile; their bits may differ where compilers round differently. The first compare-and-swap decides whose
// words are published, and no word may replace a prefix: always read-modify-writes. One invocation of a workgroup calls it.
void publish_aggregate(Words tile, Element total) {
    if (atomicCompSwap(tile.word[0], 0u, status_word(AGGREGATE, total, 0)) == 0) {
        [[unroll]] for (uint w = 1; w < STATUS_WORDS; w++) {
            atomicMax(tile.word[w], status_word(AGGREGATE, total, w));
        }
    }
}

// Reads a descriptor: its status and its element. The status is NOT_READY unless all words have the same one.
uint read_status(Words tile, out Element element) {
    uint first = load_status(tile, 0);
    uint status = first >> 30;
    uint half_word = first & 0xffff;
    [[unroll]] for (uint w = 1; w < STATUS_WORDS; w++) {
        uint word = load_status(tile, w);
        status = word >> 30 == status ? status : NOT_READY;
        if (w % 2 == 0) {
            half_word = word & 0xffff;
        } else {
            set_word(element, w / 2, half_word | word << 16);
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

// Looks back from tile `end`, which is not 0, over a window of LOOK_BACK_WINDOW tiles for each lane of a subgroup at a
// time. Adds the published values in front of `carry`, down to a prefix or a stalled tile, and moves `end` down
// accordingly. Returns the stalled tile, or NONE. Every lane of the subgroup must call it.
uint look_back(inout uint end, inout Element carry) {
    uint window = gl_SubgroupSize * LOOK_BACK_WINDOW;
    // Positions in the window map to tiles in order, the last position to the nearest tile. A lane has neighbouring
    // positions. Those before tile 0 contribute the identity.
    uint position = gl_SubgroupInvocationID * LOOK_BACK_WINDOW;
    for (;;) {
        Element published[LOOK_BACK_WINDOW];
        bool has_prefix;
        uint first, after_stalled;
        for (uint spin = 0; spin < SPIN_LIMIT; spin++) {
            uint status[LOOK_BACK_WINDOW];
            [[unroll]] for (uint t = 0; t < LOOK_BACK_WINDOW; t++) {
                bool exists = end + position + t >= window;
                Words tile = status_of(exists ? end + position + t - window : 0);
                status[t] = AGGREGATE;
                published[t] = identity();
                // Loads of several tiles are issued together where no branch is between them: a lane without a tile
                // reads tile 0.
                if (LOOK_BACK_WINDOW > 1 || exists) {
                    status[t] = read_status(tile, published[t]);
                }
                if (LOOK_BACK_WINDOW > 1 && !exists) {
                    status[t] = AGGREGATE;
                    published[t] = identity();
                }
            }
            has_prefix = false;
            first = 0;
            after_stalled = 0;
            [[unroll]] for (uint t = 0; t < LOOK_BACK_WINDOW; t++) {
                uvec4 prefixes = subgroupBallot(status[t] == PREFIX);
                uvec4 stalled = subgroupBallot(status[t] == NOT_READY);
                bool has_own = subgroupBallotBitCount(prefixes) > 0;
                has_prefix = has_prefix || has_own;
                first = has_own ? max(first, subgroupBallotFindMSB(prefixes) * LOOK_BACK_WINDOW + t) : first;
                after_stalled = subgroupBallotBitCount(stalled) > 0 ?
                    max(after_stalled, subgroupBallotFindMSB(stalled) * LOOK_BACK_WINDOW + t + 1) :
                    after_stalled;
            }
            if (after_stalled <= first) {
                break;
            }
            count(SPINS);
        }
        count_window();
        bool is_stuck = after_stalled > first;
        first = max(first, after_stalled);
        [[unroll]] for (uint t = 0; t < LOOK_BACK_WINDOW; t++) {
            if (position + t < first) {
                published[t] = identity();
            }
        }
        Element own = published[0];
        [[unroll]] for (uint t = 1; t < LOOK_BACK_WINDOW; t++) {
            own = combine(own, published[t]);
        }
        carry = combine(subgroup_reduce(own), carry);
        end = max(end + first, window) - window;
        if (is_stuck) {
            return end - 1;
        }
        if (has_prefix || end == 0) {
            return NONE;
        }
    }
}
