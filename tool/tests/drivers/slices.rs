//! Calls on slices: results of sorts, and refusals.

use std::cmp::Ordering;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::AddressRange;
use subsweep::difference::DifferenceConfig;
use subsweep::gather::GatherConfig;
use subsweep::headless::{Gpu, ReducedBytes, RunLengths, ScanInputs, SelectInputs, TopKBytes};
use subsweep::histogram::{HistogramConfig, even_edges};
use subsweep::merge::{MergeBuffers, MergeConfig};
use subsweep::reduce::{ReduceConfig, ReduceRuns};
use subsweep::run_length::RunLengthConfig;
use subsweep::scan::{ScanConfig, SegmentsBy};
use subsweep::search::SearchConfig;
use subsweep::select::{Comparison, Operands, SelectConfig};
use subsweep::sort::{SortAlgorithm, SortConfig, SortPolicy, ValueSize};
use subsweep::top_k::TopKConfig;
use subsweep::{ElementType, Error, F16, FloatOrder, Number};
use subsweep_tool::harness::PolicyName;

use super::cases::clean_trials;

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "slices");
    vec![
        trial("mismatched slices are refused and unchanged", refusals),
        trial("inputs that are too small are refused, and of none nothing runs", short_inputs),
        trial("keys, pairs and argsorts give the sorted order", several_types),
        trial("values need no alignment", unaligned_values),
        trial("slices that end within an element are refused", partial_elements),
        trial("elements of 8 and 16 bits take every function", packed_slices),
        trial("a sort too large for one workgroup uses passes", single_workgroup_crossover),
    ]
}

/// The library's choice around the largest count that one workgroup sorts.
fn single_workgroup_crossover(gpu: &Gpu) -> Result<(), Failed> {
    let config = SortConfig::pairs(ElementType::U32, ValueSize::B4).descending();
    let policy = *gpu.plan(config)?.policy();
    let shape = policy.large_workgroup.or(policy.single_workgroup);
    let most = shape.expect("few keys are sorted at once").tile_items();
    for count in [most - 1, most, most + 1, 2 * most + 3] {
        let mut keys: Vec<u32> = (0..count).map(|i| i.wrapping_mul(0x9e37_79b9) >> 20).collect();
        let mut values: Vec<u32> = (0..count).collect();
        let mut expected: Vec<_> = keys.iter().copied().zip(0..count).collect();
        expected.sort_by_key(|&(key, _)| std::cmp::Reverse(key));
        gpu.sort_pairs(config, &mut keys, &mut values)?;
        let sorted: Vec<_> = keys.into_iter().zip(values).collect();
        assert!(sorted == expected, "{count} keys by {policy}");
    }
    let config = SortConfig::keys(ElementType::U32);
    let single = SortPolicy::tuned(SortAlgorithm::SingleWorkgroup, gpu.capabilities(), &config);
    let mut keys = vec![0u32; most as usize + 1];
    let refused = gpu.sort(config.policy(single), &mut keys);
    let (count, max) = (u64::from(most) + 1, u64::from(most));
    let what = "one workgroup of this policy";
    assert_eq!(refused, Err(Error::TooManyElements { count, max, what }));
    Ok(())
}

