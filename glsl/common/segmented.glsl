// Segmented elements: a value with a head flag, set if a segment begins at the value or at any value combined into
// it.
//
// Values of two segments are never combined: the later one replaces the earlier one. That is associative for every
// associative operator, so that a scan of such elements scans each segment by itself.
//
// Source: Schwartz, "Ultracomputers", ACM TOPLAS, 1980; Blelloch, "Prefix Sums and Their Applications",
//         CMU-CS-90-190, 1990.

struct SegmentedValue {
    Value value;
    // 0 or 1; with COUNTED_HEADS the number of heads.
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
#ifdef COUNTED_HEADS
    later.is_head += earlier.is_head;
#else
    later.is_head |= earlier.is_head;
#endif
    return later;
}
