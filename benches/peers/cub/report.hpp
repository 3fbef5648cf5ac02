// The report of `subsweep bench --json`: tool/src/harness/report.rs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace peer {

// Times of one case, in nanoseconds, and of copies of as many bytes. Samples are in blocks, between which copies ran.
struct Measurement {
    std::string id;
    uint64_t element_count, element_size, traffic_size;
    std::vector<double> samples_ns, copy_samples_ns;
    std::vector<uint32_t> block_lengths;
    bool is_steady = true;
};

double median_of(std::vector<double> samples);

std::string quoted(const std::string& text);

// The members of a device's section: identity and limits of the CUDA device.
std::string device_members();

// One measurement, one line.
std::string to_json(const Measurement& measured);

// A case without a measurement: `outcome` is "fail" or "not supported".
std::string to_json(const std::string& id, const std::string& outcome, const std::string& reason);

// The sections of a report as they arrive.
struct Report {
    std::vector<std::string> command;
    std::string device;
    std::vector<std::string> measured, verified;

    // Writes the file atomically; nothing where there is no path. Returns whether it was written.
    bool write(const std::string& path, bool is_complete) const;
};

}  // namespace peer
