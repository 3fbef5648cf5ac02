//! The parts of histograms, and their results, counts and refusals.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{Capabilities, Device};
use subsweep::headless::Gpu;
use subsweep::histogram::{
    HistogramBuffers, HistogramConfig, HistogramPlan, HistogramPolicy, edge_words, even_edges,
};
use subsweep::kernels::Kernel;
use subsweep::{Count, ElementType, Error};
use subsweep_tool::harness::{HistogramCase, PlanConfig};

use super::cases::clean_trials;
use super::embedding::contract::{COUNT, Room, Subject};
use super::faults::work::{Opened, SMALL, WHOLE, cold, warm};
use super::passes::rig::{
    Alignment, Memory, POISON, Rig, Selection, Tiles, Value, compare, numbers_stored, random, sizes,
    small_workgroup, stored,
};
use super::passes::{Check, packed};
use super::primitive::{Primitive, outcome, run};
use super::refused::Refused;

pub const PRIMITIVE: Primitive = Primitive {
    check: |stem, _| match stem {
        "histogram/clear" => Some(clear as Check),
        "histogram/count" => Some(count as Check),
        _ => None,
    },
    default_plans,
    subjects,
    phases: &[
        cold("planning a histogram", |opened| {
            let config = HistogramConfig::even(ElementType::F32, 256).indirect_count();
            Ok(opened.gpu.plan(config).map(drop))
        }),
        warm("counting", WHOLE, counting),
    ],
};

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "histogram");
    vec![
        trial("mismatched ranges are refused", refusals),
        trial("slices of every type are counted", slices),
        trial("any count on the device gives counts, also 0", counts),
        trial("a guess is certain only where no edge is", guesses),
    ]
}

fn default_plans(_: &Capabilities) -> Vec<PlanConfig> {
    let configs = [
        HistogramConfig::even(ElementType::F32, 256),
        HistogramConfig::by_edges(ElementType::I32, 9),
        HistogramConfig::even(ElementType::F64, 256).weighted(),
        HistogramConfig::by_edges(ElementType::U64, 9),
    ];
    configs.into_iter().flat_map(|config| [config, config.indirect_count()]).map(PlanConfig::from).collect()
}

fn subjects(device: &Device, room: Room) -> subsweep::Result<Vec<Subject>> {
    let config = HistogramConfig::even(ElementType::U32, 100);
    let [source, edges, counts] = [0, 1, 2].map(|index| room.array(index));
    let buffers = HistogramBuffers::new(source, edges, counts).scratch(room.scratch);
    let counts = [Count::Direct(COUNT.into()), room.count()];
    let subjects = [(config, counts[0]), (config.indirect_count(), counts[1])];
    let mut all = Subject::all(device, "a histogram", buffers, subjects)?;
    let (config, buffers) = (config.weighted(), buffers.weights(room.array(3)));
    let subjects = [(config, counts[0]), (config.indirect_count(), counts[1])];
    all.extend(Subject::all(device, "a histogram of weights", buffers, subjects)?);
    Ok(all)
}

fn counting(opened: &Opened) -> Result<subsweep::Result<()>, Failed> {
    let edges = even_edges(ElementType::U32, 100, [1e6, 4e9])?;
    let values: Vec<_> = SMALL.iter().copied().map(f64::from).collect();
    let counts = opened.gpu.histogram(HistogramConfig::even(ElementType::U32, 100), &SMALL, &edges);
    outcome(counts, &HistogramCase::counted(&values, 1, &edges))
}

fn clear(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    let rig = Rig::new(gpu, kernel, workgroup_size, &[])?;
    let tile = 4 * workgroup_size as usize;
    for words in sizes(tile) {
        let push = [("counts", Value::output(vec![0; words])), ("word_count", Value::Number(words))];
        rig.check(&format!("{words} words"), push, words.div_ceil(tile))?;
    }
    Ok(())
}

