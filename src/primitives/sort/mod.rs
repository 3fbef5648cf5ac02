//! Stable radix sort of u32 keys, least significant digit first.
//!
//! Each pass sorts by one digit: count the digits of every tile, scan the counts, scatter the keys to where the scan
//! says. An even number of passes leaves the keys where they were.

mod config;
mod passes;
mod policy;

pub use config::{SortBuffers, SortConfig, ValueSize};
pub use policy::{Ranking, SortAlgorithm, SortPolicy};

use ash::vk;

use super::{Count, ScratchRequirements};
use crate::error::{Error, Result};
use crate::vk::{Device, Pipeline, Recorder};
use passes::Passes;

/// A sort, ready to be recorded any number of times. Immutable; holds pipelines and no memory.
#[derive(Debug)]
pub struct SortPlan {
    device: Device,
    config: SortConfig,
    policy: SortPolicy,
    passes: Passes,
}

impl SortPlan {
    /// The most keys of one sort: places are 32-bit numbers.
    pub const MAX_COUNT: u64 = u32::MAX as u64;

    /// Makes every pipeline that any recording may need.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for other keys than u32 and for a bit range outside of the key, [`Error::InvalidPolicy`] and
    /// [`Error::PolicyBeyondDevice`] for a policy that fits neither the configuration nor the device, and whatever the
    /// driver's compiler says.
    pub fn new(device: &Device, config: SortConfig) -> Result<Self> {
        config.check()?;
        let policy = config.policy.unwrap_or_else(|| SortPolicy::choose(device.capabilities()).policy);
        policy.check(device.capabilities())?;
        let passes = Passes::new(device, &config, &policy)?;
        Ok(Self { device: device.clone(), config, policy, passes })
    }

    /// What the plan was made for.
    pub fn config(&self) -> &SortConfig {
        &self.config
    }

    /// How it goes about it.
    pub fn policy(&self) -> &SortPolicy {
        &self.policy
    }

    /// Every pipeline that a recording may bind, those of the counts' scan too: for what a compiler made of them.
    pub fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.passes.pipelines()
    }

    /// How often the keys are moved.
    pub fn pass_count(&self) -> u32 {
        self.passes.pass_count()
    }

    /// The scratch that [`Self::cmd_sort`] needs for up to `max_count` keys: as many keys again, and a word per
    /// digit and tile with what their scan needs.
    pub fn scratch_requirements(&self, max_count: u64) -> ScratchRequirements {
        ScratchRequirements::new(self.passes.layout(max_count).size)
    }

    /// Records the sort of `count` keys, ascending, by the bits of the configuration.
    ///
    /// 1. **Device**: what [`DeviceRequirements`](crate::vk::DeviceRequirements) asks for; a queue that can compute.
    /// 2. **Memory**: `keys` of at least `count * 4` bytes, at a multiple of 4 (faster at a multiple of 16), in a
    ///    buffer with `SHADER_DEVICE_ADDRESS`. `scratch` as [`Self::scratch_requirements`] says, its content of no
    ///    matter, and used by nothing else until the work is done.
    /// 3. **Commands**: for each of [`Self::pass_count`] passes a dispatch that counts, those of a scan, and one that
    ///    scatters, with compute-to-compute barriers between them. The first access is COMPUTE_SHADER / SHADER_READ
    ///    of `keys`; ends with COMPUTE_SHADER / SHADER_WRITE of `keys`, with no barrier before or after. Leaves a
    ///    compute pipeline and push constants bound, and touches no other state.
    /// 4. **Limits**: `count` of 0 or 1, and an empty bit range, record nothing. At most [`Self::MAX_COUNT`] keys, and
    ///    what the device's memory holds.
    /// 5. **Result**: in `keys`. Keys that agree in the bits of the configuration keep their order.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::Misaligned`], [`Error::Overlap`], [`Error::ScratchTooSmall`],
    /// [`Error::TooManyElements`]; [`Error::Unsupported`] for a count on the device. Nothing is recorded then.
    ///
    /// # Safety
    /// `command_buffer` is of the plan's device, in the recording state outside of a render pass, and used by no
    /// other thread meanwhile. The ranges are live memory of the device, made with the usage named above, when the
    /// commands run, and the plan outlives them. The caller orders their accesses with what comes before and after.
    pub unsafe fn cmd_sort(
        &self,
        command_buffer: vk::CommandBuffer,
        buffers: &SortBuffers,
        count: impl Into<Count>,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        let mut recorder = unsafe { Recorder::new(&self.device, command_buffer) };
        self.record(&mut recorder, buffers, count.into().on_host()?)
    }

    /// [`Self::cmd_sort`] for whoever has a recorder.
    pub(crate) fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &SortBuffers,
        count: u64,
    ) -> Result<()> {
        if count > Self::MAX_COUNT {
            return Err(Error::TooManyElements { count, max: Self::MAX_COUNT, what: "one sort" });
        }
        // One key is in order, but its place is to be told.
        let least = if self.config.is_argsort() { 1 } else { 2 };
        if count < least || self.pass_count() == 0 {
            return Ok(());
        }
        let buffers = buffers.checked(&self.config, count, self.scratch_requirements(count))?;
        self.passes.record(recorder, &buffers, count)
    }
}
