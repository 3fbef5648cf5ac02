//! Two tables of different types in their common one, as numpy promotes them.

use subsweep::{Bf16, F16, NumberKind};

use super::element::{real, whole};
use super::{ElementType, Table, TableError};

/// The type in which numpy compares elements of two types, `numpy.promote_types`; bfloat16 has none with others of 16 bits and with
/// wider whole numbers. Of 64 bits, u64 and i64 are compared as f64, which rounds them.
pub fn promoted(a: ElementType, b: ElementType) -> Option<ElementType> {
    let kind = match (a.kind(), b.kind()) {
        (NumberKind::Float, _) | (_, NumberKind::Float) => NumberKind::Float,
        (NumberKind::Signed, _) | (_, NumberKind::Signed) => NumberKind::Signed,
        _ => NumberKind::Unsigned,
    };
    // Bits of the kind that hold a type: a significand has fewer than its float.
    let bits = |element: ElementType| match (kind, element.kind()) {
        (NumberKind::Float, NumberKind::Unsigned | NumberKind::Signed) => 64.min(2 * element.bits()),
        (NumberKind::Signed, NumberKind::Unsigned) => 2 * element.bits(),
        _ => element.bits(),
    };
    let bits = bits(a).max(bits(b));
    let is_brain = |element| element == ElementType::Bf16;
    match (kind, bits) {
        // Whole numbers beyond any of i64.
        (NumberKind::Signed, 128) => Some(ElementType::F64),
        (NumberKind::Float, _) if is_brain(a) != is_brain(b) => {
            let other = if is_brain(a) { b } else { a };
            match (other.kind(), other.bits()) {
                (NumberKind::Float, 32 | 64) => Some(other),
                (NumberKind::Unsigned | NumberKind::Signed, 8) => Some(ElementType::Bf16),
                _ => None,
            }
        }
        _ if a == b => Some(a),
        _ => ElementType::ALL
            .into_iter()
            .find(|element| element.kind() == kind && element.bits() == bits && !is_brain(*element)),
    }
}

impl Table {
    /// The table with its elements converted to another type; rounded, if need be.
    ///
    /// # Errors
    /// [`TableError::Memory`].
    pub fn converted(self, to: ElementType) -> Result<Self, TableError> {
        if to == self.element {
            return Ok(self);
        }
        let from = self.element;
        let size = self.shape.element_count() * to.size();
        let mut payload = Vec::new();
        payload.try_reserve_exact(size).map_err(|_| TableError::Memory { size: size as u64 })?;
        for bytes in self.payload.chunks_exact(from.size()) {
            match to {
                ElementType::F16 => payload.extend(F16::from_f64(real(bytes, from)).0.to_le_bytes()),
                ElementType::Bf16 => payload.extend(Bf16::from_f64(real(bytes, from)).0.to_le_bytes()),
                ElementType::F32 => payload.extend((real(bytes, from) as f32).to_le_bytes()),
                ElementType::F64 => payload.extend(real(bytes, from).to_le_bytes()),
                _ => payload.extend(&whole(bytes, from).to_le_bytes()[..to.size()]),
            }
        }
        Ok(Self { element: to, payload, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Format, TableShape};

    /// `numpy.promote_types` of every pair, by numpy 2.4 and ml_dtypes.
    #[test]
    fn types_are_promoted_as_by_numpy() {
        use ElementType::*;
        const TYPES: [ElementType; 12] = [U8, I8, U16, I16, F16, U32, I32, F32, U64, I64, F64, Bf16];
        #[rustfmt::skip]
        let expected: [&[Option<ElementType>]; 12] = [
            &[U8, I16, U16, I16, F16, U32, I32, F32, U64, I64, F64, Bf16].map(Some),
            &[I16, I8, I32, I16, F16, I64, I32, F32, F64, I64, F64, Bf16].map(Some),
            &[Some(U16), Some(I32), Some(U16), Some(I32), Some(F32), Some(U32), Some(I32), Some(F32), Some(U64), Some(I64), Some(F64), None],
            &[Some(I16), Some(I16), Some(I32), Some(I16), Some(F32), Some(I64), Some(I32), Some(F32), Some(F64), Some(I64), Some(F64), None],
            &[Some(F16), Some(F16), Some(F32), Some(F32), Some(F16), Some(F64), Some(F64), Some(F32), Some(F64), Some(F64), Some(F64), None],
            &[Some(U32), Some(I64), Some(U32), Some(I64), Some(F64), Some(U32), Some(I64), Some(F64), Some(U64), Some(I64), Some(F64), None],
            &[Some(I32), Some(I32), Some(I32), Some(I32), Some(F64), Some(I64), Some(I32), Some(F64), Some(F64), Some(I64), Some(F64), None],
            &[F32, F32, F32, F32, F32, F64, F64, F32, F64, F64, F64, F32].map(Some),
            &[Some(U64), Some(F64), Some(U64), Some(F64), Some(F64), Some(U64), Some(F64), Some(F64), Some(U64), Some(F64), Some(F64), None],
            &[Some(I64), Some(I64), Some(I64), Some(I64), Some(F64), Some(I64), Some(I64), Some(F64), Some(F64), Some(I64), Some(F64), None],
            &[F64; 12].map(Some),
            &[Some(Bf16), Some(Bf16), None, None, None, None, None, Some(F32), None, None, Some(F64), Some(Bf16)],
        ];
        for (a, expected) in TYPES.into_iter().zip(expected) {
            for (b, &expected) in TYPES.into_iter().zip(expected) {
                assert_eq!(promoted(a, b), expected, "{a} and {b}");
            }
        }
    }

    #[test]
    fn elements_are_converted_as_by_numpy() {
        let table = |element, payload: &[u8]| Table {
            format: Format::Raw,
            element,
            shape: TableShape::Flat { count: payload.len() / ElementType::size(element) },
            payload: payload.to_vec(),
        };
        let converted = |element, payload: &[u8], to| table(element, payload).converted(to).unwrap().payload;
        // To the nearest even.
        for (number, expected) in
            [(u64::MAX, 2f64.powi(64)), ((1 << 53) + 1, 2f64.powi(53)), ((1 << 53) + 3, 2f64.powi(53) + 4.0)]
        {
            assert_eq!(
                converted(ElementType::U64, &number.to_le_bytes(), ElementType::F64),
                expected.to_le_bytes()
            );
        }
        assert_eq!(
            converted(ElementType::I8, &[255, 3], ElementType::I64),
            [(-1_i64).to_le_bytes(), 3_i64.to_le_bytes()].concat()
        );
        assert_eq!(converted(ElementType::U8, &[200], ElementType::I16), 200_i16.to_le_bytes());
        assert_eq!(converted(ElementType::U8, &[3], ElementType::F16), [0, 0x42]);
        assert_eq!(converted(ElementType::I8, &[253], ElementType::Bf16), [0x40, 0xc0]);
        assert_eq!(converted(ElementType::F16, &[0, 0x3e], ElementType::F32), 1.5_f32.to_le_bytes());
    }
}
