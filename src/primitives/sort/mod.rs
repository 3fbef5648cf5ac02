//! Stable LSD radix sort of keys, pairs, or indices (argsort).
//!
//! Each pass sorts by one digit, between ping-pong buffers: by three kernels, which count the digits of every tile,
//! scan the counts and scatter the keys; or by one kernel (Onesweep). A histogram before the first pass determines the
//! digits in which all keys agree; their passes are skipped. A [`SegmentedSortPlan`] sorts many segments at once,
//! a [`StructureSortPlan`] structures by several fields.

mod arrays;
mod by_indices;
mod config;
mod digit;
mod digit_histogram;
mod dispatch_args;
mod onesweep;
mod passes;
mod policy;
mod row_mover;
mod segmented;
mod single_workgroup;
mod structures;
pub(crate) mod tuning;

pub use config::{SortBuffers, SortConfig, ValueSize};
pub use policy::{
    ChunkCounting, DigitHistogramShape, Matching, Ranking, SortAlgorithm, SortPolicy, TileShape,
};
pub(super) use policy::{match_tables_size, shared_tables_size};
pub use segmented::{
    ClusterShape, SegmentedSort, SegmentedSortBuffers, SegmentedSortConfig, SegmentedSortPlan,
    SegmentedSortPolicy,
};
pub use structures::{
    Direction, Field, Key, StructureSort, StructureSortBuffers, StructureSortConfig, StructureSortPlan,
    StructureSortPolicy,
};

use std::ffi::CStr;

use super::plan::{Plan, Primitive, Recordable};
use super::{Count, packed};
use crate::device::{Access, Capabilities, Device};
use crate::error::{Result, at_most};
use by_indices::ByIndices;
use onesweep::Onesweep;
use passes::Passes;
use single_workgroup::SingleWorkgroup;

/// Plan of a sort.
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::sort::{SortBuffers, SortConfig, SortPlan, ValueSize};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let (keys, values) = (gpu.allocate_with(&[3, 1, 2])?, gpu.allocate_with(&[10, 11, 12])?);
/// let config = SortConfig::pairs(ElementType::U32, ValueSize::B4);
/// let plan = SortPlan::new(gpu.device(), config)?;
/// let scratch = gpu.allocate(plan.scratch_requirements(3).size)?;
/// let buffers = SortBuffers::new(keys.addresses(), scratch.range()).values(values.addresses());
/// // SAFETY: the memory is this device's, and alive until `submit` has waited.
/// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, 3)) }?;
/// assert_eq!(gpu.read(&values, 3)?, [11, 12, 10]);
/// # Ok::<(), subsweep::Error>(())
/// ```
pub type SortPlan = Plan<Sort>;

/// The primitive of a [`SortPlan`].
///
/// | memory | bytes | first access | last access |
/// |---|---|---|---|
/// | `keys` | `count * key_size` | COMPUTE_SHADER read | COMPUTE_SHADER write; of an argsort or an input that is kept read |
/// | `values` | `count * value_size` | COMPUTE_SHADER read; of indices write | COMPUTE_SHADER write; of an input that is kept read |
/// | `keys_alt`, `values_alt`: double buffer, output | as `keys`, `values` | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | indirect count | 4 | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `scratch` | below | TRANSFER write | COMPUTE_SHADER write, DRAW_INDIRECT read |
///
/// Faster if `keys` is aligned to 16. Keys of 8 and 16 bits are sorted as they are where the device has enabled
/// `storageBuffer8BitAccess` or `storageBuffer16BitAccess`, unless by [`Ranking::Ballot`].
///
/// | scratch for | bytes |
/// |---|---|
/// | keys that one workgroup holds | none |
/// | alternate buffers | the keys, and the values of pairs; for an argsort twice the keys, and the indices |
/// | a double buffer, a sort that destroys its input | none for alternate buffers |
/// | a sort out of place | alternate buffers for more than one pass |
/// | values of more than 8 bytes | what a sort of keys with indices has, and 4 for each key, of two buffers 8; in place the values; for an indirect count 32 more, in place 64 |
/// | passes of three kernels | a word per digit and tile, and the scratch of their scan |
/// | `onesweep` | a word per digit and tile, of [`SortPolicy::few`] for all of its tiles |
/// | histogram and dispatch arguments | a small amount per pass |
///
/// | commands | |
/// |---|---|
/// | keys that one workgroup holds | one dispatch |
/// | before the passes | a fill, a barrier, the histogram, a barrier; for an indirect count a dispatch and a barrier more |
/// | a pass of three kernels | count, the dispatches of a scan, scatter, with barriers |
/// | a pass of `onesweep` | a dispatch per portion, with barriers; indirect where the device decides whether it runs |
/// | after the passes | a barrier, and a copy that runs after an odd number of passes that ran; only in place, and not of up to [`SortPolicy::direct_tiles`] |
/// | a sort that destroys its input | after an even number of passes a barrier and a copy |
/// | values of more than 8 bytes | the commands of keys with indices, of a double buffer as if it destroyed its input; then a barrier and a gather; in place a copy before the first; for an indirect count a dispatch and a barrier more for each of these two |
///
/// A `count` of 0 or 1 and an empty bit range record nothing; except that a sort of at least one key writes indices,
/// and a sort out of place its output. At most [`SortPlan::max_count`] keys. The result is in `keys` and
/// `values`; out of place in `keys_alt` and `values_alt`; of a double buffer there if [`SortPlan::is_result_in_alt`];
/// of an argsort in `values`, with `keys` unchanged. Where a result would have keys that are
/// [discarded](SortConfig::discards_keys), the contents are undefined. Stable: keys that agree in the bits of the
/// configuration keep their order.
#[derive(Debug)]
pub struct Sort {
    /// For the keys that one workgroup holds, the fewest first.
    single_workgroups: Vec<SingleWorkgroup>,
    /// For more keys than one workgroup holds, the fewest first; none for `single-workgroup`.
    passes: Vec<Box<dyn PassAlgorithm>>,
    /// In place of these, for values that move once.
    by_indices: Option<Box<ByIndices>>,
}

