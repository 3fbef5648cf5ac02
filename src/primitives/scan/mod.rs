//! Scan: `destination[i] = source[0] ⊕ … ⊕ source[i]` (inclusive) or `… ⊕ source[i - 1]` (exclusive).
//!
//! ⊕ is a [`ScanOperator`] on elements of an [`ElementType`](crate::ElementType). The columns of a table, 1 to 16, are
//! scanned independently. Results are those of `ufunc.accumulate(table, axis=0, dtype=table.dtype)` in numpy:
//!
//! * Integer sums and products wrap.
//! * A minimum or maximum of elements that include a NaN is an unspecified NaN. -0 is less than +0.
//! * Sums and products of floats are rounded in another order than numpy's. The error of a sum is at most
//!   `1.01 * d * u` times the sum of magnitudes, where `d` is [`ScanPlan::rounding_depth`] and `u` is 2^-24 for f32 and
//!   2^-53 for f64; that of a product of `n` factors is `1.01 * n * u` times its magnitude, unless an intermediate
//!   result overflows or underflows. A device may flush denormals to 0. The order of operations is fixed by the plan,
//!   so that runs on one device agree bit by bit, except for the payload of NaNs. In the chained scan the order depends
//!   on timing, unless [`ScanPolicy::with_fixed_tree`] fixes it.
//! * A [`CustomOperator`] is written by the caller.
//! * u64 and i64 do not need `shaderInt64`; sums and products of f64 need `shaderFloat64`.

mod algorithm;
mod block_doubling;
mod chained;
mod chunk_in_place;
mod config;
mod custom;
mod levels;
mod operator;
mod policy;
mod reduce_then_scan;
mod scan_then_propagate;
mod strided;
mod tuning;

pub use algorithm::{ScanAlgorithm, WorkgroupScan};
pub use config::{InitialRow, InitialValue, ScanBuffers, ScanConfig, ScanKind, SegmentsBy};
pub use custom::CustomOperator;
pub use operator::ScanOperator;
pub use policy::{ScanPolicy, SumsPlacement};
#[cfg(feature = "cli")]
pub(crate) use tuning::ScanTuning;

use ash::vk;

use super::{Count, ScratchRequirements};
use crate::device::{Access, CommandCounts, Device, Pipeline, Recorder};
use crate::error::{Error, Result};
use block_doubling::BlockDoubling;
use chained::Chained;
use chunk_in_place::ChunkInPlace;
use reduce_then_scan::ReduceThenScan;
use scan_then_propagate::ScanThenPropagate;
use strided::Strided;

/// Plan of a scan. Immutable; holds pipelines and no memory; may be recorded any number of times.
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
    ScanThenPropagate(ScanThenPropagate),
    Chained(Chained),
    BlockDoubling(BlockDoubling),
    Strided(Strided),
}

/// Alignment of source and destination in a plan's recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ranges {
    /// Any address of the caller's ranges.
    AnyAddress,
    /// Aligned to 16 bytes, as arrays in scratch, with elements that fill whole quads.
    Scratch,
}

/// Number of doublings from 1 to at least `count`: the ceiling of log2.
fn step_count(count: u64) -> u32 {
    u64::BITS - count.max(1).saturating_sub(1).leading_zeros()
}

impl ScanPlan {
    /// Creates all pipelines that a recording may need.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for more than 16 columns, for bitwise operators on floats, and for custom operators with
    /// invalid modules; [`Error::MissingFeature`] for sums and products of f64 where the device lacks `shaderFloat64`;
    /// [`Error::InvalidPolicy`] and [`Error::PolicyExceedsLimits`] for a policy that does not fit the configuration or
    /// the device; and those of `vkCreateComputePipelines`.
    pub fn new(device: &Device, config: ScanConfig) -> Result<Self, Error> {
        let plan = Self::declare(device, config, Ranges::AnyAddress)?;
        Pipeline::compile_all(device, plan.pipelines())?;
        Ok(plan)
    }

