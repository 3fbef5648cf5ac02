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

/// Sums and products of f32 are computed in f64 and rounded once. Minimum and maximum are in the order of `total_cmp`; of numbers
/// with a NaN they are the NaN that `glsl/operator/words32.glsl` makes.
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
    /// Errors of reading; an error of kind `UnexpectedEof` if the rows end within one.
    pub(super) fn reduced(self, operator: ScanOperator, element: ElementType) -> io::Result<Vec<u32>> {
        match element {
            ElementType::U32 => whole_numbers!(self, operator, u32),
            ElementType::I32 => whole_numbers!(self, operator, i32),
            ElementType::F32 => floats!(self, operator, f32 of u32),
            ElementType::U64 => whole_numbers!(self, operator, u64),
            ElementType::I64 => whole_numbers!(self, operator, i64),
            ElementType::F64 => floats!(self, operator, f64 of u64),
            // Refused before.
            _ => Err(io::ErrorKind::Unsupported.into()),
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
mod tests;