/// An algorithm of passes over all keys.
trait PassAlgorithm: Recordable<Sort> {
    /// Maximum number of keys.
    fn max_count(&self) -> u64;

    /// Number of passes.
    fn pass_count(&self) -> u32;

    /// Keys and values that a pass reads or writes, per key.
    fn moves(&self) -> [u64; 2];
}

impl Sort {
    /// The workgroup that holds `count` keys.
    fn single_workgroup(&self, count: u64) -> Option<&SingleWorkgroup> {
        self.single_workgroups.iter().find(|single| count <= single.max_count())
    }

    /// The passes for `count` keys; `None` if one workgroup holds them.
    fn passes(&self, count: u64) -> Option<&dyn PassAlgorithm> {
        let has_passes = self.single_workgroup(count).is_none();
        let passes = self.passes.iter().find(|passes| count <= passes.max_count()).or(self.passes.last());
        passes.filter(|_| has_passes).map(|passes| &**passes)
    }

    fn max_count(&self) -> u64 {
        if let Some(ByIndices { sort, .. }) = self.by_indices.as_deref() {
            return sort.max_count();
        }
        let single = self.single_workgroups.last().map_or(0, SingleWorkgroup::max_count);
        self.passes.last().map_or(single, |passes| passes.max_count())
    }
}

/// Whether there is nothing to record: the order cannot change, and neither indices nor an output are written.
fn records_nothing(config: &SortConfig, count: u64) -> bool {
    let is_in_order = count == 1 || config.bit_count() == 0;
    count == 0 || is_in_order && !config.must_write()
}

impl Primitive for Sort {
    type Config = SortConfig;
    type Policy = SortPolicy;
    type Buffers = SortBuffers;
    type Count = Count;

    const LABEL: &'static CStr = c"subsweep sort";

    fn declare(device: &Device, config: &SortConfig, policy: &SortPolicy) -> Result<Self> {
        if config.moves_values_once() {
            let by_indices = Some(Box::new(ByIndices::new(device, config, policy)?));
            return Ok(Self { single_workgroups: Vec::new(), passes: Vec::new(), by_indices });
        }
        let single = |shape| SingleWorkgroup::new(device, config, shape, policy);
        let single_workgroups = policy.single_workgroups().map(single).collect::<Result<_>>()?;
        let passes: Vec<Box<dyn PassAlgorithm>> = match policy.algorithm {
            SortAlgorithm::SingleWorkgroup => Vec::new(),
            SortAlgorithm::Radix2Bit | SortAlgorithm::Radix4Bit | SortAlgorithm::Radix8Bit => {
                vec![Box::new(Passes::new(device, config, policy)?)]
            }
            SortAlgorithm::Onesweep => {
                let all = Onesweep::all(device, config, policy)?;
                all.into_iter().map(|passes| Box::new(passes) as _).collect()
            }
        };
        Ok(Self { single_workgroups, passes, by_indices: None })
    }