    /// As [`Self::new`], for ranges with the alignment `ranges`, without compiling the pipelines.
    pub(crate) fn declare(device: &Device, config: ScanConfig, ranges: Ranges) -> Result<Self, Error> {
        config.check(device.capabilities())?;
        let policy =
            config.policy.unwrap_or_else(|| ScanPolicy::choose(device.capabilities(), &config).policy);
        policy.check(&config, device.capabilities())?;
        let strategy = match (policy.algorithm, policy.sums) {
            (ScanAlgorithm::ReduceThenScan(_), SumsPlacement::Scratch) => {
                Strategy::ReduceThenScan(ReduceThenScan::new(device, &config, &policy, ranges)?)
            }
            (ScanAlgorithm::ReduceThenScan(_), SumsPlacement::LastRow) => {
                Strategy::ChunkInPlace(ChunkInPlace::new(device, &config, &policy)?)
            }
            (ScanAlgorithm::ScanThenPropagate, _) => {
                Strategy::ScanThenPropagate(ScanThenPropagate::new(device, &config, &policy)?)
            }
            (ScanAlgorithm::BlockDoubling, _) => {
                Strategy::BlockDoubling(BlockDoubling::new(device, &policy)?)
            }
            (ScanAlgorithm::Strided, _) => Strategy::Strided(Strided::new(device, &config, &policy)?),
            (ScanAlgorithm::Chained, _) => {
                let kernel = config.modules().chained.expect("`check` has found it");
                Strategy::Chained(Chained::new(device, &config, &policy, kernel)?)
            }
        };
        Ok(Self { device: device.clone(), config, policy, strategy })
    }

    /// The configuration of the plan.
    pub fn config(&self) -> &ScanConfig {
        &self.config
    }

    /// The policy in use.
    pub fn policy(&self) -> &ScanPolicy {
        &self.policy
    }

