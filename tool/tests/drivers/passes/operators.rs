//! The variants of reduce and downsweep, each with the row types that it is checked on.

use subsweep_tool::reference::{Add, And, Max, Min, Mul, Or, Row, Xor};

use super::numbers::{RowType, TestRow as _};

/// The row types of a variant.
pub struct Rows {
    pub column_count: usize,
    /// [`Selection`](super::rig::Selection) limits their number, `Short` to three.
    pub types: Vec<&'static RowType>,
}

macro_rules! types {
    ($row_columns:literal: $($operator:ident $number:ident),+) => {
        vec![$(Row::<$operator, $number, $row_columns>::TYPE),+]
    };
}

impl Rows {
    /// Whether the variant scans a workgroup by a textbook network.
    pub fn is_network(variant: &str) -> bool {
        ["kogge_stone", "kogge_stone_double_buffered", "brent_kung", "sklansky", "sequential"]
            .contains(&variant)
            || variant.ends_with("_sklansky")
    }

    pub fn for_variant(variant: &str) -> Option<Self> {
        let (column_count, types) = match variant {
            "u32x1" => (1, types!(1: Add u32)),
            "u32x2" => (1, types!(2: Add u32)),
            "u32x3" => (1, types!(3: Add u32)),
            "u32x4" => (1, types!(4: Add u32)),
            "words32x1_sklansky" => (1, types!(1: Add f32, Mul f32)),
            "float64x1_sklansky" => (1, types!(1: Mul f64, Add f64)),
            _ if Self::is_network(variant) => (1, types!(1: Add u32)),
            // The first three types of all variants together cover every operator and every type.
            "words32x1" => (
                1,
                types!(1: Add u32, Max i32, Mul f32, Mul u32, Min u32, Max u32, And u32, Or u32, Xor u32,
                    Add i32, Mul i32, Min i32, And i32, Or i32, Xor i32, Add f32, Min f32, Max f32),
            ),
            "packed" => (1, types!(1: Add u32, Max i32, Add f32, Add i32, Min u32, Max f32)),
            "words32x2" => (1, types!(2: Xor u32, Min i32, Max f32, Mul f32, Add u32)),
            "words32x3" => (1, types!(3: Mul f32, Max f32, Min i32, Xor u32, Add u32)),
            "words32x4" => (1, types!(4: Min i32, Xor u32, Max f32, Mul f32, Add u32)),
            "words32_strided" => (5, types!(1: And u32, Min f32, Or u32, Max i32, Add f32, Add u32)),
            "words64x1" => (
                1,
                types!(1: Add u64, Min i64, Max f64, Mul u64, Min u64, Max u64, And u64, Or u64, Xor u64,
                    Add i64, Mul i64, Max i64, Min f64),
            ),
            "words64x2" => (
                1,
                types!(2: Xor u64, Mul i64, Min f64, Mul u64, Min u64, Max u64, And u64, Or u64, Add i64,
                    Min i64, Max i64, Max f64, Add u64),
            ),
            "words64_strided" => (3, types!(1: And u64, Max i64, Or u64, Min f64, Add u64)),
            "float64x1" => (1, types!(1: Add f64, Mul f64)),
            "float64x2" => (1, types!(2: Mul f64, Add f64)),
            "float64_strided" => (3, types!(1: Add f64, Mul f64)),
            "words32x1_segmented" => (1, types!(1: Add u32, Max f32)),
            "words32_strided_segmented" => (5, types!(1: Add u32)),
            "words64x1_segmented" => (1, types!(1: Add u64)),
            "words64_strided_segmented" => (3, types!(1: Max i64)),
            "float64x1_segmented" => (1, types!(1: Mul f64)),
            "float64_strided_segmented" => (2, types!(1: Add f64)),
            _ => return None,
        };
        Some(Self { column_count, types })
    }
}
