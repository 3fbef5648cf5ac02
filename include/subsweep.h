/* subsweep: prefix sums (scan), radix sorts and gathers for Vulkan, recorded into the caller's own command buffers.
 *
 * Licensed under either of Apache License 2.0 or MIT, at your option.
 *
 * Functions that can fail return VK_SUCCESS, one of Vulkan's errors, or one of SUBSWEEP_ERROR_...; all of these are
 * negative, and subsweep_last_error says more. To switch over them, cast to int. None of them lets a panic out, and none
 * but subsweep_gpu_... calls Vulkan other than through the vkGetInstanceProcAddr that it was given. The structures that a
 * program fills and gives by pointer begin with struct_size: such a one is set to 0, then that to its sizeof, then what is
 * needed. So a program that was compiled with this header goes on with later libraries.
 *
 * docs/c.md tells how to build and to link.
 *
 * Every subsweep_..._plan_create makes a plan on `device` with each pipeline that a recording may need, to be freed by
 * subsweep_plan_destroy. Compiling them may take seconds. It returns SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE,
 * SUBSWEEP_ERROR_UNKNOWN_VALUE, Vulkan's own error, or what its comment adds; `*plan` is null then.
 * Threads: any, at any time; if several create plans for one device, its pipeline cache must be internally synchronised.
 * Safety: `device` is null or alive, `info` is null or as its comments say, and `plan` may be written.
 *
 * Every subsweep_cmd_... records one run of `plan` into `command_buffer`. Nothing is submitted, waited for or allocated.
 * These five answers hold for all, and each function's comment adds to them:
 *
 * 1. Device: the requirements of subsweep_requirements_query; a queue with compute.
 * 2. Memory: ranges at least as large as the counts require, at multiples of 4, of elements of 8 and 16 bits of their size;
 *    those that the plan does not use are ignored. An indirect count is 4 bytes. `scratch` as
 *    subsweep_plan_scratch_requirements says: its contents are undefined, and no other work uses it until this work has
 *    completed. A range that is written overlaps no other; those that are only read may overlap each other.
 * 3. Commands: dispatches, direct and indirect, fills and updates of `scratch`, and the barriers between them; none before
 *    the first or after the last. The caller's barrier before them has subsweep_plan_first_access as its destination, and
 *    the one after them subsweep_plan_last_access as its source: COMPUTE_SHADER / SHADER_READ of what is read, COMPUTE_SHADER
 *    / SHADER_WRITE of what is written, and of `scratch` the accesses that these two functions return. With SUBSWEEP_FEATURE_DEBUG_UTILS_BIT the
 *    commands are in labels. A compute pipeline and push constants stay bound; no other state changes.
 * 4. Limits: a count of 0 records nothing, and an indirect count of 0 moves nothing, unless the function's comment says
 *    otherwise. An indirect count above its maximum is clamped to it. At most subsweep_plan_max_count, and the
 *    two-dimensional dispatch limit of the device in workgroups.
 * 5. Result: in the ranges that are written.
 *
 * It returns SUBSWEEP_ERROR_RANGE_TOO_SMALL, SUBSWEEP_ERROR_MISALIGNED, SUBSWEEP_ERROR_OVERLAP,
 * SUBSWEEP_ERROR_SCRATCH_TOO_SMALL, SUBSWEEP_ERROR_MISSING_USAGE, SUBSWEEP_ERROR_TOO_MANY_ELEMENTS,
 * SUBSWEEP_ERROR_INVALID_RANGE; SUBSWEEP_ERROR_UNSUPPORTED if a count is indirect and the plan was not made with indirect
 * counts; SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE, or what its comment adds. Nothing
 * is recorded then.
 * Threads: any, while no other thread uses `command_buffer` or its pool; several may record one plan concurrently.
 * Safety: `plan` is null or alive, and lives until the work has completed. `command_buffer` is of the plan's device, in the
 * recording state outside of a render pass. `info` is null or as its comments say; its ranges are live device memory with
 * the required usage when the commands run. The caller synchronises their accesses with other work.
 *
 * Elements of 8 and 16 bits are several in a word. Plans unpack them to words of 32 bits in scratch, except histograms,
 * differences, those that gather or decode runs, scans of one column without segments, initial value and monotone sums, the
 * sources of reductions but of runs of keys, the results of segments, and, on a device with
 * SUBSWEEP_FEATURE_STORAGE_BUFFER_8BIT_ACCESS_BIT or
 * SUBSWEEP_FEATURE_STORAGE_BUFFER_16BIT_ACCESS_BIT, those that sort all keys, merge, search, select, take the top k but by a sort or
 * by computed keys, or encode runs in a single pass. The functions' comments count scratch and commands without
 * what that takes, which the queries of scratch and accesses include:
 * Memory: 4 bytes of scratch for each element of each array of such elements, for each array rounded up to 16. Whole words
 * are read: a buffer's memory covers the words of its elements.
 * Commands: before the others a dispatch for each 2^30 elements of each such array that is read; after them as many for each
 * that is written; and barriers between, where none of the others orders this. An indirect count takes as many as its maximum.
 *
 * Every subsweep_gpu_... belongs to a device of the library's own, for programs that have none. The libraries of tools/capi
 * have these functions; a build of the crate has them with the features `capi` and `headless` together. Those that take
 * arrays run one plan on arrays of the host, and return when the result is there. `info` is the plan's, whose flags
 * for counts and forms of memory have no effect here; `count` is a recording's. The pointer to an empty array may be
 * null. They return the errors of the plan's creation and of its recording, VK_ERROR_OUT_OF_DEVICE_MEMORY,
 * VK_ERROR_OUT_OF_HOST_MEMORY or VK_ERROR_DEVICE_LOST. The arrays are unchanged then.
 * Threads: any, at any time; calls for one device take turns on it.
 * Safety: `gpu` and `info` are null or alive. The arrays are null, or have as many elements as the configuration and
 * `count` require, and nothing else uses them meanwhile.
 */

#ifndef SUBSWEEP_H
#define SUBSWEEP_H

/* Made by cbindgen from src/capi: SUBSWEEP_BLESS=1 cargo test --features capi --test capi_header. Not to be edited. */

#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

/// The ABI version of the header. It increases when programs compiled with an older header must be recompiled.
#define SUBSWEEP_ABI_VERSION 1

/// A required pointer, handle or address is null.
#define SUBSWEEP_ERROR_NULL -2000000001

/// struct_size matches no version of the structure, or fields of a newer version than this library's are not 0.
#define SUBSWEEP_ERROR_STRUCT_SIZE -2000000002

/// An unknown enumerator, flag or algorithm name: SUBSWEEP_ELEMENT_TYPE_... and the like.
#define SUBSWEEP_ERROR_UNKNOWN_VALUE -2000000003

/// A required Vulkan function is missing: the instance or the device was created for an older version.
#define SUBSWEEP_ERROR_MISSING_FUNCTION -2000000004

/// No plan supports the configuration, or the memory does not match the plan's configuration.
#define SUBSWEEP_ERROR_UNSUPPORTED -2000000005

/// The algorithm does not support the configuration, or exceeds the limits of the device.
#define SUBSWEEP_ERROR_INVALID_POLICY -2000000006

/// More elements than the plan supports.
#define SUBSWEEP_ERROR_TOO_MANY_ELEMENTS -2000000007

/// The scratch is smaller than its requirements.
#define SUBSWEEP_ERROR_SCRATCH_TOO_SMALL -2000000008

/// Another range is too small for the count.
#define SUBSWEEP_ERROR_RANGE_TOO_SMALL -2000000009

/// An address or an offset is not a multiple of its alignment.
#define SUBSWEEP_ERROR_MISALIGNED -2000000010

/// Two ranges overlap that must be disjoint.
#define SUBSWEEP_ERROR_OVERLAP -2000000011

/// An object of one device was passed to another.
#define SUBSWEEP_ERROR_FOREIGN_DEVICE -2000000012

/// A range exceeds the last address or the last offset.
#define SUBSWEEP_ERROR_INVALID_RANGE -2000000013

/// A buffer range lacks a required usage flag.
#define SUBSWEEP_ERROR_MISSING_USAGE -2000000014

/// A bug in the library, also reported on standard error. The object was not created, or the recording is
/// incomplete: do not submit the command buffer.
#define SUBSWEEP_ERROR_PANIC -2000000100

/// The most fields of a key.
#define SUBSWEEP_MAX_FIELDS 8

/// An adopted VkDevice. Plans are made for it.
typedef struct SubsweepDevice SubsweepDevice;

/// A device that subsweep_gpu_open has opened, with an instance, queues and memory of its own.
typedef struct SubsweepGpu SubsweepGpu;

/// A plan of any primitive, recorded any number of times. Immutable; holds pipelines and no memory.
typedef struct SubsweepPlan SubsweepPlan;

/// The features and extensions to enable when a VkDevice is created, found by subsweep_requirements_query.
typedef struct SubsweepRequirements SubsweepRequirements;

/// Features and extensions that a device is created with: several of SUBSWEEP_FEATURE_..._BIT, or 0.
typedef uint32_t SubsweepFeatureFlags;

/// The parameters of subsweep_device_create.
typedef struct SubsweepDeviceCreateInfo {
    /// sizeof(SubsweepDeviceCreateInfo).
    uint32_t struct_size;
    /// The features that `device` was created with, and no others: Vulkan offers no query for them. After
    /// subsweep_requirements_merge_features these are the features that subsweep_requirements_features returns.
    SubsweepFeatureFlags features;
    /// The loader's vkGetInstanceProcAddr. All Vulkan functions are loaded through it.
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    /// Created for Vulkan 1.2 or later.
    VkInstance instance;
    /// The physical device that `device` was created from.
    VkPhysicalDevice physical_device;
    /// Created with the feature bufferDeviceAddress.
    VkDevice device;
    /// The pipeline cache that pipelines are created with; VK_NULL_HANDLE for none.
    VkPipelineCache pipeline_cache;
} SubsweepDeviceCreateInfo;

/// Options of a scan plan: several of SUBSWEEP_SCAN_..._BIT, or 0.
typedef uint32_t SubsweepScanFlags;

/// Whether a result includes its own element: one of SUBSWEEP_SCAN_KIND_....
typedef uint32_t SubsweepScanKind;

/// The direction of a scan: one of SUBSWEEP_SCAN_DIRECTION_....
typedef uint32_t SubsweepScanDirection;

/// The type of an element or a key: one of SUBSWEEP_ELEMENT_TYPE_....
typedef uint32_t SubsweepElementType;

/// The operator that combines elements: one of SUBSWEEP_SCAN_OPERATOR_....
typedef uint32_t SubsweepScanOperator;

/// The representation of segments, each scanned separately: one of SUBSWEEP_SEGMENTS_BY_.... The first row
/// always begins a segment.
typedef uint32_t SubsweepSegmentsBy;

/// Functions of the caller: what subsweep_functions_create returns, or 0 for none. They live as long as the process.
typedef uint32_t SubsweepFunctions;

/// The parameters of subsweep_scan_plan_create. With all fields 0 but struct_size: the inclusive sum of
/// uint32_t.
typedef struct SubsweepScanPlanCreateInfo {
    /// sizeof(SubsweepScanPlanCreateInfo).
    uint32_t struct_size;
    /// Options.
    SubsweepScanFlags flags;
    /// Inclusive or exclusive.
    SubsweepScanKind kind;
    /// Forward or reverse.
    SubsweepScanDirection direction;
    /// The type of an element.
    SubsweepElementType element_type;
    /// The operator.
    SubsweepScanOperator scan_operator;
    /// Elements of a row, 1 to 64; each column is scanned separately. 0 means 1.
    uint32_t column_count;
    /// The representation of segments.
    SubsweepSegmentsBy segments_by;
    /// The algorithm: one of "reduce-then-scan", "reduce-then-scan/kogge-stone",
    /// "reduce-then-scan/kogge-stone-double-buffered", "reduce-then-scan/brent-kung",
    /// "reduce-then-scan/sklansky", "reduce-then-scan/sequential", "scan-then-propagate", "chained",
    /// "block-doubling" and "strided"; null to choose by device. Read only during the call.
    const char *algorithm;
    /// Elements of a row of a table that is scanned along its rows, as segments of so many elements; 0 to scan down
    /// the columns. The count of a recording is then the number of all elements. Not with segments_by. Pipelines are for one
    /// length: each other length compiles its own.
    uint32_t row_length;
    /// Functions whose identity and combine scan elements of their own, in place of element_type and scan_operator; 0 for
    /// none. With transform or store the source and the destination have other rows, and recordings are out of place.
    SubsweepFunctions functions;
} SubsweepScanPlanCreateInfo;

