/* Every kind of plan gives right results, recorded by one thread, and by several at once. */

#define _POSIX_C_SOURCE 200112L

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "expect.h"

enum { COUNT = 5000, THREAD_COUNT = 4 };

/* Reverse segmented scan: maxima of int32_t with the initial value 100. Segments of 37 elements are by flags, or the rows
   of a table. */
static void scan_segments(const Host *host, const SubsweepDevice *device, uint32_t row_length) {
    const SubsweepScanPlanCreateInfo of_plan = {.struct_size = sizeof of_plan,
                                                .flags = SUBSWEEP_SCAN_INITIAL_VALUE_BIT | SUBSWEEP_SCAN_OUT_OF_PLACE_BIT,
                                                .direction = SUBSWEEP_SCAN_DIRECTION_REVERSE,
                                                .element_type = SUBSWEEP_ELEMENT_TYPE_I32,
                                                .scan_operator = SUBSWEEP_SCAN_OPERATOR_MAX,
                                                .segments_by = row_length > 0 ? SUBSWEEP_SEGMENTS_BY_NONE
                                                                              : SUBSWEEP_SEGMENTS_BY_FLAGS,
                                                .algorithm = "reduce-then-scan",
                                                .row_length = row_length};
    const int32_t initial = 100;
    SubsweepScanInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *source = array(&arrays, 4 * COUNT);
    Memory *destination = array(&arrays, 4 * COUNT);
    Memory *flags = array(&arrays, 4 * COUNT);
    int32_t most = initial;
    uint32_t i;
    host_check(subsweep_scan_plan_create(device, &of_plan, &plan), "subsweep_scan_plan_create");
    for (i = 0; i < COUNT; i++) {
        source->words[i] = number(i) % 1000 - 500;
        flags->words[i] = i % 37 == 0;
    }
    info.source = all(source);
    info.destination = all(destination);
    info.segments = part(flags, 0, row_length > 0 ? 0 : 4 * COUNT);
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    info.initial_on_host = &initial;
    info.initial_on_host_size = sizeof initial;
    RUN(host, subsweep_cmd_scan, plan, &info);
    for (i = COUNT; i-- > 0;) {
        const int32_t element = (int32_t)source->words[i];
        most = element > most ? element : most;
        if ((int32_t)destination->words[i] != most) {
            break;
        }
        most = flags->words[i] != 0 ? initial : most;
    }
    EXPECT(i == UINT32_MAX);
    arrays_destroy(&arrays, __LINE__);
    subsweep_plan_destroy(plan);
}

/* Exclusive sums of three columns, with a GPU-resident count of rows and initial row. */
static void scan_columns(const Host *host, const SubsweepDevice *device) {
    const SubsweepScanPlanCreateInfo of_plan = {.struct_size = sizeof of_plan,
                                                .flags = SUBSWEEP_SCAN_INITIAL_VALUE_BIT | SUBSWEEP_SCAN_INDIRECT_COUNT_BIT,
                                                .kind = SUBSWEEP_SCAN_KIND_EXCLUSIVE,
                                                .column_count = 3};
    SubsweepScanInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *rows = array(&arrays, 12 * COUNT);
    Memory *counts = array(&arrays, 16);
    uint32_t sums[3];
    uint32_t i;
    host_check(subsweep_scan_plan_create(device, &of_plan, &plan), "subsweep_scan_plan_create");
    for (i = 0; i < 3 * COUNT; i++) {
        rows->words[i] = number(i);
    }
    for (i = 0; i < 3; i++) {
        sums[i] = counts->words[i] = i + 1;
    }
    counts->words[3] = COUNT - 10;
    info.count.address = counts->address + 12;
    info.source = info.destination = all(rows);
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    info.initial_on_device = part(counts, 0, 12);
    RUN(host, subsweep_cmd_scan, plan, &info);
    for (i = 0; i < 3 * (COUNT - 10) && rows->words[i] == sums[i % 3]; i++) {
        sums[i % 3] += number(i);
    }
    EXPECT(i == 3 * (COUNT - 10));
    EXPECT(rows->words[i] == number(i));
    EXPECT(subsweep_scan_plan_rounding_depth(plan, COUNT) > 0);
    arrays_destroy(&arrays, __LINE__);
    subsweep_plan_destroy(plan);
}

