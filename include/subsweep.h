/* subsweep: prefix sums (scan), radix sorts and gathers for Vulkan, recorded into the caller's own command buffers.
 *
 * Licensed under either of Apache License 2.0 or MIT, at your option.
 *
 * Functions that can fail return VK_SUCCESS, one of Vulkan's errors, or one of SUBSWEEP_ERROR_...; all of these are
 * negative, and subsweep_last_error says more. To switch over them, cast to int. None of them lets a panic out, and none
 * calls Vulkan but through the vkGetInstanceProcAddr that it was given. The structures that a program fills and gives by
 * pointer begin with struct_size: such a one is set to 0, then that to its sizeof, then what is needed. So a program that
 * was compiled with this header goes on with later libraries.
 *
 * What a recording promises stands with each subsweep_cmd_... in five answers: device, memory, commands, limits, result.
 * docs/c.md tells how to build and to link.
 */

#ifndef SUBSWEEP_H
#define SUBSWEEP_H

/* Made by cbindgen from src/capi: SUBSWEEP_BLESS=1 cargo test --features capi --test capi_header. Not to be edited. */

#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

/**
 * What the header is of: it grows by one when a program that was compiled with an older header has to be
 * compiled anew.
 */
#define SUBSWEEP_ABI_VERSION 1

/**
 * A pointer, a handle or an address is null that must not be.
 */
#define SUBSWEEP_ERROR_NULL -2000000001

/**
 * A structure's struct_size is of no version of it, or a newer version's fields are used that this library
 * does not have.
 */
#define SUBSWEEP_ERROR_STRUCT_SIZE -2000000002

/**
 * A number that stands for something does not, or a name: SUBSWEEP_ELEMENT_TYPE_... and the like, flags,
 * algorithms.
 */
#define SUBSWEEP_ERROR_UNKNOWN_VALUE -2000000003

/**
 * A function of Vulkan's is not there that is needed: the instance or the device was made for an older
 * version.
 */
#define SUBSWEEP_ERROR_MISSING_FUNCTION -2000000004

/**
 * A configuration that no plan can carry out, or memory that does not go with the plan's.
 */
#define SUBSWEEP_ERROR_UNSUPPORTED -2000000005

/**
 * An algorithm that carries out another configuration, or takes more than this device has.
 */
#define SUBSWEEP_ERROR_INVALID_POLICY -2000000006

/**
 * More elements than the plan takes.
 */
#define SUBSWEEP_ERROR_TOO_MANY_ELEMENTS -2000000007

/**
 * The scratch is smaller than its requirements.
 */
#define SUBSWEEP_ERROR_SCRATCH_TOO_SMALL -2000000008

/**
 * Another range is too small for the count.
 */
#define SUBSWEEP_ERROR_RANGE_TOO_SMALL -2000000009

/**
 * An address or an offset is no multiple of what it must be.
 */
#define SUBSWEEP_ERROR_MISALIGNED -2000000010

/**
 * Two ranges share memory that must not.
 */
#define SUBSWEEP_ERROR_OVERLAP -2000000011

/**
 * What is of one device was given to another.
 */
#define SUBSWEEP_ERROR_FOREIGN_DEVICE -2000000012

/**
 * A range goes beyond the last address, or the last offset.
 */
#define SUBSWEEP_ERROR_INVALID_RANGE -2000000013

/**
 * A buffer was made without a usage that is needed of it, as its range says.
 */
#define SUBSWEEP_ERROR_MISSING_USAGE -2000000014

/**
 * The library has a bug, which it has told on the standard error stream as well. What the call was to make or
 * to record is not, or not whole: do not submit the command buffer.
 */
#define SUBSWEEP_ERROR_PANIC -2000000100

/**
 * A VkDevice of the caller's, that plans are made for.
 */
typedef struct SubsweepDevice SubsweepDevice;

/**
 * A gather, ready to be recorded any number of times. It never changes, and holds pipelines and no memory.
 */
typedef struct SubsweepGatherPlan SubsweepGatherPlan;

/**
 * What to enable when a VkDevice is created, found by subsweep_requirements_query.
 */
typedef struct SubsweepRequirements SubsweepRequirements;

/**
 * A scan, ready to be recorded any number of times. It never changes, and holds pipelines and no memory.
 */
typedef struct SubsweepScanPlan SubsweepScanPlan;

/**
 * A sort of segments, ready to be recorded any number of times. It never changes, and holds pipelines and no
 * memory.
 */
typedef struct SubsweepSegmentedSortPlan SubsweepSegmentedSortPlan;

/**
 * A sort, ready to be recorded any number of times. It never changes, and holds pipelines and no memory.
 */
typedef struct SubsweepSortPlan SubsweepSortPlan;

/**
 * What a device was, or will be, created with: several of SUBSWEEP_FEATURE_..._BIT, or 0.
 */
typedef uint32_t SubsweepFeatureFlags;

/**
 * What subsweep_device_create adopts.
 */
typedef struct SubsweepDeviceCreateInfo {
    /**
     * sizeof(SubsweepDeviceCreateInfo).
     */
    uint32_t struct_size;
    /**
     * What `device` was created with, and nothing else: Vulkan lets nobody ask. Those of
     * subsweep_requirements_features, if they were merged by subsweep_requirements_merge_features.
     */
    SubsweepFeatureFlags features;
    /**
     * The loader's, by which Vulkan is called.
     */
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    /**
     * Created for Vulkan 1.2 or later.
     */
    VkInstance instance;
    /**
     * What `device` was created from.
     */
    VkPhysicalDevice physical_device;
    /**
     * Created with the feature bufferDeviceAddress.
     */
    VkDevice device;
    /**
     * What pipelines are made with; VK_NULL_HANDLE for none.
     */
    VkPipelineCache pipeline_cache;
} SubsweepDeviceCreateInfo;

/**
 * What else a plan for scans is to do: several of SUBSWEEP_SCAN_..._BIT, or 0.
 */
typedef uint32_t SubsweepScanFlags;

/**
 * Whether an element's result counts the element itself: one of SUBSWEEP_SCAN_KIND_....
 */
typedef uint32_t SubsweepScanKind;

/**
 * From which end a scan begins: one of SUBSWEEP_SCAN_DIRECTION_....
 */
typedef uint32_t SubsweepScanDirection;

/**
 * The type of an element or a key: one of SUBSWEEP_ELEMENT_TYPE_....
 */
typedef uint32_t SubsweepElementType;

/**
 * What elements are combined by: one of SUBSWEEP_SCAN_OPERATOR_....
 */
typedef uint32_t SubsweepScanOperator;

/**
 * What says where segments begin, each of which is scanned by itself: one of SUBSWEEP_SEGMENTS_BY_.... The
 * first row begins one in any case.
 */
typedef uint32_t SubsweepSegmentsBy;

/**
 * What a plan for scans is to do. All 0 but struct_size: the inclusive sums of single uint32_t.
 */
