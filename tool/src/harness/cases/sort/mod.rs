//! Cases of sorts: their parameters, verification cases, and benchmark cases.

mod bench;
mod covering;
mod verify;

use std::ops::Range;
use std::sync::Arc;

pub(super) use bench::bench_cases;
pub use bench::tutorial_13_bench_cases;
pub(super) use covering::covering_cases;
#[cfg(test)]
pub(super) use covering::covering_sets;
pub(super) use verify::{full_cases, product_cases, selectable_works, specialization_cases};

use super::id::Id;
use super::primitive::{CountFrom, PrimitiveCase};
use super::{Case, PolicyName, SortKeys, SortValues};
use crate::harness::cases::{Known, Needs, Prepared};
use crate::harness::expected::Expected;
use crate::harness::inputs::Input;
use crate::harness::keys;
use subsweep::device::Capabilities;
use subsweep::error::Result;
use subsweep::sort::{SortAlgorithm, SortConfig, SortPlan, SortPolicy};
use subsweep::{ElementType, FloatOrder};

/// The algorithms without a count limit.
pub(super) const ANY_COUNT: [SortAlgorithm; 4] =
    [SortAlgorithm::Radix4Bit, SortAlgorithm::Onesweep, SortAlgorithm::Radix8Bit, SortAlgorithm::Radix2Bit];

/// The algorithms that rank by match.
const MATCHING: [SortAlgorithm; 2] = [SortAlgorithm::Onesweep, SortAlgorithm::Radix8Bit];

/// The algorithms of the seed.
const OF_SEED: [SortAlgorithm; 2] = [SortAlgorithm::Radix4Bit, SortAlgorithm::Radix2Bit];

/// The algorithms that `policy` applies to, without a count limit.
const fn algorithms(policy: PolicyName) -> &'static [SortAlgorithm] {
    match policy {
        PolicyName::Seed | PolicyName::SeedBinByBin => &OF_SEED,
        PolicyName::Default | PolicyName::Small | PolicyName::Crossover => &ANY_COUNT,
        PolicyName::SmallMasks => &MATCHING,
        PolicyName::SmallLate | PolicyName::SmallWindows => &[SortAlgorithm::Onesweep],
        // Ignored: the policy chooses the algorithm.
        PolicyName::Chosen => &[SortAlgorithm::Radix4Bit],
    }
}

/// Parameters of a radix sort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortCase {
    /// What is sorted, and by what.
    pub keys: SortKeys,
    /// The algorithm; ignored by [`PolicyName::Chosen`].
    pub algorithm: SortAlgorithm,
    /// The policy, by name.
    pub policy: PolicyName,
    /// Offset of the keys from a multiple of 16, in bytes.
    pub misalignment: u32,
    /// Offset of the values from a multiple of 16, in bytes.
    pub values_misalignment: u32,
    /// Host or indirect count.
    pub count_from: CountFrom,
    /// Whether the output is double-buffered: the result may end in the alternate buffers.
    pub is_double_buffered: bool,
    /// Whether its plan supports 2^32 keys and more.
    pub has_large_counts: bool,
}

impl SortCase {
    /// Keys of u32 alone, ascending by all bits, aligned.
    pub const fn keys_of_u32(algorithm: SortAlgorithm, policy: PolicyName) -> Self {
        Self {
            keys: SortKeys::new(ElementType::U32, SortValues::None, false),
            algorithm,
            policy,
            misalignment: 0,
            values_misalignment: 0,
            count_from: CountFrom::Host,
            is_double_buffered: false,
            has_large_counts: false,
        }
    }

    /// Keys of u32 alone with the chosen policy.
    pub(super) fn chosen() -> Self {
        Self::keys_of_u32(algorithms(PolicyName::Chosen)[0], PolicyName::Chosen)
    }

    /// Sorts of different element sizes: the keys, pairs of them with 4 bytes, and keys of u64.
    pub(super) fn kinds(&self) -> [Self; 3] {
        [
            self.clone(),
            self.clone().with_types(ElementType::U32, SortValues::B4, false),
            self.clone().with_types(ElementType::U64, SortValues::None, false),
        ]
    }

