use super::*;

#[test]
fn the_numbers_of_kinds_are_those_of_kernels() {
    let names = include_str!("../../glsl/operator/names.glsl");
    for kind in [NumberKind::Unsigned, NumberKind::Signed, NumberKind::Float] {
        let line = format!("const uint {} = {};", format!("{kind:?}").to_uppercase(), kind as u32);
        assert!(names.contains(&line), "{line}");
    }
    let numpy = ElementType::F32.key_numbers(FloatOrder::Numpy);
    assert!(names.contains(&format!("const uint NUMPY_FLOAT = {numpy};")));
}

#[test]
fn every_type_has_an_unsigned_one_of_its_size() {
    for element in ElementType::ALL {
        assert_eq!(element.unsigned().bits(), element.bits());
        assert_eq!(element.unsigned().kind(), NumberKind::Unsigned);
    }
}
