//! Verification cases of scans, except the covering ones.

use crate::harness::cases::UNPACKED;
use std::collections::BTreeSet;

use super::super::{LARGE, sizes};
use super::{Case, CountFrom, InitialFrom, PolicyName, PrimitiveCase, ScanCase, Work, chained};
use crate::harness::inputs::Input;
use subsweep::ElementType;
use subsweep::device::Capabilities;
use subsweep::scan::{ScanAlgorithm, ScanKind, ScanOperator, SegmentsBy, WorkgroupScan};

const KINDS: [ScanKind; 2] = [ScanKind::Inclusive, ScanKind::Exclusive];

/// Entries of the table of tutorial 14.
const TUTORIAL: u64 = 1 << 25;

/// All cases except the covering ones and products.
pub(in crate::harness::cases) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = plain_scan_cases(capabilities);
    cases.extend(typed_scan_cases(capabilities));
    cases.extend(scan_kind_cases(capabilities));
    cases.extend(chained::full_cases(capabilities));
    cases.extend(textbook_scan_cases(capabilities));
    for (policy, columns, count) in [
        (PolicyName::Default, 1, LARGE),
        (PolicyName::Seed, 1, LARGE),
        (PolicyName::Default, 4, TUTORIAL),
        (PolicyName::Seed, 4, TUTORIAL),
    ] {
        let scan = ScanCase { columns, in_place: true, ..ScanCase::sum_of_u32(policy) };
        cases.push(scan.case(count, Input::Uniform));
    }
    cases
}

/// Whether its kernels compile to the same code as another case's: textbook scans of either kind, and the single pass
/// with either location of the count.
fn is_like_another(scan: &ScanCase) -> bool {
    match scan.algorithm {
        ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup) => false,
        ScanAlgorithm::Chained => scan.count_from.is_indirect(),
        _ => scan.kind == ScanKind::Exclusive,
    }
}

/// A scan for each specialization of a kernel by a selectable policy.
pub(in crate::harness::cases) fn selectable_works(capabilities: &Capabilities) -> Vec<ScanCase> {
    let mut scans = Vec::new();
    for case in full_cases(capabilities) {
        if let Work::Scan(scan) = case.work
            && scan.policy != PolicyName::Small
            && scan.misalignment == 0
            && !is_like_another(&scan)
            && !scans.contains(&scan)
        {
            scans.push(scan);
        }
    }
    // The full table has these in small tiles only.
    let sums = ScanCase::sum_of_u32(PolicyName::Default);
    scans.push(ScanCase { segments: Some(SegmentsBy::Flags), ..sums.clone() });
    // Along rows, whole ones in a tile and several tiles to one.
    let rows = [40, 1 << 16].map(|length| Some(SegmentsBy::FixedSize(length)));
    scans.extend(rows.map(|segments| ScanCase { segments, ..sums.clone() }));
    scans.push(ScanCase { algorithm: ScanAlgorithm::Chained, is_reverse: true, ..sums.clone() });
    let fixed_tree = ScanAlgorithm::ReduceThenScan(WorkgroupScan::Sklansky);
    for element in [ElementType::F32, ElementType::F64] {
        scans.push(ScanCase { algorithm: fixed_tree, element, ..sums.clone() });
    }
    scans
}

