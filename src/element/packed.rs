//! Floats of 16 bits on the host, and the words of packed numbers.

use super::ElementType;

/// IEEE 754's binary16, as its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(transparent)]
pub struct F16(pub u16);

/// A brain float, bfloat16: the high half of an f32, as its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(transparent)]
pub struct Bf16(pub u16);

impl F16 {
    /// The number next to `value`, of two the even one.
    pub fn from_f32(value: f32) -> Self {
        let magnitude = value.abs();
        let bits = magnitude.to_bits();
        let magnitude = if magnitude.is_nan() {
            // Without the bits of the mantissa that it has not.
            0x7c00 | (bits >> 13 & 0x3ff).max(1)
        } else if magnitude < f32::powi(2.0, -14) {
            // In units of 2^-24, which are f32 that are exact; the sum rounds to a whole number.
            let units = magnitude * f32::powi(2.0, 24);
            (units + f32::powi(2.0, 23)).to_bits() & 0x7f_ffff
        } else {
            let rounded = bits - (112 << 23) + 0xfff + (bits >> 13 & 1);
            (rounded >> 13).min(0x7c00)
        };
        Self((value.to_bits() >> 16 & 0x8000 | magnitude) as u16)
    }

    /// The number next to `value`, of two the even one: rounded once.
    pub fn from_f64(value: f64) -> Self {
        Self::from_f32(odd(value))
    }

    /// The same number, and of a NaN the same bits of its mantissa.
    pub fn to_f32(self) -> f32 {
        let bits = u32::from(self.0);
        let (exponent, mantissa) = (bits >> 10 & 31, bits & 0x3ff);
        let magnitude = match exponent {
            0 => (mantissa as f32 * f32::powi(2.0, -24)).to_bits(),
            31 => 0x7f80_0000 | mantissa << 13,
            _ => (exponent + 112) << 23 | mantissa << 13,
        };
        f32::from_bits((bits & 0x8000) << 16 | magnitude)
    }
}

impl Bf16 {
    /// The number next to `value`, of two the even one.
    pub fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        Self(match value.is_nan() {
            // A NaN whose mantissa is in the low half alone would be an infinity.
            true => (bits >> 16 | u32::from(bits & 0x7f_0000 == 0)) as u16,
            false => ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16,
        })
    }

    /// The number next to `value`, of two the even one: rounded once.
    pub fn from_f64(value: f64) -> Self {
        Self::from_f32(odd(value))
    }

    /// The same number.
    pub const fn to_f32(self) -> f32 {
        f32::from_bits((self.0 as u32) << 16)
    }
}

/// The f32 that a type of fewer bits is rounded from as from `value`: where that is between two, the odd one.
fn odd(value: f64) -> f32 {
    let nearest = value as f32;
    let towards_zero = match f64::from(nearest).abs() > value.abs() {
        true => f32::from_bits(nearest.to_bits() - 1),
        false => nearest,
    };
    f32::from_bits(towards_zero.to_bits() | u32::from(f64::from(towards_zero) != value))
}

impl ElementType {
    /// The word of the [unpacked](Self::unpacked) number that equals the packed one with these bits.
    pub(crate) fn unpack(self, bits: u16) -> u32 {
        match self {
            Self::I8 => i32::from(bits as i8) as u32,
            Self::I16 => i32::from(bits as i16) as u32,
            Self::F16 => F16(bits).to_f32().to_bits(),
            Self::Bf16 => Bf16(bits).to_f32().to_bits(),
            _ => bits.into(),
        }
    }

    /// Numbers in memory as words of [unpacked](Self::unpacked) ones.
    pub(crate) fn unpacked_words(self, numbers: &[u8]) -> impl Iterator<Item = u32> + '_ {
        let size = self.size().min(4);
        numbers.chunks_exact(size).map(move |bytes| {
            let mut word = [0; 4];
            word[..size].copy_from_slice(bytes);
            let word = u32::from_le_bytes(word);
            if self.is_packed() { self.unpack(word as u16) } else { word }
        })
    }
}

#[cfg(test)]
mod tests;
