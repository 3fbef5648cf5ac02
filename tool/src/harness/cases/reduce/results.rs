//! The expected results of reductions.

use super::ReduceCase;
use crate::harness::keys::by_type;
use crate::reference::passes::reduce::{Tree, group_levels, reduce_rows, reduce_segments, segments_of};
use crate::reference::{self, Operator};
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
        macro_rules! of_whole_number {
            ($number:ident) => {
                match self.operator {
                    ScanOperator::Mul => self.exact::<$number, reference::Mul>(input, offsets),
                    ScanOperator::Min => self.exact::<$number, reference::Min>(input, offsets),
                    ScanOperator::Max => self.exact::<$number, reference::Max>(input, offsets),
                    ScanOperator::And => self.exact::<$number, reference::And>(input, offsets),
                    ScanOperator::Or => self.exact::<$number, reference::Or>(input, offsets),
                    ScanOperator::Xor => self.exact::<$number, reference::Xor>(input, offsets),
                    _ => self.exact::<$number, reference::Add>(input, offsets),
                }
            };
        }
        macro_rules! of_float {
            ($number:ident) => {{
                let flush = |x: $number| if x.is_subnormal() { (0.0 as $number).copysign(x) } else { x };
                let keep = |x: $number| x;
                match self.operator {
                    ScanOperator::Min => self.exact::<$number, reference::Min>(input, offsets),
                    ScanOperator::Max => self.exact::<$number, reference::Max>(input, offsets),
                    ScanOperator::Mul => (
                        self.in_order(input, offsets, packs, 1.0, &|a: $number, b| a * b, keep),
                        Some(self.in_order(input, offsets, packs, 1.0, &|a: $number, b| flush(a * b), flush)),
                    ),
                    _ => (
                        self.in_order(input, offsets, packs, 0.0, &|a: $number, b| a + b, keep),
                        Some(self.in_order(input, offsets, packs, 0.0, &|a: $number, b| flush(a + b), flush)),
                    ),
                }
            }};
        }
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
        match if self.element.is_packed() { self.element.unpacked() } else { self.element } {
            ElementType::U32 => of_whole_number!(u32),
            ElementType::I32 => of_whole_number!(i32),
            ElementType::U64 => of_whole_number!(u64),
            ElementType::I64 => of_whole_number!(i64),
            ElementType::F32 => of_float!(f32),
            ElementType::F64 => of_float!(f64),
            _ => unreachable!("no unpacked type is packed"),
        }
    }

    pub(super) fn values<N: Number>(input: &[u32]) -> Vec<N> {
        let mut values = vec![N::zeroed(); size_of_val(input) / size_of::<N>()];
        bytemuck::cast_slice_mut(&mut values).copy_from_slice(input);
        values
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
    fn exact<N: Number, O: Operator<N>>(
        &self,
        input: &[u32],
        offsets: Option<&[u32]>,
    ) -> (Vec<u32>, Option<Vec<u32>>) {
        let (values, columns) = (Self::values::<N>(input), self.columns as usize);
        let row_count = values.len() / columns;
        let segments = self.segments(offsets.unwrap_or(&[0]), row_count);
        let mut results = Vec::new();
        for [begin, end] in segments {
            for column in 0..columns {
                let rows = begin as usize..(end as usize).min(row_count);
                let total =
                    rows.fold(O::IDENTITY, |total, row| O::combine(total, values[row * columns + column]));
                results.push(total);
            }
        }
        (bytemuck::cast_slice(&results).to_vec(), None)
    }

    /// The documented order of operations.
    pub(super) fn in_order<N: Number>(
        &self,
        input: &[u32],
        offsets: Option<&[u32]>,
        packs: u32,
        identity: N,
        combine: &impl Fn(N, N) -> N,
        flush: fn(N) -> N,
    ) -> Vec<u32> {
        let columns = self.columns as usize;
        let values: Vec<_> = Self::values::<N>(input).into_iter().map(flush).collect();
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
        bytemuck::cast_slice(&results).to_vec()
    }

    /// The first index of the minimum or maximum of each column, or of the first NaN.
    pub(super) fn first_indices(&self, operator: ScanOperator, input: &[u32]) -> Vec<u32> {
        fn first<N: Number + PartialOrd>(input: &[u32], columns: usize, is_max: bool) -> Vec<u32> {
            let values = ReduceCase::values::<N>(input);
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
