/* A recording makes no host allocation: all allocations of the process are counted. For glibc alone. */

#include <stdlib.h>

#include "expect.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static volatile int allocation_count = 0;

void *malloc(size_t size) {
    allocation_count++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocation_count++;
    return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size) {
    allocation_count++;
    return __libc_realloc(pointer, size);
}

int posix_memalign(void **pointer, size_t alignment, size_t size) {
    allocation_count++;
    *pointer = __libc_memalign(alignment, size);
    return *pointer == NULL;
}

static int command_count = 0;

/* A stand-in for every recording function, so that the driver's allocations are not counted. */
static VKAPI_ATTR void VKAPI_CALL count_command(void) {
    command_count++;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL of_device(VkDevice device, const char *name) {
    return strncmp(name, "vkCmd", 5) == 0 ? count_command : vkGetDeviceProcAddr(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL watched(VkInstance instance, const char *name) {
    return strcmp(name, "vkGetDeviceProcAddr") == 0 ? (PFN_vkVoidFunction)of_device
                                                    : vkGetInstanceProcAddr(instance, name);
}

int main(void) {
    enum { COUNT = 100000 };
    const VkBufferUsageFlags usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
    const SubsweepScanPlanCreateInfo of_scan = {.struct_size = sizeof of_scan, .flags = SUBSWEEP_SCAN_INITIAL_VALUE_BIT};
    const SubsweepSortPlanCreateInfo of_sort = {.struct_size = sizeof of_sort, .algorithm = "onesweep"};
    const uint32_t initial = 7;
    SubsweepScanInfo scan_info = {.struct_size = sizeof scan_info, .count = {.count = COUNT}};
    SubsweepSortInfo sort_info = {.struct_size = sizeof sort_info, .count = {.count = COUNT}};
    const SubsweepScanPlanCreateInfo of_counted = {.struct_size = sizeof of_counted,
                                                   .flags = SUBSWEEP_SCAN_INDIRECT_COUNT_BIT};
    const SubsweepSortPlanCreateInfo of_segments = {.struct_size = sizeof of_segments,
                                                    .flags = SUBSWEEP_SORT_INDIRECT_COUNT_BIT};
    SubsweepScanInfo counted_info = {.struct_size = sizeof counted_info, .count = {.count = COUNT}};
    SubsweepSegmentedSortInfo segments_info = {
        .struct_size = sizeof segments_info, .count = {.count = COUNT}, .segment_count = {.count = 1000}};
    SubsweepPlan *counted = NULL;
    SubsweepPlan *segments = NULL;
    SubsweepDeviceCreateInfo adopted = {.struct_size = sizeof adopted, .get_instance_proc_addr = watched};
    SubsweepDevice *device = NULL;
    SubsweepPlan *scan = NULL;
    SubsweepPlan *sort = NULL;
    VkResult results[5];
    int counts[3];
    Memory memory, other, scratch;
    VkCommandBuffer commands;
    Host host;

    host_create(&host);
    adopted.features = host.features;
    adopted.instance = host.instance;
    adopted.physical_device = host.physical_device;
    adopted.device = host.device;
    counts[0] = allocation_count;
    host_check(subsweep_device_create(&adopted, &device), "subsweep_device_create");
    EXPECT(allocation_count > counts[0]);
    host_check(subsweep_scan_plan_create(device, &of_scan, &scan), "subsweep_scan_plan_create");
    host_check(subsweep_sort_plan_create(device, &of_sort, &sort), "subsweep_sort_plan_create");
    host_check(subsweep_scan_plan_create(device, &of_counted, &counted), "subsweep_scan_plan_create");
    host_check(subsweep_segmented_sort_plan_create(device, &of_segments, &segments),
               "subsweep_segmented_sort_plan_create");
    memory_create(&memory, &host, 8 * COUNT, usage);
    memory_create(&other, &host, 8 * COUNT, usage);
    memory_create(&scratch, &host, 64 * COUNT, usage);
    scan_info.source = scan_info.destination = sort_info.keys = part(&memory, 0, 4 * COUNT);
    scan_info.scratch = sort_info.scratch = scratch_part(&scratch, 0, 64 * COUNT);
    counted_info.source = counted_info.destination = segments_info.keys = sort_info.keys;
    counted_info.scratch = segments_info.scratch = sort_info.scratch;
    counted_info.count.address = segments_info.segment_count.address = other.address;
    segments_info.segments = part(&other, 16, 4 * 1000);
    scan_info.initial_on_host = &initial;
    scan_info.initial_on_host_size = sizeof initial;

    /* Including the first calls of this thread. */
    commands = host_begin(&host);
    counts[0] = allocation_count;
    results[0] = subsweep_cmd_scan(scan, commands, &scan_info);
    results[1] = subsweep_cmd_sort(sort, commands, &sort_info);
    results[2] = subsweep_cmd_scan(counted, commands, &counted_info);
    results[3] = subsweep_cmd_segmented_sort(segments, commands, &segments_info);
    counts[1] = allocation_count;
    /* A failure allocates its message. */
    scan_info.scratch.size = 0;
    results[4] = subsweep_cmd_scan(scan, commands, &scan_info);
    counts[2] = allocation_count;
    host_run(&host, commands);
    EXPECT(results[0] == VK_SUCCESS && results[1] == VK_SUCCESS && results[2] == VK_SUCCESS);
    EXPECT(results[3] == VK_SUCCESS && command_count > 50);
    EXPECT(counts[1] == counts[0]);
    EXPECT((int)results[4] == SUBSWEEP_ERROR_SCRATCH_TOO_SMALL && counts[2] > counts[1]);

    memory_destroy(&scratch, &host);
    memory_destroy(&other, &host);
    memory_destroy(&memory, &host);
    subsweep_plan_destroy(segments);
    subsweep_plan_destroy(counted);
    subsweep_plan_destroy(sort);
    subsweep_plan_destroy(scan);
    subsweep_device_destroy(device);
    host_destroy(&host);
    return failure_count > 0;
}
