//! The parts of top-k, and their results, counts and refusals.

use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Failed, Trial};
use subsweep::ash::vk::CommandBuffer;
use subsweep::device::{AddressRange, Capabilities, Command, Device, Recorder, Trace};
use subsweep::headless::{Gpu, TopKRows};
use subsweep::top_k::{TopKAlgorithm, TopKBuffers, TopKConfig, TopKPlan, TopKPolicy};
use subsweep::{Count, ElementType, Error};
use subsweep_tool::harness::{PlanConfig, TopKCase};

use super::cases::clean_trials;
use super::embedding::contract::{COUNT, Room, Subject};
use super::faults::work::{Opened, SMALL, WHOLE, cold, warm};
use super::passes;
use super::passes::rig::{Alignment, Memory, compare, random, small_workgroup};
use super::primitive::{Primitive, bits, run};
use super::refused::{Refused, assert_unsupported};

pub const PRIMITIVE: Primitive = Primitive {
    check: passes::top_k::check,
    default_plans,
    subjects,
    phases: &[
        cold("planning a top-k", |opened| {
            let config = TopKConfig::largest(ElementType::F32, 20_000, 32).indirect_count();
            Ok(opened.gpu.plan(config).map(drop))
        }),
        warm("selecting the largest", WHOLE, selecting),
    ],
};

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "top_k");
    vec![
        trial("mismatched ranges are refused", refusals),
        trial("slices of every type are selected", slices),
        trial("rows of slices have lengths and a k of their own", rows),
        trial("values go to the dispatch of the result alone", last_values),
        trial("any count on the device selects of as many rows", counts),
    ]
}

fn default_plans(_: &Capabilities) -> Vec<PlanConfig> {
    let configs = [
        TopKConfig::largest(ElementType::F32, 40, 8),
        TopKConfig::largest(ElementType::F32, 20_000, 32),
        TopKConfig::largest(ElementType::F32, 9000, 5000),
        TopKConfig::largest(ElementType::F32, 20_000, 32).segments().own_k(),
    ];
    configs.into_iter().flat_map(|config| [config, config.indirect_count()]).map(PlanConfig::from).collect()
}

/// All algorithms, with rows of several tiles where they may be.
fn subjects(device: &Device, room: Room) -> subsweep::Result<Vec<Subject>> {
    let (rows, columns) = (COUNT / 1000, 1000);
    let config = TopKConfig::largest(ElementType::U32, columns, 10);
    let lanes = device.capabilities().max_subgroup_size.max(16);
    let [source, keys, indices, source_values] = [0, 1, 2, 3].map(|index| room.array(index));
    let half = indices.size / 2;
    let values = AddressRange::new(indices.address + half, half);
    let indices = AddressRange::new(indices.address, half);
    let buffers = TopKBuffers::new(source, keys, indices, room.scratch).values(source_values, values);
    let mut subjects = Vec::new();
    for algorithm in TopKAlgorithm::ALL {
        let (columns, items) = if algorithm == TopKAlgorithm::Subgroups { (32, 8) } else { (columns, 2) };
        let config = TopKConfig::largest(ElementType::U32, columns, 10);
        let config = config.policy(TopKPolicy::new(algorithm, 2 * lanes, items));
        for config in [config.values(1), config.unsorted()] {
            let counts = [Count::Direct(rows.into()), room.count_up_to(rows)];
            let recordings = [(config, counts[0]), (config.indirect_count(), counts[1])];
            let name = format!("a top-k by {}", algorithm.name());
            subjects.extend(Subject::all(device, &name, buffers, recordings)?);
        }
    }
    let numbers = |index| AddressRange { size: u64::from(rows) * 4, ..room.array(index) };
    let all = AddressRange { size: u64::from(rows * columns) * 4, ..source };
    // Of the keys of other arrays, which are read alone.
    let unequal = TopKBuffers::new(all, keys, indices, room.scratch).values(source_values, values);
    let unequal = unequal.segments(numbers(0)).ks(numbers(3));
    for algorithm in [TopKAlgorithm::Tiles, TopKAlgorithm::Sort] {
        let config = config.policy(TopKPolicy::new(algorithm, 2 * lanes, 2)).values(1).segments().own_k();
        let name = format!("a top-k of unequal rows by {}", algorithm.name());
        subjects.push(Subject::new(device, name, config, unequal, Count::Direct(rows.into()))?);
    }
    Ok(subjects)
}

