//! The one way in which commands reach a command buffer.

use std::fmt;

use ash::vk;

use super::barrier::Barrier;
use super::buffer::BufferRange;
use super::logical::Device;
use super::phases::Phases;
use super::pipeline::Pipeline;
use super::push_constants::{PushBlock, PushConstants};
use super::trace::{Command, Trace, Workgroups};
use super::workarounds::Workarounds;
use crate::error::{Error, Result};

/// Keeps submissions short, for whoever submits what is recorded.
pub(crate) trait SubmissionSplitter: Send + Sync {
    /// Bytes that the dispatches of one submission may touch.
    fn limit(&self) -> u64;

    /// How many of `parts` of a dispatch, each of which touches `part_size` bytes, go into the command buffer that is
    /// returned: at least one. What was recorded before may have been submitted.
    fn reserve(&mut self, parts: u32, part_size: u64) -> Result<(vk::CommandBuffer, u32)>;

    /// Where a dispatch goes that is in one part, and touches `size` bytes at most, or none. What was recorded before may
    /// have been submitted.
    fn reserve_at_most(&mut self, size: u64) -> Result<vk::CommandBuffer>;
}

/// How many commands of each kind were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommandCounts {
    /// Dispatches, direct and indirect; one that is cut into parts counts once.
    pub dispatches: u32,
    /// Barriers.
    pub barriers: u32,
    /// Fills, updates and copies.
    pub transfers: u32,
}