typedef struct SubsweepScanPlanCreateInfo {
    /**
     * sizeof(SubsweepScanPlanCreateInfo).
     */
    uint32_t struct_size;
    /**
     * What else it is to do.
     */
    SubsweepScanFlags flags;
    /**
     * Inclusive or exclusive.
     */
    SubsweepScanKind kind;
    /**
     * From which end.
     */
    SubsweepScanDirection direction;
    /**
     * The type of an element.
     */
    SubsweepElementType element_type;
    /**
     * What elements are combined by.
     */
    SubsweepScanOperator scan_operator;
    /**
     * Elements of a row, 1 to 16, each column being scanned for itself; 0 is taken as 1.
     */
    uint32_t column_count;
    /**
     * What says where segments begin.
     */
    SubsweepSegmentsBy segments_by;
    /**
     * One of "reduce-then-scan", "reduce-then-scan/kogge-stone",
     * "reduce-then-scan/kogge-stone-double-buffered", "reduce-then-scan/brent-kung",
     * "reduce-then-scan/sklansky", "reduce-then-scan/sequential", "scan-then-propagate", "chained",
     * "block-doubling" and "strided"; null for what suits the device. It is read during the call alone.
     */
    const char *algorithm;
} SubsweepScanPlanCreateInfo;

/**
 * The scratch memory that a recording needs.
 */
typedef struct SubsweepScratchRequirements {
    /**
     * Bytes; 0 if none is needed.
     */
    VkDeviceSize size;
    /**
     * What the address of the range must be a multiple of, bytes.
     */
    VkDeviceSize alignment;
    /**
     * What the buffer must have been made with.
     */
    VkBufferUsageFlags usage;
} SubsweepScratchRequirements;

/**
 * Stages, and what they do to memory: one side of a barrier of the caller's.
 */
typedef struct SubsweepAccess {
    /**
     * The stages of the pipeline.
     */
    VkPipelineStageFlags stages;
    /**
     * Their accesses.
     */
    VkAccessFlags access;
} SubsweepAccess;

/**
 * How many elements there are, and who knows it.
 */
typedef struct SubsweepCount {
    /**
     * Where the device finds the count when the commands run, a uint32_t, at a multiple of 4: for plans that
     * were made for counts on the device. 0 if the count is known while recording.
     */
    VkDeviceAddress address;
    /**
     * The count; of one on the device the most that it may be, which memory is there for: at most 2^32 - 1,
     * and a larger one is taken as this.
     */
    uint64_t count;
} SubsweepCount;

/**
 * A range of device memory, by its address: what is read or written. Its buffer was made with
 * VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT.
 */
typedef struct SubsweepAddressRange {
    /**
     * Of its first byte: vkGetBufferDeviceAddress, plus an offset.
     */
    VkDeviceAddress address;
    /**
     * Bytes.
     */
    VkDeviceSize size;
} SubsweepAddressRange;

/**
 * A range of a buffer, by its handle and its address: scratch.
 */
typedef struct SubsweepBufferRange {
    /**
     * The buffer.
     */
    VkBuffer buffer;
    /**
     * Where the range begins in the buffer, bytes: a multiple of 4.
     */
    VkDeviceSize offset;
    /**
     * Bytes.
     */
    VkDeviceSize size;
    /**
     * Of its first byte: vkGetBufferDeviceAddress of the buffer, plus `offset`.
     */
    VkDeviceAddress address;
    /**
     * What the buffer was made with, as far as it matters: Vulkan cannot be asked.
     */
    VkBufferUsageFlags usage;
} SubsweepBufferRange;

/**
 * The memory and the count of one recording of a scan.
 */
typedef struct SubsweepScanInfo {
    /**
     * sizeof(SubsweepScanInfo).
     */
    uint32_t struct_size;
    /**
     * 0.
     */
    uint32_t flags;
    /**
     * How many rows.
     */
    struct SubsweepCount count;
    /**
     * What is scanned.
     */
    struct SubsweepAddressRange source;
    /**
     * Where the results go; the same range as `source` to scan in place.
     */
    struct SubsweepAddressRange destination;
    /**
     * As subsweep_scan_plan_scratch_requirements says.
     */
    struct SubsweepBufferRange scratch;
    /**
     * For a plan with segments, which says what is in it. Of offsets there are size / 4; of flags and keys
     * there may be more than the rows need. Else 0.
     */
    struct SubsweepAddressRange segments;
    /**
     * For a plan with SUBSWEEP_SCAN_INITIAL_VALUE_BIT: a row in memory of the device, such as the last row of
     * another scan's results. 0 if it is the host's, or if there is none.
     */
    struct SubsweepAddressRange initial_on_device;
    /**
     * For a plan with SUBSWEEP_SCAN_INITIAL_VALUE_BIT: a row, at a multiple of 4 bytes, which is read during
     * the call alone. Null if it is the device's, or if there is none.
     */
    const void *initial_on_host;
    /**
     * Bytes there: those of a row.
     */
    size_t initial_on_host_size;
} SubsweepScanInfo;

/**
 * What else a plan for sorts is to do: several of SUBSWEEP_SORT_..._BIT, or 0.
 */
typedef uint32_t SubsweepSortFlags;

/**
 * What goes with each key: one of SUBSWEEP_SORT_VALUES_....
 */
typedef uint32_t SubsweepSortValues;

/**
 * What a plan for sorts, or for segmented sorts, is to do. All 0 but struct_size: single uint32_t, ascending.
 *
 * Floats are ordered by their bits: NaNs of negative sign, minus infinity, ..., -0, +0, ..., infinity, NaNs of
 * positive sign. Keys that compare equal keep the order in which they came.
 */
typedef struct SubsweepSortPlanCreateInfo {
    /**
     * sizeof(SubsweepSortPlanCreateInfo).
     */
    uint32_t struct_size;
    /**
     * What else it is to do.
     */
    SubsweepSortFlags flags;
    /**
     * The type of a key.
     */
    SubsweepElementType key_type;
    /**
     * What goes with each key.
     */
    SubsweepSortValues values;
    /**
     * With SUBSWEEP_SORT_BIT_RANGE_BIT the first bit to sort by; else 0.
     */
    uint32_t begin_bit;
    /**
     * With SUBSWEEP_SORT_BIT_RANGE_BIT the bit behind the last; else 0.
     */
    uint32_t end_bit;
    /**
     * One of "onesweep", "radix-8bit", "radix-4bit", "radix-2bit" and "single-workgroup"; null for what suits
     * the device. It is read during the call alone.
     */
    const char *algorithm;
} SubsweepSortPlanCreateInfo;

/**
 * The memory and the count of one recording of a sort.
 */
typedef struct SubsweepSortInfo {
    /**
     * sizeof(SubsweepSortInfo).
     */
    uint32_t struct_size;
    /**
     * 0.
     */
    uint32_t flags;
    /**
     * How many keys.
     */
    struct SubsweepCount count;
    /**
     * The keys, before and, but for an argsort, after.
     */
    struct SubsweepAddressRange keys;
    /**
     * The values, before and after, or an argsort's permutation, after; 0 of a sort of keys alone.
     */
    struct SubsweepAddressRange values;
    /**
     * As subsweep_sort_plan_scratch_requirements says.
     */
    struct SubsweepBufferRange scratch;
} SubsweepSortInfo;

