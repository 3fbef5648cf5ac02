//! Policies of plans by `--algorithm` and `--policy`.

use std::str::FromStr;

use subsweep::Choice;
use subsweep::device::Capabilities;
use subsweep::scan::{ScanAlgorithm, ScanConfig, ScanPolicy};
use subsweep::select::SelectAlgorithm;
use subsweep::sort::{SortAlgorithm, SortConfig, SortPolicy};
use subsweep_tool::harness::PolicyName;

use crate::args::{Common, PolicyKind};
use crate::device;
use crate::error::{CommandError, usage};

/// An algorithm, selected by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// A scan's.
    Scan(ScanAlgorithm),
    /// A sort's.
    Sort(SortAlgorithm),
}

impl Algorithm {
    /// The name that selects it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scan(algorithm) => algorithm.name(),
            Self::Sort(algorithm) => algorithm.name(),
        }
    }

    fn summary(self) -> &'static str {
        match self {
            Self::Scan(algorithm) => algorithm.summary(),
            Self::Sort(algorithm) => algorithm.summary(),
        }
    }
}

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        ScanAlgorithm::from_name(text)
            .map(Self::Scan)
            .or_else(|| sorts().find(|algorithm| algorithm.name() == text))
            .ok_or_else(|| format!("there are {} (scan), {} (sort)", names(scans()), names(sorts())))
    }
}

fn scans() -> impl Iterator<Item = Algorithm> {
    ScanAlgorithm::ALL.into_iter().map(Algorithm::Scan)
}

fn sorts() -> impl Iterator<Item = Algorithm> {
    SortAlgorithm::ALL.into_iter().map(Algorithm::Sort)
}

fn all() -> impl Iterator<Item = Algorithm> {
    scans().chain(sorts())
}

/// Refuses several devices, algorithms and policies of the seed, which have no meaning for `command`.
pub fn check_none(common: &Common, command: &'static str) -> Result<(), CommandError> {
    device::check_one(&common.device, command)?;
    if let Some(algorithm) = common.algorithm {
        let name = algorithm.name();
        return Err(usage!("{command} has no algorithms to choose from; leave out {name}"));
    }
    if common.seed().is_some() {
        return Err(usage!("the seed has no {command}; leave out --policy"));
    }
    Ok(())
}

/// Refuses an algorithm that the policy lacks.
pub fn check(common: &Common) -> Result<(), CommandError> {
    match common.algorithm {
        Some(Algorithm::Scan(_)) => check_scan(common),
        Some(Algorithm::Sort(_)) => check_sort(common),
        None => Ok(()),
    }
}

/// Refuses a sort's algorithm, and one that the seed lacks.
pub fn check_scan(common: &Common) -> Result<(), CommandError> {
    if common.policy == Some(PolicyKind::SeedBinByBin) {
        return Err(usage!("a scan has no bins to count; leave out --policy seed-bin-by-bin"));
    }
    match common.algorithm {
        Some(Algorithm::Scan(algorithm))
            if common.policy == Some(PolicyKind::Seed) && algorithm != ScanPolicy::seed().algorithm =>
        {
            Err(not_of_seed("seed", algorithm.name()))
        }
        Some(Algorithm::Sort(algorithm)) => Err(other_primitive(algorithm.name(), "a sort", "scan", scans())),
        Some(Algorithm::Scan(_)) | None => Ok(()),
    }
}

/// Refuses a configuration that the algorithm does not support.
pub fn check_config(common: &Common, config: &ScanConfig) -> Result<(), CommandError> {
    let Some(Algorithm::Scan(algorithm)) = common.algorithm else { return Ok(()) };
    match algorithm.refusal(config) {
        Some(reason) => Err(usage!("--algorithm {algorithm}: {reason}")),
        None => Ok(()),
    }
}

fn not_of_seed(policy: &str, name: &str) -> CommandError {
    usage!("--policy {policy} has no {name}; leave out --policy or --algorithm")
}

