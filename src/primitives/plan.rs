//! The plan: pipelines of a primitive, and the recording of one of its algorithms.
//!
//! ```text
//!   Config ── Config::checked_policy ──► Policy ── Primitive::declare ──► pipelines of every algorithm
//!   counts ── Primitive::algorithm ──► Algorithm ── layout ──► offsets in scratch
//!   buffers ── Buffers::arguments ──► checked ranges ──┬─► Algorithm::record ──► commands
//!                                         offsets ─────┘
//! ```

use std::ffi::CStr;
use std::fmt::{Debug, Display};
use std::hash::Hash;

use ash::vk;

use super::arguments::{Argument, Arguments, Checker, Memory};
use super::functions::Functions;
use super::packed::Packing;
use super::scratch::{ScratchArray, ScratchCursor, ScratchRequirements};
use crate::device::{
    Access, AddressRange, BufferRange, Capabilities, CommandCounts, Device, Pipeline, Recorder,
};
use crate::error::Result;

/// Plan of a primitive. Immutable; holds pipelines and no memory; may be shared between threads and recorded any number
/// of times.
///
#[doc = example!()]
/// use subsweep::device::Barrier;
/// use subsweep::select::{Comparison, Operands, SelectBuffers, SelectConfig, SelectPlan};
/// use subsweep::sort::{SortBuffers, SortConfig, SortPlan};
/// # use subsweep::{Count, ElementType, headless::{Gpu, GpuOptions}};
/// # let gpu = Gpu::open(GpuOptions::default())?;
/// # let (source, kept, count) = (gpu.allocate_with(&[9, 3, 7, 1])?, gpu.allocate(16)?, gpu.allocate(4)?);
/// # let [source, to, count] = [&source, &kept, &count].map(|buffer| buffer.addresses());
///
/// // Keys below 5, sorted. Their number stays on the device.
/// let select = SelectPlan::new(gpu.device(), SelectConfig::compare(ElementType::U32, Comparison::Less))?;
/// let sort = SortPlan::new(gpu.device(), SortConfig::keys(ElementType::U32).indirect_count())?;
/// # let select_scratch = gpu.allocate(select.scratch_requirements(4).size)?;
/// # let sort_scratch = gpu.allocate(sort.scratch_requirements(4).size)?;
/// # let (select_scratch, sort_scratch) = (select_scratch.range(), sort_scratch.range());
/// let operands = Operands::host(&[5u32])?;
/// let selection = SelectBuffers::new(source, to, count, select_scratch).operands(operands);
/// let sorted = SortBuffers::new(to, sort_scratch);
/// let kept_count = Count::Indirect { address: count.address, max: 4 };
/// // SAFETY: the memory is this device's, and alive until `submit` has waited.
/// unsafe { gpu.submit(|recorder| {
///     select.record(recorder, &selection, 4)?;
///     recorder.barrier(Barrier { name: "kept", source: select.last_access(), destination: sort.first_access() });
///     sort.record(recorder, &sorted, kept_count)
/// }) }?;
/// assert_eq!(gpu.read(&kept, 2)?, [1, 3]);
/// # Ok::<(), subsweep::Error>(())
/// ```
#[derive(Debug)]
pub struct Plan<P: Primitive> {
    device: Device,
    config: P::Config,
    /// The configuration of the primitive, whose elements are not packed unless its kernels take such.
    unpacked: P::Config,
    policy: P::Policy,
    pub(super) primitive: P,
    packing: Option<Packing>,
}

/// A primitive of [`Plan`]. Only the library implements it.
pub trait Primitive: Debug + Send + Sync + Sized + 'static {
    /// Configuration of a plan.
    type Config: Config<Primitive = Self>;
    /// Tuning parameters.
    type Policy: Copy + Debug + Display + Send + Sync;
    /// Memory of a recording.
    type Buffers: Buffers<Self>;
    /// Counts of a recording, direct or indirect.
    type Count: Counts;

    /// Debug label of a recording.
    #[doc(hidden)]
    const LABEL: &'static CStr;

    /// Declares all pipelines of a configuration and a policy that [`Config::checked_policy`] has checked.
    #[doc(hidden)]
    fn declare(device: &Device, config: &Self::Config, policy: &Self::Policy) -> Result<Self>;

    /// Whether the kernels of a policy take packed elements as they are.
    #[doc(hidden)]
    fn takes_packed(_: &Capabilities, _: &Self::Config, _: &Self::Policy) -> bool {
        false
    }

    /// All algorithms of the plan.
    #[doc(hidden)]
    fn algorithms(&self) -> impl Iterator<Item = &dyn Recordable<Self>>;

    /// The algorithm for up to `max` elements, by default the first one; `None` if there is nothing to record.
    #[doc(hidden)]
    fn algorithm(&self, _: &Self::Config, max: Max<Self>) -> Option<&dyn Recordable<Self>> {
        self.algorithms().next().filter(|_| !Self::is_empty(max))
    }

    /// Checks the counts against the limits of the plan; algorithms check the limits of a recording.
    #[doc(hidden)]
    fn check_count(&self, _: &Self::Config, _: Max<Self>) -> Result<()> {
        Ok(())
    }

    /// Whether there is no element, so that not even the memory is checked.
    #[doc(hidden)]
    fn is_empty(max: Max<Self>) -> bool {
        max == Max::<Self>::default()
    }

    /// Accesses before the first barrier.
    #[doc(hidden)]
    fn first_access(&self, _: &Self::Config) -> Access {
        Access::COMPUTE
    }
}

