//! A key of several fields, and its parts of 64 bits.

use crate::error::{Result, in_range, refuse_if};
use crate::primitives::{ElementType, FloatOrder};

/// Direction of a sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The least first.
    Ascending,
    /// The greatest first.
    Descending,
}

/// A field of a structure, by which it is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Field {
    element: ElementType,
    offset: u32,
    direction: Direction,
    order: FloatOrder,
}

impl Field {
    /// The number of a type at `offset` bytes from the beginning of a structure: a multiple of its size, and for 64 bits of 4.
    pub const fn new(element: ElementType, offset: u32) -> Self {
        Self { element, offset, direction: Direction::Ascending, order: FloatOrder::Total }
    }

    setters! {
        /// Sets the direction; by default [`Direction::Ascending`].
        direction(direction: Direction) => direction = direction;
        /// Descending order; still stable.
        descending() => direction = Direction::Descending;
        /// Sets the order of floats; by default [`FloatOrder::Total`].
        order(order: FloatOrder) => order = order;
    }

    /// Its type.
    pub const fn element_type(&self) -> ElementType {
        self.element
    }

    /// Its offset in a structure, bytes.
    pub const fn offset(&self) -> u32 {
        self.offset
    }

    /// Its direction.
    pub const fn sort_direction(&self) -> Direction {
        self.direction
    }

    /// Its order, if it is a float.
    pub const fn float_order(&self) -> FloatOrder {
        self.order
    }

    /// The constant of `glsl/sort/field_keys.comp`.
    fn constant(&self) -> u32 {
        let is_descending = self.direction == Direction::Descending;
        self.element.bits()
            | self.element.key_numbers(self.order) << 7
            | u32::from(is_descending) << 10
            | self.offset << 12
    }

    fn check(&self, structure_size: u32) -> Result<()> {
        let size = self.element.size() as u32;
        let reason =
            "a field is at a multiple of its size, and one of 64 bits of 4; align it, numpy by align=True";
        refuse_if(!self.offset.is_multiple_of(size.min(4)), reason)?;
        in_range("the last byte of a field", self.offset.saturating_add(size), 1..=structure_size)
    }
}

impl From<(ElementType, u32, Direction)> for Field {
    fn from((element, offset, direction): (ElementType, u32, Direction)) -> Self {
        Self::new(element, offset).direction(direction)
    }
}

/// A key of 1 to 8 fields, together up to 16 bytes: structures are sorted by the first, those equal in it by the second, and so
/// on.
///
/// ```
/// use subsweep::ElementType::{F32, I64, U32, U64};
/// use subsweep::FloatOrder;
/// use subsweep::sort::{Direction::*, Field, Key};
///
/// let _by_cell_then_furthest = Key::fields([(U32, 0, Ascending), (F32, 4, Descending)]);
/// let _as_numpy = Key::fields([Field::new(F32, 0).order(FloatOrder::Numpy), Field::new(U32, 8)]);
/// // An i128: its high half is the first field.
/// let _of_128_bits = Key::fields([(I64, 8, Ascending), (U64, 0, Ascending)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    fields: [Field; Self::MAX_FIELDS],
    count: u32,
}

impl Key {
    /// Maximum number of fields.
    pub const MAX_FIELDS: usize = 8;
    /// Maximum size of all fields together, bytes.
    pub const MAX_SIZE: u32 = 16;
    /// Bits of a part.
    const PART_BITS: u32 = 64;

    /// A key of these fields, the most significant first. Their number is checked where a plan is made.
    pub fn fields<F: Into<Field>>(fields: impl IntoIterator<Item = F>) -> Self {
        let mut key = Self { fields: [Field::new(ElementType::U32, 0); _], count: 0 };
        for field in fields {
            if let Some(place) = key.fields.get_mut(key.count as usize) {
                *place = field.into();
            }
            key.count = key.count.saturating_add(1);
        }
        key
    }

    /// Its fields, the most significant first.
    pub fn as_fields(&self) -> &[Field] {
        &self.fields[..(self.count as usize).min(Self::MAX_FIELDS)]
    }

    /// Bits of all fields.
    pub fn bits(&self) -> u32 {
        self.as_fields().iter().map(|field| field.element.bits()).sum()
    }

    pub(super) fn check(&self, structure_size: u32) -> Result<()> {
        in_range("fields of a key", self.count, 1..=Self::MAX_FIELDS as u32)?;
        in_range("bytes of a key, of all fields together", self.bits() / 8, 1..=Self::MAX_SIZE)?;
        self.as_fields().iter().try_for_each(|field| field.check(structure_size))
    }

    /// The parts, the least significant first.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part> + '_ {
        let first_bits = (0..self.bits()).step_by(Self::PART_BITS as usize);
        first_bits.map(|first_bit| Part::new(self.as_fields(), first_bit, Self::PART_BITS))
    }
}

/// Consecutive bits of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Constants of the fields that have them, from the least significant on.
    fields: [u32; Key::MAX_FIELDS],
    /// Low bits of the first of these that are in another part.
    skipped_bits: u32,
    /// Number of the bits.
    pub bits: u32,
}

impl Part {
    /// Up to `max_bits` bits of the fields, from `first_bit` on.
    fn new(fields: &[Field], first_bit: u32, max_bits: u32) -> Self {
        let mut part = Self { fields: [0; _], skipped_bits: 0, bits: 0 };
        let (mut begin, mut next) = (0, 0);
        for field in fields.iter().rev() {
            let end = begin + field.element.bits();
            if end > first_bit && begin < first_bit + max_bits {
                if next == 0 {
                    part.skipped_bits = first_bit - begin;
                }
                part.fields[next] = field.constant();
                next += 1;
                part.bits = end.min(first_bit + max_bits) - first_bit;
            }
            begin = end;
        }
        part
    }

    /// The unsigned type that holds it.
    pub(super) const fn element(&self) -> ElementType {
        if self.bits <= 32 { ElementType::U32 } else { ElementType::U64 }
    }

    /// The specialization of `glsl/sort/field_keys.comp`, but for the shape of its tiles.
    pub(super) fn constants(&self) -> [(&'static str, u32); Key::MAX_FIELDS + 1] {
        let [a, b, c, d, e, f, g, h] = self.fields;
        [
            ("SKIPPED_BITS", self.skipped_bits),
            ("FIELD_0", a),
            ("FIELD_1", b),
            ("FIELD_2", c),
            ("FIELD_3", d),
            ("FIELD_4", e),
            ("FIELD_5", f),
            ("FIELD_6", g),
            ("FIELD_7", h),
        ]
    }
}

#[cfg(test)]
mod tests;