/// A count of elements, on the host or in device memory.
typedef struct SubsweepCount {
    /// The address of an indirect count, a uint32_t at a multiple of 4, read when the commands run: for plans
    /// made with indirect counts. 0 if the count is known when recording.
    VkDeviceAddress address;
    /// The count. Of an indirect count the maximum, for which memory is sized: at most 2^32 - 1; a larger
    /// indirect count is clamped to it.
    uint64_t count;
} SubsweepCount;

/// A range of device memory, by its address. Its buffer was created with
/// VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT.
typedef struct SubsweepAddressRange {
    /// The address of the first byte: vkGetBufferDeviceAddress, plus an offset.
    VkDeviceAddress address;
    /// Bytes.
    VkDeviceSize size;
} SubsweepAddressRange;

/// A range of a buffer, by handle and address. Used for scratch.
typedef struct SubsweepBufferRange {
    /// The buffer.
    VkBuffer buffer;
    /// Offset of the range in the buffer, in bytes: a multiple of 4.
    VkDeviceSize offset;
    /// Bytes.
    VkDeviceSize size;
    /// The address of the first byte: vkGetBufferDeviceAddress of the buffer, plus `offset`.
    VkDeviceAddress address;
    /// The usage flags that the buffer was created with, as far as the library needs them: Vulkan offers no
    /// query.
    VkBufferUsageFlags usage;
} SubsweepBufferRange;

/// The memory and the count of one recording of a scan.
typedef struct SubsweepScanInfo {
    /// sizeof(SubsweepScanInfo).
    uint32_t struct_size;
    /// 0.
    uint32_t flags;
    /// The count of rows; with row_length in the plan the count of all elements.
    struct SubsweepCount count;
    /// The rows to scan.
    struct SubsweepAddressRange source;
    /// The results; the same range as `source` to scan in place.
    struct SubsweepAddressRange destination;
    /// Scratch, as subsweep_plan_scratch_requirements says.
    struct SubsweepBufferRange scratch;
    /// For a plan with segments: the flags, keys or offsets of its segments_by. Offsets are as many as size /
    /// 4; flags and keys may be more than the rows need. Otherwise 0.
    struct SubsweepAddressRange segments;
    /// For a plan with SUBSWEEP_SCAN_INITIAL_VALUE_BIT: a row in device memory, such as the last row of
    /// another scan's results. 0 if the initial value is on the host, or if there is none.
    struct SubsweepAddressRange initial_on_device;
    /// For a plan with SUBSWEEP_SCAN_INITIAL_VALUE_BIT: a row in host memory, of elements of 8 and 16 bits as uint32_t,
    /// int32_t or float, at a multiple of 4 bytes, read
    /// only during the call. Null if the initial value is on the device, or if there is none.
    const void *initial_on_host;
    /// Bytes at `initial_on_host`: the size of a row.
    size_t initial_on_host_size;
    /// For a plan with functions: what they read besides; 0 if they read nothing.
    struct SubsweepAddressRange functions_data;
} SubsweepScanInfo;

/// Options of a sort plan: several of SUBSWEEP_SORT_..._BIT, or 0.
typedef uint32_t SubsweepSortFlags;

/// The values of a sort: one of SUBSWEEP_SORT_VALUES_....
typedef uint32_t SubsweepSortValues;

/// The parameters of subsweep_sort_plan_create and subsweep_segmented_sort_plan_create. With all fields 0 but
/// struct_size: keys of uint32_t, ascending.
///
/// Without SUBSWEEP_SORT_NUMPY_ORDER_BIT floats are ordered by their bits: NaNs of negative sign, minus
/// infinity, ..., -0, +0, ..., infinity, NaNs of positive sign. The sort is stable.
typedef struct SubsweepSortPlanCreateInfo {
    /// sizeof(SubsweepSortPlanCreateInfo).
    uint32_t struct_size;
    /// Options.
    SubsweepSortFlags flags;
    /// The type of a key.
    SubsweepElementType key_type;
    /// Keys alone, pairs, keys with their indices or argsort.
    SubsweepSortValues values;
    /// With SUBSWEEP_SORT_BIT_RANGE_BIT the first bit to sort by; otherwise 0.
    uint32_t begin_bit;
    /// With SUBSWEEP_SORT_BIT_RANGE_BIT one past the last bit; otherwise 0.
    uint32_t end_bit;
    /// The algorithm: one of "onesweep", "radix-8bit", "radix-4bit", "radix-2bit" and "single-workgroup";
    /// null to choose by device. Read only during the call.
    const char *algorithm;
    /// Keys of a row of a table whose rows are sorted, each by itself; otherwise 0. For segmented sorts and
    /// subsweep_gpu_sort alone. Indices are those within a row.
    uint32_t row_length;
    /// Functions whose key_of computes the keys, of key_type, from elements that `keys` has then, and that are not changed; 0
    /// for none. For SUBSWEEP_SORT_VALUES_ARGSORT, or with SUBSWEEP_SORT_OUT_OF_PLACE_BIT SUBSWEEP_SORT_VALUES_INDICES
    /// or values of more than 8 bytes.
    SubsweepFunctions functions;
    /// With SUBSWEEP_SORT_VALUES_PAIRS the size of a value: a multiple of 4 bytes, up to 16384; otherwise 0.
    uint32_t value_size;
} SubsweepSortPlanCreateInfo;

/// The memory and the count of one recording of a sort.
typedef struct SubsweepSortInfo {
    /// sizeof(SubsweepSortInfo).
    uint32_t struct_size;
    /// 0.
    uint32_t flags;
    /// The count of keys.
    struct SubsweepCount count;
    /// The keys; sorted in place unless flags of the plan say otherwise, unchanged by an argsort.
    struct SubsweepAddressRange keys;
    /// The values, moved with their keys, or the indices that are written; 0 for a sort of keys
    /// alone.
    struct SubsweepAddressRange values;
    /// With SUBSWEEP_SORT_DOUBLE_BUFFER_BIT the alternate keys, with SUBSWEEP_SORT_OUT_OF_PLACE_BIT the
    /// output, as large as `keys`, contents undefined; otherwise 0.
    struct SubsweepAddressRange keys_alt;
    /// Likewise for `values`.
    struct SubsweepAddressRange values_alt;
    /// Scratch, as subsweep_plan_scratch_requirements says.
    struct SubsweepBufferRange scratch;
    /// What a function of the caller reads besides, of any size; an empty range for none.
    struct SubsweepAddressRange functions_data;
} SubsweepSortInfo;

/// Options of a difference plan: several of SUBSWEEP_DIFFERENCE_..._BIT, or 0.
typedef uint32_t SubsweepDifferenceFlags;

/// The parameters of subsweep_difference_plan_create.
typedef struct SubsweepDifferencePlanCreateInfo {
    /// sizeof(SubsweepDifferencePlanCreateInfo).
    uint32_t struct_size;
    /// Options.
    SubsweepDifferenceFlags flags;
    /// The type of the numbers.
    SubsweepElementType element_type;
    /// The number of columns, 1 to 65,536: the numbers of a row.
    uint32_t column_count;
} SubsweepDifferencePlanCreateInfo;

/// The memory and the count of one recording of a difference.
typedef struct SubsweepDifferenceInfo {
    /// sizeof(SubsweepDifferenceInfo).
    uint32_t struct_size;
    /// 0.
    uint32_t flags;
    /// The count of rows.
    struct SubsweepCount count;
    /// The rows, of column_count numbers each.
    struct SubsweepAddressRange source;
    /// The differences: a row less than the source; with SUBSWEEP_DIFFERENCE_ALONG_ROWS_BIT a column less; with
    /// SUBSWEEP_DIFFERENCE_KEEPS_FIRST_BIT as many of both.
    struct SubsweepAddressRange destination;
    /// Scratch, as subsweep_plan_scratch_requirements says.
    struct SubsweepBufferRange scratch;
} SubsweepDifferenceInfo;

/// A kernel, compiled with functions of the caller.
typedef struct SubsweepFunctionModule {
    /// The name of the kernel in glsl/kernels.txt.
    const char *kernel;
    /// The module, SPIR-V for Vulkan 1.2.
    const uint32_t *words;
    /// Its size in bytes.
    size_t size;
} SubsweepFunctionModule;

/// The parameters of subsweep_functions_create. tools/custom writes a header with one.
typedef struct SubsweepFunctionsCreateInfo {
    /// sizeof(SubsweepFunctionsCreateInfo).
    uint32_t struct_size;
    /// Words of 32 bits of an element: ELEMENT_WORDS of the functions.
    uint32_t element_words;
    /// A name for errors.
    const char *name;
    /// The modules.
    const struct SubsweepFunctionModule *modules;
    /// Number of modules.
    uint32_t module_count;
    /// Words of `functions_data` that the functions read, at least: a recording with less is refused.
    uint32_t data_words;
    /// Words that transform computes an element from: SOURCE_WORDS of the functions; 0 without it.
    uint32_t source_words;
    /// Words of a result that store makes of an element: RESULT_WORDS of the functions; 0 without it.
    uint32_t result_words;
} SubsweepFunctionsCreateInfo;

/// Options of a gather plan: several of SUBSWEEP_GATHER_..._BIT, or 0.
typedef uint32_t SubsweepGatherFlags;

/// The parameters of subsweep_gather_plan_create.
typedef struct SubsweepGatherPlanCreateInfo {
    /// sizeof(SubsweepGatherPlanCreateInfo).
    uint32_t struct_size;
    /// Options.
    SubsweepGatherFlags flags;
    /// Size of an element in 32-bit words, 1 to 2^28: a number, a row of a table, or any other type whose size
    /// is a multiple of 4 bytes. 0 for elements of element_type.
    uint32_t words_per_element;
    /// The type of the elements, of 8 or 16 bits, if words_per_element is 0.
    SubsweepElementType element_type;
} SubsweepGatherPlanCreateInfo;

/// The memory and the count of one recording of a gather.
typedef struct SubsweepGatherInfo {
    /// sizeof(SubsweepGatherInfo).
    uint32_t struct_size;
    /// 0.
    uint32_t flags;
    /// The count of indices, and of elements gathered.
    struct SubsweepCount count;
    /// The elements to gather from: as many whole ones as the range holds.
    struct SubsweepAddressRange source;
    /// The source index of each destination element, uint32_t.
    struct SubsweepAddressRange indices;
    /// The gathered elements.
    struct SubsweepAddressRange destination;
    /// Scratch, as subsweep_plan_scratch_requirements says.
    struct SubsweepBufferRange scratch;
} SubsweepGatherInfo;

/// Options of a histogram plan: several of SUBSWEEP_HISTOGRAM_..._BIT, or 0.
typedef uint32_t SubsweepHistogramFlags;

/// The parameters of subsweep_histogram_plan_create.
typedef struct SubsweepHistogramPlanCreateInfo {
    /// sizeof(SubsweepHistogramPlanCreateInfo).
    uint32_t struct_size;
    /// Options.
    SubsweepHistogramFlags flags;
    /// The type of the values.
    SubsweepElementType element_type;
    /// The number of bins, 1 to 65,536.
    uint32_t bin_count;
    /// The number of columns, 1 to 65,536: the values of a row. Each column has a histogram of its own. At most
    /// 2^28 columns times bins.
    uint32_t column_count;
    /// Functions whose key_of computes the values, of element_type, from elements that `source` has then, in one column; 0 for
    /// none.
    SubsweepFunctions functions;
} SubsweepHistogramPlanCreateInfo;

