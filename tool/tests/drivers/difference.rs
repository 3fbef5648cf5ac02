//! The parts of adjacent differences, and their results, counts and refusals.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{AddressRange, Capabilities, CommandCounts, Device, Recorder};
use subsweep::difference::{DifferenceBuffers, DifferenceConfig, DifferencePlan, DifferencePolicy};
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::{Count, ElementType, Error};
use subsweep_tool::harness::{DifferenceCase, PlanConfig};

use super::cases::clean_trials;
use super::embedding::contract::{COUNT, Room, Subject};
use super::faults::work::{Opened, SMALL, WHOLE, cold, warm};
use super::passes::Check;
use super::passes::rig::{
    Alignment, Memory, POISON, Rig, Selection, Tiles, Value, compare, constants_in_memory, numbers_stored,
    random, sizes, small_workgroup, stored, type_in_memory,
};
use super::primitive::{Primitive, bytes, outcome, run};
use super::refused::Refused;

pub const PRIMITIVE: Primitive = Primitive {
    check: |stem, _| (stem == "difference/difference").then_some(pass as Check),
    default_plans,
    subjects,
    phases: &[
        cold("planning a difference", |opened| {
            Ok(opened.gpu.plan(DifferenceConfig::new(ElementType::F32).indirect_count()).map(drop))
        }),
        warm("subtracting", WHOLE, subtracting),
    ],
};

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "difference");
    vec![
        trial("mismatched ranges are refused", refusals),
        trial("slices of every type are subtracted", slices),
        trial("any count on the device is subtracted, also 0", counts),
    ]
}

fn default_plans(capabilities: &Capabilities) -> Vec<PlanConfig> {
    let has_doubles = capabilities.enabled.shader_float64;
    let elements = [ElementType::F32, ElementType::I64, ElementType::F64].into_iter();
    let elements = elements.filter(|element| has_doubles || *element != ElementType::F64);
    let configs = elements.map(DifferenceConfig::new);
    configs.flat_map(|config| [config, config.indirect_count()]).map(PlanConfig::from).collect()
}

fn subjects(device: &Device, room: Room) -> subsweep::Result<Vec<Subject>> {
    let config = DifferenceConfig::new(ElementType::U32);
    let buffers = DifferenceBuffers::new(room.array(0), room.array(1)).scratch(room.scratch);
    let subjects = [
        (config, Count::Direct(COUNT.into())),
        (config.indirect_count(), room.count()),
        (config.keeps_first().indirect_count(), room.count()),
    ];
    Subject::all(device, "a difference", buffers, subjects)
}

fn subtracting(opened: &Opened) -> Result<subsweep::Result<()>, Failed> {
    let (expected, _) = DifferenceCase::new(ElementType::U32).results(&SMALL);
    outcome(opened.gpu.difference(DifferenceConfig::new(ElementType::U32), &SMALL), &expected)
}

/// Columns, whether along rows, whether the first is kept, and packs in flight, 0 by words: every value of every option in
/// the first four.
const SHAPES: [(u32, bool, bool, u32); 9] = [
    (1, false, false, 2),
    (3, true, false, 0),
    (1, false, true, 2),
    (2, true, true, 1),
    (5, false, true, 0),
    (1, true, true, 4),
    (1, false, false, 0),
    (301, false, false, 0),
    (301, true, false, 0),
];

