//! The C ABI. `include/subsweep.h` is generated from this folder.
//!
//! The header is the contract. Each function forwards to a plan and adds only the boundary checks: pointers for
//! null, numbers for known values, structures for their size; no panic crosses into C. Doc comments are for
//! readers of C and use the header's names.

mod boundary;
mod device;
mod difference;
mod gather;
mod histogram;
mod merge;
mod plan;
mod reduce;
mod requirements;
mod result;
mod run_length;
mod scan;
mod scan_config;
mod search;
mod segmented_sort;
mod select;
mod sort;
mod top_k;
mod types;
mod version;
mod vulkan;

pub use device::*;
pub use difference::*;
pub use gather::*;
pub use histogram::*;
pub use merge::*;
pub use plan::*;
pub use reduce::*;
pub use requirements::*;
pub use result::*;
pub use run_length::*;
pub use scan::*;
pub use scan_config::*;
pub use search::*;
pub use segmented_sort::*;
pub use select::*;
pub use sort::*;
pub use top_k::*;
pub use types::*;
pub use version::*;

/// The thread rules of the header require `Send + Sync` behind each pointer.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<SubsweepDevice>();
    is_shared::<SubsweepPlan>();
};

#[cfg(test)]
mod tests {
    use super::boundary::Versioned;
    use super::*;

    /// Compiled programs pass these sizes: an appended field must not change them.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn the_first_sizes_are_those_of_the_first_header() {
        let sizes = [
            (SubsweepDeviceCreateInfo::FIRST_SIZE, 48),
            (SubsweepScanPlanCreateInfo::FIRST_SIZE, 40),
            (SubsweepScanInfo::FIRST_SIZE, 144),
            (SubsweepSortPlanCreateInfo::FIRST_SIZE, 32),
            (SubsweepSortInfo::FIRST_SIZE, 128),
            (SubsweepSegmentedSortInfo::FIRST_SIZE, 160),
            (SubsweepGatherPlanCreateInfo::FIRST_SIZE, 12),
            (SubsweepGatherInfo::FIRST_SIZE, 112),
            (SubsweepSelectPlanCreateInfo::FIRST_SIZE, 36),
            (SubsweepSelectInfo::FIRST_SIZE, 224),
            (SubsweepHistogramPlanCreateInfo::FIRST_SIZE, 20),
            (SubsweepHistogramInfo::FIRST_SIZE, 112),
            (SubsweepReducePlanCreateInfo::FIRST_SIZE, 24),
            (SubsweepReduceInfo::FIRST_SIZE, 144),
            (SubsweepRunLengthPlanCreateInfo::FIRST_SIZE, 16),
            (SubsweepRunLengthInfo::FIRST_SIZE, 144),
            (SubsweepSearchPlanCreateInfo::FIRST_SIZE, 12),
            (SubsweepSearchInfo::FIRST_SIZE, 128),
            (SubsweepMergePlanCreateInfo::FIRST_SIZE, 16),
            (SubsweepMergeInfo::FIRST_SIZE, 176),
            (SubsweepDifferencePlanCreateInfo::FIRST_SIZE, 16),
            (SubsweepDifferenceInfo::FIRST_SIZE, 96),
            (SubsweepTopKPlanCreateInfo::FIRST_SIZE, 24),
            (SubsweepTopKInfo::FIRST_SIZE, 144),
        ];
        for (size, first) in sizes {
            assert_eq!(size, first);
        }
    }
}
