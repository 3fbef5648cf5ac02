//! Stable LSD radix sort of keys, pairs, or indices (argsort).
//!
//! Each pass sorts by one digit, between ping-pong buffers: by three kernels, which count the digits of every tile,
//! scan the counts and scatter the keys; or by one kernel (Onesweep). A histogram before the first pass determines the
//! digits in which all keys agree; their passes are skipped. A [`SegmentedSortPlan`] sorts many segments at once.

mod arrays;
mod config;
mod digit;
mod digit_histogram;
mod dispatch_args;
mod onesweep;
mod passes;
mod policy;
mod segmented;
mod single_workgroup;
mod tuning;

use config::Output;
pub use config::{SortBuffers, SortConfig, SortResult, ValueSize};
pub use policy::{ChunkCounting, Matching, Ranking, SortAlgorithm, SortPolicy, TileShape};
pub use segmented::{
    ClusterShape, SegmentedSortBuffers, SegmentedSortConfig, SegmentedSortPlan, SegmentedSortPolicy,
};
#[cfg(feature = "cli")]
pub(crate) use tuning::{can_be_row, measured_row};

use ash::vk;

use super::{Count, ScratchRequirements};
use crate::device::{Access, CommandCounts, Device, Pipeline, Recorder};
use crate::error::{Error, Result};
use arrays::Arrays;
use onesweep::Onesweep;
use passes::Passes;
use single_workgroup::SingleWorkgroup;

/// Plan of a sort. Immutable; holds pipelines and no memory; may be recorded any number of times.
#[derive(Debug)]
pub struct SortPlan {
    device: Device,
    config: SortConfig,
    policy: SortPolicy,
    single_workgroup: Option<SingleWorkgroup>,
    /// `None` for `single-workgroup`.
    strategy: Option<Strategy>,
}

/// Sort of more keys than one workgroup holds.
#[derive(Debug)]
enum Strategy {
    Passes(Box<Passes>),
    Onesweep(Box<Onesweep>),
}

impl Strategy {
    fn pipelines(&self) -> Box<dyn Iterator<Item = &Pipeline> + '_> {
        match self {
            Self::Passes(passes) => Box::new(passes.pipelines()),
            Self::Onesweep(onesweep) => Box::new(onesweep.pipelines()),
        }
    }

    fn max_count(&self) -> u64 {
        match self {
            Self::Passes(passes) => passes.max_count(),
            Self::Onesweep(onesweep) => onesweep.max_count(),
        }
    }

    fn pass_count(&self) -> u32 {
        match self {
            Self::Passes(passes) => passes.pass_count(),
            Self::Onesweep(onesweep) => onesweep.pass_count(),
        }
    }

    fn scratch_size(&self, max_count: u64) -> u64 {
        match self {
            Self::Passes(passes) => passes.scratch_size(max_count),
            Self::Onesweep(onesweep) => onesweep.scratch_size(max_count),
        }
    }

    fn arrays(&self, buffers: &SortBuffers, max_count: u64) -> Arrays {
        match self {
            Self::Passes(passes) => passes.arrays(buffers, max_count),
            Self::Onesweep(onesweep) => onesweep.arrays(buffers, max_count),
        }
    }

    fn record(&self, recorder: &mut Recorder<'_>, buffers: &SortBuffers, count: Count) -> Result<()> {
        match self {
            Self::Passes(passes) => passes.record(recorder, buffers, count),
            Self::Onesweep(onesweep) => onesweep.record(recorder, buffers, count),
        }
    }

    /// Bytes read and written per key, if no pass is skipped.
    fn traffic_size(&self, config: &SortConfig) -> u64 {
        let (keys, values) = (config.key_size(), config.value_size());
        // The first pass of an argsort generates its indices.
        let generated = if config.is_argsort() { values } else { 0 };
        let of_pass = match self {
            Self::Passes(_) => 3 * keys + 2 * values,
            Self::Onesweep(_) => 2 * (keys + values),
        };
        keys + u64::from(self.pass_count()) * of_pass - generated
    }
}

