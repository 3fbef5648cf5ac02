//! Prefix sums and radix sorts for Vulkan.

pub mod kernels;
