//! Compute pipelines of kernels, with push constants and without descriptors.

use std::borrow::Cow;
use std::ffi::CString;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ash::vk;

use super::logical::Device;
use super::registry::Key;
use crate::error::{Error, PolicyConflict, Result, within};
use crate::kernels::Kernel;
use crate::threads;

/// Specialization of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct PipelineOptions<'a> {
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Specialization constants by name; others keep their default.
    pub constants: &'a [(&'static str, u32)],
    /// Required subgroup size; `None` for the device's `subgroupSize`.
    pub subgroup_size: Option<u32>,
}

/// A reference-counted pipeline and its layout, destroyed with the last reference.
///
/// A device has one pipeline for each combination of kernel, constants and subgroup size; requests for the same
/// combination share it.
#[derive(Debug, Clone)]
pub struct Pipeline {
    shared: Arc<Shared>,
}

/// A pipeline in the device's registry.
#[derive(Debug)]
pub(super) struct Shared {
    device: Device,
    kernel: &'static Kernel,
    specialization: Specialization,
    key: Key,
    /// Held while the driver compiles, so that a second thread waits for the result.
    compiling: Mutex<()>,
    compiled: OnceLock<Compiled>,
    is_dispatched: AtomicBool,
}

#[derive(Debug)]
struct Compiled {
    layout: vk::PipelineLayout,
    raw: vk::Pipeline,
}

/// Specialization of a pipeline; displayed as `WORKGROUP_SIZE=256 NAME=VALUE …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Specialization {
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Specialization constants that were given.
    pub constants: Vec<(&'static str, u32)>,
    /// Required subgroup size.
    pub subgroup_size: Option<u32>,
}

impl Pipeline {
    /// Returns the device's pipeline of `kernel` with these options; compiles it with the device's pipeline cache if it
    /// does not exist.
    ///
    /// Full subgroups are required where the device supports it and the workgroup size is a multiple of the subgroup
    /// size. A subgroup size is required only where the device has more than one.
    ///
    /// # Errors
    /// [`Error::PolicyExceedsLimits`] and [`Error::InvalidPolicy`] if the device does not support the workgroup size or
    /// the required subgroup size; the errors of `vkCreateComputePipelines`.
    ///
    /// # Panics
    /// If the kernel does not have one of the constants.
    pub fn new(device: &Device, kernel: &'static Kernel, options: PipelineOptions<'_>) -> Result<Self> {
        let pipeline = Self::declare(device, kernel, options)?;
        pipeline.compile()?;
        Ok(pipeline)
    }

    /// As [`Self::new`], without compiling: a plan declares all of its pipelines, then compiles them together by
    /// [`Self::compile_all`].
    ///
    /// # Errors
    /// Errors of [`Self::new`], except the errors of `vkCreateComputePipelines`.
    ///
    /// # Panics
    /// As [`Self::new`].
    #[doc(hidden)]
    pub fn declare(device: &Device, kernel: &'static Kernel, options: PipelineOptions<'_>) -> Result<Self> {
        device.check()?;
        let capabilities = device.capabilities();
        PolicyConflict::check_range("workgroup_size", options.workgroup_size, 1..=u32::MAX)?;
        within("invocations in a workgroup", options.workgroup_size, capabilities.max_workgroup_invocations)?;
        let subgroup_size =
            capabilities.requested_subgroup_size(options.subgroup_size, options.workgroup_size)?;
        let lanes = subgroup_size.unwrap_or(capabilities.subgroup_size);
        let requires_full_subgroups =
            capabilities.enabled.compute_full_subgroups && options.workgroup_size.is_multiple_of(lanes);
        let key = Key::new(kernel, options, subgroup_size, requires_full_subgroups);
        // In the kernel's order: plans that share the pipeline may give them in any.
        let mut constants = options.constants.to_vec();
        constants.sort_by_key(|(name, _)| kernel.spec_constants.iter().position(|other| other.name == *name));
        let shared = device.registry().get_or_insert(key, |key| Shared {
            device: device.clone(),
            kernel,
            specialization: Specialization {
                workgroup_size: options.workgroup_size,
                constants,
                subgroup_size: options.subgroup_size,
            },
            key,
            compiling: Mutex::default(),
            compiled: OnceLock::new(),
            is_dispatched: AtomicBool::new(false),
        });
        Ok(Self { shared })
    }

    /// Compiles the pipelines that are not compiled yet, on up to [`Device::pipeline_threads`] threads.
    ///
    /// # Errors
    /// The error of the first pipeline, in their order, that fails to compile.
    #[doc(hidden)]
    pub fn compile_all<'p>(device: &Device, pipelines: impl IntoIterator<Item = &'p Self>) -> Result<()> {
        let missing: Vec<_> =
            pipelines.into_iter().filter(|pipeline| pipeline.shared.compiled.get().is_none()).collect();
        let thread_count = device.pipeline_threads().get();
        threads::on_threads(thread_count, missing.len(), |index| missing[index].compile()).map(drop)
    }

    fn compile(&self) -> Result<()> {
        self.shared.compile()
    }

    /// The device of the pipeline.
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    /// The kernel of the pipeline.
    pub fn kernel(&self) -> &'static Kernel {
        self.shared.kernel
    }

    /// The specialization of the kernel.
    pub fn specialization(&self) -> &Specialization {
        &self.shared.specialization
    }

    /// Whether both refer to the same pipeline.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    pub(super) fn raw(&self) -> vk::Pipeline {
        self.compiled().raw
    }

    pub(super) fn layout(&self) -> vk::PipelineLayout {
        self.compiled().layout
    }

    /// Counts the pipeline as dispatched, at its first dispatch.
    pub(super) fn count_dispatch(&self) {
        if !self.shared.is_dispatched.swap(true, Ordering::Relaxed) {
            self.shared.device.registry().count_dispatched();
        }
    }

    fn compiled(&self) -> &Compiled {
        self.shared.compiled.get().expect("a plan compiles the pipelines that it declares")
    }
}

