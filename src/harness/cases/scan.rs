//! The cases of scans.

mod chained;
mod covering;

use std::fmt;

pub(super) use covering::covering_cases;

use super::{Case, LARGE, PolicyName, Work, sizes};
use crate::ElementType;
use crate::device::Capabilities;
use crate::harness::inputs::Input;
use crate::scan::{ScanAlgorithm, ScanConfig, ScanKind, ScanOperator, ScanPolicy, SegmentsBy, WorkgroupScan};

/// A prefix sum's parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanCase {
    /// Inclusive or exclusive.
    pub kind: ScanKind,
    /// The type of the numbers.
    pub element: ElementType,
    /// What they are combined by.
    pub operator: ScanOperator,
    /// Numbers in a row.
    pub columns: u32,
    /// Whether it goes from the last row to the first.
    pub is_reverse: bool,
    /// Where the initial value is, if it has one.
    pub initial: Option<Place>,
    /// What says where segments begin, if it has any.
    pub segments: Option<SegmentsBy>,
    /// Who knows the count.
    pub count_from: CountFrom,
    /// How it is gone about.
    pub algorithm: ScanAlgorithm,
    /// How that is tuned.
    pub policy: PolicyName,
    /// A policy in place of that, which has no name: one of many that are tried.
    pub tried: Option<ScanPolicy>,
    /// Whether source and destination are one range.
    pub in_place: bool,
    /// Bytes by which the ranges miss a multiple of 16.
    pub misalignment: u32,
}

/// Where a value is when a plan is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// On the host.
    Host,
    /// In memory of the device.
    Device,
}

/// Where a count is when a plan is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CountFrom {
    /// On the host.
    Host,
    /// In memory of the device, and less than there is room for.
    Device,
    /// In memory of the device, and more than there is room for, which is what is scanned.
    DeviceBeyond,
}

impl CountFrom {
    /// All of them.
    pub(super) const ALL: [Self; 3] = [Self::Host, Self::Device, Self::DeviceBeyond];

    /// Rows that there is room for, where `count` are scanned.
    pub(in crate::harness) const fn room(self, count: u64) -> u64 {
        match self {
            Self::Host | Self::DeviceBeyond => count,
            Self::Device => count + count / 2 + 3,
        }
    }

    /// What an id says of it; nothing where the host knows it.
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

    /// What a plan is made for, but for its policy.
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
    /// Whether a compiler makes of its kernels what it makes of another's: of the textbooks' scans of either kind, and of the
    /// single pass wherever its count is.
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
        // Sums were there first, and their names are for good.
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

/// The table of tutorial 14, in entries.
const TUTORIAL: u64 = 1 << 25;

/// All cases but the covering ones and products.
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

/// A scan for each specialization of a kernel by a policy that can be chosen.
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
    // What the full table has in small tiles alone.
    let sums = ScanCase::sum_of_u32(PolicyName::Default);
    scans.push(ScanCase { segments: Some(SegmentsBy::Flags), ..sums.clone() });
    scans.push(ScanCase { algorithm: ScanAlgorithm::Chained, is_reverse: true, ..sums });
    scans
}

/// Each of [`selectable_works`] in one tile, however small, and in several, of aligned elements and of others.
pub(super) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for (index, scan) in selectable_works(capabilities).into_iter().enumerate() {
        let tile = u64::from(scan.policy(capabilities).tile_items());
        for (place, misalignment) in [0, 4].into_iter().enumerate() {
            // Where quads are not mixed with words, a whole number of quads.
            let few = if misalignment == 0 { 8 } else { 5 };
            for (turn, count) in [few, 2 * tile + 1].into_iter().enumerate() {
                let work = Work::Scan(ScanCase { misalignment, ..scan.clone() });
                let input = [Input::Distinguishing, Input::EdgeValues][(index + place + turn) % 2];
                cases.push(Case { work, count, input });
            }
        }
    }
    cases.extend(deep_cases(capabilities));
    cases
}

/// Three levels of tiles, which are small for that: by each algorithm that the covering cases have not, and in each kernel
/// that they take two levels of.
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
        // Groups of tiles in the fixed tree.
        ScanCase { algorithm: ScanAlgorithm::Chained, ..of(ElementType::F32, ScanOperator::Add, 1) },
    ]);
    // One element more than two levels hold; and quads that are all whole.
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

/// Whether an algorithm is none of the textbooks'.
fn is_known(algorithm: ScanAlgorithm) -> bool {
    matches!(algorithm, ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup) | ScanAlgorithm::Chained)
}

/// The sums of u32 in a few columns, at the seams of every policy.
fn plain_scan_cases(capabilities: &Capabilities) -> Vec<Case> {
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

/// The scans of other numbers than u32, by other operators than the sum, and of wider rows.
///
/// One policy is enough to tell a type and an operator, and the small one takes several levels of few elements and
/// little time to compile; the default's tiles differ with what a row holds, and are tried once for each.
fn typed_scan_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut scans = Vec::new();
    for (index, element) in ElementType::ALL.into_iter().enumerate() {
        let operators = ScanOperator::ALL.into_iter().filter(|operator| operator.takes(element));
        for (place, operator) in operators.enumerate() {
            let kind = if (index + place) % 2 == 0 { ScanKind::Inclusive } else { ScanKind::Exclusive };
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

/// The scans that do more than scan all rows from the first on: every pair of reverse, initial value, segments and count
/// on the device, in small tiles, on operators that do and do not commute with rounding; and each by itself on others.
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
                // Every count where it is alone, and a change from one to the next elsewhere.
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

/// Every operator on every type, inclusive and exclusive, from either end, by either algorithm that takes them all, in
/// small tiles.
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
        // What the other tables have not: beyond the quick sizes and the inputs that they are tried on.
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

/// The textbooks' scans: each at the seams of its tiles, in place and out of place, and of both kinds where it has them.
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

/// A sum of u32 by each algorithm, tuned.
pub(super) fn all_algorithms() -> Vec<Work> {
    let scan = |algorithm| Work::Scan(ScanCase { algorithm, ..ScanCase::sum_of_u32(PolicyName::Default) });
    ScanAlgorithm::ALL.map(scan).into()
}

/// The works that are worth measuring.
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
