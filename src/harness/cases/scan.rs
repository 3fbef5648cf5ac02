//! Cases of scans.

mod chained;
mod covering;

use std::fmt;

pub(super) use covering::covering_cases;

use super::{Case, LARGE, PolicyName, Work, sizes};
use crate::ElementType;
use crate::device::Capabilities;
use crate::harness::inputs::Input;
use crate::scan::{ScanAlgorithm, ScanConfig, ScanKind, ScanOperator, ScanPolicy, SegmentsBy, WorkgroupScan};

/// Parameters of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanCase {
    /// Inclusive or exclusive.
    pub kind: ScanKind,
    /// The element type.
    pub element: ElementType,
    /// The operator.
    pub operator: ScanOperator,
    /// Elements per row.
    pub columns: u32,
    /// Whether the scan is in reverse, from the last row to the first.
    pub is_reverse: bool,
    /// Location of the initial value, if there is one.
    pub initial: Option<Place>,
    /// Representation of the segments, if there are any.
    pub segments: Option<SegmentsBy>,
    /// Host or indirect count.
    pub count_from: CountFrom,
    /// The algorithm.
    pub algorithm: ScanAlgorithm,
    /// The policy, by name.
    pub policy: PolicyName,
    /// An unnamed policy instead, for tuning.
    pub tried: Option<ScanPolicy>,
    /// Whether source and destination are the same range.
    pub in_place: bool,
    /// Offset of the ranges from a multiple of 16, in bytes.
    pub misalignment: u32,
}

/// Location of a value when a plan is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// In host memory.
    Host,
    /// In device memory.
    Device,
}

/// Location of the count when a plan is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CountFrom {
    /// In host memory.
    Host,
    /// An indirect count below its maximum.
    Device,
    /// An indirect count above its maximum, clamped to it.
    DeviceBeyond,
}

impl CountFrom {
    /// All locations.
    pub(super) const ALL: [Self; 3] = [Self::Host, Self::Device, Self::DeviceBeyond];

    /// The maximum count, for which memory is sized, if `count` rows are scanned.
    pub(in crate::harness) const fn room(self, count: u64) -> u64 {
        match self {
            Self::Host | Self::DeviceBeyond => count,
            Self::Device => count + count / 2 + 3,
        }
    }

    /// The parameter in an id; empty for a count on the host.
    pub(super) const fn parameter(self) -> &'static str {
        match self {
            Self::Host => "",
            Self::Device => ";count=device",
            Self::DeviceBeyond => ";count=device-beyond",
        }
    }
}

impl ScanCase {
    /// The inclusive sum of single u32, out of place and aligned.
    pub const fn sum_of_u32(policy: PolicyName) -> Self {
        Self {
            kind: ScanKind::Inclusive,
            element: ElementType::U32,
            operator: ScanOperator::Add,
            columns: 1,
            is_reverse: false,
            initial: None,
            segments: None,
            count_from: CountFrom::Host,
            algorithm: ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup),
            policy,
            tried: None,
            in_place: false,
            misalignment: 0,
        }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> ScanPolicy {
        self.tried.unwrap_or_else(|| self.policy.scan(capabilities, self.algorithm, &self.config()))
    }

    /// The plan's configuration without its policy.
    pub const fn config(&self) -> ScanConfig {
        let mut config =
            ScanConfig::new(self.kind).element(self.element).operator(self.operator).columns(self.columns);
        if self.is_reverse {
            config = config.reverse();
        }
        if self.initial.is_some() {
            config = config.with_initial();
        }
        if let Some(segments) = self.segments {
            config = config.segments(segments);
        }
        match self.count_from {
            CountFrom::Host => config,
            CountFrom::Device | CountFrom::DeviceBeyond => config.counts_on_device(),
        }
    }
}

impl ScanCase {
    /// Whether its kernels compile to the same code as another case's: textbook scans of either kind, and the single
    /// pass with either location of the count.
    fn is_like_another(&self) -> bool {
        match self.algorithm {
            ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup) => false,
            ScanAlgorithm::Chained => self.count_from != CountFrom::Host,
            _ => self.kind == ScanKind::Exclusive,
        }
    }
}

