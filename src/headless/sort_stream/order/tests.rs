use super::*;
use crate::ElementType;

#[test]
fn orders_compare_as_keys_do() {
    let floats = [-f64::NAN, f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-300, 1.0, f64::INFINITY, f64::NAN];
    let order = KeyOrder::new(&SortConfig::keys(ElementType::F64));
    assert!(floats.map(|value| order.rank(value.to_bits())).is_sorted_by(|a, b| a < b));
    let order = KeyOrder::new(&SortConfig::keys(ElementType::F64).descending());
    assert!(floats.map(|value| order.rank(value.to_bits())).is_sorted_by(|a, b| a > b));
    for config in [SortConfig::keys(ElementType::F32), SortConfig::keys(ElementType::F32).descending()] {
        let order = KeyOrder::new(&config.order(FloatOrder::Numpy));
        let equal = |a: f32, b: f32| order.rank(a.to_bits()) == order.rank(b.to_bits());
        assert!(equal(-0.0, 0.0) && equal(-f32::NAN, f32::NAN) && !equal(f32::INFINITY, f32::NAN));
        let ordered = [f32::NEG_INFINITY, -1e-45, 0.0, 1e-45, f32::INFINITY, -f32::NAN];
        let orders = ordered.map(|value| order.rank(value.to_bits()));
        assert!(orders.is_sorted_by(|a, b| (a < b) != config.is_descending()));
    }
    let order = KeyOrder::new(&SortConfig::keys(ElementType::I32));
    assert!([i32::MIN, -1, 0, i32::MAX].map(|value| order.rank(value as u32)).is_sorted_by(|a, b| a < b));
    let order = KeyOrder::new(&SortConfig::keys(ElementType::U32).bits(8..16));
    assert_eq!([0xab_12cd_u32, 0xff].map(|key| order.rank(key)), [0x12, 0]);
    let order = KeyOrder::new(&SortConfig::keys(ElementType::U32).descending().bits(0..0));
    assert_eq!([1u32, 2].map(|key| order.rank(key)), [0, 0]);
}
