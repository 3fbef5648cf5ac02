//! Holding a device to the oracle, case by case.

use std::fmt;

use super::cases::Case;
use super::layout::Layout;
use super::workload::{Mismatch, Workload};
use crate::error::{Error, Result};
use crate::headless::Gpu;

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Right, twice in a row, with nothing touched beside it.
    Pass,
    /// Wrong.
    Fail(Failure),
    /// The device, or a policy on it, cannot do this: counted, never hidden.
    NotSupported(String),
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// A result, or memory beside it.
    Wrong {
        /// In which run of the case, from 1.
        run: u32,
        /// What the random numbers of the input began with.
        seed: u64,
        /// The first word at fault.
        mismatch: Mismatch,
    },
    /// An error where there should be none.
    Error(Error),
}

impl Outcome {
    /// How a case ended that could not be carried through.
    ///
    /// # Errors
    /// The error itself, where nothing more can be tried on the device: see [`Error::is_fatal`].
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

/// Runs a case twice, the second time with the scratch that the first left behind.
///
/// # Errors
/// Those of which [`Error::is_fatal`] says that nothing more can be tried on the device. Every other failure is an
/// [`Outcome`].
pub fn verify_case(gpu: &Gpu, case: &Case) -> Result<Outcome> {
    verify_case_in(gpu, case, Layout::Guarded)
}

/// The same as [`verify_case`], with memory that is laid out otherwise.
///
/// # Errors
/// Those of [`verify_case`].
pub fn verify_case_in(gpu: &Gpu, case: &Case, layout: Layout) -> Result<Outcome> {
    match run_twice(gpu, case, layout) {
        Ok(None) => Ok(Outcome::Pass),
        Ok(Some(failure)) => Ok(Outcome::Fail(failure)),
        Err(error) => Outcome::of_error(error),
    }
}

fn run_twice(gpu: &Gpu, case: &Case, layout: Layout) -> Result<Option<Failure>> {
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
