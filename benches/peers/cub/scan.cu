// Inclusive sums.

#include "bench.cuh"
#include "inputs.hpp"

#include <cub/device/device_scan.cuh>

namespace peer {
namespace {

template <typename T>
std::vector<T> sums_of(std::vector<T> numbers) {
    T sum = 0;
    for (T& number : numbers) {
        number = sum += number;
    }
    return numbers;
}

template <typename T>
Output expected_sums(const Array<T>& result, const std::vector<T>& numbers) {
    return equals(result, sums_of(numbers), "sums");
}

Output expected_sums(const Array<float>& result, const std::vector<float>& numbers) {
    std::vector<BoundedSum> expected;
    FloatSum sum;
    for (float number : numbers) {
        sum.add(number);
        expected.push_back(sum.result());
    }
    return near(result, std::move(expected), "sums");
}

template <typename T>
Measurement inclusive_sum(Bench& bench, size_t count) {
    std::vector<T> numbers = uniform_numbers<T>(count);
    Array<T> source(numbers), result(count);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceScan::InclusiveSum(scratch, size, source.get(), result.get(), static_cast<int>(count));
    };
    return bench.measure({count, sizeof(T), 2 * sizeof(T) * count, call, {expected_sums(result, numbers)}});
}

}  // namespace

std::vector<Case> scan_cases() {
    return {
        {{"scan:inclusive:type=u32;columns=1;algorithm=reduce-then-scan;policy=default;place=out;misalign=0;n=N;input=uniform",
          "scan:inclusive:type=u32;columns=1;algorithm=chained;policy=default;place=out;misalign=0;n=N;input=uniform"},
         inclusive_sum<uint32_t>},
        {{"scan:inclusive:type=f32;columns=1;algorithm=reduce-then-scan;policy=default;place=out;misalign=0;n=N;input=uniform",
          "scan:inclusive:type=f32;columns=1;algorithm=chained;policy=default;place=out;misalign=0;n=N;input=uniform"},
         inclusive_sum<float>},
        {{"scan:inclusive:type=u64;columns=1;algorithm=reduce-then-scan;policy=default;place=out;misalign=0;n=N;input=uniform"},
         inclusive_sum<uint64_t>},
    };
}

}  // namespace peer
