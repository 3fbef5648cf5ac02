//! The parts of searches, and their results, counts and refusals.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{Capabilities, CommandCounts, Device, Recorder};
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::search::{SearchBuffers, SearchConfig, SearchPlan, SearchPolicy};
use subsweep::{Count, ElementType, Error, FloatOrder};
use subsweep_tool::harness::{PlanConfig, SearchCase};

use super::cases::clean_trials;
use super::embedding::contract::{COUNT, Room, Subject};
use super::faults::work::{Opened, SMALL, WHOLE, cold, warm};
use super::passes::Check;
use super::passes::rig::{
    Alignment, Memory, Rig, Selection, Tiles, Value, compare, key_words, numbers_stored, random, sizes,
    small_workgroup, stored, type_of_keys,
};
use super::primitive::{Primitive, bytes, outcome, run};
use super::refused::Refused;

pub const PRIMITIVE: Primitive = Primitive {
    check: |stem, _| (stem == "search/search").then_some(pass as Check),
    default_plans,
    subjects,
    phases: &[
        cold("planning a search", |opened| {
            Ok(opened.gpu.plan(SearchConfig::lower_bound(ElementType::F32).indirect_count()).map(drop))
        }),
        warm("searching", WHOLE, searching),
    ],
};

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "search");
    vec![
        trial("rows of slices are searched by themselves", rows),
        trial("mismatched ranges are refused", refusals),
        trial("slices of every type are searched", slices),
        trial("an array that is not sorted gives positions in range", unsorted),
    ]
}

fn default_plans(_: &Capabilities) -> Vec<PlanConfig> {
    let configs = [SearchConfig::lower_bound(ElementType::F32), SearchConfig::upper_bound(ElementType::F64)];
    configs.into_iter().flat_map(|config| [config, config.indirect_count()]).map(PlanConfig::from).collect()
}

fn subjects(device: &Device, room: Room) -> subsweep::Result<Vec<Subject>> {
    let config = SearchConfig::lower_bound(ElementType::U32);
    let [sorted, needles, positions] = [0, 1, 2].map(|index| room.array(index));
    let buffers = SearchBuffers::new(sorted, needles, positions).scratch(room.scratch);
    let direct = Count::Direct(COUNT.into());
    let subjects = [
        (config, (direct, direct)),
        (config.indirect_count(), (room.count(), direct)),
        (config.indirect_count(), (room.count(), room.count())),
    ];
    let mut subjects = Subject::all(device, "a search", buffers, subjects)?;
    let counts = (direct, direct);
    subjects.push(Subject::new(device, "a search along rows", config.along_rows(3, 3), buffers, counts)?);
    Ok(subjects)
}

fn searching(opened: &Opened) -> Result<subsweep::Result<()>, Failed> {
    let sorted: Vec<u32> = (0..1000).map(|index| index * 4_000_000).collect();
    let config = SearchConfig::lower_bound(ElementType::U32);
    outcome(opened.gpu.search(config, &sorted, &SMALL), &SearchCase::positions(&config, &sorted, &SMALL))
}

/// Types, sides and steps in shared memory: every value of every option in the first three of each width of keys.
const SHAPES: [(ElementType, bool, u32); 8] = [
    (ElementType::F64, false, 2),
    (ElementType::F32, true, 9),
    (ElementType::I64, true, 1),
    (ElementType::U32, false, 12),
    (ElementType::I32, false, 5),
    (ElementType::U64, false, 3),
    (ElementType::F64, true, 12),
    (ElementType::F32, false, 1),
];

