//! Required and optional features, queried before a device is created.

use std::ffi::CStr;

use ash::vk;

use super::capabilities::text;
use super::features::FeatureChain;
use crate::error::{Error, Result};

/// Subgroup operations that every kernel may use.
pub(super) const SUBGROUP_OPERATIONS: vk::SubgroupFeatureFlags = vk::SubgroupFeatureFlags::from_raw(
    vk::SubgroupFeatureFlags::BASIC.as_raw()
        | vk::SubgroupFeatureFlags::VOTE.as_raw()
        | vk::SubgroupFeatureFlags::ARITHMETIC.as_raw()
        | vk::SubgroupFeatureFlags::BALLOT.as_raw()
        | vk::SubgroupFeatureFlags::SHUFFLE.as_raw(),
);

/// Subgroup sizes that the kernels support: their shared arrays are sized for subgroups of 4 lanes and more.
const SUBGROUP_SIZES: std::ops::RangeInclusive<u32> = 4..=128;

const SIZE_CONTROL: &CStr = ash::ext::subgroup_size_control::NAME;
#[cfg(feature = "headless")]
const MEMORY_BUDGET: &CStr = ash::ext::memory_budget::NAME;
const EXECUTABLES: &CStr = ash::khr::pipeline_executable_properties::NAME;
/// Must be enabled on layered drivers that expose it, such as MoltenVK.
const PORTABILITY_SUBSET: &CStr = ash::khr::portability_subset::NAME;

/// Features that a device was, or will be, created with, of those that this library uses.
///
/// Vulkan has no query for the enabled features, so the creator of the device states them here. Start with
/// [`Self::REQUIRED`] or [`DeviceRequirements::enabled`], and clear every feature that the device was created without.
/// Never set one that was not enabled.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EnabledFeatures {
    /// The core feature `bufferDeviceAddress` of Vulkan 1.2; required.
    pub buffer_device_address: bool,
    /// `VK_EXT_subgroup_size_control` with its feature `subgroupSizeControl`: a policy may require a subgroup size.
    pub subgroup_size_control: bool,
    /// `computeFullSubgroups` of the same extension: pipelines require full subgroups. Without it Vulkan does not
    /// guarantee that each subgroup is full before the next begins, as the kernels assume; every driver tested does
    /// this.
    pub compute_full_subgroups: bool,
    /// `VK_KHR_pipeline_executable_properties` with its feature `pipelineExecutableInfo`: pipelines capture
    /// [`Pipeline::statistics`](super::Pipeline::statistics).
    pub pipeline_executable_info: bool,
    /// The core feature `shaderFloat64`: sums and products of f64.
    pub shader_float64: bool,
    /// The feature `storageBuffer8BitAccess` of Vulkan 1.2: sorts, merges, searches, selections, top-k and single-pass encodings
    /// take elements of 8 bits as they are, without words of 32 bits in scratch.
    pub storage_buffer8_bit_access: bool,
    /// `storageBuffer16BitAccess` of Vulkan 1.1: likewise of 16 bits.
    pub storage_buffer16_bit_access: bool,
    /// The core feature `sparseBinding`: arrays of `headless` may be larger than one allocation. Plans make no use of it.
    pub sparse_binding: bool,
    /// The instance extension `VK_EXT_debug_utils`: debug labels in recordings, debug names of pipelines.
    pub debug_utils: bool,
}

impl EnabledFeatures {
    /// The required features only.
    pub const REQUIRED: Self = Self {
        buffer_device_address: true,
        subgroup_size_control: false,
        compute_full_subgroups: false,
        pipeline_executable_info: false,
        shader_float64: false,
        storage_buffer8_bit_access: false,
        storage_buffer16_bit_access: false,
        sparse_binding: false,
        debug_utils: false,
    };

