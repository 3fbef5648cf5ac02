//! CPU sorts of the keys of `subsweep bench`: uniform u32. See ../README.md.
//!
//! Every sort is verified before and after it is measured; the result is the median of wall-clock times. Each sample
//! sorts a fresh copy, made before its start.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use rayon::slice::ParallelSliceMut as _;
use rdst::RadixSort as _;
use subsweep_tool::harness::Input;
use voracious_radix_sort::RadixSort as _;

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
    // With the seed of `bench`.
    let keys = Input::Uniform.generate(count, count as u64);
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
