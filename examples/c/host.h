/* A host application: a Vulkan device, memory and a queue. Every failure ends the program. */

#ifndef HOST_H
#define HOST_H

#include <stdint.h>
#include <vulkan/vulkan.h>

#include <subsweep.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Host {
    VkInstance instance;
    VkPhysicalDevice physical_device;
    /* The name of the physical device. */
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    /* The features that were enabled for subsweep. */
    SubsweepFeatureFlags features;
    VkDevice device;
    uint32_t queue_family;
    VkQueue queue;
    VkCommandPool pool;
} Host;

/* A buffer with a device address, in host-visible memory. */
typedef struct Memory {
    VkBuffer buffer;
    VkBufferUsageFlags usage;
    VkDeviceMemory memory;
    VkDeviceSize size;
    VkDeviceAddress address;
    uint32_t *words;
} Memory;

/* Ends the program if `result` is a failure, with subsweep's message if the error is subsweep's. */
void host_check(VkResult result, const char *what);

/* Creates a device on the first physical device that subsweep supports. */
void host_create(Host *host);
void host_destroy(Host *host);

void memory_create(Memory *memory, const Host *host, VkDeviceSize size, VkBufferUsageFlags usage);
void memory_destroy(Memory *memory, const Host *host);

/* Begins a command buffer; host_run submits it and waits. */
VkCommandBuffer host_begin(const Host *host);
void host_run(const Host *host, VkCommandBuffer commands);

/* Records a global memory barrier between these stages and accesses. */
void host_barrier(VkCommandBuffer commands, VkPipelineStageFlags before, VkAccessFlags before_access,
                  VkPipelineStageFlags after, VkAccessFlags after_access);

#ifdef __cplusplus
}
#endif

#endif
