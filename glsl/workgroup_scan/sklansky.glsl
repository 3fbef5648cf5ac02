// Workgroup scan of one element per invocation: the Sklansky network.
//
// The block size doubles: every element of an upper block adds the last element of the lower block beside it. No
// element is read and written in the same step, so that one barrier per step is enough. It takes the minimum of log2
// N steps with N / 2 operations each, half the invocations idle; the cost is that a whole block reads one element.
// `scan/double_blocks.comp` is the same network over the whole device.
//
// Shared:   WORKGROUP_SIZE elements.
// Source:   Sklansky, "Conditional-Sum Addition Logic", IRE Transactions on Electronic Computers, 1960.

shared Element s_prefix[WORKGROUP_SIZE];

// See `invocations.glsl`.
uint scan_invocations(uint i, Element value) {
    s_prefix[i] = value;
    barrier();
    for (uint block = 1; block < WORKGROUP_SIZE; block *= 2) {
        if ((i & block) != 0) {
            value = combine(s_prefix[(i & ~(block - 1)) - 1], value);
            s_prefix[i] = value;
        }
        barrier();
    }
    return 0;
}
