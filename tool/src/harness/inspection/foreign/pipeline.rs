//! Pipeline of a foreign module, on a device with all its features enabled.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use subsweep::ash::khr::pipeline_executable_properties as executables;
use subsweep::ash::vk;

use super::module::{Feature, SpecializedModule};
use crate::harness::inspection::{InspectedExecutable, InspectedPipeline, Summary};
use subsweep::error::within;
use subsweep::error::{Error, Result};
use subsweep::headless::{Candidate, Instance};
use subsweep::internal::statistics_of;

impl SpecializedModule<'_> {
    /// Compiles the module on `candidate`, and returns the driver's statistics. `name` is the kernel's name in the
    /// result. `lanes` is the required subgroup size, if not the driver's choice. The pipeline layout has a storage
    /// buffer, or the declared type, at each binding of the module, and the largest push-constant range of the device.
    ///
    /// # Errors
    /// [`Error::MissingFeature`] if the driver reports no statistics, or the device lacks a feature that the module
    /// requires; [`Error::PolicyExceedsLimits`] if workgroup, shared memory, push constants or descriptor sets exceed
    /// the device's limits; this and [`Error::InvalidPolicy`] if the device has no subgroups of `lanes`; errors of
    /// Vulkan.
    pub fn inspect(
        &self,
        candidate: &Candidate,
        name: &str,
        lanes: Option<u32>,
    ) -> Result<InspectedPipeline> {
        let requirements = candidate.requirements()?.clone().with_pipeline_statistics();
        let capabilities = candidate.capabilities().ok_or_else(|| missing_feature(candidate))?;
        if !requirements.enabled().pipeline_executable_info {
            return Err(missing_feature(candidate));
        }
        // SAFETY: the physical device belongs to the instance.
        let properties =
            unsafe { candidate.instance().raw().get_physical_device_properties(candidate.physical_device()) };
        let workgroup_size = self.workgroup_within(&properties.limits)?;
        self.resources_within(&properties.limits)?;
        self.features_within(candidate)?;
        // If the workgroup size is unknown, one subgroup must fit.
        let lanes =
            capabilities.requested_subgroup_size(lanes, workgroup_size.unwrap_or(lanes.unwrap_or(1)))?;
        let device = OpenDevice::new(candidate, &properties)?;
        let pipeline = device.pipeline(self, lanes)?;
        // SAFETY: the pipeline belongs to the device, and was created with CAPTURE_STATISTICS.
        let statistics = unsafe { statistics_of(&device.functions, pipeline.0) }?;
        let executables = InspectedExecutable::of_statistics(statistics);
        Ok(InspectedPipeline {
            kernel: name.to_owned(),
            specialization: self.choice_text.clone(),
            lanes: executables.first().map_or(0, |executable| executable.subgroup_size),
            summary: Summary::new(capabilities, workgroup_size.unwrap_or(0), &executables),
            executables,
        })
    }

    /// Invocations of a workgroup, if known, checked against the device's limits.
    fn workgroup_within(&self, limits: &vk::PhysicalDeviceLimits) -> Result<Option<u32>> {
        let Some(size) = self.workgroup_size else { return Ok(None) };
        for (length, max) in size.into_iter().zip(limits.max_compute_work_group_size) {
            within("invocations along a dimension of a workgroup", length, max)?;
        }
        let count = size.into_iter().fold(1, u32::saturating_mul);
        within("invocations in a workgroup", count, limits.max_compute_work_group_invocations)?;
        Ok(Some(count))
    }

    /// Refuses resources over the device's limits, on which drivers may crash.
    pub(super) fn resources_within(&self, limits: &vk::PhysicalDeviceLimits) -> Result<()> {
        let bytes = |size: Option<u64>| u32::try_from(size.unwrap_or(0)).unwrap_or(u32::MAX);
        let shared_memory_size = bytes(self.shared_memory_size);
        within("bytes of shared memory", shared_memory_size, limits.max_compute_shared_memory_size)?;
        let push_constant_size = bytes(self.push_constant_size);
        within("bytes of push constants", push_constant_size, limits.max_push_constants_size)?;
        within("descriptor sets", self.set_count(), limits.max_bound_descriptor_sets)
    }

    /// Refuses a module that requires a feature which the device lacks.
    fn features_within(&self, candidate: &Candidate) -> Result<()> {
        let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut vulkan12);
        let instance = candidate.instance().raw();
        // SAFETY: the physical device belongs to the instance, and has Vulkan 1.2.
        unsafe { instance.get_physical_device_features2(candidate.physical_device(), &mut chain) };
        let core = chain.features;
        let lacking = self.features.iter().find_map(|feature| {
            let (has, name) = match feature {
                Feature::Float16 => (vulkan12.shader_float16, "shaderFloat16"),
                Feature::Float64 => (core.shader_float64, "shaderFloat64"),
                Feature::Int8 => (vulkan12.shader_int8, "shaderInt8"),
                Feature::Int16 => (core.shader_int16, "shaderInt16"),
                Feature::Int64 => (core.shader_int64, "shaderInt64"),
                Feature::BufferInt64Atomics => {
                    (vulkan12.shader_buffer_int64_atomics, "shaderBufferInt64Atomics")
                }
                Feature::SharedInt64Atomics => {
                    (vulkan12.shader_shared_int64_atomics, "shaderSharedInt64Atomics")
                }
            };
            (has == vk::FALSE).then_some(name)
        });
        lacking.map_or(Ok(()), |name| {
            let device = candidate.name().to_owned();
            Err(Error::MissingFeature {
                device,
                missing: format!("the feature {name}, which the module needs"),
            })
        })
    }

    /// The highest set number plus 1.
    fn set_count(&self) -> u32 {
        self.bindings.keys().map(|(set, _)| set + 1).max().unwrap_or(0)
    }
}

