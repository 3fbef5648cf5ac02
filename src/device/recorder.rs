//! The recorder: all commands are recorded through it.

use std::fmt;

use ash::vk;

use super::barrier::{Access, Barrier};
use super::buffer::{AddressRange, BufferRange};
use super::logical::Device;
use super::phases::Phases;
use super::pipeline::Pipeline;
use super::push_constants::{PushBlock, PushConstants};
use super::trace::{Command, Trace, Workgroups};
use super::workarounds::Workarounds;
use crate::error::{Error, Result};

/// Splits a recording into submissions of limited size.
pub(crate) trait SubmissionSplitter: Send + Sync {
    /// Bytes that the dispatches of one submission may access.
    fn limit(&self) -> u64;

    /// Reserves up to `parts` parts of a dispatch, each of `part_size` bytes, and at least one. Returns the command
    /// buffer for them and their number. Earlier commands may have been submitted.
    fn reserve(&mut self, parts: u32, part_size: u64) -> Result<(vk::CommandBuffer, u32)>;

    /// Reserves an indirect dispatch, which is never split and accesses at most `size` bytes. Returns the command
    /// buffer for it. Earlier commands may have been submitted.
    fn reserve_at_most(&mut self, size: u64) -> Result<vk::CommandBuffer>;
}

/// Ranges that are watched at a time.
pub(crate) const MAX_WATCHED: usize = 6;

/// Numbers of recorded commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommandCounts {
    /// Dispatches, direct and indirect; a split one counts once.
    pub dispatches: u32,
    /// Barriers.
    pub barriers: u32,
    /// Fills, updates and copies.
    pub transfers: u32,
}

/// Records into the caller's command buffer. Creates and owns no Vulkan object.
pub struct Recorder<'d> {
    device: &'d Device,
    command_buffer: vk::CommandBuffer,
    is_dry: bool,
    counts: CommandCounts,
    /// A barrier before the first dispatch that accesses a range, unless another is recorded until then.
    pending: Option<(Barrier, AddressRange)>,
    /// Ranges, and whether one was written after the last barrier.
    watched: Option<([AddressRange; MAX_WATCHED], bool)>,
    /// Of the functions of a caller in kernels to come.
    functions_data: AddressRange,
    budget: Option<&'d mut dyn SubmissionSplitter>,
    trace: Option<&'d dyn Trace>,
    /// The pipelines of dispatches so far, if they are asked for.
    bound: Option<Vec<Pipeline>>,
    pub(super) phases: Phases<'d>,
}

const _: () = {
    const fn shareable<T: Send + Sync>() {}
    shareable::<Recorder<'_>>();
};

impl fmt::Debug for Recorder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("command_buffer", &self.command_buffer).finish_non_exhaustive()
    }
}

impl<'d> Recorder<'d> {
    /// Creates a recorder into `command_buffer`.
    ///
    /// # Safety
    /// `command_buffer` is of this device, of a queue family that supports compute, in the recording state outside of a
    /// render pass, and used by nothing else while the recorder is used. Arguments of the recorder's functions are of
    /// this device and outlive the work: pipelines and plans; ranges, in bound memory, large enough for the accesses of
    /// their kernel and with the usage that the command needs; query pools as in [`Self::with_timestamps`]; barriers
    /// with at least one stage on each side, which the queue family supports. The conditions of a plan's `cmd_*`
    /// function on its memory hold.
    pub unsafe fn new(device: &'d Device, command_buffer: vk::CommandBuffer) -> Self {
        Self { command_buffer, is_dry: false, ..Self::dry(device) }
    }

    /// Creates a recorder that records nothing and counts commands.
    pub fn dry(device: &'d Device) -> Self {
        Self {
            device,
            command_buffer: vk::CommandBuffer::null(),
            is_dry: true,
            counts: CommandCounts::default(),
            pending: None,
            watched: None,
            functions_data: AddressRange::NONE,
            budget: None,
            trace: None,
            bound: None,
            phases: Phases::default(),
        }
    }

