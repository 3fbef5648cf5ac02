//! A pipeline of a foreign module, on a device that has everything enabled that it can do.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use ash::khr::pipeline_executable_properties as executables;
use ash::vk;

use super::module::{Feature, SpecializedModule};
use crate::device::statistics_of;
use crate::error::{Error, Result, within};
use crate::harness::inspection::{InspectedExecutable, InspectedPipeline, Summary};
use crate::headless::{Candidate, Instance};

impl SpecializedModule<'_> {
    /// Compiles the module on `candidate` and asks the driver about it. `name` becomes the kernel's; `lanes` are asked for
    /// as the subgroup size, where the driver is not to choose. Its layout has a storage buffer, or whatever the module
    /// declares, at each of its bindings, and as many bytes of push constants as the device takes.
    ///
    /// # Errors
    /// [`Error::MissingFeature`] if the driver does not tell, or the device lacks a feature that the module needs;
    /// [`Error::PolicyExceedsLimits`] for workgroups, shared memory, push constants or descriptor sets that are more than the
    /// device takes; it and [`Error::InvalidPolicy`] if the device has no subgroups of `lanes`; whatever Vulkan says.
    pub fn inspect(
        &self,
        candidate: &Candidate,
        name: &str,
        lanes: Option<u32>,
    ) -> Result<InspectedPipeline> {
        let requirements = candidate.requirements()?.clone().with_pipeline_statistics();
        let capabilities = candidate.capabilities().ok_or_else(|| cannot_tell(candidate))?;
        if !requirements.enabled().pipeline_executable_info {
            return Err(cannot_tell(candidate));
        }
        // SAFETY: the device is the instance's.
        let properties =
            unsafe { candidate.instance().raw().get_physical_device_properties(candidate.physical_device()) };
        let workgroup_size = self.workgroup_within(&properties.limits)?;
        self.resources_within(&properties.limits)?;
        self.features_within(candidate)?;
        // Of a workgroup whose size is not known, one subgroup has to fit.
        let lanes =
            capabilities.requested_subgroup_size(lanes, workgroup_size.unwrap_or(lanes.unwrap_or(1)))?;
        let device = OpenDevice::new(candidate, &properties)?;
        let pipeline = device.pipeline(self, lanes)?;
        // SAFETY: the pipeline is the device's, and was made to keep its statistics.
        let statistics = unsafe { statistics_of(&device.functions, pipeline.0) }?;
        let executables = InspectedExecutable::of_statistics(statistics);
        Ok(InspectedPipeline {
            kernel: name.to_owned(),
            specialization: self.words_of_choice.clone(),
            lanes: executables.first().map_or(0, |executable| executable.subgroup_size),
            summary: Summary::new(capabilities, workgroup_size.unwrap_or(0), &executables),
            executables,
        })
    }

    /// Invocations in a workgroup, where they are known, within what a device takes.
    fn workgroup_within(&self, limits: &vk::PhysicalDeviceLimits) -> Result<Option<u32>> {
        let Some(size) = self.workgroup_size else { return Ok(None) };
        for (length, max) in size.into_iter().zip(limits.max_compute_work_group_size) {
            within("invocations along a dimension of a workgroup", length, max)?;
        }
        let count = size.into_iter().fold(1, u32::saturating_mul);
        within("invocations in a workgroup", count, limits.max_compute_work_group_invocations)?;
        Ok(Some(count))
    }

    /// Refuses what drivers need not take, and crash on.
    pub(super) fn resources_within(&self, limits: &vk::PhysicalDeviceLimits) -> Result<()> {
        let bytes = |size: Option<u64>| u32::try_from(size.unwrap_or(0)).unwrap_or(u32::MAX);
        let shared_memory_size = bytes(self.shared_memory_size);
        within("bytes of shared memory", shared_memory_size, limits.max_compute_shared_memory_size)?;
        let push_constant_size = bytes(self.push_constant_size);
        within("bytes of push constants", push_constant_size, limits.max_push_constants_size)?;
        within("descriptor sets", self.set_count(), limits.max_bound_descriptor_sets)
    }

    /// Refuses a module that needs a feature which the device lacks.
    fn features_within(&self, candidate: &Candidate) -> Result<()> {
        let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut vulkan12);
        let instance = candidate.instance().raw();
        // SAFETY: the device is the instance's, and has Vulkan 1.2.
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

    /// One more than the highest number of a set.
    fn set_count(&self) -> u32 {
        self.bindings.keys().map(|(set, _)| set + 1).max().unwrap_or(0)
    }
}

fn cannot_tell(candidate: &Candidate) -> Error {
    Error::MissingFeature {
        device: candidate.name().to_owned(),
        missing: "the feature pipelineExecutableInfo, by which a driver tells about pipelines".to_owned(),
    }
}

/// A device for one module.
struct OpenDevice {
    raw: ash::Device,
    functions: executables::Device,
    /// Bytes.
    push_constant_size: u32,
    _instance: Arc<Instance>,
}

/// What the device must destroy, the last first.
struct Objects<'d> {
    device: &'d ash::Device,
    set_layouts: Vec<vk::DescriptorSetLayout>,
    layout: vk::PipelineLayout,
    module: vk::ShaderModule,
}

/// A pipeline, destroyed with its device's borrow.
struct Made<'d>(vk::Pipeline, &'d ash::Device);

/// Extensions that let modules declare more, where the driver has them.
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
    /// Opens the device with every core feature that it has, but for those that make shaders slower.
    fn new(candidate: &Candidate, properties: &vk::PhysicalDeviceProperties) -> Result<Self> {
        let instance = candidate.instance();
        let (raw_instance, physical_device) = (instance.raw(), candidate.physical_device());
        let has_vulkan_1_3 = properties.api_version >= vk::API_VERSION_1_3;
        // SAFETY: the device is the instance's.
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
        // SAFETY: as above; every structure of the chain is of Vulkan 1.2, or of what the device was found to have.
        unsafe { raw_instance.get_physical_device_features2(physical_device, &mut features) };
        // Checks of bounds cost instructions that no module asks for.
        features.features.robust_buffer_access = vk::FALSE;
        if has_vulkan_1_3 {
            let vulkan13 = features.p_next.cast::<vk::PhysicalDeviceVulkan13Features>();
            // SAFETY: the structure was pushed last, and so is the chain's first.
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
        // SAFETY: the device has every extension and feature that it is asked for.
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
        // SAFETY: the caller vouches for the module, as its user was told.
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
    /// A layout with every binding of the module.
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
        // SAFETY: nothing but the pipeline was made of them, which does not need them any more.
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
        // SAFETY: nothing was submitted.
        unsafe { self.1.destroy_pipeline(self.0, None) };
    }
}

impl Drop for OpenDevice {
    fn drop(&mut self) {
        // SAFETY: everything that was made of it borrowed it.
        unsafe { self.raw.destroy_device(None) };
    }
}
