//! The parts of run-length encoding and decoding, and their results on slices and refusals.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{AddressRange, Capabilities, Device};
use subsweep::headless::Gpu;
use subsweep::run_length::{RunLengthAlgorithm, RunLengthBuffers, RunLengthConfig, RunLengthPolicy};
use subsweep::{Count, ElementType, Error};
use subsweep_tool::harness::PlanConfig;

use super::cases::clean_trials;
use super::embedding::contract::{COUNT, Room, Subject};
use super::faults::work::{Opened, SMALL, WHOLE, cold, warm};
use super::passes;
use super::passes::rig::{Alignment, Memory, compare};
use super::primitive::{Primitive, bits, outcome, run};
use super::refused::{Refused, assert_unsupported};

pub const PRIMITIVE: Primitive = Primitive {
    check: passes::run_length::check,
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
        trial("an encoding of no elements stores 0 runs", no_elements),
        trial("packed runs are decoded to any address", packed),
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
    let of = |config: RunLengthConfig, algorithm| {
        config.policy(RunLengthPolicy::tuned(algorithm, device.capabilities(), &config))
    };
    let [selection, chained] = RunLengthAlgorithm::ALL;
    let encodings = [selection, chained].map(|algorithm| {
        [encode, encode.offsets(), non_trivial, non_trivial.without_values()]
            .map(|config| of(config, algorithm))
    });
    for config in encodings.into_iter().flatten().chain([decode]) {
        let recordings = [(config, Count::Direct(COUNT.into())), (config.indirect_count(), room.count())];
        subjects.extend(Subject::all(device, &format!("runs, {config:?}"), buffers, recordings)?);
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

/// Encodes slices by an algorithm, and decodes the runs.
fn encoded_slices(gpu: &Gpu, algorithm: RunLengthAlgorithm) -> Result<(), Failed> {
    let by = |config: RunLengthConfig| {
        config.policy(RunLengthPolicy::tuned(algorithm, gpu.capabilities(), &config))
    };
    let encode = RunLengthConfig::encode(ElementType::F32);
    let floats = [0.0f32, -0.0, f32::NAN, -f32::NAN, 1.0, 0.0, 2.5, 2.5, 2.5];
    let runs = gpu.run_length_encode(by(encode.offsets()), &floats)?;
    assert_eq!((&runs.counts[..], &runs.offsets[..]), (&[2, 2, 1, 1, 3][..], &[0, 2, 4, 5, 6][..]));
    assert_eq!(runs.values::<u32>()?, bits(&[0.0, f32::NAN, 1.0, 0.0, 2.5]));
    let runs = gpu.run_length_encode(by(encode.non_trivial()), &floats)?;
    assert_eq!((&runs.counts[..], &runs.offsets[..]), (&[2, 2, 3][..], &[0, 2, 6][..]));
    assert_eq!(runs.values::<u32>()?, bits(&[0.0, f32::NAN, 2.5]));
    let runs = gpu.run_length_encode(by(encode.without_values()), &floats[..5])?;
    assert_eq!((runs.values, runs.counts, runs.offsets), (vec![], vec![2, 2, 1], vec![]));
    let none = gpu.run_length_encode(by(encode.non_trivial()), &[] as &[f32])?;
    assert_eq!((none.values, none.counts, none.offsets), (vec![], vec![], vec![]));
    let wide = [7i64 << 40, 7 << 40, 7, -1];
    let runs = gpu.run_length_encode(by(RunLengthConfig::encode(ElementType::I64)), &wide)?;
    assert_eq!((runs.values::<i64>()?, &runs.counts[..]), (vec![7 << 40, 7, -1], &[2, 1, 1][..]));
    assert_eq!(gpu.run_length_decode(&runs.values::<i64>()?, &runs.counts)?, wide);
    assert!(matches!(runs.values::<u32>(), Ok(words) if words.len() == 6));
    Ok(())
}

/// Decodes values of 8 and 16 bits from and to addresses within a word, of which the other bytes stay.
fn packed(gpu: &Gpu) -> Result<(), Failed> {
    const GUARD: u8 = 0xa5;
    const RUNS: u32 = 2000;
    let lengths: Vec<u32> = (0..RUNS).map(|run| run * 7 % 9).collect();
    let count = lengths.iter().sum::<u32>() as usize;
    let counts = gpu.allocate_with(&lengths)?;
    let total = gpu.allocate(4)?;
    for (element, size) in [(ElementType::U8, 1), (ElementType::Bf16, 2)] {
        let plan = gpu.plan(RunLengthConfig::decode(element))?;
        let scratch = gpu.allocate(plan.scratch_requirements(u64::from(RUNS)).size)?;
        // A tile of elements that begins within a word takes two workgroups.
        let tile = plan.policy().tile_items() as usize;
        assert!(tile < count);
        let room = (count * size).next_multiple_of(4) + 8;
        for (first, last, room_for) in [(0, 1, count), (1, 2, tile), (2, 3, 3), (3, 0, 1), (3, 1, 0)] {
            let [first, last] = [first, last].map(|offset| offset * size as u64 % 4);
            let words: Vec<u32> =
                (0..RUNS / 4 * size as u32 + 2).map(|index| index.wrapping_mul(0x9e37_79b9)).collect();
            let values: &[u8] = bytemuck::cast_slice(&words);
            let source = gpu.allocate_with(&words)?;
            let elements = gpu.allocate_with(&vec![u32::from_ne_bytes([GUARD; 4]); room / 4])?;
            let at = |range: AddressRange, offset: u64, size: usize| {
                AddressRange::new(range.address + offset, size as u64)
            };
            let buffers = RunLengthBuffers::new(
                at(elements.addresses(), last, room_for * size),
                at(source.addresses(), first, RUNS as usize * size),
                counts.addresses(),
                total.addresses(),
                scratch.range(),
            );
            // SAFETY: the memory is this device's, and alive until `submit` has waited.
            unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, u64::from(RUNS))) }?;
            let of_runs = values[first as usize..].chunks(size).zip(&lengths);
            let decoded = of_runs.flat_map(|(value, &length)| value.repeat(length as usize));
            let mut expected = vec![GUARD; room];
            let stored = &mut expected[last as usize..][..room_for * size];
            stored.iter_mut().zip(decoded).for_each(|(byte, decoded)| *byte = decoded);
            let got = gpu.read(&elements, room / 4)?;
            assert_eq!(
                bytemuck::cast_slice::<u32, u8>(&got),
                expected,
                "{element}, {first}, {last}, {room_for}"
            );
            assert_eq!(gpu.read(&total, 1)?, [count as u32]);
        }
    }
    Ok(())
}