/// Configuration of a plan, which determines its primitive.
pub trait Config: Copy + Debug + Eq + Hash + Send + Sync + 'static {
    /// The primitive.
    type Primitive: Primitive<Config = Self>;

    /// Whether plans take indirect counts.
    fn has_indirect_count(&self) -> bool;

    /// Checks the configuration, and its policy or the one that it leaves to be chosen.
    #[doc(hidden)]
    fn checked_policy(&self, capabilities: &Capabilities) -> Result<<Self::Primitive as Primitive>::Policy>;

    /// The configuration of the same result from elements that are [unpacked](super::packed); the same one without such.
    #[doc(hidden)]
    fn unpacked(&self) -> Self;
}

/// Makes a type with a field `policy`, and `has_indirect_count` or another field for it, the configuration of a primitive;
/// a closure makes the configuration of unpacked elements.
macro_rules! configuration {
    ($config:ident, $policy:ident of $primitive:ident, |$this:ident| $unpacked:expr) => {
        configuration!($config, $policy of $primitive: has_indirect_count, |$this| $unpacked);
    };
    (
        $config:ident, $policy:ident of $primitive:ident: $($has_indirect_count:ident).+, |$this:ident| $unpacked:expr
    ) => {
        impl $crate::primitives::plan::Config for $config {
            type Primitive = $primitive;

            fn has_indirect_count(&self) -> bool {
                self.$($has_indirect_count).+
            }

            fn checked_policy(&self, capabilities: &$crate::device::Capabilities) -> Result<$policy> {
                self.check(capabilities)?;
                let unpacked = self.unpacked();
                unpacked.check(capabilities)?;
                let policy = self.policy.unwrap_or_else(|| <$policy>::choose(capabilities, &unpacked).policy);
                policy.check(&unpacked, capabilities)?;
                Ok(policy)
            }

            fn unpacked(&self) -> Self {
                let $this = self;
                $unpacked
            }
        }
    };
}
pub(super) use configuration;

/// Memory of a recording.
pub trait Buffers<P: Primitive>: Copy + Debug + Default {
    /// The table of arguments: passes each to `table`, which may change its range. Fails for operands that the configuration
    /// does not take.
    #[doc(hidden)]
    fn arguments(
        &mut self,
        config: &P::Config,
        count: &mut P::Count,
        table: &mut Arguments<'_>,
    ) -> Result<()>;

    /// Memory of which nothing is known but that the configuration takes it, to size a recording.
    #[doc(hidden)]
    fn unknown(_: &P::Config) -> Self {
        Self::default()
    }
}

/// Checked memory of a recording, shortened to what it accesses.
pub(super) struct CheckedMemory<B> {
    pub(super) buffers: B,
    pub(super) scratch: BufferRange,
    /// What functions of the caller read besides.
    functions_data: AddressRange,
}

/// Checks the arguments of a recording, whose scratch has so many bytes and may hold unpacked elements.
pub(super) fn checked<P: Primitive>(
    mut buffers: P::Buffers,
    config: &P::Config,
    mut count: P::Count,
    (scratch_size, has_unpacked): (u64, bool),
) -> Result<CheckedMemory<P::Buffers>> {
    let (mut checker, mut scratch, mut functions_data) =
        (Checker::default(), BufferRange::NONE, AddressRange::NONE);
    let mut check = |argument: Argument, mut memory: Memory<'_>| {
        checker.check(argument, &mut memory)?;
        match memory {
            Memory::Buffer(range) => scratch = *range,
            Memory::Addresses(range) if argument.name == Functions::DATA => functions_data = *range,
            Memory::Addresses(_) => {}
        }
        Ok(())
    };
    let mut table = Arguments::new(scratch_size, has_unpacked, &mut check);
    buffers.arguments(config, &mut count, &mut table)?;
    checker.check_disjoint()?;
    Ok(CheckedMemory { buffers, scratch, functions_data })
}

