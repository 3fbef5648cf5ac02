/* Expectations of the tests in C. */

#ifndef EXPECT_H
#define EXPECT_H

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

#endif
