//! The C ABI: `include/subsweep.h`, made from this folder.
//!
//! What the header says is the contract; a function here is that of the plan it calls, and adds nothing but the border:
//! pointers are checked for null, numbers for what they may be, structures for their size, and no panic leaves. Documentation
//! is for readers of C, so it names things as the header does.

mod boundary;
mod device;
mod gather;
mod requirements;
mod result;
mod scan;
mod scan_config;
mod segmented_sort;
mod sort;
mod types;
mod version;
mod vulkan;

pub use device::*;
pub use gather::*;
pub use requirements::*;
pub use result::*;
pub use scan::*;
pub use scan_config::*;
pub use segmented_sort::*;
pub use sort::*;
pub use types::*;
pub use version::*;

/// What the header says of threads holds of what is behind each pointer.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<SubsweepDevice>();
    is_shared::<SubsweepScanPlan>();
    is_shared::<SubsweepSortPlan>();
    is_shared::<SubsweepSegmentedSortPlan>();
    is_shared::<SubsweepGatherPlan>();
};

#[cfg(test)]
mod tests {
    use super::boundary::Versioned;
    use super::*;

    /// Programs give these sizes for ever: a field that is appended changes none of them.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn the_first_sizes_are_those_of_the_first_header() {
        let sizes = [
            (SubsweepDeviceCreateInfo::FIRST_SIZE, 48),
            (SubsweepScanPlanCreateInfo::FIRST_SIZE, 40),
            (SubsweepScanInfo::FIRST_SIZE, 144),
            (SubsweepSortPlanCreateInfo::FIRST_SIZE, 32),
            (SubsweepSortInfo::FIRST_SIZE, 96),
            (SubsweepSegmentedSortInfo::FIRST_SIZE, 128),
            (SubsweepGatherPlanCreateInfo::FIRST_SIZE, 12),
            (SubsweepGatherInfo::FIRST_SIZE, 112),
        ];
        for (size, first) in sizes {
            assert_eq!(size, first);
        }
    }
}
