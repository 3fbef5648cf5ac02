/* What a test in C expects. */

#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>
#include <string.h>

#include "host.h"

static int failure_count = 0;

static inline void expect_that(int is_so, const char *what, int line) {
    if (!is_so) {
        printf("line %d: not so: %s (last error: %s)\n", line, what, subsweep_last_error());
        failure_count++;
    }
}

/* That `what` is so. */
#define EXPECT(what) expect_that((what) != 0, #what, __LINE__)

static inline void expect_refusal(VkResult result, int code, const char *words, const char *call, int line) {
    if ((int)result != code || strstr(subsweep_last_error(), words) == NULL) {
        printf("line %d: %s gave %d with '%s', and not %d with '%s'\n", line, call, (int)result,
               subsweep_last_error(), code, words);
        failure_count++;
    }
}

/* That `call` returns `code`, and says `words` among others. */
#define REFUSE(call, code, words) expect_refusal(call, code, words, #call, __LINE__)

/* The adopted device of a host. */
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

/* `size` bytes from `offset` on. */
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
