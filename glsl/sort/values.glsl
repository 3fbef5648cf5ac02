// Where the values of a pass come from, and where they go.

#ifndef SUBSWEEP_SORT_VALUES
#define SUBSWEEP_SORT_VALUES

#include "sort/schedule.glsl"

// All values that there are. Without any, a value is its key's index.
struct Values {
    Words from;
    Words to;
    bool are_indices;
};

Values values_of(Route route, Words callers, Words aside) {
    return Values(
        array_of(route.values_from, callers, aside, callers),
        array_of(route.values_to, callers, aside, callers),
        route.values_from == OTHER
    );
}

#endif
