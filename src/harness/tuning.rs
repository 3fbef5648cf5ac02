//! Tuning: the candidate shapes for a device as cases, and the measured best ones as rows of the policy tables.

use super::cases::{Case, PolicyName, ScanCase, SortCase, SortValues, Work};
use super::inputs::Input;
use crate::ElementType;
use crate::device::Capabilities;
use crate::error::{Error, PolicyConflict, Result};
use crate::scan::{self, ScanAlgorithm, ScanPolicy, WorkgroupScan};
use crate::sort::{Matching, Ranking, SortAlgorithm, SortPolicy, can_be_row};
use crate::tuning::{self, KernelShape, TunedPart, TuningRow};

/// The input of a tuning measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TunedInput {
    /// The type of the keys, or of the elements.
    pub element: ElementType,
    /// The values of a sort; none for a scan.
    pub values: SortValues,
    /// Keys, or elements.
    pub count: u64,
}

impl TunedInput {
    /// The sizes that a table distinguishes: words of a key or element, and words of a value.
    pub fn words(&self) -> [u32; 2] {
        [self.element.words(), self.values.moved_size() as u32 / 4]
    }
}

/// A shape that a row of a policy table can express.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TunedShape {
    /// The shape of a sort.
    Sort {
        /// The algorithm for more keys than one workgroup holds.
        algorithm: SortAlgorithm,
        /// Ranking of the keys of a tile.
        ranking: Ranking,
        /// Invocations in a workgroup.
        workgroup_size: u32,
        /// Keys per invocation.
        items_per_invocation: u32,
        /// Whether ranked tiles are scattered from shared memory.
        has_exchange: bool,
        /// The requested subgroup size.
        subgroup_size: Option<u32>,
    },
    /// The shape of a scan.
    Scan {
        /// Reduce-then-scan or chained.
        algorithm: ScanAlgorithm,
        /// Invocations in a workgroup.
        workgroup_size: u32,
        /// Words of elements per invocation.
        words_per_invocation: u32,
        /// Consecutive 16-byte packs of an invocation.
        packs_per_run: u32,
    },
}

/// Candidate values of each parameter of a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TunedAxes {
    /// Invocations in a workgroup.
    pub workgroup_sizes: Vec<u32>,
    /// Keys per invocation of a sort; words per invocation of a scan.
    pub items: Vec<u32>,
    /// Scans: consecutive 16-byte packs of an invocation.
    pub packs_per_run: Vec<u32>,
    /// Algorithms of sorts.
    pub sort_algorithms: Vec<SortAlgorithm>,
    /// Algorithms of scans.
    pub scan_algorithms: Vec<ScanAlgorithm>,
    /// Sorts: whether ranked tiles are scattered from shared memory.
    pub exchanges: Vec<bool>,
    /// Sorts: whether all subgroup sizes of the device are candidates, beside the table's.
    pub has_subgroup_sizes: bool,
}

impl TunedAxes {
    /// The sort algorithms that a row can make the default.
    pub const SORTS: [SortAlgorithm; 4] = [
        SortAlgorithm::Onesweep,
        SortAlgorithm::Radix8Bit,
        SortAlgorithm::Radix4Bit,
        SortAlgorithm::Radix2Bit,
    ];
    /// The scan algorithms whose tile shape is in the table.
    pub const SCANS: [ScanAlgorithm; 2] =
        [ScanAlgorithm::Chained, ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup)];

    /// Every candidate shape of a sort, including those that the library refuses.
    pub fn sorts(&self, capabilities: &Capabilities) -> Vec<TunedShape> {
        let mut shapes = Vec::new();
        for &algorithm in &self.sort_algorithms {
            for ranking in rankings(algorithm) {
                for &has_exchange in &self.exchanges {
                    for subgroup_size in self.subgroup_sizes(capabilities) {
                        for &workgroup_size in &self.workgroup_sizes {
                            shapes.extend(self.items.iter().map(|&items_per_invocation| TunedShape::Sort {
                                algorithm,
                                ranking,
                                workgroup_size,
                                items_per_invocation,
                                has_exchange,
                                subgroup_size,
                            }));
                        }
                    }
                }
            }
        }
        shapes
    }

    /// Every candidate shape of a scan, including those that the library refuses.
    pub fn scans(&self) -> Vec<TunedShape> {
        let mut shapes = Vec::new();
        for &algorithm in &self.scan_algorithms {
            for &workgroup_size in &self.workgroup_sizes {
                for &words_per_invocation in &self.items {
                    shapes.extend(self.packs_per_run.iter().map(|&packs_per_run| TunedShape::Scan {
                        algorithm,
                        workgroup_size,
                        words_per_invocation,
                        packs_per_run,
                    }));
                }
            }
        }
        shapes
    }

    /// The table's subgroup size, and the others if requested and supported.
    fn subgroup_sizes(&self, capabilities: &Capabilities) -> Vec<Option<u32>> {
        let keys = SortCase::keys_of_u32(SortAlgorithm::Onesweep, PolicyName::Default);
        let mut sizes = vec![keys.policy(capabilities).subgroup_size];
        if self.has_subgroup_sizes {
            // `None` if the only size need not be requested.
            let asked = |size| capabilities.requested_subgroup_size(Some(size), size).ok().flatten();
            let others = (2..8).filter_map(|bits| asked(1 << bits)).map(Some);
            sizes.extend(others.filter(|size| !sizes.contains(size)).collect::<Vec<_>>());
        }
        sizes
    }
}

