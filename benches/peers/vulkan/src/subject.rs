//! What is measured: an implementation's work on one input.

use std::rc::Rc;

use anyhow::Result;
use subsweep::device::{BufferRange, Recorder};
use subsweep::headless::Gpu;
use subsweep_tool::harness::{BufferLayout, Case, CopyRoof, Mismatch, Workload};

use crate::work::{Columns, Work};

/// The name and build of an implementation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Implementation {
    /// The name in tables and of the report's file.
    pub name: &'static str,
    pub version: String,
    /// The compiler of its kernels to SPIR-V.
    pub compiler: String,
}

/// One implementation's work on one input.
pub trait Subject {
    /// Nanoseconds of GPU time of runs, all in one submission, each of the input as it was at first.
    fn times(&mut self, run_count: u32) -> Result<Vec<f64>>;

    /// The first wrong word of the last run.
    fn mismatch(&mut self) -> Result<Option<Mismatch>>;

    /// The policy or tuning, as text.
    fn policy(&self) -> String;
}

/// An implementation's works.
pub trait Implementer {
    fn implementation(&self) -> &Implementation;

    /// Its subject for a work on an input; `None` if it does not do the work.
    fn subject<'s>(&'s self, task: &Task) -> Result<Option<Box<dyn Subject + 's>>>;
}

/// A case with its input and expected result.
pub struct Task {
    pub work: Work,
    pub case: Case,
    pub input: Columns,
    pub expected: Rc<Columns>,
}

/// Subsweep's own case, as `bench` measures it.
pub struct Ours<'g> {
    roof: &'g CopyRoof<'g>,
    workload: Workload<'g>,
}

impl<'g> Ours<'g> {
    pub fn new(gpu: &'g Gpu, roof: &'g CopyRoof<'g>, case: &Case) -> Result<Self> {
        let workload = Workload::new(gpu, case, BufferLayout::Guarded)?;
        // A scan's source, which no run restores.
        workload.restore()?;
        Ok(Self { roof, workload })
    }

    /// Bytes of elements that our algorithm reads and writes.
    pub fn traffic_size(&self) -> u64 {
        self.workload.traffic_size()
    }
}

impl Subject for Ours<'_> {
    fn times(&mut self, run_count: u32) -> Result<Vec<f64>> {
        let restore = |recorder: &mut Recorder<'_>, replaced: &[[BufferRange; 2]]| {
            replaced.iter().try_for_each(|[from, to]| self.roof.kernel.record(recorder, *from, *to))
        };
        Ok(self.workload.time(run_count, restore)?)
    }

    fn mismatch(&mut self) -> Result<Option<Mismatch>> {
        Ok(self.workload.check()?)
    }

    fn policy(&self) -> String {
        self.workload.policy().to_owned()
    }
}
