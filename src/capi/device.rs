//! The caller's own device, adopted.

use std::mem::offset_of;
use std::num::NonZeroUsize;

use super::boundary::{Result, Versioned, borrow, create, destroy, given, read, result};
use super::requirements::{SubsweepFeatureFlags, enabled_features, load_instance};
use super::result::Failure;
use super::vulkan::{
    PFN_vkGetInstanceProcAddr, VkDevice, VkInstance, VkPhysicalDevice, VkPipelineCache, VkResult,
};
use crate::device::Device;

/// A VkDevice of the caller's, that plans are made for.
#[derive(Debug)]
pub struct SubsweepDevice(Device);

impl SubsweepDevice {
    pub(super) fn get(&self) -> &Device {
        &self.0
    }
}

/// What subsweep_device_create adopts.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepDeviceCreateInfo {
    /// sizeof(SubsweepDeviceCreateInfo).
    pub struct_size: u32,
    /// What `device` was created with, and nothing else: Vulkan lets nobody ask. Those of
    /// subsweep_requirements_features, if they were merged by subsweep_requirements_merge_features.
    pub features: SubsweepFeatureFlags,
    /// The loader's, by which Vulkan is called.
    pub get_instance_proc_addr: PFN_vkGetInstanceProcAddr,
    /// Created for Vulkan 1.2 or later.
    pub instance: VkInstance,
    /// What `device` was created from.
    pub physical_device: VkPhysicalDevice,
    /// Created with the feature bufferDeviceAddress.
    pub device: VkDevice,
    /// What pipelines are made with; VK_NULL_HANDLE for none.
    pub pipeline_cache: VkPipelineCache,
}

// SAFETY: handles, a nullable function and numbers.
unsafe impl Versioned for SubsweepDeviceCreateInfo {
    const NAME: &'static str = "SubsweepDeviceCreateInfo";
    const FIRST_SIZE: usize = offset_of!(Self, pipeline_cache) + size_of::<VkPipelineCache>();
}

/// Adopts a VkDevice that the caller made, and makes a SubsweepDevice of it, for subsweep_device_destroy.
/// Nothing is created on the device; it is never destroyed, waited for or submitted to.
///
/// Returns VK_ERROR_FEATURE_NOT_PRESENT if the physical device lacks what subsweep_requirements_query asks for,
/// or a feature that `info` has, or if `info` lacks one that is needed: subsweep_last_error names it;
/// SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE,
/// SUBSWEEP_ERROR_MISSING_FUNCTION, or what Vulkan says. `*device` is null then.
///
/// Threads: any, at any time.
///
/// # Safety
/// What stands in `info` is as its comments say. The VkDevice, its instance and the pipeline cache outlive the
/// SubsweepDevice and all plans that are made for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_device_create(
    info: *const SubsweepDeviceCreateInfo,
    device: *mut *mut SubsweepDevice,
) -> VkResult {
    // SAFETY: as the caller promises.
    result(|| unsafe { create(device, "device", || adopt(read(info)?)) })
}

/// # Safety
/// Those of [`subsweep_device_create`].
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

/// Lets plans that are made for `device` from now on compile their pipelines on up to `count` threads, that of the
/// caller among them: 1 as long as nobody calls this. With more than 1 the pipeline cache, if there is one, must be
/// internally synchronised: made without VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT. The threads end
/// before the plan is returned.
///
/// Returns SUBSWEEP_ERROR_NULL; SUBSWEEP_ERROR_UNKNOWN_VALUE if `count` is 0.
///
/// Threads: any, at any time.
///
/// # Safety
/// `device` is of subsweep_device_create and not freed.
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

/// Frees `device`, which may be null. Plans that were made for it stay good; the VkDevice is the caller's to
/// destroy, when they are gone.
///
/// Threads: any, while no other thread uses `device`.
///
/// # Safety
/// `device` is null, or of subsweep_device_create and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_device_destroy(device: *mut SubsweepDevice) {
    // SAFETY: as the caller promises.
    unsafe { destroy(device) }
}