/// Refuses a scan's algorithm, and one that the seed lacks.
pub fn check_sort(common: &Common) -> Result<(), CommandError> {
    match (common.algorithm, common.seed()) {
        (Some(Algorithm::Sort(algorithm)), Some(policy)) if !algorithm.is_of_seed() => {
            Err(not_of_seed(policy.name(), algorithm.name()))
        }
        (Some(Algorithm::Scan(algorithm)), _) => {
            Err(other_primitive(algorithm.name(), "a scan", "sort", sorts()))
        }
        (Some(Algorithm::Sort(_)) | None, _) => Ok(()),
    }
}

/// The policy of a scan, and the reason of the choice.
pub fn of_scan(common: &Common, capabilities: &Capabilities, config: &ScanConfig) -> Choice<ScanPolicy> {
    let asked = match common.algorithm {
        Some(Algorithm::Scan(algorithm)) => Some(algorithm),
        Some(Algorithm::Sort(_)) | None => None,
    };
    match (common.seed(), asked) {
        (None, None) => ScanPolicy::choose(capabilities, config),
        (None, Some(algorithm)) => {
            Choice { policy: ScanPolicy::tuned(algorithm, capabilities, config), reason: ASKED }
        }
        // The seed's scans have no bins.
        (Some(PolicyName::SeedBinByBin), _) => Choice {
            policy: ScanPolicy::seed(),
            reason: "it is the seed's, asked for with --policy seed-bin-by-bin",
        },
        (Some(seed), _) => Choice { policy: ScanPolicy::seed(), reason: asked_seed(seed) },
    }
}

/// The reason for the tuned policy of `--algorithm`.
const ASKED: &str = "it is asked for with --algorithm, tuned for the device";

/// The reason for a policy of the seed.
fn asked_seed(seed: PolicyName) -> &'static str {
    match seed {
        PolicyName::SeedBinByBin => "it is asked for with --policy seed-bin-by-bin",
        _ => "it is asked for with --policy seed",
    }
}

/// The policy of a sort, and the reason of the choice.
pub fn of_sort(common: &Common, capabilities: &Capabilities, config: &SortConfig) -> Choice<SortPolicy> {
    let asked = match common.algorithm {
        Some(Algorithm::Sort(algorithm)) => Some(algorithm),
        Some(Algorithm::Scan(_)) | None => None,
    };
    match (common.seed(), asked) {
        (None, None) => SortPolicy::choose(capabilities, config),
        (None, Some(algorithm)) => {
            Choice { policy: SortPolicy::tuned(algorithm, capabilities, config), reason: ASKED }
        }
        (Some(seed), _) => {
            let own = asked.filter(|algorithm| algorithm.is_of_seed()).unwrap_or(SortAlgorithm::Radix4Bit);
            Choice { policy: seed.sort(capabilities, own, config), reason: asked_seed(seed) }
        }
    }
}

/// The output of `--list-algorithms`.
pub fn list_algorithms() -> String {
    let width = all().map(|algorithm| algorithm.name().len()).max().unwrap_or(0);
    let row = |algorithm: Algorithm| format!("  {:width$}  {}\n", algorithm.name(), algorithm.summary());
    let section = |title: &str, rows: String| format!("{title}\n{rows}");
    let of_select =
        |algorithm: SelectAlgorithm| format!("  {:width$}  {}\n", algorithm.name(), algorithm.summary());
    [
        section("scan", scans().map(row).collect()),
        section("sort", sorts().map(row).collect()),
        section("select", SelectAlgorithm::ALL.into_iter().map(of_select).collect()),
    ]
    .concat()
}

fn names(algorithms: impl Iterator<Item = Algorithm>) -> String {
    algorithms.map(Algorithm::name).collect::<Vec<_>>().join(", ")
}

fn other_primitive(
    name: &str,
    of: &str,
    command: &str,
    list: impl Iterator<Item = Algorithm>,
) -> CommandError {
    usage!("{name} is the algorithm of {of}; {command} has {}", names(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_is_found_by_its_name() {
        for algorithm in all() {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
        }
        assert_eq!("reduce-then-scan/subgroup".parse(), "reduce-then-scan".parse::<Algorithm>());
        assert!("chained/subgroup".parse::<Algorithm>().is_err());
        assert!("bogo".parse::<Algorithm>().is_err());
    }
}
