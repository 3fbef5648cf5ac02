//! The caller's VkDevice, adopted.

use std::num::NonZeroUsize;

use super::boundary::{Result, borrow, create, destroy, given, read, result, versioned};
use super::requirements::{SubsweepFeatureFlags, enabled_features, load_instance};
use super::result::Failure;
use super::vulkan::{
    PFN_vkGetInstanceProcAddr, VkDevice, VkInstance, VkPhysicalDevice, VkPipelineCache, VkResult,
};
use crate::device::Device;

/// An adopted VkDevice. Plans are made for it.
#[derive(Debug)]
pub struct SubsweepDevice(Device);

impl SubsweepDevice {
    pub(super) fn get(&self) -> &Device {
        &self.0
    }
}

/// The parameters of subsweep_device_create.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepDeviceCreateInfo {
    /// sizeof(SubsweepDeviceCreateInfo).
    pub struct_size: u32,
    /// The features that `device` was created with, and no others: Vulkan offers no query for them. After
    /// subsweep_requirements_merge_features these are the features that subsweep_requirements_features returns.
    pub features: SubsweepFeatureFlags,
    /// The loader's vkGetInstanceProcAddr. All Vulkan functions are loaded through it.
    pub get_instance_proc_addr: PFN_vkGetInstanceProcAddr,
    /// Created for Vulkan 1.2 or later.
    pub instance: VkInstance,
    /// The physical device that `device` was created from.
    pub physical_device: VkPhysicalDevice,
    /// Created with the feature bufferDeviceAddress.
    pub device: VkDevice,
    /// The pipeline cache that pipelines are created with; VK_NULL_HANDLE for none.
    pub pipeline_cache: VkPipelineCache,
}

// SAFETY: handles, a nullable function and numbers.
versioned!(unsafe SubsweepDeviceCreateInfo, pipeline_cache, 48);

/// Creates a SubsweepDevice from the caller's VkDevice, to be freed by subsweep_device_destroy. Creates nothing
/// on the VkDevice, and never destroys it, waits for it or submits to it.
///
/// Returns VK_ERROR_FEATURE_NOT_PRESENT if the physical device lacks a requirement of
/// subsweep_requirements_query or a feature of `info`, or if `info` lacks a required feature:
/// subsweep_last_error names it; SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE,
/// SUBSWEEP_ERROR_MISSING_FUNCTION, or Vulkan's own error. `*device` is null then.
///
/// Threads: any, at any time.
///
/// # Safety
/// The fields of `info` are as their comments say. The VkDevice, its instance and the pipeline cache outlive
/// the SubsweepDevice and all plans made for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_device_create(
    info: *const SubsweepDeviceCreateInfo,
    device: *mut *mut SubsweepDevice,
) -> VkResult {
    // SAFETY: as the caller promises.
    result(|| unsafe { create(device, "device", || adopt(read(info)?)) })
}

/// # Safety
/// The conditions of [`subsweep_device_create`] hold.
unsafe fn adopt(info: SubsweepDeviceCreateInfo) -> Result<SubsweepDevice> {
    let enabled = enabled_features(info.features)?;
    // SAFETY: as the caller promises.
    let instance = unsafe { load_instance(info.get_instance_proc_addr, info.instance) }?;
    let physical_device = given(info.physical_device, "SubsweepDeviceCreateInfo.physical_device")?;
    given(info.device, "SubsweepDeviceCreateInfo.device")?;
    // SAFETY: as the caller promises.
    let raw = unsafe { ash::Device::load(instance.fp_v1_0(), info.device) };
    // SAFETY: as the caller promises.
    let device = unsafe { Device::from_raw(&instance, physical_device, raw, enabled, info.pipeline_cache) }?;
    Ok(SubsweepDevice(device))
}

/// Sets the number of threads that compile the pipelines of each plan made for `device` from now on, the
/// calling thread included. The default is 1. With more than 1 the pipeline cache, if there is one, must be
/// internally synchronised: created without VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT. The threads
/// end before the plan is returned.
///
/// Returns SUBSWEEP_ERROR_NULL; SUBSWEEP_ERROR_UNKNOWN_VALUE if `count` is 0.
///
/// Threads: any, at any time.
///
/// # Safety
/// `device` is null, or was created by subsweep_device_create and is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_device_set_pipeline_threads(
    device: *const SubsweepDevice,
    count: u32,
) -> VkResult {
    result(|| {
        // SAFETY: as the caller promises.
        let device = unsafe { borrow(device, "device") }?;
        let zero = Failure::UnknownValue { what: "count", value: count, known: "it is 1 or more" };
        device.0.set_pipeline_threads(NonZeroUsize::new(count as usize).ok_or(zero)?);
        Ok(())
    })
}

/// Frees `device`, which may be null. Plans made for it remain valid. The caller destroys the VkDevice after
/// them.
///
/// Threads: any, while no other thread uses `device`.
///
/// # Safety
/// `device` is null, or was created by subsweep_device_create and is not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_device_destroy(device: *mut SubsweepDevice) {
    // SAFETY: as the caller promises.
    unsafe { destroy(device) }
}
