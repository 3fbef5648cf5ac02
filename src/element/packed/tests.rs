use super::*;

#[test]
fn half_floats_are_those_of_ieee_754() {
    for (bits, value) in [
        (0x3c00, 1.0),
        (0xc000, -2.0),
        (0x7bff, 65504.0),
        (0x0400, 2f32.powi(-14)),
        (0x0001, 2f32.powi(-24)),
        (0x03ff, 1023.0 * 2f32.powi(-24)),
        (0x7c00, f32::INFINITY),
        (0x8000, -0.0),
    ] {
        assert_eq!(F16(bits).to_f32().to_bits(), f32::to_bits(value), "{bits:#x}");
        assert_eq!(F16::from_f32(value), F16(bits), "{value}");
    }
    // Ties go to the even one, and beyond the greatest number to infinity.
    for (value, bits) in [
        (1.0 + 2f32.powi(-11), 0x3c00),
        (1.0 + 3.0 * 2f32.powi(-11), 0x3c02),
        (65519.0, 0x7bff),
        (65520.0, 0x7c00),
        (2f32.powi(-25), 0x0000),
        (3.0 * 2f32.powi(-25), 0x0002),
        (-f32::MAX, 0xfc00),
    ] {
        assert_eq!(F16::from_f32(value), F16(bits), "{value}");
    }
}

#[test]
fn brain_floats_are_the_high_half() {
    assert_eq!(Bf16(0x3f80).to_f32(), 1.0);
    for (value, bits) in
        [(1.0 + 2f32.powi(-8), 0x3f80), (1.0 + 3.0 * 2f32.powi(-8), 0x3f82), (f32::MAX, 0x7f80)]
    {
        assert_eq!(Bf16::from_f32(value), Bf16(bits), "{value}");
    }
    let low_nan = f32::from_bits(0x7f80_0001);
    assert!(Bf16::from_f32(low_nan).to_f32().is_nan());
    assert!(F16::from_f32(low_nan).to_f32().is_nan());
}

#[test]
fn every_16_bits_come_back() {
    for bits in 0..=u16::MAX {
        assert_eq!(F16::from_f32(F16(bits).to_f32()), F16(bits));
        assert_eq!(Bf16::from_f32(Bf16(bits).to_f32()), Bf16(bits));
    }
}

#[test]
fn packed_numbers_are_unpacked_by_value() {
    let words = |element: ElementType, bytes: &[u8]| element.unpacked_words(bytes).collect::<Vec<_>>();
    assert_eq!(words(ElementType::U8, &[1, 255]), [1, 255]);
    assert_eq!(words(ElementType::I8, &[1, 255]), [1, u32::MAX]);
    assert_eq!(words(ElementType::I16, &[0, 0x80]), [-32768i32 as u32]);
    assert_eq!(words(ElementType::F16, &[0, 0x3c]), [1f32.to_bits()]);
    assert_eq!(words(ElementType::Bf16, &[0x80, 0x3f]), [1f32.to_bits()]);
    assert_eq!(words(ElementType::U64, &[1, 0, 0, 0, 2, 0, 0, 0]), [1, 2]);
}
