//! Reduce: `destination = source[0] ⊕ source[1] ⊕ …`, of all rows, of segments, or of runs of equal keys.
//!
//! ⊕ is a [`ScanOperator`](crate::scan::ScanOperator) on elements of an [`ElementType`](crate::ElementType), a
//! [`Functions`](crate::Functions) of the caller, or the search for the first least or greatest element. The columns of
//! a table, 1 to 64, are reduced independently, or its rows. Results equal `ufunc.reduce(table, axis=0, dtype=table.dtype)`,
//! `argmin(axis=0)` and `argmax(axis=0)` in numpy, but for the sign of a zero and the bits of a NaN among minima and
//! maxima. Along the rows of a table, each of a fixed length, results are as with `axis=1`. Indices are of all rows or along
//! rows, not of other segments or runs:
//!
//! * The order of operations depends on the number of rows and columns, along rows on their length, and on
//!   [`ReducePolicy::packs_per_invocation`] alone, not on the device or its subgroup size. So sums and products of floats
//!   have the same bits on every device that keeps denormals, except for the payload of NaNs. Sums of a segment depend
//!   on its first and last row. The error of a sum is at most `1.01 * d * u` times the sum of magnitudes, where `d` is
//!   [`ReducePlan::rounding_depth`] and `u` is 2^-24 for f32 and 2^-53 for f64.
//! * Integer sums and products wrap. A minimum or maximum of elements that include a NaN is an unspecified NaN; -0 is
//!   less than +0.
//! * The index of a minimum or maximum is the index of the first of equals: of the first NaN, if there is one; -0 equals
//!   +0. Of both, the indices of all minima are followed by the indices of all maxima.
//! * The result of no rows is the operator's identity, and the index `u32::MAX`. A sum of nothing but -0 is 0.

mod by_key;
mod config;
mod modules;
mod policy;
mod rows;
mod segmented;
mod whole;

pub use config::{ReduceBuffers, ReduceConfig, ReduceRuns};
pub use policy::{ReduceByKeyAlgorithm, ReducePolicy};

use std::ffi::CStr;

use super::Count;
use super::plan::{Plan, Primitive, Recordable};
use crate::device::{Access, Device};
use crate::error::{Result, at_most};
use by_key::ByKey;
use rows::AlongRows;
use segmented::Segmented;
use whole::Whole;

/// Plan of a reduction.
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::reduce::{ReduceBuffers, ReduceConfig, ReducePlan};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let (values, sum) = (gpu.allocate_with(&[3, 1, 4, 1, 5])?, gpu.allocate(4)?);
/// let plan = ReducePlan::new(gpu.device(), ReduceConfig::sum(ElementType::U32))?;
/// let scratch = gpu.allocate(plan.scratch_requirements(5).size)?;
/// let buffers = ReduceBuffers::new(values.addresses(), sum.addresses(), scratch.range());
/// // SAFETY: the memory is this device's, and alive until `submit` has waited.
/// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, 5)) }?;
/// assert_eq!(gpu.read(&sum, 1)?, [14]);
/// # Ok::<(), subsweep::Error>(())
/// ```
pub type ReducePlan = Plan<Reduce>;