fn missing_feature(candidate: &Candidate) -> Error {
    Error::MissingFeature {
        device: candidate.name().to_owned(),
        missing: "the feature pipelineExecutableInfo, with which a driver reports pipeline statistics"
            .to_owned(),
    }
}

/// A device for one module.
struct OpenDevice {
    raw: subsweep::ash::Device,
    functions: executables::Device,
    /// Push-constant limit in bytes.
    push_constant_size: u32,
    _instance: Arc<Instance>,
}

/// Objects that are destroyed with the borrow of the device.
struct Objects<'d> {
    device: &'d subsweep::ash::Device,
    set_layouts: Vec<vk::DescriptorSetLayout>,
    layout: vk::PipelineLayout,
    module: vk::ShaderModule,
}

/// A pipeline that is destroyed with the borrow of its device.
struct Made<'d>(vk::Pipeline, &'d subsweep::ash::Device);

/// Extensions that modules may use, enabled if the driver has them.
const EXTENSIONS: [&CStr; 8] = [
    c"VK_KHR_pipeline_executable_properties",
    c"VK_EXT_subgroup_size_control",
    c"VK_EXT_shader_atomic_float",
    c"VK_EXT_shader_subgroup_partitioned",
    c"VK_NV_shader_subgroup_partitioned",
    c"VK_KHR_shader_clock",
    c"VK_KHR_shader_maximal_reconvergence",
    c"VK_KHR_shader_subgroup_rotate",
];

impl OpenDevice {
    /// Opens the device with all its core features, except those that slow shaders down.
    fn new(candidate: &Candidate, properties: &vk::PhysicalDeviceProperties) -> Result<Self> {
        let instance = candidate.instance();
        let (raw_instance, physical_device) = (instance.raw(), candidate.physical_device());
        let has_vulkan_1_3 = properties.api_version >= vk::API_VERSION_1_3;
        // SAFETY: the physical device belongs to the instance.
        let found = unsafe { raw_instance.enumerate_device_extension_properties(physical_device) }
            .map_err(Error::vulkan("vkEnumerateDeviceExtensionProperties"))?;
        let has = |name: &&CStr| found.iter().any(|one| one.extension_name_as_c_str() == Ok(*name));
        let extensions: Vec<_> =
            EXTENSIONS.iter().filter(|name| has(name)).map(|name| name.as_ptr()).collect();

        let mut executables = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default();
        let mut size_control = vk::PhysicalDeviceSubgroupSizeControlFeatures::default();
        let (mut vulkan11, mut vulkan12, mut vulkan13) = (
            vk::PhysicalDeviceVulkan11Features::default(),
            vk::PhysicalDeviceVulkan12Features::default(),
            vk::PhysicalDeviceVulkan13Features::default(),
        );
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut executables)
            .push_next(&mut vulkan11)
            .push_next(&mut vulkan12);
        features = if has_vulkan_1_3 {
            features.push_next(&mut vulkan13)
        } else if has(&c"VK_EXT_subgroup_size_control") {
            features.push_next(&mut size_control)
        } else {
            features
        };
        // SAFETY: as above; every structure of the chain is of Vulkan 1.2, or of an extension that the device has.
        unsafe { raw_instance.get_physical_device_features2(physical_device, &mut features) };
        // Bounds checks add instructions that are not the module's.
        features.features.robust_buffer_access = vk::FALSE;
        if has_vulkan_1_3 {
            let vulkan13 = features.p_next.cast::<vk::PhysicalDeviceVulkan13Features>();
            // SAFETY: the structure was pushed last, so it is the first of the chain.
            unsafe { (*vulkan13).robust_image_access = vk::FALSE };
        }

