//! Model of `glsl/sort/field_keys.comp`.

use crate::reference::oracle::Key;
use crate::reference::packed;
use subsweep::sort::{Direction, Field};
use subsweep::{ElementType, FloatOrder};

/// The number of values of the field's type that precede the value of a structure, in the field's direction.
fn rank(field: &Field, structure: &[u8]) -> u64 {
    let bytes = &structure[field.offset() as usize..][..field.element_type().size()];
    let order = field.float_order();
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    let rank = match field.element_type() {
        ElementType::U32 | ElementType::U64 => bits,
        ElementType::I32 => (bits as u32 as i32).rank(order),
        ElementType::F32 => f32::from_bits(bits as u32).rank(order),
        ElementType::I64 => (bits as i64).rank(order),
        ElementType::F64 => f64::from_bits(bits).rank(order),
        packed => packed::rank(packed, order == FloatOrder::Numpy, bits as u16).into(),
    };
    let last = u64::MAX >> (64 - field.element_type().bits());
    if field.sort_direction() == Direction::Descending { last - rank } else { rank }
}

/// `field_keys.comp`: the bits from `first_bit` on of the key of each structure, as many as 64; `fields` are all, the most
/// significant first.
pub fn field_keys<'s>(
    fields: &[Field],
    first_bit: u32,
    structures: impl Iterator<Item = &'s [u8]>,
) -> Vec<u64> {
    let key = |structure: &[u8]| {
        let add = |key: u128, field: &Field| {
            key << field.element_type().bits() | u128::from(rank(field, structure))
        };
        fields.iter().fold(0, add)
    };
    structures.map(|structure| (key(structure) >> first_bit) as u64).collect()
}
