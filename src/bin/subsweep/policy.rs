//! From `--algorithm` and `--policy` to the policies of plans.

use std::str::FromStr;

use subsweep::Choice;
use subsweep::scan::{SCAN_ALGORITHMS, ScanPolicy};
use subsweep::sort::{SORT_ALGORITHMS, SortAlgorithm, SortPolicy};
use subsweep::vk::Capabilities;

use crate::args::{Common, PolicyKind};
use crate::error::Ended;

/// An algorithm, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Of a scan; there is one.
    Scan(&'static str),
    /// Of a sort.
    Sort(SortAlgorithm),
}

impl Algorithm {
    /// What selects it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scan(name) => name,
            Self::Sort(algorithm) => algorithm.name(),
        }
    }
}

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let scan = SCAN_ALGORITHMS.iter().find(|(name, _)| *name == text).map(|(name, _)| Self::Scan(name));
        let sort =
            || SortAlgorithm::ALL.into_iter().find(|algorithm| algorithm.name() == text).map(Self::Sort);
        scan.or_else(sort).ok_or_else(|| {
            format!("there are {} (scan), {} (sort)", names(SCAN_ALGORITHMS), names(SORT_ALGORITHMS))
        })
    }
}

/// Refuses the algorithm of a sort.
pub fn check_scan(common: &Common) -> Result<(), Ended> {
    match common.algorithm {
        Some(Algorithm::Sort(algorithm)) => {
            Err(other_primitive(algorithm.name(), "a sort", "scan", SCAN_ALGORITHMS))
        }
        Some(Algorithm::Scan(_)) | None => Ok(()),
    }
}

/// Refuses the algorithm of a scan.
pub fn check_sort(common: &Common) -> Result<(), Ended> {
    match common.algorithm {
        Some(Algorithm::Scan(name)) => Err(other_primitive(name, "a scan", "sort", SORT_ALGORITHMS)),
        Some(Algorithm::Sort(_)) | None => Ok(()),
    }
}

/// How a scan would go about it, and why.
pub fn of_scan(common: &Common, capabilities: &Capabilities, columns: u32) -> Choice<ScanPolicy> {
    match common.policy {
        None | Some(PolicyKind::Default) => ScanPolicy::choose(capabilities, columns),
        Some(PolicyKind::Seed) => {
            Choice { policy: ScanPolicy::seed(), reason: "it is asked for with --policy seed" }
        }
    }
}

/// How a sort would go about it, and why.
pub fn of_sort(common: &Common, capabilities: &Capabilities) -> Choice<SortPolicy> {
    let chosen = SortPolicy::choose(capabilities);
    let asked = match common.algorithm {
        Some(Algorithm::Sort(algorithm)) => Some(algorithm),
        Some(Algorithm::Scan(_)) | None => None,
    };
    match (common.policy, asked) {
        (None | Some(PolicyKind::Default), None) => chosen,
        (None | Some(PolicyKind::Default), Some(algorithm)) => Choice {
            policy: SortPolicy::tuned(algorithm, capabilities),
            reason: "it is asked for with --algorithm, tuned for the device",
        },
        (Some(PolicyKind::Seed), asked) => Choice {
            policy: SortPolicy::seed(asked.unwrap_or(chosen.policy.algorithm), capabilities),
            reason: "it is asked for with --policy seed",
        },
    }
}

/// What `--list-algorithms` prints.
pub fn list_algorithms() -> String {
    let all = || SCAN_ALGORITHMS.iter().chain(SORT_ALGORITHMS);
    let width = all().map(|(name, _)| name.len()).max().unwrap_or(0);
    let section = |title: &str, list: &[(&str, &str)]| {
        let rows: String = list.iter().map(|(name, what)| format!("  {name:width$}  {what}\n")).collect();
        format!("{title}\n{rows}")
    };
    section("scan", SCAN_ALGORITHMS) + &section("sort", SORT_ALGORITHMS)
}

fn names(list: &[(&str, &str)]) -> String {
    list.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

fn other_primitive(name: &str, of: &str, command: &str, list: &[(&str, &str)]) -> Ended {
    Ended::usage(format!("{name} is the algorithm of {of}; {command} has {}", names(list)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_in_the_lists_is_found_by_its_name() {
        for (name, _) in SCAN_ALGORITHMS {
            assert_eq!(name.parse(), Ok(Algorithm::Scan(name)));
        }
        for (name, _) in SORT_ALGORITHMS {
            assert!(
                matches!(name.parse(), Ok(Algorithm::Sort(algorithm)) if algorithm.name() == *name),
                "{name}"
            );
        }
        assert_eq!(SORT_ALGORITHMS.len(), SortAlgorithm::ALL.len());
        assert!("bogo".parse::<Algorithm>().is_err());
    }
}