/**
 * Where the result of a sort lies.
 */
typedef struct SubsweepSortResult {
    /**
     * The keys; of an argsort as they were.
     */
    struct SubsweepAddressRange keys;
    /**
     * The values, or the places; of keys alone 0.
     */
    struct SubsweepAddressRange values;
} SubsweepSortResult;

/**
 * What else a plan for gathers is to do: several of SUBSWEEP_GATHER_..._BIT, or 0.
 */
typedef uint32_t SubsweepGatherFlags;

/**
 * What a plan for gathers is to do.
 */
typedef struct SubsweepGatherPlanCreateInfo {
    /**
     * sizeof(SubsweepGatherPlanCreateInfo).
     */
    uint32_t struct_size;
    /**
     * What else it is to do.
     */
    SubsweepGatherFlags flags;
    /**
     * Words of 32 bits of an element, 1 to 2^28: a number, a row of a table, or anything else whose size is a
     * multiple of 4 bytes.
     */
    uint32_t words_per_element;
} SubsweepGatherPlanCreateInfo;

/**
 * The memory and the count of one recording of a gather.
 */
typedef struct SubsweepGatherInfo {
    /**
     * sizeof(SubsweepGatherInfo).
     */
    uint32_t struct_size;
    /**
     * 0.
     */
    uint32_t flags;
    /**
     * How many elements are gathered.
     */
    struct SubsweepCount count;
    /**
     * What is gathered from: as many whole elements as the range holds.
     */
    struct SubsweepAddressRange source;
    /**
     * Which element of the source comes where, uint32_t.
     */
    struct SubsweepAddressRange indices;
    /**
     * Where they go.
     */
    struct SubsweepAddressRange destination;
    /**
     * As subsweep_gather_plan_scratch_requirements says.
     */
    struct SubsweepBufferRange scratch;
} SubsweepGatherInfo;

/**
 * The memory and the counts of one recording of a segmented sort.
 */
typedef struct SubsweepSegmentedSortInfo {
    /**
     * sizeof(SubsweepSegmentedSortInfo).
     */
    uint32_t struct_size;
    /**
     * 0.
     */
    uint32_t flags;
    /**
     * How many keys.
     */
    struct SubsweepCount count;
    /**
     * How many segments.
     */
    struct SubsweepCount segment_count;
    /**
     * The keys, before and, but for an argsort, after.
     */
    struct SubsweepAddressRange keys;
    /**
     * The values, before and after, or an argsort's places, after; 0 of a sort of keys alone.
     */
    struct SubsweepAddressRange values;
    /**
     * Where segments begin, a uint32_t for each of them, in rising order. A segment ends where the next
     * begins, and the last with the keys; of two that begin at the same key, the first is empty. Keys before
     * the first are in none.
     */
    struct SubsweepAddressRange segments;
    /**
     * As subsweep_segmented_sort_plan_scratch_requirements says.
     */
    struct SubsweepBufferRange scratch;
} SubsweepSegmentedSortInfo;

/**
 * Unsigned, 32 bits.
 */
#define SUBSWEEP_ELEMENT_TYPE_U32 0

/**
 * Signed, 32 bits.
 */
#define SUBSWEEP_ELEMENT_TYPE_I32 1

/**
 * IEEE 754, 32 bits.
 */
#define SUBSWEEP_ELEMENT_TYPE_F32 2

/**
 * Unsigned, 64 bits.
 */
#define SUBSWEEP_ELEMENT_TYPE_U64 3

/**
 * Signed, 64 bits.
 */
#define SUBSWEEP_ELEMENT_TYPE_I64 4

/**
 * IEEE 754, 64 bits.
 */
#define SUBSWEEP_ELEMENT_TYPE_F64 5

/**
 * The feature bufferDeviceAddress, which is needed.
 */
#define SUBSWEEP_FEATURE_BUFFER_DEVICE_ADDRESS_BIT 1

/**
 * VK_EXT_subgroup_size_control with its feature subgroupSizeControl.
 */
#define SUBSWEEP_FEATURE_SUBGROUP_SIZE_CONTROL_BIT 2

/**
 * The same extension's computeFullSubgroups: pipelines require full subgroups. Without it no rule of Vulkan
 * says that a driver fills each subgroup before it begins the next, as the kernels take for granted; every
 * driver known to us does.
 */
#define SUBSWEEP_FEATURE_COMPUTE_FULL_SUBGROUPS_BIT 4

/**
 * The core feature shaderFloat64: for sums and products of SUBSWEEP_ELEMENT_TYPE_F64.
 */
#define SUBSWEEP_FEATURE_SHADER_FLOAT64_BIT 8

/**
 * No feature of the device: its instance was created with VK_EXT_debug_utils, so that recordings are labelled
 * and pipelines named. subsweep_requirements_query cannot know it; a program adds it that has it.
 */
#define SUBSWEEP_FEATURE_DEBUG_UTILS_BIT 16

/**
 * Each result counts its own element.
 */
#define SUBSWEEP_SCAN_KIND_INCLUSIVE 0

/**
 * No result counts its own element: the first is the operator's identity, or the initial value.
 */
#define SUBSWEEP_SCAN_KIND_EXCLUSIVE 1

/**
 * From the first row to the last.
 */
#define SUBSWEEP_SCAN_DIRECTION_FORWARD 0

/**
 * From the last row to the first: what a scan of the rows in reverse order gives, in reverse order.
 */
#define SUBSWEEP_SCAN_DIRECTION_REVERSE 1

/**
 * The sum; of whole numbers it wraps. Identity 0.
 */
#define SUBSWEEP_SCAN_OPERATOR_ADD 0

/**
 * The product; of whole numbers it wraps. Identity 1.
 */
#define SUBSWEEP_SCAN_OPERATOR_MUL 1

/**
 * The minimum; a NaN if there is one. Identity: the greatest number, infinity of floats.
 */
#define SUBSWEEP_SCAN_OPERATOR_MIN 2

/**
 * The maximum; a NaN if there is one. Identity: the least number, minus infinity of floats.
 */
#define SUBSWEEP_SCAN_OPERATOR_MAX 3

/**
 * The bits that are in all. Identity: all bits. Not of floats.
 */
#define SUBSWEEP_SCAN_OPERATOR_AND 4

/**
 * The bits that are in any. Identity 0. Not of floats.
 */
#define SUBSWEEP_SCAN_OPERATOR_OR 5

/**
 * The bits that are in an odd number. Identity 0. Not of floats.
 */
#define SUBSWEEP_SCAN_OPERATOR_XOR 6

/**
 * Nothing says it: all rows are one segment.
 */
#define SUBSWEEP_SEGMENTS_BY_NONE 0

/**
 * A uint32_t for each row: not 0 where a segment begins.
 */
#define SUBSWEEP_SEGMENTS_BY_FLAGS 1

