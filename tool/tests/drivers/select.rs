//! The parts of selections, and their results on slices, stalled tiles and refusals.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{Capabilities, Device};
use subsweep::headless::{Gpu, SelectInputs};
use subsweep::scan::ScanAlgorithm;
use subsweep::select::{Comparison, Operands, SelectAlgorithm, SelectBuffers, SelectConfig, SelectPolicy};
use subsweep::{Count, ElementType, Error, Number};
use subsweep_tool::harness::PlanConfig;

use super::cases::clean_trials;
use super::embedding::contract::{COUNT, Room, Subject};
use super::faults::work::{Opened, SMALL, WHOLE, cold, warm};
use super::passes;
use super::primitive::{Primitive, outcome};
use super::refused::{Refused, assert_unsupported};

pub const PRIMITIVE: Primitive = Primitive {
    check: passes::select::check,
    default_plans,
    subjects,
    phases: &[
        cold("planning a selection", |opened| {
            Ok(opened.gpu.plan(SelectConfig::flags32(3).indirect_count()).map(drop))
        }),
        warm("selecting", WHOLE, selecting),
    ],
};

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "select");
    vec![
        trial("mismatched ranges are refused", refusals),
        trial("slices of any type are selected", slices),
        trial("operands at the ends of a type", extreme_operands),
    ]
}

fn default_plans(_: &Capabilities) -> Vec<PlanConfig> {
    let less = Comparison::Less;
    let configs = [
        SelectConfig::flags8(1),
        SelectConfig::flags32(2),
        SelectConfig::compare(ElementType::F32, less),
        SelectConfig::compare(ElementType::U64, less).values(1),
        SelectConfig::unique(ElementType::F32),
        SelectConfig::unique(ElementType::F64).values(2),
        SelectConfig::compare(ElementType::U32, less).partition(),
        SelectConfig::compare(ElementType::F64, less).partition_in_three(Comparison::Range),
    ];
    configs.into_iter().flat_map(|config| [config, config.indirect_count()]).map(PlanConfig::from).collect()
}

fn subjects(device: &Device, room: Room) -> subsweep::Result<Vec<Subject>> {
    let less = SelectConfig::compare(ElementType::U32, Comparison::Less);
    let [first, second, third, fourth] = [0, 1, 2, 3].map(|index| room.array(index));
    let counts = room.arrays.slice(64, 8).addresses();
    let buffers = SelectBuffers::new(first, second, counts, room.scratch)
        .values(third, fourth)
        .operands(Operands::host(&[7u32])?);
    let flagged = SelectBuffers::new(first, second, counts, room.scratch).flags(third).indices(fourth);
    let flags = SelectConfig::flags32(1).indices();
    let mut subjects = Vec::new();
    for algorithm in SelectAlgorithm::ALL {
        let of = |config: SelectConfig| {
            config.policy(SelectPolicy::tuned(algorithm, device.capabilities(), &config))
        };
        for (config, buffers) in [(less.values(1), buffers), (flags, flagged)] {
            let recordings =
                [(of(config), Count::Direct(COUNT.into())), (of(config.indirect_count()), room.count())];
            let name = format!("a selection, {algorithm:?}, {:?}", config.predicate());
            subjects.extend(Subject::all(device, &name, buffers, recordings)?);
        }
    }
    let bounded = buffers.operands(Operands::Device(room.arrays.slice(32, 4).addresses()));
    let name = "a selection by an operand on the device";
    subjects.push(Subject::new(device, name, less.values(1), bounded, Count::Direct(COUNT.into()))?);
    // Values of three words are moved by another primitive.
    let wide = SelectBuffers::new(room.arrays.slice(256, 4 * 4000).addresses(), second, counts, room.scratch)
        .values(third, fourth)
        .operands(Operands::host(&[7u32])?);
    for (config, count) in [
        (less.values(3), Count::Direct(4000)),
        (less.partition().values(1), Count::Direct(4000)),
        (less.partition().values(3), Count::Direct(4000)),
    ] {
        subjects.push(Subject::new(device, format!("a selection, {config:?}"), config, wide, count)?);
    }
    Ok(subjects)
}

fn selecting(opened: &Opened) -> Result<subsweep::Result<()>, Failed> {
    let flags: Vec<_> = (0..SMALL.len() as u32).map(|index| index % 3).collect();
    let expected: Vec<_> =
        SMALL.iter().zip(&flags).filter(|(_, flag)| **flag != 0).map(|(word, _)| *word).collect();
    let inputs = SelectInputs::new(&SMALL).flags32(&flags);
    let selected = opened.gpu.select(SelectConfig::flags32(1), &inputs);
    outcome(selected.and_then(|selected| selected.elements::<u32>()), &expected)
}

