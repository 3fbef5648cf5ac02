//! Elements of 8 and 16 bits: each as the word of an unpacked number, and packed in memory. Independent of the library's
//! conversions: the crate `half` converts finite floats.

use half::{bf16, f16};
use subsweep::{ElementType, NumberKind};

/// The word of the u32, i32 or f32 that equals the element with these bits; of a NaN the bits of its mantissa.
pub fn unpacked(element: ElementType, bits: u16) -> u32 {
    let sign = u32::from(bits >> 15) << 31;
    match element {
        ElementType::I8 => i32::from(bits as i8) as u32,
        ElementType::I16 => i32::from(bits as i16) as u32,
        ElementType::F16 if f16::from_bits(bits).is_nan() => {
            sign | 0x7f80_0000 | u32::from(bits & 0x3ff) << 13
        }
        ElementType::F16 => f16::from_bits(bits).to_f32().to_bits(),
        ElementType::Bf16 => u32::from(bits) << 16,
        ElementType::U8 => u32::from(bits & 0xff),
        _ => bits.into(),
    }
}

/// The bits of the element that is next to the number of a word. A whole number beyond the type is the least or the greatest if
/// it `saturates`, else modulo 2^8 or 2^16.
pub fn packed(element: ElementType, saturates: bool, word: u32) -> u16 {
    let float = f32::from_bits(word);
    let sign = (word >> 31 << 15) as u16;
    match element {
        ElementType::U8 if saturates => word.min(0xff) as u16,
        ElementType::U16 if saturates => word.min(0xffff) as u16,
        ElementType::I8 if saturates => u16::from((word as i32).clamp(-128, 127) as i8 as u8),
        ElementType::I16 if saturates => (word as i32).clamp(-0x8000, 0x7fff) as i16 as u16,
        ElementType::U8 | ElementType::I8 => word as u16 & 0xff,
        ElementType::F16 if float.is_nan() => sign | 0x7c00 | ((word >> 13) as u16 & 0x3ff).max(1),
        ElementType::F16 => f16::from_f32(float).to_bits(),
        ElementType::Bf16 if float.is_nan() => (word >> 16) as u16 | u16::from(word & 0x7f_0000 == 0),
        ElementType::Bf16 => bf16::from_f32(float).to_bits(),
        _ => word as u16,
    }
}

/// The number of values of the type that precede the element with these bits, of equal ones the last; of floats in the order of
/// `total_cmp`, or in numpy's order.
pub fn rank(element: ElementType, is_numpy: bool, bits: u16) -> u32 {
    let (bits, half) = (u32::from(bits), 1 << (element.bits() - 1));
    match element.kind() {
        NumberKind::Unsigned => bits,
        NumberKind::Signed => bits ^ half,
        NumberKind::Float => {
            let (float, magnitude) = (f32::from_bits(unpacked(element, bits as u16)), bits % half);
            match is_numpy {
                true if float.is_nan() => half - 1 + half,
                true if float == 0.0 => half,
                _ if bits >= half => half - 1 - magnitude,
                _ => half + magnitude,
            }
        }
    }
}

/// The words of memory that hold the elements of `words`; the bytes after the last are the bytes of `beyond`.
pub fn packed_memory(element: ElementType, saturates: bool, words: &[u32], beyond: u32) -> Vec<u32> {
    let size = element.size();
    let mut memory = vec![beyond; (words.len() * size).div_ceil(4)];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut memory);
    for (bytes, &word) in bytes.chunks_exact_mut(size).zip(words) {
        bytes.copy_from_slice(&packed(element, saturates, word).to_le_bytes()[..size]);
    }
    memory
}

/// The unpacked words of the first `count` elements in words of memory.
pub fn unpacked_memory(element: ElementType, memory: &[u32], count: usize) -> Vec<u32> {
    let bytes: &[u8] = bytemuck::cast_slice(memory);
    let word = |bytes: &[u8]| {
        unpacked(element, bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u16::from(byte)))
    };
    bytes.chunks_exact(element.size()).take(count).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use subsweep::{Bf16, F16};

    #[test]
    fn every_float_is_unpacked_and_packed() {
        for bits in 0..=u16::MAX {
            assert_eq!(F16(bits).to_f32().to_bits(), unpacked(ElementType::F16, bits), "{bits:#x}");
            assert_eq!(Bf16(bits).to_f32().to_bits(), unpacked(ElementType::Bf16, bits), "{bits:#x}");
            for element in [ElementType::F16, ElementType::Bf16, ElementType::I16, ElementType::U16] {
                assert_eq!(packed(element, false, unpacked(element, bits)), bits, "{element} {bits:#x}");
            }
        }
    }

    #[test]
    fn floats_are_rounded_to_the_nearest_even() {
        // Every exponent, with the mantissas around each tie, of either sign.
        for high in 0..=0xffffu32 {
            for low in [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x0fff, 0x1000, 0x1001] {
                let (word, float) = (high << 16 | low, f32::from_bits(high << 16 | low));
                assert_eq!(F16::from_f32(float).0, packed(ElementType::F16, false, word), "{word:#x}");
                assert_eq!(Bf16::from_f32(float).0, packed(ElementType::Bf16, false, word), "{word:#x}");
            }
        }
    }

    #[test]
    fn memory_holds_several_elements_a_word() {
        let memory = packed_memory(ElementType::I8, false, &[1, -1i32 as u32, 0x1_02, 3, 4], 0x7777_7777);
        assert_eq!(memory, [0x0302_ff01, 0x7777_7704]);
        assert_eq!(unpacked_memory(ElementType::I8, &memory, 3), [1, -1i32 as u32, 2]);
        assert_eq!(packed_memory(ElementType::U16, true, &[70_000], 0), [0xffff]);
    }
}