        let (queue_family_index, _) = candidate.compute_family()?;
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(queue_family_index)
            .queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut features);
        // SAFETY: the device supports all enabled extensions and features.
        let raw = unsafe { raw_instance.create_device(physical_device, &info, None) }
            .map_err(Error::vulkan("vkCreateDevice"))?;
        Ok(Self {
            functions: executables::Device::new(raw_instance, &raw),
            raw,
            push_constant_size: properties.limits.max_push_constants_size,
            _instance: Arc::clone(instance),
        })
    }

    fn pipeline(&self, module: &SpecializedModule<'_>, lanes: Option<u32>) -> Result<Made<'_>> {
        let mut objects = Objects {
            device: &self.raw,
            set_layouts: Vec::new(),
            layout: vk::PipelineLayout::null(),
            module: vk::ShaderModule::null(),
        };
        objects.make_layout(module, self.push_constant_size)?;
        let module_info = vk::ShaderModuleCreateInfo::default().code(module.words);
        // SAFETY: the caller guarantees a valid module, as the documentation of `--spirv` requires.
        objects.module = unsafe { self.raw.create_shader_module(&module_info, None) }
            .map_err(Error::vulkan("vkCreateShaderModule"))?;

        let (mut entries, mut data) = (Vec::new(), Vec::new());
        for (id, value) in &module.constants {
            let entry = vk::SpecializationMapEntry::default().constant_id(*id);
            entries.push(entry.offset(data.len() as u32).size(value.len()));
            data.extend_from_slice(value);
        }
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let entry_point = CString::new(module.entry_point).expect("it was read to its zero");
        let mut required_size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(objects.module)
            .name(&entry_point)
            .specialization_info(&specialization);
        if let Some(lanes) = lanes {
            required_size = required_size.required_subgroup_size(lanes);
            stage = stage.push_next(&mut required_size);
        }
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(objects.layout)
            .flags(vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR);
        // SAFETY: module and layout are alive and of this device; the layout has every binding of the module.
        let made = unsafe { self.raw.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        match made {
            Ok(pipelines) => Ok(Made(pipelines[0], &self.raw)),
            Err((_, error)) => Err(Error::vulkan("vkCreateComputePipelines")(error)),
        }
    }
}

impl Objects<'_> {
    /// Creates a pipeline layout with every binding of the module.
    fn make_layout(&mut self, module: &SpecializedModule<'_>, push_constant_size: u32) -> Result<()> {
        for set in 0..module.set_count() {
            let of_set = module.bindings.iter().filter(|((of, _), _)| *of == set);
            let bindings: Vec<_> = of_set
                .map(|((_, binding), found)| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(*binding)
                        .descriptor_type(found.kind)
                        .descriptor_count(found.count)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: the device is alive.
            let made = unsafe { self.device.create_descriptor_set_layout(&info, None) };
            self.set_layouts.push(made.map_err(Error::vulkan("vkCreateDescriptorSetLayout"))?);
        }
        let push_constants = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(push_constant_size)];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&self.set_layouts)
            .push_constant_ranges(&push_constants);
        // SAFETY: device and layouts are alive.
        let made = unsafe { self.device.create_pipeline_layout(&info, None) };
        self.layout = made.map_err(Error::vulkan("vkCreatePipelineLayout"))?;
        Ok(())
    }
}

impl Drop for Objects<'_> {
    fn drop(&mut self) {
        // SAFETY: only the pipeline was created from them, and it does not need them any more.
        unsafe {
            self.device.destroy_shader_module(self.module, None);
            self.device.destroy_pipeline_layout(self.layout, None);
            for layout in self.set_layouts.drain(..) {
                self.device.destroy_descriptor_set_layout(layout, None);
            }
        }
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing was submitted, so the pipeline is not in use.
        unsafe { self.1.destroy_pipeline(self.0, None) };
    }
}

impl Drop for OpenDevice {
    fn drop(&mut self) {
        // SAFETY: all objects of the device have borrowed it, and are destroyed.
        unsafe { self.raw.destroy_device(None) };
    }
}