/// Maximum counts of a primitive.
pub type Max<P> = <<P as Primitive>::Count as Counts>::Max;

/// The counts of a recording: a [`Count`](crate::Count), or several.
pub trait Counts: Copy + Debug {
    /// Their maximums.
    type Max: Copy + Default + PartialEq + Into<Self>;

    /// The maximums, for which memory is sized.
    fn max(self) -> Self::Max;

    /// Fails for an indirect count, unless the plan supports those.
    #[doc(hidden)]
    fn check_supported(self, has_indirect_count: bool) -> Result<()>;
}

/// An algorithm of a primitive, specialized for a plan.
pub trait Algorithm<P: Primitive>: Debug + Send + Sync {
    /// Offsets of its arrays in scratch.
    type Layout;

    /// All pipelines that a recording may bind.
    fn pipelines(&self) -> impl Iterator<Item = &Pipeline>;

    /// Allocates its arrays for up to `max` elements.
    fn layout(&self, cursor: &mut ScratchCursor, max: Max<P>) -> Self::Layout;

    /// Records all commands.
    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, P, Self::Layout>) -> Result<()>;
}

/// The memory of one recording, which is checked, and its counts.
pub struct Checked<'a, P: Primitive, L> {
    pub(super) buffers: &'a P::Buffers,
    pub(super) layout: &'a L,
    pub(super) count: P::Count,
}

/// An [`Algorithm`] of any layout.
pub trait Recordable<P: Primitive>: Debug + Send + Sync {
    /// [`Algorithm::pipelines`].
    fn all_pipelines(&self) -> Box<dyn Iterator<Item = &Pipeline> + '_>;

    /// Allocates its arrays for up to `max` elements.
    fn allocate(&self, cursor: &mut ScratchCursor, max: Max<P>);

    /// Checks `buffers`, and records all commands in a debug label.
    fn check_and_record(
        &self,
        recorder: &mut Recorder<'_>,
        config: &P::Config,
        buffers: &P::Buffers,
        count: P::Count,
    ) -> Result<()>;
}

impl<P: Primitive, A: Algorithm<P>> Recordable<P> for A {
    fn all_pipelines(&self) -> Box<dyn Iterator<Item = &Pipeline> + '_> {
        Box::new(self.pipelines())
    }

    fn allocate(&self, cursor: &mut ScratchCursor, max: Max<P>) {
        self.layout(cursor, max);
    }

    fn check_and_record(
        &self,
        recorder: &mut Recorder<'_>,
        config: &P::Config,
        buffers: &P::Buffers,
        count: P::Count,
    ) -> Result<()> {
        let mut cursor = ScratchCursor::default();
        let layout = self.layout(&mut cursor, count.max());
        let CheckedMemory { buffers, functions_data, .. } =
            checked::<P>(*buffers, config, count, (cursor.size, false))?;
        let given = Checked { buffers: &buffers, layout: &layout, count };
        recorder.plan(P::LABEL, |recorder| {
            recorder.functions_data(functions_data);
            self.record(recorder, given)
        })
    }
}

impl<P: Primitive> Plan<P> {
    /// Creates all pipelines that a recording may need.
    ///
    /// # Errors
    /// [`Unsupported`](crate::Error::Unsupported) and [`OutOfRange`](crate::Error::OutOfRange) for a configuration that
    /// no device supports;
    /// [`MissingFeature`](crate::Error::MissingFeature) if this one lacks a feature for it;
    /// [`InvalidPolicy`](crate::Error::InvalidPolicy) and [`PolicyExceedsLimits`](crate::Error::PolicyExceedsLimits) for
    /// a policy that is inconsistent or does not fit the configuration or the device; and errors of
    /// `vkCreateComputePipelines`.
    pub fn new(device: &Device, config: impl Into<P::Config>) -> Result<Self> {
        let plan = Self::declare(device, config.into())?;
        Pipeline::compile_all(device, plan.pipelines())?;
        Ok(plan)
    }