impl SortPlan {
    /// Maximum number of keys without [`SortConfig::large_counts`]: offsets are 32-bit numbers.
    pub const MAX_COUNT: u64 = u32::MAX as u64;

    /// Creates all pipelines that a recording may need.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a bit range outside of the key, and for an argsort with large counts;
    /// [`Error::InvalidPolicy`] and [`Error::PolicyExceedsLimits`] for a policy that is inconsistent or does not fit
    /// the configuration or the device; and those of `vkCreateComputePipelines`.
    pub fn new(device: &Device, config: SortConfig) -> Result<Self> {
        let plan = Self::declare(device, config)?;
        Pipeline::compile_all(device, plan.pipelines())?;
        Ok(plan)
    }

    /// As [`Self::new`], without compiling the pipelines.
    pub(crate) fn declare(device: &Device, config: SortConfig) -> Result<Self> {
        config.check()?;
        let capabilities = device.capabilities();
        let policy = config.policy.unwrap_or_else(|| SortPolicy::choose(capabilities, &config).policy);
        policy.check(&config, capabilities)?;
        let single = |shape| SingleWorkgroup::new(device, &config, shape, &policy);
        let single_workgroup = policy.single_workgroup.map(single).transpose()?;
        let strategy = match policy.algorithm {
            SortAlgorithm::SingleWorkgroup => None,
            SortAlgorithm::Radix2Bit | SortAlgorithm::Radix4Bit | SortAlgorithm::Radix8Bit => {
                Some(Strategy::Passes(Box::new(Passes::new(device, &config, &policy)?)))
            }
            SortAlgorithm::Onesweep => {
                Some(Strategy::Onesweep(Box::new(Onesweep::new(device, &config, &policy)?)))
            }
        };
        Ok(Self { device: device.clone(), config, policy, single_workgroup, strategy })
    }

    /// The configuration of the plan.
    pub fn config(&self) -> &SortConfig {
        &self.config
    }

    /// The policy in use.
    pub fn policy(&self) -> &SortPolicy {
        &self.policy
    }

