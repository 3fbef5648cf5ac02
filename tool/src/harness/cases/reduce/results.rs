//! The expected results of reductions.

use super::ReduceCase;
use crate::harness::arithmetic::Arithmetic;
use crate::harness::keys::by_type;
use crate::reference::passes::reduce::{Tree, group_levels, reduce_rows, reduce_segments, segments_of};
use subsweep::reduce::ReduceRuns;
use subsweep::scan::ScanOperator;
use subsweep::{ElementType, Number};

impl ReduceCase {
    /// The results of `input`, and where denormals may be flushed those with all of them flushed.
    pub(super) fn results(
        &self,
        input: &[u32],
        offsets: Option<&[u32]>,
        packs: u32,
    ) -> (Vec<u32>, Option<Vec<u32>>) {
        if self.indices > 0 {
            let rows: Vec<_> = match self.runs {
                Some(ReduceRuns::FixedSize(length)) => {
                    input.chunks(length as usize * self.element.words() as usize).collect()
                }
                _ => vec![input],
            };
            let least_or_both = [self.operator, ScanOperator::Max];
            let of = |operator| rows.iter().flat_map(move |row| self.first_indices(operator, row));
            return (least_or_both[..self.indices as usize].iter().copied().flat_map(of).collect(), None);
        }
        by_type!(self.element, results_of(self, input, offsets, packs))
    }

    /// The first row of each segment, and its end.
    fn segments(&self, offsets: &[u32], row_count: usize) -> Vec<[u32; 2]> {
        match self.runs {
            Some(ReduceRuns::Ranges) => {
                let (begins, ends) = offsets.split_at(offsets.len() / 2);
                begins.iter().zip(ends).map(|(&begin, &end)| [begin, end]).collect()
            }
            _ => segments_of(offsets, row_count),
        }
    }

    /// A loop over the rows of each run.
    fn exact<N: Arithmetic>(&self, input: &[u32], offsets: Option<&[u32]>) -> Vec<u32> {
        let (identity, combine) = N::operation(self.operator);
        let (values, columns): (Vec<N>, _) = (bytemuck::pod_collect_to_vec(input), self.columns as usize);
        let row_count = values.len() / columns;
        let segments = self.segments(offsets.unwrap_or(&[0]), row_count);
        let mut results = Vec::new();
        for [begin, end] in segments {
            for column in 0..columns {
                let rows = begin as usize..(end as usize).min(row_count);
                let total = rows.fold(identity, |total, row| combine(total, values[row * columns + column]));
                results.push(total);
            }
        }
        bytemuck::pod_collect_to_vec(&results)
    }

    /// The documented order of operations.
    fn in_order<N: Number>(
        &self,
        input: &[u32],
        offsets: Option<&[u32]>,
        packs: u32,
        identity: N,
        combine: &impl Fn(N, N) -> N,
        flush: fn(N) -> N,
    ) -> Vec<u32> {
        let columns = self.columns as usize;
        let values: Vec<_> = bytemuck::pod_collect_to_vec(input).into_iter().map(flush).collect();
        let words = self.element.words() as usize;
        let results = match (self.runs, offsets) {
            (Some(ReduceRuns::FixedSize(length)), _) => {
                reduce_rows(&values, [words, length as usize, packs as usize], identity, combine)
            }
            (_, Some(offsets)) => {
                let tree = Tree::of_groups(words);
                let levels = group_levels(&values, columns, &tree, identity, combine);
                let segments = self.segments(offsets, values.len() / columns);
                reduce_segments(&values, &levels, columns, &segments, identity, combine)
            }
            (_, None) => self.tree(packs).reduce_all(&values, columns, identity, combine),
        };
        bytemuck::pod_collect_to_vec(&results)
    }

    /// The first index of the minimum or maximum of each column, or of the first NaN.
    pub(super) fn first_indices(&self, operator: ScanOperator, input: &[u32]) -> Vec<u32> {
        fn first<N: Number + PartialOrd>(input: &[u32], columns: usize, is_max: bool) -> Vec<u32> {
            let values: Vec<N> = bytemuck::pod_collect_to_vec(input);
            let is_nan = |value: N| value.partial_cmp(&value).is_none();
            let precedes = |a: N, b: N| !is_nan(b) && (is_nan(a) || if is_max { a > b } else { a < b });
            let of_column = |column: usize| {
                let mut best: Option<(u32, N)> = None;
                for (row, &value) in values.iter().skip(column).step_by(columns).enumerate() {
                    if best.is_none_or(|(_, best)| precedes(value, best)) {
                        best = Some((row as u32, value));
                    }
                }
                best.map_or(u32::MAX, |(row, _)| row)
            };
            (0..columns).map(of_column).collect()
        }
        let (columns, is_max) = (self.columns as usize, operator == ScanOperator::Max);
        by_type!(self.element, first(input, columns, is_max))
    }
}

fn results_of<N: Arithmetic>(
    case: &ReduceCase,
    input: &[u32],
    offsets: Option<&[u32]>,
    packs: u32,
) -> (Vec<u32>, Option<Vec<u32>>) {
    if !case.rounds() {
        return (case.exact::<N>(input, offsets), None);
    }
    let (identity, combine) = N::operation(case.operator);
    let kept = case.in_order(input, offsets, packs, identity, &combine, |x| x);
    let flush = |a, b| combine(a, b).flushed();
    (kept, Some(case.in_order(input, offsets, packs, identity, &flush, N::flushed)))
}
