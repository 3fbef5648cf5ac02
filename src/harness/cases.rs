//! The table of cases.

use std::fmt;
use std::ops::Range;

use super::inputs::Input;
use crate::scan::{ScanAlgorithm, ScanKind, ScanPolicy};
use crate::sort::{SortAlgorithm, SortPolicy};
use crate::vk::Capabilities;

/// A piece of work with a stable id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// What is done.
    pub work: Work,
    /// To how many elements.
    pub count: u64,
    /// And what is in them.
    pub input: Input,
}

/// A primitive and its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// A prefix sum.
    Scan(ScanCase),
    /// A radix sort.
    Sort(SortCase),
}

/// A prefix sum's parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanCase {
    /// Inclusive or exclusive.
    pub kind: ScanKind,
    /// Numbers in a row.
    pub columns: u32,
    /// How it is tuned.
    pub policy: PolicyName,
    /// Whether source and destination are one range.
    pub in_place: bool,
    /// Bytes by which the ranges miss a multiple of 16.
    pub misalignment: u32,
}

/// A radix sort's parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortCase {
    /// How many bits a pass takes.
    pub algorithm: SortAlgorithm,
    /// How it is tuned.
    pub policy: PolicyName,
    /// The bits that are sorted by.
    pub bits: Range<u32>,
    /// Bytes by which the keys miss a multiple of 16.
    pub misalignment: u32,
}

/// A policy, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PolicyName {
    /// The one that the library chooses.
    Default,
    /// The source documents' own.
    Seed,
    /// Small tiles: many levels from few elements.
    Small,
}

impl PolicyName {
    /// The name that selects it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Seed => "seed",
            Self::Small => "small",
        }
    }

    /// The policy of a scan on a device.
    pub fn scan(self, capabilities: &Capabilities, columns: u32) -> ScanPolicy {
        match self {
            Self::Default => ScanPolicy::choose(capabilities, columns).policy,
            Self::Seed => ScanPolicy::seed(),
            Self::Small => ScanPolicy::tiled(small_workgroup(capabilities), 4, 4),
        }
    }

    /// The policy of a sort on a device.
    pub fn sort(self, capabilities: &Capabilities, algorithm: SortAlgorithm) -> SortPolicy {
        match self {
            Self::Default => SortPolicy::tuned(algorithm, capabilities),
            Self::Seed => SortPolicy::seed(algorithm, capabilities),
            Self::Small => {
                let mut policy = SortPolicy::tuned(algorithm, capabilities);
                policy.workgroup_size = small_workgroup(capabilities);
                policy.items_per_invocation = 4;
                policy.scan = self.scan(capabilities, 1);
                policy
            }
        }
    }
}

fn small_workgroup(capabilities: &Capabilities) -> u32 {
    capabilities.max_subgroup_size.max(32)
}

impl Case {
    /// The primitive and its kind: what results are counted by.
    pub fn group(&self) -> String {
        let id = self.id();
        let end = id.match_indices(':').nth(1).map_or(id.len(), |(end, _)| end);
        id[..end].to_owned()
    }

    /// Names the case for good: `sort:keys:type=u32;algorithm=radix-4bit;…;n=1048576;input=uniform`.
    pub fn id(&self) -> String {
        format!("{};n={};input={}", self.work, self.count, self.input)
    }

    /// Bytes of an element.
    pub fn element_size(&self) -> u64 {
        match &self.work {
            Work::Scan(scan) => u64::from(scan.columns) * 4,
            Work::Sort(_) => 4,
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scan(scan) => {
                let kind = match scan.kind {
                    ScanKind::Inclusive => "inclusive",
                    ScanKind::Exclusive => "exclusive",
                };
                write!(
                    f,
                    "scan:{kind}:type=u32;columns={};algorithm={};policy={};place={};misalign={}",
                    scan.columns,
                    ScanAlgorithm::ReduceThenScan.name(),
                    scan.policy.name(),
                    if scan.in_place { "in" } else { "out" },
                    scan.misalignment
                )
            }
            Self::Sort(sort) => write!(
                f,
                "sort:keys:type=u32;algorithm={};policy={};bits={}:{};misalign={}",
                sort.algorithm.name(),
                sort.policy.name(),
                sort.bits.start,
                sort.bits.end,
                sort.misalignment
            ),
        }
    }
}

/// How much is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effort {
    /// Seconds.
    Quick,
    /// A minute or a few.
    #[default]
    Normal,
    /// As long as it takes, and as much memory.
    Full,
}

/// Beyond lavapipe's 128 MiB binding range, and no power of two.
const LARGE: u64 = (1 << 26) + 3;
/// The table of tutorial 14, in entries.
const TUTORIAL: u64 = 1 << 25;