impl fmt::Display for ScanCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ScanKind::Inclusive => "inclusive",
            ScanKind::Exclusive => "exclusive",
        };
        write!(f, "scan:{kind}:type={}", self.element)?;
        // Ids are stable: sums predate this parameter.
        if self.operator != ScanOperator::Add {
            write!(f, ";op={}", self.operator)?;
        }
        if self.is_reverse {
            write!(f, ";reverse")?;
        }
        match self.initial {
            None => {}
            Some(Place::Host) => write!(f, ";initial=host")?,
            Some(Place::Device) => write!(f, ";initial=device")?,
        }
        if let Some(segments) = self.segments {
            write!(f, ";segments={}", segments.name())?;
        }
        write!(
            f,
            "{};columns={};algorithm={};policy=",
            self.count_from.parameter(),
            self.columns,
            self.algorithm.name(),
        )?;
        match &self.tried {
            None => f.write_str(self.policy.name())?,
            Some(policy) => write!(f, "{}", policy.shape_name())?,
        }
        write!(f, ";place={};misalign={}", if self.in_place { "in" } else { "out" }, self.misalignment)
    }
}

/// Entries of the table of tutorial 14.
const TUTORIAL: u64 = 1 << 25;

/// All cases except the covering ones and products.
pub(super) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = plain_scan_cases(capabilities);
    cases.extend(typed_scan_cases(capabilities));
    cases.extend(scan_kind_cases(capabilities));
    cases.extend(chained::full_cases(capabilities));
    cases.extend(textbook_scan_cases(capabilities));
    let scan =
        |policy, columns| Work::Scan(ScanCase { columns, in_place: true, ..ScanCase::sum_of_u32(policy) });
    let large = [
        (scan(PolicyName::Default, 1), LARGE),
        (scan(PolicyName::Seed, 1), LARGE),
        (scan(PolicyName::Default, 4), TUTORIAL),
        (scan(PolicyName::Seed, 4), TUTORIAL),
    ];
    cases.extend(large.map(|(work, count)| Case { work, count, input: Input::Uniform }));
    cases
}

/// A scan for each specialization of a kernel by a selectable policy.
pub(super) fn selectable_works(capabilities: &Capabilities) -> Vec<ScanCase> {
    let mut scans = Vec::new();
    for case in full_cases(capabilities) {
        if let Work::Scan(scan) = case.work
            && scan.policy != PolicyName::Small
            && scan.misalignment == 0
            && !scan.is_like_another()
            && !scans.contains(&scan)
        {
            scans.push(scan);
        }
    }
    // The full table has these in small tiles only.
    let sums = ScanCase::sum_of_u32(PolicyName::Default);
    scans.push(ScanCase { segments: Some(SegmentsBy::Flags), ..sums.clone() });
    scans.push(ScanCase { algorithm: ScanAlgorithm::Chained, is_reverse: true, ..sums });
    scans
}

/// Each of [`selectable_works`] in a single tile and in several, aligned and misaligned.
pub(super) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for (index, scan) in selectable_works(capabilities).into_iter().enumerate() {
        let tile = u64::from(scan.policy(capabilities).tile_items());
        for (step, misalignment) in [0, 4].into_iter().enumerate() {
            // Aligned: a whole number of quads, which excludes accesses by word.
            let few = if misalignment == 0 { 8 } else { 5 };
            for (turn, count) in [few, 2 * tile + 1].into_iter().enumerate() {
                let work = Work::Scan(ScanCase { misalignment, ..scan.clone() });
                let input = [Input::Distinguishing, Input::EdgeValues][(index + step + turn) % 2];
                cases.push(Case { work, count, input });
            }
        }
    }
    cases.extend(deep_cases(capabilities));
    cases
}

/// Three levels of small tiles: each algorithm that the covering cases lack, and each kernel that they run with two
/// levels only.
fn deep_cases(capabilities: &Capabilities) -> Vec<Case> {
    let sums = ScanCase::sum_of_u32(PolicyName::Small);
    let of = |element, operator, columns| ScanCase { element, operator, columns, ..sums.clone() };
    let others = ScanAlgorithm::ALL.into_iter().filter(|&algorithm| !is_known(algorithm));
    let mut scans: Vec<_> = others.map(|algorithm| ScanCase { algorithm, ..sums.clone() }).collect();
    scans.extend([
        of(ElementType::F32, ScanOperator::Max, 1),
        of(ElementType::U64, ScanOperator::Min, 2),
        of(ElementType::F64, ScanOperator::Add, 16),
        ScanCase { segments: Some(SegmentsBy::Offsets), ..of(ElementType::F64, ScanOperator::Add, 16) },
        // Groups of tiles in the fixed-shape reduction tree.
        ScanCase { algorithm: ScanAlgorithm::Chained, ..of(ElementType::F32, ScanOperator::Add, 1) },
    ]);
    // One element more than two levels hold, and whole quads only.
    let cases = |scan: ScanCase| {
        let tile = u64::from(scan.policy(capabilities).tile_items());
        let case = move |more| {
            let count = (tile * tile).min(65_536) + more;
            Case { work: Work::Scan(scan.clone()), count, input: Input::Distinguishing }
        };
        [1, 0].map(case)
    };
    scans.into_iter().flat_map(cases).collect()
}

