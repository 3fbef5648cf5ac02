//! Cases of segmented sorts: every size class of segments alone and all together, at their boundaries.

mod covering;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

pub(super) use covering::covering_cases;
#[cfg(test)]
pub(super) use covering::covering_sets;

use super::id::Id;
use super::primitive::{CountFrom, PrimitiveCase};
use super::{
    BenchScale, Case, Effort, PolicyName, SortKeys, SortValues, Work, small_workgroup, uniform_cases,
};
use crate::harness::cases::{Known, Needs, Prepared};
use crate::harness::expected::Expected;
use crate::harness::inputs::{Input, SplitMix64};
use crate::harness::keys;
use crate::harness::layout::POISON;
use subsweep::device::Capabilities;
use subsweep::error::Result;
use subsweep::scan::{ScanAlgorithm, ScanConfig, WorkgroupScan};
use subsweep::sort::{ClusterShape, SegmentedSortConfig, SegmentedSortPlan, SegmentedSortPolicy, TileShape};
use subsweep::{ElementType, FloatOrder};

/// Parameters of a segmented sort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentedSortCase {
    /// What is sorted, and by what.
    pub keys: SortKeys,
    /// The distribution of segment lengths.
    pub segments: SegmentMix,
    /// Whether all size classes have small limits.
    pub has_small_tiles: bool,
    /// Whether lanes match digits by masks in shared memory, with small tiles.
    pub has_shared_masks: bool,
    /// Whether short segments are ranked by counting instead of sorted by a network, with small tiles.
    pub by_counting: bool,
    /// Offset of the keys from a multiple of 16, in bytes.
    pub misalignment: u32,
    /// Offset of the values from a multiple of 16, in bytes.
    pub values_misalignment: u32,
    /// Host or indirect counts of keys and segments.
    pub count_from: CountFrom,
}

/// The distribution of segment lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentMix {
    /// No segments.
    None,
    /// 0 to 24 keys.
    Short,
    /// 33 to 64 keys.
    Medium,
    /// Most exceed the workgroup class.
    Long,
    /// A power law: half as many of each length as of half that length.
    PowerLaw,
    /// One segment of all keys.
    Whole,
    /// Empty segments only.
    Empty,
    /// Around the limits of each size class and around multiples of a tile.
    Boundaries,
    /// Short segments after a third of the keys, which are in none.
    Late,
    /// The rows of a table, of so many keys each.
    Rows(u32),
    /// Two of three of `Boundaries`, by ranges, the last first; and one that ends before it begins.
    Ranges,
}

impl SegmentMix {
    /// All distributions of segments, but for rows.
    pub const ALL: [Self; 10] = [
        Self::None,
        Self::Short,
        Self::Medium,
        Self::Long,
        Self::PowerLaw,
        Self::Whole,
        Self::Empty,
        Self::Boundaries,
        Self::Late,
        Self::Ranges,
    ];