    /// This sort with other keys, by all bits, with values, in either order.
    pub(super) fn with_types(self, element: ElementType, values: SortValues, is_descending: bool) -> Self {
        Self { keys: SortKeys::new(element, values, is_descending), ..self }
    }

    /// This sort by other bits.
    pub(super) fn with_bits(mut self, bits: Range<u32>) -> Self {
        self.keys.bits = bits;
        self
    }

    /// This sort with floats in another order.
    pub(super) fn with_order(mut self, order: FloatOrder) -> Self {
        self.keys.order = order;
        self
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> SortPolicy {
        self.policy.sort(capabilities, self.algorithm, &self.config())
    }

    /// The plan's configuration without its policy.
    pub fn config(&self) -> SortConfig {
        let config = self.keys.config();
        let config = if self.is_double_buffered { config.double_buffer() } else { config };
        let config = if self.has_large_counts { config.large_counts() } else { config };
        if self.count_from.is_indirect() { config.indirect_count() } else { config }
    }

    /// Keys of a tile.
    fn tile(&self, capabilities: &Capabilities) -> u64 {
        self.policy(capabilities).tile_items().into()
    }
}

/// Maximum keys that one workgroup sorts by a policy; the keys of a tile if it has no such crossover.
fn crossover(policy: &SortPolicy) -> u64 {
    let single = policy.large_workgroup.or(policy.single_workgroup);
    single.map_or(policy.tile_items(), |shape| shape.tile_items()).into()
}

impl PrimitiveCase for SortCase {
    type Plan = SortPlan;

    fn id(&self) -> Id {
        let is_chosen = self.policy == PolicyName::Chosen;
        Id::new(format_args!("sort:{}", self.keys.values))
            .with("type", self.keys.element)
            .given("order", self.keys.is_descending.then_some("descending"))
            .unless(FloatOrder::Total, "floats", self.keys.order)
            .given("algorithm", (!is_chosen).then(|| self.algorithm.name()))
            .with("policy", self.policy)
            .with("bits", format_args!("{}:{}", self.keys.bits.start, self.keys.bits.end))
            .with("misalign", self.misalignment)
            .unless(0, "values-misalign", self.values_misalignment)
            .given("result", self.is_double_buffered.then_some("double-buffer"))
            .given("counts", self.has_large_counts.then_some("wide"))
            .unless(CountFrom::Host, "count", self.count_from)
    }

    fn variant(&self) -> String {
        self.policy.variant(self.algorithm.name())
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

    fn prepare(&self, plan: Arc<SortPlan>, count: u64, _: Input, _: &Known) -> Result<Prepared> {
        let (counted, operands) = self.count_from.operand("count", count);
        let needs = Needs {
            source: "keys",
            in_place: true,
            values: &["values"],
            values_misalignment: self.values_misalignment,
            copied: match plan.is_result_in_alt(counted) {
                true => &[["keys_alt", "keys"], ["values_alt", "values"]],
                false => &[],
            },
            ..Needs::new(counted.max(), self.misalignment, operands).elements(self.keys.element)
        };
        let sort = self.keys.clone();
        let expected = move |keys: &[u32]| {
            let sorted = sort.sort(keys);
            (Expected::exact(sorted.keys), vec![sorted.values])
        };
        Prepared::new(plan.traffic_size(count), plan, Default::default(), counted, needs, expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_stable() {
        let keys = SortCase::keys_of_u32(SortAlgorithm::Radix4Bit, PolicyName::Default);
        assert_eq!(
            keys.to_string(),
            "sort:keys:type=u32;algorithm=radix-4bit;policy=default;bits=0:32;misalign=0"
        );
        assert_eq!(SortCase::chosen().to_string(), "sort:keys:type=u32;policy=chosen;bits=0:32;misalign=0");
        let pairs =
            SortCase { values_misalignment: 8, ..keys.with_types(ElementType::F64, SortValues::B8, true) };
        assert_eq!(
            pairs.to_string(),
            "sort:pairs8:type=f64;order=descending;algorithm=radix-4bit;policy=default;bits=0:64;misalign=0;values-misalign=8"
        );
    }
}