/**
 * A key of 32 bits for each row: a segment is a run of equal ones, bit for bit.
 */
#define SUBSWEEP_SEGMENTS_BY_KEYS32 2

/**
 * A key of 64 bits for each row.
 */
#define SUBSWEEP_SEGMENTS_BY_KEYS64 3

/**
 * The rows at which segments begin, as uint32_t, in any order, as many as the range holds. Equal ones are one;
 * those beyond the last row are none.
 */
#define SUBSWEEP_SEGMENTS_BY_OFFSETS 4

/**
 * Every recording brings an initial value: what comes before the first row, or the first of each segment.
 */
#define SUBSWEEP_SCAN_INITIAL_VALUE_BIT 1

/**
 * Recordings may take their count from the device.
 */
#define SUBSWEEP_SCAN_COUNTS_ON_DEVICE_BIT 2

/**
 * A promise that source and destination never overlap, which lets the plan take the single pass. A recording
 * in place is refused then.
 */
#define SUBSWEEP_SCAN_OUT_OF_PLACE_BIT 4

/**
 * No values go with the keys.
 */
#define SUBSWEEP_SORT_VALUES_NONE 0

/**
 * A value of 4 bytes, in memory of its own.
 */
#define SUBSWEEP_SORT_VALUES_4_BYTES 1

/**
 * A value of 8 bytes, in memory of its own.
 */
#define SUBSWEEP_SORT_VALUES_8_BYTES 2

/**
 * No values go with the keys, which stay as they are: the sort tells where they would come from. The values
 * are a permutation of uint32_t, in which the first is the place of the least key.
 */
#define SUBSWEEP_SORT_VALUES_ARGSORT 3

/**
 * From the greatest key to the least; equal ones still in the order in which they came.
 */
#define SUBSWEEP_SORT_DESCENDING_BIT 1

/**
 * Only by the bits from begin_bit up to, and not with, end_bit, the lowest being bit 0, of the unsigned number
 * that is ordered as the key is: the key itself, signed ones with the sign bit flipped, floats with all bits
 * flipped if they are negative and else the sign bit. Fewer bits are fewer passes. Without the flag it is by
 * all bits.
 */
#define SUBSWEEP_SORT_BIT_RANGE_BIT 2

/**
 * Recordings may take their count from the device.
 */
#define SUBSWEEP_SORT_COUNTS_ON_DEVICE_BIT 4

/**
 * The result stays where the last pass leaves it, which subsweep_sort_plan_result tells: in the caller's
 * memory or in scratch. Then every pass runs, even one in whose digit all keys agree. An argsort's places are
 * always the caller's.
 */
#define SUBSWEEP_SORT_ANYWHERE_BIT 8

/**
 * Recordings may have 2^32 keys and more, whose places take two words: a few instructions more for each key. It
 * takes "onesweep", which is chosen then. Counts on the device are uint32_t nevertheless. Neither with
 * SUBSWEEP_SORT_VALUES_ARGSORT, whose places are uint32_t, nor for segments, which begin at such.
 */
#define SUBSWEEP_SORT_LARGE_COUNTS_BIT 16

/**
 * Recordings may take their count from the device.
 */
#define SUBSWEEP_GATHER_COUNTS_ON_DEVICE_BIT 1

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * What the library is of: SUBSWEEP_ABI_VERSION of its own header.
 *
 * Threads: any, at any time.
 */
uint32_t subsweep_abi_version(void);

/**
 * The library's version, such as "0.1.0". The text is the library's, and stays.
 *
 * Threads: any, at any time.
 */
const char *subsweep_version(void);

/**
 * Why the calling thread's last call that failed did: one line, with numbers, and with advice; "" if none has
 * failed. The text is the library's. It stays until the thread's next call that fails, or its end.
 *
 * Threads: any, at any time; each has a text of its own.
 */
const char *subsweep_last_error(void);

/**
 * Asks whether `physical_device` can run every kernel, and which optional features it has, and makes a
 * SubsweepRequirements of it, for subsweep_requirements_destroy.
 *
 * Needed: Vulkan 1.2, the feature bufferDeviceAddress, subgroups of 4 to 128 lanes, and their operations
 * basic, vote, arithmetic, ballot and shuffle in compute shaders. `instance` was created for Vulkan 1.2 or
 * later, and `physical_device` is one of its devices. Vulkan is called through `get_instance_proc_addr` alone,
 * which is the loader's that made `instance`.
 *
 * Returns VK_ERROR_FEATURE_NOT_PRESENT if the device lacks something, which subsweep_last_error names;
 * SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_MISSING_FUNCTION, or what Vulkan says. `*requirements` is null then.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * As above; `requirements` may be written.
 */
VkResult subsweep_requirements_query(PFN_vkGetInstanceProcAddr get_instance_proc_addr,
                                     VkInstance instance,
                                     VkPhysicalDevice physical_device,
                                     struct SubsweepRequirements **requirements);

/**
 * Frees `requirements`, which may be null, with the texts and structures that it has given.
 *
 * Threads: any, while no other thread uses `requirements`.
 *
 * # Safety
 * `requirements` is null, or of subsweep_requirements_query and not freed yet, and nothing that it has given
 * is in use.
 */
void subsweep_requirements_destroy(struct SubsweepRequirements *requirements);

/**
 * The least VkApplicationInfo::apiVersion that the instance must be made for: VK_API_VERSION_1_2.
 *
 * Threads: any, at any time.
 */
uint32_t subsweep_required_api_version(void);

/**
 * The features to enable: what is needed, and everything that the device has and that makes the kernels faster
 * or lets them do more. Give what was enabled to subsweep_device_create. 0 if `requirements` is null.
 *
 * Threads: any, while no other thread changes `requirements`.
 *
 * # Safety
 * `requirements` is null or alive.
 */
SubsweepFeatureFlags subsweep_requirements_features(const struct SubsweepRequirements *requirements);

/**
 * Leaves out the optional features that are not in `features`: what is told and merged after this call is
 * without them. What is needed stays, and what the device has not got stays out.
 *
 * Returns SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_UNKNOWN_VALUE.
 *
 * Threads: any, while no other thread uses `requirements`.
 *
 * # Safety
 * `requirements` is null or alive, and nothing that it has given is in use.
 */
VkResult subsweep_requirements_limit_features(struct SubsweepRequirements *requirements,
                                              SubsweepFeatureFlags features);

/**
 * The device extensions to enable, beside the caller's own: `*count` names, of which none is the caller's to
 * free. They stay until `requirements` is freed or limited. Null and 0 if `requirements` is null; `count` must
 * not be.
 *
 * Threads: any, while no other thread changes `requirements`.
 *
 * # Safety
 * `requirements` is null or alive; `count` may be written.
 */
const char *const *subsweep_requirements_extensions(const struct SubsweepRequirements *requirements,
                                                    uint32_t *count);

