/* Records a scan and a sort by subsweep into a command buffer of its own, on a device of its own, and checks the results.
 *
 *     cc -std=c99 scan_and_sort.c host.c $(pkg-config --cflags --libs subsweep vulkan)
 */

#include <stdio.h>
#include <stdlib.h>

#include "host.h"

enum { ROW_COUNT = 100000, MAX_KEY_COUNT = 60000, KEY_COUNT = 50000 };

/* Reproducible pseudorandom numbers. */
static uint32_t number(uint32_t i) {
    i = (i ^ i >> 16) * 0x7feb352du;
    i = (i ^ i >> 15) * 0x846ca68bu;
    return i ^ i >> 16;
}

static SubsweepAddressRange whole(const Memory *memory) {
    SubsweepAddressRange range = {0};
    range.address = memory->address;
    range.size = memory->size;
    return range;
}

static SubsweepBufferRange scratch_of(const Memory *memory) {
    SubsweepBufferRange range = {0};
    range.buffer = memory->buffer;
    range.address = memory->address;
    range.size = memory->size;
    range.usage = memory->usage;
    return range;
}

static SubsweepDevice *adopt(const Host *host) {
    SubsweepDeviceCreateInfo info = {.struct_size = sizeof info};
    SubsweepDevice *device = NULL;
    info.features = host->features;
    info.get_instance_proc_addr = vkGetInstanceProcAddr;
    info.instance = host->instance;
    info.physical_device = host->physical_device;
    info.device = host->device;
    host_check(subsweep_device_create(&info, &device), "subsweep_device_create");
    return device;
}

/* A plan of exclusive sums of uint32_t. */
static SubsweepPlan *plan_scan(const SubsweepDevice *device) {
    SubsweepScanPlanCreateInfo info = {.struct_size = sizeof info};
    SubsweepPlan *plan = NULL;
    info.kind = SUBSWEEP_SCAN_KIND_EXCLUSIVE;
    info.element_type = SUBSWEEP_ELEMENT_TYPE_U32;
    info.scan_operator = SUBSWEEP_SCAN_OPERATOR_ADD;
    host_check(subsweep_scan_plan_create(device, &info, &plan), "subsweep_scan_plan_create");
    return plan;
}

/* A plan of sorts of keys with 4-byte values, with a GPU-resident count. */
static SubsweepPlan *plan_sort(const SubsweepDevice *device) {
    SubsweepSortPlanCreateInfo info = {.struct_size = sizeof info};
    SubsweepPlan *plan = NULL;
    info.flags = SUBSWEEP_SORT_INDIRECT_COUNT_BIT;
    info.key_type = SUBSWEEP_ELEMENT_TYPE_U32;
    info.values = SUBSWEEP_SORT_VALUES_4_BYTES;
    host_check(subsweep_sort_plan_create(device, &info, &plan), "subsweep_sort_plan_create");
    return plan;
}

static void record_scan(const SubsweepPlan *plan, VkCommandBuffer commands, const Memory *rows,
                        const Memory *scratch) {
    SubsweepScanInfo info = {.struct_size = sizeof info};
    info.count.count = ROW_COUNT;
    info.source = whole(rows);
    info.destination = whole(rows);
    info.scratch = scratch_of(scratch);
    host_check(subsweep_cmd_scan(plan, commands, &info), "subsweep_cmd_scan");
}

static void record_sort(const SubsweepPlan *plan, VkCommandBuffer commands, const Memory *count,
                        const Memory *keys, const Memory *values, const Memory *scratch) {
    SubsweepSortInfo info = {.struct_size = sizeof info};
    info.count.address = count->address;
    info.count.count = MAX_KEY_COUNT;
    info.keys = whole(keys);
    info.values = whole(values);
    info.scratch = scratch_of(scratch);
    host_check(subsweep_cmd_sort(plan, commands, &info), "subsweep_cmd_sort");
}

