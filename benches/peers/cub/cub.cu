// CUB's radix sorts and sum on the cases of `subsweep bench`: the same inputs and counts, verified, with a report in
// the same format. See ../README.md.
//
// A sample is the time between two CUDA events around one call, with temporary storage allocated before; each is paired
// with a device-to-device copy of the elements. CUB reads its input and writes to a second array, so that nothing must
// be restored between samples.
//
// Exit codes are those of subsweep: 0 done, 1 a wrong result, 2 bad usage, 3 no device, 4 a CUDA function failed.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>

namespace {

enum Exit { DONE = 0, WRONG = 1, USAGE = 2, NO_DEVICE = 3, FAILED = 4 };

[[noreturn]] void end(Exit exit, const std::string& text) {
    std::fprintf(stderr, "cub: %s\n", text.c_str());
    std::exit(exit);
}

void check(cudaError_t error, const char* during) {
    if (error != cudaSuccess) {
        end(FAILED, std::string(during) + " failed: " + cudaGetErrorString(error));
    }
}

// ---- Inputs: src/harness/inputs.rs, `Input::Uniform`.

// Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
struct SplitMix64 {
    uint64_t state;

    uint64_t next() {
        state += 0x9e3779b97f4a7c15;
        uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
};

// `count` words of 32 bits for `element_count` elements, which is the seed.
std::vector<uint32_t> uniform_words(size_t count, size_t element_count) {
    SplitMix64 random{element_count};
    std::vector<uint32_t> words(count);
    for (uint32_t& word : words) {
        word = static_cast<uint32_t>(random.next() >> 32);
    }
    return words;
}

// FNV-1a of the words' little-endian bytes.
uint64_t hash_of(const std::vector<uint32_t>& words) {
    uint64_t hash = 0xcbf29ce484222325;
    for (uint32_t word : words) {
        for (int byte = 0; byte < 4; byte++) {
            hash = (hash ^ (word >> (8 * byte) & 0xff)) * 0x100000001b3;
        }
    }
    return hash;
}

// A test of src/harness/inputs.rs checks the same number.
constexpr size_t HASHED_COUNT = 1000;
constexpr uint64_t HASH_OF_UNIFORM = 0xebe56d9900bf609f;

// ---- The report: src/harness/report.rs.

double quantile(const std::vector<double>& sorted, double q) {
    double position = q * static_cast<double>(sorted.size() - 1);
    double below = sorted[static_cast<size_t>(std::floor(position))];
    double above = sorted[static_cast<size_t>(std::ceil(position))];
    return below + (above - below) * (position - std::floor(position));
}

double median_of(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    return quantile(samples, 0.5);
}

struct Summary {
    double median_ns, iqr_ns, min_ns, p95_ns;
    std::pair<double, double> median_interval_ns;