fn selecting(opened: &Opened) -> Result<subsweep::Result<()>, Failed> {
    let columns = SMALL.len() as u32;
    let case = TopKCase::largest(ElementType::U32, columns, 5);
    let expected = case.selected(&SMALL);
    match opened.gpu.top_k(TopKConfig::largest(ElementType::U32, columns, 5), &SMALL) {
        Ok((keys, indices)) => {
            let is_right = indices.iter().zip(&expected).all(|(&got, &index)| got as usize == index)
                && keys.iter().zip(&expected).all(|(&key, &index)| key == SMALL[index]);
            if is_right && indices.len() == 5 { Ok(Ok(())) } else { Err("the result is wrong".into()) }
        }
        Err(error) => Ok(Err(error)),
    }
}

fn slices(gpu: &Gpu) -> Result<(), Failed> {
    let of = TopKConfig::largest;
    let floats = [1.5f32, -0.0, 0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-45];
    let (keys, indices) = gpu.top_k(of(ElementType::F32, 8, 8), &floats)?;
    assert_eq!(indices, [3, 4, 5, 0, 7, 1, 2, 6]);
    assert_eq!(bits(&keys), bits(&[3, 4, 5, 0, 7, 1, 2, 6].map(|index: usize| floats[index])));
    let (_, indices) = gpu.top_k(TopKConfig::smallest(ElementType::F32, 8, 7).without_keys(), &floats)?;
    assert_eq!(indices, [6, 1, 2, 7, 0, 5, 3]);
    let rows = [i64::MIN, 3, -1, 3, 7, i64::MAX, 7, 7];
    assert_eq!(gpu.top_k(of(ElementType::I64, 4, 2), &rows)?, (vec![3, 3, i64::MAX, 7], vec![1, 3, 1, 0]));
    let unsorted = of(ElementType::I64, 4, 2).unsorted().without_indices();
    assert_eq!(gpu.top_k(unsorted, &rows)?, (vec![3, 3, 7, i64::MAX], vec![]));
    assert_eq!(gpu.top_k::<u32>(of(ElementType::U32, 5, 2), &[])?, (vec![], vec![]));
    let pairs = of(ElementType::I64, 4, 2).values(2);
    let values: Vec<_> = (10..26).collect();
    let moved = vec![12, 13, 16, 17, 20, 21, 18, 19];
    let expected = (vec![3, 3, i64::MAX, 7], vec![1, 3, 1, 0], moved.clone());
    assert_eq!(gpu.top_k_pairs(pairs, &rows, &values)?, expected);
    let alone = pairs.without_keys().without_indices();
    assert_eq!(gpu.top_k_pairs(alone, &rows, &values)?, (vec![], vec![], moved));
    let [few, other] = [&values[..15], &values[..14]].map(|values| gpu.top_k_pairs(pairs, &rows, values));
    assert_eq!(few, Err(Error::PartialElement { size: 60, element_size: 8 }));
    assert_eq!(other, Err(Error::ValueCountMismatch { key_count: 8, value_count: 7 }));
    assert_eq!(gpu.top_k(pairs, &rows), Err(Error::ValueSizeMismatch { expected: 8, got: 0 }));
    let surplus = gpu.top_k_pairs(of(ElementType::I64, 4, 2), &rows, &values);
    assert_eq!(surplus, Err(Error::ValueSizeMismatch { expected: 0, got: 4 }));
    let surplus = gpu.top_k_pairs(of(ElementType::I64, 4, 2), &rows, &[7u64]);
    assert_eq!(surplus, Err(Error::ValueSizeMismatch { expected: 0, got: 8 }));
    // As many words, but two values would be one number; also of no rows.
    let joined =
        |rows: &[i64], values: &[u64]| gpu.top_k_pairs(of(ElementType::I64, 4, 2).values(1), rows, values);
    for joined in [joined(&rows, &[1, 2, 3, 4]), joined(&[], &[])] {
        assert_eq!(joined, Err(Error::ValueSizeMismatch { expected: 4, got: 8 }));
    }
    let doubles = gpu.top_k_pairs(pairs, &rows, &rows)?;
    assert_eq!(doubles, (vec![3, 3, i64::MAX, 7], vec![1, 3, 1, 0], vec![3, 3, i64::MAX, 7]));

    let mismatch = gpu.top_k(of(ElementType::F32, 1, 1), &[1u32]);
    assert!(matches!(mismatch, Err(Error::ElementMismatch { .. })), "{mismatch:?}");
    let ragged = gpu.top_k(of(ElementType::I64, 3, 1), &rows);
    assert_eq!(ragged, Err(Error::RowLengthMismatch { value_count: 8, columns: 3 }));
    Ok(())
}

