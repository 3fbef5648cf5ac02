//! The order of keys on the host, as `glsl/common/key.glsl` has it on the device.

use bytemuck::Pod;

use crate::sort::SortConfig;
use crate::{ElementType, FloatOrder, NumberKind};

/// The bits of a key, as an unsigned number.
pub(crate) trait KeyBits: Pod + Send + Sync {
    fn bits(self) -> u64;
}

macro_rules! key_bits {
    ($($key:ident),+) => {
        $(
            impl KeyBits for $key {
                fn bits(self) -> u64 {
                    self.into()
                }
            }
        )+
    };
}

key_bits!(u8, u16, u32, u64);

/// The order of keys: an unsigned number that compares as the key does, in the bits that are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyOrder {
    /// All bits of a key, and its highest bit.
    all: u64,
    sign: u64,
    /// What a key that is not negative, and one that is, is changed by.
    flips: [u64; 2],
    /// In numpy's order of floats, the bits of infinity.
    infinity: Option<u64>,
    begin: u32,
    mask: u64,
}

impl KeyOrder {
    pub(crate) fn new(config: &SortConfig) -> Self {
        let (element, bits) = (config.key_type(), config.bit_range());
        let all = u64::MAX >> (64 - element.bits());
        let sign = 1 << (element.bits() - 1);
        let flips = match element.kind() {
            NumberKind::Unsigned => [0, 0],
            NumberKind::Signed => [sign, sign],
            NumberKind::Float => [sign, all],
        };
        let flips = if config.is_descending() { flips.map(|flip| flip ^ all) } else { flips };
        let mask = if bits.is_empty() { 0 } else { u64::MAX >> (64 - bits.len()) };
        let is_numpy = element.is_float() && config.float_order() == FloatOrder::Numpy;
        let infinity = match element {
            ElementType::F16 => 0x7c00,
            ElementType::Bf16 => 0x7f80,
            ElementType::F32 => 0x7f80_0000,
            _ => 0x7ff0_0000_0000_0000,
        };
        Self { all, sign, flips, infinity: is_numpy.then_some(infinity), begin: bits.start.min(63), mask }
    }

    #[inline]
    pub(crate) fn rank(&self, key: impl KeyBits) -> u64 {
        let key = match (key.bits(), key.bits() & !self.sign, self.infinity) {
            (_, 0, Some(_)) => 0,
            (_, magnitude, Some(infinity)) if magnitude > infinity => !self.sign,
            (key, ..) => key,
        };
        let flip = self.flips[usize::from(key & self.sign != 0)];
        ((key ^ flip) & self.all) >> self.begin & self.mask
    }
}

#[cfg(test)]
mod tests;