    /// Compiles the pipelines that a recording binds.
    #[cfg(feature = "headless")]
    #[doc(hidden)]
    pub fn compile(device: &'d Device, record: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let mut recorder = Self { bound: Some(Vec::new()), ..Self::dry(device) };
        record(&mut recorder)?;
        let mut bound = recorder.bound.unwrap_or_default();
        bound.dedup_by(|next, one| next.is_same(one));
        Pipeline::compile_all(device, &bound)
    }

    /// Reports every command to `trace`, besides the trace of the device. The crate
    /// `subsweep-hazards` has one that checks the barriers between [`Self::begin`] and [`Self::end`].
    pub fn traced_by(mut self, trace: &'d dyn Trace) -> Self {
        self.trace = Some(trace);
        self
    }

    /// As [`Self::new`], split into submissions by `budget`; `command_buffer` is the first. All submissions are to one
    /// queue, so barriers order commands across them.
    ///
    /// # Safety
    /// The conditions of [`Self::new`] hold for every command buffer that `budget` returns, until it fails. The device was opened
    /// with [`OpenOptions::splits_dispatches`](super::OpenOptions).
    #[cfg(feature = "headless")]
    pub(crate) unsafe fn paced(
        device: &'d Device,
        command_buffer: vk::CommandBuffer,
        budget: &'d mut dyn SubmissionSplitter,
    ) -> Self {
        Self { command_buffer, is_dry: false, budget: Some(budget), ..Self::dry(device) }
    }

