//! The table of cases: for verification by effort, for benchmarks by effort and preset.

mod difference;
mod gather;
mod histogram;
mod id;
mod known;
mod merge;
mod packed;
mod pairwise;
mod peers;
mod plan_config;
mod policies;
mod prepared;
mod primitive;
mod ready;
mod reduce;
mod run_length;
mod scan;
mod scratch;
mod search;
mod segmented_sort;
mod select;
mod soak;
mod sort;
mod structure_sort;
mod top_k;
mod tuned;

use std::collections::{BTreeSet, HashSet};
use std::fmt;

pub use difference::DifferenceCase;
pub use gather::GatherCase;
pub use histogram::{HistogramCase, HistogramMemory, HistogramRange};
pub(super) use known::{Expectation, Known};
pub use merge::{MergeCase, MergePart};
pub use peers::peer_bench_cases;
pub use plan_config::PlanConfig;
pub use policies::PolicyName;
use policies::{WINDOWS, small_workgroup};
pub(super) use prepared::{Needs, Prepared, RangeOf, Record, Spans};
pub use primitive::CountFrom;
pub(super) use primitive::PrimitiveCase;
pub(super) use ready::Ready;
pub use reduce::ReduceCase;
pub use run_length::{RunLengthCase, RunLengthCoding};
pub use scan::{InitialFrom, ScanCase};
pub use scratch::RecordedMemory;
pub use search::SearchCase;
pub use segmented_sort::{SegmentMix, SegmentedSortCase};
pub use select::{SelectCase, SelectOutput};
pub use soak::repeated;
pub use sort::{SortCase, tutorial_13_bench_cases};
pub use structure_sort::{StructureShape, StructureSortCase, StructureSortOutput};
pub use top_k::{TopKCase, TopKOutput};
pub use tuned::tuned_case;

use super::inputs::Input;
pub use super::keys::SortValues;
pub use super::sorted::SortKeys;
use super::tuning_rows::shape_name;
use packed::{UNPACKED, in_memory};
use primitive::{Table, Tables};
use scratch::Planner;
use subsweep::device::Capabilities;
use subsweep::error::Result;
use subsweep::scan::ScanAlgorithm;
use subsweep::tuning::{self, KernelShape, TunedPart};
use subsweep::{Config, ElementType, FloatOrder};

/// A primitive's work on an input, with a stable id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The primitive and its parameters.
    pub work: Work,
    /// Number of elements.
    pub count: u64,
    /// The input.
    pub input: Input,
    /// A shape that its policy takes, for tuning.
    pub tuned: Option<(TunedPart, KernelShape)>,
}

/// What is left to do of a case that has its plan: operands, recording and oracle. It needs no device.
pub(super) type Planned = Box<dyn FnOnce(&Known) -> Result<Prepared> + Send>;