/* Sums of positive floats that rounding lets decrease, and sums of a monotone scan: the greatest so far. */
static void scan_monotone(const Host *host, const SubsweepDevice *device) {
    enum { FLOAT_COUNT = 32000 };
    SubsweepScanPlanCreateInfo of_plan = {.struct_size = sizeof of_plan, .element_type = SUBSWEEP_ELEMENT_TYPE_F32};
    SubsweepScanInfo info = {.struct_size = sizeof info, .count = {.count = FLOAT_COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *source = array(&arrays, 4 * FLOAT_COUNT);
    Memory *results[2] = {array(&arrays, 4 * FLOAT_COUNT), array(&arrays, 4 * FLOAT_COUNT)};
    float greatest = 0;
    uint32_t i, decreases = 0;
    for (i = 0; i < FLOAT_COUNT; i++) {
        const float part_of_1 = (float)(number(i) >> 8) / (1 << 24), square = part_of_1 * part_of_1;
        const float weight = square * square * square * square;
        memcpy(&source->words[i], &weight, 4);
    }
    info.source = all(source);
    for (i = 0; i < 2; i++) {
        of_plan.flags = i == 0 ? 0 : SUBSWEEP_SCAN_MONOTONE_BIT;
        host_check(subsweep_scan_plan_create(device, &of_plan, &plan), "subsweep_scan_plan_create");
        info.destination = all(results[i]);
        info.scratch = scratch_of(&arrays, plan, FLOAT_COUNT, 0);
        RUN(host, subsweep_cmd_scan, plan, &info);
        subsweep_plan_destroy(plan);
    }
    for (i = 0; i < FLOAT_COUNT; i++) {
        float sum, monotone;
        memcpy(&sum, &results[0]->words[i], 4);
        memcpy(&monotone, &results[1]->words[i], 4);
        decreases += sum < greatest;
        greatest = sum > greatest ? sum : greatest;
        if (monotone != greatest) {
            break;
        }
    }
    EXPECT(i == FLOAT_COUNT && decreases > 0);
    arrays_destroy(&arrays, __LINE__);
}

/* A sort by 12 bits, from one buffer to the other: three passes of 4 bits leave the result of each form there. */
static void sort_to_other_buffer(const Host *host, const SubsweepDevice *device, SubsweepSortFlags form,
                                 SubsweepSortFlags discards) {
    const SubsweepSortPlanCreateInfo of_plan = {.struct_size = sizeof of_plan,
                                                .flags = form | discards | SUBSWEEP_SORT_BIT_RANGE_BIT,
                                                .values = SUBSWEEP_SORT_VALUES_INDICES,
                                                .begin_bit = 4,
                                                .end_bit = 16,
                                                .algorithm = "radix-4bit"};
    SubsweepSortInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *keys = array(&arrays, 4 * COUNT);
    Memory *keys_alt = array(&arrays, 4 * COUNT);
    Memory *values = array(&arrays, 4 * COUNT);
    Memory *indices = array(&arrays, 4 * COUNT);
    const uint32_t *sorted;
    uint32_t i;
    host_check(subsweep_sort_plan_create(device, &of_plan, &plan), "subsweep_sort_plan_create");
    for (i = 0; i < COUNT; i++) {
        keys->words[i] = number(i);
    }
    info.keys = all(keys);
    info.keys_alt = all(keys_alt);
    if (form != SUBSWEEP_SORT_OUT_OF_PLACE_BIT) {
        info.values = all(values);
    }
    info.values_alt = all(indices);
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    EXPECT((info.scratch.size < 4 * COUNT) == (form != SUBSWEEP_SORT_OUT_OF_PLACE_BIT));
    EXPECT(subsweep_sort_plan_is_result_in_alt(plan, COUNT) == (form == SUBSWEEP_SORT_DOUBLE_BUFFER_BIT));
    RUN(host, subsweep_cmd_sort, plan, &info);
    sorted = indices->words;
    /* The sort is stable: each index belongs to a later key, or to a key of a larger digit. */
    EXPECT(sorted[0] < COUNT);
    for (i = 1; i < COUNT && sorted[i] < COUNT; i++) {
        const uint32_t before = number(sorted[i - 1]) >> 4 & 0xfff;
        const uint32_t digit = number(sorted[i]) >> 4 & 0xfff;
        if (digit < before || (digit == before && sorted[i] <= sorted[i - 1])) {
            break;
        }
    }
    EXPECT(i == COUNT);
    for (i = 0; i < COUNT && (keys_alt->words[i] == number(sorted[i]) || discards != 0); i++) {
    }
    EXPECT(i == COUNT);
    if (form == SUBSWEEP_SORT_OUT_OF_PLACE_BIT) {
        for (i = 0; i < COUNT && keys->words[i] == number(i); i++) {
        }
        EXPECT(i == COUNT);
    }
    arrays_destroy(&arrays, __LINE__);
    subsweep_plan_destroy(plan);
}

/* A sort by a plan for 2^32 keys and more. */
static void sort_wide(const Host *host, const SubsweepDevice *device) {
    SubsweepSortPlanCreateInfo of_plan = {.struct_size = sizeof of_plan,
                                          .flags = SUBSWEEP_SORT_LARGE_COUNTS_BIT | SUBSWEEP_SORT_DESCENDING_BIT};
    SubsweepSortInfo info = {.struct_size = sizeof info, .count = {.count = COUNT}};
    SubsweepPlan *plan = NULL;
    SubsweepPlan *segmented = NULL;
    Arrays arrays = {.host = host};
    Memory *keys = array(&arrays, 4 * COUNT);
    uint32_t i;
    EXPECT(subsweep_segmented_sort_plan_create(device, &of_plan, &segmented) == SUBSWEEP_ERROR_UNSUPPORTED);
    of_plan.row_length = 3;
    EXPECT(subsweep_sort_plan_create(device, &of_plan, &plan) == SUBSWEEP_ERROR_UNKNOWN_VALUE && plan == NULL);
    of_plan.row_length = 0;
    of_plan.values = SUBSWEEP_SORT_VALUES_ARGSORT;
    EXPECT(subsweep_sort_plan_create(device, &of_plan, &plan) == SUBSWEEP_ERROR_UNSUPPORTED && plan == NULL);
    of_plan.values = SUBSWEEP_SORT_VALUES_NONE;
    of_plan.algorithm = "radix-8bit";
    EXPECT(subsweep_sort_plan_create(device, &of_plan, &plan) == SUBSWEEP_ERROR_INVALID_POLICY && plan == NULL);
    of_plan.algorithm = "onesweep";
    host_check(subsweep_sort_plan_create(device, &of_plan, &plan), "subsweep_sort_plan_create");
    EXPECT(subsweep_plan_max_count(plan) > (uint64_t)1 << 36);
    for (i = 0; i < COUNT; i++) {
        keys->words[i] = number(i);
    }
    info.keys = all(keys);
    info.scratch = scratch_of(&arrays, plan, COUNT, 0);
    RUN(host, subsweep_cmd_sort, plan, &info);
    for (i = 1; i < COUNT && keys->words[i - 1] >= keys->words[i]; i++) {
    }
    EXPECT(i == COUNT);
    arrays_destroy(&arrays, __LINE__);
    subsweep_plan_destroy(plan);
}

/* A segmented sort of segments of 0, 1, 2, ... keys. */
static void sort_segments(const Host *host, const SubsweepDevice *device, SubsweepSortFlags form) {
    enum { SEGMENT_COUNT = 100 };
    const SubsweepSortPlanCreateInfo of_plan = {.struct_size = sizeof of_plan,
                                                .flags = SUBSWEEP_SORT_INDIRECT_COUNT_BIT | form,
                                                .values = SUBSWEEP_SORT_VALUES_8_BYTES};
    SubsweepSegmentedSortInfo info = {
        .struct_size = sizeof info, .count = {.count = COUNT}, .segment_count = {.count = 2 * SEGMENT_COUNT}};
    SubsweepPlan *plan = NULL;
    Arrays arrays = {.host = host};
    Memory *keys = array(&arrays, 4 * COUNT);
    Memory *values = array(&arrays, 8 * COUNT);
    Memory *keys_alt = array(&arrays, 4 * COUNT);
    Memory *values_alt = array(&arrays, 8 * COUNT);
    Memory *segments = array(&arrays, 8 * SEGMENT_COUNT);
    Memory *ends = array(&arrays, 8 * SEGMENT_COUNT);
    Memory *counts = array(&arrays, 4);
    const uint32_t *sorted, *moved;
    uint32_t begin = 0, i;
    host_check(subsweep_segmented_sort_plan_create(device, &of_plan, &plan), "subsweep_segmented_sort_plan_create");
    EXPECT(subsweep_plan_max_count(plan) > COUNT);
    EXPECT(strlen(subsweep_plan_policy(plan)) > 0);
    for (i = 0; i < COUNT; i++) {
        keys->words[i] = number(i);
        values->words[2 * i] = values->words[2 * i + 1] = i;
    }
    for (i = 0; i < SEGMENT_COUNT; i++) {
        segments->words[i] = begin;
        begin += i;
        ends->words[i] = i + 1 < SEGMENT_COUNT ? begin : COUNT;
    }
    if ((form & SUBSWEEP_SORT_RANGES_BIT) != 0) {
        info.segment_ends = all(ends);
    }
    info.keys = all(keys);
    info.values = all(values);
    if ((form & ~SUBSWEEP_SORT_RANGES_BIT) != 0) {
        info.keys_alt = all(keys_alt);
        info.values_alt = all(values_alt);
    }
    counts->words[0] = SEGMENT_COUNT;
    info.segment_count.address = counts->address;
    info.segments = all(segments);
    info.scratch = scratch_of(&arrays, plan, COUNT, 2 * SEGMENT_COUNT);
    RUN(host, subsweep_cmd_segmented_sort, plan, &info);
    sorted = (form & SUBSWEEP_SORT_OUT_OF_PLACE_BIT) != 0 ? keys_alt->words : keys->words;
    moved = (form & SUBSWEEP_SORT_OUT_OF_PLACE_BIT) != 0 ? values_alt->words : values->words;
    for (i = 0; i < COUNT; i++) {
        const uint32_t value = moved[2 * i];
        uint32_t segment = 0;
        int is_first;
        while (segment + 1 < SEGMENT_COUNT && segments->words[segment + 1] <= i) {
            segment++;
        }
        is_first = segments->words[segment] == i;
        if (sorted[i] != number(value) || value != moved[2 * i + 1] || value < segments->words[segment] ||
            (!is_first && sorted[i - 1] > sorted[i])) {
            break;
        }
    }
    EXPECT(i == COUNT);
    arrays_destroy(&arrays, __LINE__);
    subsweep_plan_destroy(plan);
}

/* The state of one thread. */
typedef struct Thread {
    Host host;
    const SubsweepPlan *plan;
    VkCommandBuffer commands;
    SubsweepScanInfo info;
    Arrays arrays;
    Memory *rows;
    VkResult result;
    int has_own_error;
} Thread;

static void *record(void *argument) {
    Thread *thread = argument;
    SubsweepScanInfo wrong = thread->info;
    char address[32];
    int i;
    for (i = 0; i < 100; i++) {
        /* Each refusal has its own message. */
        wrong.source.address = wrong.destination.address = thread->rows->address + 2;
        sprintf(address, "%#llx", (unsigned long long)wrong.source.address);
        if ((int)subsweep_cmd_scan(thread->plan, thread->commands, &wrong) == SUBSWEEP_ERROR_MISALIGNED &&
            strstr(subsweep_last_error(), address) != NULL) {
            thread->has_own_error++;
        }
    }
    thread->result = subsweep_cmd_scan(thread->plan, thread->commands, &thread->info);
    return NULL;
}

/* One plan, recorded by several threads at once after its device was destroyed. */
static void record_in_threads(const Host *host) {
    const SubsweepScanPlanCreateInfo of_plan = {.struct_size = sizeof of_plan};
    const VkCommandPoolCreateInfo of_pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                             .queueFamilyIndex = host->queue_family};
    SubsweepDevice *device = adopt(host);
    SubsweepPlan *plan = NULL;
    Thread threads[THREAD_COUNT];
    pthread_t ids[THREAD_COUNT];
    uint32_t i, row;
    host_check(subsweep_scan_plan_create(device, &of_plan, &plan), "subsweep_scan_plan_create");
    subsweep_device_destroy(device);
    memset(threads, 0, sizeof threads);
    for (i = 0; i < THREAD_COUNT; i++) {
        Thread *thread = &threads[i];
        thread->host = *host;
        thread->plan = plan;
        host_check(vkCreateCommandPool(host->device, &of_pool, NULL, &thread->host.pool), "vkCreateCommandPool");
        thread->commands = host_begin(&thread->host);
        thread->arrays.host = host;
        thread->rows = array(&thread->arrays, 4 * COUNT);
        for (row = 0; row < COUNT; row++) {
            thread->rows->words[row] = i + 1;
        }
        thread->info.struct_size = sizeof thread->info;
        thread->info.count.count = COUNT;
        thread->info.source = thread->info.destination = all(thread->rows);
        thread->info.scratch = scratch_of(&thread->arrays, plan, COUNT, 0);
    }
    for (i = 0; i < THREAD_COUNT; i++) {
        EXPECT(pthread_create(&ids[i], NULL, record, &threads[i]) == 0);
    }
    for (i = 0; i < THREAD_COUNT; i++) {
        EXPECT(pthread_join(ids[i], NULL) == 0);
    }
    for (i = 0; i < THREAD_COUNT; i++) {
        Thread *thread = &threads[i];
        EXPECT(thread->result == VK_SUCCESS && thread->has_own_error == 100);
        run(&thread->host, thread->commands);
        for (row = 0; row < COUNT && thread->rows->words[row] == (row + 1) * (i + 1); row++) {
        }
        EXPECT(row == COUNT);
        arrays_destroy(&thread->arrays, __LINE__);
        vkDestroyCommandPool(host->device, thread->host.pool, NULL);
    }
    subsweep_plan_destroy(plan);
}

/* Concurrent calls of vkCreateComputePipelines: each waits for a second one, if several are expected. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t met;
    int are_several;
    int count;
    int most;
} compiling = {.mutex = PTHREAD_MUTEX_INITIALIZER, .met = PTHREAD_COND_INITIALIZER};

static VKAPI_ATTR VkResult VKAPI_CALL compile(VkDevice device, VkPipelineCache cache, uint32_t count,
                                              const VkComputePipelineCreateInfo *infos,
                                              const VkAllocationCallbacks *allocator, VkPipeline *pipelines) {
    struct timespec end;
    VkResult result;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    pthread_mutex_lock(&compiling.mutex);
    compiling.count++;
    if (compiling.most < compiling.count) {
        compiling.most = compiling.count;
        pthread_cond_broadcast(&compiling.met);
    }
    while (compiling.are_several && compiling.most < 2) {
        /* No other call came: later calls do not wait. */
        if (pthread_cond_timedwait(&compiling.met, &compiling.mutex, &end) != 0) {
            compiling.are_several = 0;
        }
    }
    pthread_mutex_unlock(&compiling.mutex);
    result = vkCreateComputePipelines(device, cache, count, infos, allocator, pipelines);
    pthread_mutex_lock(&compiling.mutex);
    compiling.count--;
    pthread_mutex_unlock(&compiling.mutex);
    return result;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL of_device(VkDevice device, const char *name) {
    return strcmp(name, "vkCreateComputePipelines") == 0 ? (PFN_vkVoidFunction)compile
                                                         : vkGetDeviceProcAddr(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL of_instance(VkInstance instance, const char *name) {
    return strcmp(name, "vkGetDeviceProcAddr") == 0 ? (PFN_vkVoidFunction)of_device
                                                    : vkGetInstanceProcAddr(instance, name);
}

/* A plan's pipelines are compiled on one thread by default, and on two if the program allows it. */
static void compile_in_threads(const Host *host) {
    const SubsweepDeviceCreateInfo info = {.struct_size = sizeof info,
                                           .features = host->features,
                                           .get_instance_proc_addr = of_instance,
                                           .instance = host->instance,
                                           .physical_device = host->physical_device,
                                           .device = host->device};
    const SubsweepScanPlanCreateInfo of_plan = {.struct_size = sizeof of_plan};
    SubsweepDevice *device = NULL;
    SubsweepPlan *plan = NULL;
    host_check(subsweep_device_create(&info, &device), "subsweep_device_create");
    EXPECT(subsweep_scan_plan_create(device, &of_plan, &plan) == VK_SUCCESS && compiling.most == 1);
    subsweep_plan_destroy(plan);
    EXPECT(subsweep_device_set_pipeline_threads(device, 2) == VK_SUCCESS);
    compiling.are_several = 1;
    EXPECT(subsweep_scan_plan_create(device, &of_plan, &plan) == VK_SUCCESS && compiling.most == 2);
    subsweep_plan_destroy(plan);
    subsweep_device_destroy(device);
}

int main(void) {
    Host host;
    SubsweepDevice *device;
    host_create(&host);
    device = adopt(&host);
    scan_segments(&host, device, 0);
    scan_segments(&host, device, 37);
    scan_columns(&host, device);
    scan_monotone(&host, device);
    sort_to_other_buffer(&host, device, SUBSWEEP_SORT_DOUBLE_BUFFER_BIT, 0);
    sort_to_other_buffer(&host, device, SUBSWEEP_SORT_DOUBLE_BUFFER_BIT, SUBSWEEP_SORT_DISCARDS_KEYS_BIT);
    sort_to_other_buffer(&host, device, SUBSWEEP_SORT_OUT_OF_PLACE_BIT, 0);
    sort_to_other_buffer(&host, device, SUBSWEEP_SORT_OUT_OF_PLACE_BIT | SUBSWEEP_SORT_DESTROYS_INPUT_BIT, 0);
    sort_wide(&host, device);
    sort_segments(&host, device, 0);
    sort_segments(&host, device, SUBSWEEP_SORT_RANGES_BIT);
    sort_segments(&host, device, SUBSWEEP_SORT_DOUBLE_BUFFER_BIT);
    sort_segments(&host, device, SUBSWEEP_SORT_OUT_OF_PLACE_BIT);
    sort_segments(&host, device, SUBSWEEP_SORT_OUT_OF_PLACE_BIT | SUBSWEEP_SORT_DESTROYS_INPUT_BIT);
    subsweep_device_destroy(device);
    record_in_threads(&host);
    compile_in_threads(&host);
    host_destroy(&host);
    return failure_count > 0;
}
