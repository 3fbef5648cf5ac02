//! The variants of reduce and downsweep, each with the row types that it is checked on.

use libtest_mimic::Failed;
use subsweep::reference::{Add, And, Max, Min, Mul, Or, Row, Xor};

use super::scan::{KernelUnderTest, Specialization, check};

/// The row types of a variant.
pub struct Rows {
    pub column_count: usize,
    /// One check for each type and operator. [`Selection`](super::rig::Selection) limits their number, `Short` to
    /// three.
    pub checks: Vec<Check>,
}

type Check = fn(&KernelUnderTest<'_>, Specialization) -> Result<(), Failed>;

macro_rules! checks {
    ($row_columns:literal: $($operator:ident $number:ident),+) => {
        vec![$(check::<Row<$operator, $number, $row_columns>> as Check),+]
    };
}

impl Rows {
    /// Whether the variant scans a workgroup by a textbook network.
    pub fn is_network(variant: &str) -> bool {
        ["kogge_stone", "kogge_stone_double_buffered", "brent_kung", "sklansky", "sequential"]
            .contains(&variant)
            || variant.ends_with("_sklansky")
    }

    pub fn of(variant: &str) -> Option<Self> {
        let (column_count, checks): (_, Vec<Check>) = match variant {
            "u32x1" => (1, checks!(1: Add u32)),
            "u32x2" => (1, checks!(2: Add u32)),
            "u32x3" => (1, checks!(3: Add u32)),
            "u32x4" => (1, checks!(4: Add u32)),
            "words32x1_sklansky" => (1, checks!(1: Add f32, Mul f32)),
            "float64x1_sklansky" => (1, checks!(1: Mul f64, Add f64)),
            _ if Self::is_network(variant) => (1, checks!(1: Add u32)),
            // The first three checks of all variants together cover every operator and every type.
            "words32x1" => (
                1,
                checks!(1: Add u32, Max i32, Mul f32, Mul u32, Min u32, Max u32, And u32, Or u32, Xor u32,
                    Add i32, Mul i32, Min i32, And i32, Or i32, Xor i32, Add f32, Min f32, Max f32),
            ),
            "words32x2" => (1, checks!(2: Xor u32, Min i32, Max f32, Mul f32, Add u32)),
            "words32x3" => (1, checks!(3: Mul f32, Max f32, Min i32, Xor u32, Add u32)),
            "words32x4" => (1, checks!(4: Min i32, Xor u32, Max f32, Mul f32, Add u32)),
            "words32_strided" => (5, checks!(1: And u32, Min f32, Or u32, Max i32, Add f32, Add u32)),
            "words64x1" => (
                1,
                checks!(1: Add u64, Min i64, Max f64, Mul u64, Min u64, Max u64, And u64, Or u64, Xor u64,
                    Add i64, Mul i64, Max i64, Min f64),
            ),
            "words64x2" => (
                1,
                checks!(2: Xor u64, Mul i64, Min f64, Mul u64, Min u64, Max u64, And u64, Or u64, Add i64,
                    Min i64, Max i64, Max f64, Add u64),
            ),
            "words64_strided" => (3, checks!(1: And u64, Max i64, Or u64, Min f64, Add u64)),
            "float64x1" => (1, checks!(1: Add f64, Mul f64)),
            "float64x2" => (1, checks!(2: Mul f64, Add f64)),
            "float64_strided" => (3, checks!(1: Add f64, Mul f64)),
            "words32x1_segmented" => (1, checks!(1: Add u32, Max f32)),
            "words32_strided_segmented" => (5, checks!(1: Add u32)),
            "words64x1_segmented" => (1, checks!(1: Add u64)),
            "words64_strided_segmented" => (3, checks!(1: Max i64)),
            "float64x1_segmented" => (1, checks!(1: Mul f64)),
            "float64_strided_segmented" => (2, checks!(1: Add f64)),
            _ => return None,
        };
        Some(Self { column_count, checks })
    }
}
