//! Stable radix sort of numbers, least significant digit first, with values or for the places of keys.
//!
//! Each pass sorts by one digit, from one array into another: three kernels count the digits of every tile, scan the counts
//! and scatter the keys to where the scan says; or one kernel does it all. Before the first pass the device finds out in
//! which digits all keys agree, and leaves their passes out. A [`SegmentedSortPlan`] sorts many segments at once.

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

/// A sort, ready to be recorded any number of times. Immutable; holds pipelines and no memory.
#[derive(Debug)]
pub struct SortPlan {
    device: Device,
    config: SortConfig,
    policy: SortPolicy,
    single_workgroup: Option<SingleWorkgroup>,
    /// None where there is but the one workgroup.
    strategy: Option<Strategy>,
}

/// How more keys are sorted than one workgroup holds.
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

    /// Bytes that are read and written for each key, where no pass is left out.
    fn traffic_size(&self, config: &SortConfig) -> u64 {
        let (keys, values) = (config.key_size(), config.value_size());
        // The first pass of an argsort makes its places up.
        let made_up = if config.is_argsort() { values } else { 0 };
        let of_pass = match self {
            Self::Passes(_) => 3 * keys + 2 * values,
            Self::Onesweep(_) => 2 * (keys + values),
        };
        keys + u64::from(self.pass_count()) * of_pass - made_up
    }
}

impl SortPlan {
    /// The most keys of one sort without [`SortConfig::large_counts`]: places are 32-bit numbers.
    pub const MAX_COUNT: u64 = u32::MAX as u64;

    /// Makes every pipeline that any recording may need.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a bit range outside of the key, and for an argsort with wide counts;
    /// [`Error::InvalidPolicy`] and [`Error::PolicyExceedsLimits`] for a policy that fits neither itself, nor wide counts, nor
    /// the device, and whatever the driver's compiler says.
    pub fn new(device: &Device, config: SortConfig) -> Result<Self> {
        let plan = Self::declare(device, config)?;
        Pipeline::compile_all(device, plan.pipelines())?;
        Ok(plan)
    }