    fn takes_packed(capabilities: &Capabilities, config: &SortConfig, policy: &SortPolicy) -> bool {
        packed::has_access(capabilities, config.key) && !matches!(policy.ranking, Ranking::Ballot(_))
    }

    fn algorithms(&self) -> impl Iterator<Item = &dyn Recordable<Self>> {
        let single = self.single_workgroups.iter().map(|single| single as _);
        let by_indices = self.by_indices.iter().map(|by_indices| &**by_indices as _);
        single.chain(self.passes.iter().map(|passes| &**passes as _)).chain(by_indices)
    }

    fn algorithm(&self, config: &SortConfig, max: u64) -> Option<&dyn Recordable<Self>> {
        match (self.by_indices.as_deref(), self.passes(max), self.single_workgroup(max)) {
            _ if records_nothing(config, max) => None,
            (Some(by_indices), ..) => Some(by_indices),
            (None, Some(passes), _) => Some(passes),
            (None, None, single) => single.map(|single| single as _),
        }
    }

    fn check_count(&self, config: &SortConfig, count: u64) -> Result<()> {
        let max = self.max_count();
        let what = match (&self.by_indices, &self.passes[..]) {
            (None, []) => "one workgroup of this policy",
            (None, _) if max == SortPlan::MAX_COUNT && !config.begins_as_indices() => {
                "a sort without large counts"
            }
            _ => "one sort of this policy",
        };
        at_most(count, max, what)
    }

    fn first_access(&self, _: &SortConfig) -> Access {
        match (self.by_indices.as_deref(), &self.passes[..]) {
            (Some(ByIndices { sort, .. }), _) => Access::COMPUTE.and(sort.first_access()),
            (None, []) => Access::COMPUTE,
            (None, _) => Access::COMPUTE.and(Access::TRANSFER_WRITE),
        }
    }
}

impl SortPlan {
    /// Maximum number of keys without [`SortConfig::large_counts`]: offsets are 32-bit numbers.
    pub const MAX_COUNT: u64 = u32::MAX as u64;

    /// Maximum number of keys of a recording: [`Self::MAX_COUNT`], or fewer if the policy's tiles or portions are
    /// small; for `single-workgroup` the keys of one workgroup. With [`SortConfig::large_counts`] the least of 4,096
    /// portions, 65,535^2 tiles, and 2^32 - 1 keys per invocation of a workgroup.
    pub fn max_count(&self) -> u64 {
        self.primitive.max_count()
    }

    /// Bytes of keys and values that a recording of `count` keys reads and writes, if no pass is skipped; without
    /// counts and statuses of tiles, and without the copy after an odd number of passes.
    pub fn traffic_size(&self, count: u64) -> u64 {
        let config = self.unpacked_config();
        if records_nothing(config, count) {
            return 0;
        }
        if let Some(ByIndices { sort, values }) = self.primitive.by_indices.as_deref() {
            let own = sort.traffic_size(count).saturating_add(values.traffic_size(count));
            return own.saturating_add(self.packing_size(count));
        }
        let (keys, values) = (config.key_size(), config.value_size());
        let size = match self.primitive.passes(count) {
            Some(passes) => {
                let [key_moves, value_moves] = passes.moves();
                let of_pass = key_moves * keys + value_moves * values;
                keys + u64::from(passes.pass_count()) * of_pass - config.omitted_size()
            }
            None => config.moved_once(),
        };
        // Elements that keys are computed from are read in the place of keys: by the histogram, and by the first pass.
        let reads = if self.primitive.passes(count).is_some() { 2 } else { 1 };
        let size = size + reads * config.source_size() - reads * keys;
        count.saturating_mul(size).saturating_add(self.packing_size(count))
    }

    /// Whether the result of a recording of `count` keys, or of an indirect count with that maximum, is in the alternate
    /// buffers: only of a [double buffer](SortConfig::double_buffer), after an odd number of passes, or where values of more
    /// than 8 bytes have moved. Another count may take another number of passes: one workgroup sorts few keys without any.
    pub fn is_result_in_alt(&self, count: impl Into<Count>) -> bool {
        let (config, count) = (self.config(), count.into().max());
        let is_in_alt = match (&self.primitive.by_indices, self.primitive.passes(count)) {
            (None, passes) => passes.is_some_and(|passes| !passes.pass_count().is_multiple_of(2)),
            (Some(_), _) => true,
        };
        config.is_double_buffered() && is_in_alt && !records_nothing(config, count)
    }
}

#[cfg(test)]
mod tests;
