//! Shapes that a device could be tuned to: what there is to try, as cases, and what was measured, as rows of the tables.

use super::cases::{Case, PolicyName, ScanCase, SortCase, SortValues, Work};
use super::inputs::Input;
use crate::ElementType;
use crate::device::Capabilities;
use crate::error::{Error, Result};
use crate::scan::{ScanAlgorithm, ScanPolicy, ScanTuning, WorkgroupScan};
use crate::sort::{Matching, Ranking, SortAlgorithm, SortPolicy, can_be_row, measured_row};

/// What is sorted or scanned, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TunedInput {
    /// The type of the keys, or of the elements.
    pub element: ElementType,
    /// What goes with keys; of a scan nothing.
    pub values: SortValues,
    /// Keys, or elements.
    pub count: u64,
}

impl TunedInput {
    /// What rows of the tables tell apart: the words of a key or element, and those of a value.
    pub fn words(&self) -> [u32; 2] {
        [self.element.words(), self.values.moved_size() as u32 / 4]
    }
}

/// One way to sort or to scan, among those that a row of a table can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TunedShape {
    /// Of a sort.
    Sort {
        /// What sorts more keys than one workgroup holds.
        algorithm: SortAlgorithm,
        /// How a tile's keys are counted and ranked.
        ranking: Ranking,
        /// Invocations in a workgroup.
        workgroup_size: u32,
        /// Keys of an invocation.
        items_per_invocation: u32,
        /// Whether ranked tiles are scattered from shared memory.
        has_exchange: bool,
        /// Lanes to ask for.
        subgroup_size: Option<u32>,
    },
    /// Of a scan.
    Scan {
        /// Reduce-then-scan or chained.
        algorithm: ScanAlgorithm,
        /// Invocations in a workgroup.
        workgroup_size: u32,
        /// Words of an invocation's elements.
        words_per_invocation: u32,
        /// Quads' worth of elements that follow one another.
        packs_per_run: u32,
    },
}

/// What is tried of each number that makes a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TunedAxes {
    /// Invocations in a workgroup.
    pub workgroup_sizes: Vec<u32>,
    /// Keys of an invocation; of a scan words.
    pub items: Vec<u32>,
    /// Of a scan: quads' worth of elements that follow one another.
    pub packs_per_run: Vec<u32>,
    /// Of a sort.
    pub sort_algorithms: Vec<SortAlgorithm>,
    /// Of a scan.
    pub scan_algorithms: Vec<ScanAlgorithm>,
    /// Of a sort: whether ranked tiles are scattered from shared memory.
    pub exchanges: Vec<bool>,
    /// Of a sort: all sizes of subgroups that the device has, and not the table's alone.
    pub has_subgroup_sizes: bool,
}

impl TunedAxes {
    /// The algorithms of sorts that a row can have by default.
    pub const SORTS: [SortAlgorithm; 4] = [
        SortAlgorithm::Onesweep,
        SortAlgorithm::Radix8Bit,
        SortAlgorithm::Radix4Bit,
        SortAlgorithm::Radix2Bit,
    ];
    /// The scans whose tiles the table shapes.
    pub const SCANS: [ScanAlgorithm; 2] =
        [ScanAlgorithm::Chained, ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup)];

    /// Every shape of a sort, those that the library refuses included.
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

    /// Every shape of a scan, those that the library refuses included.
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

    /// The table's own, and others if they are asked for and the device has a choice.
    fn subgroup_sizes(&self, capabilities: &Capabilities) -> Vec<Option<u32>> {
        let keys = SortCase::keys_of_u32(SortAlgorithm::Onesweep, PolicyName::Default);
        let mut sizes = vec![keys.policy(capabilities).subgroup_size];
        if self.has_subgroup_sizes {
            // None where the only size there is needs not be asked for.
            let asked = |size| capabilities.requested_subgroup_size(Some(size), size).ok().flatten();
            let others = (2..8).filter_map(|bits| asked(1 << bits)).map(Some);
            sizes.extend(others.filter(|size| !sizes.contains(size)).collect::<Vec<_>>());
        }
        sizes
    }
}