/// Whether an algorithm is not one of the textbooks'.
fn is_known(algorithm: ScanAlgorithm) -> bool {
    matches!(algorithm, ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup) | ScanAlgorithm::Chained)
}

/// Sums of u32 in one to four columns, at the boundaries of every policy.
fn plain_scan_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    let lanes = u64::from(capabilities.subgroup_size);
    for columns in 1..=4 {
        for policy in [PolicyName::Default, PolicyName::Small, PolicyName::Seed] {
            for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
                // The seed's scan is inclusive and in place only.
                if policy == PolicyName::Seed && kind == ScanKind::Exclusive {
                    continue;
                }
                let in_place = policy == PolicyName::Seed || columns % 2 == 0;
                let sums = ScanCase { kind, columns, ..ScanCase::sum_of_u32(policy) };
                let tile = sums.policy(capabilities).tile_items().into();
                let work =
                    |in_place, misalignment| Work::Scan(ScanCase { in_place, misalignment, ..sums.clone() });
                for count in sizes(lanes, tile) {
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
    cases
}

/// Scans of types other than u32, with operators other than the sum, and with wider rows.
///
/// One policy suffices to verify a type and an operator: the small one, which has several levels with few elements and
/// compiles fast. Default tiles depend on the row size, and are verified once for each.
fn typed_scan_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut scans = Vec::new();
    for (index, element) in ElementType::ALL.into_iter().enumerate() {
        let operators = ScanOperator::ALL.into_iter().filter(|operator| operator.takes(element));
        for (turn, operator) in operators.enumerate() {
            let kind = if (index + turn) % 2 == 0 { ScanKind::Inclusive } else { ScanKind::Exclusive };
            let is_known = (element, operator) == (ElementType::U32, ScanOperator::Add);
            if !is_known {
                scans.push((PolicyName::Small, kind, element, operator, 1));
            }
        }
    }
    let (inclusive, exclusive) = (ScanKind::Inclusive, ScanKind::Exclusive);
    for (policy, kind, element, operator, columns) in [
        (PolicyName::Default, inclusive, ElementType::F32, ScanOperator::Add, 1),
        (PolicyName::Default, exclusive, ElementType::F32, ScanOperator::Max, 4),
        (PolicyName::Default, inclusive, ElementType::I64, ScanOperator::Add, 1),
        (PolicyName::Default, inclusive, ElementType::U64, ScanOperator::Min, 2),
        (PolicyName::Default, exclusive, ElementType::F64, ScanOperator::Add, 1),
        (PolicyName::Default, inclusive, ElementType::F64, ScanOperator::Mul, 2),
        (PolicyName::Default, inclusive, ElementType::U32, ScanOperator::Add, 16),
        (PolicyName::Default, exclusive, ElementType::I64, ScanOperator::Max, 5),
        (PolicyName::Default, inclusive, ElementType::F64, ScanOperator::Add, 3),
        (PolicyName::Default, exclusive, ElementType::I32, ScanOperator::Min, 2),
        (PolicyName::Default, inclusive, ElementType::F32, ScanOperator::Mul, 3),
        (PolicyName::Small, exclusive, ElementType::U32, ScanOperator::Xor, 5),
        (PolicyName::Small, inclusive, ElementType::F32, ScanOperator::Min, 7),
        (PolicyName::Small, exclusive, ElementType::U64, ScanOperator::Add, 16),
        (PolicyName::Small, inclusive, ElementType::F64, ScanOperator::Max, 16),
    ] {
        scans.push((policy, kind, element, operator, columns));
    }
    let mut cases = Vec::new();
    for (index, (policy, kind, element, operator, columns)) in scans.into_iter().enumerate() {
        let in_place = index % 2 == 0;
        let sums = ScanCase::sum_of_u32(policy);
        let scan = ScanCase { kind, element, operator, columns, in_place, ..sums };
        let tile = u64::from(scan.policy(capabilities).tile_items());
        let mut add = |misalignment, count, input| {
            let work = Work::Scan(ScanCase { misalignment, ..scan.clone() });
            cases.push(Case { work, count, input });
        };
        for count in [0, 1, tile - 1, tile + 1, 3 * tile + 7] {
            add(0, count, Input::Distinguishing);
        }
        add(0, 3 * tile + 7, Input::EdgeValues);
        add(4, 2 * tile + 3, Input::Distinguishing);
        if policy == PolicyName::Small {
            add(0, (tile * tile + 1).min(1 << 17), Input::Distinguishing);
        }
        add(0, (1 << 20) + 1, Input::Distinguishing);
        add(8, 99_991, Input::EdgeValues);
    }
    cases
}

/// Scans with options: every pair of reverse, initial value, segments and indirect count in small tiles, with operators
/// that are and are not exact; and each option alone with others.
fn scan_kind_cases(capabilities: &Capabilities) -> Vec<Case> {
    let plain = ScanCase::sum_of_u32(PolicyName::Small);
    let mut scans = Vec::new();
    let segments = [None].into_iter().chain(SegmentsBy::ALL.map(Some));
    for (index, segments) in segments.enumerate() {
        for is_reverse in [false, true] {
            for (step, initial) in [None, Some(Place::Host), Some(Place::Device)].into_iter().enumerate() {
                let is_plain = segments.is_none() && !is_reverse && initial.is_none();
                let counts = [CountFrom::Host, CountFrom::Device, CountFrom::DeviceBeyond];
                let kinds = [ScanKind::Inclusive, ScanKind::Exclusive];
                // Every count without other options, and the counts in turn with them.
                let counts = if is_plain { &counts[1..] } else { &counts[(index + step) % 3..][..1] };
                for &count_from in counts {
                    let kind = kinds[(index + step + usize::from(is_reverse)) % 2];
                    scans.push(ScanCase { kind, is_reverse, initial, segments, count_from, ..plain.clone() });
                }
            }
        }
    }
    let offsets = Some(SegmentsBy::Offsets);
    let device = Some(Place::Device);
    for (element, operator, columns, is_reverse, initial, segments, policy) in [
        (ElementType::F32, ScanOperator::Max, 1, true, device, None, PolicyName::Small),
        (ElementType::F32, ScanOperator::Add, 1, true, Some(Place::Host), offsets, PolicyName::Small),
        (ElementType::F32, ScanOperator::Add, 1, false, None, offsets, PolicyName::Default),
        (ElementType::U32, ScanOperator::Add, 1, true, None, None, PolicyName::Default),
        (ElementType::U32, ScanOperator::Add, 4, true, device, None, PolicyName::Default),
        (ElementType::U32, ScanOperator::Xor, 3, true, Some(Place::Host), None, PolicyName::Small),
        (ElementType::I32, ScanOperator::Min, 3, false, device, Some(SegmentsBy::Keys32), PolicyName::Small),
        (ElementType::U32, ScanOperator::Add, 16, true, device, offsets, PolicyName::Default),
        (ElementType::I64, ScanOperator::Add, 1, true, Some(Place::Host), None, PolicyName::Small),
        (ElementType::U64, ScanOperator::Max, 1, false, device, Some(SegmentsBy::Flags), PolicyName::Default),
        (ElementType::I64, ScanOperator::Mul, 5, true, device, Some(SegmentsBy::Keys64), PolicyName::Default),
        (ElementType::F64, ScanOperator::Add, 1, true, device, offsets, PolicyName::Default),
        (ElementType::F64, ScanOperator::Add, 2, false, Some(Place::Host), offsets, PolicyName::Default),
        (ElementType::F64, ScanOperator::Min, 1, false, None, Some(SegmentsBy::Keys32), PolicyName::Small),
    ] {
        let sums = ScanCase::sum_of_u32(policy);
        scans.push(ScanCase { element, operator, columns, is_reverse, initial, segments, ..sums });
    }
    let default = ScanCase::sum_of_u32(PolicyName::Default);
    scans.push(ScanCase { count_from: CountFrom::Device, columns: 5, ..default });
    for (algorithm, element, operator, is_reverse, initial) in [
        (ScanAlgorithm::Strided, ElementType::U32, ScanOperator::Add, true, None),
        (ScanAlgorithm::Chained, ElementType::U32, ScanOperator::Add, true, None),
        (ScanAlgorithm::Chained, ElementType::F32, ScanOperator::Add, true, device),
        (ScanAlgorithm::Chained, ElementType::I64, ScanOperator::Min, false, Some(Place::Host)),
    ] {
        scans.push(ScanCase { element, operator, is_reverse, initial, algorithm, ..plain.clone() });
    }
    let mut cases = Vec::new();
    for (index, scan) in scans.into_iter().enumerate() {
        let tile = u64::from(scan.policy(capabilities).tile_items());
        let is_chained = scan.algorithm == ScanAlgorithm::Chained;
        let mut add = |in_place, misalignment, count| {
            let in_place = in_place && !is_chained;
            let work = Work::Scan(ScanCase { in_place, misalignment, ..scan.clone() });
            cases.push(Case { work, count, input: Input::Distinguishing });
        };
        let in_place = index % 2 == 0;
        for count in [0, 1, tile - 1, tile + 1, 3 * tile + 7] {
            add(in_place, 0, count);
        }
        add(!in_place, 4, 2 * tile + 3);
        if scan.policy == PolicyName::Small {
            add(in_place, 0, (tile * tile + 1).min(1 << 17));
        }
        add(in_place, 0, (1 << 20) + 1);
    }
    cases
}

/// Every operator on every type, inclusive and exclusive, forward and reverse, with both algorithms that support all of
/// them, in small tiles.
pub(super) fn product_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut scans = Vec::new();
    for element in ElementType::ALL {
        for operator in ScanOperator::ALL.into_iter().filter(|operator| operator.takes(element)) {
            for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
                for is_reverse in [false, true] {
                    for algorithm in
                        [ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup), ScanAlgorithm::Chained]
                    {
                        let sums = ScanCase::sum_of_u32(PolicyName::Small);
                        scans.push(ScanCase { element, operator, kind, is_reverse, algorithm, ..sums });
                    }
                }
            }
        }
    }
    let mut cases = Vec::new();
    for scan in scans {
        let tile = u64::from(scan.policy(capabilities).tile_items());
        // Counts and inputs that the other tables lack.
        for (count, input) in [
            (2, Input::EdgeValues),
            (tile, Input::Distinguishing),
            (tile + 1, Input::EdgeValues),
            (2 * tile, Input::Distinguishing),
            (99_991, Input::Distinguishing),
            (tile * tile + 2, Input::EdgeValues),
        ] {
            cases.push(Case { work: Work::Scan(scan.clone()), count, input });
        }
    }
    cases
}

