// Between which arrays a pass goes, and how far.
//
// Keys go to and fro between the caller's array and one aside. Where the keys are to stay as they are, they go once out of
// the caller's, and then to and fro between two that are aside. A pass whose digit is the same of all keys need not run:
// then only the device knows where the keys are, and SCHEDULE_WORDS for each pass tell. Else the host does.
//
//   schedule of a pass:  | workgroups of its dispatch, in three dimensions | tiles | keys in the last | route | – | – |

#ifndef SUBSWEEP_SORT_ROUTE
#define SUBSWEEP_SORT_ROUTE

#include "common/tiles.glsl"

const uint SCHEDULE_WORDS = 8;

// Bits of a route: the keys' array before and after, and the values'.
const uint CALLERS = 0;
const uint ASIDE = 1;
// Of keys: the second aside. Of values, before: none, for they are the keys' places.
const uint OTHER = 2;

uint route_of(uint keys_from, uint keys_to, uint values_from, uint values_to) {
    return keys_from | keys_to << 2 | values_from << 4 | values_to << 6;
}

uint keys_from(uint route) {
    return route & 3;
}

uint keys_to(uint route) {
    return route >> 2 & 3;
}

uint values_from(uint route) {
    return route >> 4 & 3;
}

uint values_to(uint route) {
    return route >> 6 & 3;
}

// The array that a route names. Addresses are chosen, not pointers: SwiftShader crashes on a pointer that a branch has
// chosen.
Words array_of(uint name, Words callers, Words aside, Words other) {
    uvec2 chosen = name == CALLERS ? uvec2(callers) : name == ASIDE ? uvec2(aside) : uvec2(other);
    return Words(chosen);
}

#endif