    /// The device of the recorder.
    pub fn device(&self) -> &'d Device {
        self.device
    }

    /// Numbers of commands recorded so far.
    pub fn counts(&self) -> CommandCounts {
        self.counts
    }

    /// Functions to record with; `None` for a dry recorder.
    pub(super) fn raw(&self) -> Option<&'d ash::Device> {
        (!self.is_dry).then(|| self.device.raw())
    }

    /// Whether the recording may be split into submissions.
    pub(super) fn is_paced(&self) -> bool {
        self.budget.is_some()
    }

    /// Fails unless `device` is the recorder's.
    pub(crate) fn check_device(&self, device: &Device) -> Result<()> {
        // Only pipelines with DISPATCH_BASE can be split.
        let may_be_split = !self.is_paced() || device.splits_dispatches();
        if self.device.is_same(device) && may_be_split { Ok(()) } else { Err(Error::ForeignDevice) }
    }

    /// The current command buffer, for commands of the caller; null for a dry recorder.
    pub fn command_buffer(&self) -> vk::CommandBuffer {
        self.command_buffer
    }

    /// Fails if [`Self::dispatch`] would for this number of workgroups. Lets a plan fail before it records anything.
    pub(crate) fn check_workgroups(&self, workgroup_count: u64) -> Result<()> {
        grid(workgroup_count, self.device.capabilities().max_workgroup_count).map(|_| ())
    }

    /// Dispatches `workgroup_count` workgroups of `pipeline`, in two dimensions where they exceed the limit of one. The
    /// grid may have more workgroups than `workgroup_count`; kernels ignore those.
    ///
    /// Leaves the compute pipeline and its push constants bound.
    ///
    /// # Errors
    /// [`Error::TooManyElements`] if the count exceeds the product of the device's limits of two dimensions; the errors of
    /// the submission of earlier commands, where the recording is split.
    ///
    /// # Panics
    /// If the block is not of the pipeline's kernel.
    pub fn dispatch<P: PushConstants>(
        &mut self,
        pipeline: &Pipeline,
        push: &P,
        workgroup_count: u64,
    ) -> Result<()> {
        let block = self.block_of(push, pipeline);
        let touched_size = touched_size(&block);
        let mut max = self.device.capabilities().max_workgroup_count;
        if let Some(budget) = &self.budget {
            let parts = touched_size.div_ceil(budget.limit());
            max = short_rows(workgroup_count, parts, max);
        }
        let [x, y] = grid(workgroup_count, max)?;
        self.before(pipeline, &block);
        self.trace_dispatch(pipeline, &block, Workgroups::Direct([x, y, 1]));
        let Some(raw) = self.raw() else { return Ok(()) };
        let mut row = 0;
        while row < y {
            let mut rows = y - row;
            if let Some(budget) = &mut self.budget {
                // After an error the command buffer is not in the recording state.
                let reserved = budget.reserve(rows, touched_size / u64::from(y));
                (self.command_buffer, rows) = reserved.inspect_err(|_| self.is_dry = true)?;
            }
            self.bind(raw, pipeline, &block);
            // SAFETY: as the caller of `new` promises. A dispatch has a base only on a device that was opened with
            // `splits_dispatches`.
            unsafe {
                if rows == y {
                    raw.cmd_dispatch(self.command_buffer, x, y, 1);
                } else {
                    raw.cmd_dispatch_base(self.command_buffer, 0, row, 0, x, rows, 1);
                }
            }
            row += rows;
            let resets_base =
                self.device.capabilities().workarounds.contains(Workarounds::NO_INDIRECT_BEHIND_BASE);
            if row == y && rows < y && resets_base {
                // SAFETY: as above; a dispatch without workgroups, which resets the base.
                unsafe { raw.cmd_dispatch(self.command_buffer, 0, 1, 1) };
            }
        }
        Ok(())
    }

    /// Dispatches `pipeline` with a `VkDispatchIndirectCommand` in `workgroups`, read when the commands execute.
    /// Kernels ignore workgroups beyond the elements.
    ///
    /// Leaves the compute pipeline and its push constants bound.
    ///
    /// # Errors
    /// Errors of the submission of earlier commands, where the recording is split. The dispatch itself is not.
    ///
    /// # Panics
    /// If the block is not of the pipeline's kernel, or `workgroups` is not 12 bytes at a multiple of 4.
    pub fn dispatch_indirect<P: PushConstants>(
        &mut self,
        pipeline: &Pipeline,
        push: &P,
        workgroups: BufferRange,
    ) -> Result<()> {
        assert!(workgroups.offset.is_multiple_of(4) && workgroups.size == 12, "three words");
        let block = self.block_of(push, pipeline);
        self.before(pipeline, &block);
        self.trace_dispatch(pipeline, &block, Workgroups::Indirect(workgroups.addresses()));
        let Some(raw) = self.raw() else { return Ok(()) };
        if let Some(budget) = &mut self.budget {
            let reserved = budget.reserve_at_most(touched_size(&block));
            self.command_buffer = reserved.inspect_err(|_| self.is_dry = true)?;
        }
        self.bind(raw, pipeline, &block);
        // SAFETY: as the caller of `new` promises.
        unsafe { raw.cmd_dispatch_indirect(self.command_buffer, workgroups.buffer, workgroups.offset) };
        Ok(())
    }

    /// Sets what functions of a caller read besides, in the kernels of the plan to come; returns what was set before.
    pub(crate) fn functions_data(&mut self, data: AddressRange) -> AddressRange {
        std::mem::replace(&mut self.functions_data, data)
    }

    /// The block of `push`, checked to be of `pipeline`'s kernel, with the pointer to the functions' data if it has one.
    fn block_of<P: PushConstants>(&self, push: &P, pipeline: &Pipeline) -> PushBlock {
        let kernel = pipeline.kernel();
        // A kernel with functions of a caller has the block of the kernel that it derives from.
        let modules = || P::FAMILIES.iter().flat_map(|family| family.modules());
        let has_block = modules().any(|other| std::ptr::eq(*other, kernel))
            || modules().any(|other| other.push_constants == kernel.push_constants);
        assert!(has_block, "no block of {}", kernel.name);
        let mut block = push.block();
        if kernel.has_functions {
            block.push(self.functions_data);
        }
        block
    }

    fn bind(&self, raw: &ash::Device, pipeline: &Pipeline, block: &PushBlock) {
        pipeline.count_dispatch();
        // SAFETY: as the caller of `new` promises; the block is the kernel's, as the implementation of `PushConstants`
        // promises.
        unsafe {
            raw.cmd_bind_pipeline(self.command_buffer, vk::PipelineBindPoint::COMPUTE, pipeline.raw());
            raw.cmd_push_constants(
                self.command_buffer,
                pipeline.layout(),
                vk::ShaderStageFlags::COMPUTE,
                0,
                block.bytes(),
            );
        }
    }

    fn trace_dispatch(&mut self, pipeline: &Pipeline, block: &PushBlock, workgroups: Workgroups) {
        self.bound.iter_mut().for_each(|bound| bound.push(pipeline.clone()));
        let (kernel, ranges) = (pipeline.kernel(), block.ranges());
        let constants = &pipeline.specialization().constants;
        self.trace(Command::Dispatch { kernel, ranges, workgroups, constants });
    }

    /// Records a barrier before the next dispatch that accesses `range`, or as a part of one that is recorded until then.
    pub(crate) fn barrier_before(&mut self, barrier: Barrier, range: AddressRange) {
        self.pending = Some((barrier, range));
    }

    /// Watches ranges until [`Self::is_ordered`] is asked.
    pub(crate) fn watch(&mut self, ranges: [AddressRange; MAX_WATCHED]) {
        self.watched = Some((ranges, false));
    }

    /// Whether a barrier between dispatches follows every one that writes a watched range; none is watched any longer.
    pub(crate) fn is_ordered(&mut self) -> bool {
        self.watched.take().is_none_or(|(_, is_written)| !is_written)
    }

    /// Before a dispatch: records a pending barrier of a range that it accesses.
    fn before(&mut self, pipeline: &Pipeline, block: &PushBlock) {
        let accesses = || pipeline.kernel().accesses().zip(block.ranges());
        let accessed = |range: &AddressRange| {
            accesses().any(|(access, other)| (access.read || access.write) && range.overlaps(other))
        };
        if let Some((barrier, _)) = self.pending.take_if(|(_, range)| accessed(range)) {
            self.barrier(barrier);
        }
        if let Some((watched, is_written)) = &mut self.watched {
            let written = |range: &AddressRange| {
                accesses().any(|(access, other)| access.write && range.overlaps(other))
            };
            *is_written |= watched.iter().any(written);
        }
    }

    /// Records a global memory barrier.
    pub fn barrier(&mut self, mut barrier: Barrier) {
        let orders_dispatches = barrier.source.access.contains(Access::COMPUTE_WRITE.access)
            && barrier.destination.access.contains(Access::COMPUTE_READ.access);
        if let Some((_, is_written)) = self.watched.as_mut().filter(|_| orders_dispatches) {
            *is_written = false;
        }
        if let Some((pending, _)) = self.pending.take() {
            barrier.source = barrier.source.and(pending.source);
            barrier.destination = barrier.destination.and(pending.destination);
        }
        self.trace(Command::Barrier(barrier));
        let Some(raw) = self.raw() else { return };
        let memory = [vk::MemoryBarrier::default()
            .src_access_mask(barrier.source.access)
            .dst_access_mask(barrier.destination.access)];
        // SAFETY: as the caller of `new` promises.
        unsafe {
            raw.cmd_pipeline_barrier(
                self.command_buffer,
                barrier.source.stages,
                barrier.destination.stages,
                vk::DependencyFlags::empty(),
                &memory,
                &[],
                &[],
            );
        }
    }

    /// Fills `range` with `word` (`vkCmdFillBuffer`).
    ///
    /// # Panics
    /// If the offset or the size is not a multiple of 4.
    pub fn fill(&mut self, range: BufferRange, word: u32) {
        assert!(range.offset.is_multiple_of(4) && range.size.is_multiple_of(4), "a fill is of words");
        if range.size == 0 {
            return;
        }
        self.trace(Command::Fill { range: range.addresses() });
        let Some(raw) = self.raw() else { return };
        // SAFETY: as the caller of `new` promises.
        unsafe { raw.cmd_fill_buffer(self.command_buffer, range.buffer, range.offset, range.size, word) };
    }

    /// Writes `words` to the start of `range` (`vkCmdUpdateBuffer`).
    ///
    /// # Panics
    /// If the offset is not a multiple of 4, or the words are empty, exceed the range, or exceed 65,536 bytes.
    pub fn update(&mut self, range: BufferRange, words: &[u32]) {
        let range = range.slice(0, size_of_val(words) as u64);
        assert!(range.offset.is_multiple_of(4) && (1..=65_536).contains(&range.size), "an update is short");
        self.trace(Command::Update { range: range.addresses() });
        let Some(raw) = self.raw() else { return };
        // SAFETY: as the caller of `new` promises.
        unsafe {
            raw.cmd_update_buffer(
                self.command_buffer,
                range.buffer,
                range.offset,
                bytemuck::cast_slice(words),
            );
        }
    }

    /// Copies `source` to `destination` (`vkCmdCopyBuffer`).
    ///
    /// # Panics
    /// If they differ in size.
    pub fn copy(&mut self, source: BufferRange, destination: BufferRange) {
        assert_eq!(source.size, destination.size, "a copy has one size");
        if source.size == 0 {
            return;
        }
        self.trace(Command::Copy { source: source.addresses(), destination: destination.addresses() });
        let Some(raw) = self.raw() else { return };
        let region = [vk::BufferCopy::default()
            .src_offset(source.offset)
            .dst_offset(destination.offset)
            .size(source.size)];
        // SAFETY: as the caller of `new` promises.
        unsafe {
            raw.cmd_copy_buffer(self.command_buffer, source.buffer, destination.buffer, &region);
        }
    }

    /// Reports to the traces that a recording begins, and that all earlier work is complete and visible. Records
    /// nothing.
    pub fn begin(&mut self) {
        self.trace(Command::Begin);
    }

    /// Reports to the traces that the recording continues in another submission.
    #[cfg(feature = "headless")]
    pub(crate) fn submit(&mut self) {
        self.trace(Command::Submit);
    }

    /// Reports to the traces that the recording ends. Records nothing.
    pub fn end(&mut self) {
        self.trace(Command::End);
    }

    /// Reports to the trace of [`Self::traced_by`] that a plan with these arrays in scratch is about to be recorded.
    pub(crate) fn trace_plan(&self, arrays: &dyn Fn() -> Vec<(&'static str, u64, u64)>) {
        if let Some(trace) = self.trace {
            trace.plan(arrays);
        }
    }

    fn trace(&mut self, command: Command<'_>) {
        match command {
            Command::Dispatch { .. } => self.counts.dispatches += 1,
            Command::Fill { .. } | Command::Update { .. } | Command::Copy { .. } => {
                self.counts.transfers += 1;
            }
            Command::Barrier(_) => self.counts.barriers += 1,
            Command::Begin | Command::Submit | Command::End => {}
        }
        if !matches!(command, Command::Begin | Command::Submit | Command::End) {
            self.begin_phases();
        }
        if let Some(trace) = self.trace {
            trace.record(self.command_buffer, &command);
        }
        if let Some(trace) = self.device.trace().filter(|_| !self.is_dry) {
            trace.record(self.command_buffer, &command);
        }
    }
}