/// Textbook scans at the boundaries of their tiles, in place and out of place, and of both kinds if supported.
fn textbook_scan_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for algorithm in ScanAlgorithm::ALL.into_iter().filter(|&algorithm| !is_known(algorithm)) {
        for (policy, kind, in_place) in [
            (PolicyName::Default, ScanKind::Inclusive, false),
            (PolicyName::Default, ScanKind::Exclusive, true),
            (PolicyName::Small, ScanKind::Inclusive, true),
            (PolicyName::Small, ScanKind::Exclusive, false),
        ] {
            let scan = ScanCase { kind, algorithm, in_place, ..ScanCase::sum_of_u32(policy) };
            if algorithm.refusal(&scan.config()).is_some() {
                continue;
            }
            let tile = u64::from(scan.policy(capabilities).tile_items());
            let mut add = |misalignment, count, input| {
                let work = Work::Scan(ScanCase { misalignment, ..scan.clone() });
                cases.push(Case { work, count, input });
            };
            let mut counts = vec![0, 1, 2, 3, tile - 1, tile, tile + 1, 3 * tile, 4 * tile + 11];
            counts.extend([65_535, 65_536, 65_537, 99_991, (1 << 20) - 1, (1 << 20) + 1, (1 << 22) + 1]);
            counts.sort_unstable();
            counts.dedup();
            for count in counts {
                add(0, count, Input::Uniform);
            }
            for input in [Input::Constant(1), Input::Constant(u32::MAX)] {
                add(0, 3 * tile + 7, input);
            }
            add(4, 2 * tile + 3, Input::Uniform);
        }
    }
    cases
}