/// Registers the case type of each primitive, whose file has the tables of cases.
macro_rules! primitives {
    ($($(#[$doc:meta])* $name:ident($module:ident::$case:ident)),+ $(,)?) => {
        /// A primitive and its parameters.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Work {
            $($(#[$doc])* $name($case)),+
        }

        impl Work {
            fn tables() -> impl Iterator<Item = Tables> {
                [$(Tables {
                    covering: $module::covering_cases,
                    #[cfg(test)]
                    missing: |capabilities, cases| {
                        let of = |case: &Case| match &case.work {
                            Work::$name(work) => Some((work.clone(), case.input)),
                            _ => None,
                        };
                        let cases: Vec<_> = cases.iter().filter_map(of).collect();
                        $module::covering_sets(capabilities).iter().flat_map(|set| set.missing(&cases)).collect()
                    },
                    #[cfg(test)]
                    extents: |capabilities| {
                        $module::covering_sets(capabilities).iter().map(|set| set.extent()).collect()
                    },
                    specializations: $module::specialization_cases,
                    full: $module::full_cases,
                    selectable: |capabilities| {
                        $module::selectable_works(capabilities).into_iter().map(Work::from).collect()
                    },
                    bench: $module::bench_cases,
                }),+]
                .into_iter()
            }

            pub(super) fn parameters(&self) -> &dyn PrimitiveCase {
                match self {
                    $(Self::$name(case) => case),+
                }
            }

            /// The configuration of its plan on a device, with the policy.
            pub(super) fn plan(&self, capabilities: &Capabilities) -> PlanConfig {
                match self {
                    $(Self::$name(case) => case.config().policy(case.policy(capabilities)).into()),+
                }
            }

            /// Whether the policy of its plan is that which a plan takes by itself on a device; true if it can take none, which
            /// its verification tells.
            pub fn has_default_policy(&self, capabilities: &Capabilities) -> bool {
                match self {
                    $(Self::$name(case) => {
                        let default = case.config().checked_policy(capabilities).ok();
                        default.is_none_or(|policy| policy == case.policy(capabilities))
                    }),+
                }
            }

            /// The policy of its plan on a device, as text.
            fn policy(&self, capabilities: &Capabilities) -> String {
                match self {
                    $(Self::$name(case) => case.policy(capabilities).to_string()),+
                }
            }
        }

        impl Case {
            /// Creates the plan. What is left to do, by [`PrimitiveCase::prepare`], needs no device.
            ///
            /// # Errors
            /// Errors of the plan.
            pub(super) fn plan(&self, planner: &impl Planner) -> Result<Planned> {
                let capabilities = self.capabilities(planner.capabilities());
                let (count, input) = (self.count, self.input);
                Ok(match &self.work {
                    $(Work::$name(case) => {
                        let plan = planner.plan(case.config().policy(case.policy(&capabilities)))?;
                        let case = case.clone();
                        Box::new(move |known| case.prepare(plan, count, input, known))
                    }),+
                })
            }
        }

        $(
            impl From<$case> for Work {
                fn from(case: $case) -> Self {
                    Self::$name(case)
                }
            }

            impl fmt::Display for $case {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.id().fmt(f)
                }
            }
        )+
    };
}

primitives! {
    /// A prefix sum.
    Scan(scan::ScanCase),
    /// A gather.
    Gather(gather::GatherCase),
    /// A radix sort.
    Sort(sort::SortCase),
    /// A segmented sort.
    SegmentedSort(segmented_sort::SegmentedSortCase),
    /// A selection or partition.
    Select(select::SelectCase),
    /// A histogram.
    Histogram(histogram::HistogramCase),
    /// A reduction.
    Reduce(reduce::ReduceCase),
    /// A run-length encoding or decoding.
    RunLength(run_length::RunLengthCase),
    /// A search in a sorted array.
    Search(search::SearchCase),
    /// A merge of two sorted arrays.
    Merge(merge::MergeCase),
    /// An adjacent difference.
    Difference(difference::DifferenceCase),
    /// A top-k.
    TopK(top_k::TopKCase),
    /// A sort of structures by several fields.
    StructureSort(structure_sort::StructureSortCase),
}

impl Case {
    /// The primitive and its kind, by which results are grouped.
    pub fn group(&self) -> String {
        group_of(&self.id()).to_owned()
    }

    /// The id without algorithm and policy, common to all cases of the same work.
    pub fn variants(&self) -> String {
        let (id, primitive) = (self.id(), self.group());
        let is_way = |parameter: &&str| {
            let (name, _) = parameter.split_once('=').unwrap_or((parameter, ""));
            !["algorithm", "policy", "shape"].contains(&name)
        };
        let parameters = id.get(primitive.len() + 1..).unwrap_or_default();
        let kept: Vec<_> = parameters.split(';').filter(is_way).collect();
        format!("{primitive}:{}", kept.join(";"))
    }

    /// The stable id: `sort:keys:type=u32;algorithm=radix-4bit;…;n=1048576;input=uniform`.
    pub fn id(&self) -> String {
        let tuned =
            self.tuned.map_or(String::new(), |(part, shape)| format!(";shape={}", shape_name(&shape, part)));
        format!("{}{tuned};n={};input={}", self.work, self.count, self.input)
    }

    /// The case with a shape that its policy takes for `part`.
    pub const fn with_shape(mut self, part: TunedPart, shape: KernelShape) -> Self {
        self.tuned = Some((part, shape));
        self
    }

    /// The capabilities that its policy is chosen for.
    fn capabilities(&self, capabilities: &Capabilities) -> Capabilities {
        match &self.tuned {
            // Of few elements as well.
            Some((part, shape)) => {
                let with = tuning::with_shape(capabilities, *part, shape);
                let Some(few) = tuned::few_of(*part) else { return with };
                tuning::with_shape(&with, few, &tuning::shape_of(capabilities, few, [1, 0]).few(0))
            }
            None => capabilities.clone(),
        }
    }

    /// Its algorithm and policy, or what distinguishes it from other cases of the primitive.
    pub fn variant(&self) -> String {
        self.work.parameters().variant()
    }

    /// The number of items that tiles hold: elements, unless they are long.
    pub fn item_count(&self) -> u64 {
        self.work.parameters().item_count(self.count)
    }

    /// The words of its input: the elements, or a sort's keys; and a sort's values.
    pub fn generate(&self) -> [Vec<u32>; 2] {
        self.work.parameters().generate(self.count, self.input)
    }

    /// The seed of the input's random numbers.
    pub fn seed(&self) -> u64 {
        self.work.parameters().seed(self.count)
    }

    /// Bytes per element; for a sort of a key and the value moved with it.
    pub fn element_size(&self) -> u64 {
        self.work.parameters().row_size() + self.work.parameters().moved_size()
    }

    /// The policy of its plan on a device, as text.
    pub fn policy(&self, capabilities: &Capabilities) -> String {
        self.work.policy(&self.capabilities(capabilities))
    }

    /// Bytes of all elements.
    pub fn size(&self) -> u64 {
        self.count * self.element_size()
    }
}

/// The primitive and its kind of a case id.
pub(super) fn group_of(id: &str) -> &str {
    // The parameters begin at the first `=`.
    let end = id.find('=').and_then(|end| id[..end].rfind(':')).unwrap_or(id.len());
    &id[..end]
}

/// An id, or a group, without the number of elements.
pub fn without_count(id: &str) -> String {
    let group = group_of(id);
    let parameters = id.get(group.len() + 1..).unwrap_or_default().split(';');
    let kept: Vec<_> =
        parameters.filter(|parameter| !parameter.is_empty() && !parameter.starts_with("n=")).collect();
    if kept.is_empty() { group.to_owned() } else { format!("{group}:{}", kept.join(";")) }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parameters().fmt(f)
    }
}

/// The effort of verification and benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effort {
    /// Seconds: every kernel of default plans and every pair of parameters, with up to 65,537 elements.
    Quick,
    /// Minutes: every specialization of a kernel by a selectable policy, in a few tiles.
    #[default]
    Normal,
    /// Unlimited time and memory: products of parameters as well.
    Full,
}

