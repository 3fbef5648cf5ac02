use super::*;

#[test]
fn orders_compare_as_keys_do() {
    let floats = [-f64::NAN, f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-300, 1.0, f64::INFINITY, f64::NAN];
    let order = KeyOrder::new(ElementType::F64, false, 0..64);
    assert!(floats.map(|value| order.of(value.to_bits())).is_sorted_by(|a, b| a < b));
    let order = KeyOrder::new(ElementType::F64, true, 0..64);
    assert!(floats.map(|value| order.of(value.to_bits())).is_sorted_by(|a, b| a > b));
    let order = KeyOrder::new(ElementType::I32, false, 0..32);
    assert!([i32::MIN, -1, 0, i32::MAX].map(|value| order.of(value as u32)).is_sorted_by(|a, b| a < b));
    let order = KeyOrder::new(ElementType::U32, false, 8..16);
    assert_eq!([0xab_12cd_u32, 0xff].map(|key| order.of(key)), [0x12, 0]);
    let order = KeyOrder::new(ElementType::U32, true, 0..0);
    assert_eq!([1u32, 2].map(|key| order.of(key)), [0, 0]);
}