fn slices(gpu: &Gpu) -> Result<(), Failed> {
    for algorithm in RunLengthAlgorithm::ALL {
        encoded_slices(gpu, algorithm)?;
    }

    assert_eq!(gpu.run_length_decode(&[5u32, 6, 7, 8], &[0, 3, 0, 1])?, [6, 6, 6, 8]);
    assert_eq!(gpu.run_length_decode::<f64>(&[], &[])?, [0.0; 0]);
    assert_eq!(gpu.run_length_decode(&[5i32, 6], &[0, 0])?, [0; 0]);
    let mut indices = Vec::new();
    let of_indices = RunLengthConfig::decode_indices();
    gpu.prepare_run_length_decode(of_indices, &[], &[2, 0, 1], &mut indices)?.run()?;
    assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&indices), [0, 0, 2]);
    let without_values = RunLengthConfig::decode(ElementType::F64).without_values();
    assert_eq!(without_values, of_indices);

    let encode = RunLengthConfig::encode(ElementType::F32);
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
        bytemuck::cast_slice(&[1u32, 2, 3]),
        &[1],
        &mut indices,
    );
    assert_eq!(odd.err(), Some(Error::PartialElement { size: 12, element_size: 8 }));
    Ok(())
}

/// The number of runs is written on the device, whatever was there.
fn no_elements(gpu: &Gpu) -> Result<(), Failed> {
    let encode = RunLengthConfig::encode(ElementType::U32);
    for algorithm in RunLengthAlgorithm::ALL {
        for config in [encode, encode.non_trivial()] {
            let config = config.policy(RunLengthPolicy::tuned(algorithm, gpu.capabilities(), &config));
            let plan = gpu.plan(config)?;
            let scratch = gpu.allocate(plan.scratch_requirements(0).size.max(16))?;
            let run_count = Memory::poisoned(gpu, 1, Alignment::Words)?;
            let none = AddressRange::default();
            let buffers = RunLengthBuffers::new(none, none, none, run_count.range(), scratch.range());
            run(gpu, &plan, &buffers, Count::Direct(0))?;
            compare(&format!("{config:?}"), "run_count", &run_count, &[0])?;
        }
    }
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
    let of_scratch = |config| gpu.plan(config).map(|plan| plan.scratch_requirements(10).size);
    for (config, elements_size, offsets_size) in [(encode, 40, 40), (decode, 36, 0)] {
        // A decoding writes what fits, and ignores offsets.
        let buffers = with(buffers, |of| of.elements = at(0, if config == decode { 39 } else { 40 }));
        let runs = [("values", 40), ("counts", 40), ("offsets", offsets_size), ("result_count", 4)];
        let others = [("count", 0), ("elements", elements_size)];
        let all = [&others[..], &runs, &[("scratch", of_scratch(config)?)]].concat();
        refused.expect_sizes(config, buffers, ten, &all);
        refused.expect_direct_only(config, buffers, refused.count(512, 10));
    }
    assert_eq!(record(decode, with(buffers, |of| of.elements = at(0, 7)), ten), Ok(()));
    assert_eq!(record(decode, with(buffers, |of| of.offsets = AddressRange::default()), ten), Ok(()));
    let too_many = record(encode, buffers, Count::Direct(1 << 32));
    assert!(matches!(too_many, Err(Error::TooManyElements { .. })), "{too_many:?}");
    let too_many = record(decode, buffers, Count::Direct(1 << 31));
    assert!(matches!(too_many, Err(Error::TooManyElements { .. })), "{too_many:?}");
    assert_unsupported(refused.plan(decode.offsets()), "");
    for small in [decode, encode.non_trivial(), RunLengthConfig::encode(ElementType::U8)] {
        assert_unsupported(refused.plan(small.large_counts()), "large counts");
    }
    assert_eq!(gpu.plan(encode.large_counts())?.check_count(1 << 40), Ok(()));
    let on_slices = gpu.run_length_encode(encode.large_counts(), &[1u32]);
    assert_unsupported(on_slices.map(drop), "slices");
    let chained = RunLengthPolicy::tuned(RunLengthAlgorithm::Chained, gpu.capabilities(), &encode);
    let is_policy = |error: &Error| matches!(error, Error::InvalidPolicy { .. });
    refused.expect([encode.large_counts().policy(chained)], is_policy);

    let chosen = RunLengthPolicy::choose(gpu.capabilities(), &encode).policy;
    let tiled = |workgroup_size, items| {
        RunLengthPolicy::tiled(chosen.algorithm, workgroup_size, items, chosen.select, chosen.scan)
    };
    let size = chosen.workgroup_size;
    let policies = [tiled(size, 33), tiled(size, 0), tiled(33, 4), chosen.with_subgroup_size(3)];
    let configs = policies.map(|policy| encode.policy(policy));
    refused.expect(configs, |error| matches!(error, Error::InvalidPolicy { .. }));
    Ok(())
}
