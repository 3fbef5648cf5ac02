//! Scan: `destination[i] = source[0] ⊕ … ⊕ source[i]` (inclusive) or `… ⊕ source[i - 1]` (exclusive).
//!
//! ⊕ is a [`ScanOperator`] on elements of an [`ElementType`](crate::ElementType). The columns of a table, 1 to 64, are
//! scanned independently. Results equal `ufunc.accumulate(table, axis=0, dtype=table.dtype)` in numpy, or along the rows of
//! a table, each of a fixed length, the same with `axis=1`:
//!
//! * Integer sums and products wrap.
//! * A minimum or maximum of elements that include a NaN is an unspecified NaN. -0 is less than +0.
//! * Sums and products of floats are rounded in another order than numpy's. The error of a sum is at most
//!   `1.01 * d * u` times the sum of magnitudes, where `d` is [`ScanPlan::rounding_depth`] and `u` is 2^-24 for f32 and
//!   2^-53 for f64; the error of a product of `n` factors is at most `1.01 * n * u` times its magnitude, unless an
//!   intermediate result overflows or underflows. A device may flush denormals to 0. The order of operations is fixed by the
//!   plan, so that runs on one device agree bit by bit, except for the payload of NaNs. In the chained scan the order depends
//!   on timing, unless [`ScanPolicy::with_fixed_tree`] fixes it. Devices of different subgroup sizes differ, unless
//!   [`ScanPolicy::deterministic_across_devices`] fixes it for all.
//! * Sums of non-negative floats may decrease, by as much as the bound of their error: results near each other add in
//!   different orders. Where a search relies on their order, as in a cumulative distribution, scan their results with
//!   [`ScanOperator::Max`], which is exact, or let [`ScanConfig::monotone`] do both.
//! * Segments of one fixed size, such as the rows of a table, are scanned in an order that depends on their size alone: equal
//!   rows have equal results in bits, wherever they are.
//! * [`Functions`](crate::Functions) of the caller combine elements of any kind.
//! * u64 and i64 do not need `shaderInt64`; sums and products of f64 need `shaderFloat64`.

mod algorithm;
mod along_rows;
mod chained;
mod config;
pub(super) mod levels;
mod monotone;
mod operator;
mod policy;
mod progress;
mod reduce_then_scan;
#[cfg(feature = "textbook")]
mod textbook;

pub use algorithm::{ScanAlgorithm, WorkgroupScan};
pub(super) use config::UNPACKED_RESULTS;
pub use config::{InitialRow, InitialValue, ScanBuffers, ScanConfig, ScanKind, SegmentsBy};
pub use operator::ScanOperator;
pub use policy::{ScanPolicy, SumsPlacement};
pub(super) use progress::makes_progress;

use std::ffi::CStr;

use super::Count;
use super::plan::{Plan, Primitive, Recordable};
use crate::device::{Access, Device};
use crate::error::Result;
use along_rows::AlongRows;
use chained::Chained;
use monotone::Monotone;
use reduce_then_scan::ReduceThenScan;
#[cfg(feature = "textbook")]
use textbook::{
    block_doubling::BlockDoubling, chunk_in_place::ChunkInPlace, scan_then_propagate::ScanThenPropagate,
    strided::Strided,
};

/// Plan of a scan.
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::scan::{ScanBuffers, ScanConfig, ScanPlan};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let sizes = gpu.allocate_with(&[3, 1, 4, 1, 5])?;
/// let plan = ScanPlan::new(gpu.device(), ScanConfig::exclusive(ElementType::U32))?;
/// let scratch = gpu.allocate(plan.scratch_requirements(5).size)?;
/// let buffers = ScanBuffers::in_place(sizes.addresses(), scratch.range());
/// // SAFETY: the memory is this device's, and alive until `submit` has waited.
/// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, 5)) }?;
/// assert_eq!(gpu.read(&sizes, 5)?, [0, 3, 4, 8, 9]);
/// # Ok::<(), subsweep::Error>(())
/// ```
pub type ScanPlan = Plan<Scan>;

