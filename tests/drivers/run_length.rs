//! The parts of run-length encoding and decoding, and their results on slices and refusals.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{AddressRange, BufferRange, Capabilities, Device};
use subsweep::harness::PlanConfig;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::run_length::{RunLengthBuffers, RunLengthConfig, RunLengthPolicy};
use subsweep::{Count, ElementType, Error};

use super::cases::clean_trials;
use super::embedding::contract::{COUNT, Room, Subject};
use super::faults::work::{Opened, SMALL, WHOLE, cold, warm};
use super::passes::Check;
use super::passes::rig::{
    Alignment, Memory, POISON, Rig, Selection, Tiles, Value, compare, random, sizes, small_workgroup,
};
use super::primitive::{Primitive, outcome};
use super::refused::{Refused, assert_unsupported, too_small};

pub const PRIMITIVE: Primitive = Primitive {
    check: |stem, _| match stem {
        "run_length/lengths" => Some(lengths as Check),
        "run_length/decode" => Some(decode as Check),
        _ => None,
    },
    default_plans,
    subjects,
    phases: &[
        cold("planning an encoding", |opened| {
            let config = RunLengthConfig::encode(ElementType::F32).non_trivial().indirect_count();
            Ok(opened.gpu.plan(config).map(drop))
        }),
        warm("coding runs", WHOLE, coding),
    ],
};

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "run_length");
    vec![
        trial("mismatched ranges are refused", refusals),
        trial("slices of any type are encoded and decoded", slices),
    ]
}

/// Plans of each coding.
fn configs() -> [RunLengthConfig; 6] {
    let encode = RunLengthConfig::encode(ElementType::U32);
    [
        encode,
        RunLengthConfig::encode(ElementType::F64).offsets(),
        encode.non_trivial(),
        RunLengthConfig::decode(ElementType::F32),
        RunLengthConfig::decode(ElementType::I64),
        RunLengthConfig::decode_indices(),
    ]
}

fn default_plans(_: &Capabilities) -> Vec<PlanConfig> {
    let plans = configs().into_iter().flat_map(|config| [config, config.indirect_count()]);
    plans.map(PlanConfig::from).collect()
}

fn subjects(device: &Device, room: Room) -> subsweep::Result<Vec<Subject>> {
    let [elements, values, counts, offsets] = [0, 1, 2, 3].map(|index| room.array(index));
    let result_count = room.arrays.slice(64, 4).addresses();
    let buffers =
        RunLengthBuffers::new(elements, values, counts, result_count, room.scratch).offsets(offsets);
    let [encode, _, non_trivial, decode, ..] = configs();
    let mut subjects = Vec::new();
    for config in [encode, encode.offsets(), non_trivial, non_trivial.without_values(), decode] {
        for (config, count) in
            [(config, Count::Direct(COUNT.into())), (config.indirect_count(), room.count())]
        {
            let name = format!("runs, {config:?}, {count:?}");
            subjects.push(Subject::new(device, name, config, buffers, count)?);
        }
    }
    Ok(subjects)
}

fn coding(opened: &Opened) -> Result<subsweep::Result<()>, Failed> {
    let counts: Vec<_> = (0..SMALL.len() as u32).map(|index| index % 3).collect();
    let runs = |elements: &[u32]| {
        let config = RunLengthConfig::encode(ElementType::U32).without_values();
        opened.gpu.run_length_encode(config, elements)
    };
    let coded = opened.gpu.run_length_decode(&SMALL, &counts).and_then(|elements| runs(&elements));
    let expected: Vec<_> = counts.into_iter().filter(|&count| count > 0).collect();
    outcome(coded.map(|coded| coded.counts), &expected)
}

const ITEMS: usize = 3;

/// Lengths of `count` runs, some of 0.
fn some_lengths(count: usize) -> Vec<u32> {
    let length = |draw: u32| match draw % 7 {
        0 | 1 => 0,
        2 => draw >> 8 & 127,
        few => few - 2,
    };
    random(count, count).into_iter().map(length).collect()
}