/// Rows of none to several tiles, of keys of 16 and 64 bits.
fn rows(gpu: &Gpu) -> Result<(), Failed> {
    let largest = TopKConfig::largest(ElementType::U16, 4, 3);
    let keys = [9u16, 5, 7, 7, 1, 2, 3, 8];
    let segments = [1, 1, 5, 8];
    let of_segments = TopKRows { segments: &segments, ks: &[] };
    let expected = (vec![7, 7, 5, 8, 3, 2], vec![1, 2, 0, 2, 1, 0]);
    assert_eq!(gpu.top_k_rows(largest.segments(), &keys, of_segments)?, expected);
    let of_both = TopKRows { segments: &segments, ks: &[2, 2, 1, 3] };
    let both = largest.segments().own_k();
    assert_eq!(gpu.top_k_rows(both, &keys, of_both)?, (vec![7, 7, 8], vec![1, 2, 2]));
    let of_ks = TopKRows { segments: &[], ks: &[0, 2] };
    assert_eq!(gpu.top_k_rows(largest.own_k(), &keys, of_ks)?, (vec![8, 3], vec![3, 2]));
    assert_eq!(
        gpu.top_k_rows(both, &[0u16; 0], TopKRows { segments: &[0, 0], ks: &[1, 2] })?,
        (vec![], vec![])
    );
    assert_eq!(gpu.top_k_rows(largest.segments(), &keys, TopKRows::default())?, (vec![], vec![]));

    let numbers: Vec<_> = random(8, 15_000).into_iter().map(|word| i64::from(word % 300) - 150).collect();
    let segments = [5, 2005, 2010, 2010, 5000, 6001];
    // By tiles, and by the sort, whose k is not limited.
    for (k, ks) in [(9, [9, 7, 3, 0, 1, 8]), (8999, [1500, 7, 3, 0, 1001, 8000])] {
        let of_all = TopKConfig::smallest(ElementType::I64, 9000, k).segments().own_k();
        let tiles = TopKPolicy::new(TopKAlgorithm::Tiles, small_workgroup(gpu), 2);
        let of_all = if k == 9 { of_all.policy(tiles) } else { of_all };
        for (config, is_sorted) in [(of_all, true), (of_all.unsorted(), false)] {
            let (got, indices) =
                gpu.top_k_rows(config, &numbers, TopKRows { segments: &segments, ks: &ks })?;
            let ends = segments.iter().skip(1).copied().chain([15_000]);
            let (mut expected, mut columns) = (Vec::new(), Vec::new());
            for ((&begin, end), &k) in segments.iter().zip(ends).zip(&ks) {
                let row = &numbers[begin as usize..end as usize];
                let mut order: Vec<_> = (0..row.len()).collect();
                order.sort_by_key(|&column| row[column]);
                order.truncate(k as usize);
                if !is_sorted {
                    order.sort_unstable();
                }
                expected.extend(order.iter().map(|&column| row[column]));
                columns.extend(order.iter().map(|&column| column as u32));
            }
            assert!(got == expected && indices == columns, "k {k}, sorted {is_sorted}");
        }
    }

    let refused = |config, rows| gpu.top_k_rows(config, &keys, rows).err();
    assert!(matches!(refused(largest, of_segments), Some(Error::Unsupported { .. })));
    assert!(matches!(refused(largest.segments(), of_both), Some(Error::Unsupported { .. })));
    let descending = TopKRows { segments: &[2, 1], ks: &[] };
    assert!(matches!(refused(largest.segments(), descending), Some(Error::SegmentOutOfOrder { .. })));
    let long = TopKRows { segments: &[3], ks: &[] };
    assert!(matches!(
        refused(largest.segments(), long),
        Some(Error::TooManyElements { count: 5, max: 4, .. })
    ));
    let few = Error::ValueCountMismatch { key_count: 4, value_count: 1 };
    assert_eq!(refused(both, TopKRows { ks: &[1], ..of_both }), Some(few));
    let great = TopKRows { ks: &[1, 4, 1, 1], ..of_both };
    assert!(matches!(refused(both, great), Some(Error::OutOfRange { value: 4, max: 3, .. })));
    Ok(())
}

