//! Self-test of a device: the subgroup, shared memory and atomic operations that every kernel relies on.
//!
//! A driver may report subgroups that it does not execute. An embedder tests its device once for a driver build: records
//! [`SelfTest::cmd_record`], submits, waits, and reads the verdict.

use std::fmt;

use ash::vk;

use super::{Barrier, BufferRange, Device, Pipeline, PipelineOptions, Recorder, push};
use crate::error::Result;
use crate::kernels;

/// The self-test of a device: one pipeline, one small dispatch.
#[derive(Debug)]
pub struct SelfTest {
    pipeline: Pipeline,
    device: Device,
}

/// The failed checks of a device, by name; empty if all passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelfTestVerdict {
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
    /// Bytes of the verdict in memory.
    pub const SIZE: u64 = 8;

    /// Creates the pipeline.
    ///
    /// # Errors
    /// Errors of [`Pipeline::new`].
    pub fn new(device: &Device) -> Result<Self> {
        let capabilities = device.capabilities();
        let lanes = capabilities.subgroup_size;
        let workgroup_size = capabilities.max_workgroup_invocations.min(256).max(lanes) / lanes * lanes;
        let options = PipelineOptions { workgroup_size, constants: &[], subgroup_size: None };
        let pipeline = Pipeline::new(device, kernels::PROBE_SELF_TEST.module(&[]), options)?;
        Ok(Self { pipeline, device: device.clone() })
    }

    /// Records a fill of `verdict`, a barrier and a dispatch. Begins with TRANSFER write, ends with COMPUTE_SHADER write, of
    /// `verdict`: [`Self::SIZE`] bytes of a buffer with `SHADER_DEVICE_ADDRESS` and `TRANSFER_DST`, aligned to 4. Leaves the
    /// compute pipeline and its push constants bound.
    ///
    /// # Errors
    /// [`RangeTooSmall`](crate::Error::RangeTooSmall) and [`Misaligned`](crate::Error::Misaligned) for `verdict`.
    ///
    /// # Safety
    /// `command_buffer` is of this device, of a queue family that supports compute, in the recording state outside of a
    /// render pass, and used by no other thread meanwhile. When the commands execute, `verdict` is bound memory of the
    /// device with the usage above, and this is alive.
    pub unsafe fn cmd_record(&self, command_buffer: vk::CommandBuffer, verdict: BufferRange) -> Result<()> {
        // SAFETY: as the caller promises.
        let mut recorder = unsafe { Recorder::new(&self.device, command_buffer) };
        self.record(&mut recorder, verdict)
    }

    /// As [`Self::cmd_record`], with a recorder of the caller. The conditions of [`Recorder::new`] apply.
    ///
    /// # Errors
    /// Errors of `cmd_record` and [`Recorder::dispatch`].
    pub fn record(&self, recorder: &mut Recorder<'_>, verdict: BufferRange) -> Result<()> {
        verdict.addresses().prefix("the verdict", Self::SIZE)?.aligned("the verdict", 4)?;
        let verdict = verdict.slice(0, Self::SIZE);
        let subgroup_size = self.device.capabilities().subgroup_size;
        recorder.fill(verdict, 0);
        recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
        let push = push::ProbeSelfTest { verdict: verdict.addresses(), subgroup_size };
        recorder.dispatch(&self.pipeline, &push, WORKGROUPS.into())
    }

    /// The verdict, from the two words in its memory.
    pub fn verdict(&self, [bits, counted]: [u32; 2]) -> SelfTestVerdict {
        let invocation_count = WORKGROUPS * self.pipeline.specialization().workgroup_size;
        SelfTestVerdict::new(bits, counted == invocation_count)
    }
}

impl SelfTestVerdict {
    fn new(bits: u32, is_counted: bool) -> Self {
        let checks =
            CHECKS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, check)| *check);
        let atomics = (!is_counted).then_some(ATOMICS);
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

impl fmt::Display for SelfTestVerdict {
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
mod tests;
