#include "bench.cuh"

#include <cmath>

namespace peer {
namespace {

constexpr int BLOCK_COUNT = 6;
// The time of a block's runs, and how far the copies before and after may differ.
constexpr double BLOCK_NS = 10e6, STEADY = 1.05;

}  // namespace

Output near(const Array<float>& result, std::vector<BoundedSum> expected, const char* name) {
    size_t count = expected.size();
    auto test = [expected = std::move(expected)](const std::vector<float>& sums) {
        size_t i = 0;
        while (i < sums.size() && std::fabs(sums[i] - expected[i].sum) <= expected[i].bound) {
            i++;
        }
        return i;
    };
    return holds(result, count, std::move(test), name);
}

Bench::Bench(bool has_cold_cache) {
    cudaDeviceProp has{};
    check(cudaGetDeviceProperties(&has, 0), "cudaGetDeviceProperties");
    if (has_cold_cache) {
        cold_ = std::make_unique<Array<char>>(2 * static_cast<size_t>(has.l2CacheSize));
    }
    for (int i = 0; i < 2 * MAX_RUNS; i++) {
        cudaEvent_t event;
        check(cudaEventCreate(&event), "cudaEventCreate");
        events_.push_back(event);
    }
}

Bench::~Bench() {
    for (cudaEvent_t event : events_) {
        cudaEventDestroy(event);
    }
}

// Writes a range larger than the cache.
void Bench::empty_cache() {
    if (cold_) {
        check(cudaMemsetAsync(cold_->get(), 0, cold_->size()), "cudaMemsetAsync");
    }
}

// The times of runs that are queued before the first one begins: no launch is part of them.
std::vector<double> Bench::batch(const std::function<void()>& restore, const std::function<void()>& run, int run_count,
                                 bool waits) {
    if (!waits) {
        hold_.begin();
    }
    for (int i = 0; i < run_count; i++) {
        if (restore) {
            restore();
        }
        empty_cache();
        check(cudaEventRecord(events_[2 * i]), "cudaEventRecord");
        run();
        check(cudaEventRecord(events_[2 * i + 1]), "cudaEventRecord");
    }
    hold_.release();
    check(cudaDeviceSynchronize(), "a run");
    std::vector<double> times;
    for (int i = 0; i < run_count; i++) {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, events_[2 * i], events_[2 * i + 1]), "cudaEventElapsedTime");
        // No time is 0, however coarse the clock.
        times.push_back(std::max(1.0, std::round(static_cast<double>(milliseconds) * 1e6)));
    }
    return times;
}

Measurement Bench::measure(const Work& work) {
    size_t scratch_size = 0;
    check(work.call(nullptr, scratch_size), "the query of CUB's scratch");
    Array<char> scratch(scratch_size);
    auto run = [&] { check(work.call(scratch.get(), scratch_size), "CUB"); };
    auto verify = [&] {
        for (const Output& output : work.outputs) {
            output.poison();
        }
        if (work.restore) {
            work.restore();
        }
        run();
        check(cudaDeviceSynchronize(), "CUB");
        for (const Output& output : work.outputs) {
            output.verify();
        }
    };
    verify();

    size_t size = work.element_count * work.element_size;
    Array<char> from(size), to(size);
    check(cudaMemset(from.get(), 1, from.size()), "cudaMemset");
    auto copy_run = [&] { copy(to.get(), from.get(), size); };
    auto runs_of = [](double time_ns) { return static_cast<int>(std::clamp(BLOCK_NS / time_ns, 1.0, double{MAX_RUNS})); };

    Measurement measured{"", work.element_count, work.element_size, work.traffic_size, {}, {}, {}};
    for (int attempt = 0; attempt < 2; attempt++) {
        measured.samples_ns.clear();
        measured.copy_samples_ns.clear();
        measured.block_lengths.clear();
        measured.is_steady = warmth_.warm();
        // The first runs tell how many fit into a block.
        int run_count = runs_of(median_of(batch(work.restore, run, 3, work.waits)));
        int copy_count = runs_of(median_of(batch({}, copy_run, 3, false)));
        std::vector<double> copies;
        auto sample_copy = [&] {
            std::vector<double> times = batch({}, copy_run, copy_count, false);
            copies.push_back(median_of(times));
            measured.copy_samples_ns.push_back(copies.back());
        };
        sample_copy();
        for (int block = 0; block < BLOCK_COUNT; block++) {
            std::vector<double> times = batch(work.restore, run, run_count, work.waits);
            measured.samples_ns.insert(measured.samples_ns.end(), times.begin(), times.end());
            measured.block_lengths.push_back(static_cast<uint32_t>(times.size()));
            sample_copy();
        }
        auto [least, most] = std::minmax({copies.front(), copies.back()});
        measured.is_steady = measured.is_steady && most <= least * STEADY;
        if (measured.is_steady) {
            break;
        }
    }
    verify();
    return measured;
}

}  // namespace peer