fn slices(gpu: &Gpu) -> Result<(), Failed> {
    let less = SelectConfig::compare(ElementType::F32, Comparison::Less);
    let floats = [3.0f32, f32::NAN, -0.0, -7.5, 0.0, -f32::INFINITY];
    let inputs = SelectInputs::new(&floats).operands(Operands::host(&[0.0f32])?);
    let selected = gpu.select(less.indices(), &inputs)?;
    assert_eq!(selected.elements::<f32>()?, [-7.5, -f32::INFINITY]);
    assert_eq!((selected.indices, selected.counts), (vec![3, 5], vec![2]));
    let parted = gpu.select(
        less.partition_in_three(Comparison::Equal),
        &inputs.clone().operands(Operands::host(&[0.0f32, -0.0])?),
    )?;
    assert_eq!(parted.counts, [2, 2]);
    assert_eq!(parted.elements::<f32>()?[..5], [-7.5, -f32::INFINITY, -0.0, 0.0, 3.0]);

    let wide = [10u64 << 40, 11, 11, 20 << 40, 20 << 40, 11];
    let unique = SelectConfig::unique(ElementType::U64).values(3);
    let rows: Vec<u32> = (0..18).collect();
    let selected = gpu.select(unique, &SelectInputs::new(&wide).values(&rows))?;
    assert_eq!(selected.elements::<u64>()?, [10 << 40, 11, 20 << 40, 11]);
    assert_eq!(selected.values::<u32>()?, [0, 1, 2, 3, 4, 5, 9, 10, 11, 15, 16, 17]);
    assert!(matches!(selected.elements::<u32>(), Ok(words) if words.len() == 8));

    let bytes = [0u8, 3, 0, 0, 128];
    let rows: Vec<i32> = (0..20).collect();
    let inputs = SelectInputs::new(&rows).flags8(&bytes);
    assert_eq!(
        gpu.select(SelectConfig::flags8(4), &inputs)?.elements::<i32>()?,
        [4, 5, 6, 7, 16, 17, 18, 19]
    );
    let parted = gpu.select(SelectConfig::flags8(4).partition().without_elements().indices(), &inputs)?;
    assert_eq!((parted.indices, parted.elements, parted.counts), (vec![1, 4, 0, 2, 3], vec![], vec![2]));
    let none = SelectInputs::new::<u32>(&[]);
    for config in [SelectConfig::flags32(1), SelectConfig::flags32(1).partition()] {
        assert_eq!(gpu.select(config, &none.clone().flags32(&[]))?.counts, [0]);
    }
    let mismatched = [
        (SelectConfig::flags32(3), SelectInputs::new(&[1u32; 10]).flags32(&[1; 3])),
        (SelectConfig::flags32(1), SelectInputs::new(&[1u32; 10]).flags32(&[1; 3])),
        (SelectConfig::flags32(1), SelectInputs::new(&[1u32; 2]).flags8(&[1; 2])),
        (SelectConfig::unique(ElementType::U64), SelectInputs::new(&[1.0f64; 2])),
        (SelectConfig::unique(ElementType::U32).values(1), SelectInputs::new(&[1u32; 2])),
        (less, SelectInputs::new(&floats)),
        (less, SelectInputs::new(&floats).operands(Operands::host(&[1u32])?)),
        (SelectConfig::flags32(1).partition_in_three(Comparison::Less), none.clone().flags32(&[])),
    ];
    for (config, inputs) in mismatched {
        let refused = gpu.select(config, &inputs);
        assert!(refused.is_err(), "{config:?}: {refused:?}");
    }
    assert!(Operands::host(&[0u32; 5]).is_err());
    Ok(())
}

/// Every comparison of `values` with each of them, and each range, as operands of the host and in device memory.
fn extremes<N: Number + PartialOrd + std::fmt::Debug>(gpu: &Gpu, values: &[N]) -> Result<(), Failed> {
    for comparison in Comparison::ALL {
        let config = SelectConfig::compare(N::TYPE, comparison).indices();
        for &first in values {
            // Of a range, each end; of others the first one is as good as any.
            let ends = if comparison.operand_count() == 2 { values } else { &values[..1] };
            for &end in ends {
                let is_kept = |key: N| match comparison {
                    Comparison::Less => key < first,
                    Comparison::LessEqual => key <= first,
                    Comparison::Equal => key == first,
                    Comparison::NotEqual => key != first,
                    Comparison::GreaterEqual => key >= first,
                    Comparison::Greater => key > first,
                    Comparison::Range => first <= key && key < end,
                };
                let expected: Vec<_> = (0..values.len())
                    .filter(|&index| is_kept(values[index]))
                    .map(|index| index as u32)
                    .collect();
                let operands = &[first, end][..comparison.operand_count()];
                let inputs = SelectInputs::new(values).operands(Operands::host(operands)?);
                let selected = gpu.select(config, &inputs)?;
                assert_eq!(selected.indices, expected, "{comparison:?} {operands:?} of {values:?}");
            }
        }
    }
    Ok(())
}

fn extreme_operands(gpu: &Gpu) -> Result<(), Failed> {
    extremes(gpu, &[i32::MIN, -1, 0, 1, i32::MAX])?;
    extremes(gpu, &[0u64, 1, u32::MAX.into(), 1 << 32, u64::MAX])?;
    let floats = [f32::NEG_INFINITY, f32::MIN, -0.0, 0.0, 1.0, f32::MAX, f32::INFINITY, f32::NAN, -f32::NAN];
    extremes(gpu, &floats)?;
    extremes(gpu, &floats.map(f64::from))
}

