//! The parts of segmented sorts, and their results, refusals, and memory safety with invalid segments.

use std::collections::HashSet;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{AddressRange, BufferRange, Capabilities, Device};
use subsweep::headless::Gpu;
use subsweep::sort::{
    SegmentedSortBuffers, SegmentedSortConfig, SegmentedSortPlan, SegmentedSortPolicy, SortAlgorithm,
    SortBuffers, SortConfig, SortPolicy, ValueSize,
};
use subsweep::{Count, ElementType, Error};
use subsweep_tool::harness::{PlanConfig, SegmentMix, SegmentedSortCase};

use super::cases::clean_trials;
use super::embedding::contract::{COUNT as COUNT_OF_SUBJECTS, Room, Subject};
use super::faults::work::{Opened, SMALL, SORTED, WHOLE, cold, right_or_unchanged, warm};
use super::passes::rig::{Alignment, Memory, random};
use super::passes::{self, Check};
use super::primitive::{Primitive, run};
use super::sorts;

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "segments");
    vec![
        trial("slices are sorted by segment", slices),
        trial("rows of slices are sorted", rows),
        trial("mismatched arguments are refused and data is unchanged", refusals),
        trial("segments in any order write no other memory", in_any_order),
    ]
}

pub const PRIMITIVE: Primitive = Primitive {
    check,
    default_plans,
    subjects,
    phases: &[
        cold("planning a segmented sort", |opened| Ok(opened.gpu.plan(config(&opened.gpu)).map(drop))),
        warm("sorting segments", WHOLE, sorting),
    ],
};

fn check(stem: &str, variant: &str) -> Option<Check> {
    match (stem, variant) {
        ("sort/classify", "") => Some(passes::segmented_sort::classify),
        ("sort/queue_tiles", "") => Some(passes::segmented_sort::queue_tiles),
        ("sort/short_segments", _) => Some(passes::segmented_sort::short_segments),
        ("sort/single_workgroup", _) if variant.starts_with("segmented_") => {
            Some(passes::segmented_sort::small_segments)
        }
        ("sort/count_bins" | "sort/scatter", _) if variant.starts_with("segmented_") => {
            Some(passes::segmented_sort::long_segments)
        }
        _ => None,
    }
}

fn default_plans(_: &Capabilities) -> Vec<PlanConfig> {
    let configs = sorts::kinds().flat_map(|config| [config, config.indirect_count()]);
    configs.map(SegmentedSortConfig::from).map(PlanConfig::from).collect()
}

fn subjects(device: &Device, room: Room) -> subsweep::Result<Vec<Subject>> {
    let segments = AddressRange { size: 400, ..room.array(2) };
    let config = SegmentedSortConfig::from(SortConfig::keys(ElementType::U32)).indirect_count();
    let buffers = SegmentedSortBuffers::new(SortBuffers::new(room.array(0), room.scratch), segments);
    let host = (Count::Direct(COUNT_OF_SUBJECTS.into()), Count::Direct(100));
    let subject = |count: (Count, Count)| {
        Subject::new(device, format!("a segmented sort, {:?}", count.0), config, buffers, count)
    };
    let mut subjects = vec![subject(host)?, subject((room.count(), room.count_up_to(100)))?];
    let along_rows = SegmentedSortConfig::new(SortConfig::argsort(ElementType::U32)).along_rows(7);
    let of_rows = SegmentedSortBuffers::new(buffers.sort.values(room.array(3)), AddressRange::NONE);
    subjects.push(Subject::new(device, "an argsort along rows", along_rows, of_rows, host)?);
    let pairs = SegmentedSortConfig::from(SortConfig::pairs(ElementType::U32, ValueSize::B4));
    let of_pairs = SegmentedSortBuffers::new(buffers.sort.values(room.array(3)), segments);
    subjects.push(Subject::new(device, "a segmented sort of pairs", pairs, of_pairs, host)?);
    let keys = SortConfig::keys(ElementType::U32);
    let others = AddressRange::default();
    let buffers = SegmentedSortBuffers::new(buffers.sort.alternates(room.array(1), others), segments);
    for (name, form) in [
        ("a segmented sort of a double buffer", keys.double_buffer()),
        ("a segmented sort out of place", keys.out_of_place()),
        ("a segmented sort that destroys its input", keys.destroys_input()),
    ] {
        subjects.push(Subject::new(device, name, SegmentedSortConfig::from(form), buffers, host)?);
    }
    Ok(subjects)
}

/// An empty segment, and one of all keys.
fn sorting(opened: &Opened) -> Result<subsweep::Result<()>, Failed> {
    let config = config(&opened.gpu);
    right_or_unchanged(&SMALL, &SORTED, |words| opened.gpu.segmented_sort(config, words, &[0, 0]))
}

