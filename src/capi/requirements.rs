//! Device requirements, queried before the device is created.

use std::ffi::{CStr, c_char};

use ash::vk::BaseInStructure;

use super::boundary::{Result, borrow, borrow_mut, create, destroy, give, given, result, value};
use super::result::Failure;
use super::types::flags;
use super::vulkan::{PFN_vkGetInstanceProcAddr, VkDeviceCreateInfo, VkInstance, VkPhysicalDevice, VkResult};
use crate::device::{DeviceRequirements, EnabledFeatures, FeatureChain};
use crate::error::refuse_if;

/// Features and extensions that a device is created with: several of SUBSWEEP_FEATURE_..._BIT, or 0.
pub type SubsweepFeatureFlags = u32;
/// The feature bufferDeviceAddress. Required.
pub const SUBSWEEP_FEATURE_BUFFER_DEVICE_ADDRESS_BIT: SubsweepFeatureFlags = 1;
/// VK_EXT_subgroup_size_control with its feature subgroupSizeControl.
pub const SUBSWEEP_FEATURE_SUBGROUP_SIZE_CONTROL_BIT: SubsweepFeatureFlags = 2;
/// computeFullSubgroups of the same extension: pipelines require full subgroups. Without it Vulkan does not
/// guarantee that a driver fills each subgroup before the next, which the kernels rely on; every known driver
/// does.
pub const SUBSWEEP_FEATURE_COMPUTE_FULL_SUBGROUPS_BIT: SubsweepFeatureFlags = 4;
/// The core feature shaderFloat64: for sums and products of SUBSWEEP_ELEMENT_TYPE_F64.
pub const SUBSWEEP_FEATURE_SHADER_FLOAT64_BIT: SubsweepFeatureFlags = 8;
/// Not a device feature: the instance was created with VK_EXT_debug_utils. Recordings are then labelled and
/// pipelines named. subsweep_requirements_query cannot detect this; the program adds the flag.
pub const SUBSWEEP_FEATURE_DEBUG_UTILS_BIT: SubsweepFeatureFlags = 16;
/// The feature storageBuffer8BitAccess of Vulkan 1.2: sorts, merges, searches, selections, top-k and single-pass encodings
/// take elements of 8 bits as they are, without words of 32 bits in scratch.
pub const SUBSWEEP_FEATURE_STORAGE_BUFFER_8BIT_ACCESS_BIT: SubsweepFeatureFlags = 32;
/// storageBuffer16BitAccess of Vulkan 1.1: likewise of 16 bits.
pub const SUBSWEEP_FEATURE_STORAGE_BUFFER_16BIT_ACCESS_BIT: SubsweepFeatureFlags = 64;

const ALL_FEATURES: SubsweepFeatureFlags = 2 * SUBSWEEP_FEATURE_STORAGE_BUFFER_16BIT_ACCESS_BIT - 1;

type Feature = fn(&mut EnabledFeatures) -> &mut bool;
/// The features of C's flags.
const FEATURES: [(SubsweepFeatureFlags, Feature); 7] = [
    (SUBSWEEP_FEATURE_BUFFER_DEVICE_ADDRESS_BIT, |enabled| &mut enabled.buffer_device_address),
    (SUBSWEEP_FEATURE_SUBGROUP_SIZE_CONTROL_BIT, |enabled| &mut enabled.subgroup_size_control),
    (SUBSWEEP_FEATURE_COMPUTE_FULL_SUBGROUPS_BIT, |enabled| &mut enabled.compute_full_subgroups),
    (SUBSWEEP_FEATURE_SHADER_FLOAT64_BIT, |enabled| &mut enabled.shader_float64),
    (SUBSWEEP_FEATURE_DEBUG_UTILS_BIT, |enabled| &mut enabled.debug_utils),
    (SUBSWEEP_FEATURE_STORAGE_BUFFER_8BIT_ACCESS_BIT, |enabled| &mut enabled.storage_buffer8_bit_access),
    (SUBSWEEP_FEATURE_STORAGE_BUFFER_16BIT_ACCESS_BIT, |enabled| &mut enabled.storage_buffer16_bit_access),
];

pub(super) fn enabled_features(given: SubsweepFeatureFlags) -> Result<EnabledFeatures> {
    let given = flags("SubsweepFeatureFlags", given, ALL_FEATURES)?;
    let mut enabled = EnabledFeatures::default();
    FEATURES.iter().for_each(|(flag, field)| *field(&mut enabled) = given & flag != 0);
    Ok(enabled)
}

fn feature_flags(mut enabled: EnabledFeatures) -> SubsweepFeatureFlags {
    FEATURES.iter().filter(|(_, field)| *field(&mut enabled)).map(|(flag, _)| flag).sum()
}