/// More bytes than lavapipe's binding range of 128 MiB, and not a power of two.
const LARGE: u64 = (1 << 26) + 3;

/// The verification cases of an effort. Each effort includes the cases of the lower ones.
pub fn verify_cases(effort: Effort, capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = every(|tables| tables.covering, capabilities);
    cases.extend(packed::covering_cases());
    if effort != Effort::Quick {
        cases.extend(every(|tables| tables.specializations, capabilities));
        cases.extend(packed::specialization_cases());
    }
    if effort == Effort::Full {
        cases.extend(every(|tables| tables.full, capabilities));
        cases.extend(packed::full_cases());
        cases.extend(product_cases(capabilities));
    }
    let mut ids = HashSet::new();
    cases.retain(|case| ids.insert(case.id()));
    cases
}

/// The products of parameters among the cases of [`Effort::Full`].
pub fn product_cases(capabilities: &Capabilities) -> Vec<Case> {
    let tables: [Table; 3] = [scan::product_cases, sort::product_cases, reduce::product_cases];
    tables.into_iter().flat_map(|table| table(capabilities)).collect()
}

/// A table of every primitive.
fn every(table: fn(Tables) -> Table, capabilities: &Capabilities) -> Vec<Case> {
    Work::tables().flat_map(|tables| table(tables)(capabilities)).collect()
}

