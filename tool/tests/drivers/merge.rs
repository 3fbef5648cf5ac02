//! The parts of merges, and their results, counts and refusals.

use std::collections::HashSet;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{AddressRange, Capabilities, CommandCounts, Device, Recorder};
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::merge::{MergeBuffers, MergeConfig, MergePlan, MergePolicy};
use subsweep::{Count, ElementType, Error, FloatOrder};
use subsweep_tool::harness::{MergeCase, PlanConfig};

use super::cases::clean_trials;
use super::embedding::contract::{COUNT, Room, Subject};
use super::faults::work::{Opened, SMALL, WHOLE, cold, warm};
use super::passes::Check;
use super::passes::rig::{
    Alignment, Memory, POISON, Rig, Selection, Value, compare, key_words, numbers_stored, random, sizes,
    small_workgroup, stored, type_of_keys,
};
use super::primitive::{Primitive, bits, outcome, run};
use super::refused::Refused;

pub const PRIMITIVE: Primitive = Primitive {
    check: |stem, _| match stem {
        "merge/merge" => Some(merge as Check),
        "merge/args" => Some(args as Check),
        _ => None,
    },
    default_plans,
    subjects,
    phases: &[
        cold("planning a merge", |opened| {
            Ok(opened.gpu.plan(MergeConfig::keys(ElementType::F32).indirect_count()).map(drop))
        }),
        warm("merging", WHOLE, merging),
    ],
};

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "merge");
    vec![
        trial("mismatched ranges are refused", refusals),
        trial("slices of every type are merged", slices),
        trial("any counts on the device are merged, also 0", counts),
        trial("arrays that are not sorted give some of their keys", unsorted),
    ]
}

fn default_plans(_: &Capabilities) -> Vec<PlanConfig> {
    let configs = [MergeConfig::keys(ElementType::F32), MergeConfig::keys(ElementType::F64).values(2)];
    configs.into_iter().flat_map(|config| [config, config.indirect_count()]).map(PlanConfig::from).collect()
}

fn subjects(device: &Device, room: Room) -> subsweep::Result<Vec<Subject>> {
    let config = MergeConfig::keys(ElementType::U32);
    let half = |index: u64, second: u64| {
        let AddressRange { address, size } = room.array(index);
        AddressRange::new(address + second * size / 2, size / 2)
    };
    let buffers = MergeBuffers::new(half(0, 0), half(0, 1), room.array(1))
        .values(half(2, 0), half(2, 1), room.array(3))
        .scratch(room.scratch);
    let direct = Count::Direct(u64::from(COUNT) / 2);
    let indirect = room.count_up_to(COUNT / 2);
    let subjects = [
        (config, (direct, direct)),
        (config.values(1).indirect_count(), (indirect, direct)),
        (config.indirect_count(), (indirect, indirect)),
    ];
    Subject::all(device, "a merge", buffers, subjects)
}

fn merging(opened: &Opened) -> Result<subsweep::Result<()>, Failed> {
    let a: Vec<u32> = (0..1000).map(|index| index * 4_000_000).collect();
    let mut b = SMALL.clone();
    b.sort_unstable();
    let [expected, _] = MergeCase::keys(ElementType::U32).merged([&a, &b], [&[], &[]]);
    outcome(opened.gpu.merge(MergeConfig::keys(ElementType::U32), &a, &b), &expected)
}

fn args(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let rig = Rig::new(gpu, kernel, small_workgroup(gpu), &[])?;
    for (a, b, from) in
        [(0, 0, 0), (1, 0, 1), (99, 1, 2), (100, 100, 3), (701, 1100, 0), (5, 1000, 3), (1, 99, 1)]
    {
        // A count on the device, or one that is greater than its maximum on the host.
        let a_on_device = vec![if from == 3 { u32::MAX } else { a }];
        let host =
            |count: u32, is_beyond: bool| Value::Number(count as usize + if is_beyond { 50 } else { 0 });
        let workgroups = (a + b).div_ceil(100);
        let rows = workgroups.div_ceil(7).max(1);
        let args = [workgroups.div_ceil(rows), rows, 1, a, b, POISON, POISON, POISON];
        let values = [
            ("indirect_a_count", Value::input(a_on_device).only_if(from & 1 != 0)),
            ("indirect_b_count", Value::input(vec![b]).only_if(from & 2 != 0)),
            ("args", Value::output(&args)),
            ("a_count", host(a, from == 1)),
            ("b_count", host(b, from & 2 != 0)),
            ("tile_items", Value::Number(100)),
            ("max_row", Value::Number(7)),
        ];
        rig.check(&format!("{a}, {b}, {from}"), values, 1)?;
    }
    Ok(())
}

