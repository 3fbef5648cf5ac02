//! Comparison of two sections of reports: their differences, and a verdict for each case.

mod differences;

use std::collections::BTreeMap;

use serde::Serialize;

use super::cases::group_of;
use super::report::{DeviceReport, Measurement, Report};
use super::statistics;
use differences::differences;

/// A device's section of a report.
#[derive(Debug, Clone, Copy)]
pub struct Section<'r> {
    /// The report's name, usually its file.
    pub title: &'r str,
    /// The report.
    pub report: &'r Report,
    /// The section of `report`.
    pub device: &'r DeviceReport,
}

/// The verdict on a case's times in two sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// The new time is less, beyond the tolerance over the whole interval.
    Faster,
    /// The new time is more, beyond the tolerance over the whole interval.
    Slower,
    /// The whole interval is within the tolerance.
    Same,
    /// The interval crosses the tolerance, or there are too few samples: measure longer, or on a quieter machine.
    Ambiguous,
    /// The clock was not steady in one of the sections: measure again.
    Unsteady,
}

/// The comparison of two sections.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The base.
    pub base: Side,
    /// The new section.
    pub new: Side,
    /// Differences other than times: device, driver, machine, build, policies and samples, in this order.
    pub differences: Vec<Difference>,
    /// Tolerance of [`Verdict::Same`], in percent.
    pub tolerance_percent: f64,
    /// The median ratio of the copies' times, new over base, if device, driver, machine, copy kernel and caches are the same;
    /// null otherwise. The copies are controls: a drift has causes unrelated to the comparison, such as heat or other
    /// programs, and may affect a case as much.
    pub drift: Option<f64>,
    /// Cases grouped by primitive and kind.
    pub groups: Vec<GroupComparison>,
    /// All cases as a group named `all`: detects an overall change more reliably than any single case. Null without a
    /// case.
    pub overall: Option<GroupComparison>,
    /// The cases of both sections, in the order of the base.
    pub cases: Vec<CaseComparison>,
    /// Ids of the cases of the base with a wrong result in the new section.
    pub wrong_in_new: Vec<String>,
    /// Ids of the cases only in the base, including `wrong_in_new`.
    pub only_in_base: Vec<String>,
    /// Ids of the cases only in the new section.
    pub only_in_new: Vec<String>,
}

/// Identification of a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Side {
    /// The report's name.
    pub report: String,
    /// `deviceName`.
    pub device: String,
    /// `driverName` and `driverInfo`.
    pub driver: String,
    /// Lanes of a subgroup.
    pub lanes: u32,
    /// Whether the run was complete.
    pub complete: bool,
}

/// A fact that differs between the sections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The fact.
    pub what: String,
    /// Its value in the base.
    pub base: String,
    /// Its value in the new section.
    pub new: String,
}

/// A case measured in both sections.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseComparison {
    /// The case.
    pub id: String,
    /// Elements.
    pub element_count: u64,
    /// The base's median, nanoseconds.
    pub base_ns: f64,
    /// The new one's.
    pub new_ns: f64,
    /// The new median over the base's: below 1 is faster.
    pub ratio: f64,
    /// The 95 % interval of the ratio, by bootstrap. Samples of one run do not show the variance between runs: if
    /// [`Comparison::drift`] is given, the interval is widened by it.
    pub ratio_interval: [f64; 2],
    /// Whether both have enough blocks (or samples, if there are no blocks) for such an interval: six. Otherwise the
    /// verdict is [`Verdict::Ambiguous`].
    pub enough_samples: bool,
    /// The verdict on the case.
    pub verdict: Verdict,
}

/// Cases of one primitive and kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupComparison {
    /// `sort:keys`.
    pub name: String,
    /// Number of cases of each verdict.
    pub verdicts: BTreeMap<Verdict, u32>,
    /// Geometric mean of the ratios of the steady cases; of all if none is steady.
    pub geometric_mean_ratio: f64,
    /// The 95 % interval of the mean: narrower than a single case's if there are many.
    pub ratio_interval: [f64; 2],
    /// Whether all cases have enough samples.
    pub enough_samples: bool,
    /// The verdict on the group.
    pub verdict: Verdict,
}

impl Verdict {
    /// All verdicts, in display order.
    pub const ALL: [Self; 5] = [Self::Faster, Self::Slower, Self::Same, Self::Ambiguous, Self::Unsteady];

    /// The verdict on a ratio's interval. An interval on both sides of the tolerance is ambiguous, and so are too few
    /// samples.
    fn for_interval(interval: [f64; 2], enough_samples: bool, tolerance_percent: f64) -> Self {
        let edge = 1.0 + tolerance_percent / 100.0;
        match interval {
            _ if !enough_samples => Self::Ambiguous,
            [_, high] if high < 1.0 / edge => Self::Faster,
            [low, _] if low > edge => Self::Slower,
            [low, high] if low >= 1.0 / edge && high <= edge => Self::Same,
            _ => Self::Ambiguous,
        }
    }