/// The memory and the count of one recording of a histogram.
typedef struct SubsweepHistogramInfo {
    /// sizeof(SubsweepHistogramInfo).
    uint32_t struct_size;
    /// 0.
    uint32_t flags;
    /// The count of rows.
    struct SubsweepCount count;
    /// The rows, of column_count values each.
    struct SubsweepAddressRange source;
    /// The edges, bin_count + 1 of the type of the values, of types of 8 and 16 bits uint32_t, int32_t or float:
    /// subsweep_histogram_even_edges.
    struct SubsweepAddressRange edges;
    /// With SUBSWEEP_HISTOGRAM_WEIGHTED_BIT in the plan the weight of each value, uint32_t or int32_t. Otherwise 0.
    struct SubsweepAddressRange weights;
    /// The counts, uint32_t, or sums of weights: all bins of the first column, then the bins of the next.
    struct SubsweepAddressRange counts;
    /// Scratch, as subsweep_plan_scratch_requirements says.
    struct SubsweepBufferRange scratch;
    /// For a plan with functions: what they read besides; 0 if they read nothing.
    struct SubsweepAddressRange functions_data;
} SubsweepHistogramInfo;

/// Options of a merge plan: several of SUBSWEEP_MERGE_..._BIT, or 0.
typedef uint32_t SubsweepMergeFlags;

/// The parameters of subsweep_merge_plan_create.
typedef struct SubsweepMergePlanCreateInfo {
    /// sizeof(SubsweepMergePlanCreateInfo).
    uint32_t struct_size;
    /// Options.
    SubsweepMergeFlags flags;
    /// The type of the keys.
    SubsweepElementType element_type;
    /// Size of the value of a key in 32-bit words, 0 to 4,096; 0 for a merge of keys alone.
    uint32_t words_per_value;
    /// Functions whose less compares elements of their own, in place of keys of element_type, which is not read then; 0 for
    /// none.
    SubsweepFunctions functions;
} SubsweepMergePlanCreateInfo;

/// The memory and the counts of one recording of a merge.
typedef struct SubsweepMergeInfo {
    /// sizeof(SubsweepMergeInfo).
    uint32_t struct_size;
    /// 0.
    uint32_t flags;
    /// The count of keys in `a`.
    struct SubsweepCount a_count;
    /// The count of keys in `b`.
    struct SubsweepCount b_count;
    /// The keys of the first sorted array.
    struct SubsweepAddressRange a;
    /// The keys of the second sorted array.
    struct SubsweepAddressRange b;
    /// The keys of both, sorted.
    struct SubsweepAddressRange destination;
    /// The values of `a`; 0 for a merge of keys alone.
    struct SubsweepAddressRange a_values;
    /// Likewise of `b`.
    struct SubsweepAddressRange b_values;
    /// The values of both, in the order of their keys; 0 for a merge of keys alone.
    struct SubsweepAddressRange destination_values;
    /// Scratch, as subsweep_plan_scratch_requirements says.
    struct SubsweepBufferRange scratch;
    /// What a function of the caller reads besides, of any size; an empty range for none.
    struct SubsweepAddressRange functions_data;
} SubsweepMergeInfo;

/// The scratch requirements of a recording.
typedef struct SubsweepScratchRequirements {
    /// Bytes; 0 if none is needed.
    VkDeviceSize size;
    /// Alignment of the range's address, in bytes.
    VkDeviceSize alignment;
    /// Usage flags that the buffer must be created with.
    VkBufferUsageFlags usage;
} SubsweepScratchRequirements;

/// Pipeline stages with their accesses: one scope of the caller's barrier. The bits have the same meaning in
/// VkPipelineStageFlags2 and VkAccessFlags2.
typedef struct SubsweepAccess {
    /// The pipeline stages.
    VkPipelineStageFlags stages;
    /// The accesses of these stages.
    VkAccessFlags access;
} SubsweepAccess;

/// Options of a reduce plan: several of SUBSWEEP_REDUCE_..._BIT, or 0.
typedef uint32_t SubsweepReduceFlags;

/// What has a result each: one of SUBSWEEP_REDUCE_RUNS_....
typedef uint32_t SubsweepReduceRuns;

/// The parameters of subsweep_reduce_plan_create.
typedef struct SubsweepReducePlanCreateInfo {
    /// sizeof(SubsweepReducePlanCreateInfo).
    uint32_t struct_size;
    /// Options.
    SubsweepReduceFlags flags;
    /// The type of the elements.
    SubsweepElementType element_type;
    /// The operator that combines them.
    SubsweepScanOperator scan_operator;
    /// Elements in a row, 1 to 64, or 0 for 1. Each column is reduced by itself.
    uint32_t column_count;
    /// What has a result each.
    SubsweepReduceRuns runs;
    /// Elements of a row of a table that is reduced along its rows, each of which has a result; 0 to reduce columns. The
    /// count of a recording is then the number of all elements. With a column_count of 1, and without runs.
    uint32_t row_length;
    /// Functions whose identity and combine reduce elements of their own, in place of element_type and scan_operator; 0 for
    /// none.
    SubsweepFunctions functions;
} SubsweepReducePlanCreateInfo;

/// The memory and the count of one recording of a reduction.
typedef struct SubsweepReduceInfo {
    /// sizeof(SubsweepReduceInfo).
    uint32_t struct_size;
    /// 0.
    uint32_t flags;
    /// The count of rows; with row_length in the plan the count of all elements.
    struct SubsweepCount count;
    /// The rows to reduce.
    struct SubsweepAddressRange source;
    /// The results: a row, or an index for each column, of which there is one for all rows, for each segment, or for
    /// each run of keys; room for as many runs as rows. Along rows one for each row of the table, the last of which may
    /// be short: the count divided by row_length, rounded up.
    struct SubsweepAddressRange destination;
    /// Scratch, as subsweep_plan_scratch_requirements says.
    struct SubsweepBufferRange scratch;
    /// For a plan with runs: offsets, as many as size / 4, or keys, which may be more than the rows need. Otherwise 0.
    struct SubsweepAddressRange segments;
    /// For a plan with SUBSWEEP_REDUCE_RUNS_RANGES: the end of each segment. Otherwise 0.
    struct SubsweepAddressRange segment_ends;
    /// For a plan with keys: the key of each run; room for as many as rows. Otherwise 0.
    struct SubsweepAddressRange unique_keys;
    /// For a plan with keys: the number of runs, uint32_t. Otherwise 0.
    struct SubsweepAddressRange run_count;
    /// For a plan with functions: what they read besides; 0 if they read nothing.
    struct SubsweepAddressRange functions_data;
} SubsweepReduceInfo;

/// Options of a run-length plan: several of SUBSWEEP_RUN_LENGTH_..._BIT, or 0.
typedef uint32_t SubsweepRunLengthFlags;

/// What a run-length plan computes: one of SUBSWEEP_RUN_LENGTH_....
typedef uint32_t SubsweepRunLengthCoding;

/// The parameters of subsweep_run_length_plan_create.
typedef struct SubsweepRunLengthPlanCreateInfo {
    /// sizeof(SubsweepRunLengthPlanCreateInfo).
    uint32_t struct_size;
    /// Options.
    SubsweepRunLengthFlags flags;
    /// What is computed.
    SubsweepRunLengthCoding coding;
    /// The type of the elements. Without values ignored to decode.
    SubsweepElementType element_type;
} SubsweepRunLengthPlanCreateInfo;

/// The memory and the count of one recording of an encoding or a decoding.
typedef struct SubsweepRunLengthInfo {
    /// sizeof(SubsweepRunLengthInfo).
    uint32_t struct_size;
    /// 0.
    uint32_t flags;
    /// The count of elements; to decode, of runs.
    struct SubsweepCount count;
    /// The elements; to decode, room for as many as shall be written.
    struct SubsweepAddressRange elements;
    /// The value of each run; to encode, room for one for each element.
    struct SubsweepAddressRange values;
    /// The number of elements of each run, uint32_t, or with SUBSWEEP_RUN_LENGTH_LARGE_COUNTS_BIT uint64_t; likewise.
    struct SubsweepAddressRange counts;
    /// Room for an offset for each element, of the same type, where offsets are written.
    struct SubsweepAddressRange offsets;
    /// The number of runs that are written, of the same type; to decode, of all elements, uint32_t.
    struct SubsweepAddressRange result_count;
    /// Scratch, as subsweep_plan_scratch_requirements says.
    struct SubsweepBufferRange scratch;
} SubsweepRunLengthInfo;

/// Options of a search plan: several of SUBSWEEP_SEARCH_..._BIT, or 0.
typedef uint32_t SubsweepSearchFlags;

/// The parameters of subsweep_search_plan_create.
typedef struct SubsweepSearchPlanCreateInfo {
    /// sizeof(SubsweepSearchPlanCreateInfo).
    uint32_t struct_size;
    /// Options.
    SubsweepSearchFlags flags;
    /// The type of the keys and needles.
    SubsweepElementType element_type;
    /// With needle_length: keys of a row of a table, in each of which the needles of the row of the same index are
    /// searched for; positions are those in the row. 0 to search for all needles in all keys.
    uint32_t sorted_length;
    /// Needles of a row; 0 without rows.
    uint32_t needle_length;
    /// Functions whose less compares elements of their own, in place of keys of element_type, which is not read then; 0 for
    /// none.
    SubsweepFunctions functions;
} SubsweepSearchPlanCreateInfo;

/// The memory and the counts of one recording of a search.
typedef struct SubsweepSearchInfo {
    /// sizeof(SubsweepSearchInfo).
    uint32_t struct_size;
    /// 0.
    uint32_t flags;
    /// The count of sorted keys.
    struct SubsweepCount sorted_count;
    /// The count of needles.
    struct SubsweepCount needle_count;
    /// The sorted keys.
    struct SubsweepAddressRange sorted;
    /// The keys to search for, in any order.
    struct SubsweepAddressRange needles;
    /// The position of each needle, uint32_t; with SUBSWEEP_SEARCH_LARGE_COUNTS_BIT uint64_t.
    struct SubsweepAddressRange positions;
    /// Scratch, as subsweep_plan_scratch_requirements says.
    struct SubsweepBufferRange scratch;
    /// What a function of the caller reads besides, of any size; an empty range for none.
    struct SubsweepAddressRange functions_data;
} SubsweepSearchInfo;

/// The memory and the counts of one recording of a segmented sort.
typedef struct SubsweepSegmentedSortInfo {
    /// sizeof(SubsweepSegmentedSortInfo).
    uint32_t struct_size;
    /// 0.
    uint32_t flags;
    /// The count of keys.
    struct SubsweepCount count;
    /// The count of segments; with row_length in the plan the count of rows, of which as many are sorted as `count` keys fill.
    struct SubsweepCount segment_count;
    /// The keys; sorted in place unless flags of the plan say otherwise, unchanged by an argsort.
    struct SubsweepAddressRange keys;
    /// The values, moved with their keys, or the indices that are written; 0 for a sort of keys alone.
    struct SubsweepAddressRange values;
    /// With SUBSWEEP_SORT_DOUBLE_BUFFER_BIT the alternate keys, with SUBSWEEP_SORT_OUT_OF_PLACE_BIT the
    /// output, as large as `keys`; otherwise 0.
    struct SubsweepAddressRange keys_alt;
    /// Likewise for `values`.
    struct SubsweepAddressRange values_alt;
    /// Segment offsets: the first key of each segment, uint32_t, in ascending order. A segment ends where the
    /// next begins, and the last with the keys; of two equal offsets the first segment is empty. Keys before
    /// the first offset belong to no segment. 0 with row_length in the plan.
    struct SubsweepAddressRange segments;
    /// Scratch, as subsweep_plan_scratch_requirements says.
    struct SubsweepBufferRange scratch;
    /// With SUBSWEEP_SORT_RANGES_BIT in the plan: the index after the last key of each segment, uint32_t; otherwise 0.
    struct SubsweepAddressRange segment_ends;
} SubsweepSegmentedSortInfo;

/// Options of a selection plan: several of SUBSWEEP_SELECT_..._BIT, or 0.
typedef uint32_t SubsweepSelectFlags;

/// The predicate of a selection: one of SUBSWEEP_SELECT_BY_....
typedef uint32_t SubsweepSelectBy;

/// A comparison of an element x with one operand, or the two of a range: one of SUBSWEEP_COMPARISON_.... Floats
/// compare as in C: -0 equals +0, and a NaN satisfies SUBSWEEP_COMPARISON_NOT_EQUAL alone.
typedef uint32_t SubsweepComparison;