/// The rankings of an algorithm, without the seed's.
fn rankings(algorithm: SortAlgorithm) -> Vec<Ranking> {
    let matching =
        |by_shared_masks, has_early_counts| Ranking::Match(Matching { by_shared_masks, has_early_counts });
    match algorithm {
        SortAlgorithm::Onesweep => {
            vec![matching(false, true), matching(true, true), matching(false, false), matching(true, false)]
        }
        SortAlgorithm::Radix8Bit => vec![matching(false, false), matching(true, false)],
        _ => vec![Ranking::CounterScan],
    }
}

impl TunedShape {
    /// The current shape in the table; for a scan with the algorithm chosen out of place.
    pub fn current(is_sort: bool, input: &TunedInput, capabilities: &Capabilities) -> Self {
        if is_sort {
            let algorithm = SortPolicy::choose(capabilities, &sort_case(input).config()).policy.algorithm;
            let policy = SortPolicy::tuned(algorithm, capabilities, &sort_case(input).config());
            Self::Sort {
                algorithm,
                ranking: policy.ranking,
                workgroup_size: policy.workgroup_size,
                items_per_invocation: policy.items_per_invocation,
                has_exchange: policy.has_exchange,
                subgroup_size: policy.subgroup_size,
            }
        } else {
            let config = scan_case(input).config().out_of_place();
            let algorithm = ScanPolicy::choose(capabilities, &config).policy.algorithm;
            let words = [input.element.words(), 0];
            let tuned = tuning::shape_of(capabilities, ScanPolicy::part(algorithm), words);
            Self::Scan {
                algorithm,
                workgroup_size: tuned.workgroup_size,
                words_per_invocation: tuned.items,
                packs_per_run: tuned.packs_per_run,
            }
        }
    }

    /// The part of a shape that one row holds for all inputs: without the items per invocation of a sort, and without a
    /// scan's algorithm.
    pub const fn family(mut self) -> Self {
        match &mut self {
            Self::Sort { items_per_invocation, .. } => *items_per_invocation = 0,
            Self::Scan { algorithm, .. } => *algorithm = TunedAxes::SCANS[1],
        }
        self
    }