    explicit Summary(std::vector<double> samples) {
        std::sort(samples.begin(), samples.end());
        median_ns = quantile(samples, 0.5);
        iqr_ns = quantile(samples, 0.75) - quantile(samples, 0.25);
        min_ns = samples[0];
        p95_ns = quantile(samples, 0.95);
        // The percentile bootstrap, as in src/harness/statistics.rs.
        SplitMix64 random{0x5eed};
        std::vector<double> medians;
        for (int i = 0; i < 1000; i++) {
            std::vector<double> drawn;
            for (size_t j = 0; j < samples.size(); j++) {
                drawn.push_back(samples[random.next() % samples.size()]);
            }
            medians.push_back(median_of(std::move(drawn)));
        }
        std::sort(medians.begin(), medians.end());
        median_interval_ns = {quantile(medians, 0.025), quantile(medians, 0.975)};
    }
};

struct Measurement {
    std::string id;
    uint64_t element_count, element_size, traffic_size;
    std::vector<double> samples_ns, copy_samples_ns;
};

std::string quoted(const std::string& text) {
    std::string json = "\"";
    for (unsigned char byte : text) {
        if (byte == '"' || byte == '\\') {
            json += '\\';
            json += static_cast<char>(byte);
        } else if (byte < ' ') {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
            json += escaped;
        } else {
            json += static_cast<char>(byte);
        }
    }
    return json + '"';
}

// Enough digits to round-trip.
std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

std::string number(uint64_t value) { return std::to_string(value); }

std::string list(const std::vector<double>& values) {
    std::string json = "[";
    for (size_t i = 0; i < values.size(); i++) {
        json += (i > 0 ? ", " : "") + number(values[i]);
    }
    return json + "]";
}

std::string object(const Summary& summary) {
    auto [low, high] = summary.median_interval_ns;
    return "{\"median_ns\": " + number(summary.median_ns) + ", \"iqr_ns\": " + number(summary.iqr_ns) +
           ", \"min_ns\": " + number(summary.min_ns) + ", \"p95_ns\": " + number(summary.p95_ns) +
           ", \"median_interval_ns\": " + list({low, high}) + "}";
}

std::string version(int packed, int major, int minor) {
    return std::to_string(packed / major) + "." + std::to_string(packed % major / minor);
}

std::string cub_version() {
    return version(CUB_VERSION, 100000, 100) + "." + std::to_string(CUB_VERSION % 100);
}

// The id without algorithm and policy, common to all cases of the same work.
std::string group_of(std::string id) {
    const std::string way = ";algorithm=cub;policy=default";
    return id.erase(id.find(way), way.size());
}

std::string object(const Measurement& measured) {
    Summary time(measured.samples_ns), copy(measured.copy_samples_ns);
    double seconds = time.median_ns / 1e9, count = static_cast<double>(measured.element_count);
    double copied_size = 2.0 * count * static_cast<double>(measured.element_size);
    const std::pair<const char*, std::string> members[] = {
        {"id", quoted(measured.id)},
        {"group", quoted(group_of(measured.id))},
        {"policy", quoted("CUB " + cub_version() + ", its own tuning")},
        {"element_count", number(measured.element_count)},
        {"element_size", number(measured.element_size)},
        {"traffic_size", number(measured.traffic_size)},
        {"elements_per_second", number(count / seconds)},
        {"bytes_per_second", number(static_cast<double>(measured.traffic_size) / seconds)},
        {"copy_percent", number(100.0 * copy.median_ns / time.median_ns)},
        {"copy_bytes_per_second", number(copied_size / (copy.median_ns / 1e9))},
        {"runs_per_sample", number(uint64_t{1})},
        {"time", object(time)},
        {"copy", object(copy)},
        {"samples_ns", list(measured.samples_ns)},
        {"copy_samples_ns", list(measured.copy_samples_ns)},
    };
    std::string json;
    for (const auto& [name, value] : members) {
        json += (json.empty() ? "        {\n" : ",\n") + ("          " + quoted(name)) + ": " + value;
    }
    return json + "\n        }";
}

std::string uuid_text(const cudaUUID_t& uuid) {
    std::string text;
    for (int i = 0; i < 16; i++) {
        char byte[4];
        std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
        text += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(byte);
    }
    return text;
}

struct Device {
    cudaDeviceProp properties{};
    int driver_version = 0, runtime_version = 0;

    Device() {
        int count = 0;
        if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
            end(NO_DEVICE, "no CUDA device; check nvidia-smi");
        }
        check(cudaSetDevice(0), "cudaSetDevice");
        check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
        check(cudaDriverGetVersion(&driver_version), "cudaDriverGetVersion");
        check(cudaRuntimeGetVersion(&runtime_version), "cudaRuntimeGetVersion");
    }