/// The parameters of subsweep_select_plan_create.
typedef struct SubsweepSelectPlanCreateInfo {
    /// sizeof(SubsweepSelectPlanCreateInfo).
    uint32_t struct_size;
    /// Options.
    SubsweepSelectFlags flags;
    /// The predicate.
    SubsweepSelectBy by;
    /// The type of an element, of comparisons and SUBSWEEP_SELECT_BY_UNIQUE.
    SubsweepElementType element_type;
    /// Size of an element in 32-bit words, 1 to 2^28, of flags; 0 for elements of element_type, of
    /// 8 or 16 bits, and of functions, which have their own.
    uint32_t words_per_element;
    /// Size of a value that moves with each element in 32-bit words, up to 2^28; 0 without values.
    uint32_t words_per_value;
    /// Parts of the result: 0 or 1 for a selection; 2 for a partition, in which the elements that are not selected
    /// follow the others; 3, of comparisons, for a partition in three.
    uint32_t part_count;
    /// The comparison of SUBSWEEP_SELECT_BY_COMPARISON.
    SubsweepComparison comparison;
    /// Of 3 parts, the comparison of the elements that the first one rejects: those that satisfy it are the second
    /// part.
    SubsweepComparison second_comparison;
    /// Of SUBSWEEP_SELECT_BY_FUNCTION the functions; otherwise 0.
    SubsweepFunctions functions;
} SubsweepSelectPlanCreateInfo;

/// The memory and the count of one recording of a selection.
typedef struct SubsweepSelectInfo {
    /// sizeof(SubsweepSelectInfo).
    uint32_t struct_size;
    /// Number of `operands`.
    uint32_t operand_count;
    /// The count of elements.
    struct SubsweepCount count;
    /// The elements.
    struct SubsweepAddressRange source;
    /// Flags, rounded up to a multiple of 4 bytes.
    struct SubsweepAddressRange element_flags;
    /// The values.
    struct SubsweepAddressRange values;
    /// Room for all elements.
    struct SubsweepAddressRange destination;
    /// Room for all values.
    struct SubsweepAddressRange destination_values;
    /// Room for an index of each element, uint32_t; with SUBSWEEP_SELECT_LARGE_COUNTS_BIT uint64_t.
    struct SubsweepAddressRange destination_indices;
    /// The number of selected elements, uint32_t; of 3 parts the sizes of the first two. With
    /// SUBSWEEP_SELECT_LARGE_COUNTS_BIT uint64_t.
    struct SubsweepAddressRange result_counts;
    /// Operands of the comparisons in device memory, of the element type, the first one's before the second one's; an
    /// empty range if they are in `operands`.
    struct SubsweepAddressRange device_operands;
    /// The bits of the operands, in the low bits of each: one of each comparison, two of a range.
    uint64_t operands[4];
    /// Scratch, as subsweep_plan_scratch_requirements says.
    struct SubsweepBufferRange scratch;
    /// What a function of the caller reads besides, of any size; an empty range for none.
    struct SubsweepAddressRange functions_data;
} SubsweepSelectInfo;

/// Options of a structure sort plan: several of SUBSWEEP_STRUCTURE_SORT_..._BIT, or 0.
typedef uint32_t SubsweepStructureSortFlags;

/// Options of a field: several of SUBSWEEP_FIELD_..._BIT, or 0.
typedef uint32_t SubsweepFieldFlags;

/// A field of a structure, by which it is sorted.
typedef struct SubsweepField {
    /// Its type.
    SubsweepElementType element_type;
    /// Its offset in a structure in bytes: a multiple of its size, and for 64 bits of 4.
    uint32_t offset;
    /// Options.
    SubsweepFieldFlags flags;
} SubsweepField;

/// The parameters of subsweep_structure_sort_plan_create.
typedef struct SubsweepStructureSortPlanCreateInfo {
    /// sizeof(SubsweepStructureSortPlanCreateInfo).
    uint32_t struct_size;
    /// Options.
    SubsweepStructureSortFlags flags;
    /// Size of a structure in bytes: a multiple of 4, up to 2^20. 0 with functions.
    uint32_t structure_size;
    /// The number of fields in the key, 1 to SUBSWEEP_MAX_FIELDS. 0 with functions.
    uint32_t field_count;
    /// The key: fields of up to 16 bytes together, the most significant first. Those after field_count are not read.
    struct SubsweepField fields[SUBSWEEP_MAX_FIELDS];
    /// Functions whose less compares structures, which are their elements; structure_size and field_count are 0 then. 0 for a
    /// sort by fields.
    SubsweepFunctions functions;
} SubsweepStructureSortPlanCreateInfo;

/// The memory and the count of one recording of a structure sort.
typedef struct SubsweepStructureSortInfo {
    /// sizeof(SubsweepStructureSortInfo).
    uint32_t struct_size;
    /// 0.
    uint32_t flags;
    /// The count of structures.
    struct SubsweepCount count;
    /// The structures; sorted in place unless flags of the plan say otherwise.
    struct SubsweepAddressRange structures;
    /// With SUBSWEEP_STRUCTURE_SORT_OUT_OF_PLACE_BIT the sorted structures; otherwise 0.
    struct SubsweepAddressRange sorted;
    /// With SUBSWEEP_STRUCTURE_SORT_ARGSORT_BIT the permutation, uint32_t; otherwise 0.
    struct SubsweepAddressRange indices;
    /// Scratch, as subsweep_plan_scratch_requirements says.
    struct SubsweepBufferRange scratch;
    /// What a function of the caller reads besides, of any size; an empty range for none.
    struct SubsweepAddressRange functions_data;
} SubsweepStructureSortInfo;

/// Options of a top-k plan: several of SUBSWEEP_TOP_K_..._BIT, or 0.
typedef uint32_t SubsweepTopKFlags;

/// The parameters of subsweep_top_k_plan_create.
typedef struct SubsweepTopKPlanCreateInfo {
    /// sizeof(SubsweepTopKPlanCreateInfo).
    uint32_t struct_size;
    /// Options.
    SubsweepTopKFlags flags;
    /// The type of the keys.
    SubsweepElementType element_type;
    /// The number of keys of a row, 1 to 2^28.
    uint32_t column_count;
    /// The number of keys to select of a row, 1 to column_count.
    uint32_t k;
    /// Size of the value of a key in 32-bit words, 0 to 4,096; 0 without values.
    uint32_t words_per_value;
    /// Functions whose key_of computes the keys, of element_type, from elements that `source` has then; 0 for none.
    SubsweepFunctions functions;
} SubsweepTopKPlanCreateInfo;

/// The memory and the count of one recording of a top-k.
typedef struct SubsweepTopKInfo {
    /// sizeof(SubsweepTopKInfo).
    uint32_t struct_size;
    /// 0.
    uint32_t flags;
    /// The count of rows.
    struct SubsweepCount count;
    /// The rows, of column_count keys each, or elements with functions in the plan.
    struct SubsweepAddressRange source;
    /// The selected keys, k for each row; ignored with SUBSWEEP_TOP_K_NO_KEYS_BIT.
    struct SubsweepAddressRange destination;
    /// Their indices in the row, uint32_t; ignored with SUBSWEEP_TOP_K_NO_INDICES_BIT.
    struct SubsweepAddressRange destination_indices;
    /// words_per_value words for each key of each row; ignored if words_per_value is 0.
    struct SubsweepAddressRange source_values;
    /// words_per_value words for each selected key, k for each row; ignored if words_per_value is 0.
    struct SubsweepAddressRange destination_values;
    /// Scratch, as subsweep_plan_scratch_requirements says.
    struct SubsweepBufferRange scratch;
    /// With SUBSWEEP_TOP_K_SEGMENTS_BIT the index of the first key of each row, uint32_t, in ascending order; otherwise
    /// ignored. A row ends where the next begins, and the last with `source`, which then has any size but 0.
    struct SubsweepAddressRange segments;
    /// With SUBSWEEP_TOP_K_OWN_K_BIT the k of each row, uint32_t; otherwise ignored.
    struct SubsweepAddressRange ks;
    /// For a plan with functions: what they read besides; 0 if they read nothing.
    struct SubsweepAddressRange functions_data;
} SubsweepTopKInfo;

/// Unsigned, 32 bits.
#define SUBSWEEP_ELEMENT_TYPE_U32 0

/// Signed, 32 bits.
#define SUBSWEEP_ELEMENT_TYPE_I32 1

/// IEEE 754, 32 bits.
#define SUBSWEEP_ELEMENT_TYPE_F32 2

/// Unsigned, 64 bits.
#define SUBSWEEP_ELEMENT_TYPE_U64 3

/// Signed, 64 bits.
#define SUBSWEEP_ELEMENT_TYPE_I64 4

/// IEEE 754, 64 bits.
#define SUBSWEEP_ELEMENT_TYPE_F64 5

/// Unsigned, 8 bits.
#define SUBSWEEP_ELEMENT_TYPE_U8 6

/// Signed, 8 bits.
#define SUBSWEEP_ELEMENT_TYPE_I8 7

/// Unsigned, 16 bits.
#define SUBSWEEP_ELEMENT_TYPE_U16 8

/// Signed, 16 bits.
#define SUBSWEEP_ELEMENT_TYPE_I16 9

/// IEEE 754, 16 bits.
#define SUBSWEEP_ELEMENT_TYPE_F16 10

/// The high half of an F32, 16 bits.
#define SUBSWEEP_ELEMENT_TYPE_BF16 11

/// The feature bufferDeviceAddress. Required.
#define SUBSWEEP_FEATURE_BUFFER_DEVICE_ADDRESS_BIT 1

/// VK_EXT_subgroup_size_control with its feature subgroupSizeControl.
#define SUBSWEEP_FEATURE_SUBGROUP_SIZE_CONTROL_BIT 2

/// computeFullSubgroups of the same extension: pipelines require full subgroups. Without it Vulkan does not
/// guarantee that a driver fills each subgroup before the next, which the kernels rely on; every known driver
/// does.
#define SUBSWEEP_FEATURE_COMPUTE_FULL_SUBGROUPS_BIT 4

/// The core feature shaderFloat64: for sums and products of SUBSWEEP_ELEMENT_TYPE_F64.
#define SUBSWEEP_FEATURE_SHADER_FLOAT64_BIT 8

/// Not a device feature: the instance was created with VK_EXT_debug_utils. Recordings are then labelled and
/// pipelines named. subsweep_requirements_query cannot detect this; the program adds the flag.
#define SUBSWEEP_FEATURE_DEBUG_UTILS_BIT 16

/// The feature storageBuffer8BitAccess of Vulkan 1.2: sorts, merges, searches, selections, top-k and single-pass encodings
/// take elements of 8 bits as they are, without words of 32 bits in scratch.
#define SUBSWEEP_FEATURE_STORAGE_BUFFER_8BIT_ACCESS_BIT 32

/// storageBuffer16BitAccess of Vulkan 1.1: likewise of 16 bits.
#define SUBSWEEP_FEATURE_STORAGE_BUFFER_16BIT_ACCESS_BIT 64

/// Each result includes its own element.
#define SUBSWEEP_SCAN_KIND_INCLUSIVE 0

/// No result includes its own element: the first is the operator's identity, or the initial value.
#define SUBSWEEP_SCAN_KIND_EXCLUSIVE 1

/// From the first row to the last.
#define SUBSWEEP_SCAN_DIRECTION_FORWARD 0

/// From the last row to the first: the scan of the reversed rows, reversed.
#define SUBSWEEP_SCAN_DIRECTION_REVERSE 1

/// The sum; of integers modulo 2^8 to 2^64, as many bits as they have; of 8 and 16 bits modulo 2^32 with
/// SUBSWEEP_SCAN_UNPACKED_RESULTS_BIT or SUBSWEEP_REDUCE_UNPACKED_RESULTS_BIT. Identity 0. Sums of non-negative floats may
/// decrease, unless SUBSWEEP_SCAN_MONOTONE_BIT is set.
#define SUBSWEEP_SCAN_OPERATOR_ADD 0

/// The product; of integers modulo likewise. Identity 1.
#define SUBSWEEP_SCAN_OPERATOR_MUL 1

/// The minimum; a NaN if there is one. Identity: the greatest number, infinity for floats.
#define SUBSWEEP_SCAN_OPERATOR_MIN 2

/// The maximum; a NaN if there is one. Identity: the least number, minus infinity for floats.
#define SUBSWEEP_SCAN_OPERATOR_MAX 3

/// Bitwise and. Identity: all bits. Integers only.
#define SUBSWEEP_SCAN_OPERATOR_AND 4

/// Bitwise or. Identity 0. Integers only.
#define SUBSWEEP_SCAN_OPERATOR_OR 5

