// Histograms of even bins.

#include "bench.cuh"
#include "inputs.hpp"

#include <cmath>

#include <cub/device/device_histogram.cuh>

namespace peer {
namespace {

// `HistogramRange::Wide` in tool/src/harness/cases/histogram.rs.
constexpr double LOW = -1.5, HIGH = 2.3;
constexpr int BINS = 256;

// CUB multiplies by the reciprocal of a bin's width, which moves its edges by some units in the last place. Samples
// nearer to an edge than that may be in either bin.
std::function<size_t(const std::vector<int>&)> bins_of(const std::vector<float>& samples) {
    constexpr double REACH = 8 * 2.3 / (1 << 24);
    std::vector<int> least(BINS), most(BINS);
    for (float sample : samples) {
        auto bin = [&](double moved) { return static_cast<int>(std::floor((moved - LOW) / (HIGH - LOW) * BINS)); };
        int first = bin(sample - REACH), last = bin(sample + REACH);
        for (int i = std::max(first, 0); i <= std::min(last, BINS - 1); i++) {
            most[i]++;
            least[i] += first == last;
        }
    }
    return [least, most](const std::vector<int>& counts) {
        size_t i = 0;
        while (i < counts.size() && least[i] <= counts[i] && counts[i] <= most[i]) {
            i++;
        }
        return i;
    };
}

Measurement even(Bench& bench, const std::vector<float>& samples) {
    size_t count = samples.size();
    Array<float> source(samples);
    Array<int> counts(BINS);
    auto call = [&](void* scratch, size_t& size) {
        return cub::DeviceHistogram::HistogramEven(scratch, size, source.get(), counts.get(), BINS + 1,
                                                   static_cast<float>(LOW), static_cast<float>(HIGH),
                                                   static_cast<int>(count));
    };
    return bench.measure({count, 4, 4 * count, call, {holds(counts, BINS, bins_of(samples), "counts")}});
}

// Some samples lie beyond either end.
Measurement uniform(Bench& bench, size_t count) {
    std::vector<float> samples;
    for (uint32_t word : uniform_words(count, count)) {
        samples.push_back(static_cast<float>(LOW + (word * (1.2 / 4294967295.0) - 0.1) * (HIGH - LOW)));
    }
    return even(bench, samples);
}

// One value, in the middle of a bin.
Measurement constant(Bench& bench, size_t count) {
    return even(bench, std::vector<float>(count, static_cast<float>(LOW + (HIGH - LOW) * 0.37)));
}

}  // namespace

std::vector<Case> histogram_cases() {
    return {
        {{"histogram:even:type=f32;bins=256;columns=1;range=wide;policy=default;misalign=0;n=N;input=uniform"}, uniform},
        {{"histogram:even:type=f32;bins=256;columns=1;range=wide;policy=default;misalign=0;n=N;input=constant-0x0"},
         constant},
    };
}

}  // namespace peer