/**
 * Merges the features of subsweep_requirements_features into `info`, for vkCreateDevice. They are turned on,
 * and nothing is turned off, in the structures of its chain that have them: VkPhysicalDeviceFeatures2,
 * VkPhysicalDeviceVulkan12Features, VkPhysicalDeviceVulkan13Features, or a feature's own. For those that no
 * structure has, structures are put in front of the chain; they lie in `requirements`, as does the copy of
 * `info->pEnabledFeatures` that takes its place where core features are needed. Call it when the program's own
 * chain is complete, and for one VkDeviceCreateInfo at a time. Extensions are the caller's to add, by
 * subsweep_requirements_extensions.
 *
 * Returns SUBSWEEP_ERROR_NULL; SUBSWEEP_ERROR_UNSUPPORTED if `info` holds what an earlier call has put there:
 * fill it anew, its chain too, before it is merged into again. `info` is unchanged then.
 *
 * Threads: any, while no other thread uses `requirements` or `info`.
 *
 * # Safety
 * `requirements` and `info` are null or alive; so is all that `info` chains, which may be written.
 * `requirements` lives, and is neither limited nor merged into another `info`, until `info` is used no more.
 */
VkResult subsweep_requirements_merge_features(struct SubsweepRequirements *requirements,
                                              VkDeviceCreateInfo *info);

/**
 * Adopts a VkDevice that the caller made, and makes a SubsweepDevice of it, for subsweep_device_destroy.
 * Nothing is created on the device; it is never destroyed, waited for or submitted to.
 *
 * Returns VK_ERROR_FEATURE_NOT_PRESENT if the physical device lacks what subsweep_requirements_query asks for,
 * or a feature that `info` has, or if `info` lacks one that is needed: subsweep_last_error names it;
 * SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE,
 * SUBSWEEP_ERROR_MISSING_FUNCTION, or what Vulkan says. `*device` is null then.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * What stands in `info` is as its comments say. The VkDevice, its instance and the pipeline cache outlive the
 * SubsweepDevice and all plans that are made for it.
 */
VkResult subsweep_device_create(const struct SubsweepDeviceCreateInfo *info,
                                struct SubsweepDevice **device);

/**
 * Lets plans that are made for `device` from now on compile their pipelines on up to `count` threads, that of the
 * caller among them: 1 as long as nobody calls this. With more than 1 the pipeline cache, if there is one, must be
 * internally synchronised: made without VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT. The threads end
 * before the plan is returned.
 *
 * Returns SUBSWEEP_ERROR_NULL; SUBSWEEP_ERROR_UNKNOWN_VALUE if `count` is 0.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `device` is of subsweep_device_create and not freed.
 */
VkResult subsweep_device_set_pipeline_threads(const struct SubsweepDevice *device,
                                              uint32_t count);

/**
 * Frees `device`, which may be null. Plans that were made for it stay good; the VkDevice is the caller's to
 * destroy, when they are gone.
 *
 * Threads: any, while no other thread uses `device`.
 *
 * # Safety
 * `device` is null, or of subsweep_device_create and not freed yet.
 */
void subsweep_device_destroy(struct SubsweepDevice *device);

/**
 * Makes a plan for scans on `device`, with every pipeline that any recording may need, for
 * subsweep_scan_plan_destroy. It may take the driver's compiler seconds.
 *
 * Returns SUBSWEEP_ERROR_UNSUPPORTED for more than 16 columns and for bits of floats;
 * VK_ERROR_FEATURE_NOT_PRESENT for sums and products of SUBSWEEP_ELEMENT_TYPE_F64 where the device was not
 * created with shaderFloat64; SUBSWEEP_ERROR_INVALID_POLICY if `algorithm` does not carry this scan out;
 * SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE, or what Vulkan says. `*plan`
 * is null then.
 *
 * Threads: any, at any time; several may make plans for one device, but its pipeline cache must take that.
 *
 * # Safety
 * `device` is null or alive, `info` is null or as its comments say, and `plan` may be written.
 */
VkResult subsweep_scan_plan_create(const struct SubsweepDevice *device,
                                   const struct SubsweepScanPlanCreateInfo *info,
                                   struct SubsweepScanPlan **plan);

/**
 * Frees `plan`, which may be null, with its pipelines.
 *
 * Threads: any, while no other thread uses `plan`.
 *
 * # Safety
 * `plan` is null, or of subsweep_scan_plan_create and not freed yet, and all work that it was recorded into is
 * done.
 */
void subsweep_scan_plan_destroy(struct SubsweepScanPlan *plan);

/**
 * The scratch that subsweep_cmd_scan needs for up to `max_count` rows: a row per tile, two for the chained
 * scan, by default less than 1/128 of the source; none for a single tile or block doubling; for the strided
 * scan as much as the source. A scan of segments takes 4 bytes per tile more, and by offsets a bit per row; an
 * initial value takes a row, and a count on the device 32 bytes for each level of tiles.
 *
 * Returns SUBSWEEP_ERROR_NULL.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive; `requirements` may be written.
 */
VkResult subsweep_scan_plan_scratch_requirements(const struct SubsweepScanPlan *plan,
                                                 uint64_t max_count,
                                                 struct SubsweepScratchRequirements *requirements);