/// The features and extensions to enable when a VkDevice is created, found by subsweep_requirements_query.
#[derive(Debug)]
pub struct SubsweepRequirements {
    found: DeviceRequirements,
    /// Pointers to static strings.
    extensions: Vec<*const c_char>,
    /// The structures that `merge_features` chains. Their address is stable.
    chain: FeatureChain,
}

impl SubsweepRequirements {
    fn new(found: DeviceRequirements) -> Self {
        let extensions = found.extensions().iter().map(|name| name.as_ptr()).collect();
        Self { extensions, chain: found.features(), found }
    }

    /// Whether the chain of `info` already points into these requirements.
    ///
    /// # Safety
    /// All structures that `info` chains are alive, except the structures of these requirements.
    unsafe fn is_merged_into(&self, info: &VkDeviceCreateInfo<'_>) -> bool {
        let begin = (&raw const *self).addr();
        let own = begin..begin + size_of::<Self>();
        let mut next = info.p_next.cast::<BaseInStructure<'_>>();
        while !next.is_null() {
            // The requirements' own structures may be dead: do not read them.
            if own.contains(&next.addr()) {
                return true;
            }
            // SAFETY: every structure of a chain begins with its type and the next pointer, as the caller
            // promises.
            next = unsafe { (*next).p_next };
        }
        own.contains(&info.p_enabled_features.addr())
    }
}

/// The instance functions that the library calls.
const INSTANCE_FUNCTIONS: [&CStr; 6] = [
    c"vkGetDeviceProcAddr",
    c"vkEnumerateDeviceExtensionProperties",
    c"vkGetPhysicalDeviceProperties",
    c"vkGetPhysicalDeviceProperties2",
    c"vkGetPhysicalDeviceFeatures2",
    c"vkGetPhysicalDeviceMemoryProperties",
];

/// Loads the functions of the caller's instance.
///
/// # Safety
/// The pointers are null, or `get_instance_proc_addr` is the loader's, and `instance` is alive and the same
/// loader's.
pub(super) unsafe fn load_instance(
    get_instance_proc_addr: PFN_vkGetInstanceProcAddr,
    instance: VkInstance,
) -> Result<ash::Instance> {
    let get_instance_proc_addr = get_instance_proc_addr.ok_or(Failure::Null("get_instance_proc_addr"))?;
    let instance = given(instance, "instance")?;
    for name in INSTANCE_FUNCTIONS {
        // SAFETY: as the caller promises.
        if unsafe { get_instance_proc_addr(instance, name.as_ptr()) }.is_none() {
            return Err(Failure::MissingFunction(name.to_str().unwrap_or_default()));
        }
    }
    // SAFETY: as the caller promises.
    Ok(unsafe { ash::Instance::load(&ash::StaticFn { get_instance_proc_addr }, instance) })
}

/// Queries whether `physical_device` can run every kernel, and which optional features it has. Creates a
/// SubsweepRequirements, to be freed by subsweep_requirements_destroy.
///
/// Required: Vulkan 1.2, the feature bufferDeviceAddress, subgroups of 4 to 128 lanes, and the subgroup
/// operations basic, vote, arithmetic, ballot and shuffle in compute shaders. `instance` was created for Vulkan
/// 1.2 or later, and `physical_device` is one of its devices. Vulkan is called only through
/// `get_instance_proc_addr`, of the loader that created `instance`.
///
/// Returns VK_ERROR_FEATURE_NOT_PRESENT if the device lacks a requirement, which subsweep_last_error names;
/// SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_MISSING_FUNCTION, or Vulkan's own error. `*requirements` is null then.
///
/// Threads: any, at any time.
///
/// # Safety
/// As above; `requirements` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_requirements_query(
    get_instance_proc_addr: PFN_vkGetInstanceProcAddr,
    instance: VkInstance,
    physical_device: VkPhysicalDevice,
    requirements: *mut *mut SubsweepRequirements,
) -> VkResult {
    // SAFETY: as the caller promises.
    result(|| unsafe {
        create(requirements, "requirements", || {
            let instance = load_instance(get_instance_proc_addr, instance)?;
            let physical_device = given(physical_device, "physical_device")?;
            Ok(SubsweepRequirements::new(DeviceRequirements::query(&instance, physical_device)?))
        })
    })
}

/// Frees `requirements`, which may be null, with all strings and structures it has returned.
///
/// Threads: any, while no other thread uses `requirements`.
///
/// # Safety
/// `requirements` is null, or was created by subsweep_requirements_query and is not freed yet, and nothing it
/// has returned is in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_requirements_destroy(requirements: *mut SubsweepRequirements) {
    // SAFETY: as the caller promises.
    unsafe { destroy(requirements) }
}

