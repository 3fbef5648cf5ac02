//! Element types in `.npy` headers.

use subsweep::ElementType;

/// Its little-endian `descr`: `<u4`.
pub(super) fn descr(element: ElementType) -> String {
    format!("<{}", element.numpy_code())
}

/// The type of a code without the byte order: `u4`.
pub(super) fn from_code(code: &[u8]) -> Option<ElementType> {
    ElementType::ALL.into_iter().find(|element| element.numpy_code().as_bytes() == code)
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