fn pass(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    let has = |name: &str| kernel.defines.iter().any(|(define, _)| *define == name);
    let elements: &[_] = match (has("FLOAT64"), has("WORDS64")) {
        (true, _) => &[ElementType::F64],
        (_, true) => &[ElementType::I64],
        _ => &[ElementType::U32, ElementType::F32],
    };
    for (index, shape) in selection.first(4, SHAPES).into_iter().enumerate() {
        let (columns, is_along_rows, keeps_first, packs) = shape;
        let element = elements[index % elements.len()];
        // Two rounds of packs of 32 bits, or more, and what is left by words.
        let tile_rows = (9 * workgroup_size / columns).max(1);
        let alignment = if packs > 0 { Alignment::Quads } else { Alignment::Words };
        let mut constants = vec![
            ("COLUMN_COUNT", columns),
            ("TILE_ROWS", tile_rows),
            ("KEEPS_FIRST", keeps_first.into()),
            ("ALONG_ROWS", is_along_rows.into()),
            ("QUAD_ACCESS", (packs > 0).into()),
            ("PACKS_PER_INVOCATION", packs.max(1)),
        ];
        let in_memory = type_in_memory(kernel, element);
        constants.extend(constants_in_memory(kernel, element));
        if element.size() == 4 {
            constants.push(("NUMBERS", if element == ElementType::F32 { 2 } else { 0 }));
        }
        let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
        let case = DifferenceCase { columns, is_along_rows, keeps_first, ..DifferenceCase::new(element) };
        let counts = if tile_rows == 1 { vec![1, 2, 5] } else { sizes(tile_rows as usize).to_vec() };
        for (index, rows) in counts.into_iter().enumerate() {
            let row_words = (columns * element.words()) as usize;
            let mut input = random(rows, rows * row_words);
            if element.is_float() {
                // Numbers of one exponent, whose difference is exact and never a denormal.
                let high = element.words() as usize;
                input
                    .iter_mut()
                    .skip(high - 1)
                    .step_by(high)
                    .for_each(|word| *word = *word >> 12 | 0x4000_0000);
            }
            let input = numbers_stored(in_memory, input);
            let (expected, _) = case.results(&input);
            let [input, expected] = [input, expected].map(|numbers| stored(in_memory, &numbers));
            let tiles = Tiles::new(rows, tile_rows as usize);
            let name = format!("{rows} rows of {columns} {element}, {shape:?}");
            let arrays = [
                ("source", Value::input(input).at(alignment)),
                ("destination", Value::output(expected).at(alignment)),
            ];
            rig.check(&name, arrays.into_iter().chain(tiles.push(index % 2 == 1)), tiles.tile_count)?;
        }
    }
    Ok(())
}

fn slices(gpu: &Gpu) -> Result<(), Failed> {
    let new = DifferenceConfig::new;
    assert_eq!(gpu.difference(new(ElementType::U32), &[3u32, 5, 4])?, [2, u32::MAX]);
    assert_eq!(
        gpu.difference(new(ElementType::I32).keeps_first(), &[7, i32::MIN, 5])?,
        [7, i32::MAX - 6, i32::MIN + 5]
    );
    assert_eq!(gpu.difference(new(ElementType::F32), &[0.5f32, 2.0, -0.0, 0.0])?, [1.5, -2.0, 0.0]);
    let wide = gpu.difference(new(ElementType::U64), &[1u64 << 32, (1 << 32) - 1, 0])?;
    assert_eq!(wide, [u64::MAX, 0u64.wrapping_sub((1 << 32) - 1)]);
    assert_eq!(gpu.difference(new(ElementType::I64), &[i64::MIN, i64::MAX])?, [-1]);
    let table = [1, 3, 6, 0, 10, 5];
    let of_three = new(ElementType::I32).columns(3);
    assert_eq!(gpu.difference(of_three, &table)?, [-1, 7, -1]);
    assert_eq!(gpu.difference(of_three.keeps_first(), &table)?, [1, 3, 6, -1, 7, -1]);
    assert_eq!(gpu.difference(of_three.along_rows(), &table)?, [2, 3, 10, -5]);
    assert_eq!(gpu.difference(of_three.along_rows().keeps_first(), &table)?, [1, 2, 3, 0, 10, -5]);
    for few in [&[][..], &[5]] {
        assert!(gpu.difference(new(ElementType::I32), few)?.is_empty());
        assert_eq!(gpu.difference(new(ElementType::I32).keeps_first(), few)?, few);
    }
    assert!(gpu.difference(new(ElementType::I32).along_rows(), &[1, 2])?.is_empty());
    let kept = gpu.difference(new(ElementType::F32).keeps_first(), &[f32::from_bits(3), f32::NAN])?;
    assert!(kept[0].to_bits() == 3 && kept[1].is_nan(), "{kept:?}");
    let doubles = gpu.difference(new(ElementType::F64), &[1e300, -1e300, 0.25]);
    match gpu.capabilities().enabled.shader_float64 {
        true => assert_eq!(doubles?, [-2e300, 1e300 + 0.25]),
        false => assert!(matches!(doubles, Err(Error::MissingFeature { .. })), "{doubles:?}"),
    }

    let mismatch = gpu.difference(new(ElementType::F32), &[1u32]);
    assert!(matches!(mismatch, Err(Error::ElementMismatch { .. })), "{mismatch:?}");
    let ragged = gpu.difference(of_three, &table[..5]);
    assert_eq!(ragged, Err(Error::RowLengthMismatch { value_count: 5, columns: 3 }));
    let mut result = [7; 3];
    let short = gpu
        .prepare_difference(
            new(ElementType::U32),
            bytes(&[1, 2, 3, 4, 5]),
            bytemuck::cast_slice_mut(&mut result),
        )
        .err();
    assert_eq!(short, Some(Error::RangeTooSmall { what: "the result", needed: 16, got: 12 }));
    gpu.prepare_difference(new(ElementType::U32), bytes(&[1, 5, 7]), bytemuck::cast_slice_mut(&mut result))?
        .run()?;
    assert_eq!(result, [4, 2, 7]);
    Ok(())
}