/// Types, words of values, items of an invocation, loads in flight and orders: every value of every option in the first
/// three of each width of keys.
const SHAPES: [(ElementType, u32, u32, u32, bool); 8] = [
    (ElementType::F64, 1, 4, 2, false),
    (ElementType::F32, 0, 2, 8, true),
    (ElementType::I64, 5, 6, 4, true),
    (ElementType::U32, 2, 8, 3, false),
    (ElementType::I32, 1, 4, 4, true),
    (ElementType::U64, 0, 2, 2, false),
    (ElementType::F64, 3, 4, 8, true),
    (ElementType::F32, 1, 2, 2, false),
];

fn merge(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    let shapes = SHAPES.into_iter().filter(|(element, ..)| element.words() == key_words(kernel));
    for (index, shape) in selection.first(3, shapes).into_iter().enumerate() {
        let (element, value_words, items, loads, is_descending) = shape;
        let order = FloatOrder::ALL[(index + 1) % 2];
        let stored_as = type_of_keys(kernel, element, index + 1);
        let constants = [
            ("ITEMS_PER_INVOCATION", items),
            ("KEY_NUMBERS", stored_as.key_numbers(order)),
            ("DESCENDING", is_descending.into()),
            ("WORDS_PER_VALUE", value_words),
            ("WIDE_OFFSETS", (index % 3 == 2).into()),
            ("LOADS_IN_FLIGHT", loads),
        ];
        let constants = if kernel.name.contains(":rounds") { &constants[..] } else { &constants[..5] };
        let rig = Rig::new(gpu, kernel, workgroup_size, constants)?;
        let case = MergeCase { values: value_words, is_descending, order, ..MergeCase::keys(element) };
        let tile = (items * workgroup_size) as usize;
        let words = element.words() as usize;
        for (index, count) in sizes(tile).into_iter().enumerate() {
            let a_count = [1, count / 3, 0, count / 2, count, count / 2][index].min(count);
            let mut input = random(count + index, count * words);
            // Many equal keys, and in long runs.
            if index % 2 == 1 {
                input.iter_mut().for_each(|word| *word &= 0x8000_0003);
            }
            let input = numbers_stored(stored_as, input);
            let values = random(count, count * value_words as usize);
            let (a, b) = input.split_at(a_count * words);
            let (a_values, b_values) = values.split_at(a_count * value_words as usize);
            let [a, a_values] = case.merged([a, &[]], [a_values, &[]]);
            let [b, b_values] = case.merged([b, &[]], [b_values, &[]]);
            let [expected, expected_values] = case.merged([&a, &b], [&a_values, &b_values]);

            let as_stored = |keys: &[u32]| stored(stored_as, keys);
            // With GPU-resident counts, the host's are wrong.
            let is_on_device = index % 2 == 0;
            let counts = [a_count, count - a_count].map(|count| count as u32);
            let on_host = counts.map(|count| Value::Pair([if is_on_device { count + 9 } else { count }, 0]));
            let [a_on_host, b_on_host] = on_host;
            let name = format!("{counts:?} {stored_as}, values of {value_words} words");
            let values = [
                ("a", Value::input(as_stored(&a))),
                ("b", Value::input(as_stored(&b))),
                ("destination", Value::output(as_stored(&expected))),
                ("a_values", Value::input(a_values)),
                ("b_values", Value::input(b_values)),
                ("destination_values", Value::output(expected_values)),
                ("indirect_counts", Value::input(&counts).only_if(is_on_device)),
                ("a_count", a_on_host),
                ("b_count", b_on_host),
            ];
            rig.check(&name, values, count.div_ceil(tile))?;
        }
    }
    Ok(())
}

