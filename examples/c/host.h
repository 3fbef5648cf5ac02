/* What a renderer has before it meets subsweep: a device of its own, memory and a queue. Every failure ends the program. */

#ifndef HOST_H
#define HOST_H

#include <stdint.h>
#include <vulkan/vulkan.h>

#include <subsweep.h>

typedef struct Host {
    VkInstance instance;
    VkPhysicalDevice physical_device;
    /* Of the physical device. */
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    /* What subsweep had enabled on the device. */
    SubsweepFeatureFlags features;
    VkDevice device;
    uint32_t queue_family;
    VkQueue queue;
    VkCommandPool pool;
} Host;

/* A buffer with an address, in memory that the host sees. */
typedef struct Memory {
    VkBuffer buffer;
    VkBufferUsageFlags usage;
    VkDeviceMemory memory;
    VkDeviceSize size;
    VkDeviceAddress address;
    uint32_t *words;
} Memory;

/* Ends the program if `result` is a failure: with subsweep's words, if it is one of subsweep's. */
void host_check(VkResult result, const char *what);

/* On the first physical device that subsweep takes. */
void host_create(Host *host);
void host_destroy(Host *host);

void memory_create(Memory *memory, const Host *host, VkDeviceSize size, VkBufferUsageFlags usage);
void memory_destroy(Memory *memory, const Host *host);

/* A command buffer that is being recorded, and then run until it is done. */
VkCommandBuffer host_begin(const Host *host);
void host_run(const Host *host, VkCommandBuffer commands);

/* Records a barrier between all that these stages do and have done. */
void host_barrier(VkCommandBuffer commands, VkPipelineStageFlags before, VkAccessFlags before_access,
                  VkPipelineStageFlags after, VkAccessFlags after_access);

#endif
