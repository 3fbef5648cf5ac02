//! Two sections of reports beside one another: what differs between them, and which cases are faster in which.

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
    /// The report's name: mostly the file that it was read from.
    pub title: &'r str,
    /// The report.
    pub report: &'r Report,
    /// The section, which is one of the report's.
    pub device: &'r DeviceReport,
}

/// How the times of a case in two sections stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// The new one takes less time, by more than the tolerance, whatever in the interval is true.
    Faster,
    /// It takes more, likewise.
    Slower,
    /// What differs is within the tolerance, whatever in the interval is true.
    Same,
    /// The interval is too wide to tell, or there are too few samples for one: measure longer, or on a quieter machine.
    Ambiguous,
}

/// All that there is to say of two sections.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// What is compared with.
    pub base: Side,
    /// What is compared.
    pub new: Side,
    /// What the two differ in beside times: device, driver, machine, build, policies and samples, in this order.
    pub differences: Vec<Difference>,
    /// By how many percent times may differ and still be called the same.
    pub tolerance_percent: f64,
    /// How many times as long the copies took in the new section, in the middle of all cases, where device, driver, machine
    /// and the copying kernel are the same; null elsewhere. There the copies are controls: they took another time for
    /// reasons that have nothing to do with what is compared, such as heat or other programs, and what moved them may have
    /// moved a case as far.
    pub drift: Option<f64>,
    /// The cases of each primitive and kind together.
    pub groups: Vec<GroupComparison>,
    /// All cases together, as a group of the name `all`: surer than any of them of what slows down everything. Null without
    /// a case.
    pub overall: Option<GroupComparison>,
    /// All cases that both have, in the order of the base.
    pub cases: Vec<CaseComparison>,
    /// Ids of the cases that the base has, and that gave a wrong result in the new section.
    pub wrong_in_new: Vec<String>,
    /// Ids of the cases that the base alone has, those among them.
    pub only_in_base: Vec<String>,
    /// Ids of the cases that the new one alone has.
    pub only_in_new: Vec<String>,
}

/// What a section is of.
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
    /// Whether all was measured that was asked for.
    pub complete: bool,
}

/// Something that is one way in the base and another in the new section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What.
    pub what: String,
    /// How it is in the base.
    pub base: String,
    /// How it is in the new section.
    pub new: String,
}

/// A case that was measured in both.
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
    /// Where the ratio lies with a confidence of 95 %, by bootstrap. Samples of one run do not tell what differs between
    /// runs: where [`Comparison::drift`] is told, the interval is as much wider.
    pub ratio_interval: [f64; 2],
    /// Whether both have blocks enough, or samples where no blocks are told, for such an interval: six. Of fewer the verdict
    /// is [`Verdict::Ambiguous`].
    pub enough_samples: bool,
    /// What that means.
    pub verdict: Verdict,
}

/// Cases of one primitive and kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupComparison {
    /// `sort:keys`.
    pub name: String,
    /// How many cases have which verdict.
    pub verdicts: BTreeMap<Verdict, u32>,
    /// The geometric mean of their ratios.
    pub geometric_mean_ratio: f64,
    /// Where it lies, as for a single case: narrower than any of theirs where they are many.
    pub ratio_interval: [f64; 2],
    /// Whether all of its cases have enough samples.
    pub enough_samples: bool,
    /// What that means for the group as a whole.
    pub verdict: Verdict,
}

impl Verdict {
    /// All, in the order in which they are told.
    pub const ALL: [Self; 4] = [Self::Faster, Self::Slower, Self::Same, Self::Ambiguous];

    /// Of a ratio that lies in this interval, if that is of samples enough. What lies on both sides of the tolerance's
    /// edge is ambiguous.
    fn of(interval: [f64; 2], enough_samples: bool, tolerance_percent: f64) -> Self {
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
        }
    }
}

impl Comparison {
    /// Compares every case that both have.
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
            pairs.iter().map(|(base, new)| statistics::ratio_draws(&base.blocks(), &new.blocks())).collect();
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
            base: Side::of(base),
            new: Side::of(new),
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

    /// The rows of a table: the groups, and where there are more than one all cases together.
    pub fn rows(&self) -> impl Iterator<Item = &GroupComparison> + Clone {
        self.groups.iter().chain(self.overall.iter().filter(|_| self.groups.len() > 1))
    }

    /// The cases that have too few samples for a verdict.
    pub fn undecidable(&self) -> impl Iterator<Item = &CaseComparison> {
        self.cases.iter().filter(|case| !case.enough_samples)
    }