    /// `FASTER`, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faster => "FASTER",
            Self::Slower => "SLOWER",
            Self::Same => "SAME",
            Self::Ambiguous => "AMBIGUOUS",
            Self::Unsteady => "UNSTEADY",
        }
    }
}

impl Comparison {
    /// Compares the cases of both sections.
    pub fn new(base: Section<'_>, new: Section<'_>, tolerance_percent: f64) -> Self {
        let [of_base, of_new] = [base, new].map(|section| {
            section.device.measured.iter().map(|m| (m.id.as_str(), m)).collect::<BTreeMap<_, _>>()
        });
        let pairs: Vec<_> = base
            .device
            .measured
            .iter()
            .filter_map(|measured| Some((measured, *of_new.get(measured.id.as_str())?)))
            .collect();
        let drift = if is_same_machine(base, new) { drift(&pairs) } else { None };
        let scale = Scale { drift: drift.unwrap_or(1.0), tolerance_percent };
        let draws: Vec<_> =
            pairs.iter().map(|(base, new)| statistics::ratio_draws(&base.median(), &new.median())).collect();
        let cases: Vec<_> = pairs
            .iter()
            .zip(&draws)
            .map(|(pair, draws)| CaseComparison::new(*pair, draws.clone(), scale))
            .collect();
        let ids_without = |section: Section<'_>, others: &BTreeMap<&str, &Measurement>| {
            let ids = section.device.measured.iter().map(|measured| &measured.id);
            ids.filter(|id| !others.contains_key(id.as_str())).cloned().collect()
        };
        let wrong = new.device.verified.iter().filter(|case| case.outcome == "fail");
        let wrong_in_new = wrong.map(|case| &case.id).filter(|id| of_base.contains_key(id.as_str()));
        Self {
            base: Side::new(base),
            new: Side::new(new),
            differences: differences(base, new, &pairs),
            tolerance_percent,
            drift,
            groups: groups(&cases, &draws, scale),
            overall: (!cases.is_empty())
                .then(|| GroupComparison::new("all", &cases.iter().zip(&draws).collect::<Vec<_>>(), scale)),
            wrong_in_new: wrong_in_new.cloned().collect(),
            only_in_base: ids_without(base, &of_new),
            only_in_new: ids_without(new, &of_base),
            cases,
        }
    }

    /// The rows of a table: the groups, and `all` if there are several.
    pub fn rows(&self) -> impl Iterator<Item = &GroupComparison> + Clone {
        self.groups.iter().chain(self.overall.iter().filter(|_| self.groups.len() > 1))
    }

    /// The cases with too few samples for a verdict.
    pub fn undecidable(&self) -> impl Iterator<Item = &CaseComparison> {
        self.cases.iter().filter(|case| case.is_judged() && !case.enough_samples)
    }

    /// Number of cases without a verdict because a clock was not steady.
    pub fn unsteady_count(&self) -> usize {
        self.cases.iter().filter(|case| !case.is_judged()).count()
    }

    /// The cases slower than the base by more than `percent` over their whole interval.
    pub fn regressions(&self, percent: f64) -> impl Iterator<Item = &CaseComparison> {
        self.cases.iter().filter(move |case| {
            case.is_judged()
                && Verdict::for_interval(case.ratio_interval, case.enough_samples, percent) == Verdict::Slower
        })
    }

    /// The [`rows`](Self::rows) slower by more than `percent`: a group may be significantly slower although none of its
    /// cases is.
    pub fn regressed_rows(&self, percent: f64) -> impl Iterator<Item = &GroupComparison> {
        self.rows().filter(move |row| {
            row.verdict != Verdict::Unsteady
                && Verdict::for_interval(row.ratio_interval, row.enough_samples, percent) == Verdict::Slower
        })
    }
}

/// Pairs the sections of `base` and `new`, by index: first the sections of the same device and driver, then of the same
/// driver in any version, then the rest in order. Each section is in at most one pair.
pub fn pair_devices(base: &[&DeviceReport], new: &[&DeviceReport]) -> Vec<[usize; 2]> {
    type IsPair = fn(&DeviceReport, &DeviceReport) -> bool;
    let is_one: IsPair = |a, b| {
        a.description.device_uuid == b.description.device_uuid && a.description.driver == b.description.driver
    };
    let is_of_one_driver: IsPair = |a, b| a.description.driver.id == b.description.driver.id;
    let mut pairs: Vec<[usize; 2]> = Vec::new();
    for is_pair in [is_one, is_of_one_driver, |_, _| true] {
        for (at_new, new) in new.iter().enumerate() {
            if pairs.iter().any(|pair| pair[1] == at_new) {
                continue;
            }
            let free = base
                .iter()
                .enumerate()
                .find(|(at_base, base)| pairs.iter().all(|pair| pair[0] != *at_base) && is_pair(base, new));
            if let Some((at_base, _)) = free {
                pairs.push([at_base, at_new]);
            }
        }
    }
    pairs.sort_by_key(|pair| pair[1]);
    pairs
}

impl Side {
    fn new(Section { title, report, device }: Section<'_>) -> Self {
        Self {
            report: title.to_owned(),
            device: device.name.clone(),
            driver: device.description.driver.text(),
            lanes: device.description.subgroups.size,
            complete: report.complete,
        }
    }
}