/// A specialization of the kernel that counts.
#[derive(Debug, Clone, Copy)]
struct HistogramShape {
    numbers: u32,
    bins: usize,
    columns: usize,
    copies: u32,
    has_shared_edges: bool,
    is_even: bool,
    loads_in_flight: u32,
    /// The maximum of workgroups, which stride; 0 for a workgroup per tile.
    max_workgroups: u32,
    has_quads: bool,
    is_weighted: bool,
}

/// Every option but quads in device memory, in the first four shapes; then types, bins and columns.
const SHAPES: [HistogramShape; 10] = {
    const fn shape(
        numbers: u32,
        bins: usize,
        columns: usize,
        copies: u32,
        rest: [bool; 2],
    ) -> HistogramShape {
        let [has_shared_edges, is_even] = rest;
        let (loads_in_flight, max_workgroups, has_quads, is_weighted) = (4, 0, false, false);
        HistogramShape {
            numbers,
            bins,
            columns,
            copies,
            has_shared_edges,
            is_even,
            loads_in_flight,
            max_workgroups,
            has_quads,
            is_weighted,
        }
    }
    const fn weighted(shape: HistogramShape) -> HistogramShape {
        HistogramShape { is_weighted: true, ..shape }
    }
    const fn loads(loads_in_flight: u32, shape: HistogramShape) -> HistogramShape {
        HistogramShape { loads_in_flight, ..shape }
    }
    const fn by_quads(shape: HistogramShape) -> HistogramShape {
        HistogramShape { has_quads: true, ..shape }
    }
    const fn strided(max_workgroups: u32, shape: HistogramShape) -> HistogramShape {
        HistogramShape { max_workgroups, ..shape }
    }
    [
        loads(16, by_quads(shape(2, 37, 3, 4, [true, true]))),
        weighted(loads(8, strided(2, shape(1, 64, 1, 1, [false, false])))),
        shape(0, 5, 2, 0, [true, false]),
        weighted(loads(8, by_quads(shape(2, 100, 4, 2, [true, true])))),
        loads(16, shape(2, 1000, 1, 0, [false, true])),
        shape(0, 1, 1, 8, [true, true]),
        by_quads(strided(3, shape(1, 2, 5, 2, [true, true]))),
        shape(2, 257, 2, 1, [true, false]),
        weighted(shape(0, 100, 7, 0, [false, true])),
        shape(1, 33, 1, 32, [true, true]),
    ]
};