/**
 * Who touches memory before the first barrier of a recording: what stands as destination in the caller's
 * barrier before it. 0 if `plan` is null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
struct SubsweepAccess subsweep_scan_plan_first_access(const struct SubsweepScanPlan *plan);

/**
 * Who touches memory behind the last barrier of a recording: what stands as source in the caller's barrier
 * behind it. What an indirect dispatch has read is read by then, too. 0 if `plan` is null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
struct SubsweepAccess subsweep_scan_plan_last_access(const struct SubsweepScanPlan *plan);

/**
 * How the plan goes about it, in words for people: algorithm, workgroup size and so on. The text is the
 * plan's, and lives as long. "" if `plan` is null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
const char *subsweep_scan_plan_policy(const struct SubsweepScanPlan *plan);

/**
 * The most operations that an element goes through on its way into any result of `count` rows. A sum of floats
 * is off by at most 1.01 d u of the sum of the magnitudes, where d is this and u is 2^-24 for
 * SUBSWEEP_ELEMENT_TYPE_F32 and 2^-53 for SUBSWEEP_ELEMENT_TYPE_F64. 0 if `plan` is null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
uint64_t subsweep_scan_plan_rounding_depth(const struct SubsweepScanPlan *plan,
                                           uint64_t count);

/**
 * Records the scan of `info->count` rows into `command_buffer`. Nothing is submitted, waited for or allocated.
 *
 * 1. Device: what subsweep_requirements_query asks for; a queue that can compute.
 * 2. Memory: `source` and `destination` of at least as many bytes as the rows have, at multiples of 4 (faster
 *    at multiples of 16); they are the same range or do not overlap. So with `segments`, of 4 bytes for each
 *    row (8 of keys of 64 bits; of offsets all of the range), an initial value on the device, of a row, and a
 *    count on the device, of 4 bytes: at multiples of 4, and apart from `destination`. `scratch` as
 *    subsweep_scan_plan_scratch_requirements says, its content of no matter, apart from all of these, and used
 *    by nothing else until the work is done.
 * 3. Commands: dispatches, fills and updates of `scratch`, and the barriers between them; none before the
 *    first or behind the last. With SUBSWEEP_FEATURE_DEBUG_UTILS_BIT they stand in labels. The first access is
 *    COMPUTE_SHADER / SHADER_READ of `source`, `segments`, initial value and count, and TRANSFER /
 *    TRANSFER_WRITE or COMPUTE_SHADER / SHADER_WRITE of `scratch`; it ends with COMPUTE_SHADER / SHADER_WRITE
 *    of `destination`, and the last access to `scratch` is COMPUTE_SHADER, with a count on the device also
 *    DRAW_INDIRECT / INDIRECT_COMMAND_READ. Leaves a compute pipeline and push constants bound, and touches no
 *    other state.
 * 4. Limits: a count of 0 records nothing; one on the device that is 0 runs no workgroups, and one above its
 *    maximum is taken as that. At most 2^32 - 1 tiles, or as many as a dispatch of the device has
 *    workgroups in two dimensions; 2^32 - 1 rows with segments.
 * 5. Result: in `destination`; `source` is unchanged unless it is the same range.
 *
 * Returns SUBSWEEP_ERROR_RANGE_TOO_SMALL, SUBSWEEP_ERROR_MISALIGNED, SUBSWEEP_ERROR_OVERLAP,
 * SUBSWEEP_ERROR_SCRATCH_TOO_SMALL, SUBSWEEP_ERROR_MISSING_USAGE, SUBSWEEP_ERROR_TOO_MANY_ELEMENTS,
 * SUBSWEEP_ERROR_INVALID_RANGE; SUBSWEEP_ERROR_UNSUPPORTED if the plan does not scan in place, and if an
 * initial value, segments or a count on the device are given to a plan that was not made for them, or not to
 * one that was; SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE. Nothing is
 * recorded then.
 *
 * Threads: any, while no other thread uses `command_buffer` or its pool; several may record one plan at the
 * same time.
 *
 * # Safety
 * `plan` is null or alive, and stays until the work is done. `command_buffer` is of the plan's device, in the
 * recording state outside of a render pass. `info` is null or as its comments say; its ranges are live memory
 * of the device, made with the usage named above, when the commands run. The caller orders their accesses with
 * what comes before and after.
 */
VkResult subsweep_cmd_scan(const struct SubsweepScanPlan *plan,
                           VkCommandBuffer command_buffer,
                           const struct SubsweepScanInfo *info);

/**
 * Makes a plan for sorts on `device`, with every pipeline that any recording may need, for
 * subsweep_sort_plan_destroy. It may take the driver's compiler seconds.
 *
 * Returns SUBSWEEP_ERROR_UNSUPPORTED for a range of bits outside of the key, and for an argsort with wide
 * counts; SUBSWEEP_ERROR_INVALID_POLICY if `algorithm` takes more than the device has, or has no wide counts;
 * SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE, or what Vulkan says. `*plan`
 * is null then.
 *
 * Threads: any, at any time; several may make plans for one device, but its pipeline cache must take that.
 *
 * # Safety
 * `device` is null or alive, `info` is null or as its comments say, and `plan` may be written.
 */
VkResult subsweep_sort_plan_create(const struct SubsweepDevice *device,
                                   const struct SubsweepSortPlanCreateInfo *info,
                                   struct SubsweepSortPlan **plan);

/**
 * Frees `plan`, which may be null, with its pipelines.
 *
 * Threads: any, while no other thread uses `plan`.
 *
 * # Safety
 * `plan` is null, or of subsweep_sort_plan_create and not freed yet, and all work that it was recorded into is
 * done.
 */
void subsweep_sort_plan_destroy(struct SubsweepSortPlan *plan);

/**
 * The scratch that subsweep_cmd_sort needs for up to `max_count` keys: as many keys again; as many values
 * again, of pairs; of an argsort twice as many keys, and their places; and small change for each pass and
 * tile. None for what one workgroup sorts.
 *
 * Returns SUBSWEEP_ERROR_NULL.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive; `requirements` may be written.
 */
VkResult subsweep_sort_plan_scratch_requirements(const struct SubsweepSortPlan *plan,
                                                 uint64_t max_count,
                                                 struct SubsweepScratchRequirements *requirements);

/**
 * The most keys of a recording: 2^32 - 1, or fewer where the algorithm's tiles are small; of
 * "single-workgroup" what one workgroup holds; with SUBSWEEP_SORT_LARGE_COUNTS_BIT more than 2^36. 0 if
 * `plan` is null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
uint64_t subsweep_sort_plan_max_count(const struct SubsweepSortPlan *plan);

/**
 * Who touches memory before the first barrier of a recording: what stands as destination in the caller's
 * barrier before it. 0 if `plan` is null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
struct SubsweepAccess subsweep_sort_plan_first_access(const struct SubsweepSortPlan *plan);

/**
 * Who touches memory behind the last barrier of a recording: what stands as source in the caller's barrier
 * behind it. What an indirect dispatch has read is read by then, too. 0 if `plan` is null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
struct SubsweepAccess subsweep_sort_plan_last_access(const struct SubsweepSortPlan *plan);

/**
 * How the plan goes about it, in words for people: algorithm, workgroup size and so on. The text is the
 * plan's, and lives as long. "" if `plan` is null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
const char *subsweep_sort_plan_policy(const struct SubsweepSortPlan *plan);

/**
 * Where the result of subsweep_cmd_sort with the same `info` lies: in `keys` and `values`, unless
 * SUBSWEEP_SORT_ANYWHERE_BIT lets an odd number of passes leave it in `scratch`. It is the same for every
 * count on the device with one maximum.
 *
 * Returns what subsweep_cmd_sort does.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive, `info` is null or as its comments say, and `result` may be written.
 */
VkResult subsweep_sort_plan_result(const struct SubsweepSortPlan *plan,
                                   const struct SubsweepSortInfo *info,
                                   struct SubsweepSortResult *result);

