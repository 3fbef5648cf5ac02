//! What a shape costs: measured on a device, or by its compiler.

use std::cell::Cell;
use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::Result;
use subsweep::device::{Capabilities, Device};
use subsweep::headless::{Candidate, WorkOptions};
use subsweep::tuning::KernelShape;
use subsweep_tool::harness::{
    Case, CopyRoof, Failure, Measurement, Outcome, PipelineSet, PlanConfig, ShapeBench,
};

use super::descent::{Gauge, descend, is_better};
use super::report::{Finding, Judged, Judgement};
use super::static_rank::instructions_of;
use super::targets::{Target, Tries};
use crate::cache::CachedGpu;
use crate::inspect::check_statistics;
use crate::terminal::Progress;

/// A shape that takes longer hangs. CPU drivers take seconds for what a GPU does in milliseconds.
const GPU_WAIT: Duration = Duration::from_secs(2);
const CPU_WAIT: Duration = Duration::from_secs(30);

/// The device that judges shapes.
pub enum Judge {
    /// Runs them. Opened anew after a shape that hangs.
    Run {
        /// The device to open.
        candidate: Box<Candidate>,
        /// Whether its pipelines are cached between runs.
        is_cached: bool,
    },
    /// Compiles them.
    Compile(Device),
}

impl Judge {
    /// The capabilities of the device.
    pub fn capabilities(&self) -> Option<&Capabilities> {
        match self {
            Self::Run { candidate, .. } => candidate.capabilities(),
            Self::Compile(device) => Some(device.capabilities()),
        }
    }

    /// Searches the fastest shape of each target, in a share of the budget each, and reports the findings so far after
    /// each. Targets for which no time is left have no finding.
    ///
    /// # Errors
    /// The device cannot be opened, or reports nothing; errors of `report`.
    pub fn search(
        &self,
        targets: Vec<Target>,
        tries: &Tries,
        budget: Duration,
        mut report: impl FnMut(&[Finding]) -> Result<()>,
    ) -> Result<Vec<Finding>> {
        let end = Instant::now() + budget;
        let count = targets.len() as u32;
        let progress = Progress::new(targets.len());
        let (mut findings, mut opened) = (Vec::new(), None);
        for (at, target) in (0..).zip(targets) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            progress.begin_all(&target.to_string(), 1);
            let share_end = Instant::now() + left / (count - at);
            let finding = self.search_one(target, tries, share_end, &mut opened)?;
            findings.push(finding);
            progress.suspend(|| report(&findings))?;
        }
        Ok(findings)
    }

    fn search_one(
        &self,
        target: Target,
        tries: &Tries,
        end: Instant,
        opened: &mut Option<CachedGpu>,
    ) -> Result<Finding> {
        let mut judged = Vec::new();
        let best = match self {
            Self::Run { candidate, is_cached } => {
                let mut gauge = Measured {
                    candidate,
                    is_cached: *is_cached,
                    target: &target,
                    end,
                    judged: &mut judged,
                    bad: HashSet::new(),
                };
                gauge.search(tries, opened)?
            }
            Self::Compile(device) => {
                let mut gauge = Compiled { device, target: &target, end, judged: &mut judged };
                descend(target.part, target.start, tries, &mut gauge)?
            }
        };
        let mut finding = Finding::new(target, judged, best);
        if let Some(capabilities) = self.capabilities() {
            finding.add_row(capabilities, matches!(self, Self::Compile(_)));
        }
        Ok(finding)
    }
}

/// Runs shapes on one device after the other.
struct Measured<'a> {
    candidate: &'a Candidate,
    is_cached: bool,
    target: &'a Target,
    end: Instant,
    judged: &'a mut Vec<Judged>,
    /// Shapes that have cost a device.
    bad: HashSet<KernelShape>,
}

impl Measured<'_> {
    /// Descends; after a shape that hangs once more, on a new device and without it. What was judged keeps its time.
    fn search(
        &mut self,
        tries: &Tries,
        opened: &mut Option<CachedGpu>,
    ) -> Result<Option<(KernelShape, f64)>> {
        loop {
            let gpu = match opened.take() {
                Some(gpu) => gpu,
                None => {
                    let work = WorkOptions { wait_limit: self.wait_limit(), ..WorkOptions::default() };
                    CachedGpu::open_for(self.candidate.clone(), self.is_cached, work)?
                }
            };
            let hung = Cell::new(None);
            let found = {
                let roof = CopyRoof::new(&gpu)?;
                let target = self.target;
                let bench = ShapeBench::new(&roof, target.part, target.case.clone());
                let mut on_device = OnDevice { bench: &bench, hung: &hung, of: self };
                let found = descend(target.part, target.start, tries, &mut on_device);
                found.and_then(|found| on_device.confirm(found))
            };
            match (found, hung.take()) {
                (Ok(found), _) => {
                    *opened = Some(gpu);
                    return Ok(found);
                }
                (Err(error), Some(shape)) => {
                    self.bad.insert(shape);
                    self.judged.push(Judged { shape, judgement: Judgement::Hung(error.to_string()) });
                }
                (Err(error), None) => return Err(error.into()),
            }
        }
    }

    fn wait_limit(&self) -> Duration {
        let is_cpu = self.candidate.capabilities().is_some_and(Capabilities::is_cpu);
        if is_cpu { CPU_WAIT } else { GPU_WAIT }
    }
}

struct OnDevice<'a, 'm, 'g> {
    bench: &'a ShapeBench<'g>,
    /// The shape that the device was lost with.
    hung: &'a Cell<Option<KernelShape>>,
    of: &'a mut Measured<'m>,
}