impl HistogramShape {
    /// The type of shape `index`.
    fn element(self, kernel: &Kernel, index: usize) -> ElementType {
        use ElementType::{Bf16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        let types = match kernel.name {
            "histogram/count:wide" => [U64, I64, F64],
            "histogram/count:packed" if index.is_multiple_of(2) => [U8, I16, F16],
            "histogram/count:packed" => [U16, I8, Bf16],
            _ => [U32, I32, F32],
        };
        types[self.numbers as usize]
    }

    /// Edges of a part of all words; floats have all exponents, where no bins are even.
    fn edges(self, element: ElementType) -> Vec<f64> {
        let range = match element {
            _ if element.is_float() => [-3.5, 1e3],
            ElementType::U8 => [3.0, 250.0],
            ElementType::I8 => [-100.0, 90.0],
            ElementType::U16 => [100.0, 6e4],
            ElementType::I16 => [-3e4, 2.9e4],
            ElementType::I32 => [-2e9, 1.9e9],
            ElementType::I64 => [-8e18, 7e18],
            ElementType::U64 => [1e8, 1.7e19],
            _ => [1e8, 4e9],
        };
        let mut edges = even_edges(element, self.bins as u32, range).unwrap();
        if !self.is_even {
            let middle = edges.len() / 2;
            edges[middle] = edges[middle - 1];
        }
        edges
    }
}

fn count(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    for (index, shape) in selection.first(4, SHAPES).into_iter().enumerate() {
        let element = shape.element(kernel, index);
        let words = element.words() as usize;
        let HistogramShape { numbers, bins, columns, copies, has_shared_edges, is_even, has_quads, .. } =
            shape;
        // Of 16 loads in flight a round of four groups of 4 values an invocation, and one of a whole group and a part.
        let rows = 22 * workgroup_size as usize / columns;
        let tile_rows = if has_quads { rows / 4 * 4 } else { rows + 1 };
        let alignment = if has_quads { Alignment::Quads } else { Alignment::Words };
        let constants = [
            ("NUMBERS", numbers),
            ("BIN_COUNT", bins as u32),
            ("COLUMN_COUNT", columns as u32),
            ("TILE_ROWS", tile_rows as u32),
            ("COPIES", copies),
            ("SHARED_EDGES", if has_shared_edges { bins as u32 + 1 } else { 0 }),
            ("EVEN", is_even.into()),
            ("LOADS_IN_FLIGHT", shape.loads_in_flight),
            ("MAX_WORKGROUPS", shape.max_workgroups),
            ("QUAD_ACCESS", has_quads.into()),
            ("WEIGHTED", shape.is_weighted.into()),
        ];
        let packed = element.is_packed().then(|| packed::constants(element, 0));
        let constants = [&constants[..], packed.as_ref().map_or(&[], |packed| &packed[..])].concat();
        let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
        let edges = shape.edges(element);
        let edge_input = edge_words(element, &edges)?;
        for (index, rows) in sizes(tile_rows).into_iter().enumerate() {
            let tiles = Tiles::new(rows, tile_rows);
            let mut input = random(rows, rows * columns * words);
            // Some values are edges, and their neighbours.
            for (position, value) in input.chunks_mut(words).enumerate().filter(|(at, _)| at % 3 == 0) {
                let step = value[0] % 3;
                value.copy_from_slice(&edge_input[position * words % edge_input.len()..][..words]);
                value[0] = value[0].wrapping_add(step).wrapping_sub(1);
            }
            let input = numbers_stored(element, input);
            let before = random(rows + 1, bins * columns);
            let weights = match shape.is_weighted {
                true => random(rows + 2, rows * columns),
                false => vec![1; rows * columns],
            };
            let values = HistogramCase::numbers_of(element.unpacked(), &input);
            let counted = HistogramCase::added(&values, weights.iter().copied(), columns, &edges);
            let expected: Vec<_> = before.iter().zip(counted).map(|(a, b)| a.wrapping_add(b)).collect();

            let is_on_device = index % 2 == 1;
            let case = format!("{rows} rows, on the device: {is_on_device}, {shape:?}");
            let arrays = [
                ("source", Value::input(stored(element, &input)).at(alignment)),
                ("edges", Value::input(&edge_input)),
                ("counts", Value::changed(before, expected)),
                ("weights", Value::input(weights).at(alignment).only_if(shape.is_weighted)),
            ];
            rig.check(&case, arrays.into_iter().chain(tiles.push(is_on_device)), tiles.tile_count)?;
        }
    }
    Ok(())
}

fn slices(gpu: &Gpu) -> Result<(), Failed> {
    let even = HistogramConfig::even;
    let edges = even_edges(ElementType::F32, 4, [0.0, 1.0])?;
    let values = [0.0, -0.0, 0.25, 0.249_999_98, 1.0, 1.000_000_1, f32::NAN, -1e-45, 0.75, 1e-45];
    assert_eq!(gpu.histogram(even(ElementType::F32, 4), &values, &edges)?, [4, 1, 0, 2]);
    let rows = [1i32, -7, 2, 5, -3, i32::MAX];
    let two = even(ElementType::I32, 2).columns(2);
    assert_eq!(gpu.histogram(two, &rows, &[-7.0, 1.5, 5.0])?, [2, 1, 1, 1]);
    assert_eq!(gpu.histogram::<u32>(even(ElementType::U32, 2), &[], &[0.0, 1.0, 2.0])?, [0, 0]);
    // Bins beyond the numbers of the type, above, below, and on both sides.
    let values = [0, 7, u32::MAX, u32::MAX - 1];
    let beyond = HistogramConfig::by_edges(ElementType::U32, 3);
    assert_eq!(gpu.histogram(beyond, &values, &[5.0, 4_294_967_294.5, 5e9, 6e9])?, [2, 1, 0]);
    assert_eq!(gpu.histogram(beyond, &values, &[-9.0, -5.0, 0.5, 5e9])?, [0, 1, 3]);
    assert_eq!(gpu.histogram(beyond, &values, &[-9.0, -5.0, -2.0, -1.0])?, [0, 0, 0]);
    assert_eq!(gpu.histogram(beyond, &values, &[5e9, 6e9, 7e9, 8e9])?, [0, 0, 0]);
    let columns = gpu.histogram(beyond.columns(2), &values, &[0.0, 7.0, 5e9, 6e9])?;
    assert_eq!(columns, [1, 1, 0, 0, 2, 0]);
    // No integer is between these, and one is all of them.
    let beyond = even(ElementType::U32, 2);
    let values = [4, 5, 0, u32::MAX];
    assert_eq!(gpu.histogram(beyond, &values, &[4.2, 4.5, 4.8])?, [0, 0]);
    assert_eq!(gpu.histogram(beyond, &values, &[4.0; 3])?, [0, 1]);
    assert_eq!(gpu.histogram(beyond, &values, &[5e9, 6e9, 7e9])?, [0, 0]);
    let limit = [f64::NEG_INFINITY, -1.0, f64::INFINITY];
    let values = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN, -1.0];
    assert_eq!(gpu.histogram(HistogramConfig::by_edges(ElementType::F32, 2), &values, &limit)?, [1, 2]);

