//! Cases of adjacent differences: types, columns, axes, and whether the first is kept.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::id::Id;
use super::pairwise::{CoveringSet, axis};
use super::{
    BenchScale, Case, CountFrom, Known, Needs, Prepared, PrimitiveCase, SortValues, UNPACKED,
    small_workgroup, uniform_cases,
};
use crate::harness::arithmetic::Arithmetic;
use crate::harness::expected::Expected;
use crate::harness::inputs::Input;
use crate::harness::keys::{self, by_type};
use subsweep::device::Capabilities;
use subsweep::difference::{DifferenceConfig, DifferencePlan, DifferencePolicy};
use subsweep::error::Result;
use subsweep::{ElementType, Number};

/// Parameters of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferenceCase {
    /// Type of the numbers.
    pub element: ElementType,
    /// Number of columns.
    pub columns: u32,
    /// Whether columns are subtracted, in place of rows.
    pub is_along_rows: bool,
    /// Whether the result begins with the first row or column.
    pub keeps_first: bool,
    /// Host or indirect count.
    pub count_from: CountFrom,
    /// Whether tiles are small, so that few rows take many.
    pub has_small_tiles: bool,
    /// Offset of the ranges from a multiple of 16, in bytes.
    pub misalignment: u32,
}

impl DifferenceCase {
    /// The difference of adjacent numbers, by the policy of the device.
    pub const fn new(element: ElementType) -> Self {
        Self {
            element,
            columns: 1,
            is_along_rows: false,
            keeps_first: false,
            count_from: CountFrom::Host,
            has_small_tiles: false,
            misalignment: 0,
        }
    }

    /// The plan's configuration without its policy.
    pub const fn config(&self) -> DifferenceConfig {
        let config = DifferenceConfig::new(self.element).columns(self.columns);
        let config = if self.is_along_rows { config.along_rows() } else { config };
        let config = if self.keeps_first { config.keeps_first() } else { config };
        if self.count_from.is_indirect() { config.indirect_count() } else { config }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> DifferencePolicy {
        match self.has_small_tiles {
            true => DifferencePolicy::tiled(small_workgroup(capabilities), 9),
            false => DifferencePolicy::choose(capabilities, &self.config()).policy,
        }
    }

    /// Rows per workgroup.
    fn tile(&self, capabilities: &Capabilities) -> u64 {
        self.policy(capabilities).tile_rows(&self.config()).into()
    }

    /// The result for `numbers`, as words, and of floats that with all denormals flushed to 0.
    pub fn results(&self, numbers: &[u32]) -> (Vec<u32>, Option<Vec<u32>>) {
        by_type!(self.element, results_of(self, numbers))
    }

    fn result<N: Number>(
        &self,
        words: &[u32],
        subtract: impl Fn(N, N) -> N,
        copy: impl Fn(N) -> N,
    ) -> Vec<u32> {
        let numbers: Vec<N> = bytemuck::pod_collect_to_vec(words);
        let columns = self.columns as usize;
        let before = |index: usize| match self.is_along_rows {
            true => (!index.is_multiple_of(columns)).then(|| index - 1),
            false => index.checked_sub(columns),
        };
        let number = |index: usize| match before(index) {
            Some(before) => Some(subtract(numbers[index], numbers[before])),
            None => self.keeps_first.then(|| copy(numbers[index])),
        };
        bytemuck::pod_collect_to_vec(&(0..numbers.len()).filter_map(number).collect::<Vec<N>>())
    }
}

fn results_of<N: Arithmetic>(case: &DifferenceCase, numbers: &[u32]) -> (Vec<u32>, Option<Vec<u32>>) {
    let kept = case.result(numbers, N::minus, |x| x);
    let flushed = || case.result(numbers, |a: N, b| a.flushed().minus(b.flushed()).flushed(), N::flushed);
    (kept, case.element.is_float().then(flushed))
}

impl PrimitiveCase for DifferenceCase {
    type Plan = DifferencePlan;

    fn id(&self) -> Id {
        Id::new("difference")
            .with("type", self.element)
            .with("columns", self.columns)
            .flag("along-rows", self.is_along_rows)
            .flag("keeps-first", self.keeps_first)
            .unless(CountFrom::Host, "count", self.count_from)
            .tiles(self.has_small_tiles)
            .with("misalign", self.misalignment)
    }

    fn row_size(&self) -> u64 {
        self.config().row_size()
    }

    fn variant(&self) -> String {
        let axis = if self.is_along_rows { "along rows" } else { "down columns" };
        format!("{} columns, {axis}", self.columns)
    }

    fn item_count(&self, count: u64) -> u64 {
        count * u64::from(self.columns)
    }

    fn generate(&self, count: u64, input: Input) -> [Vec<u32>; 2] {
        keys::keys_and_values(self.element, SortValues::None, input, self.item_count(count))
    }

