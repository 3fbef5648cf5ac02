//! Scans: `destination[i] = source[0] ⊕ … ⊕ source[i]` (inclusive) or `… ⊕ source[i - 1]` (exclusive).
//!
//! ⊕ is a [`ScanOperator`] on numbers of an [`ElementType`](crate::ElementType). A table of 1 to 16 columns is scanned
//! column by column, all at once. Results are those of `ufunc.accumulate(table, axis=0, dtype=table.dtype)` in numpy:
//!
//! * Sums and products of whole numbers wrap.
//! * A minimum or maximum with a NaN in it is a NaN, which one is not said. -0 is less than +0.
//! * Sums and products of floats are not rounded in numpy's order. A sum is off by at most `1.01 * d * u` of the sum of
//!   the magnitudes, where `d` is [`ScanPlan::rounding_depth`] and `u` is 2^-24 for f32 and 2^-53 for f64; a product of
//!   `n` numbers by `1.01 * n * u` of itself, unless what is multiplied on the way overflows or underflows. A device
//!   may take denormals for 0. The order is the plan's, so that two runs on one device agree to the bit, but for which
//!   NaN a NaN is. In the chained scan it is that of who was first, but with [`ScanPolicy::with_fixed_tree`], which
//!   makes it the plan's as well.
//! * A [`CustomOperator`] is whatever a caller writes.
//! * u64 and i64 need no 64-bit numbers of the device; sums and products of f64 need `shaderFloat64`.

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
    ScanThenPropagate(ScanThenPropagate),
    Chained(Chained),
    BlockDoubling(BlockDoubling),
    Strided(Strided),
}

/// Where source and destination of a plan's recordings begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ranges {
    /// Wherever the caller's ranges do.
    AnyAddress,
    /// At multiples of 16 bytes, as arrays in scratch do, with elements that fill whole quads.
    Scratch,
}

/// Steps in which something doubles from 1 to `count`.
fn step_count(count: u64) -> u32 {
    u64::BITS - count.max(1).saturating_sub(1).leading_zeros()
}

impl ScanPlan {
    /// Makes every pipeline that any recording may need.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for more than 16 columns, for bits of floats, and for custom operators whose modules are
    /// not what they should be; [`Error::MissingFeature`] for sums and
    /// products of f64 where the device lacks `shaderFloat64`; [`Error::InvalidPolicy`] and
    /// [`Error::PolicyExceedsLimits`] for a policy that fits neither the configuration nor the device; and whatever the
    /// driver's compiler says.
    pub fn new(device: &Device, config: ScanConfig) -> Result<Self, Error> {
        let plan = Self::declare(device, config, Ranges::AnyAddress)?;
        Pipeline::compile_all(device, plan.pipelines())?;
        Ok(plan)
    }

    /// As [`Self::new`], of ranges that lie as `ranges` says, and with pipelines that are not compiled yet.
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

    /// Whether source and destination may be the same range. The seed's policy takes nothing else.
    pub fn scans_in_place(&self) -> bool {
        !matches!(self.strategy, Strategy::Chained(_)) && !self.config.is_out_of_place
    }

    /// The same scan with counters, if it is a chained one that can have them.
    #[cfg(feature = "cli")]
    pub(crate) fn counted(&self) -> Result<Option<chained::CountedChained>> {
        match self.strategy {
            Strategy::Chained(_) => chained::CountedChained::new(&self.device, &self.config, &self.policy),
            _ => Ok(None),
        }
    }

    /// The scratch that [`Self::cmd_scan`] needs for up to `max_count` rows: a row per tile, two for the chained scan, with
    /// the default policies less than 1/128 of the source; none for a single tile, the seed's policy or block doubling;
    /// for the strided scan as much as the source. A scan of segments takes 4 bytes per tile more, and by offsets a bit per
    /// row; an initial value takes a row, and a count on the device 32 bytes for each level of tiles.
    pub fn scratch_requirements(&self, max_count: u64) -> ScratchRequirements {
        ScratchRequirements::new(match &self.strategy {
            Strategy::ReduceThenScan(strategy) => strategy.scratch_size(max_count),
            Strategy::ScanThenPropagate(strategy) => strategy.scratch_size(max_count),
            Strategy::ChunkInPlace(_) | Strategy::BlockDoubling(_) => 0,
            Strategy::Chained(strategy) => strategy.scratch_size(max_count),
            Strategy::Strided(strategy) => strategy.scratch_size(max_count),
        })
    }

