// Run lengths.

#include "bench.cuh"
#include "inputs.hpp"

#include <cub/device/device_run_length_encode.cuh>

namespace peer {
namespace {

// Runs of 1 to 2 × `mean` - 1 elements: `RunLengthCase::runs` in tool/src/harness/cases/run_length.rs.
std::vector<uint32_t> elements_of(size_t count, uint32_t mean) {
    std::vector<uint32_t> lengths, elements;
    size_t left = count;
    for (uint32_t draw : uniform_words(count + 1, count + 3)) {
        if (left == 0) {
            break;
        }
        lengths.push_back(static_cast<uint32_t>(std::min<size_t>(1 + (draw >> 8) % (2 * mean - 1), left)));
        left -= lengths.back();
    }
    std::vector<uint32_t> values = uniform_keys<uint32_t>(lengths.size());
    for (size_t run = 0; run < lengths.size(); run++) {
        elements.insert(elements.end(), lengths[run], values[run]);
    }
    return elements;
}

struct Runs {
    std::vector<uint32_t> values;
    std::vector<int> offsets, lengths;

    // The runs of more than `longer_than` elements.
    Runs(const std::vector<uint32_t>& elements, size_t longer_than) {
        for (size_t begin = 0, end; begin < elements.size(); begin = end) {
            for (end = begin + 1; end < elements.size() && elements[end] == elements[begin];) {
                end++;
            }
            if (end - begin > longer_than) {
                values.push_back(elements[begin]);
                offsets.push_back(static_cast<int>(begin));
                lengths.push_back(static_cast<int>(end - begin));
            }
        }
    }

    std::vector<int> count() const { return {static_cast<int>(lengths.size())}; }
};

template <uint32_t MEAN>
Measurement encode(Bench& bench, size_t count) {
    std::vector<uint32_t> elements = elements_of(count, MEAN);
    Runs runs(elements, 0);
    Array<uint32_t> source(elements), values(count);
    Array<int> lengths(count), run_count(1);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceRunLengthEncode::Encode(scratch, size, source.get(), values.get(), lengths.get(),
                                                  run_count.get(), static_cast<int>(count));
    };
    return bench.measure({count, 4, 4 * count + 8 * runs.lengths.size(), call,
                          {equals(run_count, runs.count(), "run count"), equals(values, runs.values, "values"),
                           equals(lengths, runs.lengths, "lengths")}});
}

// Without the values of the runs, which subsweep also writes.
Measurement non_trivial(Bench& bench, size_t count) {
    std::vector<uint32_t> elements = elements_of(count, 2);
    Runs runs(elements, 1);
    Array<uint32_t> source(elements);
    Array<int> offsets(count), lengths(count), run_count(1);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceRunLengthEncode::NonTrivialRuns(scratch, size, source.get(), offsets.get(), lengths.get(),
                                                          run_count.get(), static_cast<int>(count));
    };
    return bench.measure({count, 4, 4 * count + 8 * runs.lengths.size(), call,
                          {equals(run_count, runs.count(), "run count"), equals(offsets, runs.offsets, "offsets"),
                           equals(lengths, runs.lengths, "lengths")}});
}

}  // namespace

std::vector<Case> run_length_cases() {
    return {
        {{"run_length:encode:type=u32;mean=2;policy=chosen;misalign=0;n=N;input=uniform"}, encode<2>},
        {{"run_length:encode:type=u32;mean=100;policy=chosen;misalign=0;n=N;input=uniform"}, encode<100>},
        {{"run_length:non-trivial:type=u32;mean=2;offsets=yes;policy=chosen;misalign=0;n=N;input=uniform"}, non_trivial},
    };
}

}  // namespace peer
