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

/// The number whose bits are the last ones of `bits`, of an integer.
pub fn whole(bits: u64, element: ElementType) -> i128 {
    let above = 64 - element.bits();
    match element.kind() {
        NumberKind::Signed => ((bits << above) as i64 >> above).into(),
        _ => (bits << above >> above).into(),
    }
}

/// As [`whole`], of any type; rounded, if need be.
pub fn real(bits: u64, element: ElementType) -> f64 {
    match (element.kind(), element.bits()) {
        (NumberKind::Float, 32) => f32::from_bits(bits as u32).into(),
        (NumberKind::Float, _) => f64::from_bits(bits),
        _ => whole(bits, element) as f64,
    }
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
        let all = u64::MAX;
        assert_eq!((whole(all, ElementType::U32), whole(all, ElementType::I32)), (u32::MAX.into(), -1));
        assert_eq!(
            (whole(all, ElementType::U64), whole(1 << 63, ElementType::I64)),
            (all.into(), i64::MIN.into())
        );
        assert_eq!(real((-1.5f32).to_bits().into(), ElementType::F32), -1.5);
        assert_eq!(real((-1e300f64).to_bits(), ElementType::F64), -1e300);
        assert_eq!(real(7 << 32 | 5, ElementType::U32), 5.0);
    }
}
