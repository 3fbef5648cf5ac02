/* Expectations of the tests in C. */

#ifndef EXPECT_H
#define EXPECT_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "host.h"

static int failure_count = 0;

static inline void expect_that(int is_true, const char *what, int line) {
    if (!is_true) {
        printf("line %d: false: %s (last error: %s)\n", line, what, subsweep_last_error());
        failure_count++;
    }
}

/* Fails unless `what` is true. */
#define EXPECT(what) expect_that((what) != 0, #what, __LINE__)

static inline void expect_refusal(VkResult result, int code, const char *words, const char *call, int line) {
    if ((int)result != code || strstr(subsweep_last_error(), words) == NULL) {
        printf("line %d: %s returned %d with '%s', expected %d with '%s'\n", line, call, (int)result,
               subsweep_last_error(), code, words);
        failure_count++;
    }
}

/* Fails unless `call` returns `code` with an error message that contains `words`. */
#define REFUSE(call, code, words) expect_refusal(call, code, words, #call, __LINE__)

/* Fields of the first version of a structure keep their places; `field` was its last, and ended at `end`. */
#if UINTPTR_MAX == UINT64_MAX
#define FIRST_VERSION(type, field, offset, end) \
    typedef char type##First[offsetof(type, field) == offset && offset + sizeof(((type *)0)->field) == end ? 1 : -1]
#else
#define FIRST_VERSION(type, field, offset, end) typedef char type##First[1]
#endif

/* Adopts the device of a host. */
static inline SubsweepDevice *adopt(const Host *host) {
    SubsweepDeviceCreateInfo info = {.struct_size = sizeof info,
                                     .features = host->features,
                                     .get_instance_proc_addr = vkGetInstanceProcAddr,
                                     .instance = host->instance,
                                     .physical_device = host->physical_device,
                                     .device = host->device};
    SubsweepDevice *device = NULL;
    host_check(subsweep_device_create(&info, &device), "subsweep_device_create");
    return device;
}

/* `size` bytes at `offset`. */
static inline SubsweepAddressRange part(const Memory *memory, VkDeviceSize offset, VkDeviceSize size) {
    SubsweepAddressRange range = {.address = memory->address + offset, .size = size};
    return range;
}

static inline SubsweepBufferRange scratch_part(const Memory *memory, VkDeviceSize offset, VkDeviceSize size) {
    SubsweepBufferRange range = {
        .buffer = memory->buffer, .offset = offset, .size = size, .address = memory->address + offset,
        .usage = memory->usage};
    return range;
}

/* A hash. */
static inline uint32_t number(uint32_t i) {
    i = (i ^ i >> 16) * 0x7feb352du;
    i = (i ^ i >> 15) * 0x846ca68bu;
    return i ^ i >> 16;
}

enum { GUARD = 64, MOST_ARRAYS = 8 };

/* Contents of guarded memory that nothing has written. */
#define UNWRITTEN 0xa5a5a5a5u

/* Memory between guard words; its address and size exclude the guard words. */
static inline void guarded_create(Memory *memory, const Host *host, VkDeviceSize size, VkBufferUsageFlags usage) {
    memory_create(memory, host, size + 2 * GUARD, usage);
    memset(memory->words, 0xa5, (size_t)memory->size);
    memory->size = size;
    memory->address += GUARD;
    memory->words += GUARD / 4;
}

/* As scratch_part, of the part between the guard words. */
static inline SubsweepBufferRange guarded_scratch(const Memory *memory, VkDeviceSize offset, VkDeviceSize size) {
    SubsweepBufferRange range = scratch_part(memory, offset, size);
    range.offset += GUARD;
    return range;
}

static inline void guarded_destroy(Memory *memory, const Host *host, int line) {
    const unsigned char *bytes = (const unsigned char *)memory->words;
    int i;
    for (i = 0; i < GUARD && bytes[i - GUARD] == 0xa5 && bytes[memory->size + (size_t)i] == 0xa5; i++) {
    }
    expect_that(i == GUARD, "the guard words around memory are intact", line);
    memory_destroy(memory, host);
}

/* Arrays of a test, in guarded memory. */
typedef struct Arrays {
    const Host *host;
    uint32_t count;
    Memory all[MOST_ARRAYS];
} Arrays;

static inline Memory *array_with_usage(Arrays *arrays, VkDeviceSize size, VkBufferUsageFlags usage) {
    Memory *memory = &arrays->all[arrays->count];
    host_check(arrays->count++ < MOST_ARRAYS ? VK_SUCCESS : VK_ERROR_TOO_MANY_OBJECTS, "MOST_ARRAYS");
    guarded_create(memory, arrays->host, size, usage);
    return memory;
}

static inline Memory *array(Arrays *arrays, VkDeviceSize size) {
    return array_with_usage(arrays, size, 0);
}

/* The range of an array. */
static inline SubsweepAddressRange all(const Memory *memory) {
    return part(memory, 0, memory->size);
}

/* An array for the scratch of a plan. */
static inline SubsweepBufferRange scratch_of(Arrays *arrays, const SubsweepPlan *plan, uint64_t count,
                                             uint64_t segment_count) {
    SubsweepScratchRequirements needs;
    host_check(subsweep_plan_scratch_requirements(plan, count, segment_count, &needs),
               "subsweep_plan_scratch_requirements");
    return guarded_scratch(array_with_usage(arrays, needs.size, needs.usage), 0, needs.size);
}

/* Fails if a guard word has changed, and frees the arrays. */
static inline void arrays_destroy(Arrays *arrays, int line) {
    while (arrays->count > 0) {
        guarded_destroy(&arrays->all[--arrays->count], arrays->host, line);
    }
}

/* Runs the recorded commands, with a barrier to the host. */
static inline void run(const Host *host, VkCommandBuffer commands) {
    host_barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                 VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    host_run(host, commands);
}

/* Records `command` of a plan, and runs it. */
#define RUN(host, command, plan, info)                         \
    do {                                                       \
        const VkCommandBuffer commands = host_begin(host);     \
        host_check(command(plan, commands, info), #command);   \
        run(host, commands);                                   \
    } while (0)

/* The main function of a test: `work` on an adopted device, then `refuse` while commands are recorded. Fails if a refused
 * call has changed the `count` words of its memory. */
static inline int test(uint32_t count, void (*work)(const Host *, const SubsweepDevice *),
                       void (*refuse)(const SubsweepDevice *, VkCommandBuffer, const Memory *)) {
    Memory memory;
    Host host;
    SubsweepDevice *device;
    VkCommandBuffer commands;
    uint32_t i;
    host_create(&host);
    device = adopt(&host);
    work(&host, device);

    memory_create(&memory, &host, 4 * count, 0);
    for (i = 0; i < count; i++) {
        memory.words[i] = i;
    }
    commands = host_begin(&host);
    refuse(device, commands, &memory);
    host_run(&host, commands);
    for (i = 0; i < count && memory.words[i] == i; i++) {
    }
    EXPECT(i == count);
    memory_destroy(&memory, &host);
    subsweep_device_destroy(device);
    host_destroy(&host);
    return failure_count > 0;
}

#endif