/// The cases that prove a device right.
pub fn verify_cases(effort: Effort, capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    let lanes = u64::from(capabilities.subgroup_size);

    for columns in 1..=4 {
        for policy in [PolicyName::Default, PolicyName::Small, PolicyName::Seed] {
            for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
                // The seed's scan is inclusive and in place.
                if policy == PolicyName::Seed && kind == ScanKind::Exclusive {
                    continue;
                }
                let in_place = policy == PolicyName::Seed || columns % 2 == 0;
                let tile = policy.scan(capabilities, columns).tile_items().into();
                let work = |in_place, misalignment| {
                    Work::Scan(ScanCase { kind, columns, policy, in_place, misalignment })
                };
                for count in sizes(effort, lanes, tile) {
                    cases.push(Case { work: work(in_place, 0), count, input: Input::Uniform });
                }
                for input in Input::ALL.into_iter().filter(|&input| input != Input::Uniform) {
                    cases.push(Case { work: work(in_place, 0), count: 3 * tile + 7, input });
                }
                for misalignment in [4, 8, 12] {
                    let count = 2 * tile + 3;
                    cases.push(Case { work: work(true, misalignment), count, input: Input::Uniform });
                }
                if policy != PolicyName::Seed {
                    let count = 3 * tile + 5;
                    cases.push(Case { work: work(!in_place, 0), count, input: Input::Uniform });
                }
            }
        }
    }

    for algorithm in SortAlgorithm::ALL {
        for policy in [PolicyName::Default, PolicyName::Small, PolicyName::Seed] {
            let tile = policy.sort(capabilities, algorithm).tile_items().into();
            let work = |bits, misalignment| Work::Sort(SortCase { algorithm, policy, bits, misalignment });
            for count in sizes(effort, lanes, tile) {
                cases.push(Case { work: work(0..32, 0), count, input: Input::Uniform });
            }
            for input in Input::ALL {
                cases.push(Case { work: work(0..32, 0), count: 3 * tile + 7, input });
            }
            // A range of bits leaves the others in the order they came: this is the proof of stability.
            for bits in [0..0, 0..1, 3..11, 8..32, 13..14, 24..32, 31..32] {
                cases.push(Case { work: work(bits, 0), count: 2 * tile + 1, input: Input::Uniform });
            }
            for misalignment in [4, 8, 12] {
                let count = 2 * tile + 3;
                cases.push(Case { work: work(0..32, misalignment), count, input: Input::Uniform });
            }
        }
    }

    if effort == Effort::Full {
        let scan = |policy, columns| {
            let (kind, in_place, misalignment) = (ScanKind::Inclusive, true, 0);
            Work::Scan(ScanCase { kind, columns, policy, in_place, misalignment })
        };
        let sort = |algorithm| {
            Work::Sort(SortCase { algorithm, policy: PolicyName::Default, bits: 0..32, misalignment: 0 })
        };
        let large = [
            (scan(PolicyName::Default, 1), LARGE),
            (scan(PolicyName::Seed, 1), LARGE),
            (scan(PolicyName::Default, 4), TUTORIAL),
            (scan(PolicyName::Seed, 4), TUTORIAL),
            (sort(SortAlgorithm::Radix4Bit), LARGE),
            (sort(SortAlgorithm::Radix2Bit), LARGE),
        ];
        cases.extend(large.map(|(work, count)| Case { work, count, input: Input::Uniform }));
    }
    cases
}

/// Element counts at every boundary of a device and a policy.
fn sizes(effort: Effort, lanes: u64, tile: u64) -> Vec<u64> {
    let mut sizes =
        vec![0, 1, 2, lanes - 1, lanes, lanes + 1, 257, tile - 1, tile, tile + 1, 2 * tile, 4 * tile + 11];
    if effort != Effort::Quick {
        sizes.extend([65_535, 65_536, 65_537, 99_991, (1 << 20) - 1, (1 << 20) + 1]);
        // Two levels of tiles, and the first count that takes three.
        sizes.extend([tile * tile, tile * tile + 1].into_iter().filter(|&size| size <= 1 << 20));
    }
    if effort == Effort::Full {
        sizes.extend([1_299_709, (1 << 22) - 1, 1 << 22, (1 << 22) + 1]);
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The cases that are worth measuring.
pub fn bench_cases(effort: Effort) -> Vec<Case> {
    let counts: &[u64] = match effort {
        Effort::Quick => &[1 << 16, 1 << 20],
        Effort::Normal => &[1 << 12, 1 << 16, 1 << 20, 1 << 22, 1 << 24],
        Effort::Full => &[1 << 8, 1 << 12, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28],
    };
    let mut works = Vec::new();
    for (columns, policy, in_place) in
        [(1, PolicyName::Default, false), (4, PolicyName::Default, false), (1, PolicyName::Seed, true)]
    {
        let (kind, misalignment) = (ScanKind::Inclusive, 0);
        works.push(Work::Scan(ScanCase { kind, columns, policy, in_place, misalignment }));
    }
    for policy in [PolicyName::Default, PolicyName::Seed] {
        for algorithm in SortAlgorithm::ALL {
            works.push(Work::Sort(SortCase { algorithm, policy, bits: 0..32, misalignment: 0 }));
        }
    }
    let mut cases = Vec::new();
    for work in works {
        for &count in counts {
            cases.push(Case { work: work.clone(), count, input: Input::Uniform });
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_its_group() {
        for case in bench_cases(Effort::Quick) {
            assert!(["scan:inclusive", "sort:keys"].contains(&case.group().as_str()), "{}", case.group());
        }
    }

    #[test]
    fn ids_are_unique() {
        let mut ids: Vec<_> = bench_cases(Effort::Full).iter().map(Case::id).collect();
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all);
    }
}