    /// The algorithm's name.
    pub const fn algorithm(&self) -> &'static str {
        match self {
            Self::Sort { algorithm, .. } => algorithm.name(),
            Self::Scan { algorithm, .. } => algorithm.name(),
        }
    }

    /// The kernels that process all keys or elements of a pass, without variants.
    pub const fn hot_kernels(&self) -> &'static [&'static str] {
        match self {
            Self::Sort { algorithm: SortAlgorithm::Onesweep, .. } => &["sort/onesweep"],
            Self::Sort { ranking: Ranking::Match(_), .. } => &["sort/count_bins", "sort/scatter"],
            Self::Sort { .. } => &["sort/count", "sort/scatter"],
            Self::Scan { algorithm: ScanAlgorithm::Chained, .. } => &["scan/chained"],
            Self::Scan { .. } => &["scan/reduce", "scan/downsweep"],
        }
    }

    /// Keys or elements per invocation.
    pub fn items(&self, input: &TunedInput) -> u32 {
        match self {
            Self::Sort { items_per_invocation, .. } => *items_per_invocation,
            Self::Scan { words_per_invocation, .. } => (words_per_invocation / input.element.words()).max(1),
        }
    }

    /// The requested subgroup size.
    pub const fn lanes(&self) -> Option<u32> {
        match self {
            Self::Sort { subgroup_size, .. } => *subgroup_size,
            Self::Scan { .. } => None,
        }
    }

    /// The case that verifies and measures the shape.
    ///
    /// # Errors
    /// The library refuses the shape on the device, or a row of the table cannot express it.
    pub fn case(&self, input: &TunedInput, capabilities: &Capabilities) -> Result<Case> {
        let work: Work = match *self {
            Self::Sort { algorithm, .. } => {
                let sort = sort_case(input);
                let policy = self.sort_policy(input, capabilities);
                policy.check(&sort.config(), capabilities)?;
                if !can_be_row(&policy, capabilities) {
                    let reason = "offsets of 64 bits, for which a row of the table has room, do not fit";
                    return Err(Error::InvalidPolicy(PolicyConflict::Excluded(reason)));
                }
                SortCase { algorithm, tried: Some(policy), ..sort }.into()
            }
            Self::Scan { algorithm, workgroup_size, words_per_invocation, packs_per_run } => {
                let invalid = |reason| Err(Error::InvalidPolicy(PolicyConflict::Excluded(reason)));
                if packs_per_run == 0 || !words_per_invocation.is_multiple_of(4 * packs_per_run) {
                    return invalid("runs of so many quads do not divide an invocation's words");
                }
                if workgroup_size > capabilities.max_workgroup_invocations {
                    return Err(Error::PolicyExceedsLimits {
                        what: "invocations in a workgroup",
                        needed: workgroup_size.into(),
                        got: capabilities.max_workgroup_invocations.into(),
                    });
                }
                let scan = scan_case(input);
                let (_, tuned) = self.tuned(input, capabilities);
                let policy = ScanPolicy::of_shape(algorithm, tuned, capabilities, &scan.config());
                policy.check(&scan.config(), capabilities)?;
                ScanCase { algorithm, tried: Some(policy), ..scan }.into()
            }
        };
        Ok(Case { work, count: input.count, input: Input::Uniform, tuned: None })
    }

    /// The part that the shape tunes, and the shape with the part's other variants.
    fn tuned(&self, input: &TunedInput, capabilities: &Capabilities) -> (TunedPart, KernelShape) {
        match *self {
            Self::Sort { algorithm, .. } => {
                let part = SortPolicy::part(algorithm);
                let policy = self.sort_policy(input, capabilities);
                let matching = match policy.ranking {
                    Ranking::Match(matching) => matching,
                    _ => Matching::default(),
                };
                let shape = KernelShape {
                    workgroup_size: policy.workgroup_size,
                    items: policy.items_per_invocation,
                    matching,
                    has_exchange: policy.has_exchange,
                    subgroup_size: policy.subgroup_size,
                    ..tuning::shape_of(capabilities, part, input.words())
                };
                (part, shape)
            }
            Self::Scan { algorithm, workgroup_size, words_per_invocation, packs_per_run } => {
                let part = ScanPolicy::part(algorithm);
                let now = tuning::shape_of(capabilities, part, [input.element.words(), 0]);
                (part, KernelShape { workgroup_size, items: words_per_invocation, packs_per_run, ..now })
            }
        }
    }

    fn sort_policy(&self, input: &TunedInput, capabilities: &Capabilities) -> SortPolicy {
        match *self {
            Self::Sort {
                algorithm,
                ranking,
                workgroup_size,
                items_per_invocation,
                has_exchange,
                subgroup_size,
            } => {
                let tuned = SortPolicy::tuned(algorithm, capabilities, &sort_case(input).config());
                SortPolicy {
                    ranking,
                    workgroup_size,
                    items_per_invocation,
                    has_exchange,
                    subgroup_size,
                    single_workgroup: None,
                    ..tuned
                }
            }
            Self::Scan { .. } => unreachable!("a scan is no sort"),
        }
    }

    /// The best shapes of one family, one per input, as rows in the table's syntax. For scans the first shape is used.
    pub fn row(best: &[(TunedInput, Self)], capabilities: &Capabilities, source: &str) -> String {
        let is_sort = matches!(best[0].1, Self::Sort { .. });
        let row = |(input, shape): &(TunedInput, Self)| {
            let (part, shape) = shape.tuned(input, capabilities);
            let words = if is_sort { input.words().map(Some) } else { [None; 2] };
            format!("    {}\n", TuningRow::measured(capabilities, part, words, shape, source))
        };
        best[..if is_sort { best.len() } else { 1 }].iter().map(row).collect()
    }
}

