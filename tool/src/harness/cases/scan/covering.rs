//! A covering set of scans: every pair of parameters in small tiles, and the default tiles.

use super::super::boundary_counts;
use super::super::pairwise::{Axis, CoveringSet, Value, axis};
use super::{Case, CountFrom, InitialFrom, PolicyName, PrimitiveCase, ScanCase};
use crate::harness::cases::UNPACKED;
use crate::harness::inputs::Input;
use subsweep::ElementType;
use subsweep::device::Capabilities;
use subsweep::scan::{ScanAlgorithm, ScanKind, ScanOperator, SegmentsBy, WorkgroupScan};

const REDUCE_THEN_SCAN: ScanAlgorithm = ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup);

/// Algorithm and columns of every module. Rows of up to 16 bytes are processed whole, wider ones are not.
const FORMS: [(ScanAlgorithm, u32); 6] = [
    (ScanAlgorithm::Chained, 1),
    (REDUCE_THEN_SCAN, 1),
    (REDUCE_THEN_SCAN, 2),
    (REDUCE_THEN_SCAN, 3),
    (REDUCE_THEN_SCAN, 4),
    (REDUCE_THEN_SCAN, 7),
];
const SEGMENTS: [Option<SegmentsBy>; 5] = [
    None,
    Some(SegmentsBy::Flags),
    Some(SegmentsBy::Keys32),
    Some(SegmentsBy::Keys64),
    Some(SegmentsBy::Offsets),
];

const ELEMENT_AXIS: usize = 0;
const OPERATOR_AXIS: usize = 1;
const FORM_AXIS: usize = 2;
const SEGMENT_AXIS: usize = 3;

/// The inputs of the covering set.
const INPUTS: [Input; 2] = [Input::Distinguishing, Input::EdgeValues];

fn axes() -> [Axis<ScanCase>; 10] {
    [
        axis(&UNPACKED, |scan: &mut ScanCase, element| scan.element = element),
        axis(&ScanOperator::ALL, |scan, operator| scan.operator = operator),
        axis(&FORMS, |scan, (algorithm, columns)| (scan.algorithm, scan.columns) = (algorithm, columns)),
        axis(&SEGMENTS, |scan, segments| scan.segments = segments),
        axis(&[ScanKind::Inclusive, ScanKind::Exclusive], |scan, kind| scan.kind = kind),
        axis(&[false, true], |scan, is_reverse| scan.is_reverse = is_reverse),
        axis(&[None, Some(InitialFrom::Host), Some(InitialFrom::Device)], |scan, initial| {
            scan.initial = initial
        }),
        axis(&CountFrom::ALL, |scan, count_from| scan.count_from = count_from),
        axis(&[false, true], |scan, in_place| scan.in_place = in_place),
        axis(&[0, 4, 8, 12], |scan, misalignment| scan.misalignment = misalignment),
    ]
}

/// Whether a device with the required features supports a scan.
fn is_valid(scan: &ScanCase) -> bool {
    let is_chained = scan.algorithm == ScanAlgorithm::Chained;
    let is_refused = scan.algorithm.refusal(&scan.config()).is_some();
    scan.operator.takes(scan.element) && !is_refused && !(is_chained && scan.in_place)
}

