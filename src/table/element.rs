//! Element types in `.npy` headers.

use crate::ElementType;

/// Each type with its code, without the byte order.
const CODES: [(ElementType, &str); 6] = [
    (ElementType::U32, "u4"),
    (ElementType::I32, "i4"),
    (ElementType::F32, "f4"),
    (ElementType::U64, "u8"),
    (ElementType::I64, "i8"),
    (ElementType::F64, "f8"),
];

impl ElementType {
    /// Its little-endian `descr` in an `.npy` header: `<u4`.
    pub fn descr(self) -> String {
        format!("<{}", CODES[self as usize].1)
    }

    /// The type of a code in an `.npy` header, without the byte order: `u4`.
    pub(super) fn from_code(code: &[u8]) -> Option<Self> {
        CODES.iter().find(|row| row.1.as_bytes() == code).map(|row| row.0)
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum_and_names_what_the_command_line_takes() {
        for (row, element) in CODES.iter().zip(ElementType::value_variants()) {
            assert_eq!(row.0, *element);
            assert_eq!(element.to_possible_value().unwrap().get_name(), element.name());
            assert_eq!(ElementType::from_code(&element.descr().as_bytes()[1..]), Some(*element));
        }
        assert_eq!(ElementType::ALL, *ElementType::value_variants());
        assert_eq!(CODES.len(), ElementType::value_variants().len());
        assert_eq!(ElementType::from_code(b"u1"), None);
    }
}
