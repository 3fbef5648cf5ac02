/* Sorts and sums arrays on a device of the library's own, in C++17.
 *
 *     c++ -std=c++17 sort.cpp $(pkg-config --cflags --libs subsweep)
 */

#include <cstdint>
#include <cstdio>
#include <vector>

#include <subsweep.hpp>

int main() try {
    const subsweep::Gpu gpu;
    std::vector<float> keys = {2.5f, -1.0f, 3.0f, 0.5f};
    std::vector<std::uint32_t> values = {0, 1, 2, 3};
    gpu.sort_pairs(keys, values, SUBSWEEP_SORT_DESCENDING_BIT);
    std::printf("%s: %g %g %g %g, sum %g, from", gpu.name(), keys[0], keys[1], keys[2], keys[3], gpu.reduce(keys));
    gpu.exclusive_scan(keys);
    std::printf(" %u %u %u %u, before each %g %g %g %g\n", values[0], values[1], values[2], values[3], keys[0],
                keys[1], keys[2], keys[3]);
} catch (const subsweep::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