fn short_inputs(gpu: &Gpu) -> Result<(), Failed> {
    let sum = ScanConfig::inclusive(ElementType::U32);
    for (by, needed) in [(SegmentsBy::Flags, 12), (SegmentsBy::Keys32, 12), (SegmentsBy::Keys64, 24)] {
        let inputs = ScanInputs { initial: None, segments: &[1, 2] };
        let mut numbers = [1u32, 2, 3];
        let short = gpu.scan_with(sum.segments(by), &mut numbers, inputs);
        assert_eq!(short, Err(Error::RangeTooSmall { what: "segments", needed, got: 8 }));
        assert_eq!(numbers, [1, 2, 3]);
    }
    let less = SelectConfig::compare(ElementType::U32, Comparison::Less);
    let operands = Operands::Device(AddressRange::new(1 << 20, 4));
    let selected = gpu.select(less, &SelectInputs::new(&[1u32, 2]).operands(operands));
    assert!(matches!(selected, Err(Error::Unsupported { .. })), "{selected:?}");
    let plan = gpu.plan(MergeConfig::keys(ElementType::U64).values(1))?;
    let huge = plan.arguments(&MergeBuffers::default(), (u64::MAX, u64::MAX));
    assert!(matches!(huge, Err(Error::TooManyElements { .. })), "{huge:?}");
    let none = gpu.search(SearchConfig::lower_bound(ElementType::U32), &[1u32, 2], &[])?;
    assert_eq!(none, [0u32; 0]);
    Ok(())
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    let keys = SortConfig::keys(ElementType::U32);
    let pairs = SortConfig::pairs(ElementType::U32, ValueSize::B8);
    let argsort = SortConfig::argsort(ElementType::I64);
    let (u32_type, i64_type) = (ElementType::U32, ElementType::I64);

    let mismatch = |expected, got| Error::ElementMismatch { expected, got };
    let mut floats = [2f32, 1.0];
    assert_eq!(gpu.sort(keys, &mut floats), Err(mismatch(u32_type, ElementType::F32)));
    assert_eq!(gpu.sort_pairs(pairs, &mut floats, &mut [0u64; 2]), Err(mismatch(u32_type, ElementType::F32)));
    assert_eq!(floats, [2.0, 1.0]);
    assert_eq!(gpu.argsort(argsort, &[2u64, 1]), Err(mismatch(i64_type, ElementType::U64)));

    let mut two = [2u32, 1];
    let size = |expected, got| Err(Error::ValueSizeMismatch { expected, got });
    assert_eq!(gpu.sort(pairs, &mut two), size(8, 0));
    assert_eq!(gpu.sort_pairs(pairs, &mut two, &mut [0u32; 2]), size(8, 4));
    assert_eq!(gpu.sort_pairs(pairs, &mut two, &mut [[0u8; 3]; 2]), size(8, 3));
    assert_eq!(gpu.sort_pairs(pairs, &mut two, &mut [(); 2]), size(8, 0));
    assert_eq!(sort_words(gpu, keys, &mut two, &mut [0; 2]), size(0, 1));

    let count = |key_count, value_count| Err(Error::ValueCountMismatch { key_count, value_count });
    assert_eq!(gpu.sort_pairs(pairs, &mut two, &mut [0u64; 1]), count(2, 1));
    assert_eq!(gpu.sort_pairs(pairs, &mut two, &mut [0u64; 3]), count(2, 3));
    assert_eq!(sort_words(gpu, pairs, &mut two, &mut [0; 2]), count(2, 1));
    assert_eq!(sort_words(gpu, argsort, &mut [0; 4], &mut [0; 4]), count(2, 4));

    let ragged = |size| Err(Error::PartialElement { size, element_size: 8 });
    assert_eq!(sort_words(gpu, pairs, &mut two, &mut [0; 3]), ragged(12));
    assert_eq!(sort_words(gpu, argsort, &mut [0; 5], &mut [0; 2]), ragged(20));

    let unsupported = |result: subsweep::Result<()>| matches!(result, Err(Error::Unsupported { .. }));
    assert!(unsupported(gpu.sort_pairs(argsort, &mut [2i64, 1], &mut [0u32; 2])));
    assert!(unsupported(gpu.argsort(pairs, &two).map(drop)));
    let indexed = SortConfig::keys_and_indices(ElementType::U32);
    assert!(unsupported(gpu.sort_pairs(indexed, &mut two, &mut [0u32; 2])));
    assert!(unsupported(gpu.sort_with_indices(pairs, &mut two).map(drop)));
    assert!(unsupported(gpu.argsort(indexed, &two).map(drop)));
    assert_eq!(two, [2, 1]);
    Ok(())
}

/// Sorts keys and values given as words.
fn sort_words(gpu: &Gpu, config: SortConfig, keys: &mut [u32], values: &mut [u32]) -> subsweep::Result<()> {
    gpu.sort_bytes(config, bytemuck::cast_slice_mut(keys), bytemuck::cast_slice_mut(values))
}

