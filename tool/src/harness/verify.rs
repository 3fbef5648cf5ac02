//! Verification of a device against the oracle, case by case.

use std::fmt;

use super::cases::Case;
use super::layout::BufferLayout;
use super::workload::{Mismatch, Workload};
use subsweep::error::{Error, Result};
use subsweep::headless::Gpu;

/// The outcome of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Correct in two runs, with no store outside of the ranges.
    Pass,
    /// A wrong result or an error.
    Fail(Failure),
    /// Not supported by the device, or by a policy on it. Counted as skipped.
    NotSupported(String),
}

/// Why a case failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// A wrong word in the result or in memory around it.
    Wrong {
        /// The run of the case, from 1.
        run: u32,
        /// The seed of the input's random numbers.
        seed: u64,
        /// The first wrong word.
        mismatch: Mismatch,
    },
    /// An unexpected error.
    Error(Error),
}

impl Outcome {
    /// The outcome of a case that returned an error.
    ///
    /// # Errors
    /// The error itself if [`Error::is_fatal`]: the device is unusable.
    pub fn of_error(error: Error) -> Result<Self> {
        match error {
            error if error.is_fatal() => Err(error),
            error @ (Error::PolicyExceedsLimits { .. }
            | Error::OutOfDeviceMemory { needed: Some(_), .. }
            | Error::OutOfHostMemory { needed: Some(_), .. }
            | Error::TooManyElements { .. }
            | Error::MissingFeature { .. }) => Ok(Self::NotSupported(error.to_string())),
            error => Ok(Self::Fail(Failure::Error(error))),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => write!(f, "pass"),
            Self::Fail(reason) => write!(f, "FAIL: {reason}"),
            Self::NotSupported(reason) => write!(f, "not supported: {reason}"),
        }
    }
}

/// Runs a case twice, the second time with the scratch contents of the first run.
///
/// # Errors
/// Only errors that are [`Error::is_fatal`]. Every other failure is an [`Outcome`].
pub fn verify_case(gpu: &Gpu, case: &Case) -> Result<Outcome> {
    verify_case_in(gpu, case, BufferLayout::Guarded)
}

/// [`verify_case`] with another memory layout.
///
/// # Errors
/// Errors of [`verify_case`].
pub fn verify_case_in(gpu: &Gpu, case: &Case, layout: BufferLayout) -> Result<Outcome> {
    match run_twice(gpu, case, layout) {
        Ok(None) => Ok(Outcome::Pass),
        Ok(Some(failure)) => Ok(Outcome::Fail(failure)),
        Err(error) => Outcome::of_error(error),
    }
}

fn run_twice(gpu: &Gpu, case: &Case, layout: BufferLayout) -> Result<Option<Failure>> {
    let workload = Workload::new(gpu, case, layout)?;
    for run in 1..=2 {
        workload.restore()?;
        workload.run()?;
        if let Some(mismatch) = workload.check()? {
            return Ok(Some(Failure::Wrong { run, seed: case.seed(), mismatch }));
        }
    }
    Ok(None)
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong { run, seed, mismatch } => write!(f, "run {run}: {mismatch}; seed {seed}"),
            Self::Error(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, index, expected, got } = self;
        write!(f, "{what}[{index}] is {got} ({got:#010x}), expected {expected} ({expected:#010x})")
    }
}
