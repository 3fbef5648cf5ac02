//! Compute shaders of other programs, from SPIR-V, for comparison with the kernels.

mod module;
mod pipeline;
mod resources;
#[cfg(test)]
mod tests;

pub use module::{ForeignModule, ModuleError, SpecializedModule};
