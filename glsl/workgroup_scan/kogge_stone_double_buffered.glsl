// Workgroup scan of one element per invocation: the Kogge-Stone network, double-buffered, with one barrier per step.
//
// A step reads one buffer and writes the other, so that no barrier is needed between reading and writing. Invocations
// with nothing to add copy their element: the same N log2 N - (N - 1) operations as with one buffer, and twice the
// shared memory.
//
// Shared:   2 * WORKGROUP_SIZE elements.
// Source:   Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, 2022, ch. 11.2; the network as in
//           `kogge_stone.glsl`.

// The two buffers, one after the other.
shared Element s_prefix[2 * WORKGROUP_SIZE];

// See `invocations.glsl`.
uint scan_invocations(uint i, Element value) {
    uint from = 0;
    s_prefix[i] = value;
    barrier();
    for (uint distance = 1; distance < WORKGROUP_SIZE; distance *= 2) {
        if (i >= distance) {
            value = combine(s_prefix[from + i - distance], value);
        }
        from = WORKGROUP_SIZE - from;
        s_prefix[from + i] = value;
        barrier();
    }
    return from;
}