/// The policy with a scan of the counts that cannot be in place.
fn tiled_with_chained_counts(mut policy: SelectPolicy) -> SelectPolicy {
    policy.scan = policy.scan.with_algorithm(ScanAlgorithm::Chained);
    policy
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    let refused = Refused::new(gpu)?;
    let at = |offset, size| refused.at(offset, size);
    let config = SelectConfig::compare(ElementType::U32, Comparison::Range).values(1).indices();
    let scratch = refused.scratch(2048, 256);
    let buffers = SelectBuffers::new(at(0, 40), at(64, 40), at(128, 4), scratch)
        .values(at(192, 40), at(256, 40))
        .indices(at(320, 40))
        .operands(Operands::host(&[1u32, 5])?);
    let record = |config, buffers, count: Count| refused.record(config, buffers, count);
    let ten = Count::Direct(10);
    assert_eq!(record(config, buffers, ten), Ok(()));
    let scratch_size = gpu.plan(config)?.scratch_requirements(10).size;
    let read = [("count", 0), ("source", 40), ("flags", 0), ("values", 40), ("functions_data", 0)];
    let written =
        [("destination", 40), ("destination_values", 40), ("destination_indices", 40), ("counts", 4)];
    let all = [&read[..], &written, &[("scratch", scratch_size)]].concat();
    refused.expect_sizes(config, buffers, ten, &all);
    let bounded = |bounds| record(config, buffers.operands(bounds), ten);
    assert!(matches!(bounded(Operands::None), Err(Error::Unsupported { .. })));
    assert!(matches!(bounded(Operands::host(&[1u32])?), Err(Error::Unsupported { .. })));
    assert!(matches!(bounded(Operands::host(&[1i32, 5])?), Err(Error::ElementMismatch { .. })));
    assert!(matches!(bounded(Operands::Device(at(400, 4))), Err(Error::RangeTooSmall { .. })));
    assert_eq!(bounded(Operands::Device(at(400, 8))), Ok(()));
    let flags = SelectConfig::flags8(1);
    let short = SelectBuffers::new(at(0, 40), at(64, 40), at(128, 4), scratch).flags(at(512, 10));
    assert_eq!(record(flags, short, ten), Err(Error::RangeTooSmall { what: "flags", needed: 12, got: 10 }));
    let too_many = record(flags, short, Count::Direct(1 << 32));
    assert!(matches!(too_many, Err(Error::TooManyElements { .. })), "{too_many:?}");

    // With large counts, numbers are of 64 bits.
    let large = config.large_counts();
    let written =
        [("destination", 40), ("destination_values", 40), ("destination_indices", 80), ("counts", 8)];
    let scratch_size = gpu.plan(large)?.scratch_requirements(10).size;
    let mut in_room = buffers.indices(at(320, 80));
    in_room.counts = at(440, 8);
    refused.expect_sizes(large, in_room, ten, &[&read[..], &written, &[("scratch", scratch_size)]].concat());
    for wide in [flags.values(3), SelectConfig::flags8(3), SelectConfig::flags8_of(ElementType::U8)] {
        assert_unsupported(refused.plan(wide.large_counts()), "large counts");
        assert_eq!(wide.large_counts_for(1 << 32), wide);
    }
    refused.plan(SelectConfig::flags8(3).without_elements().indices().large_counts())?;
    refused.plan(SelectConfig::flags8_of(ElementType::U8).partition().large_counts())?;
    assert_eq!(flags.large_counts_for((1 << 32) - 1), flags);
    assert_eq!(flags.large_counts_for(1 << 32), flags.large_counts());
    let plan = gpu.plan(flags.large_counts())?;
    assert_eq!(plan.check_count(1 << 40), Ok(()));
    assert_eq!(plan.max_count(), u64::from(u32::MAX) * u64::from(plan.policy().tile_items()));

    let capabilities = gpu.capabilities();
    let tuned = SelectPolicy::tuned(SelectAlgorithm::ReduceThenScan, capabilities, &config);
    let chained = SelectPolicy::tuned(SelectAlgorithm::Chained, capabilities, &config);
    let tiled = |workgroup_size, items| {
        SelectPolicy::tiled(SelectAlgorithm::ReduceThenScan, workgroup_size, items, tuned.scan)
    };
    let configs = [
        config.partition().policy(chained),
        large.policy(chained),
        config.policy(tiled(tuned.workgroup_size, 33)),
        config.policy(tiled(tuned.workgroup_size, 0)),
        config.policy(tiled(33, 4)),
        config.policy(tuned.with_subgroup_size(3)),
        config.policy(tiled_with_chained_counts(tuned)),
    ];
    refused.expect(configs, |error| matches!(error, Error::InvalidPolicy { .. }));
    let sizes = [0, SelectConfig::MAX_WORDS + 1].map(SelectConfig::flags32);
    refused.expect(sizes, |error| matches!(error, Error::OutOfRange { .. }));
    Ok(())
}