/// The plans of works that use every specialization of a kernel by a selectable policy, in one key order. Small-tile
/// policies are not selectable.
pub(super) fn selectable_plans(capabilities: &Capabilities) -> Vec<PlanConfig> {
    let works = Work::tables().flat_map(|tables| (tables.selectable)(capabilities));
    works.map(|work| work.plan(capabilities)).chain(packed::selectable_plans(capabilities)).collect()
}

/// Element counts around the boundaries of a tile and a subgroup, up to 65,537.
fn boundary_counts(capabilities: &Capabilities, tile: u64) -> BTreeSet<u64> {
    let lanes = u64::from(capabilities.subgroup_size);
    let around_lanes = [0, 1, lanes - 1, lanes, lanes + 1];
    let around_tile = [tile - 1, tile, tile + 1, 2 * tile + 3, 65_535, 65_536, 65_537];
    around_lanes.into_iter().chain(around_tile).collect()
}

/// Element counts around every boundary of a device and a policy.
fn sizes(capabilities: &Capabilities, tile: u64) -> BTreeSet<u64> {
    let lanes = u64::from(capabilities.subgroup_size);
    let mut sizes =
        vec![0, 1, 2, lanes - 1, lanes, lanes + 1, 257, tile - 1, tile, tile + 1, 2 * tile, 4 * tile + 11];
    sizes.extend([65_535, 65_536, 65_537, 99_991, (1 << 20) - 1, (1 << 20) + 1]);
    sizes.extend([1_299_709, (1 << 22) - 1, 1 << 22, (1 << 22) + 1]);
    // The largest count of two levels of tiles, and the first of three.
    sizes.extend([tile * tile, tile * tile + 1].into_iter().filter(|&size| size <= 1 << 20));
    sizes.into_iter().collect()
}

/// The extent of benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BenchScale {
    /// Which cases, and up to which count.
    pub effort: Effort,
    /// Whether the device is a GPU, which takes more elements than a CPU.
    pub is_gpu: bool,
}

impl BenchScale {
    /// The extent of an effort on a device.
    pub fn new(effort: Effort, capabilities: &Capabilities) -> Self {
        Self { effort, is_gpu: !capabilities.is_cpu() }
    }

    /// The element counts of most benchmarks.
    fn counts(self) -> Vec<u64> {
        match (self.effort, self.is_gpu) {
            (Effort::Quick, true) => vec![1 << 20, 1 << 24],
            (Effort::Quick, false) => vec![1 << 16, 1 << 20],
            (Effort::Normal, true) => vec![1 << 16, 1 << 20, 1 << 24, 1 << 26],
            (Effort::Normal, false) => vec![1 << 12, 1 << 16, 1 << 20, 1 << 22, 1 << 24],
            (Effort::Full, _) => every_fourfold(28),
        }
    }
}

/// The benchmark cases of a scale.
pub fn bench_cases(scale: BenchScale) -> Vec<Case> {
    Work::tables().flat_map(|tables| (tables.bench)(scale)).chain(packed::bench_cases(scale)).collect()
}

/// A scan, a sort of keys and a sort of pairs with chosen policies: the cases of `verify --measure`.
pub fn first_look_cases(capabilities: &Capabilities) -> Vec<Case> {
    let scan = ScanCase::sum_of_u32(PolicyName::Default).into();
    let [keys, pairs, _] = SortCase::chosen().kinds().map(Work::from);
    let counts: &[u64] = if capabilities.is_cpu() { &[1 << 20] } else { &[1 << 20, 1 << 26] };
    uniform_cases([scan, keys, pairs], counts)
}

/// Every scan algorithm, and every sort algorithm without a count limit: the cases of `bench --preset textbook`.
pub fn textbook_bench_cases(effort: Effort) -> Vec<Case> {
    uniform_cases(all_algorithms(), preset_counts(effort))
}