fn pass(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    let shapes = SHAPES.into_iter().filter(|(element, ..)| element.words() == key_words(kernel));
    for (index, (element, is_upper_bound, shared_steps)) in selection.first(3, shapes).into_iter().enumerate()
    {
        let order = FloatOrder::ALL[(index + 1) % 2];
        let stored_as = type_of_keys(kernel, element, index + 1);
        // Along rows the second shape of each width, and then every third.
        let rows = (index % 3 == 1).then_some([9, 4]);
        let [sorted_length, needle_length] = rows.unwrap_or_default().map(|length: u32| length as usize);
        // The third shape of each width, and every third from there.
        let has_large_counts = index % 3 == 2;
        let case =
            SearchCase { is_upper_bound, order, rows, has_large_counts, ..SearchCase::lower_bound(element) };
        let constants = [
            ("ITEMS_PER_INVOCATION", 8),
            ("KEY_NUMBERS", stored_as.key_numbers(order)),
            ("UPPER", is_upper_bound.into()),
            ("SHARED_STEPS", shared_steps),
            ("ALONG_ROWS", rows.is_some().into()),
            ("WIDE_OFFSETS", has_large_counts.into()),
        ];
        let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
        let tile = 8 * workgroup_size as usize;
        for (index, needle_count) in sizes(tile).into_iter().enumerate() {
            let sorted_count = match rows {
                Some(_) => needle_count.div_ceil(needle_length) * sorted_length,
                None => [1000, 0, 7, 1024, 1, 5000][index],
            };
            let needles = numbers_stored(stored_as, keys(element, needle_count));
            let row_words = (if rows.is_some() { sorted_length } else { 5000 }) * element.words() as usize;
            let unsorted = numbers_stored(stored_as, keys(element, sorted_count));
            let sorted_row = |row| SearchCase::sorted_keys(&case.config(), row);
            let sorted: Vec<_> = unsorted.chunks(row_words).flat_map(sorted_row).collect();
            let expected = SearchCase::positions(&case.config(), &sorted, &needles);
            let tiles = Tiles::new(needle_count, tile);
            let is_on_device = index % 2 == 1;
            let host_count = sorted_count + if is_on_device { 1000 } else { 0 };
            let case = format!("{needle_count} {stored_as} in {sorted_count}, {shared_steps} steps");
            let values = [
                ("sorted", Value::input(stored(stored_as, &sorted))),
                ("needles", Value::input(stored(stored_as, &needles))),
                ("positions", Value::output(expected)),
                ("indirect_sorted_count", Value::input(vec![sorted_count as u32]).only_if(is_on_device)),
                ("sorted_count", Value::Pair([host_count as u32, 0])),
                ("sorted_length", Value::Number(sorted_length)),
                ("needle_length", Value::Number(needle_length)),
            ];
            rig.check(&case, values.into_iter().chain(tiles.push(is_on_device)), tiles.tile_count)?;
        }
    }
    Ok(())
}

/// Keys of few different values, among them the special ones of floats, as words.
fn keys(element: ElementType, count: usize) -> Vec<u32> {
    let words = random(count + 1, count);
    let float = |word: u32| match word % 16 {
        0 => f64::NAN,
        1 => -f64::NAN,
        2 => f64::INFINITY,
        3 => f64::NEG_INFINITY,
        4 => 0.0,
        5 => -0.0,
        6 => f64::from_bits(1),
        _ => f64::from(word as i32 >> 16) / 3.0,
    };
    let key = |&word: &u32| -> Vec<u32> {
        match element {
            ElementType::U32 | ElementType::I32 => vec![word],
            ElementType::F32 => vec![(float(word) as f32).to_bits()],
            // Low words differ where high ones are equal.
            ElementType::U64 | ElementType::I64 => vec![word, word % 4 * 0x4000_0001],
            ElementType::F64 if word % 7 == 3 => vec![word, 0xfff0_0000 ^ word << 31],
            ElementType::F64 => bytemuck::cast_slice(&[float(word).to_bits()]).to_vec(),
            _ => unreachable!("packed keys are searched for as keys of 32 bits"),
        }
    };
    words.iter().flat_map(key).collect()
}

