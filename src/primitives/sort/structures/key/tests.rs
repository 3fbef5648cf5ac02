use super::*;
use ElementType::{F32, F64, I8, I64, U16, U32, U64};

fn parts(fields: &[(ElementType, u32)]) -> Vec<Part> {
    Key::fields(fields.iter().map(|&(element, offset)| Field::new(element, offset))).parts().collect()
}

/// Bits of each part, skipped bits, and the offsets of its fields.
fn shapes(fields: &[(ElementType, u32)]) -> Vec<(u32, u32, Vec<u32>)> {
    let offsets =
        |part: &Part| part.fields.iter().filter(|&&field| field != 0).map(|field| field >> 12).collect();
    parts(fields).iter().map(|part| (part.bits, part.skipped_bits, offsets(part))).collect()
}

#[test]
fn parts_begin_with_the_last_field_and_may_share_one() {
    assert_eq!(shapes(&[(U32, 4)]), [(32, 0, vec![4])]);
    assert_eq!(shapes(&[(I8, 0), (U32, 4)]), [(40, 0, vec![4, 0])]);
    assert_eq!(shapes(&[(I64, 8), (U64, 0)]), [(64, 0, vec![0]), (64, 0, vec![8])]);
    // The 64 bits in the middle are in both.
    assert_eq!(shapes(&[(U32, 0), (F64, 4), (U32, 12)]), [(64, 0, vec![12, 4]), (64, 32, vec![4, 0])]);
    assert_eq!(shapes(&[(U16, 0), (F64, 8), (I8, 2)]), [(64, 0, vec![2, 8]), (24, 56, vec![8, 0])]);
    assert_eq!(parts(&[(I8, 0), (F32, 4)])[0].element(), U64);
    assert_eq!(parts(&[(U16, 0), (U16, 2)])[0].element(), U32);
}

#[test]
fn a_constant_has_everything_of_a_field() {
    let brain = Field::new(ElementType::Bf16, 6).order(FloatOrder::Numpy).descending();
    assert_eq!(brain.constant(), 16 | 4 << 7 | 1 << 10 | 6 << 12);
    assert_eq!(Field::new(I64, (1 << 20) - 8).constant(), 64 | 1 << 7 | 0xf_fff8 << 12);
    let same = Key::fields([Field::new(F32, 0).descending()]);
    assert_eq!(same, Key::fields([(F32, 0, Direction::Descending)]));
}

#[test]
fn keys_that_are_too_long_or_outside_of_the_structure_are_refused() {
    let refused = |key: Key| key.check(32).unwrap_err().to_string();
    let of = |fields: &[(ElementType, u32)]| {
        Key::fields(fields.iter().map(|&(element, offset)| Field::new(element, offset)))
    };
    assert_eq!(refused(of(&[])), "fields of a key: 0 given, 1 to 8 supported");
    assert_eq!(refused(of(&[(I8, 0); 9])), "fields of a key: 9 given, 1 to 8 supported");
    let long = "bytes of a key, of all fields together: 20 given, 1 to 16 supported";
    assert_eq!(refused(of(&[(U64, 0), (U64, 8), (U32, 16)])), long);
    assert_eq!(refused(of(&[(U64, 28)])), "the last byte of a field: 36 given, 1 to 32 supported");
    for outside in [(I8, 32), (U16, u32::MAX - 1)] {
        assert!(refused(of(&[outside])).starts_with("the last byte of a field"), "{outside:?}");
    }
    for misaligned in [(U16, 1), (U32, 2), (F64, 10)] {
        assert!(refused(of(&[misaligned])).contains("align=True"), "{misaligned:?}");
    }
    for taken in [(U64, 4), (I8, 31), (U16, 30)] {
        assert_eq!(of(&[taken]).check(32), Ok(()));
    }
}