impl OnDevice<'_, '_, '_> {
    /// Measures the shape in use and the best one again, in turns: of many shapes the least time is partly luck. Returns
    /// the shape in use unless the other is better again, in every turn and by a steady clock.
    fn confirm(&mut self, found: Option<(KernelShape, f64)>) -> subsweep::Result<Option<(KernelShape, f64)>> {
        const ROUNDS: usize = 3;
        let start = self.of.target.start;
        let has_cost =
            |shape| self.of.judged.iter().any(|known| known.shape == shape && known.cost().is_some());
        // The shape in use may be wrong, hang, or be refused.
        let Some((best, _)) = found.filter(|(best, _)| *best != start && has_cost(start)) else {
            return Ok(found);
        };
        let mut rounds = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (shape, costs) in [start, best].into_iter().zip(&mut rounds) {
                let judged = self.measure(shape)?;
                match judged.cost() {
                    Some(cost) => costs.push((cost, judged)),
                    None => {
                        // Wrong once is wrong.
                        self.note(judged);
                        let cost =
                            self.of.judged.iter().find(|known| known.shape == start).and_then(Judged::cost);
                        return Ok(cost.map(|cost| (start, cost)));
                    }
                }
            }
        }
        rounds.iter_mut().for_each(|costs| costs.sort_by(|a, b| a.0.total_cmp(&b.0)));
        let is_apart = rounds[1][ROUNDS - 1].0 < rounds[0][0].0;
        let middle = rounds.map(|mut costs| costs.swap_remove(ROUNDS / 2));
        let is_steady = middle.iter().all(|(_, judged)| judged.is_steady());
        let [in_use, cost] = middle.map(|(cost, judged)| {
            self.note(judged);
            cost
        });
        let is_faster = is_apart && is_steady && is_better(cost, in_use);
        Ok(Some(if is_faster { (best, cost) } else { (start, in_use) }))
    }

    /// Replaces what is known of a shape.
    fn note(&mut self, judged: Judged) {
        match self.of.judged.iter_mut().find(|known| known.shape == judged.shape) {
            Some(known) => *known = judged,
            None => self.of.judged.push(judged),
        }
    }

    /// Verifies and measures a shape.
    fn measure(&mut self, shape: KernelShape) -> subsweep::Result<Judged> {
        let measured = self.bench.measure(shape).inspect_err(|_| self.hung.set(Some(shape)))?;
        let judgement = match measured {
            Ok(Measurement { time, copy_percent, steady, .. }) => {
                Judgement::Measured { time_ns: time.median_ns, copy_percent, steady }
            }
            Err(Outcome::NotSupported(reason)) => Judgement::Refused(reason),
            // A shape that the library refuses is no failure of the device.
            Err(Outcome::Fail(Failure::Error(error @ subsweep::Error::InvalidPolicy(_)))) => {
                Judgement::Refused(error.to_string())
            }
            Err(Outcome::Fail(failure)) => Judgement::Wrong(failure.to_string()),
            Err(Outcome::Pass) => unreachable!("a right shape is measured"),
        };
        Ok(Judged { shape, judgement })
    }
}

impl Gauge for OnDevice<'_, '_, '_> {
    type Error = subsweep::Error;

    fn cost(&mut self, shape: KernelShape) -> Result<Option<f64>, subsweep::Error> {
        if self.of.bad.contains(&shape) {
            return Ok(None);
        }
        if let Some(judged) = self.of.judged.iter().find(|judged| judged.shape == shape) {
            return Ok(judged.cost());
        }
        let mut judged = self.measure(shape)?;
        if let Judgement::Measured { steady: false, .. } = judged.judgement {
            judged = self.measure(shape)?;
        }
        let cost = judged.cost();
        self.of.judged.push(judged);
        Ok(cost)
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.of.end
    }
}

/// Compiles shapes.
struct Compiled<'a> {
    device: &'a Device,
    target: &'a Target,
    end: Instant,
    judged: &'a mut Vec<Judged>,
}

impl Gauge for Compiled<'_> {
    type Error = anyhow::Error;

    fn cost(&mut self, shape: KernelShape) -> Result<Option<f64>> {
        let case: Case = self.target.case.clone().with_shape(self.target.part, shape);
        let judgement = match self.compile(&case, shape) {
            Ok(judgement) => judgement,
            Err(
                error @ (subsweep::Error::InvalidPolicy(_) | subsweep::Error::PolicyExceedsLimits { .. }),
            ) => Judgement::Refused(error.to_string()),
            Err(error) => return Err(error.into()),
        };
        let judged = Judged { shape, judgement };
        let cost = judged.cost();
        self.judged.push(judged);
        Ok(cost)
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }
}

impl Compiled<'_> {
    fn compile(&self, case: &Case, shape: KernelShape) -> subsweep::Result<Judgement> {
        let part = self.target.part;
        let plans = [PlanConfig::of_case(case, self.device.capabilities())];
        let mut pipelines = PipelineSet::new(self.device, &plans)?;
        let is_hot = |name: &str| {
            part.hot_kernels().iter().any(|kernel| name.split([':', ' ']).next() == Some(kernel))
        };
        pipelines.retain(is_hot);
        pipelines.add_main_paths(self.device, &[])?;
        let inspection = pipelines.compile(self.device, |_| {})?;
        check_statistics(&inspection, &self.device.capabilities().identity.name)?;
        Ok(match instructions_of(part, &shape, self.target.items(&shape), &inspection) {
            Ok(compiled) => Judgement::Compiled(compiled),
            Err(reason) => Judgement::Refused(reason),
        })
    }
}