/// The primitive of a [`ScanPlan`], and its algorithm.
///
/// | memory | bytes | first access | last access |
/// |---|---|---|---|
/// | `source` | `count * source_size` | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `destination` | `count * result_size` | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | `segments`: flags, keys | 4 per row; 8 for 64-bit keys | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `segments`: offsets | 4 per offset | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `initial`: on the device | `row_size` | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | indirect count | 4 | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `scratch` | below | TRANSFER or COMPUTE_SHADER write | COMPUTE_SHADER, DRAW_INDIRECT read |
///
/// `source` and `destination` are the same range or disjoint, for the seed's policy the same, and with functions that transform or
/// store disjoint; faster if aligned to 16. Elements of 8 and 16 bits in one column, without segments, initial value and
/// [`ScanConfig::monotone`], are taken as they are, faster if aligned to 4.
///
/// | scratch for | bytes |
/// |---|---|
/// | tiles | a row per tile, two for the chained scan: by default less than 1/128 of the source, of 8 bits 1/32 |
/// | a single tile, few tiles of the chained scan, the seed's policy, block doubling | none |
/// | the strided scan | `count * row_size` |
/// | segments | 4 per tile; by offsets also a bit per row |
/// | segments of a fixed size | none; where they do not fit a tile, a row per tile of a segment |
/// | an initial value | `row_size` |
/// | a monotone scan | the scratch of the scan of its results, too |
/// | an indirect count | 32 per level of tiles |
///
/// | commands | |
/// |---|---|
/// | preparation | an update for an initial value of the host; a fill for segments by offsets, or the chained scan's statuses, if it has any; a barrier; a dispatch for offsets, another for an indirect count; a barrier |
/// | a single tile, the chained scan, segments of a fixed size that fit a tile | one dispatch |
/// | reduce-then-scan, scan-then-propagate | two dispatches per level of tiles, and one for the last, with barriers |
/// | a monotone scan | the commands of a scan in place, after a barrier unless a dispatch prepares them |
/// | block doubling, the strided scan | a dispatch per doubling from 1 to `count`; for the latter in place an even number |
///
/// At most 2^32 - 1 tiles (columns of tiles for rows wider than 16 bytes), and the workgroups of a two-dimensional
/// dispatch; 2^32 - 1 rows with segments; 2^30 tiles for the strided scan, 2^31 for block doubling. The result is in
/// `destination`; `source` is unchanged unless it is the same range.
#[derive(Debug)]
pub struct Scan(Box<dyn Strategy>);

/// An algorithm of a scan.
trait Strategy: Recordable<Scan> {
    /// Maximum number of operations between an element and any result of `count` rows, without an initial value.
    fn rounding_depth(&self, count: u64, tile: &TileDepth) -> u64;

    /// Rows read and written by a recording of `count` rows, out of place.
    fn moved_rows(&self, count: u64) -> u64;

    /// Whether source and destination may be the same range.
    fn scans_in_place(&self) -> bool {
        true
    }

    /// Whether a recording clears its scratch.
    fn has_fill(&self) -> bool {
        false
    }
}

/// Parameters of the rounding depth.
struct TileDepth {
    /// Maximum number of operations in the scan of a tile.
    operations: u64,
    /// Minimum and maximum subgroup size.
    lanes: [u64; 2],
}

impl Primitive for Scan {
    type Config = ScanConfig;
    type Policy = ScanPolicy;
    type Buffers = ScanBuffers;
    type Count = Count;

    const LABEL: &'static CStr = c"subsweep scan";

