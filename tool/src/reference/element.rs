//! Elements of a scan, and the operators of `glsl/operator/`.

use std::marker::PhantomData;

/// An element and its operator, which is associative and need not be commutative.
pub trait Element: Copy {
    /// The identity of the operator, on both sides.
    const IDENTITY: Self;

    /// Combines `self` with a later element.
    fn combine(self, later: Self) -> Self;
}

/// A row of a table, whose columns are summed separately, wrapping.
impl<const COLUMNS: usize> Element for [u32; COLUMNS] {
    const IDENTITY: Self = [0; COLUMNS];

    fn combine(self, later: Self) -> Self {
        std::array::from_fn(|column| self[column].wrapping_add(later[column]))
    }
}

/// A single u32, summed with wrapping.
impl Element for u32 {
    const IDENTITY: Self = 0;

    fn combine(self, later: Self) -> Self {
        self.wrapping_add(later)
    }
}

/// A row of a table, whose columns are combined separately by the operator `O`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<O, N, const COLUMNS: usize>(pub [N; COLUMNS], PhantomData<O>);

impl<O: Operator<N>, N: Copy, const COLUMNS: usize> Row<O, N, COLUMNS> {
    /// A row of these columns.
    pub const fn new(columns: [N; COLUMNS]) -> Self {
        Self(columns, PhantomData)
    }
}

impl<O: Operator<N>, N: Copy, const COLUMNS: usize> Element for Row<O, N, COLUMNS> {
    const IDENTITY: Self = Self::new([O::IDENTITY; COLUMNS]);

    fn combine(self, later: Self) -> Self {
        Self::new(std::array::from_fn(|column| O::combine(self.0[column], later.0[column])))
    }
}

/// An operator of `glsl/operator/` on numbers of one type.
pub trait Operator<N>: Copy {
    /// The identity of the operator, on both sides.
    const IDENTITY: N;

    /// Combines `earlier` with `later`.
    fn combine(earlier: N, later: N) -> N;
}

macro_rules! operators {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub struct $name;
        )+
    };
}

operators! {
    /// The sum.
    Add,
    /// The product.
    Mul,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

macro_rules! operator {
    ($name:ident on $number:ty: $identity:expr, $combine:expr) => {
        impl Operator<$number> for $name {
            const IDENTITY: $number = $identity;

            fn combine(earlier: $number, later: $number) -> $number {
                let combine: fn($number, $number) -> $number = $combine;
                combine(earlier, later)
            }
        }
    };
}

macro_rules! whole_numbers {
    ($($number:ident),+) => {
        $(
            operator!(Add on $number: 0, $number::wrapping_add);
            operator!(Mul on $number: 1, $number::wrapping_mul);
            operator!(Min on $number: $number::MAX, Ord::min);
            operator!(Max on $number: $number::MIN, Ord::max);
            operator!(And on $number: !0, |a, b| a & b);
            operator!(Or on $number: 0, |a, b| a | b);
            operator!(Xor on $number: 0, |a, b| a ^ b);
        )+
    };
}

macro_rules! floats {
    ($($number:ident of $bits:ty),+) => {
        $(
            operator!(Add on $number: 0.0, |a, b| a + b);
            operator!(Mul on $number: 1.0, |a, b| a * b);
            operator!(Min on $number: $number::INFINITY, |a, b| match a.is_nan() || b.is_nan() {
                // A NaN maps to all zeros, below every number, which map back to this NaN.
                true => $number::from_bits(<$bits>::MAX),
                false if b.total_cmp(&a).is_lt() => b,
                false => a,
            });
            operator!(Max on $number: $number::NEG_INFINITY, |a, b| match a.is_nan() || b.is_nan() {
                // A NaN maps to all ones, above every number, which map back to this NaN.
                true => $number::from_bits(<$bits>::MAX >> 1),
                false if b.total_cmp(&a).is_gt() => b,
                false => a,
            });
        )+
    };
}

whole_numbers!(u32, i32, u64, i64);
floats!(f32 of u32, f64 of u64);
