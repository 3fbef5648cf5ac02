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