    // Two integers of 64 bits that are one f64, and weights of both signs.
    let wide = [1u64 << 53, (1 << 53) + 1, (1 << 53) + 2, u64::MAX];
    let two_to_53 = HistogramConfig::by_edges(ElementType::U64, 2);
    let edges = [0.0, 9_007_199_254_740_994.0, 2e19];
    assert_eq!(gpu.histogram(two_to_53, &wide, &edges)?, [2, 2]);
    assert_eq!(gpu.weighted_histogram(two_to_53.weighted(), &wide, &[1, -2, 3, -7i32], &edges)?, [-1, -4]);
    let doubles = [0.0, -0.0, 0.5, f64::NAN, 1.0, f64::INFINITY, -1e-310];
    assert_eq!(gpu.histogram(even(ElementType::F64, 2), &doubles, &[0.0, 0.5, 1.0])?, [2, 2]);
    let few = gpu.weighted_histogram(two_to_53.weighted(), &wide, &[1u32], &edges);
    assert_eq!(few, Err(Error::ValueCountMismatch { key_count: 4, value_count: 1 }));
    let floats = gpu.weighted_histogram(two_to_53.weighted(), &wide, &[1.0f32; 4], &edges);
    assert!(matches!(floats, Err(Error::Unsupported { .. })), "{floats:?}");

    let mismatch = gpu.histogram(even(ElementType::F32, 2), &[1u32], &limit);
    assert!(matches!(mismatch, Err(Error::ElementMismatch { .. })), "{mismatch:?}");
    let ragged = gpu.histogram(two, &rows[..5], &limit);
    assert_eq!(ragged, Err(Error::RowLengthMismatch { value_count: 5, columns: 2 }));
    let few = gpu.histogram(even(ElementType::I32, 3), &rows, &limit);
    assert_eq!(few, Err(Error::RangeTooSmall { what: "the array of edges", needed: 32, got: 24 }));
    let (mut counts, ones) = ([7; 3], bytemuck::cast_slice(&[1, 2]));
    let short = gpu.prepare_histogram(two, ones, &[], &limit, &mut counts).err();
    assert_eq!(short, Some(Error::RangeTooSmall { what: "the result", needed: 16, got: 12 }));
    gpu.prepare_histogram(even(ElementType::I32, 2), ones, &[], &limit, &mut counts)?.run()?;
    assert_eq!(counts, [0, 2, 7]);
    for edges in [[0.0, f64::NAN], [1.0, 0.0]] {
        let invalid = gpu.histogram(even(ElementType::U32, 1), &[1u32], &edges);
        assert!(matches!(invalid, Err(Error::InvalidEdge { .. })), "{invalid:?}");
    }
    Ok(())
}

