//! The cases of sorts.

use std::fmt;
use std::ops::Range;

use super::{Case, Effort, LARGE, PolicyName, Work, is_sampled, sizes};
use crate::ElementType;
use crate::harness::inputs::Input;
use crate::sort::{SortAlgorithm, SortConfig, SortPolicy, ValueSize};
use crate::vk::Capabilities;

/// The algorithms that take as many keys as there are.
const ANY_COUNT: [SortAlgorithm; 4] =
    [SortAlgorithm::Radix4Bit, SortAlgorithm::Onesweep, SortAlgorithm::Radix8Bit, SortAlgorithm::Radix2Bit];

/// A radix sort's parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortCase {
    /// The type of the keys.
    pub element: ElementType,
    /// What goes with them.
    pub values: SortValues,
    /// Whether the greatest comes first.
    pub is_descending: bool,
    /// How many bits a pass takes.
    pub algorithm: SortAlgorithm,
    /// How it is tuned.
    pub policy: PolicyName,
    /// The bits that are sorted by.
    pub bits: Range<u32>,
    /// Bytes by which the keys miss a multiple of 16.
    pub misalignment: u32,
    /// Bytes by which the values miss one.
    pub values_misalignment: u32,
}

/// What goes with the keys of a sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SortValues {
    /// Nothing.
    None,
    /// 4 bytes each.
    B4,
    /// 8 bytes each.
    B8,
    /// Where they come from, which is the only result.
    Places,
}

impl SortValues {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::None, Self::B4, Self::B8, Self::Places];

    /// What a sort with them is called.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::None => "keys",
            Self::B4 => "pairs4",
            Self::B8 => "pairs8",
            Self::Places => "argsort",
        }
    }

    /// Bytes that are moved with each key.
    pub(in crate::harness) const fn moved_size(self) -> u64 {
        match self {
            Self::None | Self::Places => 0,
            Self::B4 => 4,
            Self::B8 => 8,
        }
    }
}

impl SortCase {
    /// Keys of u32 alone, ascending by all of their bits, aligned.
    pub const fn keys_of_u32(algorithm: SortAlgorithm, policy: PolicyName) -> Self {
        Self {
            element: ElementType::U32,
            values: SortValues::None,
            is_descending: false,
            algorithm,
            policy,
            bits: 0..32,
            misalignment: 0,
            values_misalignment: 0,
        }
    }

    /// The same of other keys, by all of their bits, with values, in either direction.
    const fn of(self, element: ElementType, values: SortValues, is_descending: bool) -> Self {
        Self { element, values, is_descending, bits: 0..element.bits(), ..self }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> SortPolicy {
        self.policy.sort(capabilities, self.algorithm)
    }

    /// What a plan is made for, but for its policy.
    pub fn config(&self) -> SortConfig {
        let config = match self.values {
            SortValues::None => SortConfig::keys(self.element),
            SortValues::B4 => SortConfig::pairs(self.element, ValueSize::B4),
            SortValues::B8 => SortConfig::pairs(self.element, ValueSize::B8),
            SortValues::Places => SortConfig::argsort(self.element),
        };
        let config = if self.is_descending { config.descending() } else { config };
        config.bits(self.bits.clone())
    }
}

impl fmt::Display for SortCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sort:{}:type={}", self.values.name(), self.element)?;
        // Ascending sorts were there first, and their names are for good.
        if self.is_descending {
            write!(f, ";order=descending")?;
        }
        write!(
            f,
            ";algorithm={};policy={};bits={}:{};misalign={}",
            self.algorithm.name(),
            self.policy.name(),
            self.bits.start,
            self.bits.end,
            self.misalignment
        )?;
        match self.values_misalignment {
            0 => Ok(()),
            missed => write!(f, ";values-misalign={missed}"),
        }
    }
}

/// The cases that prove a device right.
pub(super) fn verify_cases(effort: Effort, capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = u32_key_cases(effort, capabilities);
    cases.extend(typed_sort_cases(effort, capabilities));
    cases.extend(seam_cases(effort, capabilities));
    cases.extend(single_workgroup_cases(effort, capabilities));
    if effort == Effort::Full {
        cases.extend(sort_product_cases(capabilities));
        for algorithm in ANY_COUNT {
            let work = Work::Sort(SortCase::keys_of_u32(algorithm, PolicyName::Default));
            cases.push(Case { work, count: LARGE, input: Input::Uniform });
        }
    }
    cases
}

