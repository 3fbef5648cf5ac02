/* subsweep.hpp: plans on a device of the program's, calls on arrays, and what is thrown. Prints what is wrong. */

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include <vulkan/vulkan.h>

/* Names that programs have, too: none of them is the header's. */
void throw_on_failure(VkResult);
void check(VkResult);
#define check(result) taken by a program

#include <subsweep.hpp>

#undef check

#include "host.h"

namespace {

int failure_count = 0;

void expect(bool is_true, int line) {
    if (!is_true) {
        std::printf("line %d: false (last error: %s)\n", line, subsweep_last_error());
        failure_count++;
    }
}
#define EXPECT(what) expect((what), __LINE__)

template <class Call>
void refuse(Call call, int code, const char *words, int line) {
    try {
        call();
        expect(false, line);
    } catch (const subsweep::Error &error) {
        expect(static_cast<int>(error.code()) == code && std::strstr(error.what(), words) != nullptr, line);
    }
}
#define REFUSE(call, code, words) refuse([&] { call; }, code, words, __LINE__)

static_assert(subsweep::element_type<unsigned long> == subsweep::element_type<std::size_t>);
static_assert(subsweep::element_type<const double> == SUBSWEEP_ELEMENT_TYPE_F64);
static_assert(subsweep::element_type<long long> == SUBSWEEP_ELEMENT_TYPE_I64);
static_assert(subsweep::element_type<int> == SUBSWEEP_ELEMENT_TYPE_I32);
static_assert(subsweep::element_type<float> == SUBSWEEP_ELEMENT_TYPE_F32);
static_assert(subsweep::element_type<const signed char> == SUBSWEEP_ELEMENT_TYPE_I8);
static_assert(subsweep::element_type<subsweep::Float16> == SUBSWEEP_ELEMENT_TYPE_F16);
static_assert(subsweep::element_type<const subsweep::BFloat16> == SUBSWEEP_ELEMENT_TYPE_BF16);

/// Every plan is moved, not copied.
template <class... Plans>
constexpr bool are_plans() {
    static_assert((std::is_base_of_v<subsweep::Plan, Plans> && ...));
    static_assert(((!std::is_copy_constructible_v<Plans> && std::is_nothrow_move_constructible_v<Plans>) && ...));
    static_assert((std::is_constructible_v<Plans, const subsweep::Device &, typename Plans::CreateInfo> && ...));
    return sizeof...(Plans) == 13;
}
static_assert(are_plans<subsweep::ScanPlan, subsweep::SortPlan, subsweep::SegmentedSortPlan, subsweep::GatherPlan,
                        subsweep::SelectPlan, subsweep::HistogramPlan, subsweep::ReducePlan, subsweep::RunLengthPlan,
                        subsweep::SearchPlan, subsweep::MergePlan, subsweep::DifferencePlan, subsweep::TopKPlan,
                        subsweep::StructureSortPlan>());

void requirements(const Host &host) {
    subsweep::Requirements requirements(vkGetInstanceProcAddr, host.instance, host.physical_device);
    EXPECT(requirements.features() == host.features);
    for (const char *name : requirements.extensions()) {
        EXPECT(std::strncmp(name, "VK_", 3) == 0);
    }
    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    requirements.merge_features(info);
    EXPECT(info.pNext != nullptr);
    REFUSE(requirements.merge_features(info), SUBSWEEP_ERROR_UNSUPPORTED, "earlier merge");
    requirements.limit_features(SUBSWEEP_FEATURE_BUFFER_DEVICE_ADDRESS_BIT);
    EXPECT(requirements.features() == SUBSWEEP_FEATURE_BUFFER_DEVICE_ADDRESS_BIT);
}

subsweep::Device adopt(const Host &host) {
    SubsweepDeviceCreateInfo info{};
    info.features = host.features;
    info.get_instance_proc_addr = vkGetInstanceProcAddr;
    info.instance = host.instance;
    info.physical_device = host.physical_device;
    info.device = host.device;
    return subsweep::Device(info);
}

void plans(const Host &host) {
    constexpr std::uint32_t count = 50000;
    subsweep::Device device = adopt(host);
    device.set_pipeline_threads(2);
    REFUSE(device.set_pipeline_threads(0), SUBSWEEP_ERROR_UNKNOWN_VALUE, "count");
    REFUSE(subsweep::Device({}), SUBSWEEP_ERROR_NULL, "get_instance_proc_addr");

    subsweep::ScanPlan::CreateInfo info{};
    info.element_type = subsweep::element_type<float>;
    subsweep::ScanPlan made(device, info);
    const subsweep::ScanPlan scan = std::move(made);
    REFUSE(made.scratch_requirements(count), SUBSWEEP_ERROR_NULL, "plan is null");
    EXPECT(subsweep::rounding_depth(scan, count) > 0 && scan.max_count() > count && *scan.policy() != '\0');
    info.column_count = 65;
    REFUSE(subsweep::ScanPlan(device, info), SUBSWEEP_ERROR_UNSUPPORTED, "65 given");

    // Both sorts have this structure; one pass of a double buffer is a sort's, and large counts are no segments'.
    subsweep::SortPlan::CreateInfo of_sort{};
    of_sort.flags = SUBSWEEP_SORT_DOUBLE_BUFFER_BIT | SUBSWEEP_SORT_BIT_RANGE_BIT;
    of_sort.end_bit = 4;
    EXPECT(subsweep::is_result_in_alt(subsweep::SortPlan(device, of_sort), count));
    const subsweep::SegmentedSortPlan segmented(device, of_sort);
    of_sort.flags |= SUBSWEEP_SORT_LARGE_COUNTS_BIT;
    REFUSE(subsweep::SegmentedSortPlan(device, of_sort), SUBSWEEP_ERROR_UNSUPPORTED, "large counts");

    const SubsweepScratchRequirements needs = scan.scratch_requirements(count);
    Memory elements, scratch;
    memory_create(&elements, &host, 4 * count, 0);
    memory_create(&scratch, &host, needs.size, needs.usage);
    float *const floats = reinterpret_cast<float *>(elements.words);
    for (std::uint32_t i = 0; i < count; i++) {
        floats[i] = 1.0f;
    }
    subsweep::ScanPlan::Info run{};
    run.count.count = count;
    run.source = run.destination = {elements.address, elements.size};
    run.scratch = {scratch.buffer, 0, scratch.size, scratch.address, scratch.usage};
    VkCommandBuffer commands = host_begin(&host);
    scan.record(commands, run);
    const SubsweepAccess last = scan.last_access();
    host_barrier(commands, last.stages, last.access, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    run.scratch.size = 0;
    REFUSE(scan.record(commands, run), SUBSWEEP_ERROR_SCRATCH_TOO_SMALL, "scratch");
    subsweep::SegmentedSortPlan::Info of_segments{};
    of_segments.count.count = of_segments.segment_count.count = count;
    REFUSE(segmented.record(commands, of_segments), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "segments");
    host_run(&host, commands);
    EXPECT(floats[0] == 1.0f && floats[count - 1] == static_cast<float>(count));
    EXPECT(scan.first_access().stages != 0);
    memory_destroy(&scratch, &host);
    memory_destroy(&elements, &host);
}

void arrays() {
    subsweep::Gpu opened;
    const subsweep::Gpu gpu = std::move(opened);
    EXPECT(*gpu.name() != '\0' && *opened.name() == '\0');
    REFUSE(subsweep::Gpu("nowhere"), VK_ERROR_INITIALIZATION_FAILED, "'nowhere'");

    // Not every driver sums doubles.
    std::vector<std::int64_t> keys = {3, -1, 2};
    const std::array<std::int64_t, 3> sums = {3, 2, 4};
    EXPECT(gpu.reduce(keys) == 4 && gpu.reduce(keys, SUBSWEEP_SCAN_OPERATOR_MIN) == -1);
    EXPECT((gpu.argsort(keys) == std::vector<std::uint32_t>{1, 2, 0}));
    gpu.inclusive_scan(keys);
    EXPECT(std::equal(sums.begin(), sums.end(), keys.begin()));
    std::uint64_t values[] = {30, 20, 40};
    gpu.sort_pairs(keys, values);
    EXPECT(keys[0] == 2 && values[0] == 20 && keys[2] == 4 && values[2] == 40);

    int numbers[] = {5, 1, 4, 2};
    gpu.sort(subsweep::View<int>(numbers, 3), SUBSWEEP_SORT_DESCENDING_BIT);
    EXPECT(numbers[0] == 5 && numbers[2] == 1 && numbers[3] == 2);
    gpu.exclusive_scan(numbers, SUBSWEEP_SCAN_OPERATOR_MAX);
    EXPECT(numbers[1] == 5 && numbers[3] == 5);
    gpu.sort(std::vector<float>{});
    // -2, 1.5 and 0.5, of which the sum is 0.
    std::vector<subsweep::Float16> halves = {{0xc000}, {0x3e00}, {0x3800}};
    EXPECT(gpu.reduce(halves).bits == 0);
    gpu.sort(halves);
    EXPECT(halves[0].bits == 0xc000 && halves[1].bits == 0x3800 && halves[2].bits == 0x3e00);
    std::array<subsweep::BFloat16, 2> brains = {{{0x4040}, {0x3f80}}};
    gpu.inclusive_scan(brains);
    EXPECT(brains[0].bits == 0x4040 && brains[1].bits == 0x4080);
    bool is_refused = false;
    try {
        gpu.sort_pairs(numbers, values);
    } catch (const std::invalid_argument &) {
        is_refused = true;
    }
    EXPECT(is_refused);

    const std::vector<float> edges = subsweep::histogram_even_edges<float>(4, 0.0, 1.0);
    EXPECT(edges.size() == 5 && edges[1] == 0.25f && edges[4] == 1.0f);
    EXPECT(subsweep::histogram_even_edges<subsweep::Float16>(4, 0.0, 1.0) == edges);
    EXPECT((subsweep::histogram_even_edges<std::uint8_t>(2, 0.0, 256.0) == std::vector<std::uint32_t>{0, 128, 256}));
    EXPECT((subsweep::histogram_even_edges<std::int16_t>(2, -4.0, 4.0) == std::vector<std::int32_t>{-4, 0, 4}));
    REFUSE(subsweep::histogram_even_edges<int>(0, 0.0, 1.0), SUBSWEEP_ERROR_UNSUPPORTED, "");
}

}  // namespace

int main() {
    Host host;
    host_create(&host);
    requirements(host);
    plans(host);
    host_destroy(&host);
    arrays();
    return failure_count > 0;
}
