//! Arithmetic of every type on the host, by the operators of the reference. The models of passes have the same ones, so that
//! tests of [`expected`](super::expected) and of the program hold them to numbers.

use crate::reference::{Add, And, Max, Min, Mul, Operator, Or, Xor};
use subsweep::Number;
use subsweep::scan::ScanOperator;

/// A number that is scanned, reduced and subtracted.
pub(super) trait Arithmetic: Number {
    /// Identity and function of an operator that takes the type.
    fn operation(operator: ScanOperator) -> (Self, fn(Self, Self) -> Self);

    /// The difference; of integers, wrapping.
    fn minus(self, other: Self) -> Self;

    /// The number on a device that flushes denormals to 0.
    fn flushed(self) -> Self;
}

fn operation_of<O: Operator<N>, N>() -> (N, fn(N, N) -> N) {
    (O::IDENTITY, O::combine)
}

macro_rules! whole_numbers {
    ($($number:ident),+) => {
        $(
            impl Arithmetic for $number {
                fn operation(operator: ScanOperator) -> (Self, fn(Self, Self) -> Self) {
                    match operator {
                        ScanOperator::Add => operation_of::<Add, _>(),
                        ScanOperator::Mul => operation_of::<Mul, _>(),
                        ScanOperator::Min => operation_of::<Min, _>(),
                        ScanOperator::Max => operation_of::<Max, _>(),
                        ScanOperator::And => operation_of::<And, _>(),
                        ScanOperator::Or => operation_of::<Or, _>(),
                        ScanOperator::Xor => operation_of::<Xor, _>(),
                    }
                }

                fn minus(self, other: Self) -> Self {
                    self.wrapping_sub(other)
                }

                fn flushed(self) -> Self {
                    self
                }
            }
        )+
    };
}

macro_rules! floats {
    ($($number:ident),+) => {
        $(
            impl Arithmetic for $number {
                fn operation(operator: ScanOperator) -> (Self, fn(Self, Self) -> Self) {
                    match operator {
                        ScanOperator::Add => operation_of::<Add, _>(),
                        ScanOperator::Mul => operation_of::<Mul, _>(),
                        ScanOperator::Min => operation_of::<Min, _>(),
                        ScanOperator::Max => operation_of::<Max, _>(),
                        _ => unreachable!("no bitwise operator takes floats"),
                    }
                }

                fn minus(self, other: Self) -> Self {
                    self - other
                }

                fn flushed(self) -> Self {
                    if self.is_subnormal() { (0.0 as $number).copysign(self) } else { self }
                }
            }
        )+
    };
}

whole_numbers!(u32, i32, u64, i64);
floats!(f32, f64);
