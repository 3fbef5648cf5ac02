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

/// The number of an element of an integer type, from its bytes in a file.
pub fn whole(bytes: &[u8], element: ElementType) -> i128 {
    let (bits, above) = (bits_of(bytes), 64 - element.bits());
    match element.kind() {
        NumberKind::Signed => ((bits << above) as i64 >> above).into(),
        _ => bits.into(),
    }
}

/// As [`whole`], of any type; rounded, if need be.
pub fn real(bytes: &[u8], element: ElementType) -> f64 {
    match (element.kind(), element.bits()) {
        (NumberKind::Float, 32) => f32::from_bits(bits_of(bytes) as u32).into(),
        (NumberKind::Float, _) => f64::from_bits(bits_of(bytes)),
        _ => whole(bytes, element) as f64,
    }
}

fn bits_of(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
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

    #[test]
    fn numbers_are_of_their_type() {
        let (all, least) = (u64::MAX.to_le_bytes(), i64::MIN.to_le_bytes());
        assert_eq!(whole(&all[..4], ElementType::U32), u32::MAX.into());
        assert_eq!(whole(&all[..4], ElementType::I32), -1);
        assert_eq!(whole(&all, ElementType::U64), u64::MAX.into());
        assert_eq!(whole(&least, ElementType::I64), i64::MIN.into());
        assert_eq!(real(&(-1.5f32).to_le_bytes(), ElementType::F32), -1.5);
        assert_eq!(real(&(-1e300f64).to_le_bytes(), ElementType::F64), -1e300);
        assert_eq!(real(&5u32.to_le_bytes(), ElementType::U32), 5.0);
    }
}
