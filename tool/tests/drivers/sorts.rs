//! The parts of sorts.

use std::sync::LazyLock;

use libtest_mimic::Failed;
use subsweep::device::{Capabilities, Device};
use subsweep::headless::Gpu;
use subsweep::sort::{SortAlgorithm, SortBuffers, SortConfig, SortPolicy, ValueSize};
use subsweep::{Count, ElementType, Result};
use subsweep_tool::harness::{PlanConfig, PolicyName};
use subsweep_tool::reference::oracle;

use super::embedding::contract::{COUNT, Room, Subject};
use super::faults::work::{Opened, SMALL, SORTED, WHOLE, cold, right_or_unchanged, warm};
use super::passes::{Check, digit_histogram, onesweep, sort};
use super::primitive::Primitive;

pub const PRIMITIVE: Primitive = Primitive {
    check,
    default_plans,
    subjects,
    phases: &[
        cold("planning a sort", |opened| Ok(plan(&opened.gpu, PolicyName::Default))),
        cold("planning a sort as the seed does", |opened| Ok(plan(&opened.gpu, PolicyName::Seed))),
        warm("sorting", WHOLE, sorting),
        warm("sorting pairs", WHOLE, sorting_pairs),
    ],
};

fn check(stem: &str, variant: &str) -> Option<Check> {
    match (stem, variant) {
        (_, segmented) if segmented.starts_with("segmented_") => None,
        ("sort/single_workgroup", _) => Some(sort::single_workgroup),
        ("sort/count" | "sort/count_bins" | "sort/chunk_count", _) => Some(sort::count),
        ("sort/scatter" | "sort/chunk_bucket", _) => Some(sort::scatter),
        ("sort/digit_histogram", _) => Some(digit_histogram::digit_histogram),
        ("sort/onesweep", _) => Some(onesweep::onesweep),
        ("sort/copy", _) => Some(onesweep::copy),
        _ => None,
    }
}

/// Keys, pairs and argsorts of each key size.
pub fn kinds() -> impl Iterator<Item = SortConfig> {
    [ElementType::U32, ElementType::U64].into_iter().flat_map(|key| {
        let pairs = [ValueSize::B4, ValueSize::B8].map(|size| SortConfig::pairs(key, size));
        [SortConfig::keys(key), SortConfig::argsort(key)].into_iter().chain(pairs)
    })
}

fn default_plans(_: &Capabilities) -> Vec<PlanConfig> {
    kinds().flat_map(|config| [config, config.indirect_count()]).map(PlanConfig::from).collect()
}

fn subjects(device: &Device, room: Room) -> Result<Vec<Subject>> {
    let (first, second) = (room.array(0), room.array(1));
    let tuned = |algorithm, config: SortConfig| {
        config.policy(SortPolicy::tuned(algorithm, device.capabilities(), &config))
    };
    let mut subjects = Vec::new();
    for algorithm in SortAlgorithm::ALL {
        if algorithm == SortAlgorithm::SingleWorkgroup {
            continue;
        }
        let config = tuned(algorithm, SortConfig::argsort(ElementType::U32).indirect_count());
        let buffers = SortBuffers::new(first, room.scratch).values(second);
        let recordings = [Count::Direct(COUNT.into()), room.count()].map(|count| (config, count));
        subjects.extend(Subject::all(device, algorithm.name(), buffers, recordings)?);
    }
    let keys = SortConfig::keys(ElementType::U32);
    let pairs = SortConfig::pairs(ElementType::U32, ValueSize::B4);
    let (of_keys, of_pairs) =
        (SortBuffers::new(first, room.scratch), SortBuffers::new(first, room.scratch).values(second));
    let (single, passes) = (SortAlgorithm::SingleWorkgroup, SortAlgorithm::Radix8Bit);
    for (name, algorithm, config, buffers, count) in [
        ("a sort in one workgroup", single, keys.indirect_count(), of_keys, 100),
        ("a sort of keys that is copied back", passes, keys.bits(0..8), of_keys, COUNT),
        ("a sort of pairs", passes, pairs.descending(), of_pairs, COUNT),
    ] {
        let count = Count::Direct(count.into());
        subjects.push(Subject::new(device, name, tuned(algorithm, config), buffers, count)?);
    }
    let wide = SortConfig::pairs(ElementType::U64, ValueSize::B8);
    let half = Count::Direct(u64::from(COUNT) / 2);
    subjects.push(Subject::new(device, "a sort of pairs of 64 bits", tuned(passes, wide), of_pairs, half)?);
    let moved = SortConfig::pairs(ElementType::U32, ValueSize::of::<[u32; 4]>()).indirect_count();
    let moved = tuned(SortAlgorithm::Onesweep, moved);
    let counts = [Count::Direct(u64::from(COUNT) / 4), room.count_up_to(COUNT / 4)];
    let recordings = counts.map(|count| (moved, count));
    subjects.extend(Subject::all(device, "a sort of values that move once", of_pairs, recordings)?);
    let every_pass = tuned(SortAlgorithm::Onesweep, pairs);
    let others = of_pairs.alternates(room.array(2), room.array(3));
    for (name, config) in [
        ("a sort of a double buffer", every_pass.double_buffer()),
        ("a sort out of place", every_pass.out_of_place()),
        ("a sort that destroys its input", every_pass.destroys_input()),
    ] {
        subjects.push(Subject::new(device, name, config, others, Count::Direct(COUNT.into()))?);
    }
    Ok(subjects)
}

/// Keys, followed by their indices.
static PAIRS: LazyLock<Vec<u32>> =
    LazyLock::new(|| [SMALL.clone(), (0..SMALL.len() as u32).collect()].concat());
static SORTED_PAIRS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut pairs: Vec<_> = SMALL.iter().copied().zip(0..).collect();
    oracle::sort_pairs(&mut pairs, 0..32, false, subsweep::FloatOrder::Total);
    let (keys, indices): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
    [keys, indices].concat()
});

fn plan(gpu: &Gpu, policy: PolicyName) -> Result<()> {
    gpu.plan(config(gpu, policy)).map(drop)
}

fn sorting(opened: &Opened) -> Result<Result<()>, Failed> {
    let config = config(&opened.gpu, PolicyName::Seed);
    right_or_unchanged(&SMALL, &SORTED, |words| opened.gpu.sort(config, words))
}

/// Keys and values are both sorted, or both unchanged.
fn sorting_pairs(opened: &Opened) -> Result<Result<()>, Failed> {
    let config = SortConfig::pairs(ElementType::U32, ValueSize::B4);
    let capabilities = opened.gpu.capabilities();
    let config = config.policy(PolicyName::Small.sort(capabilities, SortAlgorithm::Radix4Bit, &config));
    right_or_unchanged(&PAIRS, &SORTED_PAIRS, |words| {
        let (keys, values) = words.split_at_mut(words.len() / 2);
        opened.gpu.sort_pairs(config, keys, values)
    })
}

pub fn config(gpu: &Gpu, policy: PolicyName) -> SortConfig {
    let config = SortConfig::keys(ElementType::U32);
    config.policy(policy.sort(gpu.capabilities(), SortAlgorithm::Radix4Bit, &config))
}