/// The sum of the lengths up to each.
fn ends(lengths: &[u32]) -> Vec<u32> {
    let sum = |sum: &mut u32, length: &u32| {
        *sum += length;
        Some(*sum)
    };
    lengths.iter().scan(0, sum).collect()
}

fn lengths(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    let rig = Rig::new(gpu, kernel, workgroup_size, &[("ITEMS_PER_INVOCATION", ITEMS as u32)])?;
    let tile = workgroup_size as usize * ITEMS;
    for (index, run_count) in sizes(tile).into_iter().enumerate() {
        let lengths: Vec<_> = some_lengths(run_count).into_iter().map(|length| length + 1).collect();
        let ends = ends(&lengths);
        let starts: Vec<_> = ends.iter().zip(&lengths).map(|(end, length)| end - length).collect();
        let tiles = Tiles::new(run_count, tile);
        let of = |words: &[u32]| Memory::of(gpu, words, Alignment::Words);
        let (starts, tiles_memory) = (of(&starts)?, of(&tiles.words())?);
        let count = of(&ends[run_count - 1..])?;
        let is_on_device = index % 2 == 1;
        let written = Memory::poisoned(gpu, run_count, Alignment::Words)?;
        let element_count = ends[run_count - 1] as usize + if is_on_device { 5 } else { 0 };
        let push = [
            ("starts", Value::Pointer(&starts)),
            ("lengths", Value::Pointer(&written)),
            ("indirect_tiles", Value::Pointer(&tiles_memory)),
            ("indirect_count", Value::pointer_if(is_on_device, &count)),
            ("element_count", Value::Number(element_count)),
        ];
        rig.run(&push, tiles.tile_count)?;
        compare(&format!("{run_count} runs"), "lengths", &written, &lengths)?;
    }
    Ok(())
}

fn decode(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    let tile = workgroup_size as usize * ITEMS;
    for words in selection.first(3, [1, 2, 0]) {
        let constants = [("ITEMS_PER_INVOCATION", ITEMS as u32), ("KEPT_WORDS", words as u32)];
        let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
        for (index, run_count) in [0].into_iter().chain(sizes(tile)).enumerate() {
            // All elements fit, with room left, or not all.
            for rest in [0, 7, -3] {
                decode_runs(gpu, &rig, [words, run_count], rest, index % 2 == 1)?;
            }
        }
        // Many runs of nothing before and behind an element, and one long run.
        let mut lengths = vec![0; 5000];
        lengths[4000] = 1;
        run_decode(gpu, &rig, words, &lengths, 1, false)?;
        run_decode(gpu, &rig, words, &[3 * tile as u32 + 1], 3 * tile + 1, false)?;
    }
    Ok(())
}

fn decode_runs(
    gpu: &Gpu,
    rig: &Rig<'_>,
    [words, run_count]: [usize; 2],
    rest: isize,
    is_on_device: bool,
) -> Result<(), Failed> {
    let lengths = some_lengths(run_count);
    let total = lengths.iter().sum::<u32>() as usize;
    run_decode(gpu, rig, words, &lengths, total.saturating_add_signed(rest), is_on_device)
}

/// Decodes runs into memory for `capacity` elements; with `is_on_device` the number of runs is in device memory, and that
/// of the host is a larger maximum.
fn run_decode(
    gpu: &Gpu,
    rig: &Rig<'_>,
    words: usize,
    lengths: &[u32],
    capacity: usize,
    is_on_device: bool,
) -> Result<(), Failed> {
    let tile = small_workgroup(gpu) as usize * ITEMS;
    let run_count = lengths.len();
    let of = |words: &[u32]| Memory::of(gpu, words, Alignment::Words);
    let all_ends = ends(lengths);
    let values = random(run_count + 1, run_count * words);
    let [ends, values_memory, count] = [&all_ends, &values, &vec![run_count as u32]].map(|words| of(words));
    let (ends, values_memory, count) = (ends?, values_memory?, count?);
    let stored_words = words.max(1);
    let elements = Memory::poisoned(gpu, capacity * stored_words, Alignment::Words)?;
    let element_count = Memory::poisoned(gpu, 1, Alignment::Words)?;
    let push = [
        ("ends", Value::Pointer(&ends)),
        ("values", Value::Pointer(&values_memory)),
        ("elements", Value::Pointer(&elements)),
        ("element_count", Value::Pointer(&element_count)),
        ("indirect_count", Value::pointer_if(is_on_device, &count)),
        ("run_count", Value::Number(run_count + if is_on_device { 9 } else { 0 })),
        ("capacity", Value::Number(capacity)),
    ];
    rig.run(&push, capacity.div_ceil(tile).max(1))?;
    let runs = (0..run_count).flat_map(|run| vec![run; lengths[run] as usize]);
    let mut expected: Vec<_> = match words {
        0 => runs.map(|run| run as u32).collect(),
        _ => runs.flat_map(|run| values[run * words..][..words].to_vec()).collect(),
    };
    expected.resize(capacity * stored_words, POISON);
    let name = format!("{run_count} runs of {words} words, {capacity} fit");
    compare(&name, "elements", &elements, &expected)?;
    compare(&name, "element_count", &element_count, &[lengths.iter().sum()])
}