    /// All pipelines that a recording may bind, for inspection.
    pub fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let pipelines: Box<dyn Iterator<Item = &Pipeline>> = match &self.strategy {
            Strategy::ReduceThenScan(strategy) => Box::new(strategy.pipelines()),
            Strategy::ChunkInPlace(strategy) => Box::new(strategy.pipelines()),
            Strategy::ScanThenPropagate(strategy) => Box::new(strategy.pipelines()),
            Strategy::Chained(strategy) => Box::new(strategy.pipelines()),
            Strategy::BlockDoubling(strategy) => Box::new(strategy.pipelines()),
            Strategy::Strided(strategy) => Box::new(strategy.pipelines()),
        };
        pipelines
    }

    /// Whether source and destination may be the same range. The seed's policy requires it.
    pub fn scans_in_place(&self) -> bool {
        !matches!(self.strategy, Strategy::Chained(_)) && !self.config.is_out_of_place
    }

    /// The same scan with counters of its look-back, for chained scans with such a kernel.
    #[cfg(feature = "cli")]
    pub(crate) fn counted(&self) -> Result<Option<chained::CountedChained>> {
        match self.strategy {
            Strategy::Chained(_) => chained::CountedChained::new(&self.device, &self.config, &self.policy),
            _ => Ok(None),
        }
    }

    /// Scratch of [`Self::cmd_scan`] for up to `max_count` rows. One row per tile, two for the chained scan: with the
    /// default policies less than 1/128 of the source. None for a single tile, the seed's policy or block doubling; the
    /// size of the source for the strided scan. In addition: with segments 4 bytes per tile, and by offsets one bit per
    /// row; one row for an initial value; 32 bytes per level of tiles for indirect counts.
    pub fn scratch_requirements(&self, max_count: u64) -> ScratchRequirements {
        ScratchRequirements::new(match &self.strategy {
            Strategy::ReduceThenScan(strategy) => strategy.scratch_size(max_count),
            Strategy::ScanThenPropagate(strategy) => strategy.scratch_size(max_count),
            Strategy::ChunkInPlace(_) | Strategy::BlockDoubling(_) => 0,
            Strategy::Chained(strategy) => strategy.scratch_size(max_count),
            Strategy::Strided(strategy) => strategy.scratch_size(max_count),
        })
    }

    /// Maximum number of operations between an element and any result of `count` rows. The error bound of a sum of
    /// floats is proportional to it.
    pub fn rounding_depth(&self, count: u64) -> u64 {
        let levels = match &self.strategy {
            Strategy::ReduceThenScan(strategy) => strategy.level_count(count),
            Strategy::ScanThenPropagate(strategy) => strategy.level_count(count),
            // An upper bound of the seed's levels.
            Strategy::ChunkInPlace(_) => 64,
            Strategy::Chained(_) => 1,
            // One operation per step.
            Strategy::BlockDoubling(_) | Strategy::Strided(_) => return step_count(count).into(),
        };
        let policy = &self.policy;
        let lanes = u64::from(policy.subgroup_size.unwrap_or(self.device.capabilities().max_subgroup_size));
        let min_lanes = u64::from(self.device.capabilities().min_subgroup_size.max(4));
        let subgroups = u64::from(policy.workgroup_size).div_ceil(min_lanes);
        let chain = match &self.strategy {
            Strategy::Chained(strategy) => strategy.chain_length(count, min_lanes, lanes),
            _ => 0,
        };
        // A run, the lanes of a subgroup, its rounds, the subgroups and the rounds that scan them; or a run and a
        // network of invocations.
        let network = policy.algorithm.workgroup_scan().map_or(0, |scan| scan.depth(policy.workgroup_size));
        let workgroup = network.max(lanes + 2 * subgroups);
        let tile = u64::from(policy.items_per_invocation) + workgroup + 4;
        let initial = u64::from(self.config.has_initial);
        // Up-sweep and down-sweep.
        2 * levels * tile + chain + initial
    }

    /// Bytes of rows that a recording of `count` rows reads and writes, out of place; without tile aggregates and
    /// statuses.
    pub fn traffic_size(&self, count: u64) -> u64 {
        let is_single_tile = count <= self.policy.tile_items().into();
        let moved_rows = match &self.strategy {
            // The reduction reads all rows, the down-sweep reads and writes them.
            Strategy::ReduceThenScan(_) | Strategy::ChunkInPlace(_) if !is_single_tile => {
                count.saturating_mul(3)
            }
            // Propagation reads and writes all rows again.
            Strategy::ScanThenPropagate(_) if !is_single_tile => count.saturating_mul(4),
            Strategy::ReduceThenScan(_)
            | Strategy::ChunkInPlace(_)
            | Strategy::ScanThenPropagate(_)
            | Strategy::Chained(_) => count.saturating_mul(2),
            Strategy::BlockDoubling(_) => BlockDoubling::moved_count(count).saturating_mul(2),
            Strategy::Strided(_) => Strided::moved_count(count),
        };
        moved_rows.saturating_mul(self.config.row_size())
    }

    /// Records the scan of `count` rows.
    ///
    /// 1. **Device**: meets [`DeviceRequirements`](crate::device::DeviceRequirements); a queue that supports compute.
    /// 2. **Memory**: `source` and `destination`: at least `count * ScanConfig::row_size()` bytes, aligned to 4 (faster
    ///    at 16), in buffers with `SHADER_DEVICE_ADDRESS`; the same range or disjoint, and for the seed's policy the
    ///    same range. `segments`: 4 bytes per row (8 for 64-bit keys; the whole range for offsets); an initial value on
    ///    the device: one row; an indirect count: 4 bytes; all aligned to 4 and disjoint from `destination`. `scratch`:
    ///    of [`Self::scratch_requirements`], contents undefined, used by nothing else until the work has completed.
    /// 3. **Commands**: one dispatch for a single tile; otherwise two for each level of tiles above the first and one
    ///    for the last, with compute-to-compute barriers between them, also for scan-then-propagate. Block doubling and
    ///    the strided scan: one for each doubling from 1 to `count`, for the latter in place an even number. The
    ///    chained scan: one. Before them: an update of `scratch` for an initial value of the host; a fill of `scratch`
    ///    for segments by offsets, or for the statuses of the chained scan, sized by the maximum of an indirect count;
    ///    then a transfer-to-compute barrier; a dispatch for offsets, one for an indirect count, and then a barrier, to
    ///    indirect dispatches for an indirect count. The first access is COMPUTE_SHADER / SHADER_READ of `source`,
    ///    `segments`, initial value and count, and TRANSFER / TRANSFER_WRITE of `scratch` where there is a fill or an
    ///    update, else COMPUTE_SHADER / SHADER_WRITE of it. Ends with COMPUTE_SHADER / SHADER_WRITE of `destination`,
    ///    with no barrier before or after. The last access to `scratch` is COMPUTE_SHADER, with an indirect count also
    ///    DRAW_INDIRECT / INDIRECT_COMMAND_READ. Leaves a compute pipeline and push constants bound, and changes no
    ///    other state.
    /// 4. **Limits**: `count` = 0 records nothing. An indirect count of 0 launches no workgroups; one above its maximum
    ///    is treated as the maximum. At most 2^32 - 1 tiles (columns of tiles for rows wider than 16 bytes), and no
    ///    more than the workgroups of a two-dimensional dispatch on the device; 2^32 - 1 rows with segments; 2^30 tiles
    ///    for the strided scan, 2^31 for block doubling.
    /// 5. **Result**: in `destination`; `source` is unchanged unless it is the same range.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::Misaligned`], [`Error::NullAddress`], [`Error::AddressOverflow`],
    /// [`Error::Overlap`], [`Error::ScratchTooSmall`], [`Error::NullBuffer`], [`Error::MissingUsage`],
    /// [`Error::TooManyElements`]; [`Error::Unsupported`] for the seed's policy out of place, for the chained scan or a
    /// plan with [`ScanConfig::out_of_place`] in place, for an initial value, segments or an indirect count that the
    /// plan was not created for, and for an initial value or segments that are missing; [`Error::ElementMismatch`] for
    /// an initial value of another type. Nothing is recorded then.
    ///
    /// # Safety
    /// `command_buffer` is of the plan's device, in the recording state outside of a render pass, and used by no other
    /// thread meanwhile. When the commands execute, the ranges are bound memory of the device with the usage above, and
    /// the plan is alive. The caller orders their accesses with earlier and later commands.
    pub unsafe fn cmd_scan(
        &self,
        command_buffer: vk::CommandBuffer,
        buffers: &ScanBuffers,
        count: impl Into<Count>,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        let mut recorder = unsafe { Recorder::new(&self.device, command_buffer) };
        self.record(&mut recorder, buffers, count)
    }

    /// Destination scope for the caller's barrier before the recording: accesses before its first barrier.
    pub fn first_access(&self) -> Access {
        let is_chained = matches!(self.strategy, Strategy::Chained(_));
        let marks_segments = self.config.segments == Some(SegmentsBy::Offsets);
        let transfers = is_chained || marks_segments || self.config.has_initial;
        if transfers { Access::COMPUTE.and(Access::TRANSFER_WRITE) } else { Access::COMPUTE }
    }

    /// Source scope for the caller's barrier after the recording: accesses after its last barrier. Reads of indirect
    /// arguments have completed by then.
    pub fn last_access(&self) -> Access {
        Access::COMPUTE_WRITE
    }

    /// Numbers of the commands that [`Self::cmd_scan`] records for the same memory and count: each dispatch also binds
    /// its pipeline and push constants. Debug labels and timestamps are not counted.
    ///
    /// # Errors
    /// Those of `cmd_scan`.
    pub fn commands(&self, buffers: &ScanBuffers, count: impl Into<Count>) -> Result<CommandCounts> {
        let mut recorder = Recorder::dry(&self.device);
        self.record(&mut recorder, buffers, count)?;
        Ok(recorder.counts())
    }

    /// As [`Self::cmd_scan`], with a recorder of the caller: for timestamps, or to record several plans. The conditions
    /// of [`Recorder::new`] and `cmd_scan` apply.
    ///
    /// # Errors
    /// Those of `cmd_scan`; [`Error::ForeignDevice`] if the recorder is of another device.
    pub fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &ScanBuffers,
        count: impl Into<Count>,
    ) -> Result<()> {
        let count = count.into();
        recorder.check_device(&self.device)?;
        count.check_supported(self.config.counts_on_device)?;
        if count.max() == 0 {
            return Ok(());
        }
        recorder.plan(c"subsweep scan", |recorder| self.record_commands(recorder, buffers, count))
    }

    fn record_commands(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &ScanBuffers,
        count: Count,
    ) -> Result<()> {
        let buffers = buffers.checked(&self.config, count, self.scratch_requirements(count.max()))?;
        if self.config.is_out_of_place && buffers.source == buffers.destination {
            return Err(Error::Unsupported {
                reason: "the plan was made for scans out of place; make one without out_of_place",
            });
        }
        match &self.strategy {
            Strategy::ReduceThenScan(strategy) => strategy.record(recorder, &buffers, count),
            Strategy::ChunkInPlace(strategy) => strategy.record(recorder, &buffers, count.on_host()?),
            Strategy::ScanThenPropagate(strategy) => strategy.record(recorder, &buffers, count.on_host()?),
            Strategy::Chained(strategy) => strategy.record(recorder, &buffers, count),
            Strategy::BlockDoubling(strategy) => strategy.record(recorder, &buffers, count.on_host()?),
            Strategy::Strided(strategy) => strategy.record(recorder, &buffers, count.on_host()?),
        }
    }
}
