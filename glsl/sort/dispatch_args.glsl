// Indirect dispatch arguments of a radix pass: whether the pass runs, its tiles, and its ping-pong buffers.
//
// Keys alternate between the primary buffer, which is the caller's, and an alternate one. If the keys must not
// change, the first pass that runs reads the primary buffer, and later ones go back and forth between two alternates.
// A pass is skipped if its digit is equal in all keys; then only the device knows which buffer holds the keys.
//
//   | workgroup counts in three dimensions | tiles | keys in the last | ping_pong | counters of all tiles | – |

#ifndef SUBSWEEP_SORT_DISPATCH_ARGS
#define SUBSWEEP_SORT_DISPATCH_ARGS

#include "common/address.glsl"
#include "common/main_path.glsl"

const uint DISPATCH_ARGS_WORDS = 8;
const uint ARGS_TILE_COUNT = 3;
const uint ARGS_LAST_EXTENT = 4;
const uint ARGS_PING_PONG = 5;
const uint ARGS_COUNTER_COUNT = 6;

// Buffers of a ping_pong word, which holds the buffers of keys before and after the pass, the buffers of values, and the parity
// of the number of passes that have run before.
const uint PRIMARY = 0;
const uint ALTERNATE = 1;
// For keys: the second alternate. For values before a pass: no buffer, the values are the keys' indices.
const uint SECOND_ALTERNATE = 2;
// For keys after the last pass that runs: no buffer, no keys are written.
const uint NOWHERE = 3;

struct PingPong {
    uint keys_from;
    uint keys_to;
    uint values_from;
    uint values_to;
    uint parity;
};

uint ping_pong_word(PingPong ping_pong) {
    return ping_pong.keys_from | ping_pong.keys_to << 2 | ping_pong.values_from << 4 |
        ping_pong.values_to << 6 | ping_pong.parity << 8;
}

// One dispatch of a pass: its tiles, all full but the last, and its buffers.
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

// The buffer that a field of a ping_pong word selects. Selects between addresses, not pointers: SwiftShader crashes
// on a pointer that a branch has selected.
Words buffer_of(uint buffer_index, Words primary, Words alternate, Words second_alternate) {
    uvec2 address = buffer_index == PRIMARY ? uvec2(primary) :
        buffer_index == ALTERNATE ? uvec2(alternate) : uvec2(second_alternate);
    return Words(address);
}

// The keys before `pass`.
#define KEYS_FROM buffer_of(pass.ping_pong.keys_from, push.keys, push.keys_alt, push.keys_alt2)

#endif
