// Runs up to an element: how many are kept, and 1 more than the index of the first element of the last one, 0 for none.
// Sums and maxima of each, which commute.

#define ELEMENT_WORDS 2
#include "common/words.glsl"

Element identity() {
    return Element(0);
}

Element combine(Element earlier, Element later) {
    return Element(earlier.x + later.x, max(earlier.y, later.y));
}

#define OPERATOR_HAS_SUBGROUP

Element subgroup_reduce(Element value) {
    return Element(subgroupAdd(value.x), subgroupMax(value.y));
}

Element subgroup_exclusive_scan(Element value, out Element total) {
    total = subgroup_reduce(value);
    return Element(subgroupExclusiveAdd(value.x), subgroupExclusiveMax(value.y));
}