/// Keys of u32 alone, at the seams of every policy.
fn u32_key_cases(effort: Effort, capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    let lanes = u64::from(capabilities.subgroup_size);
    let policies = [PolicyName::Default, PolicyName::Small, PolicyName::Seed];
    let tuned = ANY_COUNT.into_iter().flat_map(|algorithm| policies.map(|policy| (algorithm, policy)));
    for (index, (algorithm, policy)) in tuned.enumerate() {
        let keys = SortCase::keys_of_u32(algorithm, policy);
        let tile = keys.policy(capabilities).tile_items().into();
        let work = |bits, misalignment| Work::Sort(SortCase { bits, misalignment, ..keys.clone() });
        for count in sizes(effort, lanes, tile) {
            cases.push(Case { work: work(0..32, 0), count, input: Input::Uniform });
        }
        for input in Input::ALL {
            cases.push(Case { work: work(0..32, 0), count: 3 * tile + 7, input });
        }
        // A range of bits leaves the others in the order they came, which even keys alone can tell.
        let ranges = [0..0, 0..1, 3..11, 8..32, 13..14, 24..32, 31..32];
        for (place, bits) in ranges.into_iter().enumerate() {
            if effort != Effort::Quick || is_sampled(index + place) {
                cases.push(Case { work: work(bits, 0), count: 2 * tile + 1, input: Input::Uniform });
            }
        }
        for misalignment in [4, 8, 12] {
            let count = 2 * tile + 3;
            cases.push(Case { work: work(0..32, misalignment), count, input: Input::Uniform });
        }
    }
    cases
}

/// Every type of keys, with every kind of values, in either direction, the algorithms by turns.
///
/// One policy is enough to tell them, and the small one takes several levels of few keys and little time to compile. The
/// others are tried on some, and on all where time allows.
fn typed_sort_cases(effort: Effort, capabilities: &Capabilities) -> Vec<Case> {
    let mut sorts = Vec::new();
    for (index, element) in ElementType::ALL.into_iter().enumerate() {
        for (place, values) in SortValues::ALL.into_iter().enumerate() {
            for is_descending in [false, true] {
                let turn = index + place + usize::from(is_descending);
                let algorithm = ANY_COUNT[turn % ANY_COUNT.len()];
                let small = SortCase::keys_of_u32(algorithm, PolicyName::Small);
                let sort = small.of(element, values, is_descending);
                let is_known = (element, values) == (ElementType::U32, SortValues::None) && !is_descending;
                let sampled = match (element, values, is_descending) {
                    (ElementType::F32, SortValues::B4, true)
                    | (ElementType::I32, SortValues::Places, false)
                    | (ElementType::U64, SortValues::None, false)
                    | (ElementType::F64, SortValues::B8, true) => Some(PolicyName::Default),
                    (ElementType::I64, SortValues::B4, false)
                    | (ElementType::U32, SortValues::Places, true)
                    | (ElementType::F32, SortValues::B8, false) => Some(PolicyName::Seed),
                    _ => None,
                };
                for policy in [PolicyName::Small, PolicyName::Default, PolicyName::Seed] {
                    let is_taken =
                        effort == Effort::Full || policy == PolicyName::Small || sampled == Some(policy);
                    if is_taken && !is_known {
                        sorts.push(SortCase { policy, ..sort.clone() });
                    }
                }
            }
        }
    }
    let mut cases = Vec::new();
    for (index, sort) in sorts.into_iter().enumerate() {
        let tile = u64::from(sort.policy(capabilities).tile_items());
        let mut add = |count, input| {
            cases.push(Case { work: Work::Sort(sort.clone()), count, input });
        };
        for count in [0, 1, 2, tile - 1, tile + 1] {
            add(count, Input::Uniform);
        }
        // Whole tiles of equal keys, and few that differ: their values must not.
        let inputs = [Input::TwoValued, Input::Entropy { ands: 4 }, Input::Constant(u32::MAX)];
        add(2 * tile + 3, inputs[index % inputs.len()]);
        add(3 * tile + 7, Input::Extremes);
        if effort != Effort::Quick {
            for input in Input::ALL {
                add(4 * tile + 1, input);
            }
            if sort.policy == PolicyName::Small {
                add((tile * tile + 1).min(1 << 17), Input::Extremes);
            }
        }
        if effort == Effort::Full {
            add((1 << 20) + 1, Input::Uniform);
        }
    }
    cases.extend(misaligned_sort_cases(effort, capabilities));
    cases
}

