//! Element types in `.npy` headers.

use subsweep::{Bf16, ElementType, F16, NumberKind};

/// The types of 32 and 64 bits.
pub const UNPACKED: [ElementType; 6] = [
    ElementType::U32,
    ElementType::I32,
    ElementType::F32,
    ElementType::U64,
    ElementType::I64,
    ElementType::F64,
];

/// Its little-endian `descr`: `<u4`, and of a single byte `|u1`. numpy has no bfloat16, and saves `ml_dtypes.bfloat16` as `<V2`.
pub fn descr(element: ElementType) -> String {
    let order = if element.size() == 1 { '|' } else { '<' };
    let kind = match element.kind() {
        NumberKind::Unsigned => 'u',
        NumberKind::Signed => 'i',
        NumberKind::Float if element == ElementType::Bf16 => 'V',
        NumberKind::Float => 'f',
    };
    format!("{order}{kind}{}", element.size())
}

/// The type of a `descr`, and whether it is big-endian; a single byte has no order.
pub(super) fn from_descr(text: &[u8]) -> Option<(ElementType, bool)> {
    let (order, code) = text.split_first()?;
    let element = ElementType::ALL.into_iter().find(|&element| &descr(element).as_bytes()[1..] == code)?;
    match (order, element.size()) {
        (b'<' | b'|', 1) | (b'<', _) => Some((element, false)),
        (b'>', 2..) if element != ElementType::Bf16 => Some((element, true)),
        _ => None,
    }
}

/// The call of numpy that converts an array of the type `from`, if it is known, to the type `to`.
pub fn conversion(from: Option<ElementType>, to: ElementType) -> String {
    // numpy reads bfloat16 as bytes without a type.
    let view = if from == Some(ElementType::Bf16) { ".view(ml_dtypes.bfloat16)" } else { "" };
    match to {
        ElementType::Bf16 => format!("a{view}.astype(ml_dtypes.bfloat16)"),
        _ => format!("a{view}.astype('{}')", descr(to)),
    }
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
    let bits = bits_of(bytes);
    match element {
        ElementType::F16 => F16(bits as u16).to_f32().into(),
        ElementType::Bf16 => Bf16(bits as u16).to_f32().into(),
        ElementType::F32 => f32::from_bits(bits as u32).into(),
        ElementType::F64 => f64::from_bits(bits),
        _ => whole(bytes, element) as f64,
    }
}

/// The words of a number in kernels, from its bytes in a file: of a type of 8 or 16 bits, the word of the same number of 32 bits.
pub fn words(bytes: &[u8], element: ElementType) -> Vec<u32> {
    match (element.is_packed(), element.kind()) {
        (false, _) => bytemuck::pod_collect_to_vec(bytes),
        (true, NumberKind::Float) => vec![(real(bytes, element) as f32).to_bits()],
        (true, _) => vec![whole(bytes, element) as u32],
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
            assert_eq!(from_descr(descr(element).as_bytes()), Some((element, false)));
        }
        for (text, found) in [
            ("|u1", Some((ElementType::U8, false))),
            ("<i1", Some((ElementType::I8, false))),
            ("<V2", Some((ElementType::Bf16, false))),
            (">f2", Some((ElementType::F16, true))),
            (">u1", None),
            ("|u2", None),
            ("|V2", None),
            (">V2", None),
            ("|b1", None),
            ("u1", None),
            ("", None),
        ] {
            assert_eq!(from_descr(text.as_bytes()), found, "{text}");
        }
    }

    #[test]
    fn conversions_are_calls_of_numpy() {
        use ElementType::{Bf16, F32, U8};
        assert_eq!(conversion(None, U8), "a.astype('|u1')");
        assert_eq!(conversion(Some(F32), Bf16), "a.astype(ml_dtypes.bfloat16)");
        assert_eq!(conversion(Some(Bf16), F32), "a.view(ml_dtypes.bfloat16).astype('<f4')");
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
        assert_eq!((whole(&[255], ElementType::U8), whole(&[255], ElementType::I8)), (255, -1));
        assert_eq!(whole(&[0, 128], ElementType::I16), -32_768);
        assert_eq!((real(&[0, 0x3e], ElementType::F16), real(&[0xc0, 0xbf], ElementType::Bf16)), (1.5, -1.5));
    }

    #[test]
    fn words_of_packed_numbers_are_those_of_32_bits() {
        assert_eq!(words(&[255], ElementType::U8), [255]);
        assert_eq!(words(&[254, 255], ElementType::I16), [u32::MAX - 1]);
        assert_eq!(words(&[0, 0x3e], ElementType::F16), [1.5f32.to_bits()]);
        assert_eq!(words(&[0xc0, 0xbf], ElementType::Bf16), [(-1.5f32).to_bits()]);
        assert_eq!(words(&[1, 0, 0, 0, 2, 0, 0, 0], ElementType::I64), [1, 2]);
    }
}
