/* subsweep for C++17: subsweep.h with owned handles, exceptions and types. Header only: no function here does more than the
 * one of subsweep.h that it calls, whose comment holds for it, too.
 *
 * Licensed under either of Apache License 2.0 or MIT, at your option.
 *
 * A handle is moved, and freed where it ends. What fails throws subsweep::Error. Structures are the C structures without
 * their struct_size, which is set where they are given:
 *
 *     subsweep::SortPlan::CreateInfo info{};
 *     info.key_type = subsweep::element_type<float>;
 *     subsweep::SortPlan plan(device, info);
 */

#ifndef SUBSWEEP_HPP
#define SUBSWEEP_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "subsweep.h"

namespace subsweep {

/// A failure of the calling thread: subsweep_last_error, and the code.
class Error : public std::runtime_error {
  public:
    explicit Error(VkResult code) : std::runtime_error(subsweep_last_error()), code_(code) {}

    /// One of Vulkan's errors, or of SUBSWEEP_ERROR_....
    VkResult code() const noexcept { return code_; }

  private:
    VkResult code_;
};

/// Throws an Error unless `result` is VK_SUCCESS. Calls are qualified: VkResult is global, and so a program's function of
/// this name would be found, too.
inline void throw_on_failure(VkResult result) {
    if (result != VK_SUCCESS) {
        throw Error(result);
    }
}

/// The bits of an IEEE 754 float of 16 bits, for which C++ before 23 has no type.
struct Float16 {
    std::uint16_t bits;
};

/// The bits of the high half of a float of 32 bits.
struct BFloat16 {
    std::uint16_t bits;
};

namespace detail {

template <class T>
constexpr SubsweepElementType element_type() {
    constexpr bool is_half = std::is_same_v<T, Float16>, is_brain = std::is_same_v<T, BFloat16>;
    constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8;
    static_assert(is_half || is_brain || is_number, "numbers of 8 to 64 bits");
    constexpr bool is_float = is_half || is_brain || std::is_floating_point_v<T>, is_signed = std::is_signed_v<T>;
    // C++23 has floats of 16 bits itself.
    constexpr bool has_8_digits = is_brain || (is_float && std::numeric_limits<T>::digits == 8);
    switch (sizeof(T)) {
        case 1: return is_signed ? SUBSWEEP_ELEMENT_TYPE_I8 : SUBSWEEP_ELEMENT_TYPE_U8;
        case 2:
            if (is_float) {
                return has_8_digits ? SUBSWEEP_ELEMENT_TYPE_BF16 : SUBSWEEP_ELEMENT_TYPE_F16;
            }
            return is_signed ? SUBSWEEP_ELEMENT_TYPE_I16 : SUBSWEEP_ELEMENT_TYPE_U16;
        case 4:
            return is_float ? SUBSWEEP_ELEMENT_TYPE_F32 : is_signed ? SUBSWEEP_ELEMENT_TYPE_I32 : SUBSWEEP_ELEMENT_TYPE_U32;
        default:
            return is_float ? SUBSWEEP_ELEMENT_TYPE_F64 : is_signed ? SUBSWEEP_ELEMENT_TYPE_I64 : SUBSWEEP_ELEMENT_TYPE_U64;
    }
}

/// A structure with its size.
template <class T>
T sized(T info) noexcept {
    info.struct_size = sizeof info;
    return info;
}

template <class T, void (*destroy)(T *)>
struct Destroy {
    void operator()(T *handle) const noexcept { destroy(handle); }
};

template <class T, void (*destroy)(T *)>
using Handle = std::unique_ptr<T, Destroy<T, destroy>>;

/// The handle that `create` writes.
template <class T, class Create>
T *created(Create create) {
    T *handle = nullptr;
    ::subsweep::throw_on_failure(create(&handle));
    return handle;
}

/// What a container holds.
template <class C>
using Element = std::remove_reference_t<decltype(*std::data(std::declval<std::remove_reference_t<C> &>()))>;

}  // namespace detail

/// The element type of a number.
template <class T>
inline constexpr SubsweepElementType element_type = detail::element_type<std::remove_cv_t<T>>();

/// What a device is to be created with, before vkCreateDevice.
class Requirements {
  public:
    Requirements(PFN_vkGetInstanceProcAddr get_instance_proc_addr, VkInstance instance,
                 VkPhysicalDevice physical_device)
        : handle_(detail::created<SubsweepRequirements>([=](SubsweepRequirements **requirements) {
              return subsweep_requirements_query(get_instance_proc_addr, instance, physical_device, requirements);
          })) {}

