// How many tiles there are, whoever knows it.

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

#endif
