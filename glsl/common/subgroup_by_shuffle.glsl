// Subgroup reductions and scans for any operator, in lane order, by shuffles.
//
// Source: Hillis and Steele, "Data Parallel Algorithms", Communications of the ACM, 1986.

// The value of lane `lane` of the subgroup.
Value value_of_lane(Value value, uint lane) {
#if ELEMENT_WORDS <= 4
    return subgroupShuffle(value, lane);
#else
    [[unroll]] for (uint w = 0; w < ELEMENT_WORDS; w++) {
        value[w] = subgroupShuffle(value[w], lane);
    }
    return value;
#endif
}

Element element_of_lane(Element element, uint lane) {
#ifdef HEADED
    return Element(value_of_lane(element.value, lane), subgroupShuffle(element.is_head, lane));
#else
    return value_of_lane(element, lane);
#endif
}

// Every lane of the subgroup must call the following functions, and the subgroup must be full.

Element element_of_last_lane(Element element) {
    return element_of_lane(element, gl_SubgroupSize - 1);
}

// One step of an inclusive scan: combines with the value of the lane `distance` before, if there is one.
Element combine_earlier(Element value, uint distance) {
    uint lane = gl_SubgroupInvocationID;
    bool has_earlier = lane >= distance;
    Element earlier = element_of_lane(value, has_earlier ? lane - distance : lane);
    if (has_earlier) {
        value = combine(earlier, value);
    }
    return value;
}

Element subgroup_inclusive_scan(Element value) {
    for (uint distance = 1; distance < gl_SubgroupSize; distance *= 2) {
        value = combine_earlier(value, distance);
    }
    return value;
}

// The exclusive scan and the total, from the inclusive scan.
Element exclusive_of_inclusive(Element scanned, out Element total) {
    total = element_of_last_lane(scanned);
    Element prefix = element_of_lane(scanned, max(gl_SubgroupInvocationID, 1) - 1);
    if (gl_SubgroupInvocationID == 0) {
        prefix = identity();
    }
    return prefix;
}

Element subgroup_reduce(Element value) {
    return element_of_last_lane(subgroup_inclusive_scan(value));
}

Element subgroup_exclusive_scan(Element value, out Element total) {
    return exclusive_of_inclusive(subgroup_inclusive_scan(value), total);
}
