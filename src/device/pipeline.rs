//! A compute pipeline of one kernel: push constants only, no descriptors.

use std::borrow::Cow;
use std::ffi::CString;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use ash::vk;

use super::logical::Device;
use super::registry::Key;
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

/// A shared reference to a pipeline and its layout, which are destroyed with the last reference.
///
/// A device has each pipeline once: whoever asks for the same kernel, constants and subgroup size gets another reference.
#[derive(Debug, Clone)]
pub struct Pipeline {
    shared: Arc<Shared>,
}

/// A pipeline as the device's registry knows it.
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
    /// The device's pipeline of `kernel` with these options, compiled with the device's pipeline cache unless it exists.
    ///
    /// Full subgroups are required wherever the device can promise them and the workgroup is a multiple of the
    /// subgroup. A subgroup size is asked for only where the device has a choice of them.
    ///
    /// # Errors
    /// [`Error::PolicyExceedsLimits`] and [`Error::InvalidPolicy`] if the workgroup is too large for the device, or a
    /// subgroup size is asked for that it does not have; else whatever the driver's compiler says.
    ///
    /// # Panics
    /// If a constant is named that the kernel does not have: the caller's own mistake, which every test would show.
    pub fn new(device: &Device, kernel: &'static Kernel, options: PipelineOptions<'_>) -> Result<Self> {
        let pipeline = Self::declare(device, kernel, options)?;
        pipeline.compile()?;
        Ok(pipeline)
    }

    /// As [`Self::new`], but not compiled yet: a plan declares all of its pipelines, then compiles them together by
    /// [`Self::compile_all`].
    ///
    /// # Errors
    /// Those of [`Self::new`] but for the compiler's.
    ///
    /// # Panics
    /// As [`Self::new`].
    pub(crate) fn declare(
        device: &Device,
        kernel: &'static Kernel,
        options: PipelineOptions<'_>,
    ) -> Result<Self> {
        device.check()?;
        let capabilities = device.capabilities();
        if options.workgroup_size == 0 {
            return Err(Error::InvalidPolicy { reason: "a workgroup has at least one invocation" });
        }
        within("invocations in a workgroup", options.workgroup_size, capabilities.max_workgroup_invocations)?;
        let subgroup_size =
            capabilities.requested_subgroup_size(options.subgroup_size, options.workgroup_size)?;
        let lanes = subgroup_size.unwrap_or(capabilities.subgroup_size);
        let requires_full_subgroups =
            capabilities.enabled.compute_full_subgroups && options.workgroup_size.is_multiple_of(lanes);
        let key = Key::new(kernel, options, subgroup_size, requires_full_subgroups);
        // In the kernel's order, whatever that of the plan which came first.
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

    /// Compiles those of `pipelines` that are not compiled yet, on up to [`Device::pipeline_threads`] threads.
    ///
    /// # Errors
    /// Whatever the driver's compiler says of the first of them that fails, in their order.
    pub(crate) fn compile_all<'p>(
        device: &Device,
        pipelines: impl IntoIterator<Item = &'p Self>,
    ) -> Result<()> {
        let missing: Vec<_> =
            pipelines.into_iter().filter(|pipeline| pipeline.shared.compiled.get().is_none()).collect();
        let next = AtomicUsize::new(0);
        // All before one that fails have begun, and end: the least index is that of the first.
        let work = || loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if let Err(error) = missing.get(at)?.compile() {
                next.store(missing.len(), Ordering::Relaxed);
                return Some((at, error));
            }
        };
        let failures = on_threads(device, missing.len(), &work).into_iter().flatten();
        failures.min_by_key(|(at, _)| *at).map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Compiles each of `pipelines`, on up to [`Device::pipeline_threads`] threads, whatever becomes of the others; `begin`
    /// is told before each. A result for each, in their order.
    #[cfg(feature = "cli")]
    pub(crate) fn compile_each(
        device: &Device,
        pipelines: &[Self],
        begin: &(impl Fn(&Self) + Sync),
    ) -> Vec<Result<()>> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut results = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(pipeline) = pipelines.get(at) else { return results };
                begin(pipeline);
                results.push((at, pipeline.compile()));
            }
        };
        let mut results: Vec<_> = on_threads(device, pipelines.len(), &work).into_iter().flatten().collect();
        results.sort_by_key(|(at, _)| *at);
        results.into_iter().map(|(_, result)| result).collect()
    }

    fn compile(&self) -> Result<()> {
        self.shared.compile()
    }

    /// The device that the pipeline is of.
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    /// The kernel that the pipeline runs.
    pub fn kernel(&self) -> &'static Kernel {
        self.shared.kernel
    }

    /// What the pipeline makes of its kernel.
    pub fn specialization(&self) -> &Specialization {
        &self.shared.specialization
    }

    /// Whether both are references to one pipeline.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    pub(super) fn raw(&self) -> vk::Pipeline {
        self.compiled().raw
    }

    pub(super) fn layout(&self) -> vk::PipelineLayout {
        self.compiled().layout
    }

    /// The pipeline is about to be bound for a dispatch.
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
        // Named before others can have it: whoever finds it compiled records it without the lock.
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

        let code = module_of(self.kernel);
        let module_info = vk::ShaderModuleCreateInfo::default().code(&code);
        // SAFETY: the module was compiled for Vulkan 1.2 when the crate was built, or by whoever put another in its place.
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
        // SAFETY: a pipeline does not need its module once it is made.
        unsafe { raw.destroy_shader_module(module, None) };
        match result {
            Ok(pipelines) => Ok(pipelines[0]),
            Err((_, error)) => Err(Error::vulkan("vkCreateComputePipelines")(error)),
        }
    }

    /// Names the pipeline after its kernel, where `VK_EXT_debug_utils` is on.
    fn set_name(&self, raw: vk::Pipeline) -> Result<()> {
        let Some(debug_utils) = self.device.debug_utils() else { return Ok(()) };
        let name = format!("subsweep {} {}", self.kernel.name, self.specialization);
        // A custom kernel's name is its caller's.
        let name = CString::new(name.replace('\0', "")).expect("no zero is left");
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(raw).object_name(&name);
        // SAFETY: the pipeline is the device's, and `compile` lets no other thread have it before it is named.
        unsafe { debug_utils.set_debug_utils_object_name(&info) }
            .map_err(Error::vulkan("vkSetDebugUtilsObjectNameEXT"))
    }

    /// Ends what nobody uses, or will use.
    fn destroy(&self, Compiled { layout, raw: pipeline }: Compiled) {
        // SAFETY: made in `compile`; whoever submits work that uses them keeps the plan until the work is done.
        self.device.destroy(|raw| unsafe {
            raw.destroy_pipeline(pipeline, None);
            raw.destroy_pipeline_layout(layout, None);
        });
    }
}