/**
 * Records the sort of `info->count` keys into `command_buffer`. Nothing is submitted, waited for or allocated.
 *
 * 1. Device: what subsweep_requirements_query asks for; a queue that can compute.
 * 2. Memory: `keys` and `values` of at least as many bytes as the count says, at multiples of 4 (faster with
 *    keys at a multiple of 16), apart from one another; a count on the device is 4 bytes at a multiple of 4,
 *    apart from all that is written. `scratch` as subsweep_sort_plan_scratch_requirements says, its content of
 *    no matter, and used by nothing else until the work is done.
 * 3. Commands: dispatches, direct and indirect ones, a fill of `scratch` where more than one workgroup sorts,
 *    and the barriers between them; none before the first or behind the last. With
 *    SUBSWEEP_FEATURE_DEBUG_UTILS_BIT they stand in labels. The first access is COMPUTE_SHADER / SHADER_READ
 *    of `keys`, `values` and count, of an argsort SHADER_WRITE of `values`, and TRANSFER / TRANSFER_WRITE of
 *    `scratch`; it ends with COMPUTE_SHADER / SHADER_WRITE of `keys` (but for an argsort), `values` and
 *    `scratch`, whose last accesses are also COMPUTE_SHADER / SHADER_READ and DRAW_INDIRECT /
 *    INDIRECT_COMMAND_READ. Leaves a compute pipeline and push constants bound, and touches no other state.
 * 4. Limits: a count of 0 or 1, and an empty range of bits, record nothing; but an argsort tells the places of
 *    keys that stay. A count on the device that is 0 moves nothing, and one above its maximum is taken as
 *    that. At most subsweep_sort_plan_max_count keys.
 * 5. Result: in `keys` and `values`, or where subsweep_sort_plan_result says; of an argsort in `values`, and
 *    `keys` are as they were. Keys that agree in the bits to sort by keep their order.
 *
 * Returns SUBSWEEP_ERROR_RANGE_TOO_SMALL, SUBSWEEP_ERROR_MISALIGNED, SUBSWEEP_ERROR_OVERLAP,
 * SUBSWEEP_ERROR_SCRATCH_TOO_SMALL, SUBSWEEP_ERROR_MISSING_USAGE, SUBSWEEP_ERROR_TOO_MANY_ELEMENTS,
 * SUBSWEEP_ERROR_INVALID_RANGE; SUBSWEEP_ERROR_UNSUPPORTED if a count on the device is given to a plan that
 * was not made for it; SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE. Nothing
 * is recorded then.
 *
 * Threads: any, while no other thread uses `command_buffer` or its pool; several may record one plan at the
 * same time.
 *
 * # Safety
 * `plan` is null or alive, and stays until the work is done. `command_buffer` is of the plan's device, in the
 * recording state outside of a render pass. `info` is null or as its comments say; its ranges are live memory
 * of the device, made with the usage named above, when the commands run. The caller orders their accesses with
 * what comes before and after.
 */
VkResult subsweep_cmd_sort(const struct SubsweepSortPlan *plan,
                           VkCommandBuffer command_buffer,
                           const struct SubsweepSortInfo *info);

/**
 * Makes a plan for gathers on `device`, with every pipeline that any recording may need, for
 * subsweep_gather_plan_destroy.
 *
 * Returns SUBSWEEP_ERROR_UNSUPPORTED for elements of no words or more than 2^28; SUBSWEEP_ERROR_NULL,
 * SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE, or what Vulkan says. `*plan` is null then.
 *
 * Threads: any, at any time; several may make plans for one device, but its pipeline cache must take that.
 *
 * # Safety
 * `device` is null or alive, `info` is null or as its comments say, and `plan` may be written.
 */
VkResult subsweep_gather_plan_create(const struct SubsweepDevice *device,
                                     const struct SubsweepGatherPlanCreateInfo *info,
                                     struct SubsweepGatherPlan **plan);

/**
 * Frees `plan`, which may be null, with its pipelines.
 *
 * Threads: any, while no other thread uses `plan`.
 *
 * # Safety
 * `plan` is null, or of subsweep_gather_plan_create and not freed yet, and all work that it was recorded into
 * is done.
 */
void subsweep_gather_plan_destroy(struct SubsweepGatherPlan *plan);

/**
 * The scratch that subsweep_cmd_gather needs for any count: none, or, if the plan was made for counts on the
 * device, the 32 bytes that each of those takes.
 *
 * Returns SUBSWEEP_ERROR_NULL.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive; `requirements` may be written.
 */
VkResult subsweep_gather_plan_scratch_requirements(const struct SubsweepGatherPlan *plan,
                                                   struct SubsweepScratchRequirements *requirements);

/**
 * Who touches memory before the first barrier of a recording: what stands as destination in the caller's
 * barrier before it. 0 if `plan` is null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
struct SubsweepAccess subsweep_gather_plan_first_access(const struct SubsweepGatherPlan *plan);

/**
 * Who touches memory behind the last barrier of a recording: what stands as source in the caller's barrier
 * behind it. What an indirect dispatch has read is read by then, too. 0 if `plan` is null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
struct SubsweepAccess subsweep_gather_plan_last_access(const struct SubsweepGatherPlan *plan);

/**
 * How the plan goes about it, in words for people. The text is the plan's, and lives as long. "" if `plan` is
 * null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
const char *subsweep_gather_plan_policy(const struct SubsweepGatherPlan *plan);

/**
 * Records the gather of `info->count` elements into `command_buffer`. Nothing is submitted, waited for or
 * allocated.
 *
 * 1. Device: what subsweep_requirements_query asks for; a queue that can compute.
 * 2. Memory: `source` of any size, of which whole elements count; `indices` and `destination` of at least as
 *    many bytes as the count says; at multiples of 4, faster at multiples of 16 with elements of such a size.
 *    A count on the device is 4 bytes at a multiple of 4. `scratch` as
 *    subsweep_gather_plan_scratch_requirements says, its content of no matter, and used by nothing else until
 *    the work is done. `destination` and `scratch` share memory with nothing; what is read may lie anywhere
 *    else.
 * 3. Commands: one dispatch; before it, for a count on the device, another one and a barrier to indirect
 *    dispatches. With SUBSWEEP_FEATURE_DEBUG_UTILS_BIT they stand in a label. The first access is
 *    COMPUTE_SHADER / SHADER_READ of `source`, `indices` and count, and COMPUTE_SHADER / SHADER_WRITE of
 *    `scratch`; it ends with COMPUTE_SHADER / SHADER_WRITE of `destination`, with no barrier before or after.
 *    The last access to `scratch` is COMPUTE_SHADER / SHADER_READ and DRAW_INDIRECT / INDIRECT_COMMAND_READ.
 *    Leaves a compute pipeline and push constants bound, and touches no other state.
 * 4. Limits: a count of 0 records nothing; one on the device that is 0 runs no workgroups, and one above its
 *    maximum is taken as that. At most 2^32 - 1 workgroups, or as many as a dispatch of the
 *    device has in two dimensions. Indices name the first 2^32 - 1 elements of `source`: what lies behind is not
 *    reached.
 * 5. Result: in `destination`, where an index beyond `source` has given zeros; no other memory is read for it.
 *
 * Returns SUBSWEEP_ERROR_RANGE_TOO_SMALL, SUBSWEEP_ERROR_MISALIGNED, SUBSWEEP_ERROR_OVERLAP,
 * SUBSWEEP_ERROR_SCRATCH_TOO_SMALL, SUBSWEEP_ERROR_MISSING_USAGE, SUBSWEEP_ERROR_TOO_MANY_ELEMENTS,
 * SUBSWEEP_ERROR_INVALID_RANGE; SUBSWEEP_ERROR_UNSUPPORTED if a count on the device is given to a plan that
 * was not made for it; SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE. Nothing
 * is recorded then.
 *
 * Threads: any, while no other thread uses `command_buffer` or its pool; several may record one plan at the
 * same time.
 *
 * # Safety
 * `plan` is null or alive, and stays until the work is done. `command_buffer` is of the plan's device, in the
 * recording state outside of a render pass. `info` is null or as its comments say; its ranges are live memory
 * of the device, made with the usage named above, when the commands run. The caller orders their accesses with
 * what comes before and after.
 */
