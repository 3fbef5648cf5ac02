use super::*;
use crate::device::Capabilities;

#[test]
fn passes_are_as_many_as_the_bits_need() {
    let keys = SortConfig::keys(ElementType::U32);
    let counts = [2, 4, 8].map(|radix_bits| keys.pass_count(radix_bits));
    assert_eq!(counts, [16, 8, 4]);
    assert_eq!([keys.bits(3..12).pass_count(4), keys.bits(5..5).pass_count(8)], [3, 0]);
    assert_eq!(SortConfig::argsort(ElementType::F64).bits(5..5).pass_count(8), 1);
}

#[test]
fn equal_keys_cannot_be_told_apart_where_nothing_else_is_sorted() {
    let keys = SortConfig::keys(ElementType::F64);
    assert!(keys.sorts_whole_keys_alone() && keys.descending().double_buffer().sorts_whole_keys_alone());
    assert!(SortConfig::keys(ElementType::I64).order(FloatOrder::Numpy).sorts_whole_keys_alone());
    let pairs = SortConfig::pairs(ElementType::F64, ValueSize::B4);
    let numpy = keys.order(FloatOrder::Numpy);
    for config in [keys.bits(0..63), keys.bits(1..64), pairs, numpy, SortConfig::argsort(ElementType::F64)] {
        assert!(!config.sorts_whole_keys_alone(), "{config:?}");
    }
}

#[test]
fn large_counts_are_set_where_required_and_supported() {
    let capabilities = Capabilities::default();
    let is_large = |config: SortConfig, count| config.large_counts_for(count).has_large_counts;
    let keys = SortConfig::keys(ElementType::U32);
    assert_eq!([u32::MAX.into(), 1 << 32].map(|count| is_large(keys, count)), [false, true]);
    assert!(!is_large(SortConfig::argsort(ElementType::U32), 1 << 32));
    for algorithm in SortAlgorithm::ALL {
        let tuned = keys.policy(SortPolicy::tuned(algorithm, &capabilities, &keys));
        assert_eq!(is_large(tuned, 1 << 32), algorithm == SortAlgorithm::Onesweep, "{algorithm:?}");
    }
    assert!(is_large(keys.large_counts(), 5));
}
