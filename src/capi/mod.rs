//! The C ABI. `include/subsweep.h` is generated from this folder.
//!
//! The header is the contract. Each function forwards to a plan and adds only the boundary checks: pointers for
//! null, numbers for known values, structures for their size; no panic crosses into C. Doc comments are for
//! readers of C and use the header's names.

mod boundary;
mod device;
mod difference;
mod functions;
mod gather;
#[cfg(feature = "headless")]
mod gpu;
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
mod structure_sort;
mod top_k;
mod types;
mod version;
mod vulkan;

pub use device::*;
pub use difference::*;
pub use functions::*;
pub use gather::*;
#[cfg(feature = "headless")]
pub use gpu::*;
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
pub use structure_sort::*;
pub use top_k::*;
pub use types::*;
pub use version::*;

// For the files of the primitives, beside the items of the others.
use boundary::{Result, borrow, buffers, options, result, text, value, versioned};
use vulkan::{VkBool32, VkCommandBuffer, VkResult};

use crate::device::Device;
use crate::error::{Error, refuse_if};
use crate::primitives::{FloatOrder, Plan};

/// The thread rules of the header require `Send + Sync` behind each pointer.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<SubsweepDevice>();
    is_shared::<SubsweepPlan>();
    #[cfg(feature = "headless")]
    is_shared::<SubsweepGpu>();
};
