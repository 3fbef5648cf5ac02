//! Histogram.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::functions::functions;
use super::*;
use crate::histogram::{Histogram, HistogramBuffers, HistogramConfig, HistogramPlan, edge_words, even_edges};

/// Options of a histogram plan: several of SUBSWEEP_HISTOGRAM_..._BIT, or 0.
pub type SubsweepHistogramFlags = u32;
/// Recordings may have an indirect count, read from device memory.
pub const SUBSWEEP_HISTOGRAM_INDIRECT_COUNT_BIT: SubsweepHistogramFlags = 1;
/// Bins are of equal widths: faster. Other edges are right as well, and slower.
pub const SUBSWEEP_HISTOGRAM_EVEN_BIT: SubsweepHistogramFlags = 2;
/// A count is the sum of the weights of its bin, modulo 2^32.
pub const SUBSWEEP_HISTOGRAM_WEIGHTED_BIT: SubsweepHistogramFlags = 4;

/// The parameters of subsweep_histogram_plan_create.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepHistogramPlanCreateInfo {
    /// sizeof(SubsweepHistogramPlanCreateInfo).
    pub struct_size: u32,
    /// Options.
    pub flags: SubsweepHistogramFlags,
    /// The type of the values.
    pub element_type: SubsweepElementType,
    /// The number of bins, 1 to 65,536.
    pub bin_count: u32,
    /// The number of columns, 1 to 65,536: the values of a row. Each column has a histogram of its own. At most
    /// 2^28 columns times bins.
    pub column_count: u32,
    /// Functions whose key_of computes the values, of element_type, from elements that `source` has then, in one column; 0 for
    /// none.
    pub functions: SubsweepFunctions,
}

// SAFETY: numbers.
versioned!(unsafe SubsweepHistogramPlanCreateInfo, column_count, 20);

/// The memory and the count of one recording of a histogram.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepHistogramInfo {
    /// sizeof(SubsweepHistogramInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// The count of rows.
    pub count: SubsweepCount,
    /// The rows, of column_count values each.
    pub source: SubsweepAddressRange,
    /// The edges, bin_count + 1 of the type of the values, of types of 8 and 16 bits uint32_t, int32_t or float:
    /// subsweep_histogram_even_edges.
    pub edges: SubsweepAddressRange,
    /// With SUBSWEEP_HISTOGRAM_WEIGHTED_BIT in the plan the weight of each value, uint32_t or int32_t. Otherwise 0.
    pub weights: SubsweepAddressRange,
    /// The counts, uint32_t, or sums of weights: all bins of the first column, then the bins of the next.
    pub counts: SubsweepAddressRange,
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
    /// For a plan with functions: what they read besides; 0 if they read nothing.
    pub functions_data: SubsweepAddressRange,
}

// SAFETY: numbers and handles.
versioned!(unsafe SubsweepHistogramInfo, scratch, 128);

impl Exported for Histogram {
    const OTHER: &'static str = "the plan is not of a histogram";

    fn max_count(_: &Plan<Self>) -> u64 {
        HistogramPlan::MAX_COUNT
    }
}

/// Computes the edges of `bin_count` bins of equal widths from `low` to `high` for values of `element_type`, in host
/// memory: the edges of numpy.histogram, integers rounded up and the last one down. `edges` has room for bin_count + 1
/// numbers of 4 bytes, of types of 64 bits of 8.
///
/// Returns SUBSWEEP_ERROR_UNSUPPORTED for 0 or more than 65,536 bins, a range that is empty, not finite, or too
/// narrow for so many bins, and a bin that begins beyond the numbers of the type; SUBSWEEP_ERROR_UNKNOWN_VALUE,
/// SUBSWEEP_ERROR_NULL. Nothing is written then.
///
/// Threads: any, at any time.
///
/// # Safety
/// `edges` is null, or as many numbers may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_histogram_even_edges(
    element_type: SubsweepElementType,
    bin_count: u32,
    low: f64,
    high: f64,
    edges: *mut c_void,
) -> VkResult {
    result(|| {
        let edges = NonNull::new(edges.cast::<u8>()).ok_or(Failure::Null("edges"))?;
        let element = self::element_type("element_type", element_type)?;
        let words = edge_words(element, &even_edges(element, bin_count, [low, high])?)?;
        let reason = "a bin of the range has no numbers of the type; narrow the range";
        refuse_if(words.len() as u64 != (u64::from(bin_count) + 1) * u64::from(element.words()), reason)?;
        // SAFETY: as the caller promises.
        unsafe { edges.as_ptr().copy_from_nonoverlapping(words.as_ptr().cast(), size_of_val(&words[..])) };
        Ok(())
    })
}

/// Creates a histogram plan.
///
/// Scratch: none, or 32 bytes with an indirect count.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for a number of bins or columns out of range.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_histogram_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepHistogramPlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    let config = |_: &Device, info: &SubsweepHistogramPlanCreateInfo| {
        let known = SUBSWEEP_HISTOGRAM_INDIRECT_COUNT_BIT
            | SUBSWEEP_HISTOGRAM_EVEN_BIT
            | SUBSWEEP_HISTOGRAM_WEIGHTED_BIT;
        let flags = flags("SubsweepHistogramFlags", info.flags, known)?;
        let element = element_type("element_type", info.element_type)?;
        let of_bins = match flags & SUBSWEEP_HISTOGRAM_EVEN_BIT {
            0 => HistogramConfig::by_edges,
            _ => HistogramConfig::even,
        };
        let config = of_bins(element, info.bin_count).columns(info.column_count);
        let config = functions(info.functions)?.map_or(config, |functions| config.computed(functions));
        Ok(options!(config, flags, SUBSWEEP_HISTOGRAM_INDIRECT_COUNT_BIT => indirect_count,
            SUBSWEEP_HISTOGRAM_WEIGHTED_BIT => weighted))
    };
    // SAFETY: as the caller promises.
    unsafe { create_plan::<Histogram, _>(device, info, plan, config) }
}

/// Records the histogram of `info->count` rows.
///
/// 3. Commands: a dispatch that clears the counts, a barrier, and a dispatch that counts; for an indirect count one
///    more dispatch before the barrier, which is to indirect dispatches then.
/// 4. Limits: at most 2^32 - 1 rows. A count of 0, on the host or indirect, gives counts of 0.
/// 5. Result: in `counts`; bin i has the values from edge i on and below edge i + 1, and the last bin its upper
///    edge as well. Other values and NaNs are not counted; -0 equals 0.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_histogram(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepHistogramInfo,
) -> VkResult {
    let buffers = |info: &SubsweepHistogramInfo| {
        flags("SubsweepHistogramInfo.flags", info.flags, 0)?;
        Ok((
            buffers!(info, HistogramBuffers { source, edges, weights, counts, functions_data }),
            info.count.checked()?,
        ))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<Histogram, _>(plan, command_buffer, info, buffers) }
}