/// Slices that end within an element are refused in bytes, whatever type their numbers have.
fn partial_elements(gpu: &Gpu) -> Result<(), Failed> {
    let refused = |what, result: subsweep::Result<()>, size: u64, element_size: u64| {
        let text = result.map_or_else(|error| error.to_string(), |()| "none".to_owned());
        let expected = format!("{size} bytes are not a multiple of the {element_size} bytes of an element");
        assert_eq!(text, expected, "{what}");
    };
    let bytes = [7u8; 12];
    let words = GatherConfig::elements(1);
    refused("gather", gpu.gather(words, &bytes[..5], &[0]).map(drop), 5, 4);
    refused("gather of pairs", gpu.gather(GatherConfig::elements(2), &[1u32; 3], &[0]).map(drop), 12, 8);
    refused("gather of halves", gpu.gather(words, &[1u16; 3], &[0]).map(drop), 6, 4);
    let flags = [1; 3];
    let selected = |config, inputs: SelectInputs<'_>| gpu.select(config, &inputs.flags8(&flags)).map(drop);
    let flags8 = SelectConfig::flags8(1);
    refused("select", selected(flags8, SelectInputs::of_bytes(&bytes[..3])), 3, 4);
    refused("select of u8", selected(flags8, SelectInputs::new(&bytes[..7])), 7, 4);
    refused("select of no words", selected(SelectConfig::flags8(0), SelectInputs::new(&[1u32])), 4, 0);
    let values = SelectInputs::new(&[1u32; 3]).values(&bytes[..3]);
    refused("values of select", selected(flags8.values(1), values), 3, 4);
    let mut top = TopKBytes::default();
    let largest = TopKConfig::largest(ElementType::U64, 1, 1);
    refused("top-k", gpu.prepare_top_k(largest, &bytes, &[], &mut top).map(drop), 12, 8);
    let mut reduced = ReducedBytes::default();
    let sum = ReduceConfig::sum(ElementType::U64);
    refused("reduce", gpu.prepare_reduce(sum, &bytes, &[], &mut reduced).map(drop), 12, 8);
    let mut runs = RunLengths::default();
    let encode = RunLengthConfig::encode(ElementType::U32);
    refused("runs", gpu.prepare_run_length_encode(encode, &bytes[..7], &mut runs).map(drop), 7, 4);
    // A table of whole numbers has rows that are not.
    let longs = gpu.difference(DifferenceConfig::new(ElementType::I64).columns(2), &[1i64; 3]);
    assert_eq!(longs, Err(Error::RowLengthMismatch { value_count: 3, columns: 2 }));
    Ok(())
}

