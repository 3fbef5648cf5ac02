// Lower bounds in a sorted array.

#include "bench.cuh"
#include "inputs.hpp"

#include <numeric>

#include <cub/device/device_find.cuh>

namespace peer {
namespace {

// Sorted keys, of which every other is a needle: `SearchCase::sorted` in tool/src/harness/cases/search.rs.
std::vector<uint32_t> sorted_of(std::vector<uint32_t> keys, const std::vector<uint32_t>& needles) {
    SplitMix64 random{keys.size()};
    for (size_t i = 0; i < keys.size(); i += 2) {
        keys[i] = needles[random.next() % needles.size()];
    }
    sort_keys(keys);
    return keys;
}

Measurement lower_bound(Bench& bench, const std::vector<uint32_t>& sorted, const std::vector<uint32_t>& needles) {
    // In the order of the needles one walk finds all.
    std::vector<uint32_t> ascending = needles, indices(needles.size()), positions(needles.size());
    std::iota(indices.begin(), indices.end(), 0u);
    sort_pairs(ascending, indices, 0, 32);
    for (size_t i = 0, at = 0; i < ascending.size(); i++) {
        while (at < sorted.size() && sorted[at] < ascending[i]) {
            at++;
        }
        positions[indices[i]] = static_cast<uint32_t>(at);
    }
    Array<uint32_t> range(sorted), values(needles), result(needles.size());
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceFind::LowerBound(scratch, size, range.get(), static_cast<int>(sorted.size()), values.get(),
                                           static_cast<int>(needles.size()), result.get(),
                                           cuda::std::less<uint32_t>{});
    };
    uint64_t count = needles.size(), steps = 0;
    while (sorted.size() >> steps != 0) {
        steps++;
    }
    uint64_t traffic = 8 * count + 4 * std::min<uint64_t>(sorted.size(), count * steps);
    return bench.measure({count, 4, traffic, call, {equals(result, positions, "positions")}});
}

// The last of the words that subsweep draws is no key.
std::vector<uint32_t> uniform_sorted(size_t count, const std::vector<uint32_t>& needles) {
    std::vector<uint32_t> keys = uniform_words(count, count + 1);
    return sorted_of(std::move(keys), needles);
}

Measurement uniform(Bench& bench, size_t count) {
    std::vector<uint32_t> needles = uniform_keys<uint32_t>(count);
    return lower_bound(bench, uniform_sorted(count, needles), needles);
}

Measurement in_few(Bench& bench, size_t count) {
    std::vector<uint32_t> needles = uniform_keys<uint32_t>(count);
    return lower_bound(bench, uniform_sorted(4096, needles), needles);
}

Measurement sorted(Bench& bench, size_t count) {
    std::vector<uint32_t> needles(count);
    std::iota(needles.begin(), needles.end(), 0u);
    return lower_bound(bench, sorted_of(needles, needles), needles);
}

}  // namespace

std::vector<Case> search_cases() {
    return {
        {{"search:lower:type=u32;sorted=n;policy=default;misalign=0;n=N;input=uniform"}, uniform},
        {{"search:lower:type=u32;sorted=n;policy=default;misalign=0;n=N;input=sorted"}, sorted},
        {{"search:lower:type=u32;sorted=4096;policy=default;misalign=0;n=N;input=uniform"}, in_few},
    };
}

}  // namespace peer
