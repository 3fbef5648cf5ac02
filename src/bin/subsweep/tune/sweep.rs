//! Measurement of shapes: all of them briefly, the best in rounds, and the best rows on every input. Without a run
//! all are compiled only.

use std::collections::HashSet;

use anyhow::Result;
use serde::Serialize;
use subsweep::Error;
use subsweep::device::{Capabilities, Device};
use subsweep::harness::{
    BenchGroup, BenchOptions, Case, CopyRoof, Measured, Outcome, PipelineSet, PlanConfig, TunedShape,
};
use subsweep::headless::Gpu;

use super::distinct;
use super::plan::Plan;
use super::rows::{Figure, Rows};
use super::static_rank::figure_of;
use crate::bench;
use crate::error::Ended;
use crate::words::Progress;

/// Largest number of shapes that are measured alternately; their plans and memory are freed between groups.
const GROUP_SIZE: usize = 16;

/// How shapes are ranked.
#[derive(Clone, Copy)]
pub enum Measure<'a> {
    /// By a run, beside a copy.
    Run(&'a Gpu, &'a CopyRoof<'a>),
    /// By compilation.
    Compile(&'a Device),
}

impl<'a> Measure<'a> {
    /// Capabilities of the device.
    pub fn capabilities(&self) -> &'a Capabilities {
        match self {
            Self::Run(gpu, _) => gpu.capabilities(),
            Self::Compile(device) => device.capabilities(),
        }
    }
}

/// A sweep over the shapes of a plan.
pub struct Sweep<'a> {
    measure: Measure<'a>,
    plan: &'a Plan,
    /// Outcomes of the shapes.
    pub tally: Tally,
}

/// Outcomes of shapes without a measurement.
#[derive(Debug, Default)]
pub struct Tally {
    /// Shapes that were tried on any input.
    tried: HashSet<TunedShape>,
    /// Reasons of refused shapes.
    pub refused: Vec<Refusal>,
    /// Cases that were wrong.
    pub wrong: Vec<Wrong>,
}

/// A reason of refusal. The field names are those of `--json`, and stable.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The reason, in words that many shapes share.
    pub reason: String,
    /// Number of refusals.
    pub count: u64,
}

/// A case with a wrong result. The field names are those of `--json`, and stable.
#[derive(Debug, Serialize)]
pub struct Wrong {
    /// The case.
    pub id: String,
    /// The outcome.
    pub outcome: String,
}

impl Tally {
    /// Number of shapes that were tried on any input.
    pub fn tried(&self) -> usize {
        self.tried.len()
    }

    /// Whether all shapes were right.
    ///
    /// # Errors
    /// A shape was wrong, or none could be tried.
    pub fn verdict(&self, rows: &Rows) -> Result<(), Ended> {
        if let [Wrong { id: first, .. }, ..] = &self.wrong[..] {
            let (wrong, count) = (self.wrong.len(), self.tried());
            return Err(Ended::wrong(format!("{wrong} of {count} shapes gave a wrong result: {first}")));
        }
        if rows.0.is_empty() {
            let reason = self.refused.first().map_or("there are none", |refusal| &refusal.reason);
            let text = format!("the library or the device takes none of these shapes: {reason}; try others");
            return Err(Ended::unable(text));
        }
        Ok(())
    }

    fn refuse(&mut self, reason: String) {
        match self.refused.iter_mut().find(|refusal| refusal.reason == reason) {
            Some(refusal) => refusal.count += 1,
            None => self.refused.push(Refusal { reason, count: 1 }),
        }
    }

    /// Records the outcome of a case; returns its figure if it was right and measured.
    fn take(&mut self, shape: TunedShape, input: usize, id: String, measured: Measured) -> Option<Figure> {
        match measured {
            Ok(measurement) => {
                self.tried.insert(shape);
                Some(Figure::new(shape, input, &measurement))
            }
            Err(Outcome::NotSupported(reason)) => {
                self.refuse(reason);
                None
            }
            Err(outcome @ (Outcome::Fail(_) | Outcome::Pass)) => {
                self.tried.insert(shape);
                self.wrong.push(Wrong { id, outcome: outcome.to_string() });
                None
            }
        }
    }
}

impl<'a> Sweep<'a> {
    /// A sweep without measurements.
    pub fn new(measure: Measure<'a>, plan: &'a Plan) -> Self {
        Self { measure, plan, tally: Tally::default() }
    }

