//! Rows of every type and operator, with inputs whose float results are exact, so that they do not depend on the order
//! of operations.

use subsweep::kernels::Kernel;
use subsweep::reference::{self, Element, Operator, Row};
use subsweep::scan::ScanOperator;
use subsweep::{ElementType, Number};

use super::rig::random;

/// An element of a kernel and of its pass model.
pub trait TestRow: Element {
    /// Words of 32 bits.
    const WORDS: usize;
    /// Elements in a pack: the fewest that are a whole number of 16-byte quads.
    const PACK_ITEMS: usize = match Self::WORDS % 4 {
        0 => 1,
        2 => 2,
        _ => 4,
    };

    /// Whether kernels map it to an unsigned number of the same order.
    const IS_MAPPED: bool;

    /// The specialization constants of its type and operator, if the kernel has them.
    fn constants(kernel: &Kernel) -> Vec<(&'static str, u32)>;

    /// Input words of `count` elements.
    fn input(seed: usize, count: usize) -> Vec<u32>;

    fn of_words(words: &[u32]) -> Vec<Self>;

    fn words(&self) -> Vec<u32>;

    fn name() -> String;
}

/// The operator of a marker type.
pub trait Named {
    const OPERATOR: ScanOperator;
}

macro_rules! named {
    ($($name:ident),+) => {
        $(
            impl Named for reference::$name {
                const OPERATOR: ScanOperator = ScanOperator::$name;
            }
        )+
    };
}

named!(Add, Mul, Min, Max, And, Or, Xor);

impl<O: Operator<N> + Named, N: Number, const C: usize> TestRow for Row<O, N, C> {
    const WORDS: usize = C * N::TYPE.words() as usize;
    const IS_MAPPED: bool = matches!(O::OPERATOR, ScanOperator::Min | ScanOperator::Max);

    fn constants(kernel: &Kernel) -> Vec<(&'static str, u32)> {
        if kernel.spec_constants.iter().all(|constant| constant.name != "OPERATOR") {
            return Vec::new();
        }
        // By the numbers of `glsl/operator/names.glsl`.
        let operator = ScanOperator::ALL.iter().position(|&operator| operator == O::OPERATOR);
        let numbers = match N::TYPE {
            ElementType::I32 | ElementType::I64 => 1,
            ElementType::F32 | ElementType::F64 => 2,
            _ => 0,
        };
        vec![("OPERATOR", operator.expect("one of all") as u32), ("NUMBERS", numbers)]
    }

    fn input(seed: usize, count: usize) -> Vec<u32> {
        let bits = random(seed, 2 * count * C);
        let bits = bits.chunks_exact(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32);
        let number = |(i, bits)| number(N::TYPE, O::OPERATOR, i, count * C, bits);
        let words = |bits: u64| [bits as u32, (bits >> 32) as u32].into_iter().take(N::TYPE.words() as usize);
        bits.enumerate().map(number).flat_map(words).collect()
    }

    fn of_words(words: &[u32]) -> Vec<Self> {
        let row = |row: &[u32]| {
            let mut columns = [N::zeroed(); C];
            bytemuck::cast_slice_mut(&mut columns).copy_from_slice(row);
            Self::new(columns)
        };
        words.chunks_exact(Self::WORDS).map(row).collect()
    }

    fn words(&self) -> Vec<u32> {
        bytemuck::cast_slice(&self.0).to_vec()
    }

    fn name() -> String {
        format!("{} of {C} {}", O::OPERATOR, N::TYPE)
    }
}

/// The bits of number `i` of `count`, derived from random bits.
fn number(element: ElementType, operator: ScanOperator, i: usize, count: usize, bits: u64) -> u64 {
    let is_rare = bits.is_multiple_of(16);
    let of_float = |value: f64| match element {
        ElementType::F32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    };
    match (operator, element.is_float()) {
        // Small whole numbers, whose sums stay exact.
        (ScanOperator::Add, true) => of_float(f64::from((bits >> 32) as i32 >> 28)),
        // Powers of two and their inverses, with either sign.
        (ScanOperator::Mul, true) => {
            let magnitude = [2.0, 1.0, 1.0, 0.5][i / 16 % 4];
            of_float(if bits & 1 == 0 { magnitude } else { -magnitude })
        }
        (ScanOperator::And, _) => {
            if is_rare {
                !(1 << (bits >> 32 & 63))
            } else {
                !0
            }
        }
        (ScanOperator::Or, _) => {
            if is_rare {
                1 << (bits >> 32 & 63)
            } else {
                0
            }
        }
        (ScanOperator::Mul, false) => bits | 1,
        // Numbers of every size and sign, and one NaN.
        (_, true) => {
            let infinity = of_float(f64::INFINITY);
            let is_nan = |bits: u64| bits & infinity == infinity;
            match element {
                _ if i == count * 3 / 4 => infinity + 1,
                _ if is_nan(bits) => bits & !(infinity >> 1),
                _ => bits,
            }
        }
        (_, false) => bits,
    }
}