    /// The most operations that an element goes through on its way into any result of `count` rows: what the error of
    /// a sum of floats grows with.
    pub fn rounding_depth(&self, count: u64) -> u64 {
        let levels = match &self.strategy {
            Strategy::ReduceThenScan(strategy) => strategy.level_count(count),
            Strategy::ScanThenPropagate(strategy) => strategy.level_count(count),
            // The seed's levels are of as many tiles.
            Strategy::ChunkInPlace(_) => 64,
            Strategy::Chained(_) => 1,
            // One operation in every step.
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
        // A run, a subgroup's lanes, its rounds, and the subgroups with the rounds in which they are scanned; or a run
        // and a network of invocations.
        let network = policy.algorithm.workgroup_scan().map_or(0, |scan| scan.depth(policy.workgroup_size));
        let workgroup = network.max(lanes + 2 * subgroups);
        let tile = u64::from(policy.items_per_invocation) + workgroup + 4;
        let initial = u64::from(self.config.has_initial);
        // Up to the top, and down again.
        2 * levels * tile + chain + initial
    }

    /// Bytes of rows that a recording of `count` rows reads and writes, out of place; what is kept of tiles is not
    /// counted.
    pub fn traffic_size(&self, count: u64) -> u64 {
        let is_single_tile = count <= self.policy.tile_items().into();
        let moved_rows = match &self.strategy {
            // Sums read it all once, and the scan reads and writes it all.
            Strategy::ReduceThenScan(_) | Strategy::ChunkInPlace(_) if !is_single_tile => {
                count.saturating_mul(3)
            }
            // Scanned tiles are read and written again.
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
    /// 1. **Device**: what [`DeviceRequirements`](crate::device::DeviceRequirements) asks for; a queue that can compute.
    /// 2. **Memory**: `source` and `destination` of at least `count * ScanConfig::row_size()` bytes, at multiples of
    ///    4 (faster at multiples of 16), in buffers with `SHADER_DEVICE_ADDRESS`; they are the same range or do not overlap,
    ///    and the seed's policy takes only the same range. So with what the plan was made for besides: `segments` of 4
    ///    bytes for each row (8 of keys of 64 bits; of offsets all of the range), an initial value on the device of a row,
    ///    a count on the device of 4 bytes; at multiples of 4, and apart from `destination`. `scratch` as
    ///    [`Self::scratch_requirements`] says, its content of no matter, and used by nothing else until the work is done.
    /// 3. **Commands**: one dispatch for one tile, else two for each level of tiles above the first and one for the
    ///    last, with compute-to-compute barriers between them; of scan-then-propagate as many; of block doubling and the
    ///    strided scan one for each time that 1 doubles up to `count`, of the latter in place an even number of them; of
    ///    the chained scan one. Before that, an update of `scratch` for an initial value of the host's, a fill of it for
    ///    segments by offsets, or for what tiles of the chained scan tell, as many as the most of a count on the device
    ///    has, and behind these a transfer-to-compute barrier; a dispatch for offsets, one for a count on the device, and
    ///    behind these a barrier, to indirect dispatches where the device has the count.
    ///    The first access is COMPUTE_SHADER / SHADER_READ of `source`, `segments`, initial value and count, and
    ///    TRANSFER / TRANSFER_WRITE of `scratch` where there is a fill or an update, else COMPUTE_SHADER / SHADER_WRITE of
    ///    it; ends with COMPUTE_SHADER / SHADER_WRITE of `destination`, with no barrier before or after. The last access
    ///    to `scratch` is COMPUTE_SHADER, with a count on the device also DRAW_INDIRECT / INDIRECT_COMMAND_READ. Leaves a
    ///    compute pipeline and push constants bound, and touches no other state.
    /// 4. **Limits**: `count` = 0 records nothing; a count on the device that is 0 runs no workgroups, and one above its
    ///    maximum is taken as that. At most 2^32 - 1 tiles, or columns of tiles where a row is wider than 16 bytes, or as
    ///    many as a dispatch of the device has workgroups in two dimensions; 2^32 - 1 rows with segments; 2^30 tiles of
    ///    the strided scan, and 2^31 of block doubling; and what the device's memory holds.
    /// 5. **Result**: in `destination`; `source` is unchanged unless it is the same range.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::Misaligned`], [`Error::NullAddress`], [`Error::AddressOverflow`],
    /// [`Error::Overlap`], [`Error::ScratchTooSmall`], [`Error::NullBuffer`], [`Error::MissingUsage`],
    /// [`Error::TooManyElements`]; [`Error::Unsupported`] if the seed's policy is asked to scan out of place, or in
    /// place the chained scan or a plan of which [`ScanConfig::out_of_place`] was promised, and if an initial value,
    /// segments or a count on the device are given to a plan that was not made for them, or not to one that was;
    /// [`Error::ElementMismatch`] for an initial value of another type. Nothing is recorded then.
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
        self.record(&mut recorder, buffers, count)
    }

    /// Who touches memory before the first barrier of a recording: what comes `after` in the caller's barrier before it.
    pub fn first_access(&self) -> Access {
        let is_chained = matches!(self.strategy, Strategy::Chained(_));
        let marks_segments = self.config.segments == Some(SegmentsBy::Offsets);
        let transfers = is_chained || marks_segments || self.config.has_initial;
        if transfers { Access::COMPUTE.and(Access::TRANSFER_WRITE) } else { Access::COMPUTE }
    }

    /// Who touches memory behind the last barrier of a recording: what comes `before` in the caller's barrier behind it. What
    /// an indirect dispatch has read is read by then, too.
    pub fn last_access(&self) -> Access {
        Access::COMPUTE_WRITE
    }

    /// The commands that [`Self::cmd_scan`] records of the same memory and count, and nothing besides: each dispatch
    /// with its pipeline and push constants; labels and timestamps where they are asked for.
    ///
    /// # Errors
    /// Those of `cmd_scan`.
    pub fn commands(&self, buffers: &ScanBuffers, count: impl Into<Count>) -> Result<CommandCounts> {
        let mut recorder = Recorder::dry(&self.device);
        self.record(&mut recorder, buffers, count)?;
        Ok(recorder.counts())
    }

    /// [`Self::cmd_scan`] by a recorder of the caller's, which was promised what that asks for: with timestamps, for one,
    /// or beside other plans.
    ///
    /// # Errors
    /// Those of `cmd_scan`; [`Error::ForeignDevice`] if the recorder is another device's.
    pub fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &ScanBuffers,
        count: impl Into<Count>,
    ) -> Result<()> {
        let count = count.into();
        recorder.check_device(&self.device)?;
        count.check_place(self.config.counts_on_device)?;
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
                reason: "the plan was promised never to scan in place; make one without that promise",
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