/// Whether the table makes the single pass the default of out-of-place scans on the device.
pub fn has_single_pass(capabilities: &Capabilities) -> bool {
    scan::has_single_pass(capabilities)
}

fn sort_case(input: &TunedInput) -> SortCase {
    let keys = SortCase::keys_of_u32(SortAlgorithm::Onesweep, PolicyName::Default);
    SortCase { element: input.element, values: input.values, bits: 0..input.element.bits(), ..keys }
}

fn scan_case(input: &TunedInput) -> ScanCase {
    ScanCase { element: input.element, ..ScanCase::sum_of_u32(PolicyName::Default) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const KEYS: TunedInput =
        TunedInput { element: ElementType::U32, values: SortValues::None, count: 1 << 16 };

    fn capabilities() -> Capabilities {
        Capabilities {
            subgroup_size: 32,
            min_subgroup_size: 32,
            max_subgroup_size: 32,
            max_workgroup_invocations: 512,
            shared_memory_size: 32 << 10,
            ..Capabilities::default()
        }
    }

    fn axes() -> TunedAxes {
        TunedAxes {
            workgroup_sizes: vec![256, 1024],
            items: vec![8, 10, 48],
            packs_per_run: vec![1, 2],
            sort_algorithms: TunedAxes::SORTS.into(),
            scan_algorithms: TunedAxes::SCANS.into(),
            exchanges: vec![true, false],
            has_subgroup_sizes: false,
        }
    }

    #[test]
    fn unsupported_shapes_are_refused() {
        let capabilities = capabilities();
        let shapes = axes().sorts(&capabilities);
        // Eight rankings, with and without exchange, and six shapes of each.
        assert_eq!(shapes.len(), 8 * 2 * 6);
        let taken: Vec<_> = shapes.iter().filter(|shape| shape.case(&KEYS, &capabilities).is_ok()).collect();
        // 1024 invocations and tiles of 256 x 48 keys exceed the limits, and counters need multiples of 4.
        assert_eq!(taken.len(), (6 * 2 + 2) * 2);
        let ids: HashSet<_> =
            taken.iter().map(|shape| shape.case(&KEYS, &capabilities).unwrap().id()).collect();
        assert_eq!(ids.len(), taken.len(), "names are unique");
        let families: HashSet<_> = taken.iter().map(|shape| shape.family()).collect();
        assert_eq!(families.len(), 8 * 2);

        let scans = axes().scans();
        let taken = scans.iter().filter(|shape| shape.case(&KEYS, &capabilities).is_ok());
        // 8 and 48 words in runs of one quad and of two, by two algorithms.
        assert_eq!((scans.len(), taken.count()), (2 * 2 * 3 * 2, 2 * 4));
    }

    #[test]
    fn subgroup_sizes_are_tried_where_there_is_a_choice() {
        let axes = TunedAxes { has_subgroup_sizes: true, ..axes() };
        let mut capabilities = capabilities();
        capabilities.max_workgroup_subgroups = 16;
        let mut sizes = |max_subgroup_size, has_control| {
            capabilities.max_subgroup_size = max_subgroup_size;
            capabilities.enabled.subgroup_size_control = has_control;
            axes.subgroup_sizes(&capabilities)
        };
        assert_eq!(sizes(32, true), [None]);
        assert_eq!(sizes(64, false), [None]);
        assert_eq!(sizes(64, true), [None, Some(32), Some(64)]);
    }

    #[test]
    fn the_current_table_is_among_the_shapes() {
        let capabilities = capabilities();
        for is_sort in [true, false] {
            let current = TunedShape::current(is_sort, &KEYS, &capabilities);
            let case = current.case(&KEYS, &capabilities).expect("the library takes what it chooses");
            let own = match &case.work {
                Work::Sort(sort) => {
                    SortPolicy::tuned(sort.algorithm, &capabilities, &sort.config()).to_string()
                }
                Work::Scan(scan) => {
                    ScanPolicy::tuned(scan.algorithm, &capabilities, &scan.config()).to_string()
                }
                _ => unreachable!("nothing else is tuned"),
            };
            assert_eq!(case.policy(&capabilities), own);
            let row = TunedShape::row(&[(KEYS, current)], &capabilities, "as it was");
            assert!(row.contains("as it was"), "{row}");
        }
    }
}
