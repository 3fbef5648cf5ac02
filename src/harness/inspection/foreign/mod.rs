//! Compute shaders of others, from SPIR-V, so that they can stand beside the kernels.

mod module;
mod pipeline;
#[cfg(test)]
mod tests;

pub use module::{ForeignModule, ModuleError, SpecializedModule};