fn slices(gpu: &Gpu) -> Result<(), Failed> {
    let encode = RunLengthConfig::encode(ElementType::F32);
    let floats = [0.0f32, -0.0, f32::NAN, -f32::NAN, 1.0, 0.0, 2.5, 2.5, 2.5];
    let runs = gpu.run_length_encode(encode.offsets(), &floats)?;
    assert_eq!((&runs.counts[..], &runs.offsets[..]), (&[2, 2, 1, 1, 3][..], &[0, 2, 4, 5, 6][..]));
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(runs.values, bits(&[0.0, f32::NAN, 1.0, 0.0, 2.5]));
    let runs = gpu.run_length_encode(encode.non_trivial(), &floats)?;
    assert_eq!((runs.counts, runs.offsets), (vec![2, 2, 3], vec![0, 2, 6]));
    assert_eq!(runs.values, bits(&[0.0, f32::NAN, 2.5]));
    let runs = gpu.run_length_encode(encode.without_values(), &floats[..5])?;
    assert_eq!((runs.values, runs.counts, runs.offsets), (vec![], vec![2, 2, 1], vec![]));
    let none = gpu.run_length_encode(encode.non_trivial(), &[] as &[f32])?;
    assert_eq!((none.values, none.counts, none.offsets), (vec![], vec![], vec![]));
    let wide = [7i64 << 40, 7 << 40, 7, -1];
    let runs = gpu.run_length_encode(RunLengthConfig::encode(ElementType::I64), &wide)?;
    assert_eq!((runs.values::<i64>()?, &runs.counts[..]), (vec![7 << 40, 7, -1], &[2, 1, 1][..]));
    assert_eq!(gpu.run_length_decode(&runs.values::<i64>()?, &runs.counts)?, wide);
    assert!(matches!(runs.values::<u32>(), Ok(words) if words.len() == 6));

    assert_eq!(gpu.run_length_decode(&[5u32, 6, 7, 8], &[0, 3, 0, 1])?, [6, 6, 6, 8]);
    assert_eq!(gpu.run_length_decode::<f64>(&[], &[])?, [0.0; 0]);
    assert_eq!(gpu.run_length_decode(&[5i32, 6], &[0, 0])?, [0; 0]);
    let mut indices = Vec::new();
    let of_indices = RunLengthConfig::decode_indices();
    gpu.prepare_run_length_decode(of_indices, &[], &[2, 0, 1], &mut indices)?.run()?;
    assert_eq!(indices, [0, 0, 2]);
    let without_values = RunLengthConfig::decode(ElementType::F64).without_values();
    assert_eq!(without_values, of_indices);

    assert!(matches!(gpu.run_length_encode(encode, &[1u32]), Err(Error::ElementMismatch { .. })));
    let too_few = gpu.run_length_decode(&[1u32, 2], &[1]);
    assert_eq!(too_few, Err(Error::ValueCountMismatch { key_count: 1, value_count: 2 }));
    let too_many = gpu.run_length_decode(&[1u32, 2], &[u32::MAX, 1]);
    assert!(matches!(too_many, Err(Error::TooManyElements { count, .. }) if count == 1 << 32));
    for (config, is_decoding) in [(encode, true), (of_indices, false)] {
        let (mut runs, mut elements) = (Default::default(), Vec::new());
        let refused = match is_decoding {
            true => gpu.prepare_run_length_decode(config, &[], &[], &mut elements).err(),
            false => gpu.prepare_run_length_encode(config, &[], &mut runs).err(),
        };
        assert!(matches!(refused, Some(Error::Unsupported { .. })), "{config:?}");
    }
    let odd = gpu.prepare_run_length_decode(
        RunLengthConfig::decode(ElementType::U64),
        &[1, 2, 3],
        &[1],
        &mut indices,
    );
    assert_eq!(odd.err(), Some(Error::RowLengthMismatch { value_count: 3, columns: 2 }));
    Ok(())
}