/// Keys and values of 4 and 8 bytes, each by itself and both beside a multiple of 16; and parts of keys.
fn misaligned_sort_cases(effort: Effort, capabilities: &Capabilities) -> Vec<Case> {
    let (none, b4, b8, places) = (SortValues::None, SortValues::B4, SortValues::B8, SortValues::Places);
    let mut cases = Vec::new();
    for (index, (element, values, is_descending, bits, misalignment, values_misalignment)) in [
        (ElementType::U32, b4, false, 0..32, 0, 4),
        (ElementType::U64, b8, true, 31..33, 4, 0),
        (ElementType::I32, b8, false, 24..32, 8, 12),
        (ElementType::F64, b4, true, 30..64, 12, 8),
        (ElementType::F32, places, false, 0..32, 4, 4),
        (ElementType::I64, none, true, 33..34, 12, 0),
        (ElementType::I32, b4, true, 0..0, 4, 4),
        (ElementType::F32, places, true, 9..9, 0, 0),
        (ElementType::U64, places, true, 3..11, 0, 0),
    ]
    .into_iter()
    .enumerate()
    {
        let sort = SortCase::keys_of_u32(ANY_COUNT[index % ANY_COUNT.len()], PolicyName::Small).of(
            element,
            values,
            is_descending,
        );
        let sort = SortCase { bits, misalignment, values_misalignment, ..sort };
        let tile = u64::from(sort.policy(capabilities).tile_items());
        let mut add = |count, input| cases.push(Case { work: Work::Sort(sort.clone()), count, input });
        add(2 * tile + 3, Input::Extremes);
        if effort != Effort::Quick {
            add(1, Input::Uniform);
            add(40 * tile + 7, Input::Entropy { ands: 2 });
        }
    }
    cases
}

/// Every count of keys from one small tile to two, where the last tile is filled bit by bit; of these some.
fn seam_cases(effort: Effort, capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for algorithm in ANY_COUNT {
        let small = SortCase::keys_of_u32(algorithm, PolicyName::Small);
        let sort = small.of(ElementType::U32, SortValues::B4, false);
        let tile = u64::from(sort.policy(capabilities).tile_items());
        // Odd, so that every remainder by a quad comes up.
        let step = if effort == Effort::Full { 1 } else { tile as usize / 8 - 1 };
        for count in (tile..=2 * tile).step_by(step) {
            cases.push(Case { work: Work::Sort(sort.clone()), count, input: Input::ConstantDigit });
        }
    }
    cases
}

/// Every type, kind of values and direction in one workgroup, at every seam up to what it holds.
fn single_workgroup_cases(effort: Effort, capabilities: &Capabilities) -> Vec<Case> {
    let single = SortCase::keys_of_u32(SortAlgorithm::SingleWorkgroup, PolicyName::Default);
    let most = u64::from(single.policy(capabilities).tile_items());
    let kinds =
        ElementType::ALL.into_iter().flat_map(|element| SortValues::ALL.map(|values| (element, values)));
    let kinds = kinds.flat_map(|(element, values)| [(element, values, false), (element, values, true)]);
    let mut cases = Vec::new();
    for (index, (element, values, is_descending)) in kinds.enumerate() {
        if effort == Effort::Quick && !is_sampled(index) {
            continue;
        }
        let sort = single.clone().of(element, values, is_descending);
        let mut add = |bits, count, input| {
            cases.push(Case { work: Work::Sort(SortCase { bits, ..sort.clone() }), count, input });
        };
        let width = element.bits();
        for count in [0, 1, 2, 257, most - 1, most] {
            add(0..width, count, Input::Extremes);
        }
        add(0..width, most / 2 + 3, Input::Constant(u32::MAX));
        add(width / 3..3 * width / 4, most / 3, Input::Uniform);
        add(5..5, 100, Input::Uniform);
    }
    // Counts that no power of two divides, up to the last.
    let step = if effort == Effort::Full { 1 } else { 613 };
    for count in (1..most).step_by(step) {
        let pairs = single.clone().of(ElementType::U32, SortValues::B4, false);
        cases.push(Case { work: Work::Sort(pairs), count, input: Input::ConstantDigit });
    }
    cases
}