fn config(gpu: &Gpu) -> SegmentedSortConfig {
    SegmentedSortConfig::new(SortConfig::keys(ElementType::U32)).policy(small_policy(gpu))
}

/// Small tiles, so that few keys form segments of every size class. Large ones take long to compile.
pub fn small_policy(gpu: &Gpu) -> SegmentedSortPolicy {
    let case = SegmentedSortCase::keys_of_u32(SegmentMix::Whole);
    SegmentedSortCase { has_small_tiles: true, ..case }.policy(gpu.capabilities())
}

const BEGINS: [u32; 8] = [2, 2, 7, 40, 300, 5_000, 5_001, 6_000];
const COUNT: usize = 6_000;

/// The permutation that sorts each segment.
fn permutation<K: Copy>(keys: &[K], compare: impl Fn(&K, &K) -> std::cmp::Ordering) -> Vec<u32> {
    let mut indices: Vec<u32> = (0..keys.len() as u32).collect();
    let ends = BEGINS.iter().skip(1).copied().chain([keys.len() as u32]);
    for (&begin, end) in BEGINS.iter().zip(ends) {
        let segment = &mut indices[begin as usize..end as usize];
        segment.sort_by(|&a, &b| compare(&keys[a as usize], &keys[b as usize]));
    }
    indices
}

fn slices(gpu: &Gpu) -> Result<(), Failed> {
    let keys: Vec<i64> = random(4, COUNT).iter().map(|word| i64::from(word % 200) - 100).collect();
    let indices = permutation(&keys, |a, b| b.cmp(a));
    let sorted: Vec<_> = indices.iter().map(|&index| keys[index as usize]).collect();

    let policy = small_policy(gpu);
    let small = |sort: SortConfig| SegmentedSortConfig::new(sort.descending()).policy(policy);
    let mut got = keys.clone();
    gpu.segmented_sort(small(SortConfig::keys(ElementType::I64)), &mut got, &BEGINS)?;
    assert!(got == sorted);
    let argsort = small(SortConfig::argsort(ElementType::I64));
    assert!(gpu.segmented_argsort(argsort, &keys, &BEGINS)? == indices);
    let (mut got, mut values) = (keys, (0..COUNT as u64).map(|index| [index as u32, 7]).collect::<Vec<_>>());
    let pairs = small(SortConfig::pairs(ElementType::I64, ValueSize::B8));
    gpu.segmented_sort_pairs(pairs, &mut got, &mut values, &BEGINS)?;
    assert!(got == sorted && values.iter().zip(&indices).all(|(value, &index)| *value == [index, 7]));

    // Nothing to sort; an argsort still writes indices.
    let plain = SortConfig::keys(ElementType::U32);
    gpu.segmented_sort::<u32>(plain, &mut [], &[0, 0])?;
    let mut three = [3u32, 2, 1];
    gpu.segmented_sort(plain, &mut three, &[])?;
    gpu.segmented_sort(plain.bits(9..9), &mut three, &[0])?;
    gpu.segmented_sort(plain, &mut three, &[0, 1, 2, 3])?;
    assert_eq!(three, [3, 2, 1]);
    let argsort = SortConfig::argsort(ElementType::U32);
    assert_eq!(gpu.segmented_argsort(argsort, &three, &[])?, [0, 1, 2]);
    assert_eq!(gpu.segmented_argsort(argsort, &three, &[1])?, [0, 2, 1]);
    assert_eq!(gpu.segmented_argsort(argsort.bits(9..9), &three, &[0])?, [0, 1, 2]);
    assert_eq!(gpu.segmented_argsort::<u32>(argsort, &[], &[0])?, [0; 0]);

    // Ranges: the begins of all segments, then their ends.
    let keys = [3u32, 2, 9, 8, 7, 1];
    let ranges = SegmentedSortConfig::new(argsort).ranges();
    assert_eq!(gpu.segmented_argsort(ranges, &keys, &[4, 0, 6, 2])?, [1, 0, 2, 3, 5, 4]);
    assert_eq!(gpu.segmented_argsort(ranges, &keys, &[5, 1, 2, 6])?, [0, 5, 1, 4, 3, 2]);
    assert_eq!(gpu.segmented_argsort(ranges, &keys, &[])?, [0, 1, 2, 3, 4, 5]);
    let refused = |segments: &[u32]| gpu.segmented_argsort(ranges, &keys, segments).unwrap_err();
    let overlap = Error::SegmentOutOfOrder { index: 0, begin: 3, earliest: 4, latest: 6 };
    assert_eq!(refused(&[3, 0, 6, 4]), overlap);
    assert!(matches!(refused(&[3, 7]), Error::OutOfRange { value: 7, max: 6, .. }));
    assert!(matches!(refused(&[3, 4, 5]), Error::Unsupported { .. }));
    let rows = gpu.segmented_argsort(ranges.along_rows(3), &keys, &[]);
    assert!(matches!(rows, Err(Error::Unsupported { .. })), "{rows:?}");
    Ok(())
}