    /// The name in case ids.
    fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::None => "none",
            Self::Short => "short",
            Self::Medium => "medium",
            Self::Long => "long",
            Self::PowerLaw => "power-law",
            Self::Whole => "whole",
            Self::Empty => "empty",
            Self::Boundaries => "boundaries",
            Self::Late => "late",
            Self::Rows(length) => return format!("rows-{length}").into(),
            Self::Ranges => "ranges",
        })
    }

    /// Rows of a length of each size class, the shortest and the longest of most.
    fn rows(policy: &SegmentedSortPolicy) -> [Self; 8] {
        let [short, small, large] = policy.max_extents();
        let long = large + 3 * policy.tile.tile_items() + 1;
        [short - 5, 1, small, large, long, short, short + 1, large + 1].map(Self::Rows)
    }

    /// The segments of `count` keys.
    fn segments(self, count: u64, policy: &SegmentedSortPolicy) -> Vec<Range<u32>> {
        let begins = self.begins(count, policy);
        let end = match self {
            Self::Rows(length) => count as u32 / length * length,
            _ => count as u32,
        };
        let ends = begins.iter().skip(1).copied().chain([end]);
        let segments = begins.iter().zip(ends).map(|(&begin, end)| begin..end);
        match self {
            Self::Ranges => {
                let mut kept: Vec<_> = segments.enumerate().filter(|(index, _)| index % 3 != 1).collect();
                kept.reverse();
                let kept = kept.into_iter().map(|(_, segment)| segment);
                kept.chain([Range { start: count as u32, end: count as u32 / 2 }]).collect()
            }
            _ => segments.collect(),
        }
    }

    /// The segment offsets of `count` keys.
    fn begins(self, count: u64, policy: &SegmentedSortPolicy) -> Vec<u32> {
        let (first, mut extent): (u64, Box<dyn FnMut(u64) -> u64>) = match self {
            Self::None => return Vec::new(),
            Self::Whole => return vec![0],
            Self::Empty => return vec![count as u32; 100],
            Self::Short => (0, Box::new(|draw| draw % 25)),
            Self::Medium => (0, Box::new(|draw| 33 + draw % 32)),
            Self::Late => (count / 3 + 1, Box::new(|draw| draw % 25)),
            Self::Rows(length) => return (0..count as u32 / length).map(|row| row * length).collect(),
            Self::Long => {
                let [.., large] = policy.max_extents();
                (0, Box::new(move |draw| draw % (4 * u64::from(large))))
            }
            Self::PowerLaw => (0, Box::new(|draw| (draw >> 32) % (2 << draw.trailing_zeros().min(28)))),
            Self::Boundaries | Self::Ranges => {
                let whole = policy.max_extents().into_iter().chain([policy.tile.tile_items()]);
                let whole: Vec<_> = whole.chain([1, 3 * policy.tile.tile_items()]).collect();
                let mut index = 0;
                let next = move |_| {
                    index += 1;
                    u64::from(whole[index / 3 % whole.len()]) + index as u64 % 3 - 1
                };
                (0, Box::new(next))
            }
        };
        let mut random = SplitMix64(count);
        let mut begins = Vec::new();
        let mut begin = first.min(count);
        // The last segment may be empty.
        loop {
            begins.push(begin as u32);
            if begin == count {
                return begins;
            }
            begin = (begin + extent(random.next_u64())).min(count);
        }
    }
}

impl SegmentedSortCase {
    /// Keys of u32 alone, ascending by all bits, aligned, with the chosen policy.
    pub const fn keys_of_u32(segments: SegmentMix) -> Self {
        Self {
            keys: SortKeys::new(ElementType::U32, SortValues::None, false),
            segments,
            has_small_tiles: false,
            has_shared_masks: false,
            by_counting: false,
            misalignment: 0,
            values_misalignment: 0,
            count_from: CountFrom::Host,
        }
    }

    /// This sort with other keys, by all bits, with values, in either order.
    pub(super) fn with_types(self, element: ElementType, values: SortValues, is_descending: bool) -> Self {
        Self { keys: SortKeys::new(element, values, is_descending), ..self }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> SegmentedSortPolicy {
        let mut policy = SegmentedSortPolicy::choose(capabilities, &self.config()).policy;
        if self.has_small_tiles {
            let workgroup_size = small_workgroup(capabilities);
            let shape = |items_per_invocation| TileShape { workgroup_size, items_per_invocation };
            let by_network = !self.by_counting;
            policy.cluster = ClusterShape { workgroup_size, lanes: 4, items_per_invocation: 3, by_network };
            policy.workgroups = [shape(4), shape(8)];
            policy.tile = shape(5);
            policy.matching.by_shared_masks = self.has_shared_masks;
            policy.has_exchange = true;
            let algorithm = ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup);
            policy.scan =
                PolicyName::Small.scan(capabilities, algorithm, &ScanConfig::exclusive(ElementType::U32));
        }
        policy
    }

    /// The plan's configuration without its policy.
    pub fn config(&self) -> SegmentedSortConfig {
        let config = self.keys.config();
        let config = if self.count_from.is_indirect() { config.indirect_count() } else { config };
        let config = SegmentedSortConfig::new(config);
        match self.segments {
            SegmentMix::Rows(length) => config.along_rows(length),
            SegmentMix::Ranges => config.ranges(),
            _ => config,
        }
    }

