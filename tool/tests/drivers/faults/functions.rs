//! Every function of Vulkan that the library calls: those that can fail, those that destroy objects, and the rest. The
//! two of `Pipeline::statistics` are omitted, since no driver of the matrix has them.

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::sync::OnceLock;

use subsweep::ash::vk;

use super::shim::{self, Call};

/// A function of any type.
type Function = unsafe extern "system" fn();

type Allocator<'a> = *const vk::AllocationCallbacks<'a>;

/// An error that every function that can fail may return.
const UNKNOWN: vk::Result = vk::Result::ERROR_UNKNOWN;
const HOST: vk::Result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
const DEVICE: vk::Result = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
const LOST: vk::Result = vk::Result::ERROR_DEVICE_LOST;
const START: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;
const LAYER: vk::Result = vk::Result::ERROR_LAYER_NOT_PRESENT;
const EXTENSION: vk::Result = vk::Result::ERROR_EXTENSION_NOT_PRESENT;
const FEATURE: vk::Result = vk::Result::ERROR_FEATURE_NOT_PRESENT;
const DRIVER: vk::Result = vk::Result::ERROR_INCOMPATIBLE_DRIVER;
const MANY: vk::Result = vk::Result::ERROR_TOO_MANY_OBJECTS;
const MAP: vk::Result = vk::Result::ERROR_MEMORY_MAP_FAILED;
const TIMEOUT: vk::Result = vk::Result::TIMEOUT;
const NOT_READY: vk::Result = vk::Result::NOT_READY;

/// The shim's result for a function's name: a stand-in, the system's function, or `None`.
pub fn resolve(name: &CStr, real: Function) -> vk::PFN_vkVoidFunction {
    // SAFETY: here and below, a caller uses a function by the type of its name.
    let (instance_proc, device_proc) = unsafe {
        (
            transmute::<vk::PFN_vkGetInstanceProcAddr, Function>(shim::get_instance_proc_addr),
            transmute::<vk::PFN_vkGetDeviceProcAddr, Function>(shim::get_device_proc_addr),
        )
    };
    match name.to_str().ok()? {
        "vkGetInstanceProcAddr" => Some(instance_proc),
        "vkGetDeviceProcAddr" => Some(device_proc),
        name if OTHERS.contains(&name) => Some(real),
        name => fallible(name, real).or_else(|| destroying(name, real)),
    }
}

