//! The types that an element of a file can have.

use std::fmt;

/// The type of an element, as `--type` and an `.npy` header name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ElementType {
    /// Unsigned, 4 bytes.
    U32,
    /// Signed, 4 bytes.
    I32,
    /// Floating point, 4 bytes.
    F32,
    /// Unsigned, 8 bytes.
    U64,
    /// Signed, 8 bytes.
    I64,
    /// Floating point, 8 bytes.
    F64,
}

/// Each type with its name, its size in bytes and its code in an `.npy` header, less the byte
/// order.
const TYPES: [(ElementType, &str, usize, &str); 6] = [
    (ElementType::U32, "u32", 4, "u4"),
    (ElementType::I32, "i32", 4, "i4"),
    (ElementType::F32, "f32", 4, "f4"),
    (ElementType::U64, "u64", 8, "u8"),
    (ElementType::I64, "i64", 8, "i8"),
    (ElementType::F64, "f64", 8, "f8"),
];

impl ElementType {
    /// Bytes of one element, a multiple of 4.
    pub fn size(self) -> usize {
        TYPES[self as usize].2
    }

    /// What `--type` calls it.
    pub fn name(self) -> &'static str {
        TYPES[self as usize].1
    }

    /// Its little-endian `descr` in an `.npy` header: `<u4`.
    pub fn descr(self) -> String {
        format!("<{}", TYPES[self as usize].3)
    }

    /// The type with this code in an `.npy` header, less the byte order: `u4`.
    pub(super) fn from_code(code: &[u8]) -> Option<Self> {
        TYPES.iter().find(|row| row.3.as_bytes() == code).map(|row| row.0)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum_and_names_what_the_command_line_takes() {
        for (row, element) in TYPES.iter().zip(ElementType::value_variants()) {
            assert_eq!(row.0, *element);
            assert_eq!(element.to_possible_value().unwrap().get_name(), element.name());
            assert_eq!(element.size() % 4, 0);
            assert_eq!(ElementType::from_code(&element.descr().as_bytes()[1..]), Some(*element));
        }
        assert_eq!(TYPES.len(), ElementType::value_variants().len());
        assert_eq!(ElementType::from_code(b"u1"), None);
    }
}
