// Value buffers of a radix pass.

#include "sort/dispatch_args.glsl"

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