/// Each of [`selectable_works`] in a single tile and in several, aligned and misaligned.
pub(in crate::harness::cases) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for (index, scan) in selectable_works(capabilities).into_iter().enumerate() {
        // Aligned: a whole number of quads, which excludes accesses by word.
        for (step, (misalignment, few)) in [(0, 8), (4, 5)].into_iter().enumerate() {
            let scan = ScanCase { misalignment, ..scan.clone() };
            for (turn, count) in [few, 2 * scan.tile(capabilities) + 1].into_iter().enumerate() {
                let input = [Input::Distinguishing, Input::EdgeValues][(index + step + turn) % 2];
                cases.push(scan.case(count, input));
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
        let two_levels = scan.tile(capabilities).pow(2).min(65_536);
        [1, 0].map(|more| scan.case(two_levels + more, Input::Distinguishing))
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
    for columns in 1..=4 {
        for policy in [PolicyName::Default, PolicyName::Small, PolicyName::Seed] {
            for kind in KINDS {
                // The seed's scan is inclusive and in place only.
                let is_seed = policy == PolicyName::Seed;
                if is_seed && kind == ScanKind::Exclusive {
                    continue;
                }
                let in_place = is_seed || columns % 2 == 0;
                let sums = ScanCase { kind, columns, in_place, ..ScanCase::sum_of_u32(policy) };
                let tile = sums.tile(capabilities);
                let counts = sizes(capabilities, tile).into_iter();
                cases.extend(counts.map(|count| sums.case(count, Input::Uniform)));
                // Without the first, `Uniform`.
                cases.extend(Input::ALL[1..].iter().map(|&input| sums.case(3 * tile + 7, input)));
                for misalignment in [4, 8, 12] {
                    let misaligned = ScanCase { in_place: true, misalignment, ..sums.clone() };
                    cases.push(misaligned.case(2 * tile + 3, Input::Uniform));
                }
                if !is_seed {
                    let other = ScanCase { in_place: !in_place, ..sums };
                    cases.push(other.case(3 * tile + 5, Input::Uniform));
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
    for (index, element) in UNPACKED.into_iter().enumerate() {
        let operators = ScanOperator::ALL.into_iter().filter(|operator| operator.takes(element));
        for (turn, operator) in operators.enumerate() {
            let kind = KINDS[(index + turn) % 2];
            if (element, operator) != (ElementType::U32, ScanOperator::Add) {
                scans.push((PolicyName::Small, kind, element, operator, 1));
            }
        }
    }
    let [inclusive, exclusive] = KINDS;
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
        let tile = scan.tile(capabilities);
        let mut add = |misalignment, count, input| {
            cases.push(ScanCase { misalignment, ..scan.clone() }.case(count, input));
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
            for (step, initial) in
                [None, Some(InitialFrom::Host), Some(InitialFrom::Device)].into_iter().enumerate()
            {
                let is_plain = segments.is_none() && !is_reverse && initial.is_none();
                let kind = KINDS[(index + step + usize::from(is_reverse)) % 2];
                // Every count without other options, and the counts in turn with them.
                let counts = if is_plain {
                    &CountFrom::INDIRECT[..]
                } else {
                    &CountFrom::ALL[(index + step) % 3..][..1]
                };
                for &count_from in counts {
                    scans.push(ScanCase { kind, is_reverse, initial, segments, count_from, ..plain.clone() });
                }
            }
        }
    }
    let offsets = Some(SegmentsBy::Offsets);
    let device = Some(InitialFrom::Device);
    for (element, operator, columns, is_reverse, initial, segments, policy) in [
        (ElementType::F32, ScanOperator::Max, 1, true, device, None, PolicyName::Small),
        (ElementType::F32, ScanOperator::Add, 1, true, Some(InitialFrom::Host), offsets, PolicyName::Small),
        (ElementType::F32, ScanOperator::Add, 1, false, None, offsets, PolicyName::Default),
        (ElementType::U32, ScanOperator::Add, 1, true, None, None, PolicyName::Default),
        (ElementType::U32, ScanOperator::Add, 4, true, device, None, PolicyName::Default),
        (ElementType::U32, ScanOperator::Xor, 3, true, Some(InitialFrom::Host), None, PolicyName::Small),
        (ElementType::I32, ScanOperator::Min, 3, false, device, Some(SegmentsBy::Keys32), PolicyName::Small),
        (ElementType::U32, ScanOperator::Add, 64, true, device, offsets, PolicyName::Default),
        (ElementType::I64, ScanOperator::Add, 64, false, Some(InitialFrom::Host), None, PolicyName::Small),
        (ElementType::I64, ScanOperator::Add, 1, true, Some(InitialFrom::Host), None, PolicyName::Small),
        (ElementType::U64, ScanOperator::Max, 1, false, device, Some(SegmentsBy::Flags), PolicyName::Default),
        (ElementType::I64, ScanOperator::Mul, 5, true, device, Some(SegmentsBy::Keys64), PolicyName::Default),
        (ElementType::F64, ScanOperator::Add, 1, true, device, offsets, PolicyName::Default),
        (
            ElementType::F64,
            ScanOperator::Add,
            2,
            false,
            Some(InitialFrom::Host),
            offsets,
            PolicyName::Default,
        ),
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
        (ScanAlgorithm::Chained, ElementType::I64, ScanOperator::Min, false, Some(InitialFrom::Host)),
    ] {
        scans.push(ScanCase { element, operator, is_reverse, initial, algorithm, ..plain.clone() });
    }
    let mut cases = Vec::new();
    for (index, scan) in scans.into_iter().enumerate() {
        let tile = scan.tile(capabilities);
        let is_chained = scan.algorithm == ScanAlgorithm::Chained;
        let mut add = |in_place, misalignment, count| {
            let in_place = in_place && !is_chained;
            let scan = ScanCase { in_place, misalignment, ..scan.clone() };
            cases.push(scan.case(count, Input::Distinguishing));
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
pub(in crate::harness::cases) fn product_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |scan: ScanCase| {
        let tile = scan.tile(capabilities);
        // Counts and inputs that the other tables lack.
        cases.extend([
            scan.case(2, Input::EdgeValues),
            scan.case(tile, Input::Distinguishing),
            scan.case(tile + 1, Input::EdgeValues),
            scan.case(2 * tile, Input::Distinguishing),
            scan.case(99_991, Input::Distinguishing),
            scan.case(tile * tile + 2, Input::EdgeValues),
        ]);
    };
    let sums = ScanCase::sum_of_u32(PolicyName::Small);
    for element in UNPACKED {
        for operator in ScanOperator::ALL.into_iter().filter(|operator| operator.takes(element)) {
            for kind in KINDS {
                for is_reverse in [false, true] {
                    for algorithm in ScanAlgorithm::ALL.into_iter().filter(|&algorithm| is_known(algorithm)) {
                        add(ScanCase { element, operator, kind, is_reverse, algorithm, ..sums.clone() });
                    }
                }
            }
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
            let tile = scan.tile(capabilities);
            let mut counts = BTreeSet::from([0, 1, 2, 3, tile - 1, tile, tile + 1, 3 * tile, 4 * tile + 11]);
            counts.extend([65_535, 65_536, 65_537, 99_991, (1 << 20) - 1, (1 << 20) + 1, (1 << 22) + 1]);
            cases.extend(counts.into_iter().map(|count| scan.case(count, Input::Uniform)));
            let constants = [1, u32::MAX].map(Input::Constant);
            cases.extend(constants.map(|input| scan.case(3 * tile + 7, input)));
            let misaligned = ScanCase { misalignment: 4, ..scan };
            cases.push(misaligned.case(2 * tile + 3, Input::Uniform));
        }
    }
    cases
}
