//! Prefix sums: `destination[i] = source[0] + … + source[i]` (inclusive) or `… + source[i - 1]` (exclusive).
//!
//! Sums are of u32 and wrap, as numpy's do. An element may be a row of 1 to 4 columns that are summed side by side,
//! like `numpy.cumsum(table, axis=0, dtype=table.dtype)`.

mod chunk_in_place;
mod config;
mod policy;
mod reduce_then_scan;

pub use config::{ScanBuffers, ScanConfig, ScanKind};
pub use policy::{ScanAlgorithm, ScanPolicy, SumsPlacement};

use ash::vk;

use super::{Count, ScratchRequirements};
use crate::error::{Error, Result};
use crate::vk::{Device, Pipeline, Recorder};
use chunk_in_place::ChunkInPlace;
use reduce_then_scan::ReduceThenScan;

/// A scan, ready to be recorded any number of times. Immutable; holds pipelines and no memory.
#[derive(Debug)]
pub struct ScanPlan {
    device: Device,
    config: ScanConfig,
    policy: ScanPolicy,
    strategy: Strategy,
}

#[derive(Debug)]
enum Strategy {
    ReduceThenScan(ReduceThenScan),
    ChunkInPlace(ChunkInPlace),
}

impl ScanPlan {
    /// Makes every pipeline that any recording may need.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for more than 4 columns, [`Error::InvalidPolicy`] and [`Error::PolicyBeyondDevice`] for
    /// a policy that fits neither the configuration nor the device, and whatever the driver's compiler says.
    pub fn new(device: &Device, config: ScanConfig) -> Result<Self> {
        if !(1..=ScanConfig::MAX_COLUMNS).contains(&config.columns) {
            return Err(Error::Unsupported {
                reason: "a scan takes 1 to 4 columns; scan the table in parts",
            });
        }
        let policy = match config.policy {
            Some(policy) => policy,
            None => ScanPolicy::choose(device.capabilities(), config.columns).policy,
        };
        policy.check(&config, device.capabilities())?;
        let strategy = match policy.sums {
            SumsPlacement::Scratch => {
                Strategy::ReduceThenScan(ReduceThenScan::new(device, &config, &policy)?)
            }
            SumsPlacement::LastRow => Strategy::ChunkInPlace(ChunkInPlace::new(device, &config, &policy)?),
        };
        Ok(Self { device: device.clone(), config, policy, strategy })
    }

    /// What the plan was made for.
    pub fn config(&self) -> &ScanConfig {
        &self.config
    }

    /// How it goes about it.
    pub fn policy(&self) -> &ScanPolicy {
        &self.policy
    }

    /// Every pipeline that a recording may bind: for what a compiler made of them.
    pub fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let (tiled, in_place) = match &self.strategy {
            Strategy::ReduceThenScan(strategy) => (Some(strategy.pipelines()), None),
            Strategy::ChunkInPlace(strategy) => (None, Some(strategy.pipelines())),
        };
        tiled.into_iter().flatten().chain(in_place.into_iter().flatten())
    }

    /// The scratch that [`Self::cmd_scan`] needs for up to `max_count` elements: a word per column and tile, which
    /// is less than 1/256 of the source, and none for a single tile or the seed's policy.
    pub fn scratch_requirements(&self, max_count: u64) -> ScratchRequirements {
        ScratchRequirements::new(match &self.strategy {
            Strategy::ReduceThenScan(strategy) => strategy.scratch_size(max_count),
            Strategy::ChunkInPlace(_) => 0,
        })
    }

    /// Records the scan of `count` elements.
    ///
    /// 1. **Device**: what [`DeviceRequirements`](crate::vk::DeviceRequirements) asks for; a queue that can compute.
    /// 2. **Memory**: `source` and `destination` of at least `count * columns * 4` bytes, at multiples of 4 (faster at
    ///    multiples of 16), in buffers with `SHADER_DEVICE_ADDRESS`; they are the same range or do not overlap, and
    ///    the seed's policy takes only the same range. `scratch` as [`Self::scratch_requirements`] says, its content
    ///    of no matter, and used by nothing else until the work is done.
    /// 3. **Commands**: one dispatch for one tile, else two for each level of tiles above the first and one for the
    ///    last, with compute-to-compute barriers between them. The first access is COMPUTE_SHADER / SHADER_READ of
    ///    `source`; ends with COMPUTE_SHADER / SHADER_WRITE of `destination`, with no barrier before or after. Leaves
    ///    a compute pipeline and push constants bound, and touches no other state.
    /// 4. **Limits**: `count` = 0 records nothing. At most 2^32 - 1 tiles, and what the device's memory holds.
    /// 5. **Result**: in `destination`; `source` is unchanged unless it is the same range.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::Misaligned`], [`Error::Overlap`], [`Error::ScratchTooSmall`],
    /// [`Error::TooManyElements`]; [`Error::Unsupported`] if the seed's policy is asked to scan out of place. Nothing
    /// is recorded then.
    ///
    /// # Safety
    /// `command_buffer` is of the plan's device, in the recording state outside of a render pass, and used by no
    /// other thread meanwhile. The ranges are live memory of the device, made with the usage named above, when the
    /// commands run, and the plan outlives them. The caller orders their accesses with what comes before and after.
    pub unsafe fn cmd_scan(
        &self,
        command_buffer: vk::CommandBuffer,
        buffers: &ScanBuffers,
        count: impl Into<Count>,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        let mut recorder = unsafe { Recorder::new(&self.device, command_buffer) };
        self.record(&mut recorder, buffers, count.into().on_host())
    }

    /// [`Self::cmd_scan`] for plans that hold this one, and for whoever has a recorder.
    pub(crate) fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &ScanBuffers,
        count: u64,
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let buffers = buffers.checked(self.config.columns, count, self.scratch_requirements(count))?;
        match &self.strategy {
            Strategy::ReduceThenScan(strategy) => strategy.record(recorder, &buffers, count),
            Strategy::ChunkInPlace(strategy) => strategy.record(recorder, &buffers, count),
        }
    }
}