    /// Maximum keys of a segment that one workgroup sorts.
    fn large(&self, capabilities: &Capabilities) -> u64 {
        let [.., large] = self.policy(capabilities).max_extents();
        large.into()
    }
}

impl PrimitiveCase for SegmentedSortCase {
    type Plan = SegmentedSortPlan;

    fn id(&self) -> Id {
        let policy = match (self.has_small_tiles, self.has_shared_masks, self.by_counting) {
            (false, ..) => "default",
            (true, false, false) => "small",
            (true, true, _) => "small-masks",
            (true, false, true) => "small-counting",
        };
        Id::new(format_args!("segmented_sort:{}", self.keys.values))
            .with("type", self.keys.element)
            .given("order", self.keys.is_descending.then_some("descending"))
            .unless(FloatOrder::Total, "floats", self.keys.order)
            .with("segments", self.segments.name())
            .with("policy", policy)
            .with("bits", format_args!("{}:{}", self.keys.bits.start, self.keys.bits.end))
            .with("misalign", self.misalignment)
            .unless(0, "values-misalign", self.values_misalignment)
            .unless(CountFrom::Host, "count", self.count_from)
    }

    fn variant(&self) -> String {
        "segmented sort".to_owned()
    }

    fn row_size(&self) -> u64 {
        self.keys.element.size() as u64
    }

    fn moved_size(&self) -> u64 {
        self.keys.values.moved_size()
    }

    fn generate(&self, count: u64, input: Input) -> [Vec<u32>; 2] {
        keys::keys_and_values(self.keys.element, self.keys.values, input, count)
    }

    fn prepare(&self, plan: Arc<SegmentedSortPlan>, count: u64, _: Input, _: &Known) -> Result<Prepared> {
        let segments = self.segments.segments(count, plan.policy());
        let row_length = plan.config().row_length();
        let (key_count, mut operands) = self.count_from.operand("count", count);
        let (segment_count, word) = self.count_from.operand("segment_count", segments.len() as u64);
        operands.extend(word);
        // Offsets beyond the segment count are 0, which must not be read.
        let offsets = |of: fn(&Range<u32>) -> u32| {
            let mut offsets: Vec<_> = segments.iter().map(of).collect();
            offsets.resize(segment_count.max() as usize, 0);
            offsets
        };
        if row_length.is_none() {
            operands.push(("segments", offsets(|segment| segment.start).into()));
        }
        if plan.config().has_ranges() {
            operands.push(("segment_ends", offsets(|segment| segment.end).into()));
        }
        let sort = self.keys.clone();
        let traffic_size = plan.traffic_size(segments.iter().map(|segment| segment.len() as u64));
        let needs = Needs {
            source: "keys",
            in_place: true,
            values: &["values"],
            values_misalignment: self.values_misalignment,
            ..Needs::new(key_count.max(), self.misalignment, operands).elements(self.keys.element)
        };
        let expected = move |keys: &[u32]| {
            let sorted = match row_length {
                Some(length) => sort.of_rows(keys, length, POISON),
                None => sort.of_segments(keys, &segments, POISON),
            };
            (Expected::exact(sorted.keys), vec![sorted.values])
        };
        Prepared::new(traffic_size, plan, Default::default(), (key_count, segment_count), needs, expected)
    }
}

/// Pairs with 4-byte values, which make stability observable.
fn pairs(segments: SegmentMix, has_small_tiles: bool) -> SegmentedSortCase {
    let keys = SegmentedSortCase { has_small_tiles, ..SegmentedSortCase::keys_of_u32(segments) };
    keys.with_types(ElementType::U32, SortValues::B4, false)
}

/// Plans of the default policy, for each size of keys and values.
pub(super) fn selectable_works(_: &Capabilities) -> Vec<Work> {
    let keys = [ElementType::U32, ElementType::U64].into_iter();
    let kinds = keys.flat_map(|key| SortValues::SIZES.map(|values| (key, values)));
    let boundaries = SegmentedSortCase::keys_of_u32(SegmentMix::Boundaries);
    kinds.map(|(key, values)| boundaries.clone().with_types(key, values, false).into()).collect()
}

