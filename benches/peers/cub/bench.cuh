// Verifying and measuring one call of CUB.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device.cuh"
#include "oracle.hpp"
#include "report.hpp"

namespace peer {

// A result that is not the expected one.
struct WrongResult : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// An output: how it is overwritten before a run, and checked after, which throws WrongResult.
struct Output {
    std::function<void()> poison, verify;
};

// Poison of outputs.
template <typename T>
std::function<void()> poison_of(const Array<T>& array) {
    return [&array] { check(cudaMemset(array.get(), 0xa5, array.size()), "cudaMemset"); };
}

// The array begins with these bytes. They are compared on the device.
template <typename T>
Output equals(const Array<T>& result, const std::vector<T>& expected, const char* name) {
    auto wanted = std::make_shared<Array<T>>(expected);
    size_t size = expected.size() * sizeof(T);
    return {poison_of(result), [&result, wanted, size, name] {
                size_t at = first_difference(result.get(), wanted->get(), size);
                if (at < size) {
                    throw WrongResult(std::string(name) + "[" + std::to_string(at / sizeof(T)) + "] is wrong");
                }
            }};
}

// The array begins with sums that are near enough. Bounded sums are compared on the host.
Output near(const Array<float>& result, std::vector<BoundedSum> expected, const char* name);

// `test` holds for the first `count` elements, compared on the host; it returns the first wrong index, or `count`.
template <typename T, typename Test>
Output holds(const Array<T>& result, size_t count, Test test, const char* name) {
    return {poison_of(result), [&result, count, test, name] {
                size_t at = test(result.download(count));
                if (at < count) {
                    throw WrongResult(std::string(name) + "[" + std::to_string(at) + "] is wrong");
                }
            }};
}

// CUB is called twice: without scratch, to query its size, and to run.
using Call = std::function<cudaError_t(void* scratch, size_t& size)>;

// What is measured.
struct Work {
    uint64_t element_count, element_size, traffic_size;
    Call call;
    std::vector<Output> outputs;
    // Restores what the call overwrites; not part of the time.
    std::function<void()> restore;
    // Whether the call waits for the device, so that launches cannot be queued after it.
    bool waits = false;
};

// The device, warm.
class Bench {
public:
    explicit Bench(bool has_cold_cache);
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;
    ~Bench();

    // Verifies, measures and verifies again. Throws WrongResult, NoRoom or CudaError.
    Measurement measure(const Work& work);

private:
    std::vector<double> batch(const std::function<void()>& restore, const std::function<void()>& run, int run_count,
                              bool waits);
    void empty_cache();

    static constexpr int MAX_RUNS = 16;
    Warmth warmth_;
    Hold hold_;
    std::unique_ptr<Array<char>> cold_;
    std::vector<cudaEvent_t> events_;
};

// A case: subsweep's id, with N for the count, and what measures it at a count. Several ids are cases of subsweep that
// have one counterpart.
struct Case {
    std::vector<std::string> ids;
    std::function<Measurement(Bench&, size_t count)> measure;
};

std::vector<Case> scan_cases();
std::vector<Case> sort_cases();
std::vector<Case> segmented_cases();
std::vector<Case> reduce_cases();
std::vector<Case> select_cases();
std::vector<Case> run_length_cases();
std::vector<Case> histogram_cases();
std::vector<Case> merge_cases();
std::vector<Case> search_cases();
std::vector<Case> difference_cases();
std::vector<Case> top_k_cases();

}  // namespace peer