    /// As [`Self::new`], with pipelines that are not compiled yet.
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
        let single = self.single_workgroup.iter().flat_map(SingleWorkgroup::pipelines);
        single.chain(self.strategy.iter().flat_map(Strategy::pipelines))
    }

    /// The most keys of a recording: [`Self::MAX_COUNT`], or fewer where the policy's tiles or portions are small; of
    /// `single-workgroup` what one workgroup holds. With [`SortConfig::large_counts`] it is the least of 4,096 portions of the
    /// policy, 65,535^2 of its tiles, and 2^32 - 1 keys for each invocation of its workgroup.
    pub fn max_count(&self) -> u64 {
        let single = self.single_workgroup.as_ref().map_or(0, SingleWorkgroup::max_count);
        self.strategy.as_ref().map_or(single, Strategy::max_count)
    }

    /// An error for more keys than [`Self::max_count`].
    pub(crate) fn check_count(&self, count: u64) -> Result<()> {
        let max = self.max_count();
        let what = match self.strategy {
            None => "one workgroup of this policy",
            Some(_) if max == Self::MAX_COUNT && !self.config.is_argsort() => "a sort without wide counts",
            Some(_) => "one sort of this policy",
        };
        if count > max { Err(Error::TooManyElements { count, max, what }) } else { Ok(()) }
    }

    /// Whether nothing moves: what is in order already stays as it is, but its places are to be told.
    fn records_nothing(&self, count: u64) -> bool {
        let is_in_order = count == 1 || self.config.bit_count() == 0;
        count == 0 || is_in_order && !self.config.is_argsort()
    }

    /// How so many keys are sorted, if one workgroup does not hold them.
    fn strategy(&self, count: u64) -> Option<&Strategy> {
        let is_single = self.single_workgroup.as_ref().is_some_and(|single| count <= single.max_count());
        self.strategy.as_ref().filter(|_| !is_single)
    }

    /// The scratch that [`Self::cmd_sort`] needs for up to `max_count` keys: as many keys again; as many values again, of
    /// pairs; of an argsort twice as many keys, and their places; and small change for each pass and tile: a word per
    /// digit and tile, twice for `onesweep`, once for the others with what their scan needs. None for what one workgroup
    /// sorts.
    pub fn scratch_requirements(&self, max_count: u64) -> ScratchRequirements {
        ScratchRequirements::new(
            self.strategy(max_count).map_or(0, |strategy| strategy.scratch_size(max_count)),
        )
    }

    /// Bytes of keys and values that a recording of `count` keys reads and writes, where no pass is left out; what is kept
    /// of tiles is not counted, nor the copy behind an odd number of passes.
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
    /// 1. **Device**: what [`DeviceRequirements`](crate::device::DeviceRequirements) asks for; a queue that can compute.
    /// 2. **Memory**: `keys` of at least `count * SortConfig::key_size()` bytes and `values` of `count *
    ///    SortConfig::value_size()`, at multiples of 4 (faster with keys at a multiple of 16), in buffers with
    ///    `SHADER_DEVICE_ADDRESS`, apart from one another; a count on the device is 4 bytes at a multiple of 4, apart from
    ///    all that is written. `scratch` as [`Self::scratch_requirements`] says, its content of no matter, and used by
    ///    nothing else until the work is done.
    /// 3. **Commands**: one dispatch where [`SortPolicy::single_workgroup`] holds all keys, or the most that a count on the
    ///    device may be. Else a fill and a barrier, a dispatch that looks at all keys and a barrier to indirect ones; for
    ///    each pass one indirect dispatch of `onesweep` for every portion of the keys, or one that counts, those of a scan,
    ///    and one that scatters; and unless the result may lie anywhere or is an argsort's, one more that copies what has
    ///    ended aside; with compute-to-compute barriers between them. A count on the device takes a dispatch and a barrier
    ///    more at first, and a dispatch more of every scan. The first access is COMPUTE_SHADER / SHADER_READ of `keys`,
    ///    `values` and count, of an argsort SHADER_WRITE of `values`, and TRANSFER / TRANSFER_WRITE of `scratch`; ends with
    ///    COMPUTE_SHADER / SHADER_WRITE of `keys` (but for an argsort), `values` and `scratch`, whose last accesses are also
    ///    COMPUTE_SHADER / SHADER_READ and DRAW_INDIRECT / INDIRECT_COMMAND_READ, with no barrier before or after. Leaves a
    ///    compute pipeline and push constants bound, and touches no other state.
    /// 4. **Limits**: `count` of 0 or 1, and an empty bit range, record nothing; but an argsort tells the places of keys
    ///    that stay. A count on the device that is 0 moves nothing, and one above its maximum is taken as that. At most
    ///    [`Self::max_count`] keys, and what the device's memory holds.
    /// 5. **Result**: in `keys` and `values`, or where [`Self::result`] says; of an argsort in `values`, and `keys` are as
    ///    they were. Keys that agree in the bits of the configuration keep their order.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::Misaligned`], [`Error::NullAddress`], [`Error::AddressOverflow`],
    /// [`Error::Overlap`], [`Error::ScratchTooSmall`], [`Error::NullBuffer`], [`Error::MissingUsage`],
    /// [`Error::TooManyElements`]; [`Error::Unsupported`] if a count on the device is given to a plan that was not made
    /// for it. Nothing is recorded then.
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
        self.record(&mut recorder, buffers, count)
    }

    /// Who touches memory before the first barrier of a recording: what comes `after` in the caller's barrier before it.
    pub fn first_access(&self) -> Access {
        match self.strategy {
            Some(_) => Access::COMPUTE.and(Access::TRANSFER_WRITE),
            None => Access::COMPUTE,
        }
    }

    /// Who touches memory behind the last barrier of a recording: what comes `before` in the caller's barrier behind it. What
    /// an indirect dispatch has read is read by then, too.
    pub fn last_access(&self) -> Access {
        Access::COMPUTE_WRITE
    }

    /// The commands that [`Self::cmd_sort`] records of the same memory and count, and nothing besides: each dispatch
    /// with its pipeline and push constants; labels and timestamps where they are asked for.
    ///
    /// # Errors
    /// Those of `cmd_sort`.
    pub fn commands(&self, buffers: &SortBuffers, count: impl Into<Count>) -> Result<CommandCounts> {
        let mut recorder = Recorder::dry(&self.device);
        self.record(&mut recorder, buffers, count)?;
        Ok(recorder.counts())
    }

    /// Where the result of [`Self::cmd_sort`] with the same memory and count lies: in `keys` and `values`, unless
    /// [`SortConfig::anywhere`] lets an odd number of passes leave it in `scratch`.
    ///
    /// # Errors
    /// Those of `cmd_sort`.
    pub fn result(&self, buffers: &SortBuffers, count: impl Into<Count>) -> Result<SortResult> {
        let count = count.into();
        let buffers = self.checked(buffers, count)?;
        let SortBuffers { keys, values, .. } = buffers;
        Ok(match self.strategy(count.max()) {
            Some(strategy)
                if self.config.output() == Output::Anywhere
                    && !self.records_nothing(count.max())
                    && !strategy.pass_count().is_multiple_of(2) =>
            {
                let Arrays { keys_alt, values_alt, .. } = strategy.arrays(&buffers, count.max());
                SortResult { keys: keys_alt, values: values_alt }
            }
            _ => SortResult { keys, values },
        })
    }

    /// The memory, if it will do for so many keys; for none it is not looked at.
    fn checked(&self, buffers: &SortBuffers, count: Count) -> Result<SortBuffers> {
        self.check_count(count.max())?;
        count.check_place(self.config.counts_on_device)?;
        if count.max() == 0 {
            return Ok(*buffers);
        }
        let scratch = match self.records_nothing(count.max()) {
            true => ScratchRequirements::new(0),
            false => self.scratch_requirements(count.max()),
        };
        buffers.checked(&self.config, count, scratch)
    }

    /// [`Self::cmd_sort`] by a recorder of the caller's, which was promised what that asks for: with timestamps, for one,
    /// or beside other plans.
    ///
    /// # Errors
    /// Those of `cmd_sort`; [`Error::ForeignDevice`] if the recorder is another device's.
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
            (None, None) => unreachable!("a plan has one or the other"),
        })
    }
}