/// The algorithms without a count limit, at widely spaced counts: the cases of `bench --preset scaling`.
pub fn scaling_bench_cases(effort: Effort) -> Vec<Case> {
    let last = match effort {
        Effort::Quick => 16,
        Effort::Normal => 22,
        Effort::Full => 28,
    };
    uniform_cases(all_algorithms().chain(gather::bench_works().map(Work::from)), &every_fourfold(last))
}

/// Every algorithm of scans, and of sorts without a count limit, tuned, on u32.
fn all_algorithms() -> impl Iterator<Item = Work> {
    let scan = |algorithm| ScanCase { algorithm, ..ScanCase::sum_of_u32(PolicyName::Default) }.into();
    let sort = |algorithm| SortCase::keys_of_u32(algorithm, PolicyName::Default).into();
    ScanAlgorithm::ALL.into_iter().map(scan).chain(sort::ANY_COUNT.into_iter().map(sort))
}

/// All types of 32 and 64 bits, in `default`, and floats in the other order as well.
fn ordered_types(default: FloatOrder) -> Vec<(ElementType, FloatOrder)> {
    let other = FloatOrder::ALL.into_iter().find(|&order| order != default).expect("there are two");
    let floats = UNPACKED.into_iter().filter(|element| element.is_float());
    UNPACKED
        .map(|element| (element, default))
        .into_iter()
        .chain(floats.map(|element| (element, other)))
        .collect()
}

/// Each of `works` at each of `counts`.
fn uniform_cases(works: impl IntoIterator<Item = impl Into<Work>>, counts: &[u64]) -> Vec<Case> {
    cases_of(works, counts, &[Input::Uniform])
}

/// Each of `works` at each of `counts`, of each of `inputs`.
fn cases_of(works: impl IntoIterator<Item = impl Into<Work>>, counts: &[u64], inputs: &[Input]) -> Vec<Case> {
    let mut cases = Vec::new();
    for work in works.into_iter().map(Into::into) {
        for &count in counts {
            cases.extend(inputs.iter().map(|&input| Case { work: work.clone(), count, input, tuned: None }));
        }
    }
    cases
}

/// The element counts at which algorithms are compared.
fn preset_counts(effort: Effort) -> &'static [u64] {
    match effort {
        Effort::Quick => &[1 << 12, 1 << 16],
        Effort::Normal => &[1 << 12, 1 << 16, 1 << 20, 1 << 22],
        Effort::Full => &[1 << 8, 1 << 12, 1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 26],
    }
}

