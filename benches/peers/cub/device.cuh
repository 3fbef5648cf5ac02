// CUDA's device, arrays and errors; the copy that warms the clock; the kernel that holds a stream.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace peer {

// A case that the device has no memory for.
struct NoRoom : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A CUDA function that failed. The context may be lost with it.
struct CudaError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void check(cudaError_t error, const char* during) {
    if (error != cudaSuccess) {
        throw CudaError(std::string(during) + " failed: " + cudaGetErrorString(error));
    }
}

// An array on the device.
template <typename T>
class Array {
public:
    explicit Array(size_t count) : count_(count) {
        cudaError_t error = cudaMalloc(&data_, size());
        if (error == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            throw NoRoom("too little device memory");
        }
        check(error, "cudaMalloc");
    }
    explicit Array(const std::vector<T>& values) : Array(values.size()) {
        check(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    ~Array() { cudaFree(data_); }

    T* get() const { return static_cast<T*>(data_); }
    size_t count() const { return count_; }
    size_t size() const { return std::max<size_t>(count_ * sizeof(T), 4); }

    std::vector<T> download(size_t count) const {
        std::vector<T> values(count);
        check(cudaMemcpy(values.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
        return values;
    }

private:
    void* data_ = nullptr;
    size_t count_;
};

// Copies bytes by a kernel on stream 0. Both addresses are multiples of 16.
void copy(void* to, const void* from, size_t size);

// The index of the first byte at which two arrays differ; their size if they do not.
size_t first_difference(const void* a, const void* b, size_t size);

// Holds stream 0 until it is released, for 200 ms at most, so that launches queue after it.
class Hold {
public:
    Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();

    void begin();
    void release();

private:
    volatile uint32_t* is_released_ = nullptr;
};

// Keeps the clock up: GPUs sleep between kernels.
class Warmth {
public:
    Warmth();

    // Runs copies for 150 ms at least, until the rates of the last three windows of 30 ms differ by less than 2 % and are within
    // 5 % of the best so far, for 3 s at most. Returns whether they became steady.
    bool warm();

private:
    double window_rate();

    Array<char> from_, to_;
    double best_rate_ = 0;
};

}  // namespace peer
