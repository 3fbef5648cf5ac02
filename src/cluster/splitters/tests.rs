use std::sync::{Arc, Barrier, Mutex};

use super::*;

/// Ranks in threads.
struct Threads {
    rank: usize,
    barrier: Arc<Barrier>,
    all: Arc<Mutex<Vec<Vec<u64>>>>,
}

impl Threads {
    fn exchange(&mut self, own: &[u64], size: usize) -> Vec<u64> {
        self.all.lock().unwrap()[self.rank] = own.to_vec();
        self.barrier.wait();
        let all = self.all.lock().unwrap().clone();
        self.barrier.wait();
        (0..own.len()).map(|i| all[..size].iter().map(|of_rank| of_rank[i]).sum()).collect()
    }
}

impl Counts for Threads {
    fn sum(&mut self, own: &[u64]) -> Vec<u64> {
        let size = self.all.lock().unwrap().len();
        self.exchange(own, size)
    }

    fn sum_before(&mut self, own: &[u64]) -> Vec<u64> {
        self.exchange(own, self.rank)
    }
}

/// Divides the keys of each rank, and checks that every part holds what a stable sort puts there.
fn check(mut keys: Vec<Vec<u64>>, bits: u32) {
    keys.iter_mut().for_each(|keys| keys.sort());
    let counts: Vec<_> = keys.iter().map(|keys| keys.len() as u64).collect();
    let targets: Vec<u64> = (1..keys.len()).map(|rank| counts[..rank].iter().sum()).collect();
    let barrier = Arc::new(Barrier::new(keys.len()));
    let all = Arc::new(Mutex::new(vec![Vec::new(); keys.len()]));
    let divided: Vec<_> = std::thread::scope(|scope| {
        let threads = keys.iter().enumerate().map(|(rank, keys)| {
            let mut threads = Threads { rank, barrier: Arc::clone(&barrier), all: Arc::clone(&all) };
            let targets = &targets;
            scope.spawn(move || {
                let sorted = SortedKeys { count: keys.len(), order: |index: usize| keys[index], bits };
                sorted.divided(targets, &mut threads).0
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut expected: Vec<(u64, usize, usize)> = keys
        .iter()
        .enumerate()
        .flat_map(|(rank, keys)| keys.iter().enumerate().map(move |(index, &key)| (key, rank, index)))
        .collect();
    expected.sort();
    let mut expected = &expected[..];
    for (part, &count) in counts.iter().enumerate() {
        let mut found = Vec::new();
        for (rank, divided) in divided.iter().enumerate() {
            let start = part.checked_sub(1).map_or(0, |before| divided[before]);
            let end = divided.get(part).copied().unwrap_or(keys[rank].len());
            found.extend((start..end).map(|index| (keys[rank][index], rank, index)));
        }
        found.sort();
        let (mine, others) = expected.split_at(count as usize);
        assert_eq!(found, mine);
        expected = others;
    }
}

#[test]
fn each_part_has_exactly_its_keys() {
    let random = |count: u64, modulus: u64| {
        let hash = move |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7) % modulus;
        (0..count).map(hash).collect::<Vec<_>>()
    };
    check(vec![random(1000, 1 << 32)], 32);
    check(vec![random(1000, 1 << 32), random(998, 1 << 31), random(3, 9)], 32);
    check(vec![random(500, u64::MAX), random(500, u64::MAX)], 64);
    check(vec![vec![7; 100], vec![7; 99], vec![7; 3]], 5);
    check(vec![vec![], vec![1, 2, 3], vec![], vec![0; 10]], 3);
    check(vec![vec![], vec![]], 32);
    check(vec![vec![0; 4], vec![0; 4]], 0);
    check(vec![vec![u64::MAX; 9], vec![0, u64::MAX, u64::MAX]], 64);
    check(vec![(0..100).rev().collect(), (100..150).collect(), vec![50; 64]], 17);
}