fn slices(gpu: &Gpu) -> Result<(), Failed> {
    let (lower, upper) = (SearchConfig::lower_bound, SearchConfig::upper_bound);
    let sorted = [f32::NEG_INFINITY, -1.0, -0.0, 0.0, 1e-45, 2.0, f32::INFINITY, -f32::NAN, f32::NAN];
    let needles = [0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.0, -1e-45];
    assert_eq!(gpu.search(lower(ElementType::F32), &sorted, &needles)?, [2, 2, 7, 7, 6, 0, 5, 2]);
    assert_eq!(gpu.search(upper(ElementType::F32), &sorted, &needles)?, [4, 4, 9, 9, 7, 1, 5, 2]);
    assert_eq!(gpu.search_large(upper(ElementType::F32), &sorted, &needles)?, [4, 4, 9, 9, 7, 1, 5, 2]);
    let [doubles, double_needles] =
        [&sorted[..], &needles].map(|keys| keys.iter().map(|&key| f64::from(key)).collect::<Vec<_>>());
    assert_eq!(gpu.search(lower(ElementType::F64), &doubles, &double_needles)?, [2, 2, 7, 7, 6, 0, 5, 2]);
    assert_eq!(gpu.search(upper(ElementType::F64), &doubles, &double_needles)?, [4, 4, 9, 9, 7, 1, 5, 2]);
    // A NaN and infinity that differ in the low word alone.
    let tail = [f64::MAX, f64::INFINITY, f64::from_bits(0x7ff0_0000_0000_0001), f64::NAN];
    assert_eq!(gpu.search(lower(ElementType::F64), &tail, &[tail[2], tail[1], tail[0]])?, [2, 1, 0]);
    assert_eq!(gpu.search(upper(ElementType::F64), &tail, &[tail[2], tail[1], tail[0]])?, [4, 2, 1]);
    assert_eq!(gpu.search(lower(ElementType::I32), &[i32::MIN, -1, 0, i32::MAX], &[0, i32::MAX])?, [2, 3]);
    assert_eq!(gpu.search(upper(ElementType::U32), &[0, 7, 7, u32::MAX], &[7, u32::MAX, 8])?, [3, 4, 3]);
    let wide = [i64::MIN, -1, 0, 1 << 32, (1 << 32) + 1, i64::MAX];
    assert_eq!(gpu.search(lower(ElementType::I64), &wide, &[1 << 32, -2, i64::MAX])?, [3, 1, 5]);
    assert_eq!(gpu.search(upper(ElementType::U64), &[5, 1 << 63, u64::MAX], &[1 << 63, 4])?, [2, 0]);
    assert_eq!(gpu.search(lower(ElementType::U32), &[], &[1u32, 2])?, [0, 0]);
    assert!(gpu.search(lower(ElementType::U32), &[1u32, 2], &[])?.is_empty());

    let mismatch = gpu.search(lower(ElementType::F32), &[1u32], &[1]);
    assert!(matches!(mismatch, Err(Error::ElementMismatch { .. })), "{mismatch:?}");
    let mut positions = [7u32; 2];
    let mut prepare = |config, sorted: &[u8], needles: &[u8]| {
        let positions = bytemuck::cast_slice_mut(&mut positions);
        gpu.prepare_search(config, sorted, needles, positions).and_then(|search| search.run())
    };
    let ragged = prepare(lower(ElementType::U64), bytes(&[1, 2, 3]), bytes(&[]));
    assert_eq!(ragged, Err(Error::PartialElement { size: 12, element_size: 8 }));
    let short = prepare(lower(ElementType::U32), bytes(&[1]), bytes(&[1, 2, 3]));
    assert_eq!(short, Err(Error::RangeTooSmall { what: "the result", needed: 12, got: 8 }));
    prepare(lower(ElementType::U32), bytes(&[1, 3]), bytes(&[2]))?;
    assert_eq!(positions, [1, 7]);
    Ok(())
}

/// Needles of rows beyond the sorted ones are searched for in the last of these, and in no keys.
fn rows(gpu: &Gpu) -> Result<(), Failed> {
    let config = SearchConfig::upper_bound(ElementType::F32).along_rows(3, 2);
    let (sorted, needles) = ([1.0, 3.0, f32::NAN, -0.0, 0.0, 5.0], [3.0, f32::NAN, 0.0, 9.0]);
    assert_eq!(gpu.search(config, &sorted, &needles)?, [2, 3, 2, 3]);
    let mut positions = [7; 5];
    let ragged = gpu.prepare_search(config, bytes(&[0; 6]), bytes(&[0; 5]), &mut positions).err();
    assert_eq!(ragged, Some(Error::RowLengthMismatch { value_count: 5, columns: 2 }));
    let fewer = gpu.prepare_search(config, bytes(&[0; 3]), bytes(&[0; 4]), &mut positions).err();
    assert!(matches!(fewer, Some(Error::Unsupported { .. })), "{fewer:?}");
    for lengths in [(0, 2), (3, 0)] {
        let none = SearchPlan::new(gpu.device(), config.along_rows(lengths.0, lengths.1));
        assert!(matches!(none, Err(Error::OutOfRange { .. })), "{lengths:?}");
    }

    let plan = SearchPlan::new(gpu.device(), SearchConfig::lower_bound(ElementType::U32).along_rows(3, 2))?;
    let sorted = Memory::with_words(gpu, &[1, 3, 7, 2, 4, 6], Alignment::Words)?;
    let needles = Memory::with_words(gpu, &[3, 8, 4, 0, 5, 9], Alignment::Words)?;
    for (sorted_count, expected) in
        [(6, [1, 3, 1, 0, 2, 3]), (5, [1, 3, 2, 0, 2, 3]), (2, [1, 2, 2, 0, 2, 2]), (0, [0; 6])]
    {
        let positions = Memory::poisoned(gpu, 6, Alignment::Words)?;
        let buffers = SearchBuffers::new(sorted.range(), needles.range(), positions.range());
        run(gpu, &plan, &buffers, (sorted_count, 6))?;
        compare(&format!("{sorted_count} keys"), "positions", &positions, &expected)?;
    }
    Ok(())
}

