// Selections and partitions.

#include "bench.cuh"
#include "inputs.hpp"

#include <cub/device/device_partition.cuh>
#include <cub/device/device_select.cuh>

namespace peer {
namespace {

struct Less {
    uint32_t bound;
    __host__ __device__ bool operator()(uint32_t key) const { return key < bound; }
};

// The middle of a sample of the keys, as in tool/src/harness/selected.rs.
uint32_t middle_of(const std::vector<uint32_t>& keys) {
    std::vector<uint32_t> sample;
    for (size_t i = 0; i < keys.size(); i += keys.size() / 999 + 1) {
        sample.push_back(keys[i]);
    }
    std::sort(sample.begin(), sample.end());
    return sample[sample.size() * 4 / 8];
}

std::vector<uint32_t> one(size_t count) { return {static_cast<uint32_t>(count)}; }

Measurement by_flags(Bench& bench, size_t count) {
    std::vector<uint32_t> keys = uniform_keys<uint32_t>(count), kept;
    std::vector<uint8_t> flags;
    // `SelectCase::flags` in tool/src/harness/cases/select.rs: in any bit of the byte.
    for (uint32_t word : uniform_words(count, count + 1)) {
        flags.push_back((word & 1) == 0 ? 0 : static_cast<uint8_t>(1 << (word >> 1 & 7)));
    }
    for (size_t i = 0; i < count; i++) {
        if (flags[i] != 0) {
            kept.push_back(keys[i]);
        }
    }
    Array<uint32_t> source(keys), result(count), kept_count(1);
    Array<uint8_t> flags_array(flags);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceSelect::Flagged(scratch, size, source.get(), flags_array.get(), result.get(),
                                          kept_count.get(), static_cast<int>(count));
    };
    return bench.measure({count, 4, count + 8 * kept.size(), call,
                          {equals(kept_count, one(kept.size()), "count"), equals(result, kept, "elements")}});
}

Measurement by_comparison(Bench& bench, size_t count) {
    std::vector<uint32_t> keys = uniform_keys<uint32_t>(count), kept;
    Less less{middle_of(keys)};
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(kept), less);
    Array<uint32_t> source(keys), result(count), kept_count(1);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceSelect::If(scratch, size, source.get(), result.get(), kept_count.get(),
                                     static_cast<int>(count), less);
    };
    return bench.measure({count, 4, 4 * (count + kept.size()), call,
                          {equals(kept_count, one(kept.size()), "count"), equals(result, kept, "elements")}});
}

Measurement unique(Bench& bench, size_t count) {
    std::vector<uint32_t> keys = uniform_keys<uint32_t>(count), kept;
    std::unique_copy(keys.begin(), keys.end(), std::back_inserter(kept));
    Array<uint32_t> source(keys), result(count), kept_count(1);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceSelect::Unique(scratch, size, source.get(), result.get(), kept_count.get(),
                                         static_cast<int>(count));
    };
    return bench.measure({count, 4, 4 * (count + kept.size()), call,
                          {equals(kept_count, one(kept.size()), "count"), equals(result, kept, "elements")}});
}

// CUB's second part is in reverse order.
Measurement partition(Bench& bench, size_t count) {
    std::vector<uint32_t> keys = uniform_keys<uint32_t>(count), parts;
    Less less{middle_of(keys)};
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(parts), less);
    size_t first_count = parts.size();
    std::copy_if(keys.rbegin(), keys.rend(), std::back_inserter(parts), [&](uint32_t key) { return !less(key); });
    Array<uint32_t> source(keys), result(count), kept_count(1);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DevicePartition::If(scratch, size, source.get(), result.get(), kept_count.get(),
                                        static_cast<int>(count), less);
    };
    return bench.measure({count, 4, 8 * count, call,
                          {equals(kept_count, one(first_count), "count"), equals(result, parts, "elements")}});
}

}  // namespace

std::vector<Case> select_cases() {
    return {
        {{"select:by=flags8;type=u32;policy=chosen;misalign=0;n=N;input=uniform"}, by_flags},
        {{"select:by=less;type=u32;policy=chosen;misalign=0;n=N;input=uniform"}, by_comparison},
        {{"select:by=unique;type=u32;policy=chosen;misalign=0;n=N;input=uniform"}, unique},
        {{"select:by=less;type=u32;parts=2;policy=chosen;misalign=0;n=N;input=uniform"}, partition},
    };
}

}  // namespace peer
