//! Pass checks of run-length encoding and decoding.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::{ElementType, FloatOrder};
use subsweep_tool::reference::passes::run_length::{Encoded, encoded};

use super::rig::{
    Alignment, Memory, POISON, Rig, Selection, Tiles, Value, check_fallbacks, compare, key_words,
    nth_look_back, numbers_stored, random, sizes, small_workgroup, stored, type_of_keys,
};
use super::{Check, packed};

pub fn check(stem: &str, variant: &str) -> Option<Check> {
    match stem {
        "run_length/decode" if variant == "packed" => Some(packed::decode),
        "run_length/encode" => Some(encode),
        "run_length/lengths" => Some(lengths),
        "run_length/decode" => Some(decode),
        _ => None,
    }
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

/// A specialization of `encode.comp`.
#[derive(Debug, Clone, Copy)]
struct Encoding {
    element: ElementType,
    /// The type in memory: of 8 and 16 bits another.
    stored_as: ElementType,
    has_values: bool,
    has_offsets: bool,
    is_non_trivial: bool,
    /// Every Nth tile is stalled; 0 for none. Only `_counted` variants stall tiles.
    stall_every: usize,
}

impl Encoding {
    /// The encodings of a kernel; the first ones cover every option.
    fn all(kernel: &Kernel) -> Vec<Self> {
        use ElementType::{F32, F64, I64, U32};
        let [floats, integers] = if key_words(kernel) == 2 { [F64, I64] } else { [F32, U32] };
        let of = |element, has_values, has_offsets, is_non_trivial, stall_every| {
            let stall_every = if kernel.name.ends_with("_counted") { stall_every } else { 0 };
            Self { element, stored_as: element, has_values, has_offsets, is_non_trivial, stall_every }
        };
        let all = [
            of(floats, true, true, true, 1),
            of(integers, true, false, false, 3),
            of(floats, false, true, false, 2),
            of(integers, false, true, true, 3),
        ];
        let stored = |(index, encoding): (usize, Self)| {
            let stored_as = type_of_keys(kernel, encoding.element, index / 2);
            // There are no floats of 8 bits, of which equal ones differ.
            let element = if stored_as.is_float() { encoding.element } else { integers };
            Self { element, stored_as, ..encoding }
        };
        all.into_iter().enumerate().map(stored).collect()
    }

    fn constants(&self) -> Vec<(&'static str, u32)> {
        let words = self.element.words();
        let numbers = match self.stored_as {
            ElementType::F64 => ElementType::F32,
            other => other,
        };
        let numbers = if self.element.is_float() { numbers.key_numbers(FloatOrder::Numpy) } else { 0 };
        let mut constants = vec![
            ("ITEMS_PER_INVOCATION", ITEMS as u32),
            ("KEY_NUMBERS", numbers),
            ("KEPT_WORDS", if self.has_values { words } else { 0 }),
            ("KEPT_INDICES", self.has_offsets.into()),
            ("NON_TRIVIAL", self.is_non_trivial.into()),
        ];
        // Only the counted variant has stalled tiles, and windows.
        constants.extend(nth_look_back(self.stall_every, 4));
        if self.stall_every > 0 {
            constants.push(("STALL_EVERY", self.stall_every as u32));
        }
        constants
    }

    /// Elements as words, and whether each is a head. Runs are of one element, of a few, or of tiles; equal floats differ in
    /// their bits.
    fn elements(&self, count: usize, tile: usize) -> (Vec<u32>, Vec<bool>) {
        let words = self.element.words() as usize;
        let (mut elements, mut is_head) = (Vec::new(), Vec::new());
        // Zeros, NaNs and ones: each of equal numbers, which the next run has not.
        let kinds = if self.element.is_float() {
            [[0, 1 << 31], [0x7ff8_0001, 0xffff_ffff], [0x3ff0_0000; 2]]
        } else if self.stored_as.is_packed() {
            [[5; 2], [0x80; 2], [0; 2]]
        } else {
            [[5; 2], [1 << 31; 2], [0; 2]]
        };
        for (run, draw) in random(count, count).into_iter().enumerate() {
            let length = match draw % 8 {
                0..=3 => 1,
                4..=6 => 2 + (draw >> 8) as usize % 7,
                _ => (draw >> 8) as usize % (2 * tile + 2) + 1,
            };
            for index in 0..length.min(count - is_head.len()) {
                let high = kinds[run % 3][((draw >> 4) as usize + index) % 2];
                elements.extend([0, high][2 - words..].iter());
                is_head.push(index == 0);
            }
        }
        (numbers_stored(self.stored_as, elements), is_head)
    }
}

fn encode(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    let tile = workgroup_size as usize * ITEMS;
    for encoding in selection.first(3, Encoding::all(kernel)) {
        let rig = Rig::new(gpu, kernel, workgroup_size, &encoding.constants())?;
        // No elements are an empty tile, and several windows of tiles have one run for the most part.
        for (index, count) in [0, 40 * tile + 7].into_iter().chain(sizes(tile)).enumerate() {
            run_encode(gpu, &rig, kernel, encoding, (tile, count), index % 2 == 1)?;
        }
    }
    Ok(())
}

/// Encodes `count` elements; with `is_on_device` the tiles are in device memory, and the numbers of the host are wrong.
fn run_encode(
    gpu: &Gpu,
    rig: &Rig<'_>,
    kernel: &'static Kernel,
    encoding: Encoding,
    (tile, count): (usize, usize),
    is_on_device: bool,
) -> Result<(), Failed> {
    let words = encoding.element.words() as usize;
    let tiles = if count == 0 { Tiles { tile_count: 1, last_extent: 0 } } else { Tiles::new(count, tile) };
    let (elements, is_head) = encoding.elements(count, tile);
    let Encoded { starts, lengths } = encoded(&is_head, encoding.is_non_trivial);
    let of = |words: &[u32]| Memory::with_words(gpu, words, Alignment::Words);
    let poisoned = |words| Memory::poisoned(gpu, words, Alignment::Words);
    let elements_memory = of(&stored(encoding.stored_as, &elements))?;
    let memory_words = |count: usize| stored(encoding.stored_as, &vec![0; count * words]).len();
    let values = poisoned(if encoding.has_values { memory_words(count) } else { 0 })?;
    let offsets = poisoned(if encoding.has_offsets { count } else { 0 })?;
    let (lengths_memory, run_count) = (poisoned(count)?, poisoned(1)?);
    let state = of(&vec![0; 4 + 4 * tiles.tile_count])?;
    let (counters, on_device) = (of(&[0; 4])?, of(&tiles.words())?);
    let Tiles { tile_count, last_extent } =
        if is_on_device { Tiles { tile_count: tiles.tile_count, last_extent: 1 } } else { tiles };
    rig.run(
        &[
            ("elements", Value::Pointer(&elements_memory)),
            ("values", Value::Pointer(&values)),
            ("offsets", Value::Pointer(&offsets)),
            ("lengths", Value::Pointer(&lengths_memory)),
            ("state", Value::Pointer(&state)),
            ("run_count", Value::Pointer(&run_count)),
            ("indirect_tiles", Value::pointer_if(is_on_device, &on_device)),
            ("tile_count", Value::Number(tile_count)),
            ("last_extent", Value::Number(last_extent)),
            ("counts", Value::Pointer(&counters)),
        ],
        tiles.tile_count,
    )?;
    let name = format!("{}, {count} elements, on the device: {is_on_device}, {encoding:?}", kernel.name);
    let padded = |mut written: Vec<u32>, words: usize| {
        written.resize(count * words, POISON);
        written
    };
    let kept_values: Vec<_> =
        starts.iter().flat_map(|&start| elements[start * words..][..words].to_vec()).collect();
    if encoding.has_values {
        let mut kept_values = stored(encoding.stored_as, &kept_values);
        kept_values.resize(memory_words(count), POISON);
        compare(&name, "values", &values, &kept_values)?;
    }
    if encoding.has_offsets {
        let starts = starts.iter().map(|&start| start as u32).collect();
        compare(&name, "offsets", &offsets, &padded(starts, 1))?;
    }
    compare(&name, "run_count", &run_count, &[lengths.len() as u32])?;
    compare(&name, "lengths", &lengths_memory, &padded(lengths, 1))?;
    check_fallbacks(&name, &counters, encoding.stall_every, tiles)
}

fn lengths(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    let tile = workgroup_size as usize * ITEMS;
    for is_wide in [false, true] {
        let constants = [("ITEMS_PER_INVOCATION", ITEMS as u32), ("WIDE_OFFSETS", is_wide.into())];
        let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
        for (index, run_count) in sizes(tile).into_iter().enumerate() {
            run_lengths(gpu, &rig, (tile, run_count), is_wide, index % 2 == 1)?;
        }
    }
    Ok(())
}

/// The lengths of `run_count` runs; with `is_wide` from an index before 2^32 to one beyond it.
fn run_lengths(
    gpu: &Gpu,
    rig: &Rig<'_>,
    (tile, run_count): (usize, usize),
    is_wide: bool,
    is_on_device: bool,
) -> Result<(), Failed> {
    let lengths: Vec<_> = some_lengths(run_count).into_iter().map(|length| length + 1).collect();
    let ends = ends(&lengths);
    let (base, number_words) =
        if is_wide && !is_on_device { ((1 << 32) - 7, 2) } else { (0, 1 + usize::from(is_wide)) };
    let of_number = |number: u32| {
        let number = u64::from(number) + base;
        [number as u32, (number >> 32) as u32]
    };
    let in_words = |numbers: &[[u32; 2]]| -> Vec<u32> {
        numbers.iter().flat_map(|number| &number[..number_words]).copied().collect()
    };
    let starts: Vec<_> = ends.iter().zip(&lengths).map(|(end, length)| of_number(end - length)).collect();
    let tiles = Tiles::new(run_count, tile);
    let of = |words: &[u32]| Memory::with_words(gpu, words, Alignment::Words);
    let (starts, tiles_memory) = (of(&in_words(&starts))?, of(&tiles.words())?);
    let end = ends.last().copied().unwrap_or(0);
    let count = of(&[end])?;
    // One more than there are runs, and their room.
    let written = Memory::poisoned(gpu, (run_count + 1) * number_words, Alignment::Words)?;
    let push = [
        ("starts", Value::Pointer(&starts)),
        ("lengths", Value::Pointer(&written)),
        ("indirect_tiles", Value::Pointer(&tiles_memory)),
        ("indirect_count", Value::pointer_if(is_on_device, &count)),
        ("element_count", Value::Pair(of_number(if is_on_device { end + 5 } else { end }))),
    ];
    rig.run(&push, tiles.tile_count)?;
    let mut expected = in_words(&lengths.iter().map(|&length| [length, 0]).collect::<Vec<_>>());
    expected.resize((run_count + 1) * number_words, POISON);
    compare(&format!("{run_count} runs, wide: {is_wide}"), "lengths", &written, &expected)
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
        // Many runs of nothing before and after an element, and one long run.
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

/// Decodes runs into memory for `capacity` elements; with `is_on_device` the number of runs is in device memory, and the
/// number of the host is a larger maximum.
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
    let of = |words: &[u32]| Memory::with_words(gpu, words, Alignment::Words);
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
