// CUB's kernels for one architecture, compiled for their instruction counts, never run. See ../README.md.
//
// Without MAIN_PATH: the kernels as CUB launches them, with their registers and shared memory. With MAIN_PATH: the same
// agents compiled for a full tile in the middle of the input, so that only instructions of the main path remain:
//
//   onesweep   full tiles by a constant; tiles of a single digit, which CUB copies without ranking, return at their
//              check
//   scan       neither the first tile nor the last; with OTHER_WARPS without the look-back, which only the first warp
//              executes
//
// KEYS and VALUES choose the types; VALUES is void for keys alone. SCAN compiles the scan instead of the sort.

#include <cstdint>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

// Exports compile-time constants in a function's name: nothing can be run without a GPU.
template <int THREADS, int ITEMS, int IS_LOOKAHEAD>
__global__ void shape_of_kernel() {}

#ifdef SCAN

using Input = const uint32_t*;
using Output = uint32_t*;
using Operator = cuda::std::plus<>;
using Offset = uint32_t;
using Tuning = cub::detail::scan::policy_selector_from_types<Input, Output, uint32_t, Offset, Operator>;

#if !defined(MAIN_PATH)
template cudaError_t cub::DeviceScan::InclusiveSum(void*, size_t&, Input, Output, uint32_t, cudaStream_t);
#endif

#ifdef __CUDA_ARCH__
inline constexpr auto TUNING = cub::detail::current_policy<Tuning>();
inline constexpr bool IS_LOOKAHEAD = TUNING.algorithm == cub::ScanAlgorithm::lookahead;
inline constexpr auto LOOKBACK = TUNING.lookback;
inline constexpr int THREADS =
    IS_LOOKAHEAD ? cub::detail::scan::num_total_threads(TUNING.lookahead) : LOOKBACK.threads_per_block;
inline constexpr int ITEMS = IS_LOOKAHEAD ? TUNING.lookahead.tile_size() / THREADS : LOOKBACK.items_per_thread;
template __global__ void shape_of_kernel<THREADS, ITEMS, IS_LOOKAHEAD>();
#endif

#if defined(MAIN_PATH) && defined(__CUDA_ARCH__)
using Policy = cub::detail::agent_scan_policy<
    0, 0, void, LOOKBACK.load_algorithm, LOOKBACK.load_modifier, LOOKBACK.store_algorithm, LOOKBACK.scan_algorithm,
    cub::detail::NoScaling<LOOKBACK.threads_per_block, LOOKBACK.items_per_thread>,
    cub::detail::delay_constructor_t<
        LOOKBACK.lookback_delay.kind, LOOKBACK.lookback_delay.delay, LOOKBACK.lookback_delay.l2_write_latency>>;
using Agent = cub::detail::scan::AgentScan<Policy, Input, Output, Operator, cub::NullType, Offset, uint32_t, false, true>;
using State = cub::ScanTileState<uint32_t>;

#ifdef OTHER_WARPS
template <>
__device__ uint32_t Agent::TilePrefixCallbackOpT::operator()(uint32_t block_aggregate) {
    return block_aggregate;
}
#endif

__global__ void __launch_bounds__(LOOKBACK.threads_per_block, 1)
    main_path(Input input, Output output, State state, int start_tile, Offset count) {
    __shared__ Agent::TempStorage storage;
    Agent agent(storage, input, output, Operator(), cub::NullType());
    const int tile = start_tile + static_cast<int>(blockIdx.x);
    if (tile <= 0) {
        __builtin_unreachable();
    }
    const Offset offset = Offset(tile) * Agent::TILE_ITEMS;
    agent.ConsumeTile<false>(count - offset, tile, offset, state);
}
#endif

#else

using Keys = KEYS;
using Values = cuda::std::conditional_t<cuda::std::is_void_v<VALUES>, cub::NullType, VALUES>;
using Offset = uint32_t;
using Tuning = cub::detail::radix_sort::policy_selector_from_types<Keys, Values, Offset>;

#if !defined(MAIN_PATH)
void launch(void* storage, size_t& size, cub::DoubleBuffer<Keys>& keys, cub::DoubleBuffer<Values>& values, uint32_t count) {
    if constexpr (cuda::std::is_void_v<VALUES>) {
        cub::DeviceRadixSort::SortKeys(storage, size, keys.Current(), keys.Alternate(), count);
    } else {
        cub::DeviceRadixSort::SortPairs(
            storage, size, keys.Current(), keys.Alternate(), values.Current(), values.Alternate(), count);
    }
}
#endif

#ifdef __CUDA_ARCH__
inline constexpr auto ONESWEEP = cub::detail::current_policy<Tuning>().onesweep;
template __global__ void shape_of_kernel<ONESWEEP.threads_per_block, ONESWEEP.items_per_thread, false>();
#endif

#if defined(MAIN_PATH) && defined(__CUDA_ARCH__)
using Policy = cub::detail::agent_radix_sort_onesweep_policy<
    0, 0, void, ONESWEEP.rank_private_partitions, ONESWEEP.rank_algorithm, ONESWEEP.scan_algorithm, ONESWEEP.store_algorithm,
    ONESWEEP.radix_bits, cub::detail::NoScaling<ONESWEEP.threads_per_block, ONESWEEP.items_per_thread>>;
using Agent = cub::detail::radix_sort::AgentRadixSortOnesweep<Policy, false, Keys, Values, Offset, int>;

template <>
__device__ void Agent::ShortCircuitCopy(Agent::bit_ordered_type (&)[Agent::ITEMS_PER_THREAD], int (&)[Agent::BINS_PER_THREAD]) {
    cub::ThreadExit();
}

__global__ void __launch_bounds__(ONESWEEP.threads_per_block)
    main_path(int* lookback, int* counters, Offset* bins_out, const Offset* bins_in, Keys* keys_out, const Keys* keys_in,
              Values* values_out, const Values* values_in, int count, int current_bit, int bits) {
    __shared__ Agent::TempStorage storage;
    Agent agent(storage, lookback, counters, bins_out, bins_in, keys_out, keys_in, values_out, values_in, count, current_bit, bits);
    agent.full_block = true;
    agent.Process();
}
#endif

#endif
