// Workgroup scan of one element per invocation: sequential, by the first invocation.
//
// The minimum of N - 1 operations, one after the other, while all other invocations wait: the baseline of work
// efficiency.
//
// Shared:   WORKGROUP_SIZE elements.
// Source:   Hwu, Kirk and El Hajj, Programming Massively Parallel Processors, 2022, ch. 11.1.

shared Element s_prefix[WORKGROUP_SIZE];

// See `invocations.glsl`.
uint scan_invocations(uint i, Element value) {
    s_prefix[i] = value;
    barrier();
    if (i == 0) {
        for (uint next = 1; next < WORKGROUP_SIZE; next++) {
            value = combine(value, s_prefix[next]);
            s_prefix[next] = value;
        }
    }
    barrier();
    return 0;
}