fn slices(gpu: &Gpu) -> Result<(), Failed> {
    let keys = MergeConfig::keys;
    let (a, b) = ([-f32::NAN, -1.0, -0.0, 2.0, f32::INFINITY], [f32::NEG_INFINITY, 0.0, 2.0, f32::NAN]);
    let expected = [-f32::NAN, f32::NEG_INFINITY, -1.0, -0.0, 0.0, 2.0, 2.0, f32::INFINITY, f32::NAN];
    assert_eq!(bits(&gpu.merge(keys(ElementType::F32), &a, &b)?), bits(&expected));
    let doubles = gpu.merge(keys(ElementType::F64), &[-2.5, -0.0, 1e300], &[-1e300, 0.0, 7.0])?;
    let doubles: Vec<_> = doubles.into_iter().map(f64::to_bits).collect();
    assert_eq!(doubles, [-1e300, -2.5, -0.0, 0.0, 7.0, 1e300].map(f64::to_bits));
    assert_eq!(
        gpu.merge(keys(ElementType::I32), &[-5, 3], &[i32::MIN, 0, i32::MAX])?,
        [i32::MIN, -5, 0, 3, i32::MAX]
    );
    let wide = gpu.merge(keys(ElementType::I64), &[-1, 1 << 32], &[i64::MIN, (1 << 32) - 1, i64::MAX])?;
    assert_eq!(wide, [i64::MIN, -1, (1 << 32) - 1, 1 << 32, i64::MAX]);
    let down = gpu.merge(keys(ElementType::U64).descending(), &[9, 4, 0], &[u64::MAX, 4])?;
    assert_eq!(down, [u64::MAX, 9, 4, 4, 0]);
    let pairs = keys(ElementType::U32).values(2);
    let merged = gpu.merge_pairs(pairs, (&[1u32, 3], &[10u64, 11]), (&[0, 3, 3], &[20, 21, 22]))?;
    assert_eq!(merged, (vec![0, 1, 3, 3, 3], vec![20, 10, 11, 21, 22]));
    let wide = keys(ElementType::U32).values(3);
    let merged = gpu.merge_pairs(wide, (&[2u32], &[1, 2, 3]), (&[1], &[4, 5, 6]))?;
    assert_eq!(merged, (vec![1, 2], vec![4, 5, 6, 1, 2, 3]));
    assert_eq!(gpu.merge(keys(ElementType::U32), &[], &[1u32, 2])?, [1, 2]);
    assert_eq!(gpu.merge(keys(ElementType::U32), &[1u32, 2], &[])?, [1, 2]);
    assert!(gpu.merge::<u32>(keys(ElementType::U32), &[], &[])?.is_empty());

    let mismatch = gpu.merge(keys(ElementType::F32), &[1u32], &[1]);
    assert!(matches!(mismatch, Err(Error::ElementMismatch { .. })), "{mismatch:?}");
    let few = gpu.merge_pairs(pairs, (&[1u32, 3], &[10u64]), (&[0, 3], &[20, 21]));
    assert_eq!(few, Err(Error::ValueCountMismatch { key_count: 2, value_count: 1 }));
    let many = gpu.merge_pairs(pairs, (&[1u32, 3], &[10u64, 11]), (&[0, 3], &[20, 21, 22]));
    assert_eq!(many, Err(Error::ValueCountMismatch { key_count: 2, value_count: 3 }));
    // As many words, but two values would be one number.
    let joined = gpu.merge_pairs(keys(ElementType::U32).values(1), (&[1u32, 3], &[10u64]), (&[0, 3], &[20]));
    assert_eq!(joined, Err(Error::ValueSizeMismatch { expected: 4, got: 8 }));
    let surplus = gpu.merge_pairs(keys(ElementType::U32), (&[1u32], &[]), (&[0], &[20u64]));
    assert_eq!(surplus, Err(Error::ValueSizeMismatch { expected: 0, got: 8 }));
    let (mut merged, mut none) = ([7u32; 3], []);
    let mut prepare = |config, a: &[u32], b: &[u32]| {
        let keys = [a, b].map(bytemuck::cast_slice);
        let results = [bytemuck::cast_slice_mut(&mut merged), &mut none[..]];
        gpu.prepare_merge(config, keys, [&[], &[]], results).and_then(|merge| merge.run())
    };
    let ragged = prepare(keys(ElementType::U64), &[1, 2, 3], &[]);
    assert_eq!(ragged, Err(Error::PartialElement { size: 12, element_size: 8 }));
    let short = prepare(keys(ElementType::U32), &[1, 2], &[1, 2]);
    assert_eq!(short, Err(Error::RangeTooSmall { what: "the result", needed: 16, got: 12 }));
    prepare(keys(ElementType::U32), &[5], &[4])?;
    assert_eq!(merged, [4, 5, 7]);
    Ok(())
}

