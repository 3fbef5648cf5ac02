//! The cases of sorts.

use std::fmt;
use std::ops::Range;

use super::{Case, Effort, LARGE, PolicyName, Work, sizes};
use crate::harness::inputs::Input;
use crate::sort::SortAlgorithm;
use crate::vk::Capabilities;

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

impl fmt::Display for SortCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "sort:keys:type=u32;algorithm={};policy={};bits={}:{};misalign={}",
            self.algorithm.name(),
            self.policy.name(),
            self.bits.start,
            self.bits.end,
            self.misalignment
        )
    }
}

/// The cases that prove a device right.
pub(super) fn verify_cases(effort: Effort, capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    let lanes = u64::from(capabilities.subgroup_size);
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
        for algorithm in SortAlgorithm::ALL {
            let work =
                Work::Sort(SortCase { algorithm, policy: PolicyName::Default, bits: 0..32, misalignment: 0 });
            cases.push(Case { work, count: LARGE, input: Input::Uniform });
        }
    }
    cases
}

/// The works that are worth measuring.
pub(super) fn bench_works() -> Vec<Work> {
    let mut works = Vec::new();
    for policy in [PolicyName::Default, PolicyName::Seed] {
        for algorithm in SortAlgorithm::ALL {
            works.push(Work::Sort(SortCase { algorithm, policy, bits: 0..32, misalignment: 0 }));
        }
    }
    works
}
