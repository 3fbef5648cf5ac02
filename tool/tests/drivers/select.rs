//! The parts of selections, and their results on slices, stalled tiles and refusals.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{Capabilities, Device};
use subsweep::headless::{Gpu, SelectInputs};
use subsweep::kernels::Kernel;
use subsweep::scan::ScanAlgorithm;
use subsweep::select::{
    Comparison, Operands, Predicate, SelectAlgorithm, SelectBuffers, SelectConfig, SelectPolicy,
};
use subsweep::{Count, ElementType, Error, Number};
use subsweep_tool::harness::{PlanConfig, SelectCase};
use subsweep_tool::reference::passes::select::{Compacted, compacted, tile_counts};

use super::cases::clean_trials;
use super::embedding::contract::{COUNT, Room, Subject};
use super::faults::work::{Opened, SMALL, WHOLE, cold, warm};
use super::passes::Check;
use super::passes::rig::{
    Alignment, Memory, POISON, Rig, Selection, Tiles, Value, check_fallbacks, compare, key_words,
    nth_look_back, random, sizes, small_workgroup,
};
use super::primitive::{Primitive, outcome};
use super::refused::Refused;

pub const PRIMITIVE: Primitive = Primitive {
    check: |stem, _| stem.starts_with("select/").then_some(pass as Check),
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
            for (config, count) in
                [(config, Count::Direct(COUNT.into())), (config.indirect_count(), room.count())]
            {
                let name = format!("a selection, {algorithm:?}, {count:?}, {:?}", config.predicate());
                subjects.push(Subject::new(device, name, of(config), buffers, count)?);
            }
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
    outcome(selected.map(|selected| selected.elements), &expected)
}

/// A specialization of the kernels.
#[derive(Debug, Clone, Copy)]
struct Shape {
    by: Predicate,
    element: ElementType,
    parts: usize,
    /// Words of an element and of a value that are stored, and whether indices are.
    kept: [usize; 2],
    has_indices: bool,
    /// Every Nth tile is stalled; 0 for none. Only `_counted` variants stall tiles.
    stall_every: usize,
    /// Whether a compaction adds up the counts of tiles.
    sums_counts: bool,
}

const LESS: Predicate = Predicate::Compare(Comparison::Less);
const RANGE: Predicate = Predicate::Compare(Comparison::Range);

impl Shape {
    const fn new(
        by: Predicate,
        element: ElementType,
        parts: usize,
        kept: [usize; 2],
        has_indices: bool,
    ) -> Self {
        Self { by, element, parts, kept, has_indices, stall_every: 0, sums_counts: false }
    }

    /// Shapes of a kernel, those first that cover every predicate and number of parts.
    fn all(kernel: &Kernel, key_words: u32) -> Vec<Self> {
        use ElementType::{F32, F64, I64, U32, U64};
        let unequal = Predicate::Compare(Comparison::NotEqual);
        let of_keys1 = [
            Self::new(Predicate::Flags8, U32, 1, [1, 2], true),
            Self::new(RANGE, F32, 3, [1, 0], true),
            Self::new(Predicate::Unique, F32, 1, [1, 0], false),
            Self::new(Predicate::Flags32, U32, 2, [2, 1], false),
            Self::new(LESS, U32, 1, [1, 0], false),
            Self::new(Predicate::Unique, F32, 2, [0, 0], true),
            Self::new(unequal, F32, 2, [1, 1], true),
        ];
        let of_keys2 = [
            Self::new(RANGE, F64, 3, [2, 2], false),
            Self::new(Predicate::Unique, F64, 1, [2, 0], true),
            Self::new(LESS, I64, 1, [2, 1], false),
            Self::new(unequal, U64, 1, [0, 1], true),
        ];
        let shapes = if key_words == 2 { of_keys2.to_vec() } else { of_keys1.to_vec() };
        let is_chained = kernel.name.starts_with("select/chained");
        let mut shapes: Vec<_> = shapes.into_iter().filter(|shape| !is_chained || shape.parts == 1).collect();
        if kernel.name.ends_with("_counted") {
            for (shape, stall_every) in shapes.iter_mut().zip([1, 3, 2]) {
                shape.stall_every = stall_every;
            }
        }
        shapes
    }

    fn case(&self) -> SelectCase {
        SelectCase { element: self.element, parts: self.parts as u32, ..SelectCase::of_u32(self.by) }
    }

    fn has_flags(&self) -> bool {
        self.by.has_flags()
    }