/// Every function on slices, of elements of 8 and 16 bits at addresses of the host that are odd.
fn packed_slices(gpu: &Gpu) -> Result<(), Failed> {
    let bytes: Vec<u8> = (0..1003u32).map(|index| (index * 7919 / 8) as u8).collect();
    let mut sorted = bytes[1..].to_vec();
    sorted.sort_unstable();
    let mut keys = bytes.clone();
    gpu.sort(SortConfig::keys(ElementType::U8), &mut keys[1..])?;
    assert_eq!((keys[0], &keys[1..]), (bytes[0], &sorted[..]));

    let halves = [1.5, -0.0, f32::NAN, 0.0, -2.0, 65504.0].map(F16::from_f32);
    let numpy = SortConfig::argsort(ElementType::F16).order(FloatOrder::Numpy);
    assert_eq!(gpu.argsort(numpy, &halves)?, [4, 1, 3, 0, 5, 2]);
    let (mut keys, mut values) = ([3i16, -1, 2], [[1u8; 8], [2; 8], [3; 8]]);
    gpu.sort_pairs(SortConfig::pairs(ElementType::I16, ValueSize::B8), &mut keys, &mut values)?;
    assert_eq!((keys, values), ([-1, 2, 3], [[2; 8], [3; 8], [1; 8]]));
    let mut segments = [3i8, 1, 2, -5];
    gpu.segmented_sort(SortConfig::keys(ElementType::I8), &mut segments, &[0, 2])?;
    assert_eq!(segments, [1, 3, -5, 2]);

    let mut sums = [200u8, 100, 3];
    let initial = Some(&[1u8][..]);
    let from_one = ScanInputs { initial, ..ScanInputs::default() };
    gpu.scan_with(ScanConfig::inclusive(ElementType::U8), &mut sums, from_one)?;
    assert_eq!(sums, [201, 45, 48]);
    assert_eq!(gpu.reduce(ReduceConfig::sum(ElementType::U8), &[200u8, 100])?, [44]);
    let wide = ReduceConfig::sum(ElementType::I8).unpacked_results();
    assert_eq!(gpu.reduce_to::<i8, i32>(wide, &[-100, -100, -100], &[])?, [-300]);
    assert_eq!(gpu.reduce_to_index(ReduceConfig::argmin(ElementType::F16), &halves)?, [2]);
    let by_key = ReduceConfig::sum(ElementType::U16).runs(ReduceRuns::keys(ElementType::I8));
    assert_eq!(
        gpu.reduce_by_key(by_key, &[-1i8, -1, 7], &[40_000u16, 30_000, 5])?,
        (vec![-1, 7], vec![4464, 5])
    );

    let of_bytes = SelectInputs::new(&[5i8, -6, 7]).operands(Operands::host(&[0i8])?);
    let negative = gpu.select(SelectConfig::compare(ElementType::I8, Comparison::Less), &of_bytes)?;
    assert_eq!((negative.elements::<i8>()?, negative.counts), (vec![-6], vec![1]));
    let runs = gpu.run_length_encode(RunLengthConfig::encode(ElementType::U16), &[7u16, 7, 8])?;
    assert_eq!((runs.values::<u16>()?, &runs.counts[..]), (vec![7, 8], &[2, 1][..]));
    assert_eq!(gpu.run_length_decode(&[7u16, 8, 9], &[2, 0, 3])?, [7, 7, 9, 9, 9]);
    assert_eq!(
        gpu.gather(GatherConfig::numbers(ElementType::U8), &bytes, &[2, 0, 5000])?,
        [bytes[2], bytes[0], 0]
    );
    assert_eq!(gpu.gather(GatherConfig::numbers(ElementType::I16), &[-1i16, 5], &[1, 1, 0])?, [5, 5, -1]);
    assert_eq!(gpu.difference(DifferenceConfig::new(ElementType::U8), &[5u8, 3, 9])?, [254, 6]);
    let merged = gpu.merge(MergeConfig::keys(ElementType::I16), &[-5i16, 9], &[0, 10, 11])?;
    assert_eq!(merged, [-5, 0, 9, 10, 11]);
    assert_eq!(
        gpu.search(SearchConfig::lower_bound(ElementType::U8), &[1u8, 3, 3], &[3u8, 0, 200])?,
        [1, 0, 3]
    );
    let (top, columns) = gpu.top_k(TopKConfig::largest(ElementType::I8, 3, 2), &[-3i8, 7, 5])?;
    assert_eq!((top, columns), (vec![7, 5], vec![1, 2]));
    let edges = even_edges(ElementType::U8, 4, [0.0, 256.0])?;
    let counts = gpu.histogram(HistogramConfig::even(ElementType::U8, 4), &[0u8, 64, 65, 255], &edges)?;
    assert_eq!(counts, [1, 2, 0, 1]);

    let narrow = gpu.reduce(wide, &[1i8]);
    assert_eq!(narrow, Err(Error::ElementMismatch { expected: ElementType::I32, got: ElementType::I8 }));
    let in_place = gpu.scan(ScanConfig::inclusive(ElementType::U8).unpacked_results(), &mut sums);
    assert!(matches!(in_place, Err(Error::Unsupported { .. })), "{in_place:?}");
    let ragged = gpu.reduce(ReduceConfig::sum(ElementType::U8).columns(2), &[1u8, 2, 3]);
    assert_eq!(ragged, Err(Error::RowLengthMismatch { value_count: 3, columns: 2 }));
    Ok(())
}

/// A few of the types; the case table covers all.
fn several_types(gpu: &Gpu) -> Result<(), Failed> {
    sorts(gpu, false, |word| word as u32 % 1000 * 4_000_000, Ord::cmp)?;
    sorts(gpu, true, |word| f32::from_bits((word as u32 & 0x1ff) << 23), f32::total_cmp)?;
    sorts(gpu, true, |word| (word as i64 % 1000) << 50, Ord::cmp)
}