    SubsweepFeatureFlags features() const noexcept { return subsweep_requirements_features(get()); }

    /// The names of the extensions, owned by the requirements.
    std::vector<const char *> extensions() const {
        std::uint32_t count = 0;
        const char *const *names = subsweep_requirements_extensions(get(), &count);
        return std::vector<const char *>(names, names + count);
    }

    void limit_features(SubsweepFeatureFlags features) {
        ::subsweep::throw_on_failure(subsweep_requirements_limit_features(get(), features));
    }

    void merge_features(VkDeviceCreateInfo &info) {
        ::subsweep::throw_on_failure(subsweep_requirements_merge_features(get(), &info));
    }

    SubsweepRequirements *get() const noexcept { return handle_.get(); }

  private:
    detail::Handle<SubsweepRequirements, subsweep_requirements_destroy> handle_;
};

/// An adopted VkDevice.
class Device {
  public:
    explicit Device(const SubsweepDeviceCreateInfo &info)
        : handle_(detail::created<SubsweepDevice>([sized = detail::sized(info)](SubsweepDevice **device) {
              return subsweep_device_create(&sized, device);
          })) {}

    void set_pipeline_threads(std::uint32_t count) {
        ::subsweep::throw_on_failure(subsweep_device_set_pipeline_threads(get(), count));
    }

    SubsweepDevice *get() const noexcept { return handle_.get(); }

  private:
    detail::Handle<SubsweepDevice, subsweep_device_destroy> handle_;
};

/// A plan of any primitive.
class Plan {
  public:
    SubsweepScratchRequirements scratch_requirements(std::uint64_t max_count,
                                                     std::uint64_t max_segment_count = 0) const {
        SubsweepScratchRequirements requirements{};
        ::subsweep::throw_on_failure(
            subsweep_plan_scratch_requirements(get(), max_count, max_segment_count, &requirements));
        return requirements;
    }

    std::uint64_t max_count() const noexcept { return subsweep_plan_max_count(get()); }
    SubsweepAccess first_access() const noexcept { return subsweep_plan_first_access(get()); }
    SubsweepAccess last_access() const noexcept { return subsweep_plan_last_access(get()); }
    const char *policy() const noexcept { return subsweep_plan_policy(get()); }
    SubsweepPlan *get() const noexcept { return handle_.get(); }

  protected:
    explicit Plan(SubsweepPlan *plan) noexcept : handle_(plan) {}

  private:
    detail::Handle<SubsweepPlan, subsweep_plan_destroy> handle_;
};

/// A plan of a primitive: the functions of C, and their structures.
template <class C, class R, VkResult (*create)(const SubsweepDevice *, const C *, SubsweepPlan **),
          VkResult (*cmd)(const SubsweepPlan *, VkCommandBuffer, const R *)>
class PlanOf : public Plan {
  public:
    using CreateInfo = C;
    using Info = R;

    PlanOf(const Device &device, const CreateInfo &info)
        : Plan(detail::created<SubsweepPlan>([&device, sized = detail::sized(info)](SubsweepPlan **plan) {
              return create(device.get(), &sized, plan);
          })) {}