/// Values at edges, one and two numbers off, and between them: where a guess is certain, and where the edges decide. Edges
/// are even, up to the rounding of the type, and then uneven, which a histogram of even bins takes as well.
fn guesses(gpu: &Gpu) -> Result<(), Failed> {
    let (u32, i32, f32) = (ElementType::U32, ElementType::I32, ElementType::F32);
    let (u64, i64, f64) = (ElementType::U64, ElementType::I64, ElementType::F64);
    let two = f64::powi;
    for (element, bins, range) in [
        (f32, 256, [0.0, 1.0]),
        (f32, 256, [-1.5, 2.3]),
        (f32, 1000, [0.1, 0.7]),
        // A bin is one number of the type, and 1.6 of them: edges are off by a third of a bin.
        (f32, 16, [1e6, 1e6 + 1.0]),
        (f32, 256, [1e6, 1e6 + 25.6]),
        (f32, 256, [-1e6 - 25.6, -1e6]),
        (f32, 256, [1e-40, 3e-40]),
        (f32, 7, [-1e-30, 1e-30]),
        (f32, 33, [-1e38, 1e38]),
        (f32, 65_536, [-0.1, 0.3]),
        (u32, 256, [0.0, two(2.0, 32)]),
        (u32, 255, [0.0, two(2.0, 32) - 1.0]),
        (u32, 65_536, [0.0, two(2.0, 32) - 1.0]),
        (u32, 256, [0.0, 256.0]),
        // As numpy takes the range from the values: one integer a bin, or a few.
        (u32, 256, [0.0, 255.0]),
        (u32, 100, [0.0, 255.0]),
        (u64, 100, [0.0, 999.0]),
        (u32, 300, [4e9, 4e9 + 300.0]),
        (u32, 100, [4e9, 4e9 + 37.0]),
        (u32, 1000, [16_777_215.0, 4.1e9]),
        (i32, 256, [-two(2.0, 31), two(2.0, 31)]),
        (i32, 999, [-2e9, -2e9 + 2500.0]),
        (f64, 256, [0.0, 1.0]),
        (f64, 1000, [1e6, 1e6 + 1.0]),
        (f64, 100, [1e9, 1e9 + 1.0]),
        (f64, 33, [-1e38, 1e38]),
        (f64, 33, [-1e300, 1e300]),
        (f64, 7, [-1e-310, 2e-310]),
        (f64, 65_536, [-0.1, 0.3]),
        (u64, 256, [0.0, two(2.0, 64)]),
        (u64, 65_536, [5e17, 1.8e19]),
        (u64, 100, [4e9, two(2.0, 33)]),
        (u64, 256, [two(2.0, 63), two(2.0, 63) + two(2.0, 19)]),
        (i64, 256, [-two(2.0, 63), two(2.0, 63)]),
        (i64, 999, [-2e9, 2.5e9]),
    ] {
        let even = even_edges(element, bins, range)?;
        let middle = even.len() / 2;
        for neighbour in [middle, middle - 1, middle + 1] {
            // Three quarters of a bin off, downward or upward.
            let mut edges = even.clone();
            edges[middle] = (even[middle] + 3.0 * even[neighbour]) / 4.0;
            let size = element.words() as usize;
            let bits = |words: &[u32]| words.iter().rev().fold(0, |bits, word| bits << 32 | u64::from(*word));
            let words: Vec<u64> = edge_words(element, &edges)?.chunks(size).map(bits).collect();
            let beside = |edge: &u64| [-2, -1, 0, 1, 2].map(|distance| edge.wrapping_add_signed(distance));
            let between = edges.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]));
            let word = |value: f64| match element {
                ElementType::F32 => (value as f32).to_bits().into(),
                ElementType::F64 => value.to_bits(),
                ElementType::U64 => value as u64,
                _ => value as i64 as u64,
            };
            // Whole subgroups of values that are certain without the moved edge: no other lane asks the edges.
            let moved = f64::midpoint(even[middle], edges[middle]);
            let moved = beside(&words[middle]).into_iter().chain([word(moved)]);
            let moved = moved.flat_map(|value| std::iter::repeat_n(value, 2048));
            let values = words.iter().flat_map(beside).chain(between.map(word)).chain(moved);
            let values: Vec<u32> =
                values.flat_map(|bits| [bits as u32, (bits >> 32) as u32].into_iter().take(size)).collect();
            let case = format!("{bins} bins of {element} in {range:?}, edge {middle} towards {neighbour}");
            expect_counts(gpu, element, &edges, &values, &case)?;
        }
    }
    // In units of 1 the distance of the last edge has 33 bits: cut to 32, the distance of this value would be in
    // the middle of the first bin.
    let long = [0.0, 500.0, two(2.0, 32) + 1000.0];
    for element in [u64, i64] {
        expect_counts(gpu, element, &long, &[250, 1].repeat(2048), &format!("a long bin of {element}"))?;
    }
    Ok(())
}