/// Every type, kind of values, direction and algorithm by every pair of bits at the ends, a third and three quarters of
/// the key, in small tiles.
fn sort_product_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut sorts = Vec::new();
    for element in ElementType::ALL {
        let width = element.bits();
        let bounds = [0, width / 3, 3 * width / 4, width];
        for values in SortValues::ALL {
            for is_descending in [false, true] {
                for algorithm in ANY_COUNT {
                    let small = SortCase::keys_of_u32(algorithm, PolicyName::Small);
                    let sort = small.of(element, values, is_descending);
                    for (index, begin) in bounds.into_iter().enumerate() {
                        for end in &bounds[index..] {
                            sorts.push(SortCase { bits: begin..*end, ..sort.clone() });
                        }
                    }
                }
            }
        }
    }
    let mut cases = Vec::new();
    for sort in sorts {
        let tile = u64::from(sort.policy(capabilities).tile_items());
        // What the other tables have not: beyond the quick sizes and the inputs that they are tried on.
        for (count, input) in [
            (3, Input::Extremes),
            (tile, Input::OrganPipe),
            (5 * tile + 9, Input::Extremes),
            (tile * tile / 2 + 5, Input::Entropy { ands: 2 }),
        ] {
            cases.push(Case { work: Work::Sort(sort.clone()), count, input });
        }
    }
    cases
}

/// The works that are worth measuring.
pub(super) fn bench_works() -> Vec<Work> {
    let mut sorts = Vec::new();
    for policy in [PolicyName::Default, PolicyName::Seed] {
        sorts.extend(ANY_COUNT.map(|algorithm| SortCase::keys_of_u32(algorithm, policy)));
    }
    sorts.extend(telling_sorts().into_iter().skip(1));
    sorts.into_iter().map(Work::Sort).collect()
}

/// What differs in bytes: keys of u32, pairs of them with 4 bytes, and keys of u64.
fn telling_sorts() -> [SortCase; 3] {
    let keys = SortCase::keys_of_u32(ANY_COUNT[0], PolicyName::Default);
    [
        keys.clone(),
        keys.clone().of(ElementType::U32, SortValues::B4, false),
        keys.of(ElementType::U64, SortValues::None, false),
    ]
}

/// What keys of less entropy cost, at one count.
pub(super) fn entropy_bench_cases() -> Vec<Case> {
    let inputs = [Input::Entropy { ands: 2 }, Input::Entropy { ands: 4 }];
    let sorts = telling_sorts().into_iter();
    let case = |sort: &SortCase, input| Case { work: Work::Sort(sort.clone()), count: 1 << 22, input };
    sorts.flat_map(|sort| inputs.map(|input| case(&sort, input))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::cases::tests::{capabilities, expect_unique};

    #[test]
    fn ids_are_unique() {
        let capabilities = capabilities();
        for effort in [Effort::Quick, Effort::Normal, Effort::Full] {
            expect_unique(&typed_sort_cases(effort, &capabilities));
            expect_unique(&seam_cases(effort, &capabilities));
            expect_unique(&single_workgroup_cases(effort, &capabilities));
        }
        expect_unique(&sort_product_cases(&capabilities));
    }

    #[test]
    fn every_type_has_every_kind_of_values_in_either_direction() {
        let cases = verify_cases(Effort::Quick, &capabilities());
        for element in ElementType::ALL {
            for values in SortValues::ALL {
                for is_descending in [false, true] {
                    let is_it = |case: &Case| match &case.work {
                        Work::Sort(sort) => {
                            (sort.element, sort.values, sort.is_descending)
                                == (element, values, is_descending)
                                && sort.bits == (0..element.bits())
                        }
                        Work::Scan(_) | Work::SegmentedSort(_) | Work::Gather(_) => false,
                    };
                    assert!(cases.iter().any(is_it), "{element} {values:?} {is_descending}");
                }
            }
        }
    }

    #[test]
    fn ids_are_for_good() {
        let keys = SortCase::keys_of_u32(SortAlgorithm::Radix4Bit, PolicyName::Default);
        assert_eq!(
            keys.to_string(),
            "sort:keys:type=u32;algorithm=radix-4bit;policy=default;bits=0:32;misalign=0"
        );
        let pairs = SortCase { values_misalignment: 8, ..keys.of(ElementType::F64, SortValues::B8, true) };
        assert_eq!(
            pairs.to_string(),
            "sort:pairs8:type=f64;order=descending;algorithm=radix-4bit;policy=default;bits=0:64;misalign=0;values-misalign=8"
        );
    }
}
