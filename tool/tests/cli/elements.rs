//! Every type of elements: its files, and the numbers of its bits.

use super::*;

/// A type.
pub struct Element {
    pub name: &'static str,
    pub descr: &'static str,
    pub size: usize,
    /// The number of an element's bits.
    pub number: fn(u64) -> f64,
    /// The bits of the number next to an f64, wrapped if it is whole.
    pub bits: fn(f64) -> u64,
}

macro_rules! whole {
    ($name:literal, $descr:literal, $type:ident as $unsigned:ident) => {
        Element {
            name: $name,
            descr: $descr,
            size: size_of::<$type>(),
            number: |bits| bits as $type as f64,
            bits: |number| number as i64 as $unsigned as u64,
        }
    };
}

macro_rules! float {
    ($name:literal, $descr:literal, $type:ty as $unsigned:ident, $from:expr) => {
        Element {
            name: $name,
            descr: $descr,
            size: size_of::<$type>(),
            number: |bits| <$type>::from_bits(bits as $unsigned).into(),
            bits: |number| $from(number).to_bits().into(),
        }
    };
}

/// Of 8 and 16 bits.
pub const PACKED: [Element; 6] = [
    whole!("u8", "|u1", u8 as u8),
    whole!("i8", "|i1", i8 as u8),
    whole!("u16", "<u2", u16 as u16),
    whole!("i16", "<i2", i16 as u16),
    float!("f16", "<f2", half::f16 as u16, half::f16::from_f64),
    float!("bf16", "<V2", half::bf16 as u16, half::bf16::from_f64),
];

/// Of whole words.
pub const WIDE: [Element; 6] = [
    whole!("u32", "<u4", u32 as u32),
    whole!("i32", "<i4", i32 as u32),
    float!("f32", "<f4", f32 as u32, |number: f64| number as f32),
    whole!("u64", "<u8", u64 as u64),
    whole!("i64", "<i8", i64 as u64),
    float!("f64", "<f8", f64 as u64, f64::from),
];

/// All types.
pub fn all() -> impl Iterator<Item = Element> {
    PACKED.into_iter().chain(WIDE)
}

impl Element {
    pub fn is_float(&self) -> bool {
        self.name.contains('f')
    }

    pub fn bytes(&self, elements: &[u64]) -> Vec<u8> {
        elements.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(self.size)).collect()
    }

    pub fn elements(&self, bytes: &[u8]) -> Vec<u64> {
        let element = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
        bytes.chunks_exact(self.size).map(element).collect()
    }

    pub fn npy(&self, elements: &[u64]) -> Vec<u8> {
        npy(self.descr, &format!("({},)", elements.len()), &self.bytes(elements))
    }

    pub fn encode(&self, numbers: &[f64]) -> Vec<u64> {
        numbers.iter().map(|&number| (self.bits)(number)).collect()
    }

    pub fn numbers(&self, elements: &[u64]) -> Vec<f64> {
        elements.iter().map(|&bits| (self.number)(bits)).collect()
    }

    /// Numbers of the type, in their order, for whole ones from 0 to 110: of both signs where it has two. Each byte of a whole
    /// number of up to 32 bits tells it from others, and each word of one of 64.
    pub fn spread(&self, number: u32) -> f64 {
        let number = f64::from(number);
        if self.is_float() {
            return number - 50.5;
        }
        let step = match self.size {
            1 => 1.0,
            2 => f64::from(0x0101),
            4 => f64::from(0x0101_0101),
            _ => 4_294_967_297.0,
        };
        if self.name.starts_with('i') { (number - 50.0) * step } else { number * step }
    }
}
