//! Element types in `.npy` headers.

use subsweep::{ElementType, NumberKind};

/// Its little-endian `descr`: `<u4`.
pub(super) fn descr(element: ElementType) -> String {
    let kind = match element.kind() {
        NumberKind::Unsigned => 'u',
        NumberKind::Signed => 'i',
        NumberKind::Float => 'f',
    };
    format!("<{kind}{}", element.size())
}

/// The type of a code without the byte order: `u4`.
pub(super) fn from_code(code: &[u8]) -> Option<ElementType> {
    ElementType::ALL.into_iter().find(|&element| &descr(element).as_bytes()[1..] == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_code_of_its_own() {
        for element in ElementType::ALL {
            assert_eq!(from_code(&descr(element).as_bytes()[1..]), Some(element));
        }
        assert_eq!(from_code(b"u1"), None);
    }
}