/// The buffers after a change.
fn with(mut buffers: RunLengthBuffers, change: impl FnOnce(&mut RunLengthBuffers)) -> RunLengthBuffers {
    change(&mut buffers);
    buffers
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    let refused = Refused::new(gpu)?;
    let at = |offset, size| refused.at(offset, size);
    let scratch = refused.scratch(4096, 4096);
    let buffers = RunLengthBuffers::new(at(0, 40), at(64, 40), at(128, 40), at(192, 4), scratch);
    let buffers = buffers.offsets(at(256, 40));
    let record = |config, buffers, count: Count| refused.record(config, buffers, count);
    let ten = Count::Direct(10);
    let encode = RunLengthConfig::encode(ElementType::U32).offsets();
    let decode = RunLengthConfig::decode(ElementType::U32);
    assert_eq!(record(encode, buffers, ten), Ok(()));
    assert_eq!(record(decode, buffers, ten), Ok(()));
    let small = |what| too_small(what, 40, 36);
    for config in [encode, decode] {
        assert_eq!(record(config, with(buffers, |of| of.values = at(64, 36)), ten), small("values"));
        assert_eq!(record(config, with(buffers, |of| of.counts = at(128, 36)), ten), small("counts"));
        let across = with(buffers, |of| of.elements = at(40, 40));
        assert!(matches!(record(config, across, ten), Err(Error::Overlap { .. })));
        let across = with(buffers, |of| of.result_count = at(132, 4));
        assert!(matches!(record(config, across, ten), Err(Error::Overlap { .. })));
        let across = with(buffers, |of| of.scratch = BufferRange { size: 8, ..scratch });
        assert!(matches!(record(config, across, ten), Err(Error::ScratchTooSmall { .. })));
        assert_unsupported(record(config, buffers, refused.count(512, 10)), "");
    }
    assert_eq!(record(encode, with(buffers, |of| of.elements = at(0, 36)), ten), small("elements"));
    assert_eq!(record(encode, with(buffers, |of| of.offsets = at(256, 36)), ten), small("offsets"));
    // A decoding writes what fits, and ignores offsets.
    assert_eq!(record(decode, with(buffers, |of| of.elements = at(0, 7)), ten), Ok(()));
    assert_eq!(record(decode, with(buffers, |of| of.offsets = AddressRange::default()), ten), Ok(()));
    let too_many = record(encode, buffers, Count::Direct(1 << 32));
    assert!(matches!(too_many, Err(Error::TooManyElements { .. })), "{too_many:?}");
    let too_many = record(decode, buffers, Count::Direct(1 << 31));
    assert!(matches!(too_many, Err(Error::TooManyElements { .. })), "{too_many:?}");
    assert_unsupported(refused.plan(decode.offsets()), "");

    let chosen = RunLengthPolicy::choose(gpu.capabilities(), &encode).policy;
    let tiled =
        |workgroup_size, items| RunLengthPolicy::tiled(workgroup_size, items, chosen.select, chosen.scan);
    let size = chosen.workgroup_size;
    let policies = [tiled(size, 33), tiled(size, 0), tiled(33, 4), chosen.with_subgroup_size(3)];
    let configs = policies.map(|policy| encode.policy(policy));
    refused.expect(configs, |error| matches!(error, Error::InvalidPolicy { .. }));
    Ok(())
}
