#include "device.cuh"

#include <chrono>

namespace peer {
namespace {

constexpr int BLOCK = 256;

unsigned grid_of(size_t items) { return static_cast<unsigned>(std::clamp<size_t>((items + BLOCK - 1) / BLOCK, 1, 1 << 20)); }

__global__ void copy_kernel(uint4* to, const uint4* from, size_t quads, size_t size) {
    size_t stride = size_t{gridDim.x} * blockDim.x, first = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (size_t i = first; i < quads; i += stride) {
        to[i] = from[i];
    }
    for (size_t i = 16 * quads + first; i < size; i += stride) {
        reinterpret_cast<char*>(to)[i] = reinterpret_cast<const char*>(from)[i];
    }
}

__global__ void difference_kernel(const unsigned char* a, const unsigned char* b, size_t size,
                                  unsigned long long* first) {
    for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += size_t{gridDim.x} * blockDim.x) {
        if (a[i] != b[i]) {
            atomicMin(first, static_cast<unsigned long long>(i));
        }
    }
}

__device__ uint64_t time_ns() {
    uint64_t time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

__global__ void hold_kernel(const volatile uint32_t* is_released) {
    uint64_t start = time_ns();
    while (*is_released == 0 && time_ns() - start < 200'000'000) {
    }
}

constexpr size_t WARM_SIZE = size_t{64} << 20;

}  // namespace

void copy(void* to, const void* from, size_t size) {
    copy_kernel<<<grid_of(size / 16), BLOCK>>>(static_cast<uint4*>(to), static_cast<const uint4*>(from), size / 16, size);
    check(cudaGetLastError(), "the copy");
}

size_t first_difference(const void* a, const void* b, size_t size) {
    Array<unsigned long long> first(std::vector<unsigned long long>{size});
    difference_kernel<<<grid_of(size), BLOCK>>>(static_cast<const unsigned char*>(a),
                                                static_cast<const unsigned char*>(b), size, first.get());
    check(cudaGetLastError(), "the comparison");
    return first.download(1)[0];
}

Hold::Hold() {
    void* flag;
    check(cudaHostAlloc(&flag, sizeof(uint32_t), cudaHostAllocMapped), "cudaHostAlloc");
    is_released_ = static_cast<volatile uint32_t*>(flag);
}

Hold::~Hold() { cudaFreeHost(const_cast<uint32_t*>(is_released_)); }

void Hold::begin() {
    *is_released_ = 0;
    hold_kernel<<<1, 1>>>(is_released_);
    check(cudaGetLastError(), "holding the stream");
}

void Hold::release() { *is_released_ = 1; }

Warmth::Warmth() : from_(WARM_SIZE), to_(WARM_SIZE) {
    check(cudaMemset(from_.get(), 1, WARM_SIZE), "cudaMemset");
}

double Warmth::window_rate() {
    using clock = std::chrono::steady_clock;
    constexpr int COPIES = 16;
    auto start = clock::now();
    double elapsed_s, copies = 0;
    do {
        for (int i = 0; i < COPIES; i++) {
            copy(to_.get(), from_.get(), WARM_SIZE);
        }
        check(cudaDeviceSynchronize(), "warming");
        copies += COPIES;
        elapsed_s = std::chrono::duration<double>(clock::now() - start).count();
    } while (elapsed_s < 0.03);
    return copies / elapsed_s;
}

bool Warmth::warm() {
    constexpr double TOLERANCE = 1.02, NEAR_BEST = 1.05;
    // A cold clock may stay low for longer than three windows.
    constexpr int MIN_WINDOWS = 5, MAX_WINDOWS = 100;
    std::vector<double> rates;
    for (int i = 1; i <= MAX_WINDOWS; i++) {
        rates.push_back(window_rate());
        best_rate_ = std::max(best_rate_, rates.back());
        if (i >= MIN_WINDOWS) {
            auto [least, most] = std::minmax_element(rates.end() - 3, rates.end());
            if (*most <= *least * TOLERANCE && best_rate_ <= rates.back() * NEAR_BEST) {
                return true;
            }
        }
    }
    best_rate_ = rates.back();
    return false;
}

}  // namespace peer