/// Bitwise exclusive or. Identity 0. Integers only.
#define SUBSWEEP_SCAN_OPERATOR_XOR 6

/// No segments: all rows are one.
#define SUBSWEEP_SEGMENTS_BY_NONE 0

/// Head flags: a uint32_t for each row, nonzero where a segment begins.
#define SUBSWEEP_SEGMENTS_BY_FLAGS 1

/// A key of 32 bits for each row: a segment is a run of bitwise equal keys.
#define SUBSWEEP_SEGMENTS_BY_KEYS32 2

/// A key of 64 bits for each row.
#define SUBSWEEP_SEGMENTS_BY_KEYS64 3

/// Segment offsets: the first row of each segment, as uint32_t, in any order, as many as the range holds.
/// Duplicates count once; offsets beyond the last row are ignored.
#define SUBSWEEP_SEGMENTS_BY_OFFSETS 4

/// Every recording has an initial value: the carry-in of the first row, or of the first row of each segment.
#define SUBSWEEP_SCAN_INITIAL_VALUE_BIT 1

/// Recordings may have an indirect count, read from device memory.
#define SUBSWEEP_SCAN_INDIRECT_COUNT_BIT 2

/// A promise that source and destination never overlap, which permits the single-pass algorithm. Recordings in
/// place are then refused.
#define SUBSWEEP_SCAN_OUT_OF_PLACE_BIT 4

/// Keeps sums of non-negative floats from decreasing, by a second scan for the running maxima of the results. Without
/// it, rounding may make a result less than the one before it. For sums of floats alone.
#define SUBSWEEP_SCAN_MONOTONE_BIT 8

/// Of elements of 8 and 16 bits: results of 32, uint32_t, int32_t or float, as they are accumulated, out of place.
#define SUBSWEEP_SCAN_UNPACKED_RESULTS_BIT 16

/// Keys alone.
#define SUBSWEEP_SORT_VALUES_NONE 0

/// Pairs with a value of 4 bytes, in a separate range.
#define SUBSWEEP_SORT_VALUES_4_BYTES 1

/// Pairs with a value of 8 bytes, in a separate range.
#define SUBSWEEP_SORT_VALUES_8_BYTES 2

/// Argsort: keys are unchanged, and the values receive the permutation that sorts them, as uint32_t: the
/// first is the index of the least key.
#define SUBSWEEP_SORT_VALUES_ARGSORT 3

/// Keys are sorted, and the values receive the index that each had, as uint32_t: pairs whose values begin as
/// 0, 1, 2, ... and are not read. Out of place, `values` may be 0.
#define SUBSWEEP_SORT_VALUES_INDICES 4

/// Pairs with a value of `value_size` bytes, in a separate range: of more than 8 it moves once, after the passes.
#define SUBSWEEP_SORT_VALUES_PAIRS 5

/// Descending order; still stable.
#define SUBSWEEP_SORT_DESCENDING_BIT 1

/// Sort by the bits [begin_bit, end_bit) only, bit 0 being the lowest, of the key's order-preserving unsigned
/// image: unsigned keys themselves, signed keys with the sign bit flipped, floats with all bits flipped if
/// negative and the sign bit flipped otherwise. Fewer bits take fewer passes. Without this flag all bits are
/// sorted by.
#define SUBSWEEP_SORT_BIT_RANGE_BIT 2

/// Recordings may have an indirect count, read from device memory.
#define SUBSWEEP_SORT_INDIRECT_COUNT_BIT 4

/// Sorts between two buffers of the caller, `keys` and `keys_alt`, and likewise the values: the result is in
/// the one that the last pass writes, see subsweep_sort_plan_is_result_in_alt. Saves the copy after an odd
/// number of passes, and the alternate buffers in scratch; every pass runs, even one in whose digit all keys
/// agree. Not supported with SUBSWEEP_SORT_VALUES_ARGSORT. The result of a segmented sort is in `keys`. Values of
/// more than 8 bytes take two arrays of indices in scratch.
#define SUBSWEEP_SORT_DOUBLE_BUFFER_BIT 8

/// Recordings may have 2^32 keys and more, with 64-bit offsets: a few more instructions for each key.
/// Requires "onesweep", which is then chosen. Indirect counts are uint32_t nevertheless. Not supported with
/// SUBSWEEP_SORT_VALUES_ARGSORT or _INDICES, or values of more than 8 bytes, whose indices are uint32_t, nor
/// for segmented sorts, whose offsets are uint32_t.
#define SUBSWEEP_SORT_LARGE_COUNTS_BIT 16

/// Sorts from `keys` and `values` to `keys_alt` and `values_alt`; the input is unchanged. Every pass runs,
/// and scratch has an array of keys, and of values, for more than one pass. Not supported with
/// SUBSWEEP_SORT_VALUES_ARGSORT or SUBSWEEP_SORT_DOUBLE_BUFFER_BIT.
#define SUBSWEEP_SORT_OUT_OF_PLACE_BIT 32

/// With SUBSWEEP_SORT_OUT_OF_PLACE_BIT: the contents of the input become undefined, which saves the arrays in
/// scratch. An even number of passes takes a copy, or in a segmented sort another pass.
#define SUBSWEEP_SORT_DESTROYS_INPUT_BIT 64

/// Only the values matter: the last pass does not write the keys, and where the result would have them, the
/// contents are undefined. For pairs and SUBSWEEP_SORT_VALUES_INDICES.
#define SUBSWEEP_SORT_DISCARDS_KEYS_BIT 128

/// Floats in the order of numpy: -0 equals +0, and every NaN is the same number, greater than all others. Equal
/// keys keep their bits and their order.
#define SUBSWEEP_SORT_NUMPY_ORDER_BIT 256

/// Of a segmented sort: segments end where segment_ends says, not where the next begins. They may be in any order and leave out keys,
/// and do not overlap; one that ends before it begins is empty.
#define SUBSWEEP_SORT_RANGES_BIT 512

/// Recordings may have an indirect count, read from device memory.
#define SUBSWEEP_DIFFERENCE_INDIRECT_COUNT_BIT 1

/// Each column less the one before it, in each row; otherwise each row less the one before it.
#define SUBSWEEP_DIFFERENCE_ALONG_ROWS_BIT 2

/// The result begins with the first row, or column, itself, and is as large as the source.
#define SUBSWEEP_DIFFERENCE_KEEPS_FIRST_BIT 4

/// Recordings may have an indirect count, read from device memory.
#define SUBSWEEP_GATHER_INDIRECT_COUNT_BIT 1

/// Recordings may have an indirect count, read from device memory.
#define SUBSWEEP_HISTOGRAM_INDIRECT_COUNT_BIT 1

/// Bins are of equal widths: faster. Other edges are right as well, and slower.
#define SUBSWEEP_HISTOGRAM_EVEN_BIT 2

/// A count is the sum of the weights of its bin, modulo 2^32.
#define SUBSWEEP_HISTOGRAM_WEIGHTED_BIT 4

/// Recordings may have indirect counts, read from device memory: of `a`, of `b` or of both.
#define SUBSWEEP_MERGE_INDIRECT_COUNT_BIT 1

/// The arrays are sorted from the greatest key to the least, and so is the result.
#define SUBSWEEP_MERGE_DESCENDING_BIT 2

/// The arrays are sorted with SUBSWEEP_SORT_NUMPY_ORDER_BIT.
#define SUBSWEEP_MERGE_NUMPY_ORDER_BIT 4

/// Takes 2^32 keys and more.
#define SUBSWEEP_MERGE_LARGE_COUNTS_BIT 8

/// Recordings may have an indirect count, read from device memory.
#define SUBSWEEP_REDUCE_INDIRECT_COUNT_BIT 1

/// The result is the row of the minimum or maximum, uint32_t, for SUBSWEEP_SCAN_OPERATOR_MIN or
/// SUBSWEEP_SCAN_OPERATOR_MAX: of the first of equals, or of the first NaN.
#define SUBSWEEP_REDUCE_INDEX_BIT 2

/// Of elements of 8 and 16 bits: results of 32, uint32_t, int32_t or float, as they are accumulated.
#define SUBSWEEP_REDUCE_UNPACKED_RESULTS_BIT 4

/// Results are the indices of minima, all that SUBSWEEP_REDUCE_INDEX_BIT gives for SUBSWEEP_SCAN_OPERATOR_MIN, followed by as
/// many of maxima: twice the memory, and one read of the elements. scan_operator has no effect.
#define SUBSWEEP_REDUCE_BOTH_INDICES_BIT 8

/// All rows.
#define SUBSWEEP_REDUCE_RUNS_NONE 0

/// Segments by offsets: the first row of each, uint32_t, ascending. A segment ends where the next begins, and
/// the last with the rows.
#define SUBSWEEP_REDUCE_RUNS_OFFSETS 1

/// Runs of bitwise equal 32-bit keys, one for each row.
#define SUBSWEEP_REDUCE_RUNS_KEYS32 2

/// Runs of bitwise equal 64-bit keys, one for each row.
#define SUBSWEEP_REDUCE_RUNS_KEYS64 3

/// Runs of equal keys of float, one for each row: -0 equals +0, and all NaNs are equal. The key of a run is its first.
#define SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS32 4

/// Runs of equal keys of double, one for each row, as SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS32.
#define SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS64 5

/// Runs of bitwise equal 8-bit keys, one per row.
#define SUBSWEEP_REDUCE_RUNS_KEYS8 6

/// Runs of bitwise equal 16-bit keys, one per row.
#define SUBSWEEP_REDUCE_RUNS_KEYS16 7

/// Runs of keys of SUBSWEEP_ELEMENT_TYPE_F16, as SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS32.
#define SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS16 8

/// Runs of keys of SUBSWEEP_ELEMENT_TYPE_BF16, as SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS32.
#define SUBSWEEP_REDUCE_RUNS_BRAIN_KEYS16 9

/// Segments by ranges: the first row of each in segments, and the row after its last in segment_ends, uint32_t. They may
/// overlap, leave out rows, and be in any order; one that ends before it begins is empty.
#define SUBSWEEP_REDUCE_RUNS_RANGES 10

/// The value and the number of elements of each run of equal elements.
#define SUBSWEEP_RUN_LENGTH_ENCODE 0

/// The value, the number of elements and the offset of each run of more than one element.
#define SUBSWEEP_RUN_LENGTH_ENCODE_NON_TRIVIAL 1

/// The elements of runs.
#define SUBSWEEP_RUN_LENGTH_DECODE 2

/// Recordings may have an indirect count, read from device memory.
#define SUBSWEEP_RUN_LENGTH_INDIRECT_COUNT_BIT 1

/// The index of the first element of each run is written as well, as uint32_t. Not to decode.
#define SUBSWEEP_RUN_LENGTH_OFFSETS_BIT 2

/// Values are not written; to decode, the index of its run is written in place of each value, as uint32_t.
#define SUBSWEEP_RUN_LENGTH_WITHOUT_VALUES_BIT 4

/// To encode: floats are equal if their bits are. Without this flag -0 equals +0, and every NaN is the same number.
#define SUBSWEEP_RUN_LENGTH_TOTAL_ORDER_BIT 8

/// To encode all runs, without values of 8 and 16 bits: counts of 2^32 and more are supported; counts, offsets and the
/// number of runs are uint64_t.
#define SUBSWEEP_RUN_LENGTH_LARGE_COUNTS_BIT 16

/// Recordings may have indirect counts, read from device memory: of sorted keys, of needles or of both.
#define SUBSWEEP_SEARCH_INDIRECT_COUNT_BIT 1

/// Positions are upper bounds: the number of keys that are not greater than the needle. Otherwise they are lower
/// bounds: the number of keys that are less.
#define SUBSWEEP_SEARCH_UPPER_BOUND_BIT 2

/// Floats in the order of their bits, as of a sort; without this flag as with SUBSWEEP_SORT_NUMPY_ORDER_BIT.
#define SUBSWEEP_SEARCH_TOTAL_ORDER_BIT 4

/// Takes 2^32 sorted keys and more: positions are uint64_t. Not along rows.
#define SUBSWEEP_SEARCH_LARGE_COUNTS_BIT 8

/// A flag of 8 bits for each element, which is selected if it is not 0.
#define SUBSWEEP_SELECT_BY_FLAGS8 0

