//! Cases of gather: a row for each element size, count and kind of indices.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::id::Id;
use super::pairwise::{CoveringSet, axis};
use super::{
    BenchScale, Case, CountFrom, Known, Needs, Prepared, PrimitiveCase, small_workgroup, uniform_cases,
};
use crate::harness::expected::Expected;
use crate::harness::inputs::Input;
use subsweep::device::Capabilities;
use subsweep::error::Result;
use subsweep::gather::{GatherBuffers, GatherConfig, GatherPlan, GatherPolicy};

/// Parameters of a gather. The case's input is the distribution of the indices; the source is random and has as many
/// elements as are gathered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatherCase {
    /// Words per element.
    pub words: u32,
    /// Host or indirect count.
    pub count_from: CountFrom,
    /// Whether some indices are out of range.
    pub has_strays: bool,
    /// Whether tiles are small, so that few elements take many.
    pub has_small_tiles: bool,
    /// Offset of the ranges from a multiple of 16, in bytes.
    pub misalignment: u32,
}

impl GatherCase {
    /// Elements of `words` words, with default tiles, aligned, all indices in range.
    pub const fn elements(words: u32) -> Self {
        Self {
            words,
            count_from: CountFrom::Host,
            has_strays: false,
            has_small_tiles: false,
            misalignment: 0,
        }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> GatherPolicy {
        if self.has_small_tiles {
            GatherPolicy::tiled(small_workgroup(capabilities), 4)
        } else {
            GatherPolicy::choose(capabilities, &self.config()).policy
        }
    }

    /// The elements of `element_words` words at `indices` of the source; zeros for an index beyond it.
    pub fn gathered(source: &[u32], element_words: usize, indices: &[u32]) -> Vec<u32> {
        let (elements, zeros) = (source.chunks_exact(element_words), vec![0; element_words]);
        let element = |&index: &u32| elements.clone().nth(index as usize).unwrap_or(&zeros);
        indices.iter().flat_map(element).copied().collect()
    }

    /// Elements per workgroup with one word per access.
    fn tile(&self, capabilities: &Capabilities) -> u64 {
        let policy = self.policy(capabilities);
        u64::from((policy.workgroup_size * policy.accesses_per_invocation / self.words).max(1))
    }

    /// The plan's configuration without its policy.
    pub const fn config(&self) -> GatherConfig {
        let config = GatherConfig::elements(self.words);
        if self.count_from.is_indirect() { config.indirect_count() } else { config }
    }

    /// `count` indices, followed by zeros that must not be read.
    fn indices(&self, input: Input, count: usize, room: usize) -> Vec<u32> {
        let source_count = count as u32;
        let strays = [source_count, u32::MAX, source_count + 1, 0x8000_0000 | source_count];
        let index = |(i, word): (usize, u32)| match i % 5 {
            3 if self.has_strays => strays[i / 5 % strays.len()],
            _ => word % source_count,
        };
        let mut indices: Vec<_> =
            input.generate(count, count as u64 + 1).into_iter().enumerate().map(index).collect();
        indices.resize(room, 0);
        indices
    }
}

impl PrimitiveCase for GatherCase {
    type Plan = GatherPlan;

    fn id(&self) -> Id {
        Id::new("gather")
            .with("words", self.words)
            .unless(CountFrom::Host, "count", self.count_from)
            .flag("strays", self.has_strays)
            .tiles(self.has_small_tiles)
            .with("misalign", self.misalignment)
    }

    fn row_size(&self) -> u64 {
        self.config().element_size()
    }

    fn variant(&self) -> String {
        format!("{} words", self.words)
    }

    fn item_count(&self, count: u64) -> u64 {
        count * u64::from(self.words)
    }

    fn generate(&self, count: u64, _: Input) -> [Vec<u32>; 2] {
        [Input::Uniform.generate(self.item_count(count) as usize, self.seed(count)), Vec::new()]
    }