static int scan_is_right(const Memory *rows) {
    uint32_t sum = 0;
    uint32_t i;
    for (i = 0; i < ROW_COUNT; i++) {
        if (rows->words[i] != sum) {
            fprintf(stderr, "row %u: %u, expected %u\n", (unsigned)i, (unsigned)rows->words[i], (unsigned)sum);
            return 0;
        }
        sum += number(i);
    }
    return 1;
}

/* Keys are sorted stably with their values; elements past the count are unchanged. */
static int sort_is_right(const Memory *keys, const Memory *values) {
    uint32_t i;
    for (i = 0; i < MAX_KEY_COUNT; i++) {
        const uint32_t key = keys->words[i];
        const uint32_t value = values->words[i];
        const int is_ordered = i == 0 || i >= KEY_COUNT || keys->words[i - 1] < key ||
                               (keys->words[i - 1] == key && values->words[i - 1] < value);
        const int is_own = i < KEY_COUNT ? value < KEY_COUNT : value == i;
        if (!is_ordered || !is_own || key != number(value) % 1000) {
            fprintf(stderr, "key %u: %u with %u\n", (unsigned)i, (unsigned)key, (unsigned)value);
            return 0;
        }
    }
    return 1;
}

int main(void) {
    SubsweepScratchRequirements scan_scratch;
    SubsweepScratchRequirements sort_scratch;
    SubsweepAccess scanned, sorted;
    Memory rows, keys, values, count, scratch[2];
    Host host;
    SubsweepDevice *device;
    SubsweepPlan *scan;
    SubsweepPlan *sort;
    VkCommandBuffer commands;
    uint32_t i;
    int is_right;

    host_create(&host);
    device = adopt(&host);
    scan = plan_scan(device);
    sort = plan_sort(device);
    printf("%s: scan by %s\n", host.name, subsweep_plan_policy(scan));
    printf("%s: sort by %s\n", host.name, subsweep_plan_policy(sort));

    host_check(subsweep_plan_scratch_requirements(scan, ROW_COUNT, 0, &scan_scratch),
               "subsweep_plan_scratch_requirements");
    host_check(subsweep_plan_scratch_requirements(sort, MAX_KEY_COUNT, 0, &sort_scratch),
               "subsweep_plan_scratch_requirements");
    memory_create(&rows, &host, 4 * ROW_COUNT, 0);
    memory_create(&keys, &host, 4 * MAX_KEY_COUNT, 0);
    memory_create(&values, &host, 4 * MAX_KEY_COUNT, 0);
    memory_create(&count, &host, 4, 0);
    memory_create(&scratch[0], &host, scan_scratch.size, scan_scratch.usage);
    memory_create(&scratch[1], &host, sort_scratch.size, sort_scratch.usage);
    for (i = 0; i < ROW_COUNT; i++) {
        rows.words[i] = number(i);
    }
    for (i = 0; i < MAX_KEY_COUNT; i++) {
        keys.words[i] = number(i) % 1000;
        values.words[i] = i;
    }
    count.words[0] = KEY_COUNT;

    /* Scan and sort share no memory: no barrier is needed between them, only one to the host after both. */
    commands = host_begin(&host);
    record_scan(scan, commands, &rows, &scratch[0]);
    record_sort(sort, commands, &count, &keys, &values, &scratch[1]);
    scanned = subsweep_plan_last_access(scan);
    sorted = subsweep_plan_last_access(sort);
    host_barrier(commands, scanned.stages | sorted.stages, scanned.access | sorted.access,
                 VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    host_run(&host, commands);

    is_right = scan_is_right(&rows) && sort_is_right(&keys, &values);
    printf("%s: %s\n", host.name, is_right ? "both are right" : "WRONG");

    subsweep_plan_destroy(sort);
    subsweep_plan_destroy(scan);
    subsweep_device_destroy(device);
    memory_destroy(&scratch[1], &host);
    memory_destroy(&scratch[0], &host);
    memory_destroy(&count, &host);
    memory_destroy(&values, &host);
    memory_destroy(&keys, &host);
    memory_destroy(&rows, &host);
    host_destroy(&host);
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