/// Parameters of a verdict.
#[derive(Debug, Clone, Copy)]
struct Scale {
    /// The ratio of the copies' times.
    drift: f64,
    tolerance_percent: f64,
}

impl Scale {
    /// The interval of a ratio, and its verdict.
    fn judge(self, draws: Vec<f64>, enough_samples: bool) -> ([f64; 2], Verdict) {
        let [low, high] = statistics::interval(draws);
        // The cause of the drift may or may not have affected the case.
        let interval = [low / self.drift.max(1.0), high / self.drift.min(1.0)].map(statistics::finite);
        (interval, Verdict::for_interval(interval, enough_samples, self.tolerance_percent))
    }
}

impl CaseComparison {
    /// Whether it has a verdict: the clock was steady.
    fn is_judged(&self) -> bool {
        self.verdict != Verdict::Unsteady
    }

    fn new((base, new): (&Measurement, &Measurement), draws: Vec<f64>, scale: Scale) -> Self {
        let enough_samples = [base, new].iter().all(|measured| measured.has_enough_samples());
        let (ratio_interval, verdict) = scale.judge(draws, enough_samples);
        let verdict = if base.steady && new.steady { verdict } else { Verdict::Unsteady };
        Self {
            id: new.id.clone(),
            element_count: new.element_count,
            base_ns: base.time.median_ns,
            new_ns: new.time.median_ns,
            ratio: statistics::finite(new.time.median_ns / base.time.median_ns),
            ratio_interval,
            enough_samples,
            verdict,
        }
    }
}

impl Measurement {
    /// Whether there are enough samples for an interval of the median: it lies between the least and the greatest of n
    /// with confidence 1 - 2^(1 - n), which exceeds 95 % from six on. Samples of one block are not independent.
    fn has_enough_samples(&self) -> bool {
        const ENOUGH: usize = 6;
        let block_count = self.block_lengths.iter().filter(|length| **length > 0).count();
        let count = if block_count > 0 { block_count } else { self.sample_count as usize };
        count >= ENOUGH
    }
}

/// Whether nothing in the reports explains a difference between the copies' times.
fn is_same_machine(base: Section<'_>, new: Section<'_>) -> bool {
    const COPY: &str = "probe/copy";
    let [a, b] = [base, new].map(|section| {
        let description = &section.device.description;
        let kernel = section.report.tool.kernels.get(COPY);
        (
            &section.report.host,
            &description.device_uuid,
            &description.driver,
            description.subgroups.size,
            kernel,
        )
    });
    let clock = |section: Section<'_>| (section.device.gpu_timestamps, section.device.cold_cache);
    a == b && clock(base) == clock(new)
}

/// The median ratio of the copies' times of all cases, if any.
fn drift(pairs: &[(&Measurement, &Measurement)]) -> Option<f64> {
    let ratio = |(base, new): &(&Measurement, &Measurement)| {
        statistics::finite(new.copy.median_ns / base.copy.median_ns)
    };
    let mut ratios: Vec<_> =
        pairs.iter().filter(|(base, new)| base.steady && new.steady).map(ratio).collect();
    (!ratios.is_empty()).then(|| statistics::median(&mut ratios))
}

/// The groups of `cases`; `draws` are the resampled ratios of each.
fn groups(cases: &[CaseComparison], draws: &[Vec<f64>], scale: Scale) -> Vec<GroupComparison> {
    let mut groups = BTreeMap::<&str, Vec<(&CaseComparison, &Vec<f64>)>>::new();
    for (case, draws) in cases.iter().zip(draws) {
        groups.entry(group_of(&case.id)).or_default().push((case, draws));
    }
    groups.into_iter().map(|(name, cases)| GroupComparison::new(name, &cases, scale)).collect()
}

impl GroupComparison {
    /// A group of at least one case, each with its resampled ratios.
    fn new(name: &str, cases: &[(&CaseComparison, &Vec<f64>)], scale: Scale) -> Self {
        let mut verdicts = BTreeMap::new();
        cases.iter().for_each(|(case, _)| *verdicts.entry(case.verdict).or_default() += 1);
        let judged: Vec<_> = cases.iter().copied().filter(|(case, _)| case.is_judged()).collect();
        let is_unsteady = judged.is_empty();
        let cases = if is_unsteady { cases } else { &judged };
        let count = cases[0].1.len();
        let of_draw = |at: usize| statistics::geometric_mean(cases.iter().map(|(_, draws)| draws[at]));
        let enough_samples = cases.iter().all(|(case, _)| case.enough_samples);
        let (ratio_interval, verdict) = scale.judge((0..count).map(of_draw).collect(), enough_samples);
        let verdict = if is_unsteady { Verdict::Unsteady } else { verdict };
        Self {
            name: name.to_owned(),
            verdicts,
            geometric_mean_ratio: statistics::geometric_mean(cases.iter().map(|(case, _)| case.ratio)),
            ratio_interval,
            enough_samples,
            verdict,
        }
    }
}

#[cfg(test)]
mod tests;