/// Segments of every size class in the default tiles, which compile slowly: pairs only, since the covering set has the
/// kernels of the others.
pub(super) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let pairs = pairs(SegmentMix::Boundaries, false);
    vec![pairs.case(9 * pairs.large(capabilities) + 7, Input::TwoValued)]
}

/// All cases except the covering ones.
pub(super) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for segments in SegmentMix::ALL {
        for has_small_tiles in [true, false] {
            let sort = pairs(segments, has_small_tiles);
            let large = sort.large(capabilities);
            let counts = [0, 1, 2, 1000, large, large + 1];
            cases.extend(counts.map(|count| sort.case(count, Input::ConstantDigit)));
            let most = if has_small_tiles { 20_011 } else { 9 * large + 7 };
            cases.extend([sort.case(most, Input::TwoValued), sort.case(99_991, Input::Uniform)]);
            cases.extend(Input::ALL.map(|input| sort.case(3 * large + 5, input)));
            cases.push(sort.case((1 << 22) + 1, Input::Uniform));
        }
    }
    for has_small_tiles in [true, false] {
        let of_rows = pairs(SegmentMix::Whole, has_small_tiles);
        for (segments, input) in SegmentMix::rows(&of_rows.policy(capabilities)).into_iter().zip(Input::ALL) {
            let rows = SegmentedSortCase { segments, ..of_rows.clone() };
            cases.extend([0, 1, 99_991].map(|count| rows.case(count, input)));
            for keys in SortKeys::all() {
                cases.push(SegmentedSortCase { keys, ..rows.clone() }.case(20_023, input));
            }
        }
    }
    cases.extend(typed_cases(capabilities));
    cases.extend(counted_cases(capabilities));
    cases
}

/// Indirect counts of keys and segments: none, one, some and the maximum, for each class and without segments.
fn counted_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for (segments, element, values, has_small_tiles) in [
        (SegmentMix::Boundaries, ElementType::U32, SortValues::B4, true),
        (SegmentMix::None, ElementType::U32, SortValues::B4, true),
        (SegmentMix::Empty, ElementType::U32, SortValues::B4, true),
        (SegmentMix::PowerLaw, ElementType::U32, SortValues::Indices, true),
        (SegmentMix::Long, ElementType::F64, SortValues::B8, true),
        (SegmentMix::PowerLaw, ElementType::U32, SortValues::None, false),
    ] {
        let sort = pairs(segments, has_small_tiles).with_types(element, values, false);
        let most = if has_small_tiles { 20_011 } else { 9 * sort.large(capabilities) + 7 };
        for count in [0, 1, 2, 1000, most] {
            for count_from in CountFrom::INDIRECT {
                let counted = SegmentedSortCase { count_from, ..sort.clone() };
                cases.push(counted.case(count, Input::EdgeValues));
            }
        }
    }
    cases
}

/// Every type of keys with every kind of values, in either order, all classes together; bit ranges and misaligned
/// memory.
fn typed_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for (index, keys) in SortKeys::all().enumerate() {
        let boundaries = SegmentedSortCase { keys: keys.clone(), ..pairs(SegmentMix::Boundaries, false) };
        let mut add = |sort: &SegmentedSortCase, count| cases.push(sort.case(count, Input::EdgeValues));
        let small = SegmentedSortCase { has_small_tiles: true, ..boundaries.clone() };
        add(&small, 20_023);
        add(&SegmentedSortCase { by_counting: true, ..small.clone() }, 9_973);
        // Masks depend on the sizes of keys and values alone.
        let is_plain = [ElementType::U32, ElementType::U64].contains(&keys.element) && !keys.is_descending;
        if is_plain && keys.values != SortValues::Indices {
            add(&SegmentedSortCase { has_shared_masks: true, ..small.clone() }, 20_023);
        }
        let width = keys.element.bits();
        let ranges = [width / 3..3 * width / 4, width - 1..width, 0..1, 5..5, 0..width.min(9)];
        let part = SegmentedSortCase {
            keys: SortKeys { bits: ranges[index % ranges.len()].clone(), ..keys },
            misalignment: [4, 8, 12][index % 3],
            values_misalignment: [12, 0, 4, 8][index % 4],
            ..small
        };
        add(&part, 9_973);
        add(&boundaries, 9 * boundaries.large(capabilities) + 5);
        add(&SegmentedSortCase { segments: SegmentMix::PowerLaw, ..boundaries }, (1 << 20) + 7);
    }
    cases
}