    /// Records one run into `commands`.
    void record(VkCommandBuffer commands, const Info &info) const {
        const Info sized = detail::sized(info);
        ::subsweep::throw_on_failure(cmd(get(), commands, &sized));
    }
};

using ScanPlan = PlanOf<SubsweepScanPlanCreateInfo, SubsweepScanInfo, subsweep_scan_plan_create, subsweep_cmd_scan>;
using SortPlan = PlanOf<SubsweepSortPlanCreateInfo, SubsweepSortInfo, subsweep_sort_plan_create, subsweep_cmd_sort>;
using SegmentedSortPlan = PlanOf<SubsweepSortPlanCreateInfo, SubsweepSegmentedSortInfo,
                                 subsweep_segmented_sort_plan_create, subsweep_cmd_segmented_sort>;
using GatherPlan =
    PlanOf<SubsweepGatherPlanCreateInfo, SubsweepGatherInfo, subsweep_gather_plan_create, subsweep_cmd_gather>;
using SelectPlan =
    PlanOf<SubsweepSelectPlanCreateInfo, SubsweepSelectInfo, subsweep_select_plan_create, subsweep_cmd_select>;
using HistogramPlan = PlanOf<SubsweepHistogramPlanCreateInfo, SubsweepHistogramInfo,
                             subsweep_histogram_plan_create, subsweep_cmd_histogram>;
using ReducePlan =
    PlanOf<SubsweepReducePlanCreateInfo, SubsweepReduceInfo, subsweep_reduce_plan_create, subsweep_cmd_reduce>;
using RunLengthPlan = PlanOf<SubsweepRunLengthPlanCreateInfo, SubsweepRunLengthInfo,
                             subsweep_run_length_plan_create, subsweep_cmd_run_length>;
using SearchPlan =
    PlanOf<SubsweepSearchPlanCreateInfo, SubsweepSearchInfo, subsweep_search_plan_create, subsweep_cmd_search>;
using MergePlan =
    PlanOf<SubsweepMergePlanCreateInfo, SubsweepMergeInfo, subsweep_merge_plan_create, subsweep_cmd_merge>;
using DifferencePlan = PlanOf<SubsweepDifferencePlanCreateInfo, SubsweepDifferenceInfo,
                              subsweep_difference_plan_create, subsweep_cmd_difference>;
using TopKPlan =
    PlanOf<SubsweepTopKPlanCreateInfo, SubsweepTopKInfo, subsweep_top_k_plan_create, subsweep_cmd_top_k>;
using StructureSortPlan = PlanOf<SubsweepStructureSortPlanCreateInfo, SubsweepStructureSortInfo,
                                 subsweep_structure_sort_plan_create, subsweep_cmd_structure_sort>;

/// Functions of the caller, for plans of any device: subsweep_functions_create.
inline SubsweepFunctions make_functions(const SubsweepFunctionsCreateInfo &info) {
    SubsweepFunctions functions = 0;
    ::subsweep::throw_on_failure(subsweep_functions_create(&info, &functions));
    return functions;
}

/// subsweep_scan_plan_rounding_depth.
inline auto rounding_depth(const ScanPlan &plan, std::uint64_t count) noexcept {
    return subsweep_scan_plan_rounding_depth(plan.get(), count);
}

/// subsweep_sort_plan_is_result_in_alt.
inline bool is_result_in_alt(const SortPlan &plan, std::uint64_t count) noexcept {
    return subsweep_sort_plan_is_result_in_alt(plan.get(), count) == VK_TRUE;
}

/// The type of the edges of a histogram of T: T itself; for values of 8 and 16 bits the 32-bit type of the same kind.
template <class T>
using Edge = std::conditional_t<sizeof(T) >= 4, T,
                                std::conditional_t<!std::is_integral_v<T>, float,
                                                   std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>>>;

/// The bin_count + 1 edges of bins of equal widths, for values of T.
template <class T>
std::vector<Edge<T>> histogram_even_edges(std::uint32_t bin_count, double low, double high) {
    if (bin_count > 65536) {
        throw std::length_error("subsweep: a histogram has 1 to 65536 bins");
    }
    std::vector<Edge<T>> edges(std::size_t{bin_count} + 1);
    ::subsweep::throw_on_failure(subsweep_histogram_even_edges(element_type<T>, bin_count, low, high, edges.data()));
    return edges;
}

/// An array by its address, for what has no data() and size(): std::span of C++17.
template <class T>
class View {
  public:
    View(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

  private:
    T *data_;
    std::size_t size_;
};

/// A device of the library's own. Calls take what std::data and std::size know: containers, arrays, std::span, View.
class Gpu {
  public:
    /// Opens the device that `selector` names, or SUBSWEEP_DEVICE, or the best one.
    explicit Gpu(const char *selector = nullptr)
        : handle_(detail::created<SubsweepGpu>(
              [selector](SubsweepGpu **gpu) { return subsweep_gpu_open(selector, gpu); })) {}

    const char *name() const noexcept { return subsweep_gpu_name(get()); }

    /// Sorts `keys`: stable, floats by their bits. `flags` are SUBSWEEP_SORT_..._BIT.
    template <class Keys>
    void sort(Keys &&keys, SubsweepSortFlags flags = 0) const {
        sort(sort_info<Keys>(SUBSWEEP_SORT_VALUES_NONE, flags), std::data(keys), nullptr, std::size(keys));
    }

