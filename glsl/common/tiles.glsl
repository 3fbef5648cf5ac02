// How many elements there are, and how many tiles, whoever knows it.

#ifndef SUBSWEEP_TILES
#define SUBSWEEP_TILES

#include "common/address.glsl"

// The tiles of an array of rows; all are full but the last in memory.
struct Tiles {
    uint count;
    uint last_extent;
};

// Those that the host tells, or, where it does not know them, `on_device`, which is null elsewhere.
Tiles tiles_of(uint count, uint last_extent, Words on_device) {
    if (!is_null(on_device)) {
        return Tiles(on_device.word[0], on_device.word[1]);
    }
    return Tiles(count, last_extent);
}

// The elements that the host tells, or, where it does not know them, those of `on_device`, which is null elsewhere: then
// no more than `count` are taken.
uint count_of(uint count, Words on_device) {
    if (!is_null(on_device)) {
        count = min(count, on_device.word[0]);
    }
    return count;
}

#endif
