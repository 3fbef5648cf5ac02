use super::*;

/// Sums rows by segments, on the ranks that have so many.
fn sums_of_ranks(lengths: &[u64], begins: &[u64], is_reverse: bool) -> Vec<u64> {
    let starts: Vec<u64> = (0..lengths.len()).map(|rank| lengths[..rank].iter().sum()).collect();
    let local = |rank: usize| -> Vec<u64> {
        let rows = starts[rank]..starts[rank] + lengths[rank];
        begins.iter().filter(|begin| rows.contains(begin)).map(|begin| begin - rows.start).collect()
    };
    let rows = (0..lengths.len()).map(|rank| RankRows::new(lengths[rank], &local(rank))).collect();
    let ranks = Ranks { rows, is_reverse };
    const INITIAL: u64 = 1000;
    let value = |row: u64| row * row + 1;
    let total = |rank: usize| -> u64 {
        let rows = open_rows(lengths[rank], &local(rank), is_reverse);
        let initial = if ranks.is_closed(rank) { INITIAL } else { 0 };
        initial + rows.map(|row| value(starts[rank] + row)).sum::<u64>()
    };
    let mut result = vec![0; lengths.iter().sum::<u64>() as usize];
    for rank in 0..lengths.len() {
        let carried = ranks.carried(rank);
        assert!(carried.iter().all(|&other| ranks.is_carried(other)));
        let mut sum = if ranks.starts_fresh(rank) { INITIAL } else { carried.into_iter().map(total).sum() };
        let rows = starts[rank]..starts[rank] + lengths[rank];
        let rows: Vec<u64> = if is_reverse { rows.rev().collect() } else { rows.collect() };
        for (index, row) in rows.into_iter().enumerate() {
            // A carry that enters replaces what a begin at the border would.
            let begin = if is_reverse { row + 1 } else { row };
            if begins.contains(&begin) && (index > 0 || !is_reverse) {
                sum = INITIAL;
            }
            sum += value(row);
            result[row as usize] = sum;
        }
    }
    result
}

#[test]
fn carries_join_the_ranks() {
    let splits: [&[u64]; 7] =
        [&[12], &[4, 4, 4], &[0, 12], &[12, 0], &[1, 0, 0, 10, 1], &[5, 0, 7], &[2, 2, 2, 2, 2, 2]];
    for begins in [&[][..], &[0], &[0, 4], &[3, 4, 5], &[11], &[4, 8], &[2, 10], &[1], &[5, 5, 12]] {
        for is_reverse in [false, true] {
            let expected = sums_of_ranks(splits[0], begins, is_reverse);
            for lengths in splits {
                let sums = sums_of_ranks(lengths, begins, is_reverse);
                assert_eq!(sums, expected, "{lengths:?} {begins:?} {is_reverse}");
            }
        }
    }
}
