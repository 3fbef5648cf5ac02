//! CPU references: oracles and pass models. This floor imports nothing else of the crate.
//!
//! An *oracle* is the naive loop for one primitive and shares nothing with the kernels: it decides whether a
//! result is right. A *pass model* computes the writes of one pass, and so finds the pass that went wrong. It
//! knows the pass and the number of elements in a tile, but no lanes, subgroups or workgroup shape.

mod element;
pub mod oracle;
pub mod packed;
pub mod passes;

pub use element::{Add, And, Element, Max, Min, Mul, Operator, Or, Row, Xor};