/// Counts values in even bins of these edges, and compares with the counts of the oracle.
fn expect_counts(
    gpu: &Gpu,
    element: ElementType,
    edges: &[f64],
    values: &[u32],
    case: &str,
) -> Result<(), Failed> {
    let mut counts = vec![0; edges.len() - 1];
    let config = HistogramConfig::even(element, counts.len() as u32);
    gpu.prepare_histogram(config, bytemuck::cast_slice(values), &[], edges, &mut counts)?.run()?;
    let numbers = HistogramCase::numbers_of(element, values);
    let expected = HistogramCase::counted(&numbers, 1, edges);
    let wrong = counts.iter().zip(&expected).position(|(count, expected)| count != expected);
    assert_eq!(wrong, None, "{case}: {:?}", wrong.map(|bin| (counts[bin], expected[bin])));
    Ok(())
}

/// One recording, for counts from 0 to more than its maximum.
fn counts(gpu: &Gpu) -> Result<(), Failed> {
    let config = HistogramConfig::even(ElementType::U32, 10).columns(2).indirect_count();
    let edges = even_edges(ElementType::U32, 10, [0.0, 4e9])?;
    let edge_memory = Memory::with_words(gpu, &edge_words(ElementType::U32, &edges)?, Alignment::Words)?;
    let max = 5000;
    let input = random(8, 2 * max as usize);
    let source = Memory::with_words(gpu, &input, Alignment::Words)?;
    let values: Vec<_> = input.iter().copied().map(f64::from).collect();
    let plan = HistogramPlan::new(gpu.device(), config)?;
    let scratch = gpu.allocate(plan.scratch_requirements(max.into()).size)?;
    for stored in [0, 1, 4999, max, max + 1, u32::MAX] {
        let rows = stored.min(max);
        let count_memory = Memory::with_words(gpu, &[stored], Alignment::Words)?;
        let indirect = Count::Indirect { address: count_memory.range().address, max };
        for count in [indirect, Count::Direct(rows.into())] {
            let counts = Memory::poisoned(gpu, 20, Alignment::Words)?;
            let buffers = HistogramBuffers::new(source.range(), edge_memory.range(), counts.range());
            let buffers = buffers.scratch(scratch.range());
            run(gpu, &plan, &buffers, count)?;
            let expected = HistogramCase::counted(&values[..2 * rows as usize], 2, &edges);
            compare(&format!("{count:?} of {stored}"), "counts", &counts, &expected)?;
        }
    }
    // A maximum of 0.
    let counts = Memory::poisoned(gpu, 20, Alignment::Words)?;
    let buffers = HistogramBuffers::new(source.range(), edge_memory.range(), counts.range());
    let count_memory = Memory::with_words(gpu, &[POISON], Alignment::Words)?;
    let none = Count::Indirect { address: count_memory.range().address, max: 0 };
    let buffers = buffers.scratch(scratch.range());
    run(gpu, &plan, &buffers, none)?;
    compare("a maximum of 0", "counts", &counts, &[0; 20])
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    let refused = Refused::new(gpu)?;
    let at = |offset, size| refused.at(offset, size);
    let config = HistogramConfig::even(ElementType::F32, 9).columns(2);
    let counted = refused.count(2048, 10);
    let scratch = refused.scratch(1024, 32);
    let buffers = HistogramBuffers::new(at(0, 80), at(256, 40), at(512, 72)).scratch(scratch);
    let sizes = [
        ("count", 4),
        ("source", 80),
        ("edges", 40),
        ("weights", 0),
        ("functions_data", 0),
        ("counts", 72),
        ("scratch", 32),
    ];
    refused.expect_sizes(config.indirect_count(), buffers, counted, &sizes);
    refused.expect_direct_only(config, buffers, counted);

    let (most_bins, most_columns) = (HistogramConfig::MAX_BINS, HistogramConfig::MAX_COLUMNS);
    let shapes =
        [(0, 1), (most_bins + 1, 1), (u32::MAX, 1), (1, 0), (1, most_columns + 1), (most_bins, 1 << 13)];
    let configs =
        shapes.map(|(bins, columns)| HistogramConfig::even(ElementType::U32, bins).columns(columns));
    refused.expect(configs, |error| matches!(error, Error::OutOfRange { .. }));
    let weighted = HistogramBuffers::new(at(0, 160), at(256, 80), at(512, 72)).weights(at(1536, 80));
    let sizes = [
        ("count", 0),
        ("source", 160),
        ("edges", 80),
        ("weights", 80),
        ("functions_data", 0),
        ("counts", 72),
        ("scratch", 0),
    ];
    let config64 = HistogramConfig::even(ElementType::F64, 9).columns(2).weighted();
    refused.expect_sizes(config64, weighted, Count::Direct(10), &sizes);
    let unused = refused.record(config, weighted, Count::Direct(10));
    assert!(matches!(unused, Err(Error::Unsupported { .. })), "{unused:?}");
    let policies = [
        HistogramPolicy::new(0, 4, 1),
        HistogramPolicy::new(33, 4, 1),
        HistogramPolicy::new(64, 0, 1),
        HistogramPolicy::new(64, 1025, 1),
        HistogramPolicy::new(64, 4, 3),
        HistogramPolicy::new(64, 4, 64),
        HistogramPolicy::new(64, 4, 1).with_subgroup_size(3),
        HistogramPolicy::new(64, 4, 1).with_loads_in_flight(2),
        HistogramPolicy::new(64, 4, 1).with_loads_in_flight(12),
        HistogramPolicy::new(64, 4, 1).with_loads_in_flight(32),
    ];
    let configs = policies.map(|policy| config.policy(policy));
    refused.expect(configs, |error| matches!(error, Error::InvalidPolicy { .. }));
    let shared_words = gpu.capabilities().shared_memory_size / 4;
    let private = HistogramPolicy::new(64, 4, 1);
    let full = HistogramConfig::even(ElementType::U32, shared_words - 3);
    assert_eq!(refused.plan(full.policy(private)), Ok(()));
    let configs = [
        full.policy(private.with_shared_edges()),
        full.policy(HistogramPolicy::new(64, 4, 2)),
        config.policy(HistogramPolicy::new(1 << 16, 4, 1)),
    ];
    refused.expect(configs, |error| matches!(error, Error::PolicyExceedsLimits { .. }));

    let huge = HistogramBuffers::new(at(0, 1 << 60), at(1 << 61, 40), at(1 << 62, 72));
    let many = refused.record(config, huge, Count::Direct(1 << 32));
    let too_many = Error::TooManyElements { count: 1 << 32, max: (1 << 32) - 1, what: "a count of u32" };
    assert_eq!(many, Err(too_many));
    Ok(())
}
