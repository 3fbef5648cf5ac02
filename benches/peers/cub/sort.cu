// Radix sorts of keys and pairs.

#include "bench.cuh"
#include "inputs.hpp"

#include <numeric>

#include <cub/device/device_radix_sort.cuh>

namespace peer {
namespace {

// Onesweep reads keys once for all histograms, and reads and writes keys and values in each pass of 8 bits. Few
// elements are sorted in one tile with less traffic, which this ignores.
uint64_t traffic_size(uint64_t count, uint64_t key_size, uint64_t value_size, uint64_t pass_count) {
    return count * (key_size + pass_count * 2 * (key_size + value_size));
}

// The type of the count decides the width of offsets, and so the kernels. Either may be faster: on an H200 2^26 keys take an
// eighth less with 64 bits, pairs with 32. CUB's time is the less of both.
template <typename OfCount>
Measurement faster_by_count(size_t count, OfCount of_count) {
    Measurement narrow = of_count(static_cast<int32_t>(count)), wide = of_count(static_cast<int64_t>(count));
    if (wide.is_steady != narrow.is_steady) {
        return wide.is_steady ? wide : narrow;
    }
    return median_of(wide.samples_ns) < median_of(narrow.samples_ns) ? wide : narrow;
}

template <typename Key, int BEGIN, int END>
Measurement keys(Bench& bench, size_t count) {
    std::vector<Key> keys = uniform_keys<Key>(count);
    Array<Key> source(keys), result(count);
    sort_keys(keys, BEGIN, END);
    uint64_t traffic = traffic_size(count, sizeof(Key), 0, (END - BEGIN) / 8);
    return faster_by_count(count, [&](auto typed_count) {
        auto call = [&](void* scratch, size_t& size) {
            return cub::DeviceRadixSort::SortKeys(scratch, size, source.get(), result.get(), typed_count, BEGIN, END);
        };
        return bench.measure({count, sizeof(Key), traffic, call, {equals(result, keys, "keys")}});
    });
}

// The result is in either buffer; the source is restored before each run.
Measurement double_buffer(Bench& bench, size_t count) {
    std::vector<uint32_t> keys = uniform_keys<uint32_t>(count);
    Array<uint32_t> source(keys), first(count), second(count);
    sort_keys(keys);
    Array<uint32_t>* current = &first;
    Output in_first = equals(first, keys, "keys"), in_second = equals(second, keys, "keys");
    Output result{[&] {
                      in_first.poison();
                      in_second.poison();
                  },
                  [&] { (current == &first ? in_first : in_second).verify(); }};
    return faster_by_count(count, [&](auto typed_count) {
        auto call = [&](void* scratch, size_t& size) {
            cub::DoubleBuffer<uint32_t> buffers(first.get(), second.get());
            cudaError_t error = cub::DeviceRadixSort::SortKeys(scratch, size, buffers, typed_count);
            current = buffers.Current() == first.get() ? &first : &second;
            return error;
        };
        Work work{count, 4, traffic_size(count, 4, 0, 4), call, {result}};
        work.restore = [&] { copy(first.get(), source.get(), first.size()); };
        return bench.measure(work);
    });
}

template <typename Value>
Measurement pairs(Bench& bench, size_t count, std::vector<Value> values) {
    std::vector<uint32_t> keys = uniform_keys<uint32_t>(count);
    Array<uint32_t> source_keys(keys), result_keys(count);
    Array<Value> source_values(values), result_values(count);
    sort_pairs(keys, values, 0, 32);
    return faster_by_count(count, [&](auto typed_count) {
        auto call = [&](void* scratch, size_t& size) {
            return cub::DeviceRadixSort::SortPairs(scratch, size, source_keys.get(), result_keys.get(),
                                                   source_values.get(), result_values.get(), typed_count);
        };
        return bench.measure({count, 4 + sizeof(Value), traffic_size(count, 4, sizeof(Value), 4), call,
                              {equals(result_keys, keys, "keys"), equals(result_values, values, "values")}});
    });
}

// Values show whether a sort is stable.
Measurement pairs4(Bench& bench, size_t count) {
    std::vector<uint32_t> indices(count);
    std::iota(indices.begin(), indices.end(), 0u);
    return pairs(bench, count, std::move(indices));
}

Measurement pairs8(Bench& bench, size_t count) {
    std::vector<uint64_t> values(count);
    for (uint64_t i = 0; i < count; i++) {
        values[i] = i | SplitMix64{i}.next() << 32;
    }
    return pairs(bench, count, std::move(values));
}

}  // namespace

std::vector<Case> sort_cases() {
    return {
        {{"sort:keys:type=u32;policy=chosen;bits=0:32;misalign=0;n=N;input=uniform"}, keys<uint32_t, 0, 32>},
        {{"sort:pairs4:type=u32;policy=chosen;bits=0:32;misalign=0;n=N;input=uniform"}, pairs4},
        {{"sort:keys:type=u64;policy=chosen;bits=0:64;misalign=0;n=N;input=uniform"}, keys<uint64_t, 0, 64>},
        {{"sort:pairs8:type=u32;policy=chosen;bits=0:32;misalign=0;n=N;input=uniform"}, pairs8},
        {{"sort:keys:type=f32;policy=chosen;bits=0:32;misalign=0;n=N;input=uniform"}, keys<float, 0, 32>},
        {{"sort:keys:type=u32;policy=chosen;bits=8:32;misalign=0;n=N;input=uniform"}, keys<uint32_t, 8, 32>},
        {{"sort:keys:type=u32;policy=chosen;bits=0:32;misalign=0;result=double-buffer;n=N;input=uniform"}, double_buffer},
    };
}

}  // namespace peer