/// The ranges of each dispatch.
#[derive(Default)]
struct Dispatches(Mutex<Vec<Vec<AddressRange>>>);

impl Trace for Dispatches {
    fn record(&self, _: CommandBuffer, command: &Command<'_>) {
        if let Command::Dispatch { ranges, .. } = command {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(ranges.to_vec());
        }
    }
}

/// So that no barrier is for values, and no kernel gets addresses that a configuration ignores.
fn last_values(gpu: &Gpu) -> Result<(), Failed> {
    let range = |index: u64| AddressRange::new(index << 32, 1 << 30);
    let values = [range(3), range(4)];
    let refused = Refused::new(gpu)?;
    for algorithm in [TopKAlgorithm::Tiles, TopKAlgorithm::Sort] {
        let policy = TopKPolicy::new(algorithm, small_workgroup(gpu), 2);
        for words in [0, 1] {
            let config =
                TopKConfig::largest(ElementType::U32, 5000, 9).unsorted().values(words).policy(policy);
            let plan = TopKPlan::new(gpu.device(), config)?;
            let scratch = refused.scratch(0, plan.scratch_requirements(2).size);
            let [keys, top_keys, top_indices] = [0, 1, 2].map(|index| range(index + 5));
            let buffers = TopKBuffers::new(keys, top_keys, top_indices, scratch).values(values[0], values[1]);
            let dispatches = Dispatches::default();
            let mut recorder = Recorder::dry(gpu.device()).traced_by(&dispatches);
            plan.record(&mut recorder, &buffers, 2u64)?;
            let dispatches = dispatches.0.into_inner().unwrap_or_else(PoisonError::into_inner);
            let has = |ranges: &Vec<AddressRange>, of: &AddressRange| {
                ranges.iter().any(|range| range.address == of.address)
            };
            let with_values: Vec<_> =
                dispatches.iter().map(|ranges| values.iter().filter(|of| has(ranges, of)).count()).collect();
            let mut expected = vec![0; dispatches.len()];
            *expected.last_mut().ok_or("nothing was recorded")? = 2 * words as usize;
            assert!(expected.len() > 2);
            assert_eq!(with_values, expected, "{algorithm:?}, values of {words} words");
        }
    }
    Ok(())
}

