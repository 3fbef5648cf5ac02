//! Prefix sums (scan), radix sorts and stream primitives for Vulkan.
//!
//! Floors, from the lowest: [`kernels`], the compiled shaders and their interfaces; [`device`], what every primitive
//! needs of Vulkan; the primitives, such as [`scan`] and [`sort`]: plans that record into the caller's command buffer; and, with
//! the feature `headless`, a device of its own with safe calls on slices; with the feature `mpi`, many of them. [`embedding`]
//! describes how to record plans among other commands. The feature `capi` has the same plans for C; the feature `textbook` adds the scans of
//! textbooks and of the seed, to be studied and compared.

// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// First: the others use its macros.
#[macro_use]
mod macros;

#[cfg(feature = "capi")]
pub mod capi;
#[cfg(feature = "mpi")]
pub mod cluster;
pub mod device;
mod element;
pub mod error;
#[cfg(feature = "headless")]
pub mod headless;
pub mod kernels;
mod primitives;
mod printable;
#[cfg(feature = "headless")]
mod reading;
mod threads;

/// What the program of this repository takes besides, which is no part of the interface.
#[doc(hidden)]
pub mod internal {
    pub use crate::device::architecture::HONEYKRISP;
    pub use crate::device::push_constants::push;
    pub use crate::device::statistics::statistics_of;
    pub use crate::named;
    pub use crate::primitives::sort::tuning::can_be_row;
    pub use crate::printable::printable;
    #[cfg(feature = "headless")]
    pub use crate::reading::read_full;
    pub use crate::threads::on_threads;
}

pub use ash;
pub use error::{Error, Result};
pub use kernels::GLSL;
pub use primitives::*;

#[cfg(any(doc, doctest))]
#[doc = include_str!("../docs/embedding.md")]
pub mod embedding {}

#[cfg(all(doctest, feature = "headless"))]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(all(doctest, feature = "headless"))]
#[doc = include_str!("../docs/headless.md")]
struct Headless;

#[cfg(all(doctest, feature = "mpi"))]
#[doc = include_str!("../docs/cluster.md")]
struct OverRanks;