/// A sum of u32 with each algorithm, tuned.
pub(super) fn all_algorithms() -> Vec<Work> {
    let scan = |algorithm| Work::Scan(ScanCase { algorithm, ..ScanCase::sum_of_u32(PolicyName::Default) });
    ScanAlgorithm::ALL.map(scan).into()
}

/// The benchmark works.
pub(super) fn bench_works() -> Vec<Work> {
    let mut works = Vec::new();
    for (columns, policy, in_place) in
        [(1, PolicyName::Default, false), (4, PolicyName::Default, false), (1, PolicyName::Seed, true)]
    {
        works.push(Work::Scan(ScanCase { columns, in_place, ..ScanCase::sum_of_u32(policy) }));
    }
    let algorithm = ScanAlgorithm::Chained;
    works.push(Work::Scan(ScanCase { algorithm, ..ScanCase::sum_of_u32(PolicyName::Default) }));
    works
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::cases::tests::{capabilities, expect_unique};

    #[test]
    fn ids_are_unique() {
        let capabilities = capabilities();
        let cases = [
            typed_scan_cases(&capabilities),
            textbook_scan_cases(&capabilities),
            scan_kind_cases(&capabilities),
            chained::counted_cases(&capabilities),
            product_cases(&capabilities),
        ]
        .concat();
        expect_unique(&cases);
    }
}