/// Rows of each size class, by the indices in them.
fn rows(gpu: &Gpu) -> Result<(), Failed> {
    let policy = small_policy(gpu);
    let [short, _, large] = policy.max_extents();
    for length in [1, short, short + 1, large, 3 * large] {
        let keys: Vec<f32> =
            random(length as usize, 5 * length as usize).iter().map(|word| (word % 9) as f32).collect();
        let along_rows = |sort| SegmentedSortConfig::new(sort).along_rows(length).policy(policy);
        let argsort = along_rows(SortConfig::argsort(ElementType::F32).descending());
        let indices = gpu.segmented_argsort(argsort, &keys, &[])?;
        let (mut sorted, mut moved) = (keys.clone(), indices.clone());
        let both = along_rows(SortConfig::keys_and_indices(ElementType::F32).descending());
        gpu.segmented_sort_bytes(
            both,
            bytemuck::cast_slice_mut(&mut sorted),
            bytemuck::cast_slice_mut(&mut moved),
            &[],
        )?;
        assert!(moved == indices, "rows of {length}");
        for (row, table_row) in keys.chunks(length as usize).enumerate() {
            let mut expected: Vec<u32> = (0..length).collect();
            expected.sort_by(|&a, &b| table_row[b as usize].total_cmp(&table_row[a as usize]));
            let at = row * length as usize..(row + 1) * length as usize;
            assert!(indices[at.clone()] == expected, "row {row} of {length}");
            assert!(sorted[at].iter().zip(&expected).all(|(key, &index)| *key == table_row[index as usize]));
        }
    }
    Ok(())
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    let keys = SortConfig::keys(ElementType::U32);
    let mut three = [3u32, 2, 1];
    let out_of_place =
        |index, begin, earliest| Err(Error::SegmentOutOfOrder { index, begin, earliest, latest: 3 });
    assert_eq!(gpu.segmented_sort(keys, &mut three, &[0, 2, 1]), out_of_place(2, 1, 2));
    assert_eq!(gpu.segmented_sort(keys, &mut three, &[0, 4]), out_of_place(1, 4, 0));
    let unsupported = |result: subsweep::Result<()>| matches!(result, Err(Error::Unsupported { .. }));
    let pairs = SortConfig::pairs(ElementType::U32, ValueSize::B4);
    let argsort = SortConfig::argsort(ElementType::U32);
    assert!(unsupported(gpu.segmented_argsort(pairs, &three, &[0]).map(drop)));
    assert!(unsupported(gpu.segmented_sort_pairs(argsort, &mut three, &mut [0u32; 3], &[0])));
    let plain = SortPolicy::tuned(SortAlgorithm::Radix4Bit, gpu.capabilities(), &keys);
    assert!(unsupported(gpu.segmented_sort(keys.policy(plain), &mut three, &[0])));
    let sizes = Error::ValueSizeMismatch { expected: 4, got: 0 };
    assert_eq!(gpu.segmented_sort(pairs, &mut three, &[0]), Err(sizes));
    let counts = Error::ValueCountMismatch { key_count: 3, value_count: 2 };
    assert_eq!(gpu.segmented_sort_pairs(pairs, &mut three, &mut [0u32; 2], &[0]), Err(counts));
    let along_rows = SegmentedSortConfig::new(keys).along_rows(2);
    let not_whole = Error::RowLengthMismatch { value_count: 3, columns: 2 };
    assert_eq!(gpu.segmented_sort(along_rows, &mut three, &[]), Err(not_whole));
    assert!(unsupported(gpu.segmented_sort(along_rows.along_rows(3), &mut three, &[0])));
    let out_of_range = gpu.segmented_sort(along_rows.along_rows(0), &mut three, &[]);
    assert!(matches!(out_of_range, Err(Error::OutOfRange { .. })), "{out_of_range:?}");
    assert_eq!(three, [3, 2, 1]);
    refused_buffers(gpu)?;

    let chosen = SegmentedSortPolicy::choose(gpu.capabilities(), &keys.into()).policy;
    let refused = |change: fn(&mut SegmentedSortPolicy)| {
        let mut policy = chosen;
        change(&mut policy);
        let config = SegmentedSortConfig::new(keys).policy(policy);
        let plan = SegmentedSortPlan::new(gpu.device(), config);
        assert!(matches!(plan, Err(Error::InvalidPolicy { .. })), "{policy}");
    };
    refused(|policy| policy.cluster.lanes = 3);
    refused(|policy| policy.cluster.lanes = 0);
    refused(|policy| policy.cluster.lanes = 256);
    refused(|policy| policy.cluster.items_per_invocation = 17);
    refused(|policy| policy.cluster.workgroup_size = 33);
    refused(|policy| policy.workgroups.reverse());
    refused(|policy| policy.workgroups[1].items_per_invocation = 6);
    refused(|policy| policy.tile.items_per_invocation = 65);
    Ok(())
}