    /// The Vulkan name of the first of these features that `there` lacks.
    fn first_beyond(self, there: Self) -> Option<&'static str> {
        [
            (self.buffer_device_address, there.buffer_device_address, "bufferDeviceAddress"),
            (self.subgroup_size_control, there.subgroup_size_control, "subgroupSizeControl"),
            (self.compute_full_subgroups, there.compute_full_subgroups, "computeFullSubgroups"),
            (self.pipeline_executable_info, there.pipeline_executable_info, "pipelineExecutableInfo"),
            (self.shader_float64, there.shader_float64, "shaderFloat64"),
            (self.storage_buffer8_bit_access, there.storage_buffer8_bit_access, "storageBuffer8BitAccess"),
            (self.storage_buffer16_bit_access, there.storage_buffer16_bit_access, "storageBuffer16BitAccess"),
            (self.sparse_binding, there.sparse_binding, "sparseBinding"),
        ]
        .into_iter()
        .find_map(|(is_named, is_there, name)| (is_named && !is_there).then_some(name))
    }

    /// Clears the optional features of a device that `there` does not have.
    #[cfg(any(feature = "capi", feature = "headless"))]
    pub(super) fn narrow(&mut self, there: Self) {
        self.subgroup_size_control &= there.subgroup_size_control;
        self.compute_full_subgroups &= there.compute_full_subgroups;
        self.pipeline_executable_info &= there.pipeline_executable_info;
        self.shader_float64 &= there.shader_float64;
        self.storage_buffer8_bit_access &= there.storage_buffer8_bit_access;
        self.storage_buffer16_bit_access &= there.storage_buffer16_bit_access;
        self.sparse_binding &= there.sparse_binding;
    }

    pub(super) fn has_size_control(self) -> bool {
        self.subgroup_size_control || self.compute_full_subgroups
    }
}

/// Features and extensions to enable on a device, from [`DeviceRequirements::query`].
#[derive(Debug, Clone)]
pub struct DeviceRequirements {
    api_version: u32,
    enabled: EnabledFeatures,
    has_statistics: bool,
    has_sparse_binding: bool,
    #[cfg(feature = "headless")]
    has_memory_budget: bool,
    is_portability_subset: bool,
}

/// What a device lacks whose instance was created for an earlier Vulkan.
pub(crate) const NOT_ASKED: &str = "the subgroup properties of Vulkan 1.1; create the instance for Vulkan 1.2 or later, in \
                                    VkApplicationInfo::apiVersion";

impl DeviceRequirements {
    /// Minimum Vulkan version of the instance and the device.
    pub const MIN_API_VERSION: u32 = vk::API_VERSION_1_2;

    /// Queries whether `physical_device` supports the required features, and which optional ones.
    ///
    /// Required: Vulkan 1.2, the feature `bufferDeviceAddress`, subgroups of 4 to 128 lanes, and their operations
    /// basic, vote, arithmetic, ballot and shuffle in compute shaders.
    ///
    /// # Errors
    /// [`Error::MissingFeature`] names the first requirement that is not met.
    ///
    /// # Safety
    /// `instance` is alive, was created for Vulkan 1.2 or later, and `physical_device` is one of its devices.
    pub unsafe fn query(instance: &ash::Instance, physical_device: vk::PhysicalDevice) -> Result<Self> {
        // SAFETY: as the caller promises.
        let properties = unsafe { instance.get_physical_device_properties(physical_device) };
        let missing = |missing: String| Error::MissingFeature {
            device: text(properties.device_name_as_c_str()),
            missing,
        };
        let (major, minor) =
            (vk::api_version_major(properties.api_version), vk::api_version_minor(properties.api_version));
        if (major, minor) < (1, 2) {
            return Err(missing(format!(
                "Vulkan 1.2 (its driver has {major}.{minor}; a newer driver may have it)"
            )));
        }

        let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
        let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut subgroup);
        // SAFETY: as the caller promises; the chain holds structures of Vulkan 1.1.
        unsafe { instance.get_physical_device_properties2(physical_device, &mut chain) };
        if subgroup.subgroup_size == 0 {
            // The query did not reach the driver: the instance is of Vulkan 1.0.
            return Err(missing(NOT_ASKED.into()));
        }
        if !subgroup.supported_stages.contains(vk::ShaderStageFlags::COMPUTE) {
            return Err(missing("subgroup operations in compute shaders".into()));
        }
        if !SUBGROUP_SIZES.contains(&subgroup.subgroup_size) {
            let size = subgroup.subgroup_size;
            return Err(missing(format!("subgroups of 4 to 128 lanes (it has {size})")));
        }
        let lacking = SUBGROUP_OPERATIONS & !subgroup.supported_operations;
        if !lacking.is_empty() {
            return Err(missing(format!("subgroup operations: {lacking:?}")));
        }