/// Does `work` on as many threads as the device's pipelines may be compiled on, the caller's among them, but on no more
/// than there are `items`. Returns what each thread did.
fn on_threads<T: Send>(device: &Device, items: usize, work: &(impl Fn() -> T + Sync)) -> Vec<T> {
    let thread_count = device.pipeline_threads().get().min(items);
    thread::scope(|scope| {
        // A thread that cannot be had is done without.
        let threads: Vec<_> =
            (1..thread_count).map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
        let mut done = vec![work()];
        let join = |thread: thread::ScopedJoinHandle<'_, T>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        done.extend(threads.into_iter().map(join));
        done
    })
}

/// The kernel's module, or the one that stands in for it: `tools/mutants` swaps the modules of kernels with a deliberate
/// fault, which would otherwise cost a build each. Only builds that compile the shaders themselves look for one.
fn module_of(kernel: &'static Kernel) -> Cow<'static, [u32]> {
    #[cfg(feature = "compile-shaders")]
    if let Some(folder) = std::env::var_os("SUBSWEEP_KERNELS") {
        let name = format!("{}.spv", kernel.name.replace(':', "."));
        if let Ok(module) = std::fs::read(std::path::Path::new(&folder).join(name)) {
            let (words, _) = module.as_chunks();
            return Cow::Owned(words.iter().copied().map(u32::from_ne_bytes).collect());
        }
    }
    Cow::Borrowed(bytemuck::cast_slice(kernel.spirv))
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
