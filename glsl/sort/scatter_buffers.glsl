// Buffers of a pass that scatters: the keys after it, and the values before and after.

#include "sort/dispatch_args.glsl"

// Whether the last pass that runs writes no keys, since only the values matter.
layout(constant_id = ID_NO_LAST_KEYS) const bool NO_LAST_KEYS = false;

// The keys after a pass; null if they are not written.
Words sorted_keys_of(PingPong ping_pong, Words primary, Words alternate, Words second_alternate) {
    uvec2 address = uvec2(buffer_of(ping_pong.keys_to, primary, alternate, second_alternate));
    return Words(NO_LAST_KEYS && ping_pong.keys_to == NOWHERE ? uvec2(0) : address);
}

#define KEYS_TO sorted_keys_of(pass.ping_pong, push.keys, push.keys_alt, push.keys_alt2)

// Whether a pass writes keys, to `sorted`.
bool is_written(Words sorted) {
    return !NO_LAST_KEYS || !is_null(sorted);
}

// The value buffers; with `are_indices` a value is its key's index, and `from` is unused.
struct Values {
    Words from;
    Words to;
    bool are_indices;
};

Values values_of(PingPong ping_pong, Words primary, Words alternate) {
    return Values(
        buffer_of(ping_pong.values_from, primary, alternate, primary),
        buffer_of(ping_pong.values_to, primary, alternate, primary),
        ping_pong.values_from == SECOND_ALTERNATE
    );
}
