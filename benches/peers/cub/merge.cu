// Merges of two sorted arrays of half of the keys each.

#include "bench.cuh"
#include "inputs.hpp"

#include <cub/device/device_merge.cuh>

namespace peer {
namespace {

template <typename T>
std::vector<T> concatenated(std::vector<T> a, const std::vector<T>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// Two sorted arrays of keys, and values with them.
template <typename Key>
struct Halves {
    std::vector<Key> a, b;
    std::vector<uint32_t> a_values, b_values;

    Halves(size_t count, bool has_values) {
        std::vector<Key> keys = uniform_keys<Key>(count);
        std::vector<uint32_t> values;
        if (has_values) {
            values = uniform_words(count, count + 3);
        }
        a.assign(keys.begin(), keys.begin() + count / 2);
        b.assign(keys.begin() + count / 2, keys.end());
        a_values.assign(values.begin(), values.begin() + values.size() / 2);
        b_values.assign(values.begin() + values.size() / 2, values.end());
        sort_pairs(a, a_values, 0, 8 * sizeof(Key));
        sort_pairs(b, b_values, 0, 8 * sizeof(Key));
    }
};

template <typename Key>
Measurement keys(Bench& bench, size_t count) {
    Halves<Key> halves(count, false);
    Array<Key> a(halves.a), b(halves.b), result(count);
    std::vector<Key> merged = concatenated(halves.a, halves.b);
    sort_keys(merged);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceMerge::MergeKeys(scratch, size, a.get(), static_cast<int>(a.count()), b.get(),
                                           static_cast<int>(b.count()), result.get());
    };
    return bench.measure({count, sizeof(Key), 2 * sizeof(Key) * count, call, {equals(result, merged, "keys")}});
}

Measurement pairs(Bench& bench, size_t count) {
    Halves<uint32_t> halves(count, true);
    Array<uint32_t> a(halves.a), b(halves.b), a_values(halves.a_values), b_values(halves.b_values);
    Array<uint32_t> result(count), result_values(count);
    std::vector<uint32_t> merged = concatenated(halves.a, halves.b);
    std::vector<uint32_t> values = concatenated(halves.a_values, halves.b_values);
    // A stable sort: the keys of `a` precede equal keys of `b`.
    sort_pairs(merged, values, 0, 32);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceMerge::MergePairs(scratch, size, a.get(), a_values.get(), static_cast<int>(a.count()), b.get(),
                                            b_values.get(), static_cast<int>(b.count()), result.get(),
                                            result_values.get());
    };
    return bench.measure(
        {count, 4, 16 * count, call, {equals(result, merged, "keys"), equals(result_values, values, "values")}});
}

}  // namespace

std::vector<Case> merge_cases() {
    return {
        {{"merge:keys:type=u32;a=half;policy=default;misalign=0;n=N;input=uniform"}, keys<uint32_t>},
        {{"merge:pairs:type=u32;values=1;a=half;policy=default;misalign=0;n=N;input=uniform"}, pairs},
        {{"merge:keys:type=u64;a=half;policy=default;misalign=0;n=N;input=uniform"}, keys<uint64_t>},
    };
}

}  // namespace peer
