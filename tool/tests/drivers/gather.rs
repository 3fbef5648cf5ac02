//! The parts of gathers, and their results, accesses and refusals.

use std::sync::{Arc, Mutex};

use libtest_mimic::{Failed, Trial};
use subsweep::ash::vk;
use subsweep::device::{AddressRange, Capabilities, Command, Device, Trace};
use subsweep::gather::{GatherBuffers, GatherConfig, GatherPolicy};
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::{Count, Error};
use subsweep_tool::harness::{GatherCase, PlanConfig};

use super::cases::{clean_trials, expect_no_findings};
use super::embedding::another;
use super::embedding::contract::{COUNT, Room, Subject};
use super::faults::work::{Opened, SMALL, WHOLE, cold, warm};
use super::passes::Check;
use super::passes::rig::{Alignment, Rig, Selection, Tiles, Value, random, sizes, small_workgroup};
use super::primitive::{Primitive, outcome, run};
use super::refused::Refused;

pub const PRIMITIVE: Primitive = Primitive {
    check: |stem, _| (stem == "gather/gather").then_some(pass as Check),
    default_plans,
    subjects,
    phases: &[
        cold("planning a gather", |opened| {
            Ok(opened.gpu.plan(GatherConfig::elements(4).indirect_count()).map(drop))
        }),
        warm("gathering", WHOLE, gathering),
    ],
};

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "gather");
    vec![
        trial("mismatched ranges are refused", refusals),
        trial("the widest access that the memory allows is used", accesses),
        trial("slices of any type are gathered", slices),
    ]
}

fn default_plans(_: &Capabilities) -> Vec<PlanConfig> {
    let configs = (1..=4).map(GatherConfig::elements);
    configs.flat_map(|config| [config, config.indirect_count()]).map(PlanConfig::from).collect()
}

fn subjects(device: &Device, room: Room) -> subsweep::Result<Vec<Subject>> {
    let config = GatherConfig::elements(1);
    let [first, second, third] = [0, 1, 2].map(|index| room.array(index));
    let buffers = GatherBuffers::new(first, second, third).scratch(room.scratch);
    let subjects = [(config, Count::Direct(COUNT.into())), (config.indirect_count(), room.count())];
    Subject::all(device, "a gather", buffers, subjects)
}

fn gathering(opened: &Opened) -> Result<subsweep::Result<()>, Failed> {
    let backwards: Vec<_> = (0..SMALL.len() as u32 / 4).rev().collect();
    let gathered = opened.gpu.gather(GatherConfig::elements(4), &SMALL, &backwards);
    outcome(gathered, &GatherCase::gathered(&SMALL, 4, &backwards))
}

/// The specialization constants of the kernel.
#[derive(Debug, Clone, Copy)]
struct TileShape {
    unit_words: usize,
    units_per_element: usize,
    tile_elements: usize,
    parts_per_element: usize,
    units_per_invocation: usize,
}

impl TileShape {
    /// The shape for elements of `units_per_element` units.
    fn new(unit_words: usize, units_per_element: usize, workgroup_size: usize) -> Self {
        let units_per_invocation = 2;
        let workgroup_units = workgroup_size * units_per_invocation;
        Self {
            unit_words,
            units_per_element,
            tile_elements: (workgroup_units / units_per_element).max(1),
            parts_per_element: units_per_element.div_ceil(workgroup_units),
            units_per_invocation,
        }
    }

    /// For each access width: elements that fill an invocation, that do not divide a workgroup, and that need several
    /// workgroups.
    fn all(workgroup_size: usize) -> Vec<Self> {
        let units = 2 * workgroup_size;
        let few = [(1, 3), (2, units + 1), (4, 1), (1, 3 * units - 5)];
        let product = [1, 2, 4]
            .into_iter()
            .flat_map(|unit_words| [1, 3, units, units + 1, 3 * units - 5].map(|units| (unit_words, units)));
        let others = product.filter(|shape| !few.contains(shape));
        let shapes = few.into_iter().chain(others);
        shapes.map(|(unit_words, units)| Self::new(unit_words, units, workgroup_size)).collect()
    }
}