/// A flag of 32 bits for each element, likewise.
#define SUBSWEEP_SELECT_BY_FLAGS32 1

/// A comparison of each element.
#define SUBSWEEP_SELECT_BY_COMPARISON 2

/// The first of each run of equal elements.
#define SUBSWEEP_SELECT_BY_UNIQUE 3

/// The function keep of `functions`, which also define the element of the selection.
#define SUBSWEEP_SELECT_BY_FUNCTION 4

/// x < operand.
#define SUBSWEEP_COMPARISON_LESS 0

/// x <= operand.
#define SUBSWEEP_COMPARISON_LESS_EQUAL 1

/// x == operand.
#define SUBSWEEP_COMPARISON_EQUAL 2

/// x != operand.
#define SUBSWEEP_COMPARISON_NOT_EQUAL 3

/// x >= operand.
#define SUBSWEEP_COMPARISON_GREATER_EQUAL 4

/// x > operand.
#define SUBSWEEP_COMPARISON_GREATER 5

/// first operand <= x < second operand.
#define SUBSWEEP_COMPARISON_RANGE 6

/// Recordings may have an indirect count, read from device memory.
#define SUBSWEEP_SELECT_INDIRECT_COUNT_BIT 1

/// The indices of the elements are written as well, as uint32_t.
#define SUBSWEEP_SELECT_INDICES_BIT 2

/// Elements are not written, only values or indices.
#define SUBSWEEP_SELECT_WITHOUT_ELEMENTS_BIT 4

/// For SUBSWEEP_SELECT_BY_UNIQUE: floats are equal if their bits are. Without this flag -0 equals +0, and every NaN
/// is the same number.
#define SUBSWEEP_SELECT_TOTAL_ORDER_BIT 8

/// Counts of 2^32 and more are supported; indices and the counts of the result are uint64_t. Elements are read twice.
/// Elements and values have at most 2 words; elements of 8 and 16 bits are written by partitions alone. Not for
/// functions.
#define SUBSWEEP_SELECT_LARGE_COUNTS_BIT 16

/// Descending order of the field.
#define SUBSWEEP_FIELD_DESCENDING_BIT 1

/// The field is a float in the order of numpy, as with SUBSWEEP_SORT_NUMPY_ORDER_BIT.
#define SUBSWEEP_FIELD_NUMPY_ORDER_BIT 2

/// Recordings may have an indirect count, read from device memory.
#define SUBSWEEP_STRUCTURE_SORT_INDIRECT_COUNT_BIT 1

/// Sorts from `structures` to `sorted`; the input is unchanged. Saves a copy, and an array of the structures in
/// scratch.
#define SUBSWEEP_STRUCTURE_SORT_OUT_OF_PLACE_BIT 2

/// Writes the permutation that sorts the structures, as uint32_t, and leaves them unchanged. Not with
/// SUBSWEEP_STRUCTURE_SORT_OUT_OF_PLACE_BIT.
#define SUBSWEEP_STRUCTURE_SORT_ARGSORT_BIT 4

/// Recordings may have an indirect count, read from device memory.
#define SUBSWEEP_TOP_K_INDIRECT_COUNT_BIT 1

/// The smallest keys, the smallest first; without it the largest.
#define SUBSWEEP_TOP_K_SMALLEST_BIT 2

/// The selected keys of a row keep their order, which saves a sort.
#define SUBSWEEP_TOP_K_UNSORTED_BIT 4

/// Writes no keys, only indices and values.
#define SUBSWEEP_TOP_K_NO_KEYS_BIT 8

/// Writes no indices, only keys and values.
#define SUBSWEEP_TOP_K_NO_INDICES_BIT 16

/// Floats in the order of their bits, as of a sort; without this flag as with SUBSWEEP_SORT_NUMPY_ORDER_BIT.
#define SUBSWEEP_TOP_K_TOTAL_ORDER_BIT 32

/// Rows of unequal lengths, of up to column_count keys, which begin at `segments`. A row of fewer than k keys has as many
/// results, and in the other slots of its k are keys and values of 0, and indices of 2^32 - 1; longer rows are cut
/// off. Scratch is as for rows of column_count keys.
#define SUBSWEEP_TOP_K_SEGMENTS_BIT 64

/// A k of its own for each row, in `ks`, of which none is greater than k: likewise.
#define SUBSWEEP_TOP_K_OWN_K_BIT 128

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// The ABI version of the library: the SUBSWEEP_ABI_VERSION of its own header.
///
/// Threads: any, at any time.
uint32_t subsweep_abi_version(void);

/// The library's version, such as "0.1.0". A static string, owned by the library.
///
/// Threads: any, at any time.
const char *subsweep_version(void);

/// The message of the calling thread's last failed call: one line with numbers and advice; "" if none has
/// failed. The string is owned by the library and valid until the thread's next failure, or its end.
///
/// Threads: any, at any time; each has its own message.
const char *subsweep_last_error(void);

/// Queries whether `physical_device` can run every kernel, and which optional features it has. Creates a
/// SubsweepRequirements, to be freed by subsweep_requirements_destroy.
///
/// Required: Vulkan 1.2, the feature bufferDeviceAddress, subgroups of 4 to 128 lanes, and the subgroup
/// operations basic, vote, arithmetic, ballot and shuffle in compute shaders. `instance` was created for Vulkan
/// 1.2 or later, and `physical_device` is one of its devices. Vulkan is called only through
/// `get_instance_proc_addr`, of the loader that created `instance`.
///
/// Returns VK_ERROR_FEATURE_NOT_PRESENT if the device lacks a requirement, which subsweep_last_error names;
/// SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_MISSING_FUNCTION, or Vulkan's own error. `*requirements` is null then.
///
/// Threads: any, at any time.
///
/// # Safety
/// As above; `requirements` may be written.
VkResult subsweep_requirements_query(PFN_vkGetInstanceProcAddr get_instance_proc_addr,
                                     VkInstance instance,
                                     VkPhysicalDevice physical_device,
                                     struct SubsweepRequirements **requirements);

/// Frees `requirements`, which may be null, with all strings and structures it has returned.
///
/// Threads: any, while no other thread uses `requirements`.
///
/// # Safety
/// `requirements` is null, or was created by subsweep_requirements_query and is not freed yet, and nothing it
/// has returned is in use.
void subsweep_requirements_destroy(struct SubsweepRequirements *requirements);

/// The minimum VkApplicationInfo::apiVersion of the instance: VK_API_VERSION_1_2.
///
/// Threads: any, at any time.
uint32_t subsweep_required_api_version(void);

/// The features to enable: the required ones, and every feature of the device that makes the kernels faster or
/// more capable. Pass the enabled ones to subsweep_device_create. 0 if `requirements` is null.
///
/// Threads: any, while no other thread changes `requirements`.
///
/// # Safety
/// `requirements` is null or alive.
SubsweepFeatureFlags subsweep_requirements_features(const struct SubsweepRequirements *requirements);

/// Removes the optional features that are not in `features` from later queries and merges. Required features
/// stay; features that the device lacks are not added.
///
/// Returns SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_UNKNOWN_VALUE.
///
/// Threads: any, while no other thread uses `requirements`.
///
/// # Safety
/// `requirements` is null or alive, and nothing it has returned is in use.
VkResult subsweep_requirements_limit_features(struct SubsweepRequirements *requirements,
                                              SubsweepFeatureFlags features);

/// The device extensions to enable, beside the caller's own: `*count` names, owned by `requirements` and valid
/// until it is freed or limited. Null and 0 if `requirements` is null; `count` must not be null.
///
/// Threads: any, while no other thread changes `requirements`.
///
/// # Safety
/// `requirements` is null or alive; `count` may be written.
const char *const *subsweep_requirements_extensions(const struct SubsweepRequirements *requirements,
                                                    uint32_t *count);

/// Merges the features of subsweep_requirements_features into `info`, for vkCreateDevice. Structures of its
/// chain that hold these features are modified: VkPhysicalDeviceFeatures2, VkPhysicalDeviceVulkan11Features,
/// VkPhysicalDeviceVulkan12Features, VkPhysicalDeviceVulkan13Features, or a feature's own; features are set and
/// never cleared. Structures for the other features are prepended to the chain. They are owned by `requirements`, as is the copy that replaces
/// `info->pEnabledFeatures` where core features are needed. Call it when the program's own chain is complete,
/// and for one VkDeviceCreateInfo at a time. The caller adds the extensions of
/// subsweep_requirements_extensions.
///
/// Returns SUBSWEEP_ERROR_NULL; SUBSWEEP_ERROR_UNSUPPORTED if `info` already holds structures of an earlier
/// call: initialise it and its chain again before another merge. `info` is unchanged then.
///
/// Threads: any, while no other thread uses `requirements` or `info`.
///
/// # Safety
/// `requirements` and `info` are null or alive; so is all that `info` chains, which must be writable.
/// `requirements` lives, and is neither limited nor merged into another `info`, while `info` is in use.
VkResult subsweep_requirements_merge_features(struct SubsweepRequirements *requirements,
                                              VkDeviceCreateInfo *info);

/// Creates a SubsweepDevice from the caller's VkDevice, to be freed by subsweep_device_destroy. Creates nothing
/// on the VkDevice, and never destroys it, waits for it or submits to it.
///
/// Returns VK_ERROR_FEATURE_NOT_PRESENT if the physical device lacks a requirement of
/// subsweep_requirements_query or a feature of `info`, or if `info` lacks a required feature:
/// subsweep_last_error names it; SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE,
/// SUBSWEEP_ERROR_MISSING_FUNCTION, or Vulkan's own error. `*device` is null then.
///
/// Threads: any, at any time.
///
/// # Safety
/// The fields of `info` are as their comments say. The VkDevice, its instance and the pipeline cache outlive
/// the SubsweepDevice and all plans made for it.
VkResult subsweep_device_create(const struct SubsweepDeviceCreateInfo *info,
                                struct SubsweepDevice **device);

/// Sets the number of threads that compile the pipelines of each plan made for `device` from now on, the
/// calling thread included. The default is 1. With more than 1 the pipeline cache, if there is one, must be
/// internally synchronised: created without VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT. The threads
/// end before the plan is returned.
///
/// Returns SUBSWEEP_ERROR_NULL; SUBSWEEP_ERROR_UNKNOWN_VALUE if `count` is 0.
///
/// Threads: any, at any time.
///
/// # Safety
/// `device` is null, or was created by subsweep_device_create and is not freed.
VkResult subsweep_device_set_pipeline_threads(const struct SubsweepDevice *device, uint32_t count);

/// Frees `device`, which may be null. Plans made for it remain valid. The caller destroys the VkDevice after
/// them.
///
/// Threads: any, while no other thread uses `device`.
///
/// # Safety
/// `device` is null, or was created by subsweep_device_create and is not freed yet.
void subsweep_device_destroy(struct SubsweepDevice *device);

/// Creates a scan plan.
///
/// Scratch: a row per tile, two for the chained scan, by default less than 1/128 of the source, of 8 bits 1/32; none for a single
/// tile or block doubling; as much as the source for the strided scan. Segments take another 4 bytes per tile, and
/// by offsets a bit per row; an initial value takes a row; an indirect count 32 bytes for each level of tiles.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for more than 64 columns and for bitwise operators on floats;
/// VK_ERROR_FEATURE_NOT_PRESENT for sums and products of SUBSWEEP_ELEMENT_TYPE_F64 on a device created without
/// shaderFloat64; SUBSWEEP_ERROR_INVALID_POLICY if `algorithm` does not support the configuration.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_scan_plan_create(const struct SubsweepDevice *device,
                                   const struct SubsweepScanPlanCreateInfo *info,
                                   struct SubsweepPlan **plan);

/// The maximum number of operations between an element and any result of `count` rows. The error of a float
/// sum is at most 1.01 d u of the sum of the magnitudes, where d is this depth and u is 2^-24 for
/// SUBSWEEP_ELEMENT_TYPE_F32 and 2^-53 for SUBSWEEP_ELEMENT_TYPE_F64. 0 if `plan` is null or not of a scan.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
uint64_t subsweep_scan_plan_rounding_depth(const struct SubsweepPlan *plan, uint64_t count);

