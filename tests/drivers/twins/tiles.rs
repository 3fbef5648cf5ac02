//! The variants of reduce and downsweep: which rows each is tried on.

use libtest_mimic::Failed;
use subsweep::harness::Layout;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::reference::{Add, And, Max, Min, Mul, Or, Row, Xor};

use super::Check;
use super::chained::{chained, fixed_tree};
use super::numbers::TestRow;
use super::rig;
use super::scan::{self, Depth};
use super::segments;

/// The check of reduce and of downsweep.
pub fn check_of(variant: &str) -> Option<Check> {
    Some(match variant {
        "u32x1" => u32::<1>,
        "u32x2" => u32::<2>,
        "u32x3" => u32::<3>,
        "u32x4" => u32::<4>,
        "words32x1" => words32x1,
        "words32x2" => words32::<2>,
        "words32x3" => words32::<3>,
        "words32x4" => words32::<4>,
        "words32_strided" => words32_strided,
        "words64x1" => words64::<1>,
        "words64x2" => words64::<2>,
        "words64_strided" => words64_strided,
        "float64x1" => float64::<1>,
        "float64x2" => float64::<2>,
        "float64_strided" => float64_strided,
        "words32x1_segmented" => words32x1_segmented,
        "words32_strided_segmented" => segmented::<Row<Add, u32, 1>, 5>,
        "words64x1_segmented" => segmented::<Row<Add, u64, 1>, 1>,
        "words64_strided_segmented" => segmented::<Row<Max, i64, 1>, 3>,
        "float64x1_segmented" => segmented::<Row<Mul, f64, 1>, 1>,
        "float64_strided_segmented" => segmented::<Row<Add, f64, 1>, 2>,
        _ => return None,
    })
}

fn segmented<R: TestRow, const COLUMNS: usize>(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    if kernel.name.starts_with("scan/reduce:") {
        segments::reduce::<R>(gpu, kernel, COLUMNS)
    } else {
        segments::downsweep::<R>(gpu, kernel, COLUMNS)
    }
}

fn words32x1_segmented(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    segmented::<Row<Add, u32, 1>, 1>(gpu, kernel)?;
    // What an operator does is no matter of addresses, and to compile a kernel that is watched takes seconds.
    if rig::layout() == Layout::Guarded {
        segmented::<Row<Max, f32, 1>, 1>(gpu, kernel)?;
    }
    Ok(())
}

pub fn chained32(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    chained::<Row<Add, u32, 1>>(gpu, kernel)?;
    if kernel.name.ends_with("_counted") {
        return fixed_tree(gpu, kernel);
    }
    chained::<Row<Mul, i32, 1>>(gpu, kernel)?;
    chained::<Row<Max, f32, 1>>(gpu, kernel)
}

pub fn chained64(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    chained::<Row<Add, u64, 1>>(gpu, kernel)?;
    chained::<Row<Min, i64, 1>>(gpu, kernel)
}

/// A kernel on the device, and how many columns its workgroups share.
struct Tiled<'g> {
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    column_count: usize,
}

impl Tiled<'_> {
    fn check<R: TestRow>(&self, depth: Depth) -> Result<(), Failed> {
        // What an operator does is no matter of addresses, and to compile a kernel that is watched takes seconds.
        if depth == Depth::Brief && rig::layout() == Layout::Separate {
            return Ok(());
        }
        let check = if self.kernel.name.starts_with("scan/reduce:") {
            scan::reduce::<R>
        } else {
            scan::downsweep::<R>
        };
        check(self.gpu, self.kernel, self.column_count, depth)
    }
}

macro_rules! briefly {
    ($tiled:expr, $columns:expr, $($number:ident: $($operator:ident),+;)+) => {
        $($($tiled.check::<Row<$operator, $number, $columns>>(Depth::Brief)?;)+)+
    };
}

fn words32x1(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let tiled = Tiled { gpu, kernel, column_count: 1 };
    tiled.check::<Row<Add, u32, 1>>(Depth::Whole)?;
    briefly!(tiled, 1,
        u32: Mul, Min, Max, And, Or, Xor;
        i32: Add, Mul, Min, Max, And, Or, Xor;
        f32: Add, Mul, Min, Max;
    );
    Ok(())
}

fn u32<const C: usize>(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let tiled = Tiled { gpu, kernel, column_count: 1 };
    tiled.check::<Row<Add, u32, C>>(Depth::Whole)?;
    tiled.check::<Row<Add, i32, C>>(Depth::Brief)
}

fn words32<const C: usize>(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let tiled = Tiled { gpu, kernel, column_count: 1 };
    tiled.check::<Row<Add, u32, C>>(Depth::Whole)?;
    briefly!(tiled, C, u32: Xor; i32: Min; f32: Mul, Max;);
    Ok(())
}

fn words32_strided(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let tiled = Tiled { gpu, kernel, column_count: 5 };
    tiled.check::<Row<Add, u32, 1>>(Depth::Whole)?;
    briefly!(tiled, 1, u32: And; i32: Max; f32: Add, Min;);
    Ok(())
}

fn words64<const C: usize>(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let tiled = Tiled { gpu, kernel, column_count: 1 };
    tiled.check::<Row<Add, u64, C>>(Depth::Whole)?;
    briefly!(tiled, C,
        u64: Mul, Min, Max, And, Or, Xor;
        i64: Add, Mul, Min, Max;
        f64: Min, Max;
    );
    Ok(())
}

fn words64_strided(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let tiled = Tiled { gpu, kernel, column_count: 3 };
    tiled.check::<Row<Add, u64, 1>>(Depth::Whole)?;
    briefly!(tiled, 1, i64: Max; f64: Min;);
    Ok(())
}

fn float64<const C: usize>(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let tiled = Tiled { gpu, kernel, column_count: 1 };
    tiled.check::<Row<Add, f64, C>>(Depth::Whole)?;
    briefly!(tiled, C, f64: Mul;);
    Ok(())
}

fn float64_strided(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let tiled = Tiled { gpu, kernel, column_count: 3 };
    tiled.check::<Row<Add, f64, 1>>(Depth::Whole)?;
    briefly!(tiled, 1, f64: Mul;);
    Ok(())
}