    /// The cases that take more time than in the base by more than `percent`, whatever in the interval is true.
    pub fn regressions(&self, percent: f64) -> impl Iterator<Item = &CaseComparison> {
        self.cases.iter().filter(move |case| {
            Verdict::of(case.ratio_interval, case.enough_samples, percent) == Verdict::Slower
        })
    }

    /// The same of [`rows`](Self::rows): cases may be slower together of which none is for certain.
    pub fn regressed_rows(&self, percent: f64) -> impl Iterator<Item = &GroupComparison> {
        self.rows().filter(move |row| {
            Verdict::of(row.ratio_interval, row.enough_samples, percent) == Verdict::Slower
        })
    }
}

/// Which sections of `base` and `new` are compared, by their places: those of one device and driver; then those of one
/// driver, in whatever version; then what is left, in its order. Each is in one pair at most.
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
    fn of(Section { title, report, device }: Section<'_>) -> Self {
        let driver = &device.description.driver;
        Self {
            report: title.to_owned(),
            device: device.name.clone(),
            driver: [driver.name.trim(), driver.info.trim()].join(", ").trim_end_matches(", ").to_owned(),
            lanes: device.description.subgroups.size,
            complete: report.complete,
        }
    }
}

/// How ratios are judged.
#[derive(Debug, Clone, Copy)]
struct Scale {
    /// How many times as long everything may have taken.
    drift: f64,
    tolerance_percent: f64,
}

impl Scale {
    /// Where a ratio lies, and what that means.
    fn judge(self, draws: Vec<f64>, enough_samples: bool) -> ([f64; 2], Verdict) {
        let [low, high] = statistics::interval(draws);
        // What moved the copies may have moved what is compared, or not.
        let interval = [low / self.drift.max(1.0), high / self.drift.min(1.0)].map(statistics::finite);
        (interval, Verdict::of(interval, enough_samples, self.tolerance_percent))
    }
}

impl CaseComparison {
    fn new((base, new): (&Measurement, &Measurement), draws: Vec<f64>, scale: Scale) -> Self {
        let enough_samples = [base, new].iter().all(|measured| measured.has_enough_samples());
        let (ratio_interval, verdict) = scale.judge(draws, enough_samples);
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
    /// Whether a median has an interval at all: it lies between the least and the greatest of n with a confidence of
    /// 1 - 2^(1 - n), which is 95 % from six on. Samples of one block have what it met in common.
    fn has_enough_samples(&self) -> bool {
        const ENOUGH: usize = 6;
        let count = if self.block_lengths.is_empty() { self.samples_ns.len() } else { self.blocks().len() };
        count >= ENOUGH
    }
}

/// Whether copies that took another time did so for no reason that the reports know.
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
    a == b && base.device.gpu_timestamps == new.device.gpu_timestamps
}

/// How many times as long the copies around the cases took, in the middle of them, if there are any.
fn drift(pairs: &[(&Measurement, &Measurement)]) -> Option<f64> {
    let ratio = |(base, new): &(&Measurement, &Measurement)| {
        statistics::finite(new.copy.median_ns / base.copy.median_ns)
    };
    let mut ratios: Vec<_> = pairs.iter().map(ratio).collect();
    (!ratios.is_empty()).then(|| statistics::median(&mut ratios))
}

/// The groups of `cases`, of which each has its draws.
fn groups(cases: &[CaseComparison], draws: &[Vec<f64>], scale: Scale) -> Vec<GroupComparison> {
    let mut groups = BTreeMap::<&str, Vec<(&CaseComparison, &Vec<f64>)>>::new();
    for (case, draws) in cases.iter().zip(draws) {
        groups.entry(group_of(&case.id)).or_default().push((case, draws));
    }
    groups.into_iter().map(|(name, cases)| GroupComparison::new(name, &cases, scale)).collect()
}

impl GroupComparison {
    /// Of cases, at least one, each with its draws.
    fn new(name: &str, cases: &[(&CaseComparison, &Vec<f64>)], scale: Scale) -> Self {
        let mut verdicts = BTreeMap::new();
        cases.iter().for_each(|(case, _)| *verdicts.entry(case.verdict).or_default() += 1);
        let count = cases[0].1.len();
        let of_draw = |at: usize| statistics::geometric_mean(cases.iter().map(|(_, draws)| draws[at]));
        let enough_samples = cases.iter().all(|(case, _)| case.enough_samples);
        let (ratio_interval, verdict) = scale.judge((0..count).map(of_draw).collect(), enough_samples);
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