/// Records the scan of `info->count` rows.
///
/// 2. Memory: `source` and `destination` are faster at multiples of 16; the same range, or disjoint. `segments` has
///    4 bytes for each row (8 for keys of 64 bits; all of the range for offsets), and an initial value on the
///    device has the size of a row.
/// 4. Limits: at most 2^32 - 1 tiles; 2^32 - 1 rows with segments.
/// 5. Result: in `destination`; `source` is unchanged unless it is the same range.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED if the plan does not scan in place, and if an initial value or segments
/// are given to a plan made without them, or missing for a plan made with them.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_cmd_scan(const struct SubsweepPlan *plan,
                           VkCommandBuffer command_buffer,
                           const struct SubsweepScanInfo *info);

/// Creates a sort plan.
///
/// Scratch: the alternate keys, and the alternate values of pairs, which forms of two buffers save (out of place
/// for a single pass); for an argsort twice the keys, and alternate indices; and a small amount for each pass and
/// tile. None if one workgroup sorts all keys. Values of more than 8 bytes take 4 bytes for each key more, or of two buffers
/// 8, and in place their own size.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for a bit range outside of the key, indices with large counts, an
/// argsort of two buffers, and discarded keys of an argsort or without values; SUBSWEEP_ERROR_INVALID_POLICY if
/// `algorithm` exceeds the limits of the device, or does not support large counts.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_sort_plan_create(const struct SubsweepDevice *device,
                                   const struct SubsweepSortPlanCreateInfo *info,
                                   struct SubsweepPlan **plan);

/// Whether the result of a recording of `count` keys, or of an indirect count with that maximum, is in the
/// alternate buffers: 1 for a plan with SUBSWEEP_SORT_DOUBLE_BUFFER_BIT and an odd number of passes, or values of more
/// than 8 bytes that are sorted. Another count may take another number of passes: one workgroup sorts few keys without
/// any. Otherwise, if `plan` is null or not of a sort, 0.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
VkBool32 subsweep_sort_plan_is_result_in_alt(const struct SubsweepPlan *plan,
                                             uint64_t count);

/// Records the sort of `info->count` keys.
///
/// 2. Memory: `keys` and `values`, and `keys_alt` and `values_alt` of a form that has them, disjoint; faster with
///    keys at multiples of 16.
/// 3. Commands: all ranges are written, except an argsort's `keys` and an input that is kept.
/// 4. Limits: a count of 1 and an empty bit range record nothing either, except that a sort of at least one key
///    writes indices, and a sort out of place its output.
/// 5. Result: in `keys` and `values`; in `keys_alt` and `values_alt` out of place, and of a double buffer if
///    subsweep_sort_plan_is_result_in_alt; for an argsort in `values`, and `keys` are unchanged. With
///    SUBSWEEP_SORT_DISCARDS_KEYS_BIT the keys of the result are undefined. The sort is stable: keys equal in the
///    bit range keep their order.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_cmd_sort(const struct SubsweepPlan *plan,
                           VkCommandBuffer command_buffer,
                           const struct SubsweepSortInfo *info);

/// Creates a difference plan.
///
/// Scratch: none, or 32 bytes with an indirect count.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for a number of columns out of range; VK_ERROR_FEATURE_NOT_PRESENT for
/// SUBSWEEP_ELEMENT_TYPE_F64 on a device created without shaderFloat64.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_difference_plan_create(const struct SubsweepDevice *device,
                                         const struct SubsweepDifferencePlanCreateInfo *info,
                                         struct SubsweepPlan **plan);

/// Records the difference of `info->count` rows.
///
/// 1. Device: for f64 shaderFloat64.
/// 3. Commands: one dispatch; for an indirect count another one and a barrier before it.
/// 4. Limits: a result without numbers records nothing.
/// 5. Result: in `destination`; integers wrap. Its count of rows is the count less one, but of at least 0, or with
///    either of the other flags the count, and is not written.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_cmd_difference(const struct SubsweepPlan *plan,
                                 VkCommandBuffer command_buffer,
                                 const struct SubsweepDifferenceInfo *info);

/// Takes functions of the caller, compiled into kernels of this version of the library, for the plans to come: copies their
/// modules, which are never freed. A plan checks the interfaces of those that it needs.
///
/// Returns SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, or SUBSWEEP_ERROR_UNKNOWN_VALUE for a kernel that this version does
/// not have; `*functions` is 0 then.
///
/// Threads: any, at any time.
///
/// # Safety
/// `info` is null or as its comments say, with live strings and modules. The modules are valid, and were compiled from this
/// version's sources with FUNCTIONS and functions that keep to docs/functions.md. `functions` may be written.
VkResult subsweep_functions_create(const struct SubsweepFunctionsCreateInfo *info,
                                   SubsweepFunctions *functions);

/// Creates a gather plan.
///
/// Scratch: none, or 32 bytes with an indirect count of elements of whole words.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for elements of 0 or more than 2^28 words.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_gather_plan_create(const struct SubsweepDevice *device,
                                     const struct SubsweepGatherPlanCreateInfo *info,
                                     struct SubsweepPlan **plan);

/// Records the gather of `info->count` elements.
///
/// 2. Memory: `source` of any size, of which whole elements count; all are faster at multiples of 16 with an
///    element size that is a multiple of 16.
/// 3. Commands: one dispatch; for an indirect count of elements of whole words another one and a barrier before it.
/// 4. Limits: at most 2^32 - 1 workgroups. Indices address only the first 2^32 - 1 elements of `source`.
/// 5. Result: in `destination`; an index beyond `source` yields zeros, and no memory beyond it is read.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_cmd_gather(const struct SubsweepPlan *plan,
                             VkCommandBuffer command_buffer,
                             const struct SubsweepGatherInfo *info);

/// Computes the edges of `bin_count` bins of equal widths from `low` to `high` for values of `element_type`, in host
/// memory: the edges of numpy.histogram, integers rounded up and the last one down. `edges` has room for bin_count + 1
/// numbers of 4 bytes, of types of 64 bits of 8.
///
/// Returns SUBSWEEP_ERROR_UNSUPPORTED for 0 or more than 65,536 bins, a range that is empty, not finite, or too
/// narrow for so many bins, and a bin that begins beyond the numbers of the type; SUBSWEEP_ERROR_UNKNOWN_VALUE,
/// SUBSWEEP_ERROR_NULL. Nothing is written then.
///
/// Threads: any, at any time.
///
/// # Safety
/// `edges` is null, or as many numbers may be written.
VkResult subsweep_histogram_even_edges(SubsweepElementType element_type,
                                       uint32_t bin_count,
                                       double low,
                                       double high,
                                       void *edges);

/// Creates a histogram plan.
///
/// Scratch: none, or 32 bytes with an indirect count.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for a number of bins or columns out of range.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_histogram_plan_create(const struct SubsweepDevice *device,
                                        const struct SubsweepHistogramPlanCreateInfo *info,
                                        struct SubsweepPlan **plan);

/// Records the histogram of `info->count` rows.
///
/// 3. Commands: a dispatch that clears the counts, a barrier, and a dispatch that counts; for an indirect count one
///    more dispatch before the barrier, which is to indirect dispatches then.
/// 4. Limits: at most 2^32 - 1 rows. A count of 0, on the host or indirect, gives counts of 0.
/// 5. Result: in `counts`; bin i has the values from edge i on and below edge i + 1, and the last bin its upper
///    edge as well. Other values and NaNs are not counted; -0 equals 0.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_cmd_histogram(const struct SubsweepPlan *plan,
                                VkCommandBuffer command_buffer,
                                const struct SubsweepHistogramInfo *info);

/// Creates a merge plan.
///
/// Scratch: none, or 32 bytes with an indirect count; more for types of 8 and 16 bits on a device
/// that does not store them (SUBSWEEP_FEATURE_STORAGE_BUFFER_8BIT_ACCESS_BIT).
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for values of too many words, and for descending order with functions.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_merge_plan_create(const struct SubsweepDevice *device,
                                    const struct SubsweepMergePlanCreateInfo *info,
                                    struct SubsweepPlan **plan);

/// Records the merge of `info->a_count` and `info->b_count` keys.
///
/// 2. Memory: the destinations are as large as both arrays together.
/// 3. Commands: one dispatch; for an indirect count another one and a barrier before it.
/// 4. Limits: at most 2^32 - 1 keys together, or more with SUBSWEEP_MERGE_LARGE_COUNTS_BIT and direct counts. No keys in
///    both arrays record nothing. Arrays that are not sorted give some of their keys in an unspecified order; no other
///    memory is accessed.
/// 5. Result: in the destinations, in the order of a sort; of equal keys the keys of `a` come first, and the keys
///    of each array keep their order. The count of the result is the sum of both counts, and is not written.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_cmd_merge(const struct SubsweepPlan *plan,
                            VkCommandBuffer command_buffer,
                            const struct SubsweepMergeInfo *info);

/// Frees `plan`, which may be null, with its pipelines.
///
/// Threads: any, while no other thread uses `plan`.
///
/// # Safety
/// `plan` is null, or was created by a subsweep_..._plan_create and is not freed yet, and all work that it was
/// recorded into has completed.
void subsweep_plan_destroy(struct SubsweepPlan *plan);

/// The scratch of a recording of up to `max_count` elements, and of a segmented sort in up to `max_segment_count` segments.
/// The function that creates a plan says how much it is. The elements of a merge are the keys of both arrays. The
/// elements of a search are its needles, and `max_segment_count` counts its sorted keys, which take scratch if they have 8 or 16
/// bits on a device that does not store such.
/// Other plans ignore `max_segment_count`.
///
/// Returns SUBSWEEP_ERROR_NULL.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive; `requirements` may be written.
VkResult subsweep_plan_scratch_requirements(const struct SubsweepPlan *plan,
                                            uint64_t max_count,
                                            uint64_t max_segment_count,
                                            struct SubsweepScratchRequirements *requirements);

/// The maximum count of keys of a sort or segmented sort: 2^32 - 1, or fewer with small tiles; for
/// "single-workgroup" the capacity of one workgroup; with SUBSWEEP_SORT_LARGE_COUNTS_BIT more than 2^36. Of
/// elements of a selection or an encoding of runs, and of keys of a merge, 2^32 - 1, or with the bit for large counts of
/// each as many tiles; of rows of a histogram and of a top-k 2^32 - 1, or of a top-k by a sort of all keys the rows of as
/// many; of runs that are decoded 2^31 - 1.
/// UINT64_MAX for other plans, which are limited by the dispatches of the device. 0 if `plan` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
uint64_t subsweep_plan_max_count(const struct SubsweepPlan *plan);

/// The accesses before the first barrier of a recording: the destination scope of the caller's barrier before
/// it. 0 if `plan` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
struct SubsweepAccess subsweep_plan_first_access(const struct SubsweepPlan *plan);

/// The accesses after the last barrier of a recording: the source scope of the caller's barrier after it.
/// Reads by indirect dispatches have completed before these. 0 if `plan` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
struct SubsweepAccess subsweep_plan_last_access(const struct SubsweepPlan *plan);

/// The policy in use, as text: algorithm, workgroup size and so on. The string is owned by the plan. "" if
/// `plan` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
const char *subsweep_plan_policy(const struct SubsweepPlan *plan);

/// Creates a reduce plan.
///
/// Scratch: a row for each tile of 4096 words, or elements of less, and for indices 4 bytes for each column, for both, and for an
/// index of elements of 8 and 16 bits, up to four times that; for segments a row for each 31 rows, of elements of 8 and 16 bits
/// in words; for keys also 4 bytes for each row, but in a single pass 16 bytes, and 16 or 24 for each tile alone; along rows a
/// number for each tile of a row of several, and for indices another 4 bytes; with an indirect count 32 bytes for each level.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for more than 64 columns, or more than one along rows, rows of 4 GiB or more, bitwise
/// operators on floats, an index that is of segments or not of a minimum or maximum, and SUBSWEEP_REDUCE_UNPACKED_RESULTS_BIT for
/// types of 32 and 64 bits; VK_ERROR_FEATURE_NOT_PRESENT for sums and products of SUBSWEEP_ELEMENT_TYPE_F64 without shaderFloat64.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_reduce_plan_create(const struct SubsweepDevice *device,
                                     const struct SubsweepReducePlanCreateInfo *info,
                                     struct SubsweepPlan **plan);

