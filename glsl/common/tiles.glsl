// Counts of elements and tiles, from the host or from device memory.
//
// Needs:    nothing
// Gives:    Tiles, tiles_of, count_of
// Shared:   none
// Barriers: none

#ifndef SUBSWEEP_TILES
#define SUBSWEEP_TILES

#include "common/address.glsl"

// The tiles of an array of rows; all are full but the last in memory.
struct Tiles {
    uint count;
    uint last_extent;
};

// The tile count and last extent: from `indirect` where it is not null, else the host's.
Tiles tiles_of(uint count, uint last_extent, Words indirect) {
    if (!is_null(indirect)) {
        return Tiles(indirect.word[0], indirect.word[1]);
    }
    return Tiles(count, last_extent);
}

// The element count: from `indirect` where it is not null, at most `count`, else `count`.
uint count_of(uint count, Words indirect) {
    if (!is_null(indirect)) {
        count = min(count, indirect.word[0]);
    }
    return count;
}

#endif