/// Indirect counts from 0 to more than their maximum.
fn counts(gpu: &Gpu) -> Result<(), Failed> {
    let config = MergeConfig::keys(ElementType::U32).values(1).indirect_count();
    let plan = MergePlan::new(gpu.device(), config)?;
    let case = MergeCase { values: 1, ..MergeCase::keys(ElementType::U32) };
    let max = 3000;
    let [mut a, mut b] = [3, 4].map(|seed| random(seed, max as usize));
    a.sort_unstable();
    b.sort_unstable();
    let [a_values, b_values] = [5, 6].map(|seed| random(seed, max as usize));
    let memory = |words: &[u32]| Memory::with_words(gpu, words, Alignment::Words);
    let (a_memory, b_memory) = (memory(&a)?, memory(&b)?);
    let (a_values_memory, b_values_memory) = (memory(&a_values)?, memory(&b_values)?);
    let scratch = gpu.allocate(plan.scratch_requirements((max.into(), max.into())).size)?;
    for (a_stored, b_stored) in [(0, 0), (0, max), (max, 0), (1, 2999), (u32::MAX, max + 1), (1500, 7)] {
        let count_memory = memory(&[a_stored, b_stored])?;
        let at = |index: u64| Count::Indirect { address: count_memory.range().address + 4 * index, max };
        let [a_count, b_count] = [a_stored, b_stored].map(|count| count.min(max) as usize);
        let [mut keys, mut values] =
            case.merged([&a[..a_count], &b[..b_count]], [&a_values[..a_count], &b_values[..b_count]]);
        let room = 2 * max as usize;
        keys.resize(room, POISON);
        values.resize(room, POISON);
        let direct = [a_count, b_count].map(|count| Count::Direct(count as u64));
        for count in [(at(0), at(1)), (direct[0], at(1)), (at(0), direct[1]), (direct[0], direct[1])] {
            let destination = Memory::poisoned(gpu, room, Alignment::Words)?;
            let destination_values = Memory::poisoned(gpu, room, Alignment::Words)?;
            let buffers = MergeBuffers::new(a_memory.range(), b_memory.range(), destination.range())
                .values(a_values_memory.range(), b_values_memory.range(), destination_values.range())
                .scratch(scratch.range());
            run(gpu, &plan, &buffers, count)?;
            let name = format!("{count:?} of {a_stored}, {b_stored}");
            compare(&name, "destination", &destination, &keys)?;
            compare(&name, "destination_values", &destination_values, &values)?;
        }
    }
    Ok(())
}

