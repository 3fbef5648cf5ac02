#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

void host_check(VkResult result, const char *what) {
    char code[32];
    if (result == VK_SUCCESS) {
        return;
    }
    snprintf(code, sizeof code, "VkResult %d", (int)result);
    fail(what, strncmp(what, "subsweep_", 9) == 0 ? subsweep_last_error() : code);
}

static void create_instance(Host *host) {
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    application.apiVersion = subsweep_required_api_version();
    info.pApplicationInfo = &application;
    host_check(vkCreateInstance(&info, NULL, &host->instance), "vkCreateInstance");
}

/* Chooses the first device that subsweep supports, with its requirements. */
static SubsweepRequirements *choose_physical_device(Host *host) {
    SubsweepRequirements *requirements = NULL;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDevice devices[16];
    uint32_t count = sizeof devices / sizeof *devices;
    uint32_t i;
    VkResult result = vkEnumeratePhysicalDevices(host->instance, &count, devices);
    host_check(result == VK_INCOMPLETE ? VK_SUCCESS : result, "vkEnumeratePhysicalDevices");
    for (i = 0; i < count; i++) {
        result = subsweep_requirements_query(vkGetInstanceProcAddr, host->instance, devices[i], &requirements);
        if (result == VK_SUCCESS) {
            vkGetPhysicalDeviceProperties(devices[i], &properties);
            memcpy(host->name, properties.deviceName, sizeof host->name);
            host->physical_device = devices[i];
            return requirements;
        }
        fprintf(stderr, "%s\n", subsweep_last_error());
    }
    fail("vkEnumeratePhysicalDevices", "no device is supported");
    return NULL;
}

static uint32_t compute_family(const Host *host) {
    VkQueueFamilyProperties families[16];
    uint32_t count = sizeof families / sizeof *families;
    uint32_t i;
    vkGetPhysicalDeviceQueueFamilyProperties(host->physical_device, &count, families);
    for (i = 0; i < count; i++) {
        if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) {
            return i;
        }
    }
    fail("vkGetPhysicalDeviceQueueFamilyProperties", "no queue family supports compute");
    return 0;
}

void host_create(Host *host) {
    const float priority = 1.0f;
    SubsweepRequirements *requirements;
    /* The program's own features, to which subsweep adds its own. */
    VkPhysicalDeviceVulkan12Features features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                                 .timelineSemaphore = VK_TRUE};
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};

    create_instance(host);
    requirements = choose_physical_device(host);
    host->queue_family = compute_family(host);
    queue.queueFamilyIndex = host->queue_family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    info.pNext = &features;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;

    /* A program with extensions of its own merges both lists. */
    info.ppEnabledExtensionNames =
        subsweep_requirements_extensions(requirements, &info.enabledExtensionCount);
    host_check(subsweep_requirements_merge_features(requirements, &info),
               "subsweep_requirements_merge_features");
    host_check(vkCreateDevice(host->physical_device, &info, NULL, &host->device), "vkCreateDevice");
    host->features = subsweep_requirements_features(requirements);
    subsweep_requirements_destroy(requirements);

    vkGetDeviceQueue(host->device, host->queue_family, 0, &host->queue);
    pool.queueFamilyIndex = host->queue_family;
    host_check(vkCreateCommandPool(host->device, &pool, NULL, &host->pool), "vkCreateCommandPool");
}

void host_destroy(Host *host) {
    vkDestroyCommandPool(host->device, host->pool, NULL);
    vkDestroyDevice(host->device, NULL);
    vkDestroyInstance(host->instance, NULL);
}

/* A host-visible memory type whose bit is set in `bits`. */
static uint32_t visible_type(const Host *host, uint32_t bits) {
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties properties;
    uint32_t i;
    vkGetPhysicalDeviceMemoryProperties(host->physical_device, &properties);
    for (i = 0; i < properties.memoryTypeCount; i++) {
        if ((bits >> i & 1) && (properties.memoryTypes[i].propertyFlags & wanted) == wanted) {
            return i;
        }
    }
    fail("vkGetPhysicalDeviceMemoryProperties", "no memory type is host-visible");
    return 0;
}

void memory_create(Memory *memory, const Host *host, VkDeviceSize size, VkBufferUsageFlags usage) {
    VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
    VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
    VkMemoryRequirements requirements;
    void *mapped = NULL;

    memory->size = size > 0 ? size : 4;
    buffer.size = memory->size;
    memory->usage = usage | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    buffer.usage = memory->usage;
    host_check(vkCreateBuffer(host->device, &buffer, NULL, &memory->buffer), "vkCreateBuffer");
    vkGetBufferMemoryRequirements(host->device, memory->buffer, &requirements);
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    allocation.pNext = &flags;
    allocation.allocationSize = requirements.size;
    allocation.memoryTypeIndex = visible_type(host, requirements.memoryTypeBits);
    host_check(vkAllocateMemory(host->device, &allocation, NULL, &memory->memory), "vkAllocateMemory");
    host_check(vkBindBufferMemory(host->device, memory->buffer, memory->memory, 0), "vkBindBufferMemory");
    host_check(vkMapMemory(host->device, memory->memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    memory->words = mapped;
    address.buffer = memory->buffer;
    memory->address = vkGetBufferDeviceAddress(host->device, &address);
}

void memory_destroy(Memory *memory, const Host *host) {
    vkDestroyBuffer(host->device, memory->buffer, NULL);
    vkFreeMemory(host->device, memory->memory, NULL);
}

VkCommandBuffer host_begin(const Host *host) {
    VkCommandBufferAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands = NULL;
    allocation.commandPool = host->pool;
    allocation.commandBufferCount = 1;
    host_check(vkAllocateCommandBuffers(host->device, &allocation, &commands), "vkAllocateCommandBuffers");
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    host_check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    return commands;
}

void host_run(const Host *host, VkCommandBuffer commands) {
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
    host_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    host_check(vkQueueSubmit(host->queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    host_check(vkQueueWaitIdle(host->queue), "vkQueueWaitIdle");
    vkFreeCommandBuffers(host->device, host->pool, 1, &commands);
}

void host_barrier(VkCommandBuffer commands, VkPipelineStageFlags before, VkAccessFlags before_access,
                  VkPipelineStageFlags after, VkAccessFlags after_access) {
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    barrier.srcAccessMask = before_access;
    barrier.dstAccessMask = after_access;
    vkCmdPipelineBarrier(commands, before, after, 0, 1, &barrier, 0, NULL, 0, NULL);
}