VkResult subsweep_cmd_gather(const struct SubsweepGatherPlan *plan,
                             VkCommandBuffer command_buffer,
                             const struct SubsweepGatherInfo *info);

/**
 * Makes a plan for sorts of segments on `device`, with every pipeline that any recording may need, for
 * subsweep_segmented_sort_plan_destroy. It may take the driver's compiler seconds. `info` is what is done with
 * each segment; its algorithm must be null, and neither SUBSWEEP_SORT_ANYWHERE_BIT nor
 * SUBSWEEP_SORT_LARGE_COUNTS_BIT be among its flags. SUBSWEEP_SORT_COUNTS_ON_DEVICE_BIT is for both counts.
 *
 * Returns SUBSWEEP_ERROR_UNSUPPORTED for these, and for a range of bits outside of the key;
 * SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE, or what Vulkan says. `*plan`
 * is null then.
 *
 * Threads: any, at any time; several may make plans for one device, but its pipeline cache must take that.
 *
 * # Safety
 * `device` is null or alive, `info` is null or as its comments say, and `plan` may be written.
 */
VkResult subsweep_segmented_sort_plan_create(const struct SubsweepDevice *device,
                                             const struct SubsweepSortPlanCreateInfo *info,
                                             struct SubsweepSegmentedSortPlan **plan);

/**
 * Frees `plan`, which may be null, with its pipelines.
 *
 * Threads: any, while no other thread uses `plan`.
 *
 * # Safety
 * `plan` is null, or of subsweep_segmented_sort_plan_create and not freed yet, and all work that it was
 * recorded into is done.
 */
void subsweep_segmented_sort_plan_destroy(struct SubsweepSegmentedSortPlan *plan);

/**
 * The scratch that subsweep_cmd_segmented_sort needs for up to `max_count` keys in up to `max_segment_count`
 * segments: at most 40 bytes for each segment; and where one may be longer than a workgroup holds, what a sort
 * of all keys needs.
 *
 * Returns SUBSWEEP_ERROR_NULL.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive; `requirements` may be written.
 */
VkResult subsweep_segmented_sort_plan_scratch_requirements(const struct SubsweepSegmentedSortPlan *plan,
                                                           uint64_t max_count,
                                                           uint64_t max_segment_count,
                                                           struct SubsweepScratchRequirements *requirements);

/**
 * The most keys of a recording: 2^32 - 1, or fewer where tiles are small. Segments are at most 2^32 - 1. 0 if
 * `plan` is null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
uint64_t subsweep_segmented_sort_plan_max_count(const struct SubsweepSegmentedSortPlan *plan);

/**
 * Who touches memory before the first barrier of a recording: what stands as destination in the caller's
 * barrier before it. 0 if `plan` is null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
struct SubsweepAccess subsweep_segmented_sort_plan_first_access(const struct SubsweepSegmentedSortPlan *plan);

/**
 * Who touches memory behind the last barrier of a recording: what stands as source in the caller's barrier
 * behind it. What an indirect dispatch has read is read by then, too. 0 if `plan` is null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
struct SubsweepAccess subsweep_segmented_sort_plan_last_access(const struct SubsweepSegmentedSortPlan *plan);

/**
 * How the plan goes about it, in words for people. The text is the plan's, and lives as long. "" if `plan` is
 * null.
 *
 * Threads: any, at any time.
 *
 * # Safety
 * `plan` is null or alive.
 */
const char *subsweep_segmented_sort_plan_policy(const struct SubsweepSegmentedSortPlan *plan);

/**
 * Records the sort of `info->count` keys, each of `info->segment_count` segments by itself, into
 * `command_buffer`. Nothing is submitted, waited for or allocated.
 *
 * 1. Device: what subsweep_requirements_query asks for; a queue that can compute.
 * 2. Memory: `keys`, `values` and `segments` of at least as many bytes as the counts say, at multiples of 4,
 *    apart from one another; counts on the device are 4 bytes at a multiple of 4, apart from all that is
 *    written. `scratch` as subsweep_segmented_sort_plan_scratch_requirements says, its content of no matter,
 *    and used by nothing else until the work is done.
 * 3. Commands: a fill of `scratch`, dispatches, most of them indirect ones, and the barriers between them;
 *    none before the first or behind the last. With SUBSWEEP_FEATURE_DEBUG_UTILS_BIT they stand in labels. The
 *    first access is COMPUTE_SHADER / SHADER_READ of `keys`,
 *    `values`, `segments` and counts, of an argsort SHADER_WRITE of `values`, and TRANSFER / TRANSFER_WRITE of
 *    `scratch`, which COMPUTE_SHADER and DRAW_INDIRECT / INDIRECT_COMMAND_READ are the last to access; it ends
 *    with COMPUTE_SHADER / SHADER_WRITE of `keys` (but for an argsort) and `values`. Leaves a compute pipeline
 *    and push constants bound, and touches no other state.
 * 4. Limits: no keys, no segments, a single key and an empty range of bits record nothing; but an argsort
 *    tells the places of keys that stay. A count on the device that is 0 moves nothing, and one above its
 *    maximum is taken as that. A segment that begins at or beyond the count is empty. Of segments that do not
 *    begin in rising order, any may be left unsorted, and what they share be lost, come twice or be mixed of
 *    two; no other memory is touched for it.
 * 5. Result: in `keys` and `values`; of an argsort in `values`, and `keys` are as they were. A place is one
 *    among all keys, not those of its segment. Keys that agree in the bits to sort by keep their order. What
 *    is in no segment stays as it is.
 *
 * Returns SUBSWEEP_ERROR_RANGE_TOO_SMALL, SUBSWEEP_ERROR_MISALIGNED, SUBSWEEP_ERROR_OVERLAP,
 * SUBSWEEP_ERROR_SCRATCH_TOO_SMALL, SUBSWEEP_ERROR_MISSING_USAGE, SUBSWEEP_ERROR_TOO_MANY_ELEMENTS,
 * SUBSWEEP_ERROR_INVALID_RANGE; SUBSWEEP_ERROR_UNSUPPORTED if a count on the device is given to a plan that
 * was not made for it; SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE. Nothing
 * is recorded then.
 *
 * Threads: any, while no other thread uses `command_buffer` or its pool; several may record one plan at the
 * same time.
 *
 * # Safety
 * `plan` is null or alive, and stays until the work is done. `command_buffer` is of the plan's device, in the
 * recording state outside of a render pass. `info` is null or as its comments say; its ranges are live memory
 * of the device, made with the usage named above, when the commands run. The caller orders their accesses with
 * what comes before and after.
 */
VkResult subsweep_cmd_segmented_sort(const struct SubsweepSegmentedSortPlan *plan,
                                     VkCommandBuffer command_buffer,
                                     const struct SubsweepSegmentedSortInfo *info);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SUBSWEEP_H */