/// The minimum VkApplicationInfo::apiVersion of the instance: VK_API_VERSION_1_2.
///
/// Threads: any, at any time.
#[unsafe(no_mangle)]
pub extern "C" fn subsweep_required_api_version() -> u32 {
    DeviceRequirements::MIN_API_VERSION
}

/// The features to enable: the required ones, and every feature of the device that makes the kernels faster or
/// more capable. Pass the enabled ones to subsweep_device_create. 0 if `requirements` is null.
///
/// Threads: any, while no other thread changes `requirements`.
///
/// # Safety
/// `requirements` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_requirements_features(
    requirements: *const SubsweepRequirements,
) -> SubsweepFeatureFlags {
    // SAFETY: as the caller promises.
    value(0, || Ok(feature_flags(unsafe { borrow(requirements, "requirements") }?.found.enabled())))
}

/// Removes the optional features that are not in `features` from later queries and merges. Required features
/// stay; features that the device lacks are not added.
///
/// Returns SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_UNKNOWN_VALUE.
///
/// Threads: any, while no other thread uses `requirements`.
///
/// # Safety
/// `requirements` is null or alive, and nothing it has returned is in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_requirements_limit_features(
    requirements: *mut SubsweepRequirements,
    features: SubsweepFeatureFlags,
) -> VkResult {
    result(|| {
        // SAFETY: as the caller promises.
        let requirements = unsafe { borrow_mut(requirements, "requirements") }?;
        let mut found = requirements.found.clone();
        found.narrow(enabled_features(features)?);
        *requirements = SubsweepRequirements::new(found);
        Ok(())
    })
}

/// The device extensions to enable, beside the caller's own: `*count` names, owned by `requirements` and valid
/// until it is freed or limited. Null and 0 if `requirements` is null; `count` must not be null.
///
/// Threads: any, while no other thread changes `requirements`.
///
/// # Safety
/// `requirements` is null or alive; `count` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_requirements_extensions(
    requirements: *const SubsweepRequirements,
    count: *mut u32,
) -> *const *const c_char {
    value(std::ptr::null(), || {
        // SAFETY: as the caller promises.
        unsafe { give(count, "count", 0) }?;
        // SAFETY: as the caller promises.
        let names = &unsafe { borrow(requirements, "requirements") }?.extensions;
        // SAFETY: as the caller promises.
        unsafe { give(count, "count", names.len() as u32) }?;
        Ok(names.as_ptr())
    })
}

/// Merges the features of subsweep_requirements_features into `info`, for vkCreateDevice. Structures of its
/// chain that hold these features are modified: VkPhysicalDeviceFeatures2, VkPhysicalDeviceVulkan11Features,
/// VkPhysicalDeviceVulkan12Features, VkPhysicalDeviceVulkan13Features, or a feature's own; features are set and
/// never cleared. Structures for the other features are prepended to the chain. They are owned by `requirements`, as is the copy that replaces
/// `info->pEnabledFeatures` where core features are needed. Call it when the program's own chain is complete,
/// and for one VkDeviceCreateInfo at a time. The caller adds the extensions of
/// subsweep_requirements_extensions.
///
/// Returns SUBSWEEP_ERROR_NULL; SUBSWEEP_ERROR_UNSUPPORTED if `info` already holds structures of an earlier
/// call: initialise it and its chain again before another merge. `info` is unchanged then.
///
/// Threads: any, while no other thread uses `requirements` or `info`.
///
/// # Safety
/// `requirements` and `info` are null or alive; so is all that `info` chains, which must be writable.
/// `requirements` lives, and is neither limited nor merged into another `info`, while `info` is in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_requirements_merge_features(
    requirements: *mut SubsweepRequirements,
    info: *mut VkDeviceCreateInfo<'_>,
) -> VkResult {
    result(|| {
        // SAFETY: as the caller promises.
        let requirements = unsafe { borrow_mut(requirements, "requirements") }?;
        // SAFETY: as the caller promises.
        let info = unsafe { borrow_mut(info, "info") }?;
        let reason = "info holds what an earlier merge has put there: fill it anew";
        // SAFETY: as the caller promises.
        refuse_if(unsafe { requirements.is_merged_into(info) }, reason)?;
        requirements.chain = requirements.found.features();
        // SAFETY: as the caller promises; the chain holds none of the requirements' own structures.
        let merged = unsafe { requirements.chain.merge_into(*info) };
        info.p_next = merged.p_next;
        info.p_enabled_features = merged.p_enabled_features;
        Ok(())
    })
}

#[cfg(test)]
mod tests;