/// Between guard words, which are no keys.
fn unsorted(gpu: &Gpu) -> Result<(), Failed> {
    let policy = MergePolicy::tiled(small_workgroup(gpu), 2);
    let plan = MergePlan::new(gpu.device(), MergeConfig::keys(ElementType::U32).policy(policy))?;
    for seed in 0..60 {
        let (a, b) = (random(seed, 300 + 5 * seed), random(seed + 99, 400));
        let [a_memory, b_memory] =
            [Memory::with_words(gpu, &a, Alignment::Words)?, Memory::with_words(gpu, &b, Alignment::Words)?];
        let destination = Memory::poisoned(gpu, a.len() + b.len(), Alignment::Words)?;
        let buffers = MergeBuffers::new(a_memory.range(), b_memory.range(), destination.range());
        let count = (a.len() as u64, b.len() as u64);
        run(gpu, &plan, &buffers, count)?;
        let known: HashSet<_> = a.iter().chain(&b).collect();
        if let Some(other) = destination.read()?.iter().find(|key| !known.contains(key)) {
            return Err(format!("seed {seed}: {other:#010x} is a key of neither array").into());
        }
    }
    Ok(())
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    let refused = Refused::new(gpu)?;
    let at = |offset, size| refused.at(offset, size);
    let config = MergeConfig::keys(ElementType::F64).values(1);
    let (a, b, destination) = (at(0, 80), at(128, 40), at(256, 120));
    let (a_values, b_values, values) = (at(384, 40), at(512, 20), at(640, 60));
    let (ten, five) = (Count::Direct(10), Count::Direct(5));
    let buffers = MergeBuffers::new(a, b, destination)
        .values(a_values, b_values, values)
        .scratch(refused.scratch(1024, 32));
    for (count, sizes) in [((ten, refused.count(2048, 5)), [0, 4]), ((refused.count(2048, 10), five), [4, 0])]
    {
        let counts = [("a_count", sizes[0]), ("b_count", sizes[1]), ("a", 80), ("b", 40)];
        let values = [("a_values", 40), ("b_values", 20)];
        let written =
            [("destination", 120), ("destination_values", 60), ("functions_data", 0), ("scratch", 32)];
        let all = [&counts[..], &values, &written].concat();
        refused.expect_sizes(config.indirect_count(), buffers, count, &all);
        refused.expect_direct_only(config, buffers, count);
    }

    let wide = config.values(MergeConfig::MAX_VALUE_WORDS + 1);
    refused.expect([wide], |error| matches!(error, Error::OutOfRange { .. }));
    let with_loads = |loads_in_flight| {
        let mut policy = MergePolicy::tiled(64, 4);
        policy.loads_in_flight = loads_in_flight;
        policy
    };
    let policies = [
        with_loads(0),
        with_loads(17),
        MergePolicy::tiled(0, 4),
        MergePolicy::tiled(33, 4),
        MergePolicy::tiled(64, 0),
        MergePolicy::tiled(64, 3),
        MergePolicy::tiled(64, 66),
        MergePolicy::tiled(64, 4).with_subgroup_size(3),
    ];
    let configs = policies.map(|policy| config.policy(policy));
    // More iterations than every driver has.
    let long_loop = config.values(MergeConfig::MAX_VALUE_WORDS).policy(MergePolicy::tiled(64, 10));
    refused
        .expect(configs.into_iter().chain([long_loop]), |error| matches!(error, Error::InvalidPolicy { .. }));
    let items = gpu.capabilities().shared_memory_size / (64 * 10) / 2 * 2 + 2;
    let policies =
        [MergePolicy::tiled(1 << 16, 4), MergePolicy::tiled(64, items.min(64)), MergePolicy::tiled(128, 64)];
    let configs = policies.map(|policy| config.policy(policy));
    refused.expect(configs, |error| matches!(error, Error::PolicyExceedsLimits { .. }));

    let huge = |index: u64| AddressRange::new(index << 56, 1 << 56);
    let huge = MergeBuffers::new(huge(1), huge(2), huge(3)).values(huge(4), huge(5), huge(6));
    let direct = |a, b| (Count::Direct(a), Count::Direct(b));
    let many = refused.record(config, huge, direct(u32::MAX.into(), 1));
    assert!(matches!(many, Err(Error::TooManyElements { max: 0xffff_ffff, .. })), "{many:?}");
    let many = refused.record(config.large_counts(), huge, direct(1 << 52, 5));
    assert!(matches!(many, Err(Error::TooManyElements { what: "one merge of this policy", .. })), "{many:?}");
    let huge = huge.scratch(refused.scratch(1024, 32));
    for count in [(Count::Direct(1 << 32), refused.count(2048, 1)), (refused.count(2048, u32::MAX), five)] {
        let many = refused.record(config.large_counts().indirect_count(), huge, count);
        assert!(matches!(many, Err(Error::TooManyElements { max: 0xffff_ffff, .. })), "{many:?}");
    }
    let mut dry = Recorder::dry(gpu.device());
    gpu.plan(config)?.record(&mut dry, &buffers, (Count::Direct(0), Count::Direct(0)))?;
    assert_eq!(dry.counts(), CommandCounts::default());
    Ok(())
}