fn pass(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu) as usize;
    let shapes = TileShape::all(workgroup_size).into_iter().enumerate();
    // A copy of every third shape, in place of a gather.
    let shapes = shapes.map(|(index, shape)| (shape, index % 3 == 2));
    for (shape, is_in_order) in selection.first(4, shapes) {
        let element_words = shape.units_per_element * shape.unit_words;
        let constants = [
            ("UNIT_WORDS", shape.unit_words),
            ("UNITS_PER_ELEMENT", shape.units_per_element),
            ("TILE_ELEMENTS", shape.tile_elements),
            ("PARTS_PER_ELEMENT", shape.parts_per_element),
            ("UNITS_PER_INVOCATION", shape.units_per_invocation),
            ("IN_ORDER", is_in_order.into()),
        ];
        let constants = constants.map(|(name, value)| (name, value as u32));
        let rig = Rig::new(gpu, kernel, workgroup_size as u32, &constants)?;
        let alignment = if shape.unit_words == 1 { Alignment::Words } else { Alignment::Quads };
        let tile = shape.tile_elements;
        let counts = if tile == 1 { vec![1, 2, 5] } else { sizes(tile).to_vec() };
        for (index, count) in counts.into_iter().enumerate() {
            let tiles = Tiles::new(count, tile);
            let source_count = count + 2;
            // The array is longer than the count given to the kernel.
            let input = random(count, (source_count + 3) * element_words);
            let mut index_input: Vec<u32> =
                random(count + 1, count).iter().map(|word| word % (source_count as u32 + 3)).collect();
            index_input[count / 2] = u32::MAX;
            let in_order: Vec<_> = (0..count as u32).collect();
            let gathered = if is_in_order { &in_order } else { &index_input };
            let expected =
                GatherCase::gathered(&input[..source_count * element_words], element_words, gathered);
            let is_on_device = index % 2 == 1;
            let case = format!("{}, {count} elements, on the device: {is_on_device}, {shape:?}", kernel.name);
            let values = [
                ("source", Value::input(input).at(alignment)),
                ("indices", Value::input(index_input).only_if(!is_in_order)),
                ("destination", Value::output(expected).at(alignment)),
                ("source_count", Value::Number(source_count)),
            ];
            let workgroups = tiles.tile_count * shape.parts_per_element;
            rig.check(&case, values.into_iter().chain(tiles.push(is_on_device)), workgroups)?;
        }
    }
    Ok(())
}

/// Records the access width of each gather, in words.
#[derive(Default)]
struct Units(Mutex<Vec<u32>>);

impl Trace for Units {
    fn record(&self, _: vk::CommandBuffer, command: &Command<'_>) {
        let Command::Dispatch { constants, .. } = command else { return };
        let units = constants.iter().filter(|(name, _)| *name == "UNIT_WORDS").map(|(_, value)| *value);
        self.0.lock().unwrap().extend(units);
    }
}

fn accesses(gpu: &Gpu) -> Result<(), Failed> {
    let units = Arc::new(Units::default());
    let gpu = another(gpu, units.clone())?;
    let memory = gpu.allocate(1 << 12)?;
    let at = |offset, size| AddressRange::new(memory.range().address + offset, size);
    gpu.upload(&memory, 0, &[0; 1 << 10])?;
    for (words, source, destination, expected) in [
        (1, 0, 2048, 1),
        (2, 0, 2048, 2),
        (2, 8, 2056, 2),
        (2, 4, 2048, 1),
        (4, 0, 2048, 4),
        (4, 8, 2048, 1),
        (4, 0, 2052, 1),
        (6, 0, 2048, 2),
        (7, 0, 2048, 1),
        (8, 16, 2064, 4),
    ] {
        let plan = gpu.plan(GatherConfig::elements(words))?;
        let size = 10 * 4 * u64::from(words);
        let buffers = GatherBuffers::new(at(source, size), at(1024, 40), at(destination, size));
        run(&gpu, &plan, &buffers, 10)?;
        assert_eq!(
            std::mem::take(&mut *units.0.lock().unwrap()),
            [expected],
            "{words}, {source}, {destination}"
        );
    }
    expect_no_findings(&gpu, "accesses of a gather")
}

