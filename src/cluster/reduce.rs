//! Reduction of rows on the host: the total of a rank. Its order is fixed, so that sums of floats do not depend on timing.

use std::io::{self, Read};

use bytemuck::Pod;

use crate::primitives::ElementType;
use crate::reading::read_full;
use crate::scan::ScanOperator;

/// Rows that are read at a time, whatever their size.
const BLOCK_ROWS: usize = 1 << 16;

/// Independent totals of a column, for vector units.
const LANES: usize = 64;

/// Rows that are reduced, each column by itself.
pub(super) struct Rows<'a, R> {
    pub(super) reader: R,
    pub(super) columns: usize,
    /// The initial value, as words.
    pub(super) initial: Option<&'a [u32]>,
}

/// Reduces rows of numbers by operators on accumulators.
macro_rules! by_operator {
    ($rows:ident, $operator:ident, $number:ident as $sum:ident: $($name:ident($identity:expr) => $combine:expr),+ $(,)?) => {
        match $operator {
            $(ScanOperator::$name => {
                let combine = $combine;
                $rows.fold::<$number, $sum>($identity, |number| number as $sum, |sum| sum as $number, combine)
            })+
            #[allow(unreachable_patterns)]
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    };
}

macro_rules! whole_numbers {
    ($rows:ident, $operator:ident, $number:ident) => {
        by_operator!($rows, $operator, $number as $number:
            Add(0) => |a: $number, b| a.wrapping_add(b),
            Mul(1) => |a: $number, b| a.wrapping_mul(b),
            Min($number::MAX) => |a: $number, b| a.min(b),
            Max($number::MIN) => |a: $number, b| a.max(b),
            And(!0) => |a: $number, b| a & b,
            Or(0) => |a: $number, b| a | b,
            Xor(0) => |a: $number, b| a ^ b,
        )
    };
}

/// Sums and products of f32 are rounded once, from those of f64. Minimum and maximum are in the order of `total_cmp`, and of a
/// NaN the one that `glsl/operator/words32.glsl` makes.
macro_rules! floats {
    ($rows:ident, $operator:ident, $number:ident of $bits:ident) => {
        match $operator {
            ScanOperator::Add | ScanOperator::Mul => by_operator!($rows, $operator, $number as f64:
                Add(0.0) => |a: f64, b| a + b,
                Mul(1.0) => |a: f64, b| a * b,
            ),
            _ => by_operator!($rows, $operator, $number as $number:
                Min($number::INFINITY) => |a: $number, b: $number| match a.is_nan() || b.is_nan() {
                    true => $number::from_bits($bits::MAX),
                    false if b.total_cmp(&a).is_lt() => b,
                    false => a,
                },
                Max($number::NEG_INFINITY) => |a: $number, b: $number| match a.is_nan() || b.is_nan() {
                    true => $number::from_bits($bits::MAX >> 1),
                    false if b.total_cmp(&a).is_gt() => b,
                    false => a,
                },
            ),
        }
    };
}

impl<R: Read> Rows<'_, R> {
    /// Reduces all rows to one, as words.
    ///
    /// # Errors
    /// Those of reading; of kind `UnexpectedEof` if the rows end within one.
    pub(super) fn reduced(self, operator: ScanOperator, element: ElementType) -> io::Result<Vec<u32>> {
        match element {
            ElementType::U32 => whole_numbers!(self, operator, u32),
            ElementType::I32 => whole_numbers!(self, operator, i32),
            ElementType::F32 => floats!(self, operator, f32 of u32),
            ElementType::U64 => whole_numbers!(self, operator, u64),
            ElementType::I64 => whole_numbers!(self, operator, i64),
            ElementType::F64 => floats!(self, operator, f64 of u64),
        }
    }

    fn fold<N: Pod, S: Copy>(
        mut self,
        identity: S,
        widened: impl Fn(N) -> S,
        narrowed: impl Fn(S) -> N,
        combine: impl Fn(S, S) -> S,
    ) -> io::Result<Vec<u32>> {
        let mut totals = vec![identity; self.columns];
        if let Some(initial) = self.initial {
            let bytes: &[u8] = bytemuck::cast_slice(initial);
            let values = bytes.chunks_exact(size_of::<N>()).map(bytemuck::pod_read_unaligned);
            totals.iter_mut().zip(values).for_each(|(total, value)| *total = widened(value));
        }
        let mut block = vec![N::zeroed(); BLOCK_ROWS * self.columns];
        let mut lanes = vec![identity; LANES * self.columns];
        loop {
            let size = read_full(&mut self.reader, bytemuck::cast_slice_mut(&mut block))?;
            if !size.is_multiple_of(size_of::<N>() * self.columns) {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ends within a row"));
            }
            if size == 0 {
                break;
            }
            lanes.fill(identity);
            for rows in block[..size / size_of::<N>()].chunks(lanes.len()) {
                for (lane, number) in lanes.iter_mut().zip(rows) {
                    *lane = combine(*lane, widened(*number));
                }
            }
            for row in lanes.chunks(self.columns) {
                for (total, lane) in totals.iter_mut().zip(row) {
                    *total = combine(*total, *lane);
                }
            }
        }
        let row: Vec<N> = totals.into_iter().map(narrowed).collect();
        Ok(bytemuck::pod_collect_to_vec(&row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of `count` numbers.
    fn bytes<N: Pod>(count: usize, number: impl Fn(u64) -> N) -> Vec<u8> {
        let numbers = (0..count as u64).map(|i| number(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        numbers.flat_map(|number| bytemuck::bytes_of(&number).to_vec()).collect()
    }

    /// Checks an operator, by its identity and how it combines two numbers.
    fn check<N: Pod>(
        operator: ScanOperator,
        element: ElementType,
        (identity, combine): (N, fn(N, N) -> N),
        number: impl Fn(u64) -> N,
    ) {
        for (columns, rows) in [(1, 0), (1, 1), (1, 100_000), (3, 70_001), (16, 5_000)] {
            let bytes = bytes(columns * rows, &number);
            let numbers: Vec<N> = bytemuck::pod_collect_to_vec(&bytes);
            for initial in [None, Some(number(77))] {
                let mut expected = vec![initial.unwrap_or(identity); columns];
                for row in numbers.chunks(columns) {
                    let totals = expected.iter_mut().zip(row);
                    totals.for_each(|(total, number)| *total = combine(*total, *number));
                }
                let initial: Option<Vec<u32>> =
                    initial.map(|value| bytemuck::pod_collect_to_vec(&vec![value; columns]));
                let rows = Rows { reader: &bytes[..], columns, initial: initial.as_deref() };
                let reduced = rows.reduced(operator, element).unwrap();
                let expected: Vec<u32> = bytemuck::pod_collect_to_vec(&expected);
                assert_eq!(reduced, expected, "{operator} of {element} in {columns} columns");
            }
        }
    }

    macro_rules! check_whole {
        ($($number:ident $element:ident $of:expr),+) => {$(
            for (operator, of) in [
                (ScanOperator::Add, (0, $number::wrapping_add as fn($number, $number) -> $number)),
                (ScanOperator::Mul, (1, $number::wrapping_mul)),
                (ScanOperator::Min, ($number::MAX, Ord::min)),
                (ScanOperator::Max, ($number::MIN, Ord::max)),
                (ScanOperator::And, (!0, |a, b| a & b)),
                (ScanOperator::Or, (0, |a, b| a | b)),
                (ScanOperator::Xor, (0, |a, b| a ^ b)),
            ] {
                check::<$number>(operator, ElementType::$element, of, $of);
            }
        )+};
    }

    /// Minima and maxima in the order of `total_cmp`, where a NaN is the result of any: a quiet one, whose other bits are set.
    macro_rules! check_extremes {
        ($($number:ident $bits:ident $element:ident $of:expr),+) => {$(
            let min: fn($number, $number) -> $number = |a, b| match a.is_nan() || b.is_nan() {
                true => $number::from_bits($bits::MAX),
                false => if b.total_cmp(&a).is_lt() { b } else { a },
            };
            let max: fn($number, $number) -> $number = |a, b| match a.is_nan() || b.is_nan() {
                true => $number::from_bits($bits::MAX >> 1),
                false => if b.total_cmp(&a).is_gt() { b } else { a },
            };
            check(ScanOperator::Min, ElementType::$element, ($number::INFINITY, min), $of);
            check(ScanOperator::Max, ElementType::$element, ($number::NEG_INFINITY, max), $of);
        )+};
    }

    #[test]
    fn totals_are_those_of_the_operators() {
        check_whole!(u32 U32 |i| (i >> 32) as u32, i32 I32 |i| (i >> 32) as i32, u64 U64 |i| i, i64 I64 |i| i as i64);
        // Zeros and NaNs of either sign, too.
        check_extremes!(
            f32 u32 F32 |i| (i >> 40) as f32 - 5e6,
            f64 u64 F64 |i| (i >> 20) as f64 - 5e12,
            f32 u32 F32 |i| if i >> 63 == 0 { 0.0 } else { -0.0 },
            f32 u32 F32 |i| if i >> 50 == 7 { -f32::NAN } else { (i >> 40) as f32 }
        );
        // Whole numbers whose sums are exact.
        let (f32_sum, f64_sum) =
            ((0.0, (|a, b| a + b) as fn(f32, f32) -> f32), (0.0, (|a, b| a + b) as fn(f64, f64) -> f64));
        check(ScanOperator::Add, ElementType::F32, f32_sum, |i| (i >> 62) as f32 - 1.0);
        check(ScanOperator::Add, ElementType::F64, f64_sum, |i| (i >> 32) as f64);
    }

    #[test]
    fn sums_of_floats_are_rounded_once() {
        // In f32 one after the other, 16,777,217 ones end at 16,777,216.
        let bytes = bytes(20_000_000, |_| 1f32);
        let rows = Rows { reader: &bytes[..], columns: 1, initial: None };
        let total = rows.reduced(ScanOperator::Add, ElementType::F32).unwrap();
        assert_eq!(f32::from_bits(total[0]), 20_000_000.0);
        let rows = Rows { reader: &bytes[..7], columns: 1, initial: None };
        let error = rows.reduced(ScanOperator::Add, ElementType::F32).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
