// What the device tells its own dispatches: whether a pass runs, how far, and between which arrays.
//
// Keys go to and fro between the caller's array and one aside. Where the keys are to stay as they are, they go once out of
// the caller's, and then to and fro between two that are aside. A pass whose digit is the same of all keys need not run:
// only the device knows then where the keys are.
//
//   | workgroups of the dispatch, in three dimensions | tiles | keys in the last | ping_pong | counts of all tiles | – |

#ifndef SUBSWEEP_SORT_DISPATCH_ARGS
#define SUBSWEEP_SORT_DISPATCH_ARGS

#include "common/address.glsl"
#include "common/main_path.glsl"

const uint DISPATCH_ARGS_WORDS = 8;
const uint ARGS_TILE_COUNT = 3;
const uint ARGS_LAST_EXTENT = 4;
const uint ARGS_PING_PONG = 5;
const uint ARGS_COUNTER_COUNT = 6;

// Bits of a ping_pong: the keys' array before and after, the values', and whether an odd number of passes have run before.
const uint PRIMARY = 0;
const uint ALTERNATE = 1;
// Of keys: the second aside. Of values, before: none, for they are the keys' places.
const uint SECOND_ALTERNATE = 2;

struct PingPong {
    uint keys_from;
    uint keys_to;
    uint values_from;
    uint values_to;
    uint parity;
};

uint ping_pong_word(PingPong ping_pong) {
    return ping_pong.keys_from | ping_pong.keys_to << 2 | ping_pong.values_from << 4 | ping_pong.values_to << 6 | ping_pong.parity << 8;
}

// A dispatch of a pass: its tiles, all full but the last.
struct PassArgs {
    uint tile_count;
    uint last_extent;
    PingPong ping_pong;
};

PassArgs load_pass_args(Words dispatch_args) {
    uint ping_pong = dispatch_args.word[ARGS_PING_PONG];
    return PassArgs(
        dispatch_args.word[ARGS_TILE_COUNT],
        dispatch_args.word[ARGS_LAST_EXTENT],
        PingPong(ping_pong & 3, ping_pong >> 2 & 3, ping_pong >> 4 & 3, ping_pong >> 6 & 3, ping_pong >> 8 & 1)
    );
}

uint tile_extent(PassArgs args, uint tile, uint tile_items) {
    return MAIN_PATH || tile + 1 < args.tile_count ? tile_items : args.last_extent;
}

// The array that a part of a ping_pong names. Addresses are chosen, not pointers: SwiftShader crashes on a pointer that a
// branch has chosen.
Words buffer_of(uint name, Words callers, Words aside, Words other) {
    uvec2 chosen = name == PRIMARY ? uvec2(callers) : name == ALTERNATE ? uvec2(aside) : uvec2(other);
    return Words(chosen);
}

#endif