    fn prepare(&self, plan: Arc<DifferencePlan>, count: u64, _: Input, _: &Known) -> Result<Prepared> {
        let (counted, operands) = self.count_from.operand("count", count);
        let needs = Needs::new(counted.max(), self.misalignment, operands).elements(self.element);
        let case = self.clone();
        let expected = move |source: &[u32]| {
            let (results, flushed) = case.results(source);
            (Expected::either(case.element, results, flushed), Vec::new())
        };
        Prepared::new(plan.traffic_size(count), plan, Default::default(), counted, needs, expected)
    }
}

/// All pairs of parameters in small tiles.
pub(super) fn covering_sets(capabilities: &Capabilities) -> [CoveringSet<DifferenceCase>; 1] {
    let plain = DifferenceCase { has_small_tiles: true, ..DifferenceCase::new(ElementType::U32) };
    let has_doubles = capabilities.enabled.shader_float64;
    let axes = [
        axis(&UNPACKED, |case: &mut DifferenceCase, element| case.element = element),
        axis(&[1, 2, 3, 301], |case, columns| case.columns = columns),
        axis(&[false, true], |case, is_along_rows| case.is_along_rows = is_along_rows),
        axis(&[false, true], |case, keeps_first| case.keeps_first = keeps_first),
        axis(&CountFrom::ALL, |case, count_from| case.count_from = count_from),
        axis(&[0, 4, 8, 12], |case, misalignment| case.misalignment = misalignment),
    ];
    let is_valid = move |case: &DifferenceCase| has_doubles || case.element != ElementType::F64;
    [CoveringSet::new(plain, axes, is_valid).on(&[Input::EdgeValues, Input::Uniform])]
}

/// The covering set, and the default tiles.
pub(super) fn covering_cases(capabilities: &Capabilities) -> Vec<Case> {
    let [set] = covering_sets(capabilities);
    let mut cases = set.tiled_cases(|work| {
        let tile = work.tile(capabilities);
        (tile, vec![0, 1, 2, tile, tile + 1, 3 * tile + 2])
    });
    let default = DifferenceCase::new(ElementType::F32);
    cases.extend([Input::Uniform, Input::EdgeValues].map(|input| default.case(65_537, input)));
    cases
}

/// Plans of the default policy: every module, down columns and along rows.
pub(super) fn selectable_works(capabilities: &Capabilities) -> impl Iterator<Item = DifferenceCase> {
    let has_doubles = capabilities.enabled.shader_float64;
    let is_valid = move |element: &ElementType| has_doubles || *element != ElementType::F64;
    let elements = [ElementType::F32, ElementType::I64, ElementType::F64].into_iter().filter(is_valid);
    elements.flat_map(|element| {
        let flat = DifferenceCase::new(element);
        let table = DifferenceCase { columns: 3, ..flat.clone() };
        [
            DifferenceCase { keeps_first: true, ..flat.clone() },
            DifferenceCase { is_along_rows: true, ..table },
            flat,
        ]
    })
}

/// Each of [`selectable_works`] in several tiles, with every count, one of them misaligned.
pub(super) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let works = selectable_works(capabilities)
        .flat_map(|case| CountFrom::ALL.map(|count_from| DifferenceCase { count_from, ..case.clone() }))
        .map(|case| DifferenceCase {
            misalignment: if case.count_from == CountFrom::Device { 4 } else { 0 },
            ..case
        });
    works.map(|case| case.case(2 * case.tile(capabilities) + 3, Input::EdgeValues)).collect()
}

/// All cases except the covering ones.
pub(super) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for work in selectable_works(capabilities) {
        let tile = work.tile(capabilities);
        let edges = BTreeSet::from([0, 1, 2, tile - 1, tile, tile + 1, 3 * tile + 7]);
        cases.extend(edges.into_iter().map(|count| work.case(count, Input::Uniform)));
        cases.extend([Input::Sorted, Input::Constant(0)].map(|input| work.case(2 * tile + 3, input)));
        let wide = [(16, false), (1000, true), (65_536, false), (65_536, true)];
        for (columns, is_along_rows) in wide.into_iter().filter(|_| work.columns == 1) {
            let wide = DifferenceCase { columns, is_along_rows, ..work.clone() };
            cases.push(wide.case(5, Input::EdgeValues));
        }
        cases.push(work.case((1 << 25) / u64::from(work.columns) + 3, Input::Uniform));
    }
    cases
}

/// Benchmarks: adjacent numbers, and a table down its columns and along its rows.
pub(super) fn bench_cases(scale: BenchScale) -> Vec<Case> {
    let flat = DifferenceCase::new(ElementType::F32);
    let table = DifferenceCase { columns: 4, ..flat.clone() };
    let works = [
        flat,
        DifferenceCase { is_along_rows: true, ..table.clone() },
        table,
        DifferenceCase::new(ElementType::I64),
    ];
    uniform_cases(works, &scale.counts())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_of_rows_or_columns() {
        let case = DifferenceCase { columns: 3, ..DifferenceCase::new(ElementType::U32) };
        let results = |case: &DifferenceCase| case.results(&[1, 3, 6, 0, 10, 5]).0;
        assert_eq!(results(&case), [u32::MAX, 7, u32::MAX]);
        let kept = DifferenceCase { keeps_first: true, ..case.clone() };
        assert_eq!(results(&kept), [1, 3, 6, u32::MAX, 7, u32::MAX]);
        let along = DifferenceCase { is_along_rows: true, ..case };
        assert_eq!(results(&along), [2, 3, 10, -5i32 as u32]);
        assert_eq!(results(&DifferenceCase { keeps_first: true, ..along }), [1, 2, 3, 0, 10, -5i32 as u32]);
    }
}