/// Total size of all ranges, bytes.
fn touched_size(block: &PushBlock) -> u64 {
    block.ranges().iter().map(|range| range.size).fold(0, u64::saturating_add)
}

/// Limits of a dispatch with rows so short that it has `parts` of them, as far as `max` allows.
fn short_rows(workgroup_count: u64, parts: u64, max: [u32; 3]) -> [u32; 3] {
    let shortest = workgroup_count.div_ceil(max[1].into());
    let row = workgroup_count.div_ceil(parts.max(1)).max(shortest).max(1);
    [u32::try_from(row).map_or(max[0], |row| row.min(max[0])), max[1], max[2]]
}

/// The smallest two-dimensional grid of at least `workgroup_count` workgroups, in as few rows as possible.
fn grid(workgroup_count: u64, max: [u32; 3]) -> Result<[u32; 2]> {
    let limit = u64::from(max[0]) * u64::from(max[1]);
    if workgroup_count > limit {
        return Err(Error::TooManyElements {
            count: workgroup_count,
            max: limit,
            what: "workgroups of one dispatch on this device",
        });
    }
    let y = workgroup_count.div_ceil(max[0].into()).max(1);
    let x = workgroup_count.div_ceil(y);
    // Both are within their u32 limits by the check above.
    Ok([x as u32, y as u32])
}

#[cfg(test)]
mod tests;
