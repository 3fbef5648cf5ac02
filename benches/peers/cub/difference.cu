// Adjacent differences. CUB copies the first number, which subsweep leaves out.

#include "bench.cuh"
#include "inputs.hpp"

#include <cub/device/device_adjacent_difference.cuh>

namespace peer {
namespace {

// Floats of any bits: a NaN equals any NaN.
bool is_same(float a, float b) { return (a != a && b != b) || std::memcmp(&a, &b, sizeof a) == 0; }
bool is_same(int64_t a, int64_t b) { return a == b; }

float difference(float a, float b) { return a - b; }
int64_t difference(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

template <typename T>
Measurement differences(Bench& bench, size_t count) {
    std::vector<T> numbers = uniform_keys<T>(count);
    Array<T> source(numbers), result(count);
    auto test = [&numbers](const std::vector<T>& results) {
        size_t i = 0;
        while (i < results.size() &&
               is_same(results[i], i == 0 ? numbers[0] : difference(numbers[i], numbers[i - 1]))) {
            i++;
        }
        return i;
    };
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceAdjacentDifference::SubtractLeftCopy(scratch, size, source.get(), result.get(),
                                                               static_cast<int>(count));
    };
    return bench.measure({count, sizeof(T), 2 * sizeof(T) * count, call, {holds(result, count, test, "differences")}});
}

}  // namespace

std::vector<Case> difference_cases() {
    return {
        {{"difference:type=f32;columns=1;policy=default;misalign=0;n=N;input=uniform"}, differences<float>},
        {{"difference:type=i64;columns=1;policy=default;misalign=0;n=N;input=uniform"}, differences<int64_t>},
    };
}

}  // namespace peer