    fn prepare(&self, plan: Arc<GatherPlan>, count: u64, input: Input, known: &Known) -> Result<Prepared> {
        let (counted, mut operands) = self.count_from.operand("count", count);
        let indices = known.data(|_| self.indices(input, count as usize, counted.max() as usize));
        operands.push(("indices", Arc::clone(&indices)));
        let mut buffers = GatherBuffers::default();
        // The elements only, without the room after them.
        buffers.source.size = count * self.row_size();
        let needs = Needs::new(counted.max(), self.misalignment, operands);
        let words = self.words as usize;
        let expected = move |source: &[u32]| {
            let gathered = Self::gathered(source, words, &indices[..count as usize]);
            (Expected::exact(gathered), Vec::new())
        };
        Prepared::new(plan.traffic_size(count), plan, buffers, counted, needs, expected)
    }
}

/// The inputs of the covering set.
const INPUTS: [Input; 4] = [Input::Uniform, Input::Sorted, Input::Reversed, Input::Constant(0)];

/// All pairs of parameters in small tiles.
pub(super) fn covering_sets(_: &Capabilities) -> [CoveringSet<GatherCase>; 1] {
    let plain = GatherCase { has_small_tiles: true, ..GatherCase::elements(1) };
    let axes = [
        axis(&[1, 2, 3, 4, 12, 301], |gather: &mut GatherCase, words| gather.words = words),
        axis(&CountFrom::ALL, |gather, count_from| gather.count_from = count_from),
        axis(&[false, true], |gather, has_strays| gather.has_strays = has_strays),
        axis(&[0, 4, 8, 12], |gather, misalignment| gather.misalignment = misalignment),
    ];
    [CoveringSet::new(plain, axes, |_| true).on(&INPUTS)]
}

/// The covering set, and the default tiles.
pub(super) fn covering_cases(capabilities: &Capabilities) -> Vec<Case> {
    let [set] = covering_sets(capabilities);
    let works = set.works().into_iter().map(|covering| covering.work);
    let mut cases = Vec::new();
    for (index, gather) in works.chain([GatherCase::elements(1)]).enumerate() {
        let tile = gather.tile(capabilities);
        let counts = [0, 1, tile, tile + 1, 2 * tile + 3, (65_537 / u64::from(gather.words)).max(5)];
        for (turn, count) in counts.into_iter().enumerate() {
            cases.push(gather.case(count, INPUTS[(index + turn) % INPUTS.len()]));
        }
    }
    cases
}

/// Plans of the default policy for every access width.
pub(super) fn selectable_works(_: &Capabilities) -> [GatherCase; 5] {
    [1, 2, 3, 4, 2051].map(GatherCase::elements)
}

/// Each of [`selectable_works`] in several tiles, aligned and misaligned.
pub(super) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let works = selectable_works(capabilities).into_iter().flat_map(|gather| {
        let misaligned = GatherCase { misalignment: 4, ..gather.clone() };
        let count_from = CountFrom::Device;
        [GatherCase { count_from, ..gather.clone() }, gather, misaligned]
    });
    works.map(|gather| gather.case(2 * gather.tile(capabilities) + 3, Input::Uniform)).collect()
}

/// All cases except the covering ones: elements of every access width, that do and do not divide a tile, and that span
/// several workgroups.
pub(super) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    let small = [1, 2, 3, 4, 12, 301, 1028].map(|words| (words, true));
    let default = [1, 2, 3, 4, 2051].map(|words| (words, false));
    for (words, has_small_tiles) in small.into_iter().chain(default) {
        let plain = GatherCase { has_small_tiles, ..GatherCase::elements(words) };
        let tile = plain.tile(capabilities);
        let edges = BTreeSet::from([0, 1, 2, tile, tile + 1, 3 * tile + 7]);
        cases.extend(edges.into_iter().map(|count| plain.case(count, Input::Uniform)));
        let inputs = [Input::Sorted, Input::Reversed, Input::Constant(0)];
        cases.extend(inputs.map(|input| plain.case(2 * tile + 3, input)));
        let strays = GatherCase { has_strays: true, ..plain.clone() };
        for misalignment in [0, 4, 8] {
            let misaligned = GatherCase { misalignment, ..strays.clone() };
            cases.push(misaligned.case(2 * tile + 11, Input::Uniform));
        }
        for count_from in CountFrom::INDIRECT {
            let counted = GatherCase { count_from, ..strays.clone() };
            cases.extend([0, 1, 2 * tile + 3].map(|count| counted.case(count, Input::Uniform)));
        }
        if words <= 12 {
            cases.push(plain.case(99_991, Input::Uniform));
        }
        // More than one row of workgroups on most drivers with small tiles.
        cases.push(plain.case((1 << 26) / u64::from(words) + 3, Input::Uniform));
    }
    cases
}

/// The benchmark works: elements of 4, 8 and 16 bytes.
pub(super) fn bench_works() -> [GatherCase; 3] {
    [1, 2, 4].map(GatherCase::elements)
}

/// Each of [`bench_works`].
pub(super) fn bench_cases(scale: BenchScale) -> Vec<Case> {
    uniform_cases(bench_works(), &scale.counts())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strays_are_beyond_the_source_and_others_are_not() {
        for has_strays in [false, true] {
            let gather = GatherCase { has_strays, ..GatherCase::elements(3) };
            let indices = gather.indices(Input::Uniform, 40, 50);
            let stray_count = indices.iter().filter(|&&index| index >= 40).count();
            assert_eq!((indices.len(), stray_count), (50, if has_strays { 8 } else { 0 }));
        }
        assert_eq!(GatherCase::elements(1).indices(Input::Reversed, 3, 3), [2, 1, 0]);
        assert_eq!(GatherCase::elements(1).indices(Input::Uniform, 0, 2), [0, 0]);
    }

    #[test]
    fn a_gather_copies_whole_elements_and_zeros_for_indices_out_of_bounds() {
        assert_eq!(
            GatherCase::gathered(&[10, 11, 20, 21, 30, 31], 2, &[2, 0, 2, 3]),
            [30, 31, 10, 11, 30, 31, 0, 0]
        );
        assert_eq!(GatherCase::gathered(&[5, 6, 7], 1, &[u32::MAX, 1]), [0, 6]);
        assert_eq!(GatherCase::gathered(&[], 4, &[0]), [0; 4]);
    }
}
