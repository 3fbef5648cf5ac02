// Segmented sorts.

#include "bench.cuh"
#include "inputs.hpp"

#include <cub/device/device_segmented_sort.cuh>

namespace peer {
namespace {

// The lengths of `SegmentMix` in tool/src/harness/cases/segmented_sort/mod.rs.
uint64_t short_length(uint64_t draw) { return draw % 25; }

uint64_t medium_length(uint64_t draw) { return 33 + draw % 32; }

uint64_t power_law_length(uint64_t draw) {
    uint64_t zeros = 0;
    while (zeros < 28 && (draw >> zeros & 1) == 0) {
        zeros++;
    }
    return (draw >> 32) % (uint64_t{2} << zeros);
}

// Offsets of segments and, last, the number of keys.
std::vector<int> offsets_of(size_t count, uint64_t (*length)(uint64_t)) {
    SplitMix64 random{count};
    std::vector<int> offsets{0};
    for (size_t begin = 0; begin < count;) {
        begin = std::min<size_t>(begin + length(random.next()), count);
        offsets.push_back(static_cast<int>(begin));
    }
    // The last segment of subsweep is empty.
    offsets.push_back(static_cast<int>(count));
    return offsets;
}

template <uint64_t (*LENGTH)(uint64_t)>
Measurement sort_segments(Bench& bench, size_t count) {
    std::vector<uint32_t> keys = uniform_keys<uint32_t>(count);
    std::vector<int> bounds = offsets_of(count, LENGTH);
    size_t segment_count = bounds.size() - 1;
    Array<uint32_t> source(keys), result(count);
    Array<int> offsets(bounds);
    for (size_t i = 0; i < segment_count; i++) {
        std::sort(keys.begin() + bounds[i], keys.begin() + bounds[i + 1]);
    }
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceSegmentedSort::SortKeys(scratch, size, source.get(), result.get(),
                                                  static_cast<int64_t>(count), static_cast<int64_t>(segment_count),
                                                  offsets.get(), offsets.get() + 1);
    };
    Work work{count, 4, 8 * count, call, {equals(result, keys, "keys")}};
    // It reads the sizes of its groups of segments back.
    work.waits = true;
    return bench.measure(work);
}

}  // namespace

std::vector<Case> segmented_cases() {
    return {
        {{"segmented_sort:keys:type=u32;segments=short;policy=default;bits=0:32;misalign=0;n=N;input=uniform"},
         sort_segments<short_length>},
        {{"segmented_sort:keys:type=u32;segments=medium;policy=default;bits=0:32;misalign=0;n=N;input=uniform"},
         sort_segments<medium_length>},
        {{"segmented_sort:keys:type=u32;segments=power-law;policy=default;bits=0:32;misalign=0;n=N;input=uniform"},
         sort_segments<power_law_length>},
    };
}

}  // namespace peer
