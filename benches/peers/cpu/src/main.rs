//! CPU sorts of the keys of `subsweep bench`: uniform u32. See ../README.md.
//!
//! Every sort is verified before and after it is measured; the result is the median of wall-clock times. Each sample
//! sorts a fresh copy, made before its start.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use rayon::slice::ParallelSliceMut as _;
use rdst::RadixSort as _;
use voracious_radix_sort::RadixSort as _;

/// A random number generator. Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// `Input::Uniform` of tool/src/harness/inputs.rs, with the seed of `bench`.
fn uniform(count: usize) -> Vec<u32> {
    let mut random = SplitMix64(count as u64);
    (0..count).map(|_| (random.next() >> 32) as u32).collect()
}

/// FNV-1a of the words' little-endian bytes.
fn hash(words: &[u32]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Hash of 1000 words; a test of tool/src/harness/inputs.rs checks the same number.
const HASH_OF_UNIFORM: u64 = 0xebe5_6d99_00bf_609f;

/// A measured sort: its name, whether it uses all cores, and the function.
type Peer = (&'static str, bool, fn(&mut [u32]));

const PEERS: [Peer; 7] = [
    ("std sort (stable)", false, |keys| keys.sort()),
    ("std sort_unstable", false, |keys| keys.sort_unstable()),
    ("rayon par_sort_unstable", true, |keys| keys.par_sort_unstable()),
    ("rdst, one thread", false, |keys| {
        keys.radix_sort_builder().with_parallel(false).with_single_threaded_tuner().sort();
    }),
    ("rdst", true, |keys| keys.radix_sort_unstable()),
    ("voracious_sort", false, |keys| keys.voracious_sort()),
    ("voracious_mt_sort", true, |keys| keys.voracious_mt_sort(rayon::current_num_threads())),
];

const WARM_UP_COUNT: usize = 2;
const SAMPLE_COUNT: usize = 15;

/// The median time of `sort` on copies of `keys`; `None` if a result differs from `sorted`.
fn measure(sort: fn(&mut [u32]), keys: &[u32], sorted: &[u32]) -> Option<Duration> {
    let mut samples = Vec::new();
    let mut copy = keys.to_vec();
    for _ in 0..WARM_UP_COUNT + SAMPLE_COUNT {
        copy.copy_from_slice(keys);
        let start = Instant::now();
        sort(&mut copy);
        samples.push(start.elapsed());
        if copy != sorted {
            return None;
        }
    }
    samples.drain(..WARM_UP_COUNT);
    samples.sort_unstable();
    Some(samples[SAMPLE_COUNT / 2])
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let count = match (arguments.next(), arguments.next()) {
        (None, _) => Some(1 << 22),
        (Some(count), None) => count.parse().ok().filter(|count| (1..=1 << 30).contains(count)),
        _ => None,
    };
    let Some(count) = count else {
        eprintln!("usage: subsweep-peers-cpu [COUNT], from 1 to 2^30 keys; 2^22 by default");
        return ExitCode::from(2);
    };
    if hash(&uniform(1000)) != HASH_OF_UNIFORM {
        eprintln!("the inputs differ from the inputs of subsweep");
        return ExitCode::FAILURE;
    }
    let keys = uniform(count);
    // Sorted by an algorithm other than the measured ones.
    let mut heap: std::collections::BinaryHeap<_> = keys.iter().copied().collect();
    let mut sorted: Vec<_> = std::iter::from_fn(|| heap.pop()).collect();
    sorted.reverse();

    println!("{count} u32 keys, uniform; {} threads", rayon::current_num_threads());
    println!("{:<26} {:>8} {:>12} {:>10}", "sort", "threads", "median", "M keys/s");
    let mut is_right = true;
    for (name, is_parallel, sort) in PEERS {
        let threads = if is_parallel { rayon::current_num_threads() } else { 1 };
        match measure(sort, &keys, &sorted) {
            Some(time) => {
                let rate = count as f64 / time.as_secs_f64() / 1e6;
                println!("{name:<26} {threads:>8} {:>9.3} ms {rate:>10.1}", time.as_secs_f64() * 1e3);
            }
            None => {
                println!("{name:<26} {threads:>8} WRONG");
                is_right = false;
            }
        }
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