/// `vkName` of `PFN_vkName`.
const fn name_of(function_type: &'static str) -> &'static str {
    function_type.split_at("PFN_".len()).1
}

/// Stand-ins for functions that can fail: parameters, the errors besides [`UNKNOWN`] that Vulkan's specification allows
/// and the library can cause, `made` where a new object is to be tracked, and what the shim notes before a call, or after one that
/// succeeds.
macro_rules! fallible {
    ($($pfn:ident($($parameter:ident: $type:ty),*) [$($error:ident),*] $($made:ident)?
        $(, before $before:expr)? $(, after $after:expr)?;)*) => {
        pub const FALLIBLE: &[&str] = &[$(name_of(stringify!($pfn))),*];

        fn fallible(requested: &str, real: Function) -> Option<Function> {
            $({
                const CALL: Call =
                    Call { name: name_of(stringify!($pfn)), errors: &[$($error,)* UNKNOWN] };
                // The loader's functions dispatch on their first argument, and serve every instance and device.
                static REAL: OnceLock<vk::$pfn> = OnceLock::new();
                unsafe extern "system" fn stand_in($($parameter: $type),*) -> vk::Result {
                    $($before;)?
                    if let Some(error) = shim::fails(CALL) {
                        return error;
                    }
                    let real = REAL.get().expect("it was looked up before it is called");
                    // SAFETY: the parameters are the caller's, who promises what the function asks.
                    let result = unsafe { real($($parameter),*) };
                    // SAFETY: success means that the handle was written.
                    $(if result == vk::Result::SUCCESS { shim::is_made(unsafe { *$made }) })?
                    $(if result == vk::Result::SUCCESS { $after })?
                    result
                }
                if requested == CALL.name {
                    // SAFETY: it has the type of its name; as in `resolve`.
                    unsafe {
                        REAL.get_or_init(|| transmute::<Function, vk::$pfn>(real));
                        return Some(transmute::<vk::$pfn, Function>(stand_in));
                    }
                }
            })*
            None
        }
    };
}

/// Stand-ins for functions that destroy an object, with or without a parent.
macro_rules! destroying {
    ($($pfn:ident($($parent:ty)? => $handle:ty);)*) => {
        fn destroying(requested: &str, real: Function) -> Option<Function> {
            $({
                const NAME: &str = name_of(stringify!($pfn));
                static REAL: OnceLock<vk::$pfn> = OnceLock::new();
                unsafe extern "system" fn stand_in(
                    $(parent: $parent,)? handle: $handle, allocator: Allocator<'_>
                ) {
                    shim::is_destroyed(NAME, handle);
                    let real = REAL.get().expect("it was looked up before it is called");
                    // SAFETY: as above.
                    unsafe { real($({ let parent: $parent = parent; parent },)? handle, allocator) }
                }
                if requested == NAME {
                    // SAFETY: it has the type of its name; as in `resolve`.
                    unsafe {
                        REAL.get_or_init(|| transmute::<Function, vk::$pfn>(real));
                        return Some(transmute::<vk::$pfn, Function>(stand_in));
                    }
                }
            })*
            None
        }
    };
}

fallible! {
    PFN_vkEnumerateInstanceExtensionProperties(
        layer: *const c_char, count: *mut u32, list: *mut vk::ExtensionProperties
    ) [HOST, DEVICE];
    PFN_vkCreateInstance(
        info: *const vk::InstanceCreateInfo<'_>, allocator: Allocator<'_>, made: *mut vk::Instance
    ) [HOST, DEVICE, START, LAYER, EXTENSION, DRIVER] made;
    PFN_vkCreateDebugUtilsMessengerEXT(
        instance: vk::Instance, info: *const vk::DebugUtilsMessengerCreateInfoEXT<'_>, allocator: Allocator<'_>,
        made: *mut vk::DebugUtilsMessengerEXT
    ) [HOST] made;
    PFN_vkEnumeratePhysicalDevices(
        instance: vk::Instance, count: *mut u32, list: *mut vk::PhysicalDevice
    ) [HOST, DEVICE, START];
    PFN_vkEnumerateDeviceExtensionProperties(
        device: vk::PhysicalDevice, layer: *const c_char, count: *mut u32, list: *mut vk::ExtensionProperties
    ) [HOST, DEVICE];
    PFN_vkCreateDevice(
        device: vk::PhysicalDevice, info: *const vk::DeviceCreateInfo<'_>, allocator: Allocator<'_>,
        made: *mut vk::Device
    ) [HOST, DEVICE, START, EXTENSION, FEATURE, MANY, LOST] made;
    PFN_vkAllocateMemory(
        device: vk::Device, info: *const vk::MemoryAllocateInfo<'_>, allocator: Allocator<'_>,
        made: *mut vk::DeviceMemory
    ) [HOST, DEVICE] made;
    PFN_vkMapMemory(
        device: vk::Device, memory: vk::DeviceMemory, offset: vk::DeviceSize, size: vk::DeviceSize,
        flags: vk::MemoryMapFlags, pointer: *mut *mut c_void
    ) [HOST, DEVICE, MAP];
    PFN_vkCreateBuffer(
        device: vk::Device, info: *const vk::BufferCreateInfo<'_>, allocator: Allocator<'_>, made: *mut vk::Buffer
    ) [HOST, DEVICE] made;
    PFN_vkBindBufferMemory(
        device: vk::Device, buffer: vk::Buffer, memory: vk::DeviceMemory, offset: vk::DeviceSize
    ) [HOST, DEVICE];
    PFN_vkCreateShaderModule(
        device: vk::Device, info: *const vk::ShaderModuleCreateInfo<'_>, allocator: Allocator<'_>,
        made: *mut vk::ShaderModule
    ) [HOST, DEVICE] made;
    PFN_vkCreatePipelineLayout(
        device: vk::Device, info: *const vk::PipelineLayoutCreateInfo<'_>, allocator: Allocator<'_>,
        made: *mut vk::PipelineLayout
    ) [HOST, DEVICE] made;
    PFN_vkCreatePipelineCache(
        device: vk::Device, info: *const vk::PipelineCacheCreateInfo<'_>, allocator: Allocator<'_>,
        made: *mut vk::PipelineCache
    ) [HOST, DEVICE] made;
    PFN_vkGetPipelineCacheData(
        device: vk::Device, cache: vk::PipelineCache, size: *mut usize, data: *mut c_void
    ) [HOST, DEVICE];
    PFN_vkCreateComputePipelines(
        device: vk::Device, cache: vk::PipelineCache, count: u32, infos: *const vk::ComputePipelineCreateInfo<'_>,
        allocator: Allocator<'_>, made: *mut vk::Pipeline
    ) [HOST, DEVICE] made;
    PFN_vkSetDebugUtilsObjectNameEXT(
        device: vk::Device, info: *const vk::DebugUtilsObjectNameInfoEXT<'_>
    ) [HOST, DEVICE];
    PFN_vkCreateQueryPool(
        device: vk::Device, info: *const vk::QueryPoolCreateInfo<'_>, allocator: Allocator<'_>,
        made: *mut vk::QueryPool
    ) [HOST, DEVICE] made;
    PFN_vkGetQueryPoolResults(
        device: vk::Device, pool: vk::QueryPool, first: u32, count: u32, size: usize, data: *mut c_void,
        stride: vk::DeviceSize, flags: vk::QueryResultFlags
    ) [HOST, DEVICE, LOST, NOT_READY];
    PFN_vkCreateCommandPool(
        device: vk::Device, info: *const vk::CommandPoolCreateInfo<'_>, allocator: Allocator<'_>,
        made: *mut vk::CommandPool
    ) [HOST, DEVICE] made;
    PFN_vkResetCommandPool(
        device: vk::Device, pool: vk::CommandPool, flags: vk::CommandPoolResetFlags
    ) [DEVICE], before shim::is_reset("vkResetCommandPool", pool);
    PFN_vkAllocateCommandBuffers(
        device: vk::Device, info: *const vk::CommandBufferAllocateInfo<'_>, list: *mut vk::CommandBuffer
    ) [HOST, DEVICE], after {
        // SAFETY: both were valid for the call, which has written one buffer.
        unsafe { shim::is_of_pool(*list, (*info).command_pool) }
    };
    PFN_vkBeginCommandBuffer(
        commands: vk::CommandBuffer, info: *const vk::CommandBufferBeginInfo<'_>
    ) [HOST, DEVICE];
    PFN_vkEndCommandBuffer(commands: vk::CommandBuffer) [HOST, DEVICE];
    PFN_vkCreateFence(
        device: vk::Device, info: *const vk::FenceCreateInfo<'_>, allocator: Allocator<'_>, made: *mut vk::Fence
    ) [HOST, DEVICE] made;
    PFN_vkResetFences(device: vk::Device, count: u32, fences: *const vk::Fence)
        [DEVICE], before {
        // SAFETY: the caller gives one fence.
        unsafe { shim::is_reset("vkResetFences", *fences) }
    };
    PFN_vkQueueSubmit(
        queue: vk::Queue, count: u32, infos: *const vk::SubmitInfo<'_>, fence: vk::Fence
    ) [HOST, DEVICE, LOST], after {
        // SAFETY: the caller gives one submission, of one command buffer, or none.
        unsafe { shim::is_submitted(fence, (count > 0).then(|| *(*infos).p_command_buffers)) }
    };
    PFN_vkQueueBindSparse(
        queue: vk::Queue, count: u32, infos: *const vk::BindSparseInfo<'_>, fence: vk::Fence
    ) [HOST, DEVICE, LOST], after shim::is_submitted(fence, None);
    PFN_vkWaitForFences(
        device: vk::Device, count: u32, fences: *const vk::Fence, all: vk::Bool32, nanoseconds: u64
    ) [HOST, DEVICE, LOST, TIMEOUT], after {
        // SAFETY: the caller gives one fence.
        unsafe { shim::has_completed(*fences) }
    };
}

destroying! {
    PFN_vkDestroyInstance(=> vk::Instance);
    PFN_vkDestroyDebugUtilsMessengerEXT(vk::Instance => vk::DebugUtilsMessengerEXT);
    PFN_vkDestroyDevice(=> vk::Device);
    PFN_vkFreeMemory(vk::Device => vk::DeviceMemory);
    PFN_vkDestroyBuffer(vk::Device => vk::Buffer);
    PFN_vkDestroyShaderModule(vk::Device => vk::ShaderModule);
    PFN_vkDestroyPipelineLayout(vk::Device => vk::PipelineLayout);
    PFN_vkDestroyPipeline(vk::Device => vk::Pipeline);
    PFN_vkDestroyPipelineCache(vk::Device => vk::PipelineCache);
    PFN_vkDestroyQueryPool(vk::Device => vk::QueryPool);
    PFN_vkDestroyCommandPool(vk::Device => vk::CommandPool);
    PFN_vkDestroyFence(vk::Device => vk::Fence);
}

/// The rest: none of them returns a `VkResult`.
const OTHERS: &[&str] = &[
    "vkGetPhysicalDeviceProperties",
    "vkGetPhysicalDeviceProperties2",
    "vkGetPhysicalDeviceFeatures2",
    "vkGetPhysicalDeviceQueueFamilyProperties",
    "vkGetPhysicalDeviceMemoryProperties",
    "vkGetPhysicalDeviceMemoryProperties2",
    "vkGetDeviceQueue",
    "vkGetBufferMemoryRequirements",
    "vkGetBufferDeviceAddress",
    "vkUnmapMemory",
    "vkCmdBindPipeline",
    "vkCmdPushConstants",
    "vkCmdDispatch",
    "vkCmdDispatchBase",
    "vkCmdDispatchIndirect",
    "vkCmdPipelineBarrier",
    "vkCmdFillBuffer",
    "vkCmdCopyBuffer",
    "vkCmdResetQueryPool",
    "vkCmdWriteTimestamp",
    "vkCmdBeginDebugUtilsLabelEXT",
    "vkCmdEndDebugUtilsLabelEXT",
];
