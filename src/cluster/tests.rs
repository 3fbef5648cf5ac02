use super::*;

#[test]
fn shares_are_all_elements_once() {
    for count in [0, 1, 2, 7, 1000, u64::MAX] {
        for size in [1, 2, 3, 7, 1024] {
            let shares: Vec<_> = (0..size).map(|rank| share(count, rank, size)).collect();
            assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert_eq!((shares[0].start, shares[shares.len() - 1].end), (0, count));
            let lengths = shares.iter().map(|share| share.end - share.start);
            assert!(lengths.clone().max().unwrap() - lengths.min().unwrap() <= 1);
        }
    }
}