/// One recording, for counts from 0 to more than its maximum.
fn counts(gpu: &Gpu) -> Result<(), Failed> {
    let max = 5000;
    let input = random(8, 2 * max as usize);
    let source = Memory::with_words(gpu, &input, Alignment::Words)?;
    for keeps_first in [false, true] {
        let case = DifferenceCase { columns: 2, keeps_first, ..DifferenceCase::new(ElementType::U32) };
        let plan = DifferencePlan::new(gpu.device(), case.config().indirect_count())?;
        let scratch = gpu.allocate(plan.scratch_requirements(max.into()).size)?;
        for stored in [0, 1, 2, 4999, max, max + 1, u32::MAX] {
            let rows = stored.min(max);
            let count_memory = Memory::with_words(gpu, &[stored], Alignment::Words)?;
            let indirect = Count::Indirect { address: count_memory.range().address, max };
            for count in [indirect, Count::Direct(rows.into())] {
                let destination = Memory::poisoned(gpu, input.len(), Alignment::Words)?;
                let buffers = DifferenceBuffers::new(source.range(), destination.range());
                let buffers = buffers.scratch(scratch.range());
                run(gpu, &plan, &buffers, count)?;
                let (mut expected, _) = case.results(&input[..2 * rows as usize]);
                expected.resize(input.len(), POISON);
                compare(&format!("{count:?} of {stored}"), "destination", &destination, &expected)?;
            }
        }
    }
    Ok(())
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    let refused = Refused::new(gpu)?;
    let at = |offset, size| refused.at(offset, size);
    let config = DifferenceConfig::new(ElementType::F32).columns(2);
    let (source, destination) = (at(0, 80), at(256, 80));
    let counted = refused.count(2048, 10);
    let buffers = DifferenceBuffers::new(source, destination).scratch(refused.scratch(1024, 32));
    for (config, size) in [(config, 72), (config.keeps_first(), 80), (config.along_rows(), 40)] {
        let sizes = [("count", 4), ("source", 80), ("destination", size), ("scratch", 32)];
        refused.expect_sizes(config.indirect_count(), buffers, counted, &sizes);
        refused.expect_direct_only(config, buffers, counted);
    }

    let columns = [0, DifferenceConfig::MAX_COLUMNS + 1].map(|columns| config.columns(columns));
    refused.expect(columns, |error| matches!(error, Error::OutOfRange { .. }));
    let policies = [
        DifferencePolicy::tiled(0, 4),
        DifferencePolicy::tiled(33, 4),
        DifferencePolicy::tiled(64, 0),
        DifferencePolicy::tiled(64, 1025),
        DifferencePolicy::tiled(64, 4).with_subgroup_size(3),
    ];
    let configs = policies.map(|policy| config.policy(policy));
    refused.expect(configs, |error| matches!(error, Error::InvalidPolicy { .. }));
    let wide = config.policy(DifferencePolicy::tiled(1 << 16, 4));
    refused.expect([wide], |error| matches!(error, Error::PolicyExceedsLimits { .. }));
    let huge = DifferenceBuffers::new(
        AddressRange::new(1 << 20, u64::MAX >> 2),
        AddressRange::new(1 << 63, u64::MAX >> 2),
    );
    let small = config.policy(DifferencePolicy::tiled(64, 1));
    let many = refused.record(small, huge, Count::Direct(1 << 40));
    let max = u64::from(u32::MAX) * 32;
    let what = "2^32 - 1 tiles of this policy";
    assert_eq!(many, Err(Error::TooManyElements { count: 1 << 40, max, what }));
    // One row has no difference.
    let mut dry = Recorder::dry(gpu.device());
    gpu.plan(config)?.record(&mut dry, &buffers, Count::Direct(1))?;
    assert_eq!(dry.counts(), CommandCounts::default());
    Ok(())
}
