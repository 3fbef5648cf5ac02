// CUB on the cases of `subsweep bench`: the same inputs, verified, with a report in the same format. See ../README.md.
//
// A child process measures, and its parent writes the report: a call that fails, or is not done in time, costs a case
// and not the run. Exit codes are subsweep's: 0 done, 1 a wrong result, 2 bad usage, 3 no device, 4 a call that
// failed.

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fnmatch.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.cuh"
#include "inputs.hpp"

namespace {

using namespace peer;

enum Exit { DONE = 0, WRONG = 1, USAGE = 2, NO_DEVICE = 3, FAILED = 4 };

constexpr const char* USAGE_TEXT =
    "usage: cub [--sizes LOG2,LOG2…] [--filter PATTERN]… [--cold-cache] [--timeout SECONDS] [--json FILE] [--list]";

struct Options {
    std::vector<int> sizes{16, 20, 24, 26};
    std::vector<std::string> filters;
    bool has_cold_cache = false, is_list = false;
    int timeout_s = 60;
    std::string path;
};

[[noreturn]] void end(Exit exit, const std::string& text) {
    std::fprintf(stderr, "cub: %s\n", text.c_str());
    std::exit(exit);
}

int whole(const std::string& text, int least, int most) {
    char* rest;
    long value = std::strtol(text.c_str(), &rest, 10);
    if (text.empty() || *rest != '\0' || value < least || value > most) {
        end(USAGE, "'" + text + "' is not a number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return static_cast<int>(value);
}

Options options_of(const std::vector<std::string>& arguments) {
    Options options;
    for (size_t i = 0; i < arguments.size(); i++) {
        const std::string& name = arguments[i];
        if (name == "--cold-cache") {
            options.has_cold_cache = true;
        } else if (name == "--list") {
            options.is_list = true;
        } else if (i + 1 == arguments.size()) {
            end(USAGE, USAGE_TEXT);
        } else if (name == "--sizes") {
            options.sizes.clear();
            std::string rest = arguments[++i] + ",";
            for (size_t comma; (comma = rest.find(',')) != std::string::npos; rest.erase(0, comma + 1)) {
                options.sizes.push_back(whole(rest.substr(0, comma), 8, 28));
            }
        } else if (name == "--filter") {
            options.filters.push_back("*" + arguments[++i] + "*");
        } else if (name == "--timeout") {
            options.timeout_s = whole(arguments[++i], 1, 3600);
        } else if (name == "--json") {
            options.path = arguments[++i];
        } else {
            end(USAGE, USAGE_TEXT);
        }
    }
    return options;
}

// A case at a count, with the ids of its measurement.
struct Step {
    std::vector<std::string> ids;
    std::function<Measurement(Bench&)> measure;
};

bool is_kept(const std::string& id, const Options& options) {
    auto matches = [&](const std::string& filter) { return fnmatch(filter.c_str(), id.c_str(), 0) == 0; };
    return options.filters.empty() || std::any_of(options.filters.begin(), options.filters.end(), matches);
}

// The steps of all cases at one size. A case without N in its ids has a count of its own.
void add_steps(std::vector<Step>& steps, int bits, bool is_first_size, const Options& options) {
    size_t count = size_t{1} << bits;
    for (auto cases : {scan_cases, sort_cases, select_cases, reduce_cases, histogram_cases, run_length_cases, merge_cases,
                       search_cases, difference_cases, top_k_cases, segmented_cases}) {
        for (const Case& one : cases()) {
            Step step{{}, [measure = one.measure, count](Bench& bench) { return measure(bench, count); }};
            for (std::string id : one.ids) {
                size_t at = id.find(";n=N;");
                if (at != std::string::npos) {
                    id.replace(at + 3, 1, std::to_string(count));
                } else if (!is_first_size) {
                    continue;
                }
                if (is_kept(id, options)) {
                    step.ids.push_back(id);
                }
            }
            if (!step.ids.empty()) {
                steps.push_back(step);
            }
        }
    }
}

// Size by size: a run that is cut off has all cases at the smaller ones.
std::vector<Step> steps_of(const Options& options) {
    std::vector<Step> steps;
    for (size_t i = 0; i < options.sizes.size(); i++) {
        add_steps(steps, options.sizes[i], i == 0, options);
    }
    return steps;
}

// What the child tells its parent, one line each: the device, the step that begins, a measurement, a case without one,
// and the class of a failure.
enum Tag : char { DEVICE = 'D', BEGIN = 'B', MEASURED = 'M', VERIFIED = 'V', IS_WRONG = 'W' };

void tell(int out, Tag tag, const std::string& text) {
    std::string line = std::string(1, tag) + text + "\n";
    for (size_t sent = 0; sent < line.size();) {
        ssize_t count = write(out, line.data() + sent, line.size() - sent);
        if (count <= 0) {
            std::_Exit(FAILED);
        }
        sent += static_cast<size_t>(count);
    }
}

void show(const Measurement& measured) {
    double time = median_of(measured.samples_ns), copy = median_of(measured.copy_samples_ns);
    double count = static_cast<double>(measured.element_count);
    std::printf("%10.2f us %10.1f M elem/s %6.1f %% of copy  %s%s\n", time / 1e3, count / time * 1e3,
                100.0 * copy / time, measured.id.c_str(), measured.is_steady ? "" : "  UNSTEADY");
    std::fflush(stdout);
}

void without_measurement(int out, const Step& step, const char* outcome, const std::string& reason) {
    for (const std::string& id : step.ids) {
        std::printf("%s: %s: %s\n", outcome, id.c_str(), reason.c_str());
        tell(out, VERIFIED, to_json(id, outcome, reason));
    }
    std::fflush(stdout);
}

// Measures the steps from `next` on.
[[noreturn]] void child(const std::vector<Step>& steps, size_t next, const Options& options, int out) {
    int device_count = 0;
    if (cudaGetDeviceCount(&device_count) != cudaSuccess || device_count == 0) {
        std::_Exit(NO_DEVICE);
    }
    try {
        check(cudaSetDevice(0), "cudaSetDevice");
        tell(out, DEVICE, device_members());
        Bench bench(options.has_cold_cache);
        for (; next < steps.size(); next++) {
            const Step& step = steps[next];
            tell(out, BEGIN, std::to_string(next));
            try {
                Measurement measured = step.measure(bench);
                for (const std::string& id : step.ids) {
                    measured.id = id;
                    show(measured);
                    tell(out, MEASURED, to_json(measured));
                }
            } catch (const NoRoom& error) {
                without_measurement(out, step, "not supported", error.what());
            } catch (const std::bad_alloc&) {
                without_measurement(out, step, "not supported", "too little memory of the host");
            } catch (const WrongResult& error) {
                without_measurement(out, step, "fail", error.what());
                tell(out, IS_WRONG, "");
            }
        }
    } catch (const std::exception& error) {
        // The context may be lost: another child goes on.
        if (next < steps.size()) {
            without_measurement(out, steps[next], "fail", error.what());
        } else {
            std::fprintf(stderr, "cub: %s\n", error.what());
        }
        std::_Exit(FAILED);
    }
    std::_Exit(DONE);
}

// Lines of a child. None once it has ended, or is silent for `timeout_s`.
class Lines {
public:
    Lines(int in, int timeout_s) : in_(in), timeout_ms_(timeout_s * 1000) {}

    bool next(std::string& line) {
        size_t end;
        while ((end = buffer_.find('\n')) == std::string::npos) {
            pollfd waited{in_, POLLIN, 0};
            int ready = poll(&waited, 1, timeout_ms_);
            if (ready < 0 && errno == EINTR) {
                continue;
            }
            char bytes[1 << 16];
            ssize_t count = ready <= 0 ? 0 : read(in_, bytes, sizeof bytes);
            is_late_ = ready <= 0;
            if (count <= 0) {
                return false;
            }
            buffer_.append(bytes, static_cast<size_t>(count));
        }
        line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return true;
    }

    bool is_late() const { return is_late_; }

private:
    int in_, timeout_ms_;
    bool is_late_ = false;
    std::string buffer_;
};

struct Run {
    const std::vector<Step>& steps;
    const Options& options;
    Report report;
    size_t next = 0;
    bool has_begun = false, is_wrong = false, has_failed = false;

    void write(bool is_complete) const {
        if (!report.write(options.path, is_complete)) {
            end(USAGE, options.path + ": cannot be written");
        }
    }

    // Runs one child until it ends. Returns whether another should go on.
    bool run_child() {
        int ends[2];
        if (pipe(ends) != 0) {
            end(FAILED, "pipe failed");
        }
        std::fflush(nullptr);
        pid_t process = fork();
        if (process < 0) {
            end(FAILED, "fork failed");
        }
        if (process == 0) {
            close(ends[0]);
            child(steps, next, options, ends[1]);
        }
        close(ends[1]);
        Lines lines(ends[0], options.timeout_s);
        bool is_in_step = false, is_reported = false;
        for (std::string line; lines.next(line);) {
            std::string text = line.substr(1);
            switch (line[0]) {
            case DEVICE:
                report.device = text;
                break;
            case BEGIN:
                next = std::strtoul(text.c_str(), nullptr, 10);
                is_in_step = has_begun = true;
                is_reported = false;
                break;
            case MEASURED:
                report.measured.push_back(text);
                is_reported = true;
                break;
            case VERIFIED:
                report.verified.push_back(text);
                is_reported = true;
                break;
            case IS_WRONG:
                is_wrong = true;
                break;
            }
            write(false);
        }
        close(ends[0]);
        // A child that waits for its device ends only so.
        if (lines.is_late()) {
            kill(process, SIGKILL);
        }
        int status = 0;
        waitpid(process, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == DONE) {
            next = steps.size();
            return false;
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == NO_DEVICE) {
            has_failed = has_begun;
            if (!has_begun) {
                end(NO_DEVICE, "no CUDA device; check nvidia-smi");
            }
            return false;
        }
        has_failed = true;
        if (!is_in_step) {
            return false;
        }
        if (!is_reported) {
            std::string reason = lines.is_late() ? "no result within " + std::to_string(options.timeout_s) + " s"
                                                 : "the process ended by itself";
            for (const std::string& id : steps[next].ids) {
                std::printf("fail: %s: %s\n", id.c_str(), reason.c_str());
                report.verified.push_back(to_json(id, "fail", reason));
            }
        }
        next++;
        write(false);
        return next < steps.size();
    }
};

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    Options options = options_of(arguments);
    if (hash_of(uniform_words(HASHED_COUNT, HASHED_COUNT)) != HASH_OF_UNIFORM) {
        end(WRONG, "the inputs differ from the inputs of subsweep");
    }
    std::vector<Step> steps = steps_of(options);
    if (steps.empty()) {
        end(USAGE, "no case matches the filters; --list shows all");
    }
    if (options.is_list) {
        for (const Step& step : steps) {
            for (const std::string& id : step.ids) {
                std::puts(id.c_str());
            }
        }
        return DONE;
    }
    Run run{steps, options, Report{arguments, "", {}, {}}};
    while (run.run_child()) {
    }
    run.write(!run.has_failed || run.next == steps.size());
    return run.is_wrong ? WRONG : run.has_failed ? FAILED : DONE;
}
