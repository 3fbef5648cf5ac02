/* Wrong arguments are refused with a code and a message, and nothing is recorded. */

#include "expect.h"

enum { COUNT = 100000 };

/* As REFUSE, of a call with `info`, which is `right` but for `change`. */
#define REFUSE_WITH(change, call, code, words) \
    do {                                       \
        info = right;                          \
        change;                                \
        REFUSE(call, code, words);             \
    } while (0)

#define REFUSE_DEVICE(change, code, words) REFUSE_WITH(change, subsweep_device_create(&info, &device), code, words)
#define REFUSE_SCAN_PLAN(change, code, words) \
    REFUSE_WITH(change, subsweep_scan_plan_create(device, &info, &plan), code, words)
#define REFUSE_SCAN(change, code, words) REFUSE_WITH(change, subsweep_cmd_scan(plan, commands, &info), code, words)

/* A loader without a function of Vulkan 1.1. */
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL older(VkInstance instance, const char *name) {
    return strcmp(name, "vkGetPhysicalDeviceFeatures2") == 0 ? NULL : vkGetInstanceProcAddr(instance, name);
}

/* The behaviour of an instance for Vulkan 1.0: structures of later versions are not filled. */
static VKAPI_ATTR void VKAPI_CALL properties_of_old(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *properties) {
    vkGetPhysicalDeviceProperties(device, &properties->properties);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL old(VkInstance instance, const char *name) {
    return strcmp(name, "vkGetPhysicalDeviceProperties2") == 0 ? (PFN_vkVoidFunction)properties_of_old
                                                               : vkGetInstanceProcAddr(instance, name);
}

/* A driver without a function of Vulkan 1.0. */
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL of_no_device(VkDevice device, const char *name) {
    return strcmp(name, "vkCmdDispatchIndirect") == 0 ? NULL : vkGetDeviceProcAddr(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL poorer(VkInstance instance, const char *name) {
    return strcmp(name, "vkGetDeviceProcAddr") == 0 ? (PFN_vkVoidFunction)of_no_device
                                                    : vkGetInstanceProcAddr(instance, name);
}

/* A loader with only the functions that are looked up before the first call; no other may be required. */
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL barely(VkInstance instance, const char *name) {
    static const char *const names[] = {"vkGetDeviceProcAddr",
                                        "vkEnumerateDeviceExtensionProperties",
                                        "vkGetPhysicalDeviceProperties",
                                        "vkGetPhysicalDeviceProperties2",
                                        "vkGetPhysicalDeviceFeatures2",
                                        "vkGetPhysicalDeviceMemoryProperties"};
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            return vkGetInstanceProcAddr(instance, name);
        }
    }
    return NULL;
}

static void refuse_requirements(const Host *host) {
    SubsweepRequirements *out = (SubsweepRequirements *)host;
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    VkDeviceCreateInfo again;
    VkPhysicalDeviceVulkan12Features own = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    uint32_t count = 7;
    REFUSE(subsweep_requirements_query(NULL, host->instance, host->physical_device, &out),
           SUBSWEEP_ERROR_NULL, "get_instance_proc_addr is null");
    EXPECT(out == NULL);
    REFUSE(subsweep_requirements_query(vkGetInstanceProcAddr, NULL, host->physical_device, &out),
           SUBSWEEP_ERROR_NULL, "instance is null");
    REFUSE(subsweep_requirements_query(vkGetInstanceProcAddr, host->instance, NULL, &out),
           SUBSWEEP_ERROR_NULL, "physical_device is null");
    REFUSE(subsweep_requirements_query(vkGetInstanceProcAddr, host->instance, host->physical_device, NULL),
           SUBSWEEP_ERROR_NULL, "requirements is null");
    REFUSE(subsweep_requirements_query(older, host->instance, host->physical_device, &out),
           SUBSWEEP_ERROR_MISSING_FUNCTION, "vkGetPhysicalDeviceFeatures2");
    REFUSE(subsweep_requirements_query(old, host->instance, host->physical_device, &out),
           VK_ERROR_FEATURE_NOT_PRESENT, "create the instance for Vulkan 1.2 or later");
    EXPECT(subsweep_requirements_extensions(NULL, &count) == NULL && count == 0);
    EXPECT(subsweep_requirements_extensions(NULL, NULL) == NULL);
    EXPECT(subsweep_requirements_features(NULL) == 0);
    REFUSE(subsweep_requirements_merge_features(NULL, &info), SUBSWEEP_ERROR_NULL, "requirements");

    host_check(subsweep_requirements_query(vkGetInstanceProcAddr, host->instance, host->physical_device, &out),
               "subsweep_requirements_query");
    REFUSE(subsweep_requirements_merge_features(out, NULL), SUBSWEEP_ERROR_NULL, "info is null");
    EXPECT(subsweep_requirements_merge_features(out, &info) == VK_SUCCESS && info.pNext != NULL);
    again = info;
    REFUSE(subsweep_requirements_merge_features(out, &again), SUBSWEEP_ERROR_UNSUPPORTED, "fill it anew");
    EXPECT(memcmp(&again, &info, sizeof info) == 0);
    /* Also after a structure of the program. */
    own.pNext = (void *)(uintptr_t)info.pNext;
    again.pNext = &own;
    REFUSE(subsweep_requirements_merge_features(out, &again), SUBSWEEP_ERROR_UNSUPPORTED, "fill it anew");
    EXPECT(own.bufferDeviceAddress == VK_FALSE);
    own.pNext = NULL;
    again.pEnabledFeatures = NULL;
    EXPECT(subsweep_requirements_merge_features(out, &again) == VK_SUCCESS && own.bufferDeviceAddress == VK_TRUE);
    REFUSE(subsweep_requirements_limit_features(out, 1u << 31), SUBSWEEP_ERROR_UNKNOWN_VALUE, "0x80000000");
    EXPECT(subsweep_requirements_features(out) == host->features);
    EXPECT(subsweep_requirements_limit_features(out, 0) == VK_SUCCESS);
    EXPECT(subsweep_requirements_features(out) == SUBSWEEP_FEATURE_BUFFER_DEVICE_ADDRESS_BIT);
    subsweep_requirements_extensions(out, &count);
    EXPECT(count == 0);
    subsweep_requirements_destroy(out);
    subsweep_requirements_destroy(NULL);
}

static void refuse_devices(const Host *host) {
    const SubsweepDeviceCreateInfo right = {.struct_size = sizeof right,
                                            .features = host->features,
                                            .get_instance_proc_addr = vkGetInstanceProcAddr,
                                            .instance = host->instance,
                                            .physical_device = host->physical_device,
                                            .device = host->device};
    struct {
        SubsweepDeviceCreateInfo known;
        uint32_t later;
    } newer = {.known = right, .later = 0};
    SubsweepDeviceCreateInfo info = right;
    SubsweepDevice *device = (SubsweepDevice *)host;

    REFUSE(subsweep_device_create(NULL, &device), SUBSWEEP_ERROR_NULL, "SubsweepDeviceCreateInfo is null");
    EXPECT(device == NULL);
    REFUSE(subsweep_device_create(&right, NULL), SUBSWEEP_ERROR_NULL, "device is null");
    info.struct_size = 0;
    REFUSE(subsweep_device_create(&info, &device), SUBSWEEP_ERROR_STRUCT_SIZE, "struct_size is 0");
    info.struct_size = 0xcccccccc;
    REFUSE(subsweep_device_create(&info, &device), SUBSWEEP_ERROR_STRUCT_SIZE, "sizeof(SubsweepDeviceCreateInfo)");
    REFUSE_DEVICE(info.features |= 1u << 16, SUBSWEEP_ERROR_UNKNOWN_VALUE, "0x10000");
    REFUSE_DEVICE(info.features = SUBSWEEP_FEATURE_SHADER_FLOAT64_BIT, VK_ERROR_FEATURE_NOT_PRESENT,
                  "bufferDeviceAddress");
    REFUSE_DEVICE(info.device = NULL, SUBSWEEP_ERROR_NULL, "SubsweepDeviceCreateInfo.device");
    REFUSE_DEVICE(info.get_instance_proc_addr = older, SUBSWEEP_ERROR_MISSING_FUNCTION, "vkGetPhysicalDeviceFeatures2");

    info.get_instance_proc_addr = poorer;
    REFUSE(subsweep_device_create(&info, &device), SUBSWEEP_ERROR_MISSING_FUNCTION, "vkCmdDispatchIndirect");

    info.get_instance_proc_addr = barely;
    EXPECT(subsweep_device_create(&info, &device) == VK_SUCCESS);
    REFUSE(subsweep_device_set_pipeline_threads(device, 0), SUBSWEEP_ERROR_UNKNOWN_VALUE, "count has no value 0x0");
    REFUSE(subsweep_device_set_pipeline_threads(NULL, 1), SUBSWEEP_ERROR_NULL, "device is null");
    subsweep_device_destroy(device);

    /* A structure of a later version, whose tail is zero; or is not. */
    newer.known.struct_size = sizeof newer;
    EXPECT(subsweep_device_create(&newer.known, &device) == VK_SUCCESS);
    subsweep_device_destroy(device);
    newer.later = 1;
    REFUSE(subsweep_device_create(&newer.known, &device), SUBSWEEP_ERROR_STRUCT_SIZE, "struct_size");
    EXPECT(device == NULL);
    subsweep_device_destroy(NULL);
}

static void refuse_scan_plans(const SubsweepDevice *device) {
    const SubsweepScanPlanCreateInfo right = {.struct_size = sizeof right};
    SubsweepScanPlanCreateInfo info;
    SubsweepPlan *plan = NULL;
    REFUSE(subsweep_scan_plan_create(NULL, &right, &plan), SUBSWEEP_ERROR_NULL, "device");
    REFUSE(subsweep_scan_plan_create(device, NULL, &plan), SUBSWEEP_ERROR_NULL, "SubsweepScanPlanCreateInfo");
    REFUSE(subsweep_scan_plan_create(device, &right, NULL), SUBSWEEP_ERROR_NULL, "plan");
    REFUSE_SCAN_PLAN(info.kind = 2, SUBSWEEP_ERROR_UNKNOWN_VALUE, "kind has no value 0x2");
    REFUSE_SCAN_PLAN(info.direction = 2, SUBSWEEP_ERROR_UNKNOWN_VALUE, "direction");
    REFUSE_SCAN_PLAN(info.element_type = 12, SUBSWEEP_ERROR_UNKNOWN_VALUE, "element_type");
    REFUSE_SCAN_PLAN(info.scan_operator = 0xffffffff, SUBSWEEP_ERROR_UNKNOWN_VALUE, "scan_operator");
    REFUSE_SCAN_PLAN(info.segments_by = 5, SUBSWEEP_ERROR_UNKNOWN_VALUE, "segments_by");
    REFUSE_SCAN_PLAN((info.segments_by = SUBSWEEP_SEGMENTS_BY_KEYS32, info.row_length = 7),
                     SUBSWEEP_ERROR_UNKNOWN_VALUE, "row_length");
    REFUSE_SCAN_PLAN(info.flags = 32, SUBSWEEP_ERROR_UNKNOWN_VALUE, "SubsweepScanFlags");
    REFUSE_SCAN_PLAN(info.algorithm = "bogo", SUBSWEEP_ERROR_UNKNOWN_VALUE, "'bogo'; there are reduce");
    info.algorithm = "two\nlines";
    REFUSE(subsweep_scan_plan_create(device, &info, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "'two\\nlines'");
    REFUSE_SCAN_PLAN(info.column_count = 65, SUBSWEEP_ERROR_UNSUPPORTED, "65 given, 1 to 64 supported");
    REFUSE_SCAN_PLAN((info.element_type = SUBSWEEP_ELEMENT_TYPE_F32, info.scan_operator = SUBSWEEP_SCAN_OPERATOR_XOR),
                     SUBSWEEP_ERROR_UNSUPPORTED, "whole numbers");
    REFUSE_SCAN_PLAN((info.algorithm = "chained", info.segments_by = SUBSWEEP_SEGMENTS_BY_FLAGS),
                     SUBSWEEP_ERROR_INVALID_POLICY, "policy");
    EXPECT(plan == NULL);
    EXPECT(strcmp(subsweep_plan_policy(NULL), "") == 0);
    EXPECT(subsweep_scan_plan_rounding_depth(NULL, 1) == 0);
    EXPECT(subsweep_plan_first_access(NULL).stages == 0);
    REFUSE(subsweep_plan_scratch_requirements(NULL, 1, 0, NULL), SUBSWEEP_ERROR_NULL, "plan");
    subsweep_plan_destroy(NULL);
}

static void refuse_scans(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory,
                         const Memory *scratch) {
    const SubsweepScanPlanCreateInfo of_plan = {.struct_size = sizeof of_plan, .flags = SUBSWEEP_SCAN_INITIAL_VALUE_BIT};
    const uint32_t initial[2] = {5, 6};
    SubsweepScratchRequirements needs;
    SubsweepPlan *plan = NULL;
    SubsweepScanInfo right = {.struct_size = sizeof right};
    SubsweepScanInfo info;
    char needed[64];
    host_check(subsweep_scan_plan_create(device, &of_plan, &plan), "subsweep_scan_plan_create");
    host_check(subsweep_plan_scratch_requirements(plan, COUNT, 0, &needs), "subsweep_plan_scratch_requirements");
    EXPECT(needs.size > 16 && needs.alignment == 16 && (needs.usage & VK_BUFFER_USAGE_TRANSFER_DST_BIT) != 0);
    right.count.count = COUNT;
    right.source = right.destination = part(memory, 0, 4 * COUNT);
    right.scratch = scratch_part(scratch, 0, needs.size);
    right.initial_on_host = initial;
    right.initial_on_host_size = 4;

    REFUSE(subsweep_cmd_scan(NULL, commands, &right), SUBSWEEP_ERROR_NULL, "plan is null");
    REFUSE(subsweep_cmd_scan(plan, NULL, &right), SUBSWEEP_ERROR_NULL, "command_buffer is null");
    REFUSE(subsweep_cmd_scan(plan, commands, NULL), SUBSWEEP_ERROR_NULL, "SubsweepScanInfo is null");
    REFUSE_SCAN(info.struct_size = offsetof(SubsweepScanInfo, functions_data) - 1, SUBSWEEP_ERROR_STRUCT_SIZE, "struct_size");
    REFUSE_SCAN(info.flags = 1, SUBSWEEP_ERROR_UNKNOWN_VALUE, "SubsweepScanInfo.flags");
    info = right;
    info.scratch.size -= 16;
    sprintf(needed, "%u bytes are needed, %u were given", (unsigned)needs.size, (unsigned)needs.size - 16);
    REFUSE(subsweep_cmd_scan(plan, commands, &info), SUBSWEEP_ERROR_SCRATCH_TOO_SMALL, needed);
    REFUSE_SCAN(info.scratch.buffer = VK_NULL_HANDLE, SUBSWEEP_ERROR_NULL, "scratch.buffer");
    REFUSE_SCAN(info.scratch.address = 0, SUBSWEEP_ERROR_NULL, "scratch has");
    REFUSE_SCAN(info.scratch.offset = UINT64_MAX - 3, SUBSWEEP_ERROR_INVALID_RANGE, "scratch.offset");
    REFUSE_SCAN(info.source.address = info.destination.address = 0, SUBSWEEP_ERROR_NULL,
                "source has 400000 bytes at address 0");
    REFUSE_SCAN(info.scratch.offset = 2, SUBSWEEP_ERROR_MISALIGNED, "scratch in its buffer");
    REFUSE_SCAN(info.scratch.usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, SUBSWEEP_ERROR_MISSING_USAGE,
                "INDIRECT_BUFFER");
    REFUSE_SCAN(info.source.size -= 1, SUBSWEEP_ERROR_RANGE_TOO_SMALL, "400000 bytes are needed, 399999");
    REFUSE_SCAN(info.destination.size = UINT64_MAX, SUBSWEEP_ERROR_INVALID_RANGE, "destination");
    REFUSE_SCAN(info.destination.address += 2, SUBSWEEP_ERROR_MISALIGNED, "destination");
    REFUSE_SCAN(info.destination.address += 4, SUBSWEEP_ERROR_OVERLAP, "source and destination");
    REFUSE_SCAN(info.count.count = UINT64_MAX, SUBSWEEP_ERROR_TOO_MANY_ELEMENTS, "18446744073709551615");
    REFUSE_SCAN(info.count.address = memory->address, SUBSWEEP_ERROR_UNSUPPORTED, "direct counts only");
    info.count.count = (uint64_t)1 << 32;
    REFUSE(subsweep_cmd_scan(plan, commands, &info), SUBSWEEP_ERROR_TOO_MANY_ELEMENTS, "4294967296");
    REFUSE_SCAN(info.segments = part(memory, 4 * COUNT, 4 * COUNT), SUBSWEEP_ERROR_UNSUPPORTED, "no segments");
    REFUSE_SCAN(info.initial_on_device = part(memory, 4 * COUNT, 4), SUBSWEEP_ERROR_UNSUPPORTED, "not both");
    REFUSE_SCAN(info.initial_on_host_size = 8, SUBSWEEP_ERROR_UNSUPPORTED, "one row");
    info.initial_on_host_size = SIZE_MAX - 3;
    REFUSE(subsweep_cmd_scan(plan, commands, &info), SUBSWEEP_ERROR_UNSUPPORTED, "row");
    info.initial_on_host_size = 3;
    REFUSE(subsweep_cmd_scan(plan, commands, &info), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "4 bytes are needed, 3");
    info.initial_on_host_size = 4;
    info.initial_on_host = (const char *)initial + 1;
    REFUSE(subsweep_cmd_scan(plan, commands, &info), SUBSWEEP_ERROR_MISALIGNED, "initial_on_host");
    info.initial_on_host = NULL;
    REFUSE(subsweep_cmd_scan(plan, commands, &info), SUBSWEEP_ERROR_NULL, "initial_on_host");
    info.initial_on_host_size = 0;
    REFUSE(subsweep_cmd_scan(plan, commands, &info), SUBSWEEP_ERROR_UNSUPPORTED, "initial value");
    /* A success does not change the last error. */
    info = right;
    info.count.count = 0;
    EXPECT(subsweep_cmd_scan(plan, commands, &info) == VK_SUCCESS);
    EXPECT(strstr(subsweep_last_error(), "initial value") != NULL);
    subsweep_plan_destroy(plan);
}

static void refuse_sorts(const SubsweepDevice *device, VkCommandBuffer commands, const Memory *memory) {
    const SubsweepSortPlanCreateInfo right = {.struct_size = sizeof right};
    SubsweepSortPlanCreateInfo of_plan = right;
    SubsweepSortInfo info = {.struct_size = sizeof info, .count = {.count = 10}};
    SubsweepSegmentedSortInfo in_segments = {
        .struct_size = sizeof in_segments, .count = {.count = 10}, .segment_count = {.count = 2}};
    SubsweepPlan *segmented = NULL;
    SubsweepPlan *plan = NULL;
    of_plan.values = 6;
    REFUSE(subsweep_sort_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "values");
    of_plan = right;
    of_plan.end_bit = 8;
    REFUSE(subsweep_sort_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "SUBSWEEP_SORT_BIT_RANGE_BIT");
    of_plan.flags = SUBSWEEP_SORT_BIT_RANGE_BIT;
    of_plan.end_bit = 33;
    REFUSE(subsweep_sort_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "33 given, 0 to 32");
    of_plan = right;
    of_plan.flags = SUBSWEEP_SORT_DOUBLE_BUFFER_BIT | SUBSWEEP_SORT_OUT_OF_PLACE_BIT;
    REFUSE(subsweep_sort_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "one form of memory");
    of_plan.flags = SUBSWEEP_SORT_DESTROYS_INPUT_BIT;
    REFUSE(subsweep_sort_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "goes with SUBSWEEP_SORT_OUT_OF_PLACE_BIT");
    of_plan = right;
    of_plan.flags = SUBSWEEP_SORT_DISCARDS_KEYS_BIT;
    of_plan.values = SUBSWEEP_SORT_VALUES_ARGSORT;
    REFUSE(subsweep_sort_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNSUPPORTED, "discards its keys");
    REFUSE(subsweep_segmented_sort_plan_create(device, &of_plan, &segmented), SUBSWEEP_ERROR_UNSUPPORTED, "discards its keys");
    of_plan = right;
    of_plan.algorithm = "chained";
    REFUSE(subsweep_sort_plan_create(device, &of_plan, &plan), SUBSWEEP_ERROR_UNKNOWN_VALUE, "onesweep");
    REFUSE(subsweep_segmented_sort_plan_create(device, &of_plan, &segmented), SUBSWEEP_ERROR_UNSUPPORTED, "algorithm");
    EXPECT(plan == NULL && segmented == NULL);
    EXPECT(subsweep_plan_max_count(NULL) == 0);

    host_check(subsweep_sort_plan_create(device, &right, &plan), "subsweep_sort_plan_create");
    REFUSE(subsweep_cmd_sort(plan, commands, &info), SUBSWEEP_ERROR_RANGE_TOO_SMALL, "keys is too small: 40 bytes");
    info.keys.size = 40;
    REFUSE(subsweep_cmd_sort(plan, commands, &info), SUBSWEEP_ERROR_NULL, "keys has 40 bytes at address 0");
    info.keys = part(memory, 0, 40);
    EXPECT(!subsweep_sort_plan_is_result_in_alt(plan, 10) && !subsweep_sort_plan_is_result_in_alt(NULL, 10));
    info.keys_alt = info.keys;
    REFUSE(subsweep_cmd_sort(plan, commands, &info), SUBSWEEP_ERROR_UNSUPPORTED, "no alternate buffers");
    info.keys_alt.size = 0;
    info.count.count = subsweep_plan_max_count(plan) + 1;
    REFUSE(subsweep_cmd_sort(plan, commands, &info), SUBSWEEP_ERROR_TOO_MANY_ELEMENTS, "a sort without large counts");
    REFUSE(subsweep_cmd_sort(plan, NULL, &info), SUBSWEEP_ERROR_NULL, "command_buffer");
    REFUSE(subsweep_cmd_segmented_sort(plan, commands, &in_segments), SUBSWEEP_ERROR_UNSUPPORTED,
           "not of a segmented sort");
    EXPECT(subsweep_scan_plan_rounding_depth(plan, 10) == 0);
    subsweep_plan_destroy(plan);

    host_check(subsweep_segmented_sort_plan_create(device, &right, &segmented), "subsweep_segmented_sort_plan_create");
    in_segments.keys = part(memory, 0, 40);
    in_segments.segments = part(memory, 36, 8);
    in_segments.scratch = scratch_part(memory, 512, 3072);
    REFUSE(subsweep_cmd_segmented_sort(segmented, commands, &in_segments), SUBSWEEP_ERROR_OVERLAP, "segments");
    in_segments.segments.address = 0;
    REFUSE(subsweep_cmd_segmented_sort(segmented, commands, &in_segments), SUBSWEEP_ERROR_NULL, "segments has 8 bytes");
    in_segments.segments = part(memory, 48, 8);
    in_segments.segment_count.address = memory->address + 256;
    REFUSE(subsweep_cmd_segmented_sort(segmented, commands, &in_segments), SUBSWEEP_ERROR_UNSUPPORTED,
           "direct counts only");
    REFUSE(subsweep_cmd_segmented_sort(NULL, commands, &in_segments), SUBSWEEP_ERROR_NULL, "plan");
    EXPECT(!subsweep_sort_plan_is_result_in_alt(segmented, 10));
    subsweep_plan_destroy(segmented);
}

int main(void) {
    const VkBufferUsageFlags usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
    Memory memory, scratch;
    Host host;
    SubsweepDevice *device;
    VkCommandBuffer commands;
    uint32_t i;

    EXPECT(strcmp(subsweep_last_error(), "") == 0);
    EXPECT(subsweep_abi_version() == SUBSWEEP_ABI_VERSION);
    EXPECT(strcmp(subsweep_version(), VERSION) == 0);
    host_create(&host);
    refuse_requirements(&host);
    refuse_devices(&host);
    device = adopt(&host);
    refuse_scan_plans(device);

    memory_create(&memory, &host, 8 * COUNT, usage);
    memory_create(&scratch, &host, 8 * COUNT, usage);
    for (i = 0; i < 2 * COUNT; i++) {
        memory.words[i] = scratch.words[i] = i;
    }
    commands = host_begin(&host);
    refuse_scans(device, commands, &memory, &scratch);
    refuse_sorts(device, commands, &memory);
    host_run(&host, commands);
    for (i = 0; i < 2 * COUNT && memory.words[i] == i && scratch.words[i] == i; i++) {
    }
    EXPECT(i == 2 * COUNT);

    subsweep_device_destroy(device);
    memory_destroy(&scratch, &host);
    memory_destroy(&memory, &host);
    host_destroy(&host);
    return failure_count > 0;
}