impl Shared {
    fn compile(&self) -> Result<()> {
        let _compiling = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if self.compiled.get().is_some() {
            return Ok(());
        }
        let layout = create_layout(&self.device, self.kernel)?;
        let raw = self.create(layout).inspect_err(|_| {
            // SAFETY: nothing uses the layout.
            self.device.destroy(|raw| unsafe { raw.destroy_pipeline_layout(layout, None) });
        })?;
        self.device.registry().count_created();
        let compiled = Compiled { layout, raw };
        // Named before it is shared: other threads use a compiled pipeline without the lock.
        if let Err(error) = self.set_name(raw) {
            self.destroy(compiled);
            return Err(error);
        }
        self.compiled.get_or_init(|| compiled);
        Ok(())
    }

    fn create(&self, layout: vk::PipelineLayout) -> Result<vk::Pipeline> {
        let raw = self.device.raw();
        let (ids, values): (Vec<u32>, Vec<u32>) = self.key.constants().iter().copied().unzip();
        let entries: Vec<_> = (0u32..)
            .zip(&ids)
            .map(|(index, &id)| {
                vk::SpecializationMapEntry::default().constant_id(id).offset(4 * index).size(4)
            })
            .collect();
        let specialization =
            vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(&values));

        let code = match self.device.capabilities().keeps_dead_branches() {
            true => self.kernel.pruned(self.key.constants()),
            false => module_of(self.kernel),
        };
        let module_info = vk::ShaderModuleCreateInfo::default().code(&code);
        // SAFETY: the module was compiled for Vulkan 1.2 with the crate, or replaces one that was; perhaps without blocks that
        // are never executed, which leaves it valid.
        let module = unsafe { raw.create_shader_module(&module_info, None) }
            .map_err(Error::vulkan("vkCreateShaderModule"))?;

        let mut required_size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main")
            .specialization_info(&specialization);
        if self.key.requires_full_subgroups() {
            stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
        }
        if let Some(size) = self.key.subgroup_size() {
            required_size = required_size.required_subgroup_size(size);
            stage = stage.push_next(&mut required_size);
        }
        let mut info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        if self.device.executables().is_some() {
            info.flags |= vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR
                | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR;
        }
        if self.device.splits_dispatches() {
            info.flags |= vk::PipelineCreateFlags::DISPATCH_BASE;
        }
        // SAFETY: the module and the layout are alive and of this device.
        let result = unsafe { raw.create_compute_pipelines(self.device.pipeline_cache(), &[info], None) };
        // SAFETY: a pipeline does not need its module after creation.
        unsafe { raw.destroy_shader_module(module, None) };
        match result {
            Ok(pipelines) => Ok(pipelines[0]),
            Err((_, error)) => Err(Error::vulkan("vkCreateComputePipelines")(error)),
        }
    }

    /// Sets the pipeline's debug name, where `VK_EXT_debug_utils` is enabled.
    fn set_name(&self, raw: vk::Pipeline) -> Result<()> {
        let Some(debug_utils) = self.device.debug_utils() else { return Ok(()) };
        let name = format!("subsweep {} {}", self.kernel.name, self.specialization);
        // A custom kernel's name is its caller's.
        let name = CString::new(name.replace('\0', "")).expect("no zero is left");
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(raw).object_name(&name);
        // SAFETY: the pipeline belongs to the device, and `compile` does not share it with other threads before it is
        // named.
        unsafe { debug_utils.set_debug_utils_object_name(&info) }
            .map_err(Error::vulkan("vkSetDebugUtilsObjectNameEXT"))
    }

    /// Destroys a pipeline that is no longer used.
    fn destroy(&self, Compiled { layout, raw: pipeline }: Compiled) {
        // SAFETY: created in `compile`; the caller keeps the plan until work that uses it has completed.
        self.device.destroy(|raw| unsafe {
            raw.destroy_pipeline(pipeline, None);
            raw.destroy_pipeline_layout(layout, None);
        });
    }
}

/// The kernel's module, or a replacement from the folder `SUBSWEEP_KERNELS`. `tools/mutants` tests kernels with
/// deliberate faults by it without a build for each; only builds with `compile-shaders` read it. A kernel with functions of a
/// caller keeps its module: the folder has the library's of the same name.
pub(crate) fn module_of(kernel: &'static Kernel) -> Cow<'static, [u32]> {
    #[cfg(feature = "compile-shaders")]
    if let Some(folder) = std::env::var_os("SUBSWEEP_KERNELS").filter(|_| !kernel.has_functions) {
        let name = format!("{}.spv", kernel.name.replace(':', "."));
        if let Ok(module) = std::fs::read(std::path::Path::new(&folder).join(name)) {
            let (words, _) = module.as_chunks();
            return Cow::Owned(words.iter().copied().map(u32::from_ne_bytes).collect());
        }
    }
    kernel.words()
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

impl Drop for Shared {
    fn drop(&mut self) {
        self.device.registry().remove(&self.key);
        if let Some(compiled) = self.compiled.take() {
            self.destroy(compiled);
        }
    }
}