fn slices(gpu: &Gpu) -> Result<(), Failed> {
    let letters = [10u64 << 40, 11, 20 << 40, 21, 30, 31];
    let pairs = GatherConfig::elements(4);
    assert_eq!(gpu.gather(pairs, &letters, &[2, 0, 3])?, [30, 31, 10 << 40, 11, 0, 0]);
    assert_eq!(gpu.gather(GatherConfig::elements(1), &[1.5f32, -2.5], &[1, 1, u32::MAX])?, [-2.5, -2.5, 0.0]);
    assert_eq!(gpu.gather::<i32>(GatherConfig::elements(3), &[], &[0])?, [0; 3]);
    assert_eq!(gpu.gather(pairs, &letters, &[])?, [0u64; 0]);
    for words in [1, 3] {
        let halves = gpu.gather(GatherConfig::elements(words), &[7u64, 8, 9], &[0, 1]);
        assert!(matches!(halves, Err(Error::Unsupported { .. })), "{words}: {halves:?}");
    }
    let ragged = gpu.gather(GatherConfig::elements(10), &letters, &[0]);
    assert_eq!(ragged, Err(Error::PartialElement { size: 48, element_size: 40 }));
    let mut result = [7u32; 3];
    let (pairs, words) = (GatherConfig::elements(2), [1u32, 2, 3, 4]);
    let source = bytemuck::cast_slice(&words);
    gpu.prepare_gather(pairs, source, &[1], bytemuck::cast_slice_mut(&mut result))?.run()?;
    assert_eq!(result, [3, 4, 7]);
    let short = gpu.prepare_gather(pairs, source, &[1, 0], bytemuck::cast_slice_mut(&mut result));
    assert_eq!(short.err(), Some(Error::RangeTooSmall { what: "the result", needed: 16, got: 12 }));
    Ok(())
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    let refused = Refused::new(gpu)?;
    let at = |offset, size| refused.at(offset, size);
    let three = GatherConfig::elements(3);
    let counted = refused.count(2048, 10);
    let buffers =
        GatherBuffers::new(at(0, 100), at(256, 40), at(512, 120)).scratch(refused.scratch(1024, 32));
    let sizes = [("count", 4), ("source", 96), ("indices", 40), ("destination", 120), ("scratch", 32)];
    refused.expect_sizes(three.indirect_count(), buffers, counted, &sizes);
    refused.expect_direct_only(three, buffers, counted);

    let sizes = [0, GatherConfig::MAX_WORDS + 1, u32::MAX].map(GatherConfig::elements);
    refused.expect(sizes, |error| matches!(error, Error::OutOfRange { .. }));
    let policies = [
        GatherPolicy::tiled(0, 4),
        GatherPolicy::tiled(33, 4),
        GatherPolicy::tiled(64, 0),
        GatherPolicy::tiled(64, 33),
        GatherPolicy::tiled(64, 4).with_subgroup_size(3),
    ];
    let configs = policies.map(|policy| three.policy(policy));
    refused.expect(configs, |error| matches!(error, Error::InvalidPolicy { .. }));
    let wide = three.policy(GatherPolicy::tiled(1 << 16, 4));
    refused.expect([wide], |error| matches!(error, Error::PolicyExceedsLimits { .. }));

    // More workgroups than 64 bits count, of elements of 1 GiB.
    let huge = GatherConfig::elements(GatherConfig::MAX_WORDS);
    let huge_range = |offset| at(offset, 1 << 60);
    let many = GatherBuffers::new(at(0, 0), huge_range(1 << 61), huge_range(1 << 62));
    let many = refused.record(huge, many, Count::Direct(1 << 20));
    assert!(matches!(many, Err(Error::TooManyElements { .. })), "{many:?}");
    assert_eq!(refused.record(three, buffers, Count::Direct(0)), Ok(()));
    Ok(())
}
