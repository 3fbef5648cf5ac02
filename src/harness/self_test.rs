//! Self-test of a device: the subgroup, shared memory and atomic operations that every kernel relies on.

use std::fmt;

use crate::device::{Barrier, Pipeline, PipelineOptions, Recorder, push};
use crate::error::Result;
use crate::headless::Gpu;
use crate::kernels;

/// The failed checks of a device, by name; empty if all passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelfTest {
    failed: Vec<&'static str>,
}

/// The checks, by their bit in `glsl/probe/self_test.comp`.
const CHECKS: [&str; 7] = [
    "subgroup size",
    "lane order",
    "subgroup votes",
    "subgroup arithmetic",
    "subgroup ballots",
    "subgroup shuffles",
    "shared memory",
];
const ATOMICS: &str = "atomics across workgroups";

const WORKGROUPS: u32 = 61;

impl SelfTest {
    /// Runs the checks.
    ///
    /// # Errors
    /// Those of [`Pipeline::new`], [`Gpu::allocate`] and [`Gpu::submit`].
    pub fn run(gpu: &Gpu) -> Result<Self> {
        let capabilities = gpu.capabilities();
        let lanes = capabilities.subgroup_size;
        let workgroup_size = capabilities.max_workgroup_invocations.min(256).max(lanes) / lanes * lanes;
        let options = PipelineOptions { workgroup_size, constants: &[], subgroup_size: None };
        let pipeline = Pipeline::new(gpu.device(), kernels::PROBE_SELF_TEST.module(&[]), options)?;
        let memory = gpu.allocate(8)?;
        let verdict = memory.range().slice(0, 8);
        let push = push::ProbeSelfTest { verdict: verdict.addresses(), subgroup_size: lanes };
        let record = |recorder: &mut Recorder<'_>| {
            recorder.fill(verdict, 0);
            recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
            recorder.dispatch(&pipeline, &push, WORKGROUPS.into())
        };
        // SAFETY: the memory and the pipeline are of this device and live until `submit` has waited.
        unsafe { gpu.submit(record) }?;
        let mut words = [0; 2];
        gpu.download(&memory, &mut words)?;
        Ok(Self::of_verdict(words, WORKGROUPS * workgroup_size))
    }

    fn of_verdict([bits, counted]: [u32; 2], invocation_count: u32) -> Self {
        let checks =
            CHECKS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, check)| *check);
        let atomics = (counted != invocation_count).then_some(ATOMICS);
        Self { failed: checks.chain(atomics).collect() }
    }

    /// Whether all checks passed.
    pub fn is_passed(&self) -> bool {
        self.failed.is_empty()
    }

    /// The names of the failed checks.
    pub fn failed(&self) -> &[&'static str] {
        &self.failed
    }
}

impl fmt::Display for SelfTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failed[..] {
            [] => write!(f, "passed"),
            failed => {
                write!(f, "FAILED: {}; results cannot be trusted, try another driver", failed.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_names_every_check_that_failed() {
        assert!(SelfTest::of_verdict([0, 64], 64).is_passed());
        let failed = SelfTest::of_verdict([1 << 1 | 1 << 6, 63], 64);
        assert_eq!(failed.failed(), ["lane order", "shared memory", "atomics across workgroups"]);
        assert!(failed.to_string().starts_with("FAILED: lane order, shared memory"));
    }
}