/// Sorts numbers with many duplicates by every function, and compares with the standard library.
fn sorts<N: Number>(
    gpu: &Gpu,
    is_descending: bool,
    number: impl Fn(u64) -> N,
    compare: impl Fn(&N, &N) -> Ordering,
) -> Result<(), Failed> {
    const COUNT: u32 = 5003;
    let step =
        |word: &u64| Some(word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f));
    let words = std::iter::successors(Some(7u64), step).take(COUNT as usize);
    let input: Vec<N> = words.map(|word| number(word >> 20)).collect();
    // Small tiles take the least time to compile.
    let of = |config: SortConfig| {
        let policy = PolicyName::Small.sort(gpu.capabilities(), SortAlgorithm::Radix4Bit, &config);
        let config = config.policy(policy);
        if is_descending { config.descending() } else { config }
    };
    let mut indices: Vec<u32> = (0..COUNT).collect();
    indices.sort_by(|&a, &b| {
        let order = compare(&input[a as usize], &input[b as usize]);
        if is_descending { order.reverse() } else { order }
    });
    let sorted: Vec<N> = indices.iter().map(|&index| input[index as usize]).collect();
    // Compares bits, which distinguish zeros and NaNs.
    let is_sorted = |keys: &[N]| bytes_of(keys) == bytes_of(&sorted);

    let mut keys = input.clone();
    gpu.sort(of(SortConfig::keys(N::TYPE)), &mut keys)?;
    assert!(is_sorted(&keys), "{}", N::TYPE);
    assert!(gpu.argsort(of(SortConfig::argsort(N::TYPE)), &input)? == indices, "{}", N::TYPE);
    let mut keys = input.clone();
    let moved = gpu.sort_with_indices(of(SortConfig::keys_and_indices(N::TYPE)), &mut keys)?;
    assert!(is_sorted(&keys) && moved == indices, "{}", N::TYPE);
    let (mut keys, mut values) = (input.clone(), (0..COUNT).map(|index| index as f32).collect::<Vec<_>>());
    gpu.sort_pairs(of(SortConfig::pairs(N::TYPE, ValueSize::B4)), &mut keys, &mut values)?;
    assert!(is_sorted(&keys) && values.iter().map(|&value| value as u32).eq(indices.iter().copied()));
    let (mut keys, mut values) = (input.clone(), (0..COUNT).map(|index| [index, !index]).collect::<Vec<_>>());
    gpu.sort_pairs(of(SortConfig::pairs(N::TYPE, ValueSize::B8)), &mut keys, &mut values)?;
    assert!(is_sorted(&keys) && values.into_iter().eq(indices.iter().map(|&index| [index, !index])));
    let wide = |index: u32| [index, !index, index ^ 5, 0, 7];
    let (mut keys, mut values) = (input.clone(), (0..COUNT).map(wide).collect::<Vec<_>>());
    let pairs = SortConfig::pairs(N::TYPE, ValueSize::of::<[u32; 5]>());
    gpu.sort_pairs(of(pairs), &mut keys, &mut values)?;
    assert!(is_sorted(&keys) && values.into_iter().eq(indices.iter().map(|&index| wide(index))));
    Ok(())
}

fn bytes_of<N: Number>(keys: &[N]) -> &[u8] {
    bytemuck::cast_slice(keys)
}

fn unaligned_values(gpu: &Gpu) -> Result<(), Failed> {
    // Of two neighbours one at least is misaligned.
    let bytes = [0u8, 10, 11, 12, 13, 20, 21, 22, 23, 0];
    for first in [0, 1] {
        let mut values = bytes;
        let pairs: &mut [[u8; 4]] = bytemuck::cast_slice_mut(&mut values[first..first + 8]);
        let (before, mut keys) = (pairs.to_vec(), [2i32, -1]);
        gpu.sort_pairs(SortConfig::pairs(ElementType::I32, ValueSize::B4), &mut keys, pairs)?;
        assert_eq!((keys, &*pairs), ([-1, 2], &[before[1], before[0]][..]));
    }
    Ok(())
}
