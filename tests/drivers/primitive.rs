//! What a primitive adds to the tests that all primitives have.

use subsweep::device::{Capabilities, Device};
use subsweep::harness::PlanConfig;

use super::embedding::contract::{Room, Subject};
use super::faults::work::Phase;
use super::passes::Check;

/// The parts of a primitive.
pub struct Primitive {
    /// The pass check of one of its kernels, by the kernel's name and variant.
    pub check: fn(&str, &str) -> Option<Check>,
    /// Plans of every kernel that default policies choose.
    pub default_plans: fn(&Capabilities) -> Vec<PlanConfig>,
    /// Plans of each kind with a recording, with direct and indirect counts.
    pub subjects: fn(&Device, Room) -> subsweep::Result<Vec<Subject>>,
    /// Work into which faults are injected.
    pub phases: &'static [Phase],
}
