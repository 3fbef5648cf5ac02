// Queues of a segmented sort, one for each size class.
//
//   queue of a class:  | begin | extent | of each of its segments, in any order
//   long segments:     | begin | extent | first tile | tiles | of each, in any order; their tiles are consecutive
//
// Dispatch arguments have the layout of `dispatch_args.glsl`, with the number of segments, or of tiles of the segment
// tile queue, as their tile count; last extent and ping_pong are unused.

#ifndef SUBSWEEP_SORT_SEGMENTS
#define SUBSWEEP_SORT_SEGMENTS

#include "sort/dispatch_args.glsl"

const uint SEGMENT_WORDS = 2;
const uint LONG_SEGMENT_WORDS = 4;

// A segment: the index of its first key, and its number of keys.
struct Segment {
    uint begin;
    uint extent;
};

Segment load_segment(Words queue, uint index) {
    Words entry = advance_words(queue, index, SEGMENT_WORDS);
    return Segment(entry.word[0], entry.word[1]);
}

#endif