    /// As [`Self::new`], without compiling the pipelines.
    #[doc(hidden)]
    pub fn declare(device: &Device, config: P::Config) -> Result<Self> {
        let capabilities = device.capabilities();
        let policy = config.checked_policy(capabilities)?;
        let takes_packed = P::takes_packed(capabilities, &config, &policy);
        let unpacked = if takes_packed { config } else { config.unpacked() };
        let primitive = P::declare(device, &unpacked, &policy)?;
        let packing = (unpacked != config).then(|| Packing::declare::<P>(device, &config)).transpose()?;
        Ok(Self { device: device.clone(), config, unpacked, policy, primitive, packing })
    }

    /// The device of the plan.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The configuration of the plan.
    pub fn config(&self) -> &P::Config {
        &self.config
    }

    /// The configuration of the primitive, whose elements are not packed unless its kernels take such.
    pub(super) fn unpacked_config(&self) -> &P::Config {
        &self.unpacked
    }

    /// The policy in use.
    pub fn policy(&self) -> &P::Policy {
        &self.policy
    }

    /// All pipelines that a recording may bind, for inspection.
    pub fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let packing = self.packing.iter().flat_map(Packing::pipelines);
        self.primitive.algorithms().flat_map(|algorithm| algorithm.all_pipelines()).chain(packing)
    }

    /// Scratch of a recording of up to `max` elements: see the tables of the primitives.
    pub fn scratch_requirements(&self, max: Max<P>) -> ScratchRequirements {
        self.allocated(ScratchCursor::default(), max).requirements()
    }

    /// The arrays that a recording of up to `max` elements has in scratch, for a look at the memory: some have undefined
    /// contents, or are not used by every recording.
    pub fn scratch_arrays(&self, max: Max<P>) -> Vec<ScratchArray> {
        self.allocated(ScratchCursor::of_arrays(), max).into_arrays()
    }

    /// The arguments of a recording: name, role and size of each. Only sizes of `buffers` are used, of arguments that may be
    /// of any size.
    ///
    /// # Errors
    /// [`TooManyElements`](crate::Error::TooManyElements), and the errors of [`Self::cmd_record`] for operands that the plan
    /// does not take.
    pub fn arguments(&self, buffers: &P::Buffers, count: impl Into<P::Count>) -> Result<Vec<Argument>> {
        let mut arguments = Vec::new();
        self.visit_arguments(&mut buffers.clone(), &mut count.into(), &mut |argument, _| {
            arguments.push(argument);
            Ok(())
        })?;
        Ok(arguments)
    }

    /// Passes each of the arguments to `visit`, which may change where it is.
    ///
    /// # Errors
    /// Errors of [`Self::arguments`] and `visit`.
    #[doc(hidden)]
    pub fn visit_arguments(
        &self,
        buffers: &mut P::Buffers,
        count: &mut P::Count,
        visit: &mut dyn FnMut(Argument, Memory<'_>) -> Result<()>,
    ) -> Result<()> {
        self.check_count(count.max())?;
        let scratch = self.scratch_requirements(count.max());
        let has_unpacked = self.packing.is_some();
        buffers.arguments(&self.config, count, &mut Arguments::new(scratch.size, has_unpacked, visit))
    }

    fn allocated(&self, mut cursor: ScratchCursor, max: Max<P>) -> ScratchCursor {
        if let Some(algorithm) = self.primitive.algorithm(&self.unpacked, max) {
            algorithm.allocate(&mut cursor, max);
            if self.packing.is_some() {
                Packing::allocate::<P>(&self.config, max, &mut cursor);
            }
        }
        cursor
    }

    /// Bytes that a recording reads and writes to unpack and pack elements.
    pub(super) fn packing_size(&self, max: Max<P>) -> u64 {
        if self.packing.is_some() { Packing::traffic_size::<P>(&self.config, max) } else { 0 }
    }

    /// Fails for more elements than a recording takes.
    #[doc(hidden)]
    pub fn check_count(&self, max: Max<P>) -> Result<()> {
        self.primitive.check_count(&self.unpacked, max)
    }

    /// Destination scope for the caller's barrier before the recording: accesses before its first barrier.
    pub fn first_access(&self) -> Access {
        let own = self.primitive.first_access(&self.unpacked);
        if self.packing.is_some() { own.and(Access::COMPUTE) } else { own }
    }

    /// Source scope for the caller's barrier after the recording: accesses after its last barrier. Reads of indirect
    /// arguments have completed by then.
    pub fn last_access(&self) -> Access {
        Access::COMPUTE_WRITE
    }

    /// Numbers of the commands that [`Self::cmd_record`] records for the same memory and count: each dispatch also binds
    /// its pipeline and push constants. Debug labels and timestamps are not counted.
    ///
    /// # Errors
    /// Errors of `cmd_record`.
    pub fn commands(&self, buffers: &P::Buffers, count: impl Into<P::Count>) -> Result<CommandCounts> {
        let mut recorder = Recorder::dry(&self.device);
        self.record(&mut recorder, buffers, count)?;
        Ok(recorder.counts())
    }

    /// Records into a command buffer of the caller. Nothing is submitted, waited for or allocated.
    ///
    /// What holds for every primitive; memory, commands, limits and result of each are in the table of its type, such as
    /// [`Scan`](crate::scan::Scan) and [`Sort`](crate::sort::Sort).
    ///
    /// | | |
    /// |---|---|
    /// | device | meets [`DeviceRequirements`](crate::device::DeviceRequirements); a queue that supports compute |
    /// | memory | ranges aligned to 4, ranges of 8- and 16-bit elements to 1 and 2 in memory of whole words, of buffers with `SHADER_DEVICE_ADDRESS`; disjoint, except that a scan may be in place |
    /// | scratch | of [`Self::scratch_requirements`], contents undefined, one range for each recording in flight |
    /// | commands | dispatches, fills of `scratch`, and barriers between them, none before the first or after the last |
    /// | elements of 8 and 16 bits | unpacked to words, unless the type says otherwise, which takes besides what it says: 4 bytes of `scratch` for each element of each array; before the rest a dispatch for each 2^30 elements of each array that is read; after it as many for each that is written; and barriers between, where none of the rest orders this |
    /// | barriers | the caller's, from and to [`Self::first_access`] and [`Self::last_access`] |
    /// | state | leaves a compute pipeline and push constants bound; changes no other state |
    /// | limits | a count of 0 records nothing, unless the table of the type says otherwise; an indirect count above its maximum is treated as the maximum |
    ///
    /// # Errors
    /// [`RangeTooSmall`](crate::Error::RangeTooSmall), [`Misaligned`](crate::Error::Misaligned),
    /// [`NullAddress`](crate::Error::NullAddress), [`AddressOverflow`](crate::Error::AddressOverflow),
    /// [`Overlap`](crate::Error::Overlap), [`ScratchTooSmall`](crate::Error::ScratchTooSmall),
    /// [`NullBuffer`](crate::Error::NullBuffer) and [`MissingUsage`](crate::Error::MissingUsage) for memory;
    /// [`TooManyElements`](crate::Error::TooManyElements) for a count above a limit;
    /// [`Unsupported`](crate::Error::Unsupported) for an indirect count or another operand that the plan was not created
    /// for. Nothing is recorded then.
    ///
    /// # Safety
    /// `command_buffer` is of the plan's device, in the recording state outside of a render pass, and used by no other
    /// thread meanwhile. When the commands execute, the ranges are bound memory of the device with the usage above, and
    /// the plan is alive. The caller orders their accesses with earlier and later commands.
    pub unsafe fn cmd_record(
        &self,
        command_buffer: vk::CommandBuffer,
        buffers: &P::Buffers,
        count: impl Into<P::Count>,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        let mut recorder = unsafe { Recorder::new(&self.device, command_buffer) };
        self.record(&mut recorder, buffers, count)
    }

    /// As [`Self::cmd_record`], with a recorder of the caller: for timestamps, or to record several plans. The
    /// conditions of [`Recorder::new`] apply.
    ///
    /// # Errors
    /// Errors of `cmd_record`; [`ForeignDevice`](crate::Error::ForeignDevice) if the recorder is of another device.
    pub fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &P::Buffers,
        count: impl Into<P::Count>,
    ) -> Result<()> {
        let count = count.into();
        recorder.check_device(&self.device)?;
        self.check_count(count.max())?;
        count.check_supported(self.config.has_indirect_count())?;
        recorder.trace_plan(&|| {
            let arrays = self.scratch_arrays(count.max()).into_iter();
            arrays.map(|ScratchArray { name, offset, size }| (name, offset, size)).collect()
        });
        match self.primitive.algorithm(&self.unpacked, count.max()) {
            Some(algorithm) => match &self.packing {
                Some(packing) => packing.record(self, algorithm, recorder, buffers, count),
                None => algorithm.check_and_record(recorder, &self.config, buffers, count),
            },
            None if P::is_empty(count.max()) => Ok(()),
            None => checked::<P>(*buffers, &self.config, count, (0, false)).map(drop),
        }
    }
}
