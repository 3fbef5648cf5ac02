// What the device tells its own dispatches: whether a pass runs, how far, and between which arrays.
//
// Keys go to and fro between the caller's array and one aside. Where the keys are to stay as they are, they go once out of
// the caller's, and then to and fro between two that are aside. A pass whose digit is the same of all keys need not run:
// only the device knows then where the keys are.
//
//   | workgroups of the dispatch, in three dimensions | tiles | keys in the last | route | counts of all tiles | – |

#ifndef SUBSWEEP_SORT_SCHEDULE
#define SUBSWEEP_SORT_SCHEDULE

#include "common/address.glsl"
#include "common/main_path.glsl"

const uint SCHEDULE_WORDS = 8;
const uint SCHEDULED = 3;
const uint LAST_EXTENT = 4;
const uint ROUTE = 5;
const uint SCHEDULED_COUNTS = 6;

// Bits of a route: the keys' array before and after, the values', and whether an odd number of passes have run before.
const uint CALLERS = 0;
const uint ASIDE = 1;
// Of keys: the second aside. Of values, before: none, for they are the keys' places.
const uint OTHER = 2;

struct Route {
    uint keys_from;
    uint keys_to;
    uint values_from;
    uint values_to;
    uint parity;
};

uint route_word(Route route) {
    return route.keys_from | route.keys_to << 2 | route.values_from << 4 | route.values_to << 6 | route.parity << 8;
}

// A dispatch of a pass: its tiles, all full but the last.
struct Scheduled {
    uint tile_count;
    uint last_extent;
    Route route;
};

Scheduled load_schedule(Words schedule) {
    uint route = schedule.word[ROUTE];
    return Scheduled(
        schedule.word[SCHEDULED],
        schedule.word[LAST_EXTENT],
        Route(route & 3, route >> 2 & 3, route >> 4 & 3, route >> 6 & 3, route >> 8 & 1)
    );
}

uint tile_extent(Scheduled scheduled, uint tile, uint tile_items) {
    return MAIN_PATH || tile + 1 < scheduled.tile_count ? tile_items : scheduled.last_extent;
}

// The array that a part of a route names. Addresses are chosen, not pointers: SwiftShader crashes on a pointer that a
// branch has chosen.
Words array_of(uint name, Words callers, Words aside, Words other) {
    uvec2 chosen = name == CALLERS ? uvec2(callers) : name == ASIDE ? uvec2(aside) : uvec2(other);
    return Words(chosen);
}

#endif
