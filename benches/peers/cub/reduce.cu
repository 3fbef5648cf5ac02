// Reductions of all elements, of segments and of runs of keys.

#include "bench.cuh"
#include "inputs.hpp"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include <numeric>

namespace peer {
namespace {

Measurement sum_of_u32(Bench& bench, size_t count) {
    std::vector<uint32_t> numbers = uniform_numbers<uint32_t>(count);
    Array<uint32_t> source(numbers), result(1);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceReduce::Sum(scratch, size, source.get(), result.get(), static_cast<int>(count));
    };
    uint32_t sum = 0;
    for (uint32_t number : numbers) {
        sum += number;
    }
    return bench.measure({count, 4, 4 * count, call, {equals(result, {sum}, "sum")}});
}

BoundedSum sum_of(const std::vector<float>& numbers, size_t begin, size_t end) {
    FloatSum sum;
    std::for_each(numbers.begin() + begin, numbers.begin() + end, [&](float number) { sum.add(number); });
    return sum.result();
}

Measurement sum_of_f32(Bench& bench, size_t count) {
    std::vector<float> numbers = uniform_numbers<float>(count);
    Array<float> source(numbers), result(1);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceReduce::Sum(scratch, size, source.get(), result.get(), static_cast<int>(count));
    };
    return bench.measure({count, 4, 4 * count, call, {near(result, {sum_of(numbers, 0, count)}, "sum")}});
}

Measurement argmin(Bench& bench, size_t count) {
    std::vector<float> numbers = uniform_numbers<float>(count);
    Array<float> source(numbers), least(1);
    Array<int> index(1);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceReduce::ArgMin(scratch, size, source.get(), least.get(), index.get(),
                                         static_cast<int64_t>(count));
    };
    auto first = std::min_element(numbers.begin(), numbers.end());
    return bench.measure({count, 4, 4 * count, call,
                          {equals(least, {*first}, "minimum"),
                           equals(index, {static_cast<int>(first - numbers.begin())}, "index")}});
}

// Where runs begin: short ones, one of half of the rows, and longer ones. `ReduceCase::begins` in
// tool/src/harness/cases/reduce.rs.
std::vector<uint32_t> run_begins(size_t count) {
    SplitMix64 random{count};
    std::vector<uint32_t> begins;
    for (size_t row = 0; row < count; row++) {
        uint64_t word = random.next();
        size_t quarter = 4 * row / count;
        if (quarter == 0 ? word % 3 == 0 : quarter == 3 && word % 100 == 0) {
            begins.push_back(static_cast<uint32_t>(row));
        }
    }
    return begins;
}

Measurement segments(Bench& bench, size_t count) {
    std::vector<float> numbers = uniform_numbers<float>(count);
    std::vector<uint32_t> begins = run_begins(count);
    std::vector<int> bounds(begins.begin(), begins.end());
    // Empty segments.
    for (size_t i = 0; i < begins.size(); i += 5) {
        bounds.push_back(static_cast<int>(begins[i]));
    }
    std::sort(bounds.begin(), bounds.end());
    // The last segment of subsweep begins at the end, and is empty.
    bounds.insert(bounds.end(), 2, static_cast<int>(count));
    size_t segment_count = bounds.size() - 1;
    std::vector<BoundedSum> sums;
    for (size_t i = 0; i < segment_count; i++) {
        sums.push_back(sum_of(numbers, bounds[i], bounds[i + 1]));
    }
    Array<float> source(numbers), result(segment_count);
    Array<int> offsets(bounds);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceSegmentedReduce::Sum(scratch, size, source.get(), result.get(),
                                               static_cast<int64_t>(segment_count), offsets.get(), offsets.get() + 1);
    };
    return bench.measure({count, 4, 4 * count, call, {near(result, std::move(sums), "sums")}});
}

