// Counts of elements and tiles, from the host or from device memory.

#ifndef SUBSWEEP_TILES
#define SUBSWEEP_TILES

#include "common/address.glsl"

// The tiles of an array of rows; all are full but the last in memory.
struct Tiles {
    uint count;
    uint last_extent;
};

// The tile count and last extent: from `on_device` where it is not null, else the host's.
Tiles tiles_of(uint count, uint last_extent, Words on_device) {
    if (!is_null(on_device)) {
        return Tiles(on_device.word[0], on_device.word[1]);
    }
    return Tiles(count, last_extent);
}

// The element count: from `on_device` where it is not null, at most `count`, else `count`.
uint count_of(uint count, Words on_device) {
    if (!is_null(on_device)) {
        count = min(count, on_device.word[0]);
    }
    return count;
}

#endif
