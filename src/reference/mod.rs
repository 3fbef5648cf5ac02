//! What is right, on the CPU: oracles and pass models. The floor imports nothing of the crate.
//!
//! An *oracle* is the naive loop for one primitive, and shares nothing with the kernels: it says whether a result is
//! right. A *pass model* says what one pass must have written, and so which pass went wrong. It knows the pass and the
//! number of elements in a tile, and no lanes, subgroups or shape of a workgroup.
//!
//! [`workgroup_scan`] alone goes through a kernel's steps: it counts the operations that the textbooks state.

mod element;
pub mod oracle;
pub mod passes;
pub mod workgroup_scan;

pub use element::{Add, And, Element, Max, Min, Mul, Operator, Or, Row, Xor};