/// One recording of each algorithm, for counts from 0 to more than its maximum.
fn counts(gpu: &Gpu) -> Result<(), Failed> {
    let (max, k) = (20, 9);
    for algorithm in TopKAlgorithm::ALL {
        let (columns, items) = if algorithm == TopKAlgorithm::Subgroups { (30, 8) } else { (300, 2) };
        let case = TopKCase::largest(ElementType::U32, columns, k);
        let input: Vec<_> = random(8, (max * columns) as usize).into_iter().map(|word| word % 90).collect();
        let source = Memory::with_words(gpu, &input, Alignment::Words)?;
        let expected: Vec<_> = input
            .chunks(columns as usize)
            .flat_map(|row| case.selected(row))
            .map(|column| column as u32)
            .collect();
        let config = TopKConfig::largest(ElementType::U32, columns, k).without_keys().indirect_count();
        let policy = TopKPolicy::new(algorithm, small_workgroup(gpu), items);
        let plan = TopKPlan::new(gpu.device(), config.policy(policy))?;
        let scratch = gpu.allocate(plan.scratch_requirements(max.into()).size)?;
        for stored in [0, 1, 19, max, max + 1, u32::MAX] {
            let rows = stored.min(max) as usize;
            let count_memory = Memory::with_words(gpu, &[stored], Alignment::Words)?;
            let indirect = Count::Indirect { address: count_memory.range().address, max };
            for count in [indirect, Count::Direct(rows as u64)] {
                let indices = Memory::poisoned(gpu, rows * k as usize, Alignment::Words)?;
                let whole = AddressRange::new(indices.range().address, u64::from(max * k) * 4);
                let buffers =
                    TopKBuffers::new(source.range(), AddressRange::default(), whole, scratch.range());
                run(gpu, &plan, &buffers, count)?;
                let case = format!("{algorithm:?}, {count:?} of {stored}");
                compare(&case, "indices", &indices, &expected[..rows * k as usize])?;
            }
        }
    }
    Ok(())
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    let refused = Refused::new(gpu)?;
    let at = |offset, size| refused.at(offset, size);
    let scratch = refused.scratch(1024, 1024);
    let config = TopKConfig::largest(ElementType::F32, 5, 2);
    let record = |config, buffers, count: Count| refused.record(config, buffers, count);
    let counted = refused.count(3000, 10);
    let buffers = TopKBuffers::new(at(0, 200), at(256, 80), at(344, 80), scratch);
    let buffers = buffers.values(at(512, 200), at(768, 80));
    let with_values = config.values(1).indirect_count();
    let scratch_size = gpu.plan(with_values)?.scratch_requirements(10).size;
    let read = [
        ("count", 4),
        ("segments", 0),
        ("ks", 0),
        ("source", 200),
        ("source_values", 200),
        ("functions_data", 0),
    ];
    let written = [("destination", 80), ("destination_indices", 80), ("destination_values", 80)];
    let all = [&read[..], &written, &[("scratch", scratch_size)]].concat();
    refused.expect_sizes(with_values, buffers, counted, &all);
    refused.expect_direct_only(config, buffers, counted);

    let most = TopKConfig::MAX_COLUMNS;
    let shapes = [(0, 0), (0, 1), (5, 0), (5, 6), (most + 1, 1), (u32::MAX, 1), (1, u32::MAX)];
    let configs = shapes.map(|(columns, k)| TopKConfig::largest(ElementType::U32, columns, k));
    let wide_values = config.values(TopKConfig::MAX_VALUE_WORDS + 1);
    refused
        .expect(configs.into_iter().chain([wide_values]), |error| matches!(error, Error::OutOfRange { .. }));
    assert_unsupported(refused.plan(config.without_keys().without_indices()), "");
    let tiles = |size, items| TopKPolicy::new(TopKAlgorithm::Tiles, size, items);
    let size = small_workgroup(gpu);
    let wide = TopKConfig::largest(ElementType::U32, 40_000, 2000);
    let subgroups = |items| TopKPolicy::new(TopKAlgorithm::Subgroups, size, items);
    let lanes = gpu.device().capabilities().min_subgroup_size;
    for (config, policy) in [
        (config, tiles(0, 4)),
        (config, tiles(33, 4)),
        (config, tiles(size, 0)),
        (config, tiles(size, 33)),
        (config, tiles(size, 4).with_radix_bits(3)),
        (config, tiles(size, 4).with_radix_bits(1)),
        (config, tiles(32, 4).with_radix_bits(8)),
        (config, tiles(size, 4).with_subgroup_size(3)),
        (config, subgroups(9)),
        (TopKConfig::largest(ElementType::U32, 8 * lanes + 1, 1), subgroups(8)),
        (TopKConfig::largest(ElementType::U32, lanes + 1, 1), subgroups(1)),
        (wide, tiles(size, 4)),
        (TopKConfig::largest(ElementType::U32, 9 * size, 9 * size).values(4096), tiles(size, 9)),
        (TopKConfig::largest(ElementType::U32, 8000, 4097), tiles(256, 32)),
    ] {
        // A workgroup of 32 is smaller than some subgroups.
        refused.expect([config.policy(policy)], |error| {
            matches!(error, Error::InvalidPolicy { .. } | Error::PolicyExceedsLimits { .. })
        });
    }
    let too_wide = config.policy(tiles(1 << 16, 1));
    refused.expect([too_wide], |error| matches!(error, Error::PolicyExceedsLimits { .. }));

    let huge = TopKBuffers::new(at(0, 1 << 60), at(1 << 61, 1 << 60), at(1 << 62, 1 << 60), scratch);
    let many = record(config, huge, Count::Direct(1 << 32));
    let too_many = Error::TooManyElements { count: 1 << 32, max: (1 << 32) - 1, what: "rows of a top-k" };
    assert_eq!(many, Err(too_many));
    let sorted = TopKConfig::largest(ElementType::U32, 1 << 20, 5000);
    let many = record(sorted, huge, Count::Direct(1 << 12));
    assert!(matches!(many, Err(Error::TooManyElements { .. })), "{many:?}");
    Ok(())
}
