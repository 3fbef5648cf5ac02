//! The table of element and key types, from which comes everything that depends on a type alone.

mod packed;

pub use packed::{Bf16, F16};

use std::fmt;

/// What the bits of a type are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// An unsigned integer.
    Unsigned,
    /// An integer in two's complement.
    Signed,
    /// IEEE 754.
    Float,
}

named! {
    /// Order of floats. Whole numbers have but one.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum FloatOrder {
        /// The order of [`f32::total_cmp`] and [`f64::total_cmp`]: NaNs of negative sign, -∞, …, -0, +0, …, +∞, NaNs of positive
        /// sign. Only equal bits are equal.
        Total = "total",
        /// The order of numpy: -0 equals +0, and every NaN is the same number, greater than all others. Equal ones keep their
        /// bits, and in a sort their order.
        Numpy = "numpy",
    }
}

/// What the table says of a type.
struct ElementRow {
    name: &'static str,
    kind: NumberKind,
    size: usize,
}

macro_rules! element_types {
    ($($(#[$doc:meta])* $element:ident: $number:ident $name:literal, $kind:ident;)+) => {
        /// Type of a scan's element or a sort's key.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ElementType {
            $($(#[$doc])* $element),+
        }

        impl ElementType {
            /// All types.
            pub const ALL: [Self; [$(stringify!($element)),+].len()] = [$(Self::$element),+];

            const fn row(self) -> ElementRow {
                match self {
                    $(Self::$element => ElementRow {
                        name: $name,
                        kind: NumberKind::$kind,
                        size: size_of::<$number>(),
                    }),+
                }
            }
        }

        $(
            impl sealed::Sealed for $number {}

            impl Number for $number {
                const TYPE: ElementType = ElementType::$element;
            }
        )+
    };
}

element_types! {
    /// Unsigned, 32 bits.
    U32: u32 "u32", Unsigned;
    /// Signed, 32 bits.
    I32: i32 "i32", Signed;
    /// IEEE 754, 32 bits.
    F32: f32 "f32", Float;
    /// Unsigned, 64 bits.
    U64: u64 "u64", Unsigned;
    /// Signed, 64 bits.
    I64: i64 "i64", Signed;
    /// IEEE 754, 64 bits.
    F64: f64 "f64", Float;
    /// Unsigned, 8 bits.
    U8: u8 "u8", Unsigned;
    /// Signed, 8 bits.
    I8: i8 "i8", Signed;
    /// Unsigned, 16 bits.
    U16: u16 "u16", Unsigned;
    /// Signed, 16 bits.
    I16: i16 "i16", Signed;
    /// IEEE 754, 16 bits.
    F16: F16 "f16", Float;
    /// The high half of [`Self::F32`], 16 bits.
    Bf16: Bf16 "bf16", Float;
}

impl ElementType {
    /// Name of the type, as in Rust.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// What its bits are.
    pub const fn kind(self) -> NumberKind {
        self.row().kind
    }

    /// Size, bytes.
    pub const fn size(self) -> usize {
        self.row().size
    }

    /// Size, bits.
    pub const fn bits(self) -> u32 {
        self.size() as u32 * 8
    }

    /// Size of a number in kernels, 32-bit words; the lowest comes first. One of a packed type.
    pub const fn words(self) -> u32 {
        (self.size() as u32).div_ceil(4)
    }

    /// Whether it has 8 or 16 bits: elements are several in a word of memory, and kernels compute with
    /// [`Self::unpacked`] ones, or compare them as they are.
    pub const fn is_packed(self) -> bool {
        self.size() < 4
    }

    /// The type of 32 bits that has every number of a packed type; of another type itself.
    pub const fn unpacked(self) -> Self {
        match (self.is_packed(), self.kind()) {
            (false, _) => self,
            (true, NumberKind::Unsigned) => Self::U32,
            (true, NumberKind::Signed) => Self::I32,
            (true, NumberKind::Float) => Self::F32,
        }
    }

    /// Value of the specialization constant of `glsl/operator/names.glsl` for its interpretation of words.
    #[doc(hidden)]
    pub const fn numbers(self) -> u32 {
        self.kind() as u32
    }

    /// Value of `KEY_NUMBERS` for keys in an order.
    #[doc(hidden)]
    pub const fn key_numbers(self, order: FloatOrder) -> u32 {
        // Of a brain float NaNs are beyond another infinity.
        let in_numpy_order = if matches!(self, Self::Bf16) { 2 } else { 1 };
        match order {
            FloatOrder::Numpy if self.is_float() => self.numbers() + in_numpy_order,
            _ => self.numbers(),
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), NumberKind::Float)
    }

    /// The unsigned type of its size, to which an order maps its numbers.
    pub(crate) fn unsigned(self) -> Self {
        let is_it = |other: &Self| other.kind() == NumberKind::Unsigned && other.size() == self.size();
        Self::ALL.into_iter().find(is_it).expect("the table has an unsigned type of each size")
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A number type of Rust that kernels support. Sealed.
pub trait Number: bytemuck::Pod + sealed::Sealed {
    /// The element type.
    const TYPE: ElementType;
}

#[cfg(test)]
mod tests;