    /// Measures all shapes, and ranks them.
    ///
    /// # Errors
    /// An error of the device that ends the sweep.
    pub fn run(&mut self) -> Result<Rows> {
        let capabilities = self.measure.capabilities();
        let current = self.plan.current(capabilities);
        let all = self.plan.shapes(capabilities);
        let mut seen = self.measure(&all, 0, self.plan.short_run(), "all shapes")?;
        seen.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut figures = match self.measure {
            Measure::Run(..) => {
                let best = seen.iter().take(self.plan.finalist_count()).map(|figure| figure.shape);
                // The current shape, for comparison.
                let current = seen.iter().map(|figure| figure.shape).filter(|shape| *shape == current);
                let siblings = |shape: TunedShape| std::iter::once(shape).chain(self.siblings(&shape));
                let finalists = distinct(best.chain(current).flat_map(siblings));
                self.measure(&finalists, 0, self.plan.rounds(), "the best")?
            }
            // Another compilation gives the same result.
            Measure::Compile(_) => seen,
        };
        let families = Rows::families(&figures, self.plan.row_count, current.family());
        for input in 1..self.plan.inputs.len() {
            let variants = self.variants(&families, &figures, input);
            figures.extend(self.measure(&variants, input, self.plan.rounds(), "the best rows")?);
        }
        Ok(Rows::new(&families, &figures, &self.plan.inputs))
    }

    /// Shapes that share a row's parameters: scans of all algorithms.
    fn siblings(&self, shape: &TunedShape) -> Vec<TunedShape> {
        match *shape {
            TunedShape::Sort { .. } => Vec::new(),
            TunedShape::Scan { workgroup_size, words_per_invocation, packs_per_run, .. } => {
                let of = |&algorithm| TunedShape::Scan {
                    algorithm,
                    workgroup_size,
                    words_per_invocation,
                    packs_per_run,
                };
                self.plan.axes.scan_algorithms.iter().map(of).collect()
            }
        }
    }

    /// Shapes of the families for an input: sorts of all items, scans of all algorithms. For another count of the
    /// same kind, the shapes measured before.
    fn variants(&self, families: &[TunedShape], figures: &[Figure], input: usize) -> Vec<TunedShape> {
        let inputs = &self.plan.inputs;
        let before: HashSet<_> = figures
            .iter()
            .filter(|figure| inputs[figure.input].words() == inputs[input].words())
            .map(|figure| figure.shape)
            .filter(|shape| families.contains(&shape.family()))
            .collect();
        if !before.is_empty() {
            let mut shapes: Vec<_> = before.into_iter().collect();
            shapes.sort_by_key(|shape| format!("{shape:?}"));
            return shapes;
        }
        let current = TunedShape::current(self.plan.is_sort, &inputs[input], self.measure.capabilities());
        let mut shapes: Vec<_> = self
            .plan
            .shapes(self.measure.capabilities())
            .into_iter()
            .chain([current])
            .filter(|shape| families.contains(&shape.family()))
            .collect();
        shapes.extend(families.iter().flat_map(|family| self.siblings(family)));
        distinct(shapes)
    }

    fn measure(
        &mut self,
        shapes: &[TunedShape],
        input: usize,
        options: BenchOptions,
        what: &str,
    ) -> Result<Vec<Figure>> {
        let capabilities = self.measure.capabilities();
        let mut taken = Vec::new();
        for shape in shapes {
            match shape.case(&self.plan.inputs[input], capabilities) {
                Ok(case) => taken.push((*shape, case)),
                Err(error) => self.tally.refuse(reason(&error)),
            }
        }
        match self.measure {
            Measure::Run(gpu, roof) => self.run_all(gpu, roof, &taken, input, options, what),
            Measure::Compile(device) => self.compile_all(device, &taken, input),
        }
    }

    fn run_all(
        &mut self,
        gpu: &'a Gpu,
        roof: &'a CopyRoof<'a>,
        taken: &[(TunedShape, Case)],
        input: usize,
        options: BenchOptions,
        what: &str,
    ) -> Result<Vec<Figure>> {
        let progress = Progress::new(taken.len() * options.block_count as usize);
        let mut figures = Vec::new();
        for group in taken.chunks(group_size(gpu, taken)) {
            let cases: Vec<Case> = group.iter().map(|(_, case)| case.clone()).collect();
            let begin = || progress.begin_all(&format!("{what}: {}", cases[0].variants()), cases.len());
            begin();
            let mut bench = BenchGroup::new(roof, &cases, options, bench::admit(gpu))?;
            bench.measure_block()?;
            for _ in 1..options.block_count {
                begin();
                bench.measure_block()?;
            }
            for ((shape, case), measured) in group.iter().zip(bench.measured()) {
                figures.extend(self.tally.take(*shape, input, case.id(), measured));
            }
        }
        Ok(figures)
    }