        // SAFETY: as the caller promises.
        let extensions = unsafe { instance.enumerate_device_extension_properties(physical_device) }
            .map_err(Error::vulkan("vkEnumerateDeviceExtensionProperties"))?;
        let has = |name: &CStr| extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(name));

        let mut vulkan11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut size_control = vk::PhysicalDeviceSubgroupSizeControlFeatures::default();
        let mut executables = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default();
        let mut chain =
            vk::PhysicalDeviceFeatures2::default().push_next(&mut vulkan11).push_next(&mut vulkan12);
        if has(SIZE_CONTROL) {
            chain = chain.push_next(&mut size_control);
        }
        if has(EXECUTABLES) {
            chain = chain.push_next(&mut executables);
        }
        // SAFETY: as the caller promises; an extension's structure is chained only where the extension is.
        unsafe { instance.get_physical_device_features2(physical_device, &mut chain) };
        let core = chain.features;
        if vulkan12.buffer_device_address == vk::FALSE {
            return Err(missing("the feature bufferDeviceAddress".into()));
        }
        Ok(Self {
            api_version: properties.api_version,
            enabled: EnabledFeatures {
                buffer_device_address: true,
                subgroup_size_control: size_control.subgroup_size_control == vk::TRUE,
                compute_full_subgroups: size_control.compute_full_subgroups == vk::TRUE,
                pipeline_executable_info: false,
                shader_float64: core.shader_float64 == vk::TRUE,
                storage_buffer8_bit_access: vulkan12.storage_buffer8_bit_access == vk::TRUE,
                storage_buffer16_bit_access: vulkan11.storage_buffer16_bit_access == vk::TRUE,
                sparse_binding: false,
                debug_utils: false,
            },
            has_statistics: executables.pipeline_executable_info == vk::TRUE,
            has_sparse_binding: core.sparse_binding == vk::TRUE,
            #[cfg(feature = "headless")]
            has_memory_budget: has(MEMORY_BUDGET),
            is_portability_subset: has(PORTABILITY_SUBSET),
        })
    }

    /// Clears the optional features that `enabled` does not have.
    #[cfg(any(feature = "capi", feature = "headless"))]
    pub(crate) fn narrow(&mut self, enabled: EnabledFeatures) {
        self.enabled.narrow(enabled);
    }

    /// Enables [`Pipeline::statistics`](super::Pipeline::statistics) where the device supports them. Not for
    /// production: a driver may compile more slowly and cache less.
    pub fn with_pipeline_statistics(mut self) -> Self {
        self.enabled.pipeline_executable_info = self.has_statistics;
        self
    }

    /// Enables `sparseBinding` where the device supports it. `headless` does so; plans make no use of it.
    pub fn with_sparse_binding(mut self) -> Self {
        self.enabled.sparse_binding = self.has_sparse_binding;
        self
    }

    /// Declares that the instance has `VK_EXT_debug_utils` enabled, for debug labels and names.
    pub fn with_debug_utils(mut self) -> Self {
        self.enabled.debug_utils = true;
        self
    }

    /// Checks the features that a caller states as enabled on `device_name`: all required ones, and none that the
    /// device lacks.
    pub(super) fn check(&self, enabled: EnabledFeatures, device_name: &str) -> Result<()> {
        let there = EnabledFeatures {
            pipeline_executable_info: self.has_statistics,
            sparse_binding: self.has_sparse_binding,
            ..self.enabled
        };
        let missing = |missing| Error::MissingFeature { device: device_name.to_owned(), missing };
        if let Some(name) = EnabledFeatures::REQUIRED.first_beyond(enabled) {
            return Err(missing(format!("the feature {name}, which must be enabled when it is created")));
        }
        match enabled.first_beyond(there) {
            Some(name) => Err(missing(format!("the feature {name}, which was declared as enabled"))),
            None => Ok(()),
        }
    }

    /// `apiVersion` of the physical device.
    pub fn api_version(&self) -> u32 {
        self.api_version
    }

    /// Whether the device has `VK_EXT_memory_budget`, whose query needs no enabled extension.
    #[cfg(feature = "headless")]
    pub(crate) fn has_memory_budget(&self) -> bool {
        self.has_memory_budget
    }

    /// Features to enable: the required ones, and the supported optional ones.
    pub fn enabled(&self) -> EnabledFeatures {
        self.enabled
    }

    /// Device extensions to enable, besides the caller's own.
    pub fn extensions(&self) -> Vec<&'static CStr> {
        [
            (self.enabled.has_size_control(), SIZE_CONTROL),
            (self.enabled.pipeline_executable_info, EXECUTABLES),
            (self.is_portability_subset, PORTABILITY_SUBSET),
        ]
        .into_iter()
        .filter_map(|(is_wanted, name)| is_wanted.then_some(name))
        .collect()
    }

    /// Features to enable, to be merged into `VkDeviceCreateInfo`.
    pub fn features(&self) -> FeatureChain {
        FeatureChain::new(self.enabled)
    }
}
