//! Rows of every type and operator, with inputs whose float results are exact, so that they do not depend on the order
//! of operations.

use subsweep::kernels::Kernel;
use subsweep::scan::ScanOperator;
use subsweep::{ElementType, Number};
use subsweep_tool::reference::{self, Element, Operator, Row};

use super::rig::random;

/// An element of a kernel and of its pass model.
pub trait TestRow: Element {
    /// The type of a column.
    const NUMBER: ElementType;
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

    fn of_row(row: &[u32]) -> Self;

    fn of_words(words: &[u32]) -> Vec<Self> {
        words.chunks_exact(Self::WORDS).map(Self::of_row).collect()
    }

    fn words(&self) -> Vec<u32>;

    fn name() -> String;

    /// This type as a value.
    const TYPE: &'static RowType = &RowType {
        number: Self::NUMBER,
        words: Self::WORDS,
        pack_items: Self::PACK_ITEMS,
        constants: Self::constants,
        input: Self::input,
        name: Self::name,
        identity: || row_words(Self::IDENTITY),
        combine: |a, b| {
            let (a, b) = (Self::of_row(&a[..Self::WORDS]), Self::of_row(&b[..Self::WORDS]));
            row_words(a.combine(b))
        },
    };
}

/// A [`TestRow`] as a value, so that checks of dozens of types are compiled once.
pub struct RowType {
    pub number: ElementType,
    pub words: usize,
    pub pack_items: usize,
    pub constants: fn(&Kernel) -> Vec<(&'static str, u32)>,
    pub input: fn(usize, usize) -> Vec<u32>,
    pub name: fn() -> String,
    identity: fn() -> RowWords,
    combine: fn(RowWords, RowWords) -> RowWords,
}

/// The words of a row, and zeros.
type RowWords = [u32; 4];

fn row_words(row: impl TestRow) -> RowWords {
    let row = row.words();
    let mut words = RowWords::default();
    words[..row.len()].copy_from_slice(&row);
    words
}

/// A row of any type.
#[derive(Clone, Copy)]
pub struct AnyRow {
    /// None for the identity, whose words depend on the type.
    value: Option<(RowWords, &'static RowType)>,
}

impl AnyRow {
    /// The rows of a type at these words.
    pub fn of_words(of: &'static RowType, words: &[u32]) -> impl Iterator<Item = Self> {
        words.chunks_exact(of.words).map(|row| {
            let mut words = RowWords::default();
            words[..of.words].copy_from_slice(row);
            Self { value: Some((words, of)) }
        })
    }

    fn row_words(self, of: &RowType) -> RowWords {
        self.value.map_or_else(of.identity, |(words, _)| words)
    }

    /// The words of a row of this type.
    pub fn words(self, of: &RowType) -> impl Iterator<Item = u32> {
        self.row_words(of).into_iter().take(of.words)
    }
}

impl Element for AnyRow {
    const IDENTITY: Self = Self { value: None };

    fn combine(self, later: Self) -> Self {
        let of = self.value.or(later.value).map(|(_, of)| of);
        Self { value: of.map(|of| ((of.combine)(self.row_words(of), later.row_words(of)), of)) }
    }
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
    const NUMBER: ElementType = N::TYPE;
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
        numbers(N::TYPE, O::OPERATOR, seed, count * C)
    }

    fn of_row(row: &[u32]) -> Self {
        let mut columns = [N::zeroed(); C];
        bytemuck::cast_slice_mut(&mut columns).copy_from_slice(row);
        Self::new(columns)
    }

    fn words(&self) -> Vec<u32> {
        bytemuck::cast_slice(&self.0).to_vec()
    }

    fn name() -> String {
        format!("{} of {C} {}", O::OPERATOR, N::TYPE)
    }
}

/// The words of `count` numbers.
fn numbers(element: ElementType, operator: ScanOperator, seed: usize, count: usize) -> Vec<u32> {
    let bits = random(seed, 2 * count);
    let bits = bits.chunks_exact(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32);
    let number = |(i, bits)| number(element, operator, i, count, bits);
    let words = |bits: u64| [bits as u32, (bits >> 32) as u32].into_iter().take(element.words() as usize);
    bits.enumerate().map(number).flat_map(words).collect()
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