/// A scan of each module: by the types and operators with kernels of their own, by form, with and without segments.
fn required() -> Vec<Vec<Value>> {
    let (wide, segmented) = ([(0, 0), (1, 0), (2, 0), (5, 0)], [(1, 1), (5, 2)]);
    let of_wide = [&wide[..], &segmented].concat();
    let of_words = [&wide[..], &[(3, 0), (4, 0)], &segmented].concat();
    let sums = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)].to_vec();
    let kinds = [
        (ElementType::U32, ScanOperator::Add, sums),
        (ElementType::F32, ScanOperator::Min, of_words),
        (ElementType::I64, ScanOperator::Add, of_wide.clone()),
        (ElementType::F64, ScanOperator::Mul, of_wide),
    ];
    let of_kind = |(element, operator, forms): (ElementType, ScanOperator, Vec<(usize, usize)>)| {
        let kind = [(ELEMENT_AXIS, element as usize), (OPERATOR_AXIS, operator as usize)];
        let of_form = move |(form, by)| [&kind[..], &[(FORM_AXIS, form), (SEGMENT_AXIS, by)]].concat();
        forms.into_iter().map(of_form)
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

/// Minima in small tiles, which every device scans for every type.
fn small_minima() -> ScanCase {
    ScanCase { operator: ScanOperator::Min, ..ScanCase::sum_of_u32(PolicyName::Small) }
}

/// Every module of reduce-then-scan and of the single pass, and every pair of parameters, in small tiles.
pub(in crate::harness::cases) fn covering_sets(capabilities: &Capabilities) -> [CoveringSet<ScanCase>; 1] {
    let has_float64 = capabilities.enabled.shader_float64;
    let is_supported =
        move |scan: &ScanCase| is_valid(scan) && (has_float64 || !scan.operator.needs_float64(scan.element));
    [CoveringSet::new(small_minima(), axes(), is_supported).with(required()).on(&INPUTS)]
}

/// The covering set, and the default tiles.
pub(in crate::harness::cases) fn covering_cases(capabilities: &Capabilities) -> Vec<Case> {
    let has_float64 = capabilities.enabled.shader_float64;
    let [set] = covering_sets(capabilities);
    let mut scans: Vec<_> = set.works().into_iter().map(|covering| covering.work).collect();
    if !has_float64 {
        // Counted as not supported.
        let lacking = |operator| ScanCase { element: ElementType::F64, operator, ..small_minima() };
        scans.extend([ScanOperator::Add, ScanOperator::Mul].map(lacking));
    }
    let mut cases = Vec::new();
    for (index, scan) in scans.into_iter().enumerate() {
        let tile = scan.tile(capabilities);
        cases.extend(INPUTS.map(|input| scan.case(2 * tile + 3, input)));
        // One tile, and more than two levels, use other pipelines: take turns.
        let counts = match index % 3 {
            0 => vec![1, tile - 1, tile],
            1 => vec![0, tile + 1, 3 * tile + 7],
            _ => vec![(tile * tile + 1).min(65_537), 65_536],
        };
        for (turn, count) in counts.into_iter().enumerate() {
            cases.push(scan.case(count, INPUTS[(index / 3 + turn) % 2]));
        }
    }
    // Sums that have the same bits on every device.
    for element in [ElementType::F32, ElementType::F64] {
        let sums = ScanCase { element, ..ScanCase::sum_of_u32(PolicyName::Default) };
        let sums = ScanCase { algorithm: ScanAlgorithm::ReduceThenScan(WorkgroupScan::Sklansky), ..sums };
        if has_float64 || element == ElementType::F32 {
            let tile = sums.tile(capabilities);
            let counts = [1, tile - 1, tile, 3 * tile + 7, 65_537];
            cases.extend(counts.map(|count| sums.case(count, Input::Distinguishing)));
            let exclusive = ScanCase { kind: ScanKind::Exclusive, misalignment: 4, ..sums };
            cases.push(exclusive.case(2 * tile + 3, Input::Distinguishing));
            // The accesses of GPUs, in small tiles.
            for (kind, misalignment) in [(ScanKind::Inclusive, 0), (ScanKind::Exclusive, 4)] {
                let small = ScanCase { policy: PolicyName::Small, kind, misalignment, ..exclusive.clone() };
                let tile = small.tile(capabilities);
                cases.push(small.case(3 * tile + 7, Input::Distinguishing));
            }
        }
    }
    for scan in along_rows(capabilities) {
        let tile = scan.tile(capabilities);
        cases.extend([2 * tile + 3, 0, tile - 1].map(|count| scan.case(count, Input::Distinguishing)));
    }
    // Look-backs over windows, and with the fixed tree of rounded sums.
    for element in [ElementType::U32, ElementType::F32, ElementType::U64] {
        let algorithm = ScanAlgorithm::Chained;
        let scan = ScanCase { element, algorithm, ..ScanCase::sum_of_u32(PolicyName::SmallWindows) };
        let tile = scan.tile(capabilities);
        cases.extend(
            [tile + 1, (141 * tile + 3).min(65_537)].map(|count| scan.case(count, Input::Distinguishing)),
        );
    }
    // The default tiles at their boundaries: the chosen policy, and the single pass.
    let default = ScanCase::sum_of_u32(PolicyName::Default);
    let exclusive = ScanCase { kind: ScanKind::Exclusive, in_place: true, ..default.clone() };
    let chained = ScanCase { algorithm: ScanAlgorithm::Chained, ..default };
    for scan in [exclusive, chained] {
        let counts = boundary_counts(capabilities, scan.tile(capabilities)).into_iter();
        cases
            .extend(counts.zip(Input::ALL.into_iter().cycle()).map(|(count, input)| scan.case(count, input)));
    }
    cases
}

/// Scans along the rows of a table: several rows in a tile, one, and several tiles to a row, in every direction.
fn along_rows(capabilities: &Capabilities) -> Vec<ScanCase> {
    use ElementType::{F32, F64, I64, U32};
    use ScanKind::{Exclusive, Inclusive};
    let small = ScanCase::sum_of_u32(PolicyName::Small);
    let default = ScanCase::sum_of_u32(PolicyName::Default);
    let tile = small.tile(capabilities) as u32;
    let of = |plain: &ScanCase, element, kind, length, columns| {
        let segments = Some(SegmentsBy::FixedSize(length));
        ScanCase { element, kind, segments, columns, ..plain.clone() }
    };
    let device = CountFrom::Device;
    vec![
        of(&small, U32, Inclusive, 1, 1),
        ScanCase { misalignment: 4, ..of(&small, U32, Exclusive, 7, 1) },
        ScanCase { misalignment: 4, ..of(&small, U32, Inclusive, 2 * tile, 1) },
        ScanCase { is_reverse: true, ..of(&small, F32, Inclusive, 12, 1) },
        ScanCase { in_place: true, ..of(&small, I64, Inclusive, tile, 1) },
        ScanCase { is_reverse: true, count_from: device, ..of(&small, U32, Exclusive, tile - 3, 3) },
        ScanCase { initial: Some(InitialFrom::Host), ..of(&small, U32, Inclusive, tile + 1, 1) },
        ScanCase { is_reverse: true, misalignment: 8, ..of(&small, I64, Exclusive, tile + tile / 2, 1) },
        ScanCase { count_from: device, ..of(&small, U32, Inclusive, 2 * tile, 7) },
        ScanCase {
            operator: ScanOperator::Max,
            initial: Some(InitialFrom::Device),
            ..of(&small, F64, Exclusive, 5, 2)
        },
        of(&default, U32, Inclusive, 40, 1),
    ]
}