/// Records the reduction of `info->count` rows, or along rows of as many elements.
///
/// 2. Memory: `source` is faster at a multiple of 16.
/// 4. Limits: a count of 0, direct or indirect, has results: the identity of the operator, the index UINT32_MAX, or
///    0 runs, but along rows none. At most 2^32 - 1 rows for segments, keys and indices, and 2^32 - 1 elements
///    along rows; otherwise 2^32 - 1 tiles.
/// 5. Result: in `destination`, `unique_keys` and `run_count`; `source` is unchanged. Sums and products of floats
///    have the same bits on every device that keeps denormals.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED if segments or keys are given to a plan made without them.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_cmd_reduce(const struct SubsweepPlan *plan,
                             VkCommandBuffer command_buffer,
                             const struct SubsweepReduceInfo *info);

/// Creates a run-length plan.
///
/// Scratch: to encode in a single pass, on devices whose workgroups make progress, 48 bytes and 16 for each tile;
/// elsewhere the scratch of a selection, 32 bytes, and 4 for each element unless the offsets of all runs are written; for
/// non-trivial runs, also the scratch of another selection, 80 bytes, and 4 for each element; with large counts, on every
/// device, the scratch of the selection, and 8 for each element likewise. To decode, 4 bytes for each run, and the scratch
/// of a scan of these.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for offsets of a decoding, and for what large counts do not go with.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_run_length_plan_create(const struct SubsweepDevice *device,
                                         const struct SubsweepRunLengthPlanCreateInfo *info,
                                         struct SubsweepPlan **plan);

/// Records the encoding of `info->count` elements, or the decoding of as many runs.
///
/// 3. Commands: to encode in a single pass, a fill, a barrier and a dispatch, with an indirect count a dispatch and
///    a barrier more; else a selection and two dispatches with barriers, of which the last is indirect, and of
///    non-trivial runs another selection and two dispatches more; to decode, a scan, a barrier and a dispatch for all
///    elements that fit.
/// 4. Limits: a count of 0, direct or indirect, writes 0 to `result_count`.
/// 5. Result: to encode, the runs in order, and their number in `result_count`; the rest of the ranges is
///    unchanged. To decode, the elements that fit, and the number of all in `result_count`, which must be below
///    2^32.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_cmd_run_length(const struct SubsweepPlan *plan,
                                 VkCommandBuffer command_buffer,
                                 const struct SubsweepRunLengthInfo *info);

/// Creates a search plan.
///
/// Scratch: none, or 32 bytes with indirect counts, which only the count of needles uses; more for types of 8 and 16 bits on a
/// device that does not store them (SUBSWEEP_FEATURE_STORAGE_BUFFER_8BIT_ACCESS_BIT).
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED if one of sorted_length and needle_length is 0 and the other is not, and for
/// SUBSWEEP_SEARCH_LARGE_COUNTS_BIT along rows.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_search_plan_create(const struct SubsweepDevice *device,
                                     const struct SubsweepSearchPlanCreateInfo *info,
                                     struct SubsweepPlan **plan);

/// Records the search for `info->needle_count` needles in `info->sorted_count` sorted keys.
///
/// 3. Commands: one dispatch; for an indirect count of needles another one and a barrier before it.
/// 4. Limits: at most 2^32 - 1 sorted keys, or any number with SUBSWEEP_SEARCH_LARGE_COUNTS_BIT, and along rows at most
///    2^32 - 1 needles. No needles record nothing; in no keys every position is 0. Keys that are not sorted give positions
///    from 0 to their count; no other memory is accessed. Needles of more rows than sorted ones are searched for in the
///    last of these.
/// 5. Result: in `positions`, the number of sorted keys that are less than the needle, or with
///    SUBSWEEP_SEARCH_UPPER_BOUND_BIT of those that are not greater.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_cmd_search(const struct SubsweepPlan *plan,
                             VkCommandBuffer command_buffer,
                             const struct SubsweepSearchInfo *info);

/// Creates a segmented sort plan. `info` describes the sort of each segment; its algorithm must be null, and its
/// flags must not include SUBSWEEP_SORT_LARGE_COUNTS_BIT. SUBSWEEP_SORT_INDIRECT_COUNT_BIT applies to both counts.
/// With `info->row_length` the segments are the rows of a table, of so many keys each.
///
/// Scratch: at most 40 bytes per segment, and 192, or 224 with indirect counts; if a segment may be longer than a
/// workgroup holds, also what a sort takes; and for values of more than 8 bytes what a sort has for these.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for these, a bit range outside of the key, an argsort of two buffers,
/// and discarded keys of an argsort or without values.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_segmented_sort_plan_create(const struct SubsweepDevice *device,
                                             const struct SubsweepSortPlanCreateInfo *info,
                                             struct SubsweepPlan **plan);

/// Records the sort of `info->count` keys, each of `info->segment_count` segments by itself.
///
/// 2. Memory: `keys`, `values` and `segments`, and `keys_alt` and `values_alt` of a form that has them, disjoint.
/// 3. Commands: all ranges are written, except those that are only read: `segments`, `segment_ends`, an argsort's `keys`, and an
///    input that is kept.
/// 4. Limits: no segments, a single key and an empty bit range record nothing either, except that a sort of at
///    least one key in a segment writes indices, and a sort out of place its output. A segment that begins at or
///    beyond the count is empty. If offsets are not ascending, or ranges overlap, any segment may be left unsorted, and keys in
///    overlapping segments may be lost, duplicated or mixed; no other memory is accessed.
/// 5. Result: in `keys` and `values`, also of a double buffer; with SUBSWEEP_SORT_OUT_OF_PLACE_BIT in `keys_alt`
///    and `values_alt`; for an argsort in `values`, and `keys` are unchanged. Indices count from the first of all
///    keys, not from the start of a segment, but with row_length from the start of a row. With SUBSWEEP_SORT_DISCARDS_KEYS_BIT the keys of the result are
///    undefined. The sort is stable: keys equal in the bit range keep their order. Keys and values outside of all
///    segments are unchanged, unless they are discarded or of an input that is destroyed; so is the output there.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_cmd_segmented_sort(const struct SubsweepPlan *plan,
                                     VkCommandBuffer command_buffer,
                                     const struct SubsweepSegmentedSortInfo *info);

/// Creates a selection plan.
///
/// Scratch: 4 bytes for each tile of some thousand elements, or 8, and 16 bytes or the scan of these; 32 bytes with
/// an indirect count, and for elements and for values of more than two words; 4 bytes for each element where these
/// are and no indices are written. With SUBSWEEP_SELECT_LARGE_COUNTS_BIT twice the bytes of tiles.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for sizes out of range, for 3 parts without a comparison, and for what large
/// counts do not go with.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_select_plan_create(const struct SubsweepDevice *device,
                                     const struct SubsweepSelectPlanCreateInfo *info,
                                     struct SubsweepPlan **plan);

/// Records the selection, or the partition, of `info->count` elements.
///
/// 3. Commands: a fill, a barrier and one dispatch, or a dispatch, a scan of the tiles' counts and another dispatch
///    with barriers; for elements and for values of more than two words a barrier and two dispatches more. An
///    indirect count takes more dispatches.
/// 4. Limits: a count of 0, direct or indirect, writes 0 to `result_counts`.
/// 5. Result: the selected elements, values and indices, in order, followed by the other parts; the sizes of
///    the parts are in `result_counts`. A selection leaves the rest of the ranges unchanged.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for operands that do not match the comparisons.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_cmd_select(const struct SubsweepPlan *plan,
                             VkCommandBuffer command_buffer,
                             const struct SubsweepSelectInfo *info);

/// Creates the plan of a sort of structures by several fields, or by a function of the caller.
///
/// Scratch: for each structure a key of 4 or 8 bytes, unless of an argsort an index, and in place the structure; and
/// the scratch of a sort of keys with indices that discards them. With functions an index in place of key and scratch.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for a size of structures, a number of fields or a size of the key out of
/// range, and for a field that is outside of the structure or misaligned.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_structure_sort_plan_create(const struct SubsweepDevice *device,
                                             const struct SubsweepStructureSortPlanCreateInfo *info,
                                             struct SubsweepPlan **plan);

/// Records the sort of `info->count` structures.
///
/// 2. Memory: faster with `structures` and `sorted` at multiples of 16 and a structure size that is a multiple of 16.
/// 4. Limits: a count of 1 in place records nothing either.
/// 5. Result: in `structures`, in `sorted` or in `indices`, as the flags of the plan say. Stable: structures that agree
///    in all fields of the key, or neither of which is less, keep their order. Bytes that are not of the key may be anything.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_cmd_structure_sort(const struct SubsweepPlan *plan,
                                     VkCommandBuffer command_buffer,
                                     const struct SubsweepStructureSortInfo *info);

/// Creates a top-k plan.
///
/// Scratch: none for rows of one tile with a direct count; else k keys and indices for each tile of a row, and 32
/// bytes for each dispatch with an indirect count. Where k exceeds 4,096, half a tile or what fits in shared
/// memory, or the values of a row 2^15 words for each invocation, all keys are sorted: for each key another one and
/// 4 bytes, and the scratch of a segmented sort.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for a number of columns, a k or words of a value out of range, and if no
/// keys, indices or values are written.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_top_k_plan_create(const struct SubsweepDevice *device,
                                    const struct SubsweepTopKPlanCreateInfo *info,
                                    struct SubsweepPlan **plan);

/// Records the top-k of `info->count` rows.
///
/// 2. Memory: ranges are as large as count, columns and k require, and `source` with segments as all rows are.
/// 5. Result: k keys, indices and values for each row; the best first, and of equal keys the key of the lowest index,
///    unless SUBSWEEP_TOP_K_UNSORTED_BIT keeps the order of the row. The same on every device.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_cmd_top_k(const struct SubsweepPlan *plan,
                            VkCommandBuffer command_buffer,
                            const struct SubsweepTopKInfo *info);

/// Opens a device, to be closed by subsweep_gpu_close. The Vulkan loader is loaded when this is called: a program
/// links to none.
///
/// `selector` is the device's index in the list of devices, a part of its name, "uuid:..." or "driver:..."; null
/// for the environment variable SUBSWEEP_DEVICE, and where that is unset or empty for the best device.
///
/// Returns VK_ERROR_INITIALIZATION_FAILED if there is no loader, no device or no such device,
/// VK_ERROR_FEATURE_NOT_PRESENT if the device lacks a requirement of subsweep_requirements_query,
/// SUBSWEEP_ERROR_NULL, or Vulkan's own error. `*gpu` is null then.
///
/// Threads: any, while no other thread changes the environment.
///
/// # Safety
/// `selector` is null or ends with a 0; `gpu` may be written.
VkResult subsweep_gpu_open(const char *selector,
                           struct SubsweepGpu **gpu);

/// Closes `gpu`, which may be null.
///
/// Threads: any, while no other thread uses `gpu`.
///
/// # Safety
/// `gpu` is null, or was opened by subsweep_gpu_open and is not closed yet.
void subsweep_gpu_close(struct SubsweepGpu *gpu);

/// The name of the device, owned by `gpu`. "" if `gpu` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `gpu` is null or alive.
const char *subsweep_gpu_name(const struct SubsweepGpu *gpu);

/// Sorts `count` keys, and moves their values along or writes indices, as `info->values` says; `values` is null
/// for keys alone. Always in place, whatever the form of memory in `info->flags`. An argsort only reads its keys.
/// With `info->row_length` each row of so many keys is sorted by itself, and `count` is the number of all keys.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_gpu_sort(const struct SubsweepGpu *gpu,
                           const struct SubsweepSortPlanCreateInfo *info,
                           void *keys,
                           void *values,
                           uint64_t count);

/// Scans `count` rows in place, or along rows, with `info->row_length`, `count` elements. Without segments and
/// without an initial value.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_gpu_scan(const struct SubsweepGpu *gpu,
                           const struct SubsweepScanPlanCreateInfo *info,
                           void *elements,
                           uint64_t count);

/// Reduces `count` rows to `results`: a row, or with SUBSWEEP_REDUCE_INDEX_BIT a uint32_t for each column, with
/// SUBSWEEP_REDUCE_BOTH_INDICES_BIT two; along rows, with `info->row_length`, `count` elements to a result for each row of the table. Without runs.
///
/// # Safety
/// As at the top of the header.
VkResult subsweep_gpu_reduce(const struct SubsweepGpu *gpu,
                             const struct SubsweepReducePlanCreateInfo *info,
                             const void *elements,
                             uint64_t count,
                             void *results);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SUBSWEEP_H */
