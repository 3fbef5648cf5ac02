#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thread>
#include <utility>

#include <cub/version.cuh>

#include "device.cuh"
#include "inputs.hpp"

namespace peer {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
    double position = q * static_cast<double>(sorted.size() - 1);
    double below = sorted[static_cast<size_t>(std::floor(position))];
    double above = sorted[static_cast<size_t>(std::ceil(position))];
    return below + (above - below) * (position - std::floor(position));
}

// Enough digits to round-trip.
std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

std::string number(uint64_t value) { return std::to_string(value); }

template <typename T>
std::string list(const std::vector<T>& values) {
    std::string json = "[";
    for (const T& value : values) {
        json += (json.size() > 1 ? ", " : "") + number(value);
    }
    return json + "]";
}

using Members = std::vector<std::pair<const char*, std::string>>;

std::string joined(const Members& members) {
    std::string json;
    for (const auto& [name, value] : members) {
        json += (json.empty() ? "" : ", ") + quoted(name) + ": " + value;
    }
    return json;
}

// A summary of samples; the interval of the median is the percentile bootstrap of tool/src/harness/statistics.rs.
std::string summary(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
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
    std::vector<double> interval{quantile(medians, 0.025), quantile(medians, 0.975)};
    return "{" +
           joined({{"median_ns", number(quantile(samples, 0.5))},
                   {"iqr_ns", number(quantile(samples, 0.75) - quantile(samples, 0.25))},
                   {"min_ns", number(samples[0])},
                   {"p95_ns", number(quantile(samples, 0.95))},
                   {"median_interval_ns", list(interval)}}) +
           "}";
}

std::string version(int packed, int major, int minor) {
    return std::to_string(packed / major) + "." + std::to_string(packed % major / minor);
}

std::string cub_version() {
    return version(CUB_VERSION, 100000, 100) + "." + std::to_string(CUB_VERSION % 100);
}

std::string compiler() {
    return "nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." + std::to_string(__CUDACC_VER_MINOR__) + "." +
           std::to_string(__CUDACC_VER_BUILD__);
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

// The id without algorithm and policy, common to all cases of the same work.
std::string group_of(std::string id) {
    for (const char* name : {";algorithm=", ";policy="}) {
        size_t begin = id.find(name);
        if (begin != std::string::npos) {
            id.erase(begin, id.find(';', begin + 1) - begin);
        }
    }
    return id;
}

}  // namespace

double median_of(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    return quantile(samples, 0.5);
}

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

std::string device_members() {
    cudaDeviceProp has{};
    int driver_version = 0, runtime_version = 0;
    check(cudaGetDeviceProperties(&has, 0), "cudaGetDeviceProperties");
    check(cudaDriverGetVersion(&driver_version), "cudaDriverGetVersion");
    check(cudaRuntimeGetVersion(&runtime_version), "cudaRuntimeGetVersion");
    auto whole = [](auto value) { return number(static_cast<uint64_t>(value)); };
    std::string lanes = whole(has.warpSize), memory = whole(has.totalGlobalMem);
    std::string driver = version(driver_version, 1000, 10), runtime = version(runtime_version, 1000, 10);
    return joined({
        {"name", quoted(has.name)},
        {"device_type", quoted("discrete")},
        // NVIDIA's vendor id; CUDA does not report device ids.
        {"vendor_id", whole(0x10de)},
        {"device_id", whole(0)},
        {"api_version", quoted(runtime)},
        {"conformance_version", quoted("0.0.0.0")},
        {"device_uuid", quoted(uuid_text(has.uuid))},
        {"driver_uuid", quoted("")},
        {"driver", "{" +
                       joined({{"id", quoted("CUDA")},
                               {"name", quoted("CUDA")},
                               {"info", quoted("CUDA " + driver + ", runtime " + runtime)},
                               {"version", quoted(driver)}}) +
                       "}"},
        {"workarounds", "[]"},
        {"subgroups", "{" +
                          joined({{"size", lanes},
                                  {"min_size", lanes},
                                  {"max_size", lanes},
                                  {"max_per_workgroup", "null"},
                                  {"operations", "[]"}}) +
                          "}"},
        {"limits", "{" +
                       joined({{"max_workgroup_invocations", whole(has.maxThreadsPerBlock)},
                               {"shared_memory_size", whole(has.sharedMemPerBlock)},
                               {"max_workgroup_count",
                                list(std::vector<uint64_t>(has.maxGridSize, has.maxGridSize + 3))},
                               {"largest_heap_size", memory},
                               {"max_allocation_size", memory},
                               {"max_storage_buffer_range", memory},
                               {"timestamp_period_ns", "1"},
                               {"timestamp_valid_bits", "64"}}) +
                       "}"},
        {"heaps", "[{\"size\": " + memory + ", \"device_local\": true}]"},
        {"features", "null"},
        {"gpu_timestamps", "true"},
    });
}