    /// Compiles the kernels that process all keys or elements, on all cores.
    fn compile_all(
        &mut self,
        device: &'a Device,
        taken: &[(TunedShape, Case)],
        input: usize,
    ) -> Result<Vec<Figure>> {
        let capabilities = device.capabilities();
        let plans: Vec<_> = taken.iter().map(|(_, case)| PlanConfig::of_case(case, capabilities)).collect();
        let mut pipelines = PipelineSet::new(device, &plans)?;
        let hot: HashSet<_> = taken.iter().flat_map(|(shape, _)| shape.hot_kernels()).collect();
        let is_hot = |name: &str| hot.iter().any(|kernel| kernel_of(name) == **kernel);
        pipelines.retain(is_hot);
        pipelines.add_main_paths(device, &[])?;
        let progress = Progress::new(pipelines.len());
        let inspection = pipelines.compile(device, |name| progress.begin_all(name, 1))?;
        drop(progress);
        if !inspection.has_statistics() && !taken.is_empty() {
            let device = capabilities.identity.name.clone();
            let missing = "pipeline statistics of its driver".to_owned();
            return Err(Error::MissingFeature { device, missing }.into());
        }
        let mut figures = Vec::new();
        for ((shape, _), plan) in taken.iter().zip(&plans) {
            let mut own = PipelineSet::new(device, std::slice::from_ref(plan))?;
            own.retain(is_hot);
            own.add_main_paths(device, &[])?;
            match figure_of(*shape, input, &self.plan.inputs[input], own.names(), &inspection) {
                Ok(figure) => {
                    self.tally.tried.insert(*shape);
                    figures.push(figure);
                }
                Err(reason) => self.tally.refuse(reason),
            }
        }
        Ok(figures)
    }
}

/// Shapes of a group that fit into the memory budget together.
fn group_size(gpu: &Gpu, taken: &[(TunedShape, Case)]) -> usize {
    let size = taken.first().map_or(1, |(_, case)| case.size()).max(1);
    ((bench::room(gpu) / size) as usize).clamp(1, GROUP_SIZE)
}

/// The kernel of a pipeline's name, without its variant.
fn kernel_of(name: &str) -> &str {
    name.split([':', ' ']).next().unwrap_or(name)
}

/// The reason of a refusal, in words that many shapes share.
pub fn reason(error: &Error) -> String {
    match error {
        Error::PolicyExceedsLimits { what, got, .. } => format!("more {what} than the device's {got}"),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use subsweep::harness::{Failure, Mismatch, TunedAxes};

    use super::*;

    #[test]
    fn wrong_shapes_are_named_and_excluded() {
        let shape = TunedShape::Scan {
            algorithm: TunedAxes::SCANS[0],
            workgroup_size: 256,
            words_per_invocation: 16,
            packs_per_run: 1,
        };
        let mut tally = Tally::default();
        let mismatch = Mismatch { what: "result", index: 3, expected: 2, got: 1 };
        let outcome = Outcome::Fail(Failure::Wrong { run: 1, seed: 7, mismatch });
        assert!(tally.take(shape, 0, "scan;256x16".into(), Err(outcome)).is_none());
        let refused = Outcome::NotSupported("no room".into());
        assert!(tally.take(shape, 0, "scan;512x16".into(), Err(refused.clone())).is_none());
        assert!(tally.take(shape, 0, "scan;512x16".into(), Err(refused)).is_none());
        assert_eq!((tally.wrong.len(), tally.tried()), (1, 1));
        let Wrong { id, outcome } = &tally.wrong[0];
        assert!(id == "scan;256x16" && outcome.contains("result[3]"), "{tally:?}");
        assert_eq!(tally.refused, [Refusal { reason: "no room".into(), count: 2 }]);
        let verdict = tally.verdict(&Rows(Vec::new())).unwrap_err();
        assert_eq!(verdict.to_string(), "1 of 1 shapes gave a wrong result: scan;256x16");
        tally.wrong.clear();
        let verdict = tally.verdict(&Rows(Vec::new())).unwrap_err();
        assert!(verdict.to_string().contains("takes none of these shapes: no room"), "{verdict}");
    }
}