/// How an algorithm ranks, but for the seed's way.
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
    /// As the table has it now; for a scan with the algorithm that is chosen out of place.
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
            let tuning = ScanTuning::of(capabilities);
            Self::Scan {
                algorithm: ScanPolicy::choose(capabilities, &config).policy.algorithm,
                workgroup_size: tuning.workgroup_size,
                words_per_invocation: tuning.words_per_invocation,
                packs_per_run: tuning.packs_per_run,
            }
        }
    }

    /// What shapes of one row have in common: a row says items for each kind of keys, and nothing of a scan's algorithm.
    pub const fn family(self) -> Self {
        match self {
            Self::Sort { algorithm, ranking, workgroup_size, has_exchange, subgroup_size, .. } => {
                Self::Sort {
                    algorithm,
                    ranking,
                    workgroup_size,
                    items_per_invocation: 0,
                    has_exchange,
                    subgroup_size,
                }
            }
            Self::Scan { workgroup_size, words_per_invocation, packs_per_run, .. } => Self::Scan {
                algorithm: TunedAxes::SCANS[1],
                workgroup_size,
                words_per_invocation,
                packs_per_run,
            },
        }
    }

    /// The name of its algorithm.
    pub const fn algorithm(&self) -> &'static str {
        match self {
            Self::Sort { algorithm, .. } => algorithm.name(),
            Self::Scan { algorithm, .. } => algorithm.name(),
        }
    }

    /// The kernels that go through all keys or elements in a pass, without variants.
    pub const fn hot_kernels(&self) -> &'static [&'static str] {
        match self {
            Self::Sort { algorithm: SortAlgorithm::Onesweep, .. } => &["sort/onesweep"],
            Self::Sort { ranking: Ranking::Match(_), .. } => &["sort/count_bins", "sort/scatter"],
            Self::Sort { .. } => &["sort/count", "sort/scatter"],
            Self::Scan { algorithm: ScanAlgorithm::Chained, .. } => &["scan/chained"],
            Self::Scan { .. } => &["scan/reduce", "scan/downsweep"],
        }
    }

    /// Keys or elements of an invocation.
    pub fn items(&self, input: &TunedInput) -> u32 {
        match self {
            Self::Sort { items_per_invocation, .. } => *items_per_invocation,
            Self::Scan { words_per_invocation, .. } => (words_per_invocation / input.element.words()).max(1),
        }
    }

    /// Lanes that are asked for.
    pub const fn lanes(&self) -> Option<u32> {
        match self {
            Self::Sort { subgroup_size, .. } => *subgroup_size,
            Self::Scan { .. } => None,
        }
    }

    /// The case that proves and measures it.
    ///
    /// # Errors
    /// Why the library refuses the shape on the device, or its table could not say it.
    pub fn case(&self, input: &TunedInput, capabilities: &Capabilities) -> Result<Case> {
        let work = match *self {
            Self::Sort { algorithm, .. } => {
                let sort = sort_case(input);
                let policy = self.sort_policy(input, capabilities);
                policy.check(&sort.config(), capabilities)?;
                if !can_be_row(&policy, capabilities) {
                    let reason = "offsets of 64 bits, for which a row of the table has room, do not fit";
                    return Err(Error::InvalidPolicy { reason });
                }
                Work::Sort(SortCase { algorithm, tried: Some(policy), ..sort })
            }
            Self::Scan { algorithm, workgroup_size, words_per_invocation, packs_per_run } => {
                let invalid = |reason| Err(Error::InvalidPolicy { reason });
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
                let tuning = ScanTuning {
                    workgroup_size,
                    words_per_invocation,
                    packs_per_run,
                    ..ScanTuning::of(capabilities)
                };
                let policy = ScanPolicy::of_tuning(tuning, capabilities, &scan.config());
                let policy = policy.with_algorithm(algorithm).reproducible(&scan.config());
                policy.check(&scan.config(), capabilities)?;
                Work::Scan(ScanCase { algorithm, tried: Some(policy), ..scan })
            }
        };
        Ok(Case { work, count: input.count, input: Input::Uniform })
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

    /// Shapes of one family, each the best for its input, as a row in the syntax of the table: of scans the first.
    pub fn row(best: &[(TunedInput, Self)], capabilities: &Capabilities, source: &str) -> String {
        match best[0].1 {
            Self::Sort { .. } => {
                let measured: Vec<_> = best
                    .iter()
                    .map(|(input, shape)| (input.words(), shape.sort_policy(input, capabilities)))
                    .collect();
                measured_row(capabilities, &measured, source)
            }
            Self::Scan { workgroup_size, words_per_invocation, packs_per_run, .. } => {
                let now = ScanTuning::of(capabilities);
                let row = ScanTuning { workgroup_size, words_per_invocation, packs_per_run, ..now }
                    .row(capabilities);
                format!("    // {source}\n{row}")
            }
        }
    }
}

/// Whether the table has the single pass by default on the device, where a scan is out of place.
pub fn has_single_pass(capabilities: &Capabilities) -> bool {
    ScanTuning::has_single_pass(capabilities)
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
    fn what_the_device_or_the_library_lacks_is_refused() {
        let capabilities = capabilities();
        let shapes = axes().sorts(&capabilities);
        // Eight ways to rank, with and without exchange, and six shapes of each.
        assert_eq!(shapes.len(), 8 * 2 * 6);
        let taken: Vec<_> = shapes.iter().filter(|shape| shape.case(&KEYS, &capabilities).is_ok()).collect();
        // 1024 invocations are too many, 256 x 48 keys too large, and counters take multiples of 4 alone.
        assert_eq!(taken.len(), (6 * 2 + 2) * 2);
        let ids: HashSet<_> =
            taken.iter().map(|shape| shape.case(&KEYS, &capabilities).unwrap().id()).collect();
        assert_eq!(ids.len(), taken.len(), "names tell shapes apart");
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
    fn the_table_of_now_is_one_of_the_shapes() {
        let capabilities = capabilities();
        for is_sort in [true, false] {
            let current = TunedShape::current(is_sort, &KEYS, &capabilities);
            let case = current.case(&KEYS, &capabilities).expect("the library takes what it chooses");
            let [tried, chosen] = match &case.work {
                Work::Sort(sort) => {
                    let own = SortPolicy::tuned(sort.algorithm, &capabilities, &sort.config());
                    [sort.policy(&capabilities).to_string(), own.to_string()]
                }
                Work::Scan(scan) => {
                    let own = ScanPolicy::tuned(scan.algorithm, &capabilities, &scan.config());
                    [scan.policy(&capabilities).to_string(), own.to_string()]
                }
                _ => unreachable!("nothing else is tuned"),
            };
            assert_eq!(tried, chosen);
            let row = TunedShape::row(&[(KEYS, current)], &capabilities, "as it was");
            assert!(row.contains("as it was"), "{row}");
        }
    }
}