fn unsorted(gpu: &Gpu) -> Result<(), Failed> {
    let (keys, needles) = (random(5, 3001), random(6, 2000));
    for config in [SearchConfig::lower_bound(ElementType::U32), SearchConfig::upper_bound(ElementType::U32)] {
        let positions = gpu.search(config, &keys, &needles)?;
        assert!(positions.iter().all(|&position| position <= 3001));
    }
    Ok(())
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    let refused = Refused::new(gpu)?;
    let at = |offset, size| refused.at(offset, size);
    let config = SearchConfig::lower_bound(ElementType::F64);
    let (ten, five) = (Count::Direct(10), Count::Direct(5));
    let [sorted_count, needle_count] = [10, 5].map(|max| refused.count(2048, max));
    let buffers = SearchBuffers::new(at(0, 80), at(256, 40), at(512, 20)).scratch(refused.scratch(1024, 32));
    // Only an indirect count of needles uses the scratch.
    for (count, sizes, scratch_size) in [((ten, needle_count), [0, 4], 32), ((sorted_count, five), [4, 0], 0)]
    {
        let counts = [("sorted_count", sizes[0]), ("needle_count", sizes[1])];
        let ranges = [
            ("sorted", 80),
            ("needles", 40),
            ("positions", 20),
            ("functions_data", 0),
            ("scratch", scratch_size),
        ];
        refused.expect_sizes(config.indirect_count(), buffers, count, &[&counts[..], &ranges].concat());
        refused.expect_direct_only(config, buffers, count);
    }

    let in_rows = config.along_rows(3, 3).large_counts();
    refused.expect([in_rows], |error| matches!(error, Error::Unsupported { .. }));
    let large = gpu.search(SearchConfig::lower_bound(ElementType::U32).large_counts(), &[1u32], &[1]);
    assert!(matches!(large, Err(Error::Unsupported { .. })), "{large:?}");

    let policies = [
        SearchPolicy::tiled(0, 4, 4),
        SearchPolicy::tiled(33, 4, 4),
        SearchPolicy::tiled(64, 0, 4),
        SearchPolicy::tiled(64, 6, 4),
        SearchPolicy::tiled(64, 260, 4),
        SearchPolicy::tiled(64, 4, 0),
        SearchPolicy::tiled(64, 4, 13),
        SearchPolicy::tiled(64, 4, 4).with_subgroup_size(3),
    ];
    let configs = policies.map(|policy| config.policy(policy));
    refused.expect(configs, |error| matches!(error, Error::InvalidPolicy { .. }));
    let wide = config.policy(SearchPolicy::tiled(1 << 16, 4, 4));
    refused.expect([wide], |error| matches!(error, Error::PolicyExceedsLimits { .. }));

    let huge = SearchBuffers::new(at(0, 1 << 60), at(1 << 61, 40), at(1 << 62, 72));
    let many = refused.record(config, huge, (Count::Direct(1 << 32), five));
    let too_many =
        Error::TooManyElements { count: 1 << 32, max: (1 << 32) - 1, what: "positions of 32 bits" };
    assert_eq!(many, Err(too_many));
    // No needles record nothing, and no keys a dispatch.
    let mut dry = Recorder::dry(gpu.device());
    gpu.plan(config)?.record(&mut dry, &buffers, (ten, Count::Direct(0)))?;
    assert_eq!(dry.counts(), CommandCounts::default());
    gpu.plan(config)?.record(&mut dry, &buffers, (Count::Direct(0), five))?;
    assert_eq!(dry.counts().dispatches, 1);
    Ok(())
}
