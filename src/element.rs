//! Element and key types.

named! {
    /// Type of a scan's element or a sort's key.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ElementType {
        /// Unsigned, 32 bits.
        U32 = "u32",
        /// Signed, 32 bits.
        I32 = "i32",
        /// IEEE 754, 32 bits.
        F32 = "f32",
        /// Unsigned, 64 bits.
        U64 = "u64",
        /// Signed, 64 bits.
        I64 = "i64",
        /// IEEE 754, 64 bits.
        F64 = "f64",
    }
}

impl ElementType {
    /// The type in the header of an `.npy` file, without its byte order: `u4`.
    pub const fn numpy_code(self) -> &'static str {
        match self {
            Self::U32 => "u4",
            Self::I32 => "i4",
            Self::F32 => "f4",
            Self::U64 => "u8",
            Self::I64 => "i8",
            Self::F64 => "f8",
        }
    }

    /// Size, bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::U32 | Self::I32 | Self::F32 => 32,
            Self::U64 | Self::I64 | Self::F64 => 64,
        }
    }

    /// Size, bytes.
    pub const fn size(self) -> usize {
        self.bits() as usize / 8
    }

    /// Size, 32-bit words; the lowest comes first.
    pub const fn words(self) -> u32 {
        self.bits() / 32
    }

    /// Value of the specialization constant of `glsl/operator/names.glsl` for its interpretation of words.
    pub(crate) const fn numbers(self) -> u32 {
        match self {
            Self::U32 | Self::U64 => 0,
            Self::I32 | Self::I64 => 1,
            Self::F32 | Self::F64 => 2,
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
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

macro_rules! numbers {
    ($($type:ty => $element:ident),+ $(,)?) => {
        $(
            impl sealed::Sealed for $type {}

            impl Number for $type {
                const TYPE: ElementType = ElementType::$element;
            }
        )+
    };
}

numbers!(u32 => U32, i32 => I32, f32 => F32, u64 => U64, i64 => I64, f64 => F64);