    /// Sorts `keys`, and moves `values` along, of a multiple of 4 bytes up to 16,384.
    template <class Keys, class Values>
    void sort_pairs(Keys &&keys, Values &&values, SubsweepSortFlags flags = 0) const {
        using Value = detail::Element<Values>;
        static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % 4 == 0 && sizeof(Value) <= 16384,
                      "values of a multiple of 4 bytes, up to 16,384");
        if (std::size(keys) != std::size(values)) {
            throw std::invalid_argument("subsweep: sort_pairs takes a value for each key");
        }
        SubsweepSortPlanCreateInfo info = sort_info<Keys>(SUBSWEEP_SORT_VALUES_PAIRS, flags);
        info.value_size = sizeof(Value);
        sort(info, std::data(keys), std::data(values), std::size(keys));
    }

    /// The permutation that sorts `keys`, which are unchanged.
    template <class Keys>
    std::vector<std::uint32_t> argsort(const Keys &keys, SubsweepSortFlags flags = 0) const {
        std::vector<std::uint32_t> indices(std::size(keys));
        using Key = std::remove_const_t<detail::Element<const Keys>>;
        sort(sort_info<Keys>(SUBSWEEP_SORT_VALUES_ARGSORT, flags), const_cast<Key *>(std::data(keys)),
             indices.data(), std::size(keys));
        return indices;
    }

    /// Scans `elements` in place. `scan_operator` is one of SUBSWEEP_SCAN_OPERATOR_....
    template <class Elements>
    void inclusive_scan(Elements &&elements, SubsweepScanOperator scan_operator = SUBSWEEP_SCAN_OPERATOR_ADD) const {
        scan(scan_info<Elements>(SUBSWEEP_SCAN_KIND_INCLUSIVE, scan_operator), std::data(elements),
             std::size(elements));
    }

    template <class Elements>
    void exclusive_scan(Elements &&elements, SubsweepScanOperator scan_operator = SUBSWEEP_SCAN_OPERATOR_ADD) const {
        scan(scan_info<Elements>(SUBSWEEP_SCAN_KIND_EXCLUSIVE, scan_operator), std::data(elements),
             std::size(elements));
    }

    /// The reduction of `elements`; of none the operator's identity.
    template <class Elements>
    auto reduce(const Elements &elements, SubsweepScanOperator scan_operator = SUBSWEEP_SCAN_OPERATOR_ADD) const {
        std::remove_const_t<detail::Element<const Elements>> result{};
        SubsweepReducePlanCreateInfo info{};
        info.element_type = element_type<decltype(result)>;
        info.scan_operator = scan_operator;
        reduce(info, std::data(elements), std::size(elements), &result);
        return result;
    }

    /// The functions of C, with every configuration.
    void sort(const SubsweepSortPlanCreateInfo &info, void *keys, void *values, std::uint64_t count) const {
        const auto sized = detail::sized(info);
        ::subsweep::throw_on_failure(subsweep_gpu_sort(get(), &sized, keys, values, count));
    }

    void scan(const SubsweepScanPlanCreateInfo &info, void *elements, std::uint64_t count) const {
        const auto sized = detail::sized(info);
        ::subsweep::throw_on_failure(subsweep_gpu_scan(get(), &sized, elements, count));
    }

    void reduce(const SubsweepReducePlanCreateInfo &info, const void *elements, std::uint64_t count,
                void *results) const {
        const auto sized = detail::sized(info);
        ::subsweep::throw_on_failure(subsweep_gpu_reduce(get(), &sized, elements, count, results));
    }

    SubsweepGpu *get() const noexcept { return handle_.get(); }

  private:
    template <class Keys>
    static SubsweepSortPlanCreateInfo sort_info(SubsweepSortValues values, SubsweepSortFlags flags) noexcept {
        SubsweepSortPlanCreateInfo info{};
        info.flags = flags;
        info.key_type = element_type<detail::Element<Keys>>;
        info.values = values;
        return info;
    }

    template <class Elements>
    static SubsweepScanPlanCreateInfo scan_info(SubsweepScanKind kind, SubsweepScanOperator scan_operator) noexcept {
        SubsweepScanPlanCreateInfo info{};
        info.kind = kind;
        info.element_type = element_type<detail::Element<Elements>>;
        info.scan_operator = scan_operator;
        return info;
    }

    detail::Handle<SubsweepGpu, subsweep_gpu_close> handle_;
};

}  // namespace subsweep

#endif