/// The primitive of a [`ReducePlan`], and its algorithm.
///
/// | memory | bytes | first access | last access |
/// |---|---|---|---|
/// | `source` | `count * source_size` | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `destination` | a row for each result; `4 * columns` for indices, and for both twice as much | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | `segments`: offsets; `segment_ends` | 4 for each segment | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `segments`: keys | 4 per row; 8 for 64-bit keys | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `unique_keys` | as the keys | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | `run_count` | 4 | COMPUTE_SHADER write | COMPUTE_SHADER read; in a single pass write |
/// | indirect count | 4 | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `scratch` | below | TRANSFER or COMPUTE_SHADER write | COMPUTE_SHADER, DRAW_INDIRECT read; in a single pass write |
///
/// Ranges that are only read may overlap each other. Faster if `source` is aligned to 16. Elements of 8 and 16 bits are read as they
/// are, faster if `source` is aligned to 4, except for runs of keys. So results of segments are written, by atomic operations.
///
/// | scratch for | bytes |
/// |---|---|
/// | a reduction of all rows | a row per tile, of 4,096 words by default, or elements of less; for indices also 4 per column; for both, and of elements of less, of half as many, and for both twice as much |
/// | segments | a row for each 31 rows, of elements of 8 and 16 bits in words; none below 32 rows |
/// | runs of keys | also 4 per row and 4 for each tile of [`ReducePolicy::heads`] |
/// | runs of keys in a single pass | 16, and 16 for each tile, of 64-bit elements 24 |
/// | rows of a table | a number for each tile, of 16 KiB by default, of a longer row; for indices also 4 |
/// | an indirect count | 32 per level of tiles; of runs of keys 32 more |
///
/// | reduction of | bytes read | commands |
/// |---|---|---|
/// | all rows | the source once | a dispatch per level of tiles: two up to 2^24 words |
/// | segments | the source once or twice | a dispatch from 32 rows on, another from each 1024 times as many on, and one |
/// | runs of keys | the source once or twice, the keys twice | three more dispatches |
/// | runs of keys in a single pass | the source and the keys once | a fill, one dispatch |
/// | rows of a table | the source once | one dispatch up to 4096 words in a row, two up to 2^24 |
///
/// With barriers between them. Runs of keys are reduced in a single pass where workgroups make progress, if the results do
/// not depend on the order of operations: all but sums and products of floats, of a built-in operator, in one column. An
/// indirect count adds a dispatch where there is a tile, and another for runs of keys. A count
/// of 0 records the dispatch that writes the result: identities, or a `run_count` of 0; along rows it has no results and
/// records nothing.
///
/// At most 2^32 - 1 rows for segments, runs and indices, and 2^32 - 1 columns of segments, or of rows with keys; otherwise
/// 2^32 - 1 tiles (columns of tiles for rows of 3 columns, or wider than 16 bytes), and the workgroups of a two-dimensional
/// dispatch. By tiles of heads of t keys, at most 65,535 * t^2 keys: below 2^30 for t = 128. The results are in `destination`;
/// `source` is unchanged.
#[derive(Debug)]
pub struct Reduce(Box<dyn Strategy>);

/// An algorithm of a reduction.
trait Strategy: Recordable<Reduce> {
    /// Maximum number of operations between an element and a result of `count` rows.
    fn rounding_depth(&self, count: u64) -> u64;

    /// Times that a recording reads the keys.
    fn key_reads(&self) -> u64 {
        2
    }

    /// The first accesses of a recording.
    fn first_access(&self) -> Access {
        Access::COMPUTE
    }
}

impl Primitive for Reduce {
    type Config = ReduceConfig;
    type Policy = ReducePolicy;
    type Buffers = ReduceBuffers;
    type Count = Count;

    const LABEL: &'static CStr = c"subsweep reduce";

    fn declare(device: &Device, config: &ReduceConfig, policy: &ReducePolicy) -> Result<Self> {
        let strategy: Box<dyn Strategy> = match config.runs {
            None => Box::new(Whole::new(device, config, policy)?),
            Some(ReduceRuns::FixedSize(length)) => Box::new(AlongRows::new(device, config, policy, length)?),
            Some(runs) => match policy.heads {
                Some(tile) if config.has_keys() && policy.algorithm == ReduceByKeyAlgorithm::Chained => {
                    Box::new(ByKey::new(device, config, policy, runs, tile)?)
                }
                _ => Box::new(Segmented::new(device, config, policy, runs)?),
            },
        };
        Ok(Self(strategy))
    }

    fn algorithms(&self) -> impl Iterator<Item = &dyn Recordable<Self>> {
        std::iter::once(&*self.0 as _)
    }

    fn algorithm(&self, _: &ReduceConfig, _: u64) -> Option<&dyn Recordable<Self>> {
        // No rows have a result, too.
        Some(&*self.0)
    }

    fn check_count(&self, config: &ReduceConfig, count: u64) -> Result<()> {
        match (config.is_index(), config.runs) {
            (true, _) => at_most(count, u32::MAX.into(), "indices of 32 bits"),
            (false, Some(_)) => at_most(count, u32::MAX.into(), "a reduction of segments"),
            (false, None) => Ok(()),
        }
    }

    fn first_access(&self, _: &ReduceConfig) -> Access {
        self.0.first_access()
    }
}

impl ReducePlan {
    /// Maximum number of operations between an element and a result of `count` rows. The error bound of a sum of floats
    /// is proportional to it.
    pub fn rounding_depth(&self, count: u64) -> u64 {
        self.primitive.0.rounding_depth(count)
    }

    /// Bytes of rows that a recording of `count` rows reads at least, and of the keys of runs.
    pub fn traffic_size(&self, count: u64) -> u64 {
        let config = self.unpacked_config();
        let key_size = config.runs.map_or(0, ReduceRuns::key_size);
        let own = count.saturating_mul(config.source_size() + self.primitive.0.key_reads() * key_size);
        own.saturating_add(self.packing_size(count))
    }
}
