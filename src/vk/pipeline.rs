//! A compute pipeline of one kernel: push constants only, no descriptors.

use std::ffi::CString;
use std::fmt;

use ash::vk;

use super::device::Device;
use crate::error::{Error, Result, within};
use crate::kernels::Kernel;

/// How a kernel is specialised.
#[derive(Debug, Clone, Copy)]
pub struct PipelineOptions<'a> {
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Specialization constants by name; those not named keep their default.
    pub constants: &'a [(&'static str, u32)],
    /// Lanes to ask for; `None` takes the device's `subgroupSize`.
    pub subgroup_size: Option<u32>,
}

/// A pipeline and its layout, destroyed when dropped.
#[derive(Debug)]
pub struct Pipeline {
    device: Device,
    kernel: &'static Kernel,
    specialization: Specialization,
    layout: vk::PipelineLayout,
    raw: vk::Pipeline,
}

/// What a pipeline makes of its kernel, as [`PipelineOptions`] said it; shown as `WORKGROUP_SIZE=256 NAME=VALUE …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Specialization {
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// The specialization constants that were named.
    pub constants: Vec<(&'static str, u32)>,
    /// Lanes that were asked for.
    pub subgroup_size: Option<u32>,
}

impl Pipeline {
    /// Compiles `kernel` for the device, with its pipeline cache.
    ///
    /// Full subgroups are required wherever the device can promise them and the workgroup is a multiple of the
    /// subgroup. A subgroup size is asked for only where the device has a choice of them.
    ///
    /// # Errors
    /// [`Error::PolicyBeyondDevice`] and [`Error::InvalidPolicy`] if the workgroup is too large for the device, or a
    /// subgroup size is asked for that it does not have; else whatever the driver's compiler says.
    ///
    /// # Panics
    /// If a constant is named that the kernel does not have: the caller's own mistake, which every test would show.
    pub fn new(device: &Device, kernel: &'static Kernel, options: PipelineOptions<'_>) -> Result<Self> {
        device.check()?;
        let capabilities = device.capabilities();
        if options.workgroup_size == 0 {
            return Err(Error::InvalidPolicy { reason: "a workgroup has at least one invocation" });
        }
        within("invocations in a workgroup", options.workgroup_size, capabilities.max_workgroup_invocations)?;
        let requested =
            capabilities.requested_subgroup_size(options.subgroup_size, options.workgroup_size)?;
        let lanes = requested.unwrap_or(capabilities.subgroup_size);
        let full =
            capabilities.enabled.compute_full_subgroups && options.workgroup_size.is_multiple_of(lanes);

        let layout = create_layout(device, kernel)?;
        // From here on the layout is owned: an early return drops it.
        let specialization = Specialization {
            workgroup_size: options.workgroup_size,
            constants: options.constants.to_vec(),
            subgroup_size: options.subgroup_size,
        };
        let mut pipeline =
            Self { device: device.clone(), kernel, specialization, layout, raw: vk::Pipeline::null() };
        pipeline.raw = pipeline.compile(options, requested, full)?;
        pipeline.set_name()?;
        Ok(pipeline)
    }

    fn compile(
        &self,
        options: PipelineOptions<'_>,
        subgroup_size: Option<u32>,
        full_subgroups: bool,
    ) -> Result<vk::Pipeline> {
        let raw = self.device.raw();
        // Constant 0 is the workgroup size, in every kernel.
        let (ids, values): (Vec<u32>, Vec<u32>) = std::iter::once((0, options.workgroup_size))
            .chain(options.constants.iter().map(|&(name, value)| {
                let constant = self.kernel.spec_constants.iter().find(|constant| constant.name == name);
                let constant =
                    constant.unwrap_or_else(|| panic!("{} has no constant {name}", self.kernel.name));
                (constant.id, value)
            }))
            .unzip();
        let entries: Vec<_> = (0u32..)
            .zip(&ids)
            .map(|(index, &id)| {
                vk::SpecializationMapEntry::default().constant_id(id).offset(4 * index).size(4)
            })
            .collect();
        let specialization =
            vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(&values));

        let module_info = vk::ShaderModuleCreateInfo::default().code(bytemuck::cast_slice(self.kernel.spirv));
        // SAFETY: the module was compiled and validated for Vulkan 1.2 when the crate was built.
        let module = unsafe { raw.create_shader_module(&module_info, None) }
            .map_err(Error::vulkan("vkCreateShaderModule"))?;

        let mut required_size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main")
            .specialization_info(&specialization);
        if full_subgroups {
            stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
        }
        if let Some(size) = subgroup_size {
            required_size = required_size.required_subgroup_size(size);
            stage = stage.push_next(&mut required_size);
        }
        let mut info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.layout);
        if self.device.executables().is_some() {
            info.flags |= vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR
                | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR;
        }
        if self.device.splits_dispatches() {
            info.flags |= vk::PipelineCreateFlags::DISPATCH_BASE;
        }
        // SAFETY: the module and the layout are alive and of this device.
        let result = unsafe { raw.create_compute_pipelines(self.device.pipeline_cache(), &[info], None) };
        // SAFETY: a pipeline does not need its module once it is made.
        unsafe { raw.destroy_shader_module(module, None) };
        match result {
            Ok(pipelines) => Ok(pipelines[0]),
            Err((_, error)) => Err(Error::vulkan("vkCreateComputePipelines")(error)),
        }
    }

    /// Names the pipeline after its kernel, where `VK_EXT_debug_utils` is on.
    fn set_name(&self) -> Result<()> {
        let Some(debug_utils) = self.device.debug_utils() else { return Ok(()) };
        let name = format!("subsweep {} {}", self.kernel.name, self.specialization);
        // A custom kernel's name is its caller's.
        let name = CString::new(name.replace('\0', "")).expect("no zero is left");
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(self.raw).object_name(&name);
        // SAFETY: the pipeline is the device's, and used by nobody yet.
        unsafe { debug_utils.set_debug_utils_object_name(&info) }
            .map_err(Error::vulkan("vkSetDebugUtilsObjectNameEXT"))
    }

    /// The device that the pipeline is of.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The kernel that the pipeline runs.
    pub fn kernel(&self) -> &'static Kernel {
        self.kernel
    }

    /// What the pipeline makes of its kernel.
    pub fn specialization(&self) -> &Specialization {
        &self.specialization
    }

    pub(super) fn raw(&self) -> vk::Pipeline {
        self.raw
    }

    pub(super) fn layout(&self) -> vk::PipelineLayout {
        self.layout
    }
}

fn create_layout(device: &Device, kernel: &Kernel) -> Result<vk::PipelineLayout> {
    let push_constants = [vk::PushConstantRange::default()
        .stage_flags(vk::ShaderStageFlags::COMPUTE)
        .size(kernel.push_constant_size())];
    let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push_constants);
    // SAFETY: the device is alive.
    unsafe { device.raw().create_pipeline_layout(&info, None) }
        .map_err(Error::vulkan("vkCreatePipelineLayout"))
}

impl fmt::Display for Specialization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WORKGROUP_SIZE={}", self.workgroup_size)?;
        self.constants.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))?;
        self.subgroup_size.map_or(Ok(()), |size| write!(f, " in subgroups of {size}"))
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: made in `new`; whoever submits work that uses them keeps the plan until the work is done.
        self.device.destroy(|raw| unsafe {
            raw.destroy_pipeline(self.raw, None);
            raw.destroy_pipeline_layout(self.layout, None);
        });
    }
}