    fn constants(&self, kernel: &Kernel) -> Vec<(&'static str, u32)> {
        let (predicate, comparison) = match self.by {
            Predicate::Flags8 => (0, 0),
            Predicate::Flags32 => (1, 0),
            Predicate::Compare(comparison) => (2, comparison as u32),
            Predicate::Unique => (3, 0),
        };
        let numbers = match self.element {
            ElementType::I32 | ElementType::I64 => 1,
            ElementType::F32 | ElementType::F64 => 2,
            _ => 0,
        };
        let mut constants = vec![
            ("ITEMS_PER_INVOCATION", ITEMS as u32),
            ("PREDICATE", predicate),
            ("COMPARISON", comparison),
            ("SECOND_COMPARISON", Comparison::LessEqual as u32),
            ("PARTS", self.parts as u32),
            ("KEY_NUMBERS", numbers),
        ];
        if !kernel.name.starts_with("select/count") {
            let [elements, values] = self.kept.map(|words| words as u32);
            constants.extend([
                ("KEPT_WORDS", elements),
                ("KEPT_VALUE_WORDS", values),
                ("KEPT_INDICES", self.has_indices.into()),
            ]);
        }
        if kernel.name.starts_with("select/compact") {
            constants.push(("SUMS_COUNTS", self.sums_counts.into()));
        }
        if kernel.name.starts_with("select/chained") {
            constants.retain(|(name, _)| !["PARTS", "SECOND_COMPARISON"].contains(name));
            // Only the counted variant has stalled tiles, and windows.
            constants.extend(nth_look_back(self.stall_every, 4));
        }
        if kernel.name.ends_with("_counted") {
            constants.push(("STALL_EVERY", self.stall_every as u32));
        }
        constants
    }

    /// Keys of few values, floats with zeros and NaNs of both signs; or flags of which half are 0.
    fn tested(&self, count: usize) -> Vec<u32> {
        let draws = random(count, count);
        if self.has_flags() {
            return draws.iter().map(|draw| if draw & 1 == 0 { 0 } else { 1 << (draw >> 1 & 7) }).collect();
        }
        let few = [0u64, 1 << 63, 0x7ff8 << 48, 0xfff8 << 48, 0x3ff0 << 48, 0xbff0 << 48, 0x7ff0 << 48, 1];
        let few32 = [0, 1 << 31, 0x7fc0_0000, 0xffc0_0000, 0x3f80_0000, 0xbf80_0000, 0x7f80_0000, 1];
        let pick = |draw: &u32| (draw >> 8) as usize % 8;
        match self.element.words() {
            2 => draws.iter().map(pick).flat_map(|i| [few[i] as u32, (few[i] >> 32) as u32]).collect(),
            _ => draws.iter().map(pick).map(|i| few32[i]).collect(),
        }
    }
}

/// What a run reads, as words, and the part of each element.
struct Inputs {
    /// Keys or flags, of which a word may hold four.
    tested: Vec<u32>,
    source: Vec<u32>,
    values: Vec<u32>,
    operands: Vec<u32>,
    parts: Vec<usize>,
}

impl Shape {
    fn inputs(&self, count: usize) -> Inputs {
        let (case, [kept_words, value_words]) = (self.case(), self.kept);
        let tested = self.tested(count);
        let operands = if self.has_flags() { Vec::new() } else { case.operands(&tested) };
        let as_bytes = |words: &[u32]| words.iter().rev().fold(0, |word, flag| word << 8 | flag);
        Inputs {
            parts: case.parts(&tested, &operands),
            source: if self.has_flags() { random(count + 1, count * kept_words) } else { tested.clone() },
            values: random(count + 2, count * value_words),
            tested: match self.by {
                Predicate::Flags8 => tested.chunks(4).map(as_bytes).collect(),
                _ => tested,
            },
            operands,
        }
    }
}

const ITEMS: usize = 3;

fn pass(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu) as usize;
    let key_words = key_words(kernel);
    let tile = workgroup_size * ITEMS;
    let is_compact = kernel.name.starts_with("select/compact");
    let with_sums = |shape| [false, true].map(|sums_counts| Shape { sums_counts, ..shape });
    let shapes = selection.first(4, Shape::all(kernel, key_words)).into_iter().flat_map(with_sums);
    for shape in shapes.filter(|shape| is_compact || !shape.sums_counts) {
        let rig = Rig::new(gpu, kernel, workgroup_size as u32, &shape.constants(kernel))?;
        // No elements are an empty tile.
        for (index, count) in [0].into_iter().chain(sizes(tile)).enumerate() {
            run(gpu, &rig, kernel, shape, (tile, count), index % 2 == 1)?;
        }
    }
    Ok(())
}

