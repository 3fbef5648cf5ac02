// Workgroup scan of one element per invocation: the Kogge-Stone network, with two barriers per step.
//
// After the step of distance d, an invocation holds the sum of the last 2d elements up to its own. All invocations
// but the first d are active in that step: log2 N steps, N log2 N - (N - 1) operations for a workgroup of N.
//
// The sources show the network with one barrier per step, as an example of a race (PMPP slide "Incorrect!", the
// OpenCL exercise "Can not use"):
//
//   if (i >= distance) s_prefix[i] = combine(s_prefix[i - distance], s_prefix[i]);
//   barrier();
//
// Invocation i - distance writes s_prefix[i - distance], and invocation i reads it, between the same two barriers, in
// no order. Read first, it is the sum of the previous step, which is right. Written first, it already includes the
// elements up to i - 2 * distance, which invocation i adds again in a later step. Subgroups that run in lockstep hide
// the race inside a subgroup; it shows only between subgroups, and only sometimes. Hence each step reads into a
// register, waits, writes, and waits again. The second barrier orders a true dependence (read after write), the first
// a false one (write after read), which double buffering avoids: `kogge_stone_double_buffered.glsl`.
//
// Shared:   WORKGROUP_SIZE elements.
// Source:   Kogge and Stone, "A Parallel Algorithm for the Efficient Solution of a General Class of Recurrence
//           Equations", IEEE Transactions on Computers, 1973; Hwu, Kirk and El Hajj, Programming Massively Parallel
//           Processors, 2022, ch. 11.2; Sun, OpenCL exercise 5, "Prefix sum".

shared Element s_prefix[WORKGROUP_SIZE];

// See `invocations.glsl`.
uint scan_invocations(uint i, Element value) {
    s_prefix[i] = value;
    barrier();
    for (uint distance = 1; distance < WORKGROUP_SIZE; distance *= 2) {
        Element earlier = identity();
        if (i >= distance) {
            earlier = s_prefix[i - distance];
        }
        barrier();
        if (i >= distance) {
            value = combine(earlier, value);
            s_prefix[i] = value;
        }
        barrier();
    }
    return 0;
}
