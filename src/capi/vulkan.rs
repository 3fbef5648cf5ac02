//! Vulkan's types under their C names, as the header uses them.

pub use ash::vk::{
    AccessFlags as VkAccessFlags, Bool32 as VkBool32, Buffer as VkBuffer,
    BufferUsageFlags as VkBufferUsageFlags, CommandBuffer as VkCommandBuffer, Device as VkDevice,
    DeviceAddress as VkDeviceAddress, DeviceCreateInfo as VkDeviceCreateInfo, DeviceSize as VkDeviceSize,
    Instance as VkInstance, PhysicalDevice as VkPhysicalDevice, PipelineCache as VkPipelineCache,
    PipelineStageFlags as VkPipelineStageFlags, Result as VkResult,
};

/// The C function pointer, which may be null.
#[expect(non_camel_case_types, reason = "its name in C")]
pub type PFN_vkGetInstanceProcAddr = Option<ash::vk::PFN_vkGetInstanceProcAddr>;