std::string to_json(const Measurement& measured) {
    double time = median_of(measured.samples_ns), copy = median_of(measured.copy_samples_ns);
    double count = static_cast<double>(measured.element_count), traffic = static_cast<double>(measured.traffic_size);
    double copied_size = 2.0 * count * static_cast<double>(measured.element_size);
    std::vector<uint64_t> block_lengths(measured.block_lengths.begin(), measured.block_lengths.end());
    Members members{
        {"id", quoted(measured.id)},
        {"group", quoted(group_of(measured.id))},
        {"policy", quoted("CUB " + cub_version() + ", its own tuning")},
        {"element_count", number(measured.element_count)},
        {"element_size", number(measured.element_size)},
        {"traffic_size", number(measured.traffic_size)},
        {"elements_per_second", number(count / (time / 1e9))},
        {"bytes_per_second", number(traffic / (time / 1e9))},
        {"copy_percent", number(100.0 * copy / time)},
        {"copy_bytes_per_second", number(copied_size / (copy / 1e9))},
        {"runs_per_sample", number(uint64_t{1})},
        {"block_lengths", list(block_lengths)},
        {"time", summary(measured.samples_ns)},
        {"copy", summary(measured.copy_samples_ns)},
        {"samples_ns", list(measured.samples_ns)},
        {"copy_samples_ns", list(measured.copy_samples_ns)},
    };
    if (!measured.is_steady) {
        members.emplace_back("steady", "false");
    }
    return "{" + joined(members) + "}";
}

std::string to_json(const std::string& id, const std::string& outcome, const std::string& reason) {
    return "{" + joined({{"id", quoted(id)}, {"outcome", quoted(outcome)}, {"reason", quoted(reason)}}) + "}";
}

bool Report::write(const std::string& path, bool is_complete) const {
    if (path.empty()) {
        return true;
    }
    auto lines = [](const std::vector<std::string>& all) {
        std::string json = "[";
        for (const std::string& line : all) {
            json += (json.size() > 1 ? ",\n" : "\n") + line;
        }
        return json + "]";
    };
    std::string arguments;
    for (const std::string& argument : command) {
        arguments += (arguments.empty() ? "" : ", ") + quoted(argument);
    }
    // Only what standard C++ reports of the machine.
    std::string tool = joined({{"version", quoted("CUB " + cub_version())},
                               {"git_hash", "null"},
                               {"rust_compiler", quoted("")},
                               {"shader_compiler", quoted(compiler())},
                               {"kernels", "{}"}});
    std::string host = joined({{"os", quoted("")},
                               {"kernel", "null"},
                               {"architecture", quoted("")},
                               {"processor", "null"},
                               {"threads", number(uint64_t{std::max(1u, std::thread::hardware_concurrency())})}});
    std::string section = device + ",\n\"verified\": " + lines(verified) + ",\n\"measured\": " + lines(measured);
    std::string json = "{" +
                       joined({{"schema", "2"},
                               {"tool", "{" + tool + "}"},
                               {"host", "{" + host + "}"},
                               {"command", "[" + arguments + "]"},
                               {"complete", is_complete ? "true" : "false"},
                               {"devices", device.empty() ? "[]" : "[\n{" + section + "}]"}}) +
                       "}\n";
    std::string unfinished = path + ".part";
    FILE* file = std::fopen(unfinished.c_str(), "wb");
    if (!file) {
        return false;
    }
    bool is_written = std::fwrite(json.data(), 1, json.size(), file) == json.size();
    is_written = std::fclose(file) == 0 && is_written;
    if (is_written && std::rename(unfinished.c_str(), path.c_str()) == 0) {
        return true;
    }
    std::remove(unfinished.c_str());
    return false;
}

}  // namespace peer
