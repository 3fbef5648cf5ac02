// The largest k of one row, with their columns, in any order. CUB has no rows of a table.

#include "bench.cuh"
#include "inputs.hpp"

#include <numeric>

#include <cub/device/device_topk.cuh>
#include <cuda/iterator>

namespace peer {
namespace {

// Keys in the order of CUB: NaNs are greater than all numbers if positive, else less.
Measurement largest(Bench& bench, size_t columns, int k) {
    std::vector<float> row = uniform_keys<float>(columns);
    std::vector<uint32_t> order(columns);
    std::iota(order.begin(), order.end(), 0u);
    auto is_greater = [&](uint32_t a, uint32_t b) { return ordered(row[a]) > ordered(row[b]); };
    std::nth_element(order.begin(), order.begin() + (k - 1), order.end(), is_greater);
    uint32_t least = ordered(row[order[k - 1]]);
    std::vector<uint32_t> expected;
    for (int i = 0; i < k; i++) {
        expected.push_back(ordered(row[order[i]]));
    }
    std::sort(expected.begin(), expected.end());

    Array<float> source(row), keys(k);
    Array<uint32_t> indices(k);
    auto any_order = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                              cuda::execution::output_ordering::unsorted);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceTopK::MaxPairs(scratch, size, source.get(), keys.get(), cuda::counting_iterator<uint32_t>(0),
                                         indices.get(), static_cast<int>(columns), k, any_order);
    };
    // Equal keys may be of any columns: each column is there once, and with its own key.
    auto test = [&, k](const std::vector<uint32_t>& found) -> size_t {
        std::vector<float> found_keys = keys.download(k);
        std::vector<uint32_t> found_order, columns_found = found;
        for (int i = 0; i < k; i++) {
            if (found[i] >= row.size() || std::memcmp(&row[found[i]], &found_keys[i], sizeof(float)) != 0 ||
                ordered(found_keys[i]) < least) {
                return i;
            }
            found_order.push_back(ordered(found_keys[i]));
        }
        std::sort(found_order.begin(), found_order.end());
        std::sort(columns_found.begin(), columns_found.end());
        bool is_once = std::adjacent_find(columns_found.begin(), columns_found.end()) == columns_found.end();
        return is_once && found_order == expected ? k : 0;
    };
    Output keys_output{poison_of(keys), [] {}};
    return bench.measure({1, 4 * columns, 4 * columns, call, {keys_output, holds(indices, k, test, "columns")}});
}

template <size_t COLUMNS, int K>
Measurement of_row(Bench& bench, size_t) {
    return largest(bench, COLUMNS, K);
}

}  // namespace

std::vector<Case> top_k_cases() {
    return {
        {{"top_k:largest:type=f32;columns=65536;k=32;order=unsorted;output=both;policy=default;misalign=0;n=1;input=uniform"},
         of_row<65536, 32>},
        {{"top_k:largest:type=f32;columns=65536;k=2048;order=unsorted;output=both;policy=default;misalign=0;n=1;input=uniform"},
         of_row<65536, 2048>},
        {{"top_k:largest:type=f32;columns=4194304;k=32;order=unsorted;output=both;policy=default;misalign=0;n=1;input=uniform"},
         of_row<4194304, 32>},
        {{"top_k:largest:type=f32;columns=4194304;k=2048;order=unsorted;output=both;policy=default;misalign=0;n=1;input=uniform"},
         of_row<4194304, 2048>},
    };
}

}  // namespace peer