template <int LENGTH>
Measurement rows(Bench& bench, size_t count) {
    std::vector<float> numbers = uniform_numbers<float>(count);
    size_t row_count = (count + LENGTH - 1) / LENGTH;
    // CUB has no shorter last row: zeros follow.
    numbers.resize(row_count * LENGTH);
    std::vector<BoundedSum> sums;
    for (size_t row = 0; row < row_count; row++) {
        sums.push_back(sum_of(numbers, row * LENGTH, (row + 1) * LENGTH));
    }
    Array<float> source(numbers), result(row_count);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceSegmentedReduce::Sum(scratch, size, source.get(), result.get(),
                                               static_cast<int64_t>(row_count), LENGTH);
    };
    return bench.measure({count, 4, 4 * count, call, {near(result, std::move(sums), "sums")}});
}

uint32_t sum_of(const std::vector<uint32_t>& numbers, size_t begin, size_t end) {
    return std::accumulate(numbers.begin() + begin, numbers.begin() + end, uint32_t(0));
}

Output expected_sums(const Array<float>& result, std::vector<BoundedSum> sums) {
    return near(result, std::move(sums), "sums");
}

Output expected_sums(const Array<uint32_t>& result, const std::vector<uint32_t>& sums) {
    return equals(result, sums, "sums");
}

template <typename T>
Measurement by_key(Bench& bench, size_t count) {
    std::vector<T> numbers = uniform_numbers<T>(count);
    std::vector<uint32_t> begins = run_begins(count), keys(count);
    uint64_t number = 0;
    for (size_t row = 0, next = 0; row < count; row++) {
        if (next < begins.size() && begins[next] == row) {
            number++;
            next++;
        }
        keys[row] = static_cast<uint32_t>(SplitMix64{number % 7}.next());
    }
    std::vector<uint32_t> unique_keys;
    std::vector<decltype(sum_of(numbers, 0, 0))> sums;
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && keys[end] == keys[begin];) {
            end++;
        }
        unique_keys.push_back(keys[begin]);
        sums.push_back(sum_of(numbers, begin, end));
    }
    Array<uint32_t> source_keys(keys), result_keys(count), run_count(1);
    Array<T> source(numbers), result(count);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceReduce::ReduceByKey(scratch, size, source_keys.get(), result_keys.get(), source.get(),
                                              result.get(), run_count.get(), cuda::std::plus<T>{},
                                              static_cast<int>(count));
    };
    std::vector<uint32_t> expected_count{static_cast<uint32_t>(unique_keys.size())};
    return bench.measure({count, 4, 12 * count, call,
                          {equals(run_count, expected_count, "run count"), equals(result_keys, unique_keys, "keys"),
                           expected_sums(result, std::move(sums))}});
}

}  // namespace

std::vector<Case> reduce_cases() {
    return {
        {{"reduce:all:type=u32;op=add;columns=1;policy=default;misalign=0;n=N;input=uniform"}, sum_of_u32},
        {{"reduce:all:type=f32;op=add;columns=1;policy=default;misalign=0;n=N;input=uniform"}, sum_of_f32},
        {{"reduce:all:type=f32;op=argmin;columns=1;policy=default;misalign=0;n=N;input=uniform"}, argmin},
        {{"reduce:offsets:type=f32;op=add;columns=1;policy=default;misalign=0;n=N;input=uniform"}, segments},
        {{"reduce:rows:type=f32;op=add;length=40;columns=1;policy=default;misalign=0;n=N;input=uniform"}, rows<40>},
        {{"reduce:rows:type=f32;op=add;length=65536;columns=1;policy=default;misalign=0;n=N;input=uniform"}, rows<65536>},
        {{"reduce:keys32:type=f32;op=add;columns=1;policy=default;misalign=0;n=N;input=uniform"}, by_key<float>},
        {{"reduce:keys32:type=u32;op=add;columns=1;policy=default;misalign=0;n=N;input=uniform"}, by_key<uint32_t>},
    };
}

}  // namespace peer