    std::string driver() const { return "CUDA " + version(driver_version, 1000, 10); }
};

std::string compiler() {
    return "nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." + std::to_string(__CUDACC_VER_MINOR__) + "." +
           std::to_string(__CUDACC_VER_BUILD__);
}

std::string report(const Device& device, const std::vector<Measurement>& all, const std::vector<std::string>& command,
                   bool is_complete) {
    const cudaDeviceProp& has = device.properties;
    auto grid = [&](int i) { return number(static_cast<uint64_t>(has.maxGridSize[i])); };
    std::string lanes = number(static_cast<uint64_t>(has.warpSize)), memory = number(uint64_t{has.totalGlobalMem});
    std::string driver = device.driver() + ", runtime " + version(device.runtime_version, 1000, 10);
    const std::pair<const char*, std::string> members[] = {
        {"name", quoted(has.name)},
        {"device_type", quoted("discrete")},
        // NVIDIA's vendor id; CUDA does not report device ids.
        {"vendor_id", number(uint64_t{0x10de})},
        {"device_id", number(uint64_t{0})},
        {"api_version", quoted(version(device.runtime_version, 1000, 10))},
        {"conformance_version", quoted("0.0.0.0")},
        {"device_uuid", quoted(uuid_text(has.uuid))},
        {"driver_uuid", quoted("")},
        {"driver", "{\"id\": \"CUDA\", \"name\": \"CUDA\", \"info\": " + quoted(driver) +
                       ", \"version\": " + quoted(version(device.driver_version, 1000, 10)) + "}"},
        {"workarounds", "[]"},
        {"subgroups", "{\"size\": " + lanes + ", \"min_size\": " + lanes + ", \"max_size\": " + lanes +
                          ", \"max_per_workgroup\": null, \"operations\": []}"},
        {"limits", "{\"max_workgroup_invocations\": " + number(static_cast<uint64_t>(has.maxThreadsPerBlock)) +
                       ", \"shared_memory_size\": " + number(uint64_t{has.sharedMemPerBlock}) +
                       ", \"max_workgroup_count\": [" + grid(0) + ", " + grid(1) + ", " + grid(2) +
                       "], \"largest_heap_size\": " + memory + ", \"max_allocation_size\": " + memory +
                       ", \"max_storage_buffer_range\": " + memory +
                       ", \"timestamp_period_ns\": 1, \"timestamp_valid_bits\": 64}"},
        {"heaps", "[{\"size\": " + memory + ", \"device_local\": true}]"},
        {"features", "null"},
        {"gpu_timestamps", "true"},
    };
    std::string arguments;
    for (const std::string& argument : command) {
        arguments += (arguments.empty() ? "" : ", ") + quoted(argument);
    }
    // Only what standard C++ reports of the machine.
    std::string json = "{\n  \"schema\": 2,\n  \"tool\": {\"version\": " + quoted("CUB " + cub_version()) +
                       ", \"git_hash\": null, \"rust_compiler\": \"\", \"shader_compiler\": " + quoted(compiler()) +
                       ", \"kernels\": {}},\n  \"host\": {\"os\": \"\", \"kernel\": null, \"architecture\": \"\", " +
                       "\"processor\": null, \"threads\": " +
                       number(uint64_t{std::max(1u, std::thread::hardware_concurrency())}) + "},\n  \"command\": [" +
                       arguments + "],\n  \"complete\": " + (is_complete ? "true" : "false") +
                       ",\n  \"devices\": [\n    {\n";
    for (const auto& [name, value] : members) {
        json += "      " + quoted(name) + ": " + value + ",\n";
    }
    json += "      \"measured\": [\n";
    for (size_t i = 0; i < all.size(); i++) {
        json += object(all[i]) + (i + 1 < all.size() ? ",\n" : "\n");
    }
    return json + "      ]\n    }\n  ]\n}\n";
}

// Writes the report atomically.
void write_report(const std::string& path, const std::string& json) {
    if (path.empty()) {
        return;
    }
    std::string unfinished = path + ".part";
    FILE* file = std::fopen(unfinished.c_str(), "wb");
    if (!file) {
        end(USAGE, path + ": no file can be made in its directory");
    }
    bool is_written = std::fwrite(json.data(), 1, json.size(), file) == json.size();
    is_written = std::fclose(file) == 0 && is_written;
    if (!is_written || std::rename(unfinished.c_str(), path.c_str()) != 0) {
        std::remove(unfinished.c_str());
        end(USAGE, path + ": cannot be written");
    }
}

// ---- Measuring: src/harness/bench.rs.

struct Options {
    std::vector<uint64_t> counts;
    int warm_up_count, sample_count;
    double budget_s;
};

Options options_of(const std::string& effort) {
    if (effort == "--quick") {
        return {{1ull << 16, 1ull << 18, 1ull << 20}, 1, 15, 0.5};
    }
    if (effort == "--full") {
        std::vector<uint64_t> counts;
        for (int bits = 8; bits <= 28; bits += 2) {
            counts.push_back(1ull << bits);
        }
        return {counts, 3, 100, 20.0};
    }
    return {{1ull << 12, 1ull << 16, 1ull << 20, 1ull << 22, 1ull << 24}, 2, 30, 3.0};
}

// An array on the device; false if it could not be allocated.
template <typename T>
class Array {
public:
    explicit Array(size_t count) : size_(std::max<size_t>(count * sizeof(T), 1)) {
        cudaError_t error = cudaMalloc(&data_, size_);
        if (error == cudaErrorMemoryAllocation) {
            // Clears the last error.
            cudaGetLastError();
            data_ = nullptr;
        } else {
            check(error, "cudaMalloc");
        }
    }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    ~Array() { cudaFree(data_); }

