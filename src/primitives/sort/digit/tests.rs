use super::*;
use crate::ElementType;

#[test]
fn passes_cover_every_bit_range_in_order() {
    for radix_bits in [2, 4, 8] {
        for begin in 0..=64 {
            for end in begin..=64 {
                let config = SortConfig::keys(ElementType::U64).bits(begin..end);
                let count = config.pass_count(radix_bits);
                let mut next = begin;
                for pass in 0..count {
                    let Digit { shift, mask } = Digit::nth(&config, count, pass);
                    let width = mask.count_ones();
                    assert!(shift < 64 && width <= radix_bits, "{begin}..{end}: {shift}, {mask:#x}");
                    assert_eq!(shift, next, "{begin}..{end}: {mask:#x}");
                    next += width;
                }
                assert!(count == 0 || next == end);
            }
        }
    }
}