/// Benchmarks of short, medium, power-law and long segments.
pub(super) fn bench_cases(scale: BenchScale) -> Vec<Case> {
    let counts = scale.counts();
    // Segmented sorts of a million keys take half a minute on some CPUs.
    let counts = if scale.effort == Effort::Quick && !scale.is_gpu { &counts[..1] } else { &counts };
    let mixes = [SegmentMix::Short, SegmentMix::Medium, SegmentMix::PowerLaw, SegmentMix::Long];
    uniform_cases(mixes.map(SegmentedSortCase::keys_of_u32), counts)
}

#[cfg(test)]
mod tests {
    use super::super::tests::capabilities;
    use super::*;

    #[test]
    fn ids_are_stable() {
        let keys = SegmentedSortCase::keys_of_u32(SegmentMix::PowerLaw);
        let id = "segmented_sort:keys:type=u32;segments=power-law;policy=default;bits=0:32;misalign=0";
        assert_eq!(keys.to_string(), id);
        let rows = SegmentedSortCase { segments: SegmentMix::Rows(40), ..keys.clone() };
        assert_eq!(rows.to_string(), id.replace("power-law", "rows-40"));
        let pairs = keys.with_types(ElementType::F64, SortValues::B8, true);
        let pairs = SegmentedSortCase { values_misalignment: 8, has_small_tiles: true, ..pairs };
        let id = "segmented_sort:pairs8:type=f64;order=descending;segments=power-law;policy=small;bits=0:64;\
                  misalign=0;values-misalign=8";
        assert_eq!(pairs.to_string(), id);
        let counted = SegmentedSortCase { count_from: CountFrom::Device, ..pairs };
        assert_eq!(counted.to_string(), format!("{id};count=device"));
    }

    /// The segment lengths; the last segment ends with the keys.
    fn extents(mix: SegmentMix, count: u64) -> Vec<u64> {
        let case = SegmentedSortCase { has_small_tiles: true, ..SegmentedSortCase::keys_of_u32(mix) };
        let begins = mix.begins(count, &case.policy(&capabilities()));
        let ends = begins.iter().skip(1).map(|&begin| begin.into()).chain([count]);
        begins.iter().zip(ends).map(|(&begin, end): (_, u64)| end - u64::from(begin)).collect()
    }

    #[test]
    fn mixes_are_what_their_names_say() {
        let case =
            SegmentedSortCase { has_small_tiles: true, ..SegmentedSortCase::keys_of_u32(SegmentMix::Long) };
        let [short, small, large] = case.policy(&capabilities()).max_extents().map(u64::from);
        for mix in SegmentMix::ALL {
            for count in [0, 1, 2, 10_000] {
                let policy = SegmentedSortCase::keys_of_u32(mix).policy(&capabilities());
                let begins = mix.begins(count, &policy);
                assert!(
                    begins.is_sorted() && begins.iter().all(|&begin| u64::from(begin) <= count),
                    "{mix:?}"
                );
            }
        }
        let longest = |mix| extents(mix, 100_000).into_iter().max().unwrap_or(0);
        assert_eq!((longest(SegmentMix::Short), longest(SegmentMix::Empty)), (24, 0));
        assert_eq!(longest(SegmentMix::Medium), 64);
        assert_eq!((extents(SegmentMix::None, 9).len(), extents(SegmentMix::Whole, 9)), (0, vec![9]));
        assert!(longest(SegmentMix::Long) > 3 * large && longest(SegmentMix::PowerLaw) > large);
        assert_eq!(extents(SegmentMix::Late, 9_000).iter().sum::<u64>(), 5_999);
        assert_eq!(extents(SegmentMix::Rows(300), 900), [300; 3]);
        let boundaries = extents(SegmentMix::Boundaries, 100_000);
        for extent in [0, 1, 2, short, short + 1, small, small + 1, large, large + 1, large - 1] {
            assert!(boundaries.contains(&extent), "{extent}");
        }
    }
}