    fn declare(device: &Device, config: &ScanConfig, policy: &ScanPolicy) -> Result<Self> {
        if config.is_monotone {
            return Ok(Self(Box::new(Monotone::new(device, config)?)));
        }
        let strategy: Box<dyn Strategy> = match (policy.algorithm, policy.sums) {
            (ScanAlgorithm::ReduceThenScan(_), SumsPlacement::Scratch) => match config.segments {
                Some(SegmentsBy::FixedSize(length)) => {
                    Box::new(AlongRows::new(device, config, policy, length)?)
                }
                _ => Box::new(ReduceThenScan::new(device, config, policy)?),
            },
            #[cfg(feature = "textbook")]
            (ScanAlgorithm::ReduceThenScan(_), SumsPlacement::LastRow) => {
                Box::new(ChunkInPlace::new(device, config, policy)?)
            }
            #[cfg(feature = "textbook")]
            (ScanAlgorithm::ScanThenPropagate, _) => {
                Box::new(ScanThenPropagate::new(device, config, policy)?)
            }
            #[cfg(feature = "textbook")]
            (ScanAlgorithm::BlockDoubling, _) => Box::new(BlockDoubling::new(device, policy)?),
            #[cfg(feature = "textbook")]
            (ScanAlgorithm::Strided, _) => Box::new(Strided::new(device, config, policy)?),
            (ScanAlgorithm::Chained, _) => {
                let kernel = config.modules()?.chained.expect("`check` has found it");
                Box::new(Chained::new(device, config, policy, kernel)?)
            }
        };
        Ok(Self(strategy))
    }

    fn algorithms(&self) -> impl Iterator<Item = &dyn Recordable<Self>> {
        std::iter::once(&*self.0 as _)
    }

    fn first_access(&self, config: &ScanConfig) -> Access {
        let marks_segments = config.segments == Some(SegmentsBy::Offsets);
        let transfers = self.0.has_fill() || marks_segments || config.has_initial;
        if transfers { Access::COMPUTE.and(Access::TRANSFER_WRITE) } else { Access::COMPUTE }
    }
}

impl ScanPlan {
    /// Whether source and destination may be the same range. The seed's policy requires it.
    pub fn scans_in_place(&self) -> bool {
        let config = self.config();
        self.primitive.0.scans_in_place() && !config.is_out_of_place && config.stages().is_none()
    }

    /// The same scan with counters of its look-back, for chained scans with such a kernel.
    ///
    /// # Errors
    /// Errors of [`Self::new`].
    #[cfg(feature = "counters")]
    #[doc(hidden)]
    pub fn counted(&self) -> Result<Option<chained::CountedChained>> {
        match self.policy().algorithm {
            ScanAlgorithm::Chained if !self.config().is_monotone => {
                chained::CountedChained::new(self.device(), self.config(), self.policy())
            }
            _ => Ok(None),
        }
    }

    /// Maximum number of operations between an element and any result of `count` rows. The error bound of a sum of
    /// floats is proportional to it.
    pub fn rounding_depth(&self, count: u64) -> u64 {
        let (policy, capabilities) = (self.policy(), self.device().capabilities());
        let lanes = u64::from(policy.subgroup_size.unwrap_or(capabilities.max_subgroup_size));
        let min_lanes = u64::from(capabilities.min_subgroup_size.max(4));
        let subgroups = u64::from(policy.workgroup_size).div_ceil(min_lanes);
        // A run, the lanes of a subgroup, its rounds, the subgroups and the rounds that scan them; or a run and a
        // network of invocations.
        let network = policy.algorithm.workgroup_scan().map_or(0, |scan| scan.depth(policy.workgroup_size));
        let workgroup = network.max(lanes + 2 * subgroups);
        let operations = u64::from(policy.items_per_invocation) + workgroup + 4;
        let tile = TileDepth { operations, lanes: [min_lanes, lanes] };
        self.primitive.0.rounding_depth(count, &tile) + u64::from(self.config().has_initial)
    }

    /// Bytes of rows that a recording of `count` rows reads and writes, out of place; without tile aggregates and
    /// statuses.
    pub fn traffic_size(&self, count: u64) -> u64 {
        let (config, moved) = (self.unpacked_config(), self.primitive.0.moved_rows(count));
        // All but the results.
        let read = moved.saturating_sub(count).saturating_mul(config.source_size());
        let written = count.saturating_mul(config.result_size());
        read.saturating_add(written).saturating_add(self.packing_size(count))
    }
}
