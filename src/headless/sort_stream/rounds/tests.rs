use super::*;
use crate::ElementType;
use crate::sort::SortConfig;

#[test]
fn blocks_fit_the_memory() {
    for memory_size in [0, 1, 1 << 20, 14 << 20, 1 << 30, 1 << 50] {
        for sizes in [[4, 0], [8, 8]] {
            let order = KeyOrder::new(&SortConfig::keys(ElementType::U32));
            let merging = Merging { on_device: None, order, sizes, memory_size, is_narrowed: false };
            for core_count in [1, 2, 96] {
                let (max_count, threads) = merging.blocks(core_count);
                let size = max_count * threads as u64 * BLOCK_COPIES * (sizes[0] + sizes[1]);
                assert!(size <= memory_size && max_count <= MAX_BLOCK);
                assert!((1..=core_count).contains(&threads) && (threads == 1 || max_count >= MIN_BLOCK));
            }
        }
    }
}

#[test]
fn rounds_are_as_few_as_the_fan_in_allows() {
    assert_eq!([1, 64, 65, 4_096, 4_097].map(round_count), [1, 1, 2, 2, 3]);
}