/// 2^8, 2^10, … up to 2^`last`.
fn every_fourfold(last: u32) -> Vec<u64> {
    (8..=last).step_by(2).map(|bits| 1 << bits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use subsweep::Error;
    use subsweep::ash::vk;
    use subsweep::sort::SortAlgorithm;

    /// The capabilities of a small device.
    pub(super) fn capabilities() -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.subgroup_size = 8;
        capabilities.min_subgroup_size = 8;
        capabilities.max_subgroup_size = 8;
        capabilities.max_workgroup_invocations = 256;
        capabilities.shared_memory_size = 32 << 10;
        capabilities
    }

    const CPU: BenchScale = BenchScale { effort: Effort::Quick, is_gpu: false };

    #[test]
    fn an_id_names_its_group() {
        for case in bench_cases(CPU) {
            let groups =
                ["scan:inclusive", "sort:keys", "sort:pairs4", "segmented_sort:keys", "gather", "select"];
            let groups = [&groups[..], &["histogram:even", "histogram:edges"]].concat();
            let codings = ["run_length:encode", "run_length:non-trivial", "run_length:decode"];
            let groups = [groups, codings.into()].concat();
            let groups =
                [&groups[..], &["search:lower", "merge:keys", "merge:pairs", "difference", "top_k:largest"]]
                    .concat();
            let is_reduction = case.group().starts_with("reduce:");
            assert!(is_reduction || groups.contains(&case.group().as_str()), "{}", case.group());
        }
    }

    #[test]
    fn counts_are_removed_from_ids() {
        for (id, expected) in [
            ("sort:keys:type=u32;n=4096;input=uniform", "sort:keys:type=u32;input=uniform"),
            ("gather:words=1;n=4096", "gather:words=1"),
            ("a:b:n=3", "a:b"),
            ("a:b", "a:b"),
            ("", ""),
        ] {
            assert_eq!(without_count(id), expected, "{id}");
        }
    }

    #[test]
    fn variants_differ_in_algorithm_and_policy_alone() {
        let of = |algorithm, policy| {
            let work = Work::Sort(SortCase::keys_of_u32(algorithm, policy));
            Case { work, count: 4096, input: Input::Uniform, tuned: None }.variants()
        };
        let expected = "sort:keys:type=u32;bits=0:32;misalign=0;n=4096;input=uniform";
        assert_eq!(of(SortAlgorithm::Radix4Bit, PolicyName::Default), expected);
        assert_eq!(of(SortAlgorithm::Radix2Bit, PolicyName::Seed), expected);
        for case in bench_cases(CPU) {
            let (id, variants) = (case.id(), case.variants());
            assert!(!variants.contains("algorithm=") && !variants.contains("policy="), "{variants}");
            assert!(variants.split(';').all(|part| id.contains(part)), "{id}: {variants}");
        }
    }

    /// Devices of few and of many lanes, with and without doubles.
    pub(super) fn devices() -> Vec<Capabilities> {
        let of = |(lanes, shader_float64)| {
            let mut device = Capabilities::default();
            device.subgroup_size = lanes;
            device.min_subgroup_size = lanes;
            device.max_subgroup_size = lanes;
            device.max_workgroup_invocations = 1024;
            device.shared_memory_size = 48 << 10;
            device.enabled.shader_float64 = shader_float64;
            device
        };
        [(4, true), (4, false), (8, true), (16, true), (32, true), (32, false), (64, true)].map(of).into()
    }

    fn missing(device: &Capabilities, cases: &[Case]) -> Vec<String> {
        Work::tables().flat_map(|tables| (tables.missing)(device, cases)).collect()
    }

    #[test]
    fn quick_cases_hold_every_pair_of_parameters() {
        for device in devices() {
            let cases = verify_cases(Effort::Quick, &device);
            assert!(cases.iter().all(|case| case.count <= 65_537));
            assert_eq!(missing(&device, &cases), Vec::<String>::new());
        }
    }

    /// What is covered is stated once more: a value that is lost, or a pair that is refused, shows.
    #[test]
    fn covering_sets_have_their_values() {
        let extents: Vec<_> = Work::tables().flat_map(|tables| (tables.extents)(&devices()[0])).collect();
        let of = |lengths: &[usize], refused: usize| (lengths.to_vec(), refused);
        let expected = [
            // Scans, gathers, sorts, segmented sorts.
            of(&[6, 7, 6, 5, 2, 2, 3, 3, 2, 4], 11),
            of(&[6, 3, 2, 4], 0),
            of(&[8, 6, 5, 2, 3, 2, 3, 4, 4], 4),
            of(&[8, 6, 2, 2, 3, 4, 4], 3),
            // Selections by flags and by keys, histograms, reductions.
            of(&[2, 4, 2, 4, 3, 2, 3, 2, 4], 5),
            of(&[8, 8, 3, 2, 4, 3, 2, 3, 2, 4], 6),
            of(&[6, 2, 4, 4, 4, 5, 3, 4, 2], 1),
            of(&[6, 6, 5, 7, 3, 4], 20),
            // Encodings, decodings, searches, merges, differences, top-k, structure sorts.
            of(&[2, 2, 2, 2, 8, 3, 2, 3, 4], 3),
            of(&[2, 8, 3, 2, 3, 4], 7),
            of(&[8, 2, 9, 3, 3, 4], 0),
            of(&[8, 4, 2, 5, 3, 3, 4], 0),
            of(&[6, 4, 2, 2, 3, 4], 0),
            of(&[8, 4, 4, 3, 2, 2, 3, 3, 4, 3, 4], 5),
            of(&[8, 3, 3, 2], 0),
        ];
        assert_eq!(extents, expected);
    }

    /// What `tools/run` verifies: every primitive, none in small tiles.
    #[test]
    fn every_primitive_has_cases_of_default_policies() {
        let mut devices = devices();
        devices.retain(|device| device.enabled.shader_float64);
        let mut lavapipe = devices[1].clone();
        lavapipe.identity.device_type = vk::PhysicalDeviceType::CPU;
        lavapipe.identity.driver_id = vk::DriverId::MESA_LLVMPIPE;
        for device in devices.into_iter().chain([lavapipe]) {
            let mut cases = verify_cases(Effort::Normal, &device);
            let primitives = |cases: &[Case]| -> HashSet<_> {
                cases.iter().map(|case| std::mem::discriminant(&case.work)).collect()
            };
            let all = primitives(&cases);
            cases.retain(|case| case.work.has_default_policy(&device));
            assert_eq!(primitives(&cases), all);
            let ids: Vec<_> = cases.iter().map(Case::id).collect();
            assert_eq!(ids.iter().find(|id| id.contains("policy=small") || id.contains("policy=seed")), None);
            for sort in ["sort:keys:type=u32;", "sort:pairs4:type=u32;", "sort:keys:type=u64;"] {
                assert!(ids.iter().any(|id| id.starts_with(&format!("{sort}policy=chosen;"))), "{sort}");
            }
        }
    }

    #[test]
    fn a_missing_pair_is_noticed() {
        let mut cases = verify_cases(Effort::Quick, &capabilities());
        cases.retain(|case| !["type=i64", "descending"].iter().all(|value| case.id().contains(value)));
        assert!(
            missing(&capabilities(), &cases).iter().any(|work| work.contains("type=i64;order=descending"))
        );
        cases.retain(|case| case.input != Input::TwoValued);
        assert!(missing(&capabilities(), &cases).iter().any(|work| work.contains("input=two-valued")));
    }

    #[test]
    fn each_effort_has_the_cases_of_the_one_before_it() {
        let of =
            |effort| -> HashSet<_> { verify_cases(effort, &capabilities()).iter().map(Case::id).collect() };
        let [quick, normal, full] = [Effort::Quick, Effort::Normal, Effort::Full].map(of);
        for (less, more) in [(&quick, &normal), (&normal, &full)] {
            assert_eq!(less.difference(more).next(), None);
        }
        assert!(quick.len() < normal.len() && normal.len() < full.len());
    }

    /// A device may lack what a case needs; no device has a configuration that is wrong.
    #[test]
    fn cases_are_of_configurations_that_exist() {
        let scale = |effort| BenchScale { effort, is_gpu: false };
        let measured =
            [Effort::Quick, Effort::Normal, Effort::Full].map(|it| bench_cases(scale(it))).concat();
        for device in devices().into_iter().chain([capabilities()]) {
            for case in measured.iter().cloned().chain(verify_cases(Effort::Full, &device)) {
                let checked = case.work.plan(&device).check(&device);
                // Lanes match by shared masks in subgroups of up to 32 lanes.
                let is_of_device = |error: &Error| match error {
                    Error::InvalidPolicy(_) => device.subgroup_size > 32,
                    error => matches!(error, Error::MissingFeature { .. }),
                };
                assert!(checked.as_ref().err().is_none_or(is_of_device), "{}: {checked:?}", case.id());
            }
        }
    }

    #[test]
    fn ids_are_unique() {
        for effort in [Effort::Quick, Effort::Normal, Effort::Full] {
            for is_gpu in [false, true] {
                expect_unique(&bench_cases(BenchScale { effort, is_gpu }));
            }
            expect_unique(&textbook_bench_cases(effort));
            expect_unique(&scaling_bench_cases(effort));
            expect_unique(&tutorial_13_bench_cases(effort));
            expect_unique(&verify_cases(effort, &capabilities()));
        }
        let full = every(|tables| tables.full, &capabilities());
        expect_unique(&[full, product_cases(&capabilities())].concat());
    }

    #[track_caller]
    fn expect_unique(cases: &[Case]) {
        let mut ids: Vec<_> = cases.iter().map(Case::id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), cases.len());
    }
}