/// Runs a kernel on `count` elements; with `is_on_device` tiles and operands are in device memory, and the numbers of
/// the host are wrong.
fn run(
    gpu: &Gpu,
    rig: &Rig<'_>,
    kernel: &'static Kernel,
    shape: Shape,
    (tile, count): (usize, usize),
    is_on_device: bool,
) -> Result<(), Failed> {
    let tiles = if count == 0 { Tiles { tile_count: 1, last_extent: 0 } } else { Tiles::new(count, tile) };
    let [kept_words, value_words] = shape.kept;
    let Inputs { tested, source, values, operands, parts } = shape.inputs(count);
    let Compacted { order, counts } = compacted(&parts, shape.parts);
    let counted = counts.len();
    // No elements are an empty tile.
    let word_tile_counts = match count {
        0 => vec![0; counted],
        _ => tile_counts(&parts, shape.parts, tile),
    };
    let prefixes: Vec<_> = (0..word_tile_counts.len())
        .map(|index| word_tile_counts[index % counted..=index].iter().step_by(counted).sum::<u32>())
        .collect();

    let of = |words: &[u32]| Memory::of(gpu, words, Alignment::Words);
    let [tested_memory, source_memory, values_memory, operands_memory, on_device] =
        [&tested, &source, &values, &operands, &tiles.words().to_vec()].map(|words| of(words));
    let (tested_memory, source_memory, values_memory) = (tested_memory?, source_memory?, values_memory?);
    let (operands_memory, on_device) = (operands_memory?, on_device?);
    let poisoned = |words| Memory::poisoned(gpu, words, Alignment::Words);
    let destination = poisoned(count * kept_words)?;
    let destination_values = poisoned(count * value_words)?;
    let destination_indices = poisoned(if shape.has_indices { count } else { 0 })?;
    let kept_counts = poisoned(counted)?;
    let counters = of(&[0; 4])?;
    let is_count = kernel.name.starts_with("select/count");
    let is_chained = kernel.name.starts_with("select/chained");
    let state = match (is_count, is_chained) {
        (true, _) => poisoned(tiles.tile_count * counted)?,
        (_, true) => of(&vec![0; 4 + 2 * tiles.tile_count])?,
        _ if shape.sums_counts => of(&word_tile_counts)?,
        _ => of(&prefixes)?,
    };
    let has_state = is_count || is_chained || shape.sums_counts || count > tile;
    let Tiles { tile_count, last_extent } =
        if is_on_device { Tiles { tile_count: tiles.tile_count, last_extent: 1 } } else { tiles };
    let key_words = shape.element.words() as usize;
    let operand = |index: usize| match operands.get(index * key_words..(index + 1) * key_words) {
        Some(&[word]) => Value::Pair([word, 0]),
        Some(&[low, high]) => Value::Pair([low, high]),
        _ => Value::Pair([7, 7]),
    };
    let first_operands = if shape.by == RANGE { 2 } else { 1 };
    rig.run(
        &[
            ("tested", Value::Pointer(&tested_memory)),
            ("source", Value::pointer_if(shape.has_flags(), &source_memory)),
            ("values", Value::Pointer(&values_memory)),
            ("destination", Value::Pointer(&destination)),
            ("destination_values", Value::Pointer(&destination_values)),
            ("destination_indices", Value::Pointer(&destination_indices)),
            ("state", Value::pointer_if(has_state, &state)),
            ("selected_counts", Value::Pointer(&kept_counts)),
            ("operands", Value::pointer_if(is_on_device && !operands.is_empty(), &operands_memory)),
            ("indirect_tiles", Value::pointer_if(is_on_device, &on_device)),
            ("tile_count", Value::Number(tile_count)),
            ("last_extent", Value::Number(last_extent)),
            ("operand", operand(0)),
            ("range_end", operand(1)),
            ("second_operand", operand(first_operands)),
            ("second_range_end", operand(first_operands + 1)),
            ("counts", Value::Pointer(&counters)),
        ],
        tiles.tile_count,
    )?;
    let name = format!("{}, {count} elements, on the device: {is_on_device}, {shape:?}", kernel.name);
    compare(&name, "tested", &tested_memory, &tested)?;
    compare(&name, "source", &source_memory, &source)?;
    if is_count {
        return compare(&name, "state", &state, &word_tile_counts);
    }
    let moved = |from: &[u32], words: usize| {
        let mut moved: Vec<_> =
            order.iter().flat_map(|&index| from[index * words..][..words].to_vec()).collect();
        moved.resize(count * words, POISON);
        moved
    };
    compare(&name, "destination", &destination, &moved(&source, kept_words))?;
    compare(&name, "destination_values", &destination_values, &moved(&values, value_words))?;
    if shape.has_indices {
        let indices: Vec<_> = (0..count as u32).collect();
        compare(&name, "destination_indices", &destination_indices, &moved(&indices, 1))?;
    }
    compare(&name, "kept_counts", &kept_counts, &counts)?;
    check_fallbacks(&name, &counters, shape.stall_every, tiles)
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
    assert_eq!(selected.values, [0, 1, 2, 3, 4, 5, 9, 10, 11, 15, 16, 17]);
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
    let read = [("count", 0), ("source", 40), ("flags", 0), ("values", 40)];
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

    let capabilities = gpu.capabilities();
    let tuned = SelectPolicy::tuned(SelectAlgorithm::ReduceThenScan, capabilities, &config);
    let chained = SelectPolicy::tuned(SelectAlgorithm::Chained, capabilities, &config);
    let tiled = |workgroup_size, items| {
        SelectPolicy::tiled(SelectAlgorithm::ReduceThenScan, workgroup_size, items, tuned.scan)
    };
    let configs = [
        config.partition().policy(chained),
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