    /// All pipelines that a recording may bind, including those of the scan of counts, for inspection.
    pub fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let single = self.single_workgroup.iter().flat_map(SingleWorkgroup::pipelines);
        single.chain(self.strategy.iter().flat_map(Strategy::pipelines))
    }

    /// Maximum number of keys of a recording: [`Self::MAX_COUNT`], or fewer if the policy's tiles or portions are
    /// small; for `single-workgroup` the keys of one workgroup. With [`SortConfig::large_counts`] the least of 4,096
    /// portions, 65,535^2 tiles, and 2^32 - 1 keys per invocation of a workgroup.
    pub fn max_count(&self) -> u64 {
        let single = self.single_workgroup.as_ref().map_or(0, SingleWorkgroup::max_count);
        self.strategy.as_ref().map_or(single, Strategy::max_count)
    }

    /// Fails for more keys than [`Self::max_count`].
    pub(crate) fn check_count(&self, count: u64) -> Result<()> {
        let max = self.max_count();
        let what = match self.strategy {
            None => "one workgroup of this policy",
            Some(_) if max == Self::MAX_COUNT && !self.config.is_argsort() => "a sort without large counts",
            Some(_) => "one sort of this policy",
        };
        if count > max { Err(Error::TooManyElements { count, max, what }) } else { Ok(()) }
    }

    /// Whether there is nothing to record: the order cannot change, and no indices are written.
    fn records_nothing(&self, count: u64) -> bool {
        let is_in_order = count == 1 || self.config.bit_count() == 0;
        count == 0 || is_in_order && !self.config.is_argsort()
    }

    /// The strategy for `count` keys; `None` if one workgroup holds them.
    fn strategy(&self, count: u64) -> Option<&Strategy> {
        let is_single = self.single_workgroup.as_ref().is_some_and(|single| count <= single.max_count());
        self.strategy.as_ref().filter(|_| !is_single)
    }

    /// Scratch of [`Self::cmd_sort`] for up to `max_count` keys: the size of the keys, and of the values of pairs; for
    /// an argsort twice the size of the keys, and that of the indices; a word per digit and tile, for passes of three
    /// kernels with the scratch of their scan; and a small amount per pass. None if one workgroup holds the keys.
    pub fn scratch_requirements(&self, max_count: u64) -> ScratchRequirements {
        ScratchRequirements::new(
            self.strategy(max_count).map_or(0, |strategy| strategy.scratch_size(max_count)),
        )
    }

    /// Bytes of keys and values that a recording of `count` keys reads and writes, if no pass is skipped; without
    /// counts and statuses of tiles, and without the copy after an odd number of passes.
    pub fn traffic_size(&self, count: u64) -> u64 {
        if self.records_nothing(count) {
            return 0;
        }
        let config = &self.config;
        let moved = config.key_size() + config.value_size();
        let size = match self.strategy(count) {
            Some(strategy) => strategy.traffic_size(config),
            None if config.is_argsort() => moved,
            None => 2 * moved,
        };
        count.saturating_mul(size)
    }

    /// Records the sort of `count` keys by the bits of the configuration.
    ///
    /// 1. **Device**: meets [`DeviceRequirements`](crate::device::DeviceRequirements); a queue that supports compute.
    /// 2. **Memory**: `keys`: at least `count * SortConfig::key_size()` bytes; `values`:
    ///    `count * SortConfig::value_size()`; aligned to 4 (faster with keys at 16), in buffers with
    ///    `SHADER_DEVICE_ADDRESS`, disjoint. An indirect count: 4 bytes, aligned to 4, disjoint from all other ranges.
    ///    `scratch`: of [`Self::scratch_requirements`], contents undefined, used by nothing else until the work has
    ///    completed.
    /// 3. **Commands**: one dispatch if [`SortPolicy::single_workgroup`] holds all keys, or the maximum of an indirect
    ///    count. Otherwise a fill and a barrier; the histogram and a barrier to indirect dispatches; for each pass one
    ///    indirect dispatch of `onesweep` per portion, or a count, the dispatches of a scan, and a scatter; and, unless
    ///    the output is a double buffer or an argsort's, a copy of the alternate buffer; with compute-to-compute
    ///    barriers between them. An indirect count adds a dispatch and a barrier at the beginning, and a dispatch to
    ///    every scan. The first access is COMPUTE_SHADER / SHADER_READ of `keys`, `values` and count, of an argsort
    ///    SHADER_WRITE of `values`, and TRANSFER / TRANSFER_WRITE of `scratch`. Ends with COMPUTE_SHADER / SHADER_WRITE
    ///    of `keys` (but for an argsort), `values` and `scratch`, whose last accesses are also COMPUTE_SHADER /
    ///    SHADER_READ and DRAW_INDIRECT / INDIRECT_COMMAND_READ, with no barrier before or after. Leaves a compute
    ///    pipeline and push constants bound, and changes no other state.
    /// 4. **Limits**: `count` of 0 or 1, and an empty bit range, record nothing; except that an argsort of at least one
    ///    key writes its indices. An indirect count of 0 moves nothing; one above its maximum is treated as the
    ///    maximum. At most [`Self::max_count`] keys.
    /// 5. **Result**: in `keys` and `values`, or in the ranges of [`Self::result`]; of an argsort in `values`, with
    ///    `keys` unchanged. Stable: keys that agree in the bits of the configuration keep their order.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::Misaligned`], [`Error::NullAddress`], [`Error::AddressOverflow`],
    /// [`Error::Overlap`], [`Error::ScratchTooSmall`], [`Error::NullBuffer`], [`Error::MissingUsage`],
    /// [`Error::TooManyElements`]; [`Error::Unsupported`] for an indirect count, if the plan was not created for it.
    /// Nothing is recorded then.
    ///
    /// # Safety
    /// `command_buffer` is of the plan's device, in the recording state outside of a render pass, and used by no other
    /// thread meanwhile. When the commands execute, the ranges are bound memory of the device with the usage above, and
    /// the plan is alive. The caller orders their accesses with earlier and later commands.
    pub unsafe fn cmd_sort(
        &self,
        command_buffer: vk::CommandBuffer,
        buffers: &SortBuffers,
        count: impl Into<Count>,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        let mut recorder = unsafe { Recorder::new(&self.device, command_buffer) };
        self.record(&mut recorder, buffers, count)
    }

    /// Destination scope for the caller's barrier before the recording: accesses before its first barrier.
    pub fn first_access(&self) -> Access {
        match self.strategy {
            Some(_) => Access::COMPUTE.and(Access::TRANSFER_WRITE),
            None => Access::COMPUTE,
        }
    }

    /// Source scope for the caller's barrier after the recording: accesses after its last barrier. Reads of indirect
    /// arguments have completed by then.
    pub fn last_access(&self) -> Access {
        Access::COMPUTE_WRITE
    }

    /// Numbers of the commands that [`Self::cmd_sort`] records for the same memory and count: each dispatch also binds
    /// its pipeline and push constants. Debug labels and timestamps are not counted.
    ///
    /// # Errors
    /// Those of `cmd_sort`.
    pub fn commands(&self, buffers: &SortBuffers, count: impl Into<Count>) -> Result<CommandCounts> {
        let mut recorder = Recorder::dry(&self.device);
        self.record(&mut recorder, buffers, count)?;
        Ok(recorder.counts())
    }

    /// Ranges of the result of [`Self::cmd_sort`] with the same memory and count: `keys` and `values`, or, with
    /// [`SortConfig::anywhere`] and an odd number of passes, ranges of `scratch`.
    ///
    /// # Errors
    /// Those of `cmd_sort`.
    pub fn result(&self, buffers: &SortBuffers, count: impl Into<Count>) -> Result<SortResult> {
        let count = count.into();
        let buffers = self.checked(buffers, count)?;
        let SortBuffers { keys, values, .. } = buffers;
        Ok(match self.strategy(count.max()) {
            Some(strategy)
                if self.config.output() == Output::DoubleBuffer
                    && !self.records_nothing(count.max())
                    && !strategy.pass_count().is_multiple_of(2) =>
            {
                let Arrays { keys_alt, values_alt, .. } = strategy.arrays(&buffers, count.max());
                SortResult { keys: keys_alt, values: values_alt }
            }
            _ => SortResult { keys, values },
        })
    }

    /// Checks the memory for `count` keys; for none it is not checked.
    fn checked(&self, buffers: &SortBuffers, count: Count) -> Result<SortBuffers> {
        self.check_count(count.max())?;
        count.check_supported(self.config.counts_on_device)?;
        if count.max() == 0 {
            return Ok(*buffers);
        }
        let scratch = match self.records_nothing(count.max()) {
            true => ScratchRequirements::new(0),
            false => self.scratch_requirements(count.max()),
        };
        buffers.checked(&self.config, count, scratch)
    }

    /// As [`Self::cmd_sort`], with a recorder of the caller: for timestamps, or to record several plans. The conditions
    /// of [`Recorder::new`] and `cmd_sort` apply.
    ///
    /// # Errors
    /// Those of `cmd_sort`; [`Error::ForeignDevice`] if the recorder is of another device.
    pub fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &SortBuffers,
        count: impl Into<Count>,
    ) -> Result<()> {
        let count = count.into();
        recorder.check_device(&self.device)?;
        let buffers = self.checked(buffers, count)?;
        let max_count = count.max();
        if self.records_nothing(max_count) {
            return Ok(());
        }
        recorder.plan(c"subsweep sort", |recorder| match (self.strategy(max_count), &self.single_workgroup) {
            (Some(strategy), _) => strategy.record(recorder, &buffers, count),
            (None, Some(single)) => single.record(recorder, &buffers, count),
            (None, None) => unreachable!("a plan has at least one"),
        })
    }
}
