// Workgroup scan of one element per invocation: the Brent-Kung network.
//
// An upsweep leaves the sum of every aligned block of a power of two in the block's last element; a downsweep then
// adds each block's sum to the middle of the next. It takes twice the steps of the Kogge-Stone network and 2 N - log2
// N - 2 operations, of the order of the sequential scan. The active invocations are the first ones, so that whole
// subgroups become idle.
//
// Shared:   WORKGROUP_SIZE elements.
// Limits:   WORKGROUP_SIZE is a power of two.
// Source:   Brent and Kung, "A Regular Layout for Parallel Adders", IEEE Transactions on Computers, 1982; Hwu, Kirk and
//           El Hajj, Programming Massively Parallel Processors, 2022, ch. 11.4.

shared Element s_prefix[WORKGROUP_SIZE];

// See `invocations.glsl`.
uint scan_invocations(uint i, Element value) {
    s_prefix[i] = value;
    barrier();
    for (uint distance = 1; distance < WORKGROUP_SIZE; distance *= 2) {
        uint last = (i + 1) * 2 * distance - 1;
        if (last < WORKGROUP_SIZE) {
            s_prefix[last] = combine(s_prefix[last - distance], s_prefix[last]);
        }
        barrier();
    }
    for (uint distance = WORKGROUP_SIZE / 4; distance > 0; distance /= 2) {
        uint last = (i + 1) * 2 * distance - 1;
        if (last + distance < WORKGROUP_SIZE) {
            s_prefix[last + distance] = combine(s_prefix[last], s_prefix[last + distance]);
        }
        barrier();
    }
    return 0;
}
