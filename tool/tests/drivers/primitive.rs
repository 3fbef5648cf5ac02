//! What a primitive adds to the tests that all primitives have.

use libtest_mimic::Failed;
use subsweep::device::{Capabilities, Device};
use subsweep::headless::Gpu;
use subsweep::{Plan, Result};
use subsweep_tool::harness::PlanConfig;

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
    pub subjects: fn(&Device, Room) -> Result<Vec<Subject>>,
    /// Work into which faults are injected.
    pub phases: &'static [Phase],
}

/// Records a plan into a command buffer, and runs it. The memory is this device's.
pub fn run<P: subsweep::Primitive>(
    gpu: &Gpu,
    plan: &Plan<P>,
    buffers: &P::Buffers,
    count: impl Into<P::Count>,
) -> Result<()> {
    // SAFETY: the memory lives until `submit` has waited.
    unsafe { gpu.submit(|recorder| plan.cmd_record(recorder.command_buffer(), buffers, count)) }.map(drop)
}

/// The outcome of work into which faults are injected: an error of the library, unless its result is not `expected`.
pub fn outcome<T, E>(result: Result<T>, expected: &E) -> Result<Result<()>, Failed>
where
    T: PartialEq<E>,
{
    match result {
        Ok(result) if result == *expected => Ok(Ok(())),
        Ok(_) => Err("the result is wrong".into()),
        Err(error) => Ok(Err(error)),
    }
}

/// Words in memory.
pub fn bytes(words: &[u32]) -> &[u8] {
    bytemuck::cast_slice(words)
}

/// The bits of floats, which distinguish zeros and NaNs.
pub fn bits(floats: &[f32]) -> &[u32] {
    bytemuck::cast_slice(floats)
}