/// Records into a command buffer of the caller's. Makes nothing and owns nothing.
pub struct Recorder<'d> {
    device: &'d Device,
    command_buffer: vk::CommandBuffer,
    is_dry: bool,
    counts: CommandCounts,
    budget: Option<&'d mut dyn SubmissionSplitter>,
    trace: Option<&'d dyn Trace>,
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
    /// Will record into `command_buffer`.
    ///
    /// # Safety
    /// `command_buffer` is of this device, and while the recorder is used it is in the recording state outside of a render
    /// pass and used by nobody else; it belongs to a queue family that can compute. What is given to the recorder's
    /// functions is of this device and outlives the work: pipelines and plans; ranges, in memory that is bound, large
    /// enough for what their kernel does with the block's other values, and made with the usage that the command needs;
    /// query pools, as [`Self::with_timestamps`] says; barriers, whose stages are not none and which the queue family has;
    /// and what a plan's `cmd_*` function asks of its memory besides.
    pub unsafe fn new(device: &'d Device, command_buffer: vk::CommandBuffer) -> Self {
        Self { command_buffer, is_dry: false, ..Self::dry(device) }
    }

    /// Will record nothing, and count what it would have recorded.
    pub fn dry(device: &'d Device) -> Self {
        Self {
            device,
            command_buffer: vk::CommandBuffer::null(),
            is_dry: true,
            counts: CommandCounts::default(),
            budget: None,
            trace: None,
            phases: Phases::default(),
        }
    }

    /// Tells `trace` of every command, beside who listens to the device: a
    /// [`HazardChecker`](super::HazardChecker), say, between [`Self::begin`] and [`Self::end`].
    pub fn traced_by(mut self, trace: &'d dyn Trace) -> Self {
        self.trace = Some(trace);
        self
    }

    /// As [`Self::new`], in the submissions of `budget`, of which `command_buffer` is the first. Barriers order commands
    /// across them, as they lie in one queue.
    ///
    /// # Safety
    /// Those of [`Self::new`], for every command buffer that `budget` returns, until it fails; the device was opened for
    /// [`OpenOptions::splits_dispatches`](super::OpenOptions).
    #[cfg(feature = "headless")]
    pub(crate) unsafe fn paced(
        device: &'d Device,
        command_buffer: vk::CommandBuffer,
        budget: &'d mut dyn SubmissionSplitter,
    ) -> Self {
        Self { command_buffer, is_dry: false, budget: Some(budget), ..Self::dry(device) }
    }

    /// The device that is recorded for.
    pub fn device(&self) -> &'d Device {
        self.device
    }

    /// What it has recorded so far.
    pub fn counts(&self) -> CommandCounts {
        self.counts
    }

    /// The functions to record with; none where nothing is recorded.
    pub(super) fn raw(&self) -> Option<&'d ash::Device> {
        (!self.is_dry).then(|| self.device.raw())
    }

    /// Whether what is recorded goes into several submissions.
    pub(super) fn is_paced(&self) -> bool {
        self.budget.is_some()
    }

    /// Fails where `device` is another than the recorder's.
    pub(crate) fn check_device(&self, device: &Device) -> Result<()> {
        // Only pipelines that were made for it may be cut.
        let may_be_cut = !self.is_paced() || device.splits_dispatches();
        if self.device.is_same(device) && may_be_cut { Ok(()) } else { Err(Error::ForeignDevice) }
    }

    /// The command buffer that the next command goes into: for commands that are not of this library. Null where nothing
    /// is recorded.
    pub fn command_buffer(&self) -> vk::CommandBuffer {
        self.command_buffer
    }

    /// Fails where [`Self::dispatch`] would, for so many workgroups: before anything is recorded that comes before it.
    pub(crate) fn check_workgroups(&self, workgroup_count: u64) -> Result<()> {
        grid(workgroup_count, self.device.capabilities().max_workgroup_count).map(|_| ())
    }

    /// Runs `pipeline` on `workgroup_count` workgroups, in two dimensions where one is too short. The kernel sees a
    /// few more than asked for where the count does not divide, and leaves those alone.
    ///
    /// Binds the compute pipeline and its push constants, and leaves them bound.
    ///
    /// # Errors
    /// [`Error::TooManyElements`] if the count does not fit the device's two dimensions; what Vulkan says, where
    /// earlier commands are submitted first.
    ///
    /// # Panics
    /// If the block is not for the pipeline's kernel.
    pub fn dispatch<P: PushConstants>(
        &mut self,
        pipeline: &Pipeline,
        push: &P,
        workgroup_count: u64,
    ) -> Result<()> {
        let block = block_of(push, pipeline);
        let touched_size = touched_size(&block);
        let mut max = self.device.capabilities().max_workgroup_count;
        if let Some(budget) = &self.budget {
            let parts = touched_size.div_ceil(budget.limit());
            max = short_rows(workgroup_count, parts, max);
        }
        let [x, y] = grid(workgroup_count, max)?;
        self.trace_dispatch(pipeline, &block, Workgroups::Direct([x, y, 1]));
        let Some(raw) = self.raw() else { return Ok(()) };
        let mut row = 0;
        while row < y {
            let mut rows = y - row;
            if let Some(budget) = &mut self.budget {
                // After an error its command buffer records no more.
                let reserved = budget.reserve(rows, touched_size / u64::from(y));
                (self.command_buffer, rows) = reserved.inspect_err(|_| self.is_dry = true)?;
            }
            self.bind(raw, pipeline, &block);
            // SAFETY: as `new` was promised. Rows are left out of a dispatch only on a device that was opened for it.
            unsafe {
                if rows == y {
                    raw.cmd_dispatch(self.command_buffer, x, y, 1);
                } else {
                    raw.cmd_dispatch_base(self.command_buffer, 0, row, 0, x, rows, 1);
                }
            }
            row += rows;
            let goes_around =
                self.device.capabilities().workarounds.contains(Workarounds::NO_INDIRECT_BEHIND_BASE);
            if row == y && rows < y && goes_around {
                // SAFETY: as above; it has no workgroups, and takes the base back.
                unsafe { raw.cmd_dispatch(self.command_buffer, 0, 1, 1) };
            }
        }
        Ok(())
    }

    /// Runs `pipeline` on as many workgroups as the three words in `workgroups` say when the commands run. The kernel
    /// leaves alone those that are too many.
    ///
    /// Binds the compute pipeline and its push constants, and leaves them bound.
    ///
    /// # Errors
    /// What Vulkan says, where earlier commands are submitted first. The dispatch itself is never cut.
    ///
    /// # Panics
    /// If the block is not for the pipeline's kernel, or `workgroups` is not of 12 bytes at a multiple of 4.
    pub fn dispatch_indirect<P: PushConstants>(
        &mut self,
        pipeline: &Pipeline,
        push: &P,
        workgroups: BufferRange,
    ) -> Result<()> {
        assert!(workgroups.offset.is_multiple_of(4) && workgroups.size == 12, "three words");
        let block = block_of(push, pipeline);
        self.trace_dispatch(pipeline, &block, Workgroups::Indirect(workgroups.addresses()));
        let Some(raw) = self.raw() else { return Ok(()) };
        if let Some(budget) = &mut self.budget {
            let reserved = budget.reserve_at_most(touched_size(&block));
            self.command_buffer = reserved.inspect_err(|_| self.is_dry = true)?;
        }
        self.bind(raw, pipeline, &block);
        // SAFETY: as `new` was promised.
        unsafe { raw.cmd_dispatch_indirect(self.command_buffer, workgroups.buffer, workgroups.offset) };
        Ok(())
    }

    fn bind(&self, raw: &ash::Device, pipeline: &Pipeline, block: &PushBlock) {
        pipeline.count_dispatch();
        // SAFETY: as `new` was promised; the block is the kernel's, as whoever implemented `PushConstants` has
        // promised.
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
        let (kernel, ranges) = (pipeline.kernel(), block.ranges());
        let constants = &pipeline.specialization().constants;
        self.trace(Command::Dispatch { kernel, ranges, workgroups, constants });
    }

    /// Orders what comes before and after.
    pub fn barrier(&mut self, barrier: Barrier) {
        self.trace(Command::Barrier(barrier));
        let Some(raw) = self.raw() else { return };
        let memory = [vk::MemoryBarrier::default()
            .src_access_mask(barrier.before.access)
            .dst_access_mask(barrier.after.access)];
        // SAFETY: as `new` was promised.
        unsafe {
            raw.cmd_pipeline_barrier(
                self.command_buffer,
                barrier.before.stages,
                barrier.after.stages,
                vk::DependencyFlags::empty(),
                &memory,
                &[],
                &[],
            );
        }
    }

    /// Fills `range` with `word`.
    ///
    /// # Panics
    /// If the offset or the size is no multiple of 4.
    pub fn fill(&mut self, range: BufferRange, word: u32) {
        assert!(range.offset.is_multiple_of(4) && range.size.is_multiple_of(4), "a fill is of words");
        if range.size == 0 {
            return;
        }
        self.trace(Command::Fill { range: range.addresses() });
        let Some(raw) = self.raw() else { return };
        // SAFETY: as `new` was promised.
        unsafe { raw.cmd_fill_buffer(self.command_buffer, range.buffer, range.offset, range.size, word) };
    }

    /// Writes `words` to the start of `range`, by way of the command buffer.
    ///
    /// # Panics
    /// If the offset is no multiple of 4, or the words are none, more than the range, or more than 65,536 bytes.
    pub fn update(&mut self, range: BufferRange, words: &[u32]) {
        let range = range.slice(0, size_of_val(words) as u64);
        assert!(range.offset.is_multiple_of(4) && (1..=65_536).contains(&range.size), "an update is short");
        self.trace(Command::Update { range: range.addresses() });
        let Some(raw) = self.raw() else { return };
        // SAFETY: as `new` was promised.
        unsafe {
            raw.cmd_update_buffer(
                self.command_buffer,
                range.buffer,
                range.offset,
                bytemuck::cast_slice(words),
            );
        }
    }

    /// Copies `source` to `destination`.
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
        // SAFETY: as `new` was promised.
        unsafe {
            raw.cmd_copy_buffer(self.command_buffer, source.buffer, destination.buffer, &region);
        }
    }

    /// Tells who listens that a recording begins, and that all earlier work is done and seen. Records nothing.
    pub fn begin(&mut self) {
        self.trace(Command::Begin);
    }

    /// Says that the recording goes on in another submission.
    #[cfg(feature = "headless")]
    pub(crate) fn submit(&mut self) {
        self.trace(Command::Submit);
    }

    /// Tells who listens that the recording has ended. Records nothing.
    pub fn end(&mut self) {
        self.trace(Command::End);
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

/// `push`, laid out for `pipeline`.
fn block_of<P: PushConstants>(push: &P, pipeline: &Pipeline) -> PushBlock {
    let kernel = pipeline.kernel();
    // A caller's variant of a kernel has the block of that.
    let has_block = P::KERNELS.iter().any(|&other| std::ptr::eq(other, kernel))
        || P::KERNELS.iter().any(|other| other.push_constants == kernel.push_constants);
    assert!(has_block, "no block of {}", kernel.name);
    push.block()
}

/// Bytes of all ranges.
fn touched_size(block: &PushBlock) -> u64 {
    block.ranges().iter().map(|range| range.size).fold(0, u64::saturating_add)
}

/// The limits of a dispatch whose rows are short enough for `parts` of them, as far as `max` allows that many.
fn short_rows(workgroup_count: u64, parts: u64, max: [u32; 3]) -> [u32; 3] {
    let shortest = workgroup_count.div_ceil(max[1].into());
    let row = workgroup_count.div_ceil(parts.max(1)).max(shortest).max(1);
    [u32::try_from(row).map_or(max[0], |row| row.min(max[0])), max[1], max[2]]
}

/// Two dimensions of at least `workgroup_count` workgroups, as few beyond it as a rectangle allows.
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
    // Both are at most their u32 limit by the check above.
    Ok([x as u32, y as u32])
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: [u32; 3] = [65_535, 65_535, 65_535];

    #[test]
    fn a_short_dispatch_is_one_row() {
        assert_eq!(grid(1, LIMIT).unwrap(), [1, 1]);
        assert_eq!(grid(65_535, LIMIT).unwrap(), [65_535, 1]);
    }

    #[test]
    fn a_long_dispatch_wastes_less_than_one_row() {
        // Tutorial 14 at 2^25 entries has 131,072 chunks.
        for count in [65_536, 131_071, 131_072, 1_000_003, 65_535 * 65_535] {
            let [x, y] = grid(count, LIMIT).unwrap();
            let total = u64::from(x) * u64::from(y);
            assert!(
                x <= 65_535 && y <= 65_535 && total >= count && total - count < u64::from(y),
                "{count}: {x} × {y}"
            );
        }
    }

    #[test]
    fn rows_are_short_where_a_dispatch_is_long() {
        assert_eq!(short_rows(1000, 1, LIMIT)[0], 1000);
        assert_eq!(short_rows(1000, 3, LIMIT)[0], 334);
        assert_eq!(short_rows(1000, 5000, LIMIT)[0], 1);
        // The second dimension has its limit too.
        assert_eq!(short_rows(1000, 5000, [65_535, 10, 1])[0], 100);
        assert_eq!(short_rows(1 << 40, 1, LIMIT)[0], 65_535);
        assert_eq!(short_rows(0, 0, LIMIT)[0], 1);
    }

    #[test]
    fn beyond_two_dimensions_is_an_error() {
        assert!(matches!(grid(65_535 * 65_535 + 1, LIMIT), Err(Error::TooManyElements { .. })));
    }
}
