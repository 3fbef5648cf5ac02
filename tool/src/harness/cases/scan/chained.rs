//! Cases of the single-pass (chained) scan.

use super::super::sizes;
use super::{Case, CountFrom, InitialFrom, PolicyName, PrimitiveCase, ScanCase};
use crate::harness::cases::UNPACKED;
use crate::harness::inputs::Input;
use subsweep::ElementType;
use subsweep::device::Capabilities;
use subsweep::scan::{ScanAlgorithm, ScanKind, ScanOperator};

/// All cases except the covering ones.
pub(super) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    [plain_cases(capabilities), counted_cases(capabilities)].concat()
}

/// Every operator and type in small tiles, where look-backs are long, and the default tiles.
fn plain_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    let chained = |policy| ScanCase { algorithm: ScanAlgorithm::Chained, ..ScanCase::sum_of_u32(policy) };
    for policy in [PolicyName::Default, PolicyName::Small] {
        for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
            let scan = ScanCase { kind, ..chained(policy) };
            let tile = scan.tile(capabilities);
            let counts = sizes(capabilities, tile).into_iter();
            cases.extend(counts.map(|count| scan.case(count, Input::Uniform)));
            let misaligned = ScanCase { misalignment: 4, ..scan };
            cases.push(misaligned.case(5 * tile + 3, Input::Uniform));
        }
    }
    for element in UNPACKED {
        for operator in ScanOperator::ALL.into_iter().filter(|operator| operator.takes(element)) {
            let scan = ScanCase { element, operator, ..chained(PolicyName::Small) };
            let tile = scan.tile(capabilities);
            cases.push(scan.case(40 * tile + 7, Input::Distinguishing));
            cases.push(scan.case(3 * tile + 7, Input::EdgeValues));
        }
    }
    for element in [ElementType::F32, ElementType::I64, ElementType::F64] {
        let scan = ScanCase { element, ..chained(PolicyName::Default) };
        cases.push(scan.case(9 * scan.tile(capabilities) + 1, Input::Distinguishing));
    }
    // Four groups of the fixed-shape reduction tree and part of one.
    for operator in [ScanOperator::Add, ScanOperator::Mul] {
        let scan = ScanCase { element: ElementType::F32, operator, ..chained(PolicyName::Small) };
        cases.push(scan.case(141 * scan.tile(capabilities) + 3, Input::Distinguishing));
    }
    cases
}

/// Indirect counts: of one tile, of one of several tiles in the maximum, and of many; forward and reverse, with initial
/// values, and with the fixed-shape reduction tree of float sums and products.
fn counted_cases(capabilities: &Capabilities) -> Vec<Case> {
    let (inclusive, exclusive) = (ScanKind::Inclusive, ScanKind::Exclusive);
    let (host, device) = (Some(InitialFrom::Host), Some(InitialFrom::Device));
    let algorithm = ScanAlgorithm::Chained;
    let mut cases = Vec::new();
    for (policy, kind, element, operator, is_reverse, initial) in [
        (PolicyName::Small, inclusive, ElementType::U32, ScanOperator::Add, false, None),
        (PolicyName::Small, exclusive, ElementType::U32, ScanOperator::Add, true, device),
        (PolicyName::Small, exclusive, ElementType::F32, ScanOperator::Add, false, None),
        (PolicyName::Small, inclusive, ElementType::F32, ScanOperator::Mul, true, host),
        (PolicyName::Small, exclusive, ElementType::I64, ScanOperator::Min, false, host),
        (PolicyName::Default, inclusive, ElementType::U32, ScanOperator::Add, true, None),
        (PolicyName::Default, exclusive, ElementType::F64, ScanOperator::Add, false, None),
    ] {
        let sums = ScanCase::sum_of_u32(policy);
        let scan = ScanCase { kind, element, operator, is_reverse, initial, algorithm, ..sums };
        let tile = scan.tile(capabilities);
        let most = if policy == PolicyName::Small { 141 * tile + 3 } else { 9 * tile + 1 };
        for count_from in CountFrom::INDIRECT {
            for (count, misalignment) in
                [(0, 0), (1, 0), (tile - 1, 0), (tile, 0), (tile + 1, 0), (5 * tile + 3, 4), (most, 0)]
            {
                let counted = ScanCase { count_from, misalignment, ..scan.clone() };
                cases.push(counted.case(count, Input::Distinguishing));
            }
        }
    }
    cases
}