fn part(range: BufferRange, offset: u64, size: u64) -> BufferRange {
    BufferRange { offset: range.offset + offset, size, address: range.address + offset, ..range }
}

fn refused_buffers(gpu: &Gpu) -> Result<(), Failed> {
    let plan = gpu.plan(SegmentedSortConfig::from(SortConfig::pairs(ElementType::U32, ValueSize::B4)))?;
    let needed = plan.scratch_requirements((100, 10)).size;
    let memory = gpu.allocate(2048 + needed)?;
    let at = |offset, size| AddressRange::new(memory.range().address + offset, size);
    let scratch = part(memory.range(), 2048, needed);
    let (keys, values, segments) = (at(0, 400), at(400, 400), at(800, 40));
    let buffers = SegmentedSortBuffers::new(SortBuffers::new(keys, scratch).values(values), segments);
    let arguments = plan.arguments(&buffers, (100, 10))?;
    let sizes: Vec<_> = arguments.iter().map(|argument| argument.size).collect();
    assert_eq!(sizes, [0, 40, 0, 0, 400, 400, 0, 0, 0, needed]);
    assert_eq!(plan.scratch_requirements((u64::MAX, u64::MAX)).size, u64::MAX);
    let max = plan.max_count();
    let refused = run(gpu, &plan, &buffers, (max + 1, 10));
    assert!(matches!(refused, Err(Error::TooManyElements { count, .. }) if count == max + 1));
    Ok(())
}

/// Segments that descend, overlap or begin anywhere may lose keys, but write no other memory, and every key and value
/// comes from the input.
fn in_any_order(gpu: &Gpu) -> Result<(), Failed> {
    let config = SortConfig::pairs(ElementType::U32, ValueSize::B4);
    let config = SegmentedSortConfig::new(config).policy(small_policy(gpu));
    let plan = gpu.plan(config)?;
    let count = 20_000u32;
    let falling: Vec<u32> = (0..count).rev().step_by(3).collect();
    let alternating: Vec<u32> = (0..3_000).map(|index| [0, u32::MAX][index % 2]).collect();
    let anywhere: Vec<u32> = random(8, 2_000).iter().map(|word| word % (count + 100)).collect();
    let long: Vec<u32> = random(9, 40).iter().map(|word| word % count).collect();
    let keys: Vec<u32> = random(3, count as usize);
    let known: HashSet<u32> = keys.iter().copied().collect();
    for (index, begins) in [falling, alternating, anywhere, long].into_iter().enumerate() {
        let keys_memory = Memory::with_words(gpu, &keys, Alignment::Words)?;
        let values_memory = Memory::with_words(gpu, &keys, Alignment::Words)?;
        let segments = Memory::with_words(gpu, &begins, Alignment::Words)?;
        let segment_count = begins.len() as u64;
        let scratch_size = plan.scratch_requirements((count.into(), segment_count)).size;
        // Guard words after the scratch show a store past its end.
        let scratch = gpu.allocate(scratch_size + 256)?;
        gpu.upload(&scratch, scratch_size, &[0x5a5a_5a5a; 64])?;
        let sort = SortBuffers::new(keys_memory.range(), part(scratch.range(), 0, scratch_size));
        let buffers = SegmentedSortBuffers::new(sort.values(values_memory.range()), segments.range());
        run(gpu, &plan, &buffers, (u64::from(count), segment_count))?;
        assert!(segments.read()? == begins, "segments {index}");
        for (what, memory) in [("keys", &keys_memory), ("values", &values_memory)] {
            let is_known = memory.read()?.iter().all(|word| known.contains(word));
            assert!(is_known, "segments {index}: {what} that are not in the input");
        }
        let words = gpu.read(&scratch, (scratch_size / 4) as usize + 64)?;
        assert!(words[words.len() - 64..].iter().all(|&word| word == 0x5a5a_5a5a), "segments {index}");
    }
    Ok(())
}