    T* get() const { return static_cast<T*>(data_); }
    explicit operator bool() const { return data_ != nullptr; }

    void upload(const std::vector<T>& values) {
        check(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    }

    std::vector<T> download(size_t count) const {
        std::vector<T> values(count);
        check(cudaMemcpy(values.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
        return values;
    }

    void poison() { check(cudaMemset(data_, 0xa5, size_), "cudaMemset"); }

private:
    void* data_ = nullptr;
    size_t size_;
};

class Timer {
public:
    Timer() {
        check(cudaEventCreate(&start_), "cudaEventCreate");
        check(cudaEventCreate(&stop_), "cudaEventCreate");
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer() {
        cudaEventDestroy(start_);
        cudaEventDestroy(stop_);
    }

    double time_ns(const std::function<void()>& run) {
        check(cudaEventRecord(start_), "cudaEventRecord");
        run();
        check(cudaEventRecord(stop_), "cudaEventRecord");
        check(cudaEventSynchronize(stop_), "cudaEventSynchronize");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
        return static_cast<double>(milliseconds) * 1e6;
    }

private:
    cudaEvent_t start_{}, stop_{};
};

// One case on the device: the measured run, and the copy beside it.
struct Work {
    std::function<void()> run;
    std::function<void()> copy;
    std::function<void()> poison;
    std::function<bool()> is_right;
};

Measurement measure(const Work& work, const Options& options, Measurement measured) {
    auto verify = [&] {
        check(cudaDeviceSynchronize(), "the work");
        if (!work.is_right()) {
            end(WRONG, measured.id + ": the result is wrong");
        }
    };
    work.poison();
    work.run();
    verify();
    Timer timer;
    for (int i = 0; i < options.warm_up_count; i++) {
        work.run();
        work.copy();
    }
    work.poison();
    auto start = std::chrono::steady_clock::now();
    auto elapsed_s = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    auto& samples = measured.samples_ns;
    while (samples.size() < static_cast<size_t>(options.sample_count) &&
           (samples.size() < 3 || elapsed_s() < options.budget_s)) {
        samples.push_back(timer.time_ns(work.run));
        measured.copy_samples_ns.push_back(timer.time_ns(work.copy));
    }
    // The measured runs must be right as well.
    verify();
    return measured;
}

// CUB is called twice: to query the storage size, and to run.
template <typename Call>
std::function<void()> with_storage(Call call, Array<char>& storage, size_t& size) {
    return [call, &storage, &size] { check(call(static_cast<void*>(storage.get()), size), "CUB"); };
}

template <typename Call>
size_t storage_size(Call call) {
    size_t size = 0;
    check(call(nullptr, size), "CUB");
    return size;
}

template <typename T>
void copy_on_device(Array<T>& to, const Array<T>& from, size_t count) {
    check(cudaMemcpyAsync(to.get(), from.get(), count * sizeof(T), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
}

// Keys from consecutive words.
template <typename Key>
std::vector<Key> uniform_keys(size_t count) {
    std::vector<uint32_t> words = uniform_words(count * sizeof(Key) / 4, count);
    std::vector<Key> keys(count);
    std::memcpy(keys.data(), words.data(), count * sizeof(Key));
    return keys;
}

using Outcome = std::pair<bool, Measurement>;

Outcome no_room(Measurement measured) { return {false, std::move(measured)}; }

// Onesweep reads keys once for all histograms, and reads and writes keys and values in each pass of 8 bits. Few
// elements are sorted in one tile with less traffic, which this ignores.
uint64_t sort_traffic_size(uint64_t count, uint64_t key_size, uint64_t value_size) {
    return count * (key_size + key_size * 2 * (key_size + value_size));
}

template <typename Key>
Outcome sort_keys(const char* type, uint64_t count, const Options& options) {
    Measurement measured{
        std::string("sort:keys:type=") + type + ";algorithm=cub;policy=default;bits=0:" + std::to_string(8 * sizeof(Key)) +
            ";misalign=0;n=" + std::to_string(count) + ";input=uniform",
        count, sizeof(Key), sort_traffic_size(count, sizeof(Key), 0), {}, {}};
    std::vector<Key> keys = uniform_keys<Key>(count);
    Array<Key> source(count), result(count), copied(count);
    if (!source || !result || !copied) {
        return no_room(measured);
    }
    auto call = [&, count](void* storage, size_t& size) {
        return cub::DeviceRadixSort::SortKeys(storage, size, source.get(), result.get(), static_cast<int>(count));
    };
    size_t size = storage_size(call);
    Array<char> storage(size);
    if (!storage) {
        return no_room(measured);
    }
    source.upload(keys);
    std::stable_sort(keys.begin(), keys.end());
    Work work{with_storage(call, storage, size), [&] { copy_on_device(copied, source, count); },
              [&] { result.poison(); }, [&] { return result.download(count) == keys; }};
    return {true, measure(work, options, measured)};
}

Outcome sort_pairs(uint64_t count, const Options& options) {
    Measurement measured{
        "sort:pairs4:type=u32;algorithm=cub;policy=default;bits=0:32;misalign=0;n=" + std::to_string(count) +
            ";input=uniform",
        count, 8, sort_traffic_size(count, 4, 4), {}, {}};
    std::vector<uint32_t> keys = uniform_words(count, count);
    // The index of each key: values show whether the sort is stable.
    std::vector<uint32_t> values(count);
    std::iota(values.begin(), values.end(), 0u);
    Array<uint32_t> source_keys(count), source_values(count), result_keys(count), result_values(count);
    Array<uint64_t> uncopied(count), copied(count);
    if (!source_keys || !source_values || !result_keys || !result_values || !uncopied || !copied) {
        return no_room(measured);
    }
    auto call = [&, count](void* storage, size_t& size) {
        return cub::DeviceRadixSort::SortPairs(storage, size, source_keys.get(), result_keys.get(), source_values.get(),
                                               result_values.get(), static_cast<int>(count));
    };
    size_t size = storage_size(call);
    Array<char> storage(size);
    if (!storage) {
        return no_room(measured);
    }
    source_keys.upload(keys);
    source_values.upload(values);
    std::stable_sort(values.begin(), values.end(), [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
    std::sort(keys.begin(), keys.end());
    uncopied.poison();
    Work work{with_storage(call, storage, size), [&] { copy_on_device(copied, uncopied, count); },
              [&] {
                  result_keys.poison();
                  result_values.poison();
              },
              [&] { return result_keys.download(count) == keys && result_values.download(count) == values; }};
    return {true, measure(work, options, measured)};
}

Outcome inclusive_sum(uint64_t count, const Options& options) {
    Measurement measured{
        "scan:inclusive:type=u32;columns=1;algorithm=cub;policy=default;place=out;misalign=0;n=" + std::to_string(count) +
            ";input=uniform",
        count, 4, 2 * 4 * count, {}, {}};
    std::vector<uint32_t> numbers = uniform_words(count, count);
    Array<uint32_t> source(count), result(count), copied(count);
    if (!source || !result || !copied) {
        return no_room(measured);
    }
    auto call = [&, count](void* storage, size_t& size) {
        return cub::DeviceScan::InclusiveSum(storage, size, source.get(), result.get(), static_cast<int>(count));
    };
    size_t size = storage_size(call);
    Array<char> storage(size);
    if (!storage) {
        return no_room(measured);
    }
    source.upload(numbers);
    uint32_t sum = 0;
    for (uint32_t& element : numbers) {
        element = sum += element;
    }
    Work work{with_storage(call, storage, size), [&] { copy_on_device(copied, source, count); },
              [&] { result.poison(); }, [&] { return result.download(count) == numbers; }};
    return {true, measure(work, options, measured)};
}

constexpr const char* USAGE_TEXT = "usage: cub [--quick|--full] [--json FILE]";

}  // namespace

int main(int argc, char** argv) {
    std::string effort, path;
    const std::vector<std::string> command(argv + 1, argv + argc);
    for (int i = 1; i < argc; i++) {
        std::string argument = argv[i];
        if ((argument == "--quick" || argument == "--full") && effort.empty()) {
            effort = argument;
        } else if (argument == "--json" && i + 1 < argc && path.empty()) {
            path = argv[++i];
        } else {
            end(USAGE, USAGE_TEXT);
        }
    }
    if (hash_of(uniform_words(HASHED_COUNT, HASHED_COUNT)) != HASH_OF_UNIFORM) {
        end(WRONG, "the inputs are not those of subsweep");
    }
    Options options = options_of(effort);
    Device device;
    std::printf("%s, %s, CUB %s by %s\n", device.properties.name, device.driver().c_str(), cub_version().c_str(),
                compiler().c_str());
    std::printf("%12s %14s %12s %8s %14s\n", "elements", "median ns", "M elem/s", "% copy", "copy GB/s");

    using Run = std::function<Outcome(uint64_t)>;
    const std::pair<const char*, Run> runs[] = {
        {"scan:inclusive:type=u32", [&](uint64_t count) { return inclusive_sum(count, options); }},
        {"sort:keys:type=u32", [&](uint64_t count) { return sort_keys<uint32_t>("u32", count, options); }},
        {"sort:keys:type=u64", [&](uint64_t count) { return sort_keys<uint64_t>("u64", count, options); }},
        {"sort:pairs4:type=u32", [&](uint64_t count) { return sort_pairs(count, options); }},
    };
    std::vector<Measurement> all;
    for (const auto& [name, run] : runs) {
        std::printf("\n%s\n", name);
        for (uint64_t count : options.counts) {
            auto [is_measured, measured] = run(count);
            if (!is_measured) {
                std::printf("%12llu not supported: too little device memory\n", static_cast<unsigned long long>(count));
                continue;
            }
            Summary time(measured.samples_ns), copy(measured.copy_samples_ns);
            double elements = static_cast<double>(count), size = static_cast<double>(measured.element_size);
            std::printf("%12llu %14.0f %12.1f %8.1f %14.1f\n", static_cast<unsigned long long>(count), time.median_ns,
                        elements / time.median_ns * 1e3, 100.0 * copy.median_ns / time.median_ns,
                        2.0 * elements * size / copy.median_ns);
            std::fflush(stdout);
            all.push_back(std::move(measured));
            write_report(path, report(device, all, command, false));
        }
    }
    write_report(path, report(device, all, command, true));
    return DONE;
}
