// Where the values of a pass come from, and where they go.

#ifndef SUBSWEEP_SORT_VALUES
#define SUBSWEEP_SORT_VALUES

#include "sort/dispatch_args.glsl"

// All values that there are. Without any, a value is its key's index.
struct Values {
    Words from;
    Words to;
    bool are_indices;
};

Values values_of(PingPong ping_pong, Words callers, Words aside) {
    return Values(
        buffer_of(ping_pong.values_from, callers, aside, callers),
        buffer_of(ping_pong.values_to, callers, aside, callers),
        ping_pong.values_from == SECOND_ALTERNATE
    );
}

#endif
