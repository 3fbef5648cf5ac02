// A value with its head: whether a segment begins at it, or at any of the values that it stands for.
//
// Values of two segments are never combined: the later one replaces what came before it. That is associative, whatever
// the operator is, so that the scan of such elements is the scan of each segment.
//
// Source: Schwartz, "Ultracomputers", ACM TOPLAS, 1980; Blelloch, "Prefix Sums and Their Applications", CMU-CS-90-190, 1990.

#ifndef SUBSWEEP_SEGMENTED
#define SUBSWEEP_SEGMENTED

struct SegmentedValue {
    Value value;
    // 0 or 1.
    uint is_head;
};

#undef Element
#define Element SegmentedValue

Element identity() {
    return Element(value_identity(), 0);
}

Element combine(Element earlier, Element later) {
    if (later.is_head == 0) {
        later.value = combine(earlier.value, later.value);
    }
    later.is_head |= earlier.is_head;
    return later;
}

#endif
