//! Pass checks of run-length encoding and decoding.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::{ElementType, FloatOrder};
use subsweep_tool::reference::passes::run_length::{Encoded, encoded};

use super::rig::{
    Alignment, Memory, POISON, Rig, Selection, Tiles, Value, check_fallbacks, key_words, nth_look_back,
    numbers_stored, random, sizes, small_workgroup, stored, type_of_keys,
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
    let tiles = Tiles::new(count, tile);
    let (elements, is_head) = encoding.elements(count, tile);
    let Encoded { starts, lengths } = encoded(&is_head, encoding.is_non_trivial);
    let memory_words = |count: usize| stored(encoding.stored_as, &vec![0; count * words]).len();
    let padded = |mut written: Vec<u32>, words: usize, is_kept: bool| {
        written.resize(words, POISON);
        if is_kept { written } else { Vec::new() }
    };
    let values: Vec<_> =
        starts.iter().flat_map(|&start| &elements[start * words..][..words]).copied().collect();
    let values = padded(stored(encoding.stored_as, &values), memory_words(count), encoding.has_values);
    let starts = starts.iter().map(|&start| start as u32).collect();
    let counters = Memory::with_words(gpu, &[0; 4], Alignment::Words)?;
    let arrays = [
        ("elements", Value::input(stored(encoding.stored_as, &elements))),
        ("values", Value::output(values)),
        ("offsets", Value::output(padded(starts, count, encoding.has_offsets))),
        ("run_count", Value::output(vec![lengths.len() as u32])),
        ("lengths", Value::output(padded(lengths, count, true))),
        ("state", Value::state(4 + 4 * tiles.tile_count)),
        ("counts", Value::Pointer(&counters)),
    ];
    let host = is_on_device.then_some(Tiles { last_extent: 1, ..tiles });
    let name = format!("{}, {count} elements, on the device: {is_on_device}, {encoding:?}", kernel.name);
    rig.check(&name, arrays.into_iter().chain(tiles.push_instead_of(host)), tiles.tile_count)?;
    check_fallbacks(&name, &counters, encoding.stall_every, tiles)
}

fn lengths(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    let tile = workgroup_size as usize * ITEMS;
    for is_wide in [false, true] {
        let constants = [("ITEMS_PER_INVOCATION", ITEMS as u32), ("WIDE_OFFSETS", is_wide.into())];
        let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
        for (index, run_count) in sizes(tile).into_iter().enumerate() {
            run_lengths(&rig, (tile, run_count), is_wide, index % 2 == 1)?;
        }
    }
    Ok(())
}

/// The lengths of `run_count` runs; with `is_wide` from an index before 2^32 to one beyond it.
fn run_lengths(
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
    let end = ends.last().copied().unwrap_or(0);
    // One more than there are runs, and their room.
    let mut expected = in_words(&lengths.iter().map(|&length| [length, 0]).collect::<Vec<_>>());
    expected.resize((run_count + 1) * number_words, POISON);
    let values = [
        ("starts", Value::input(in_words(&starts))),
        ("lengths", Value::output(expected)),
        ("indirect_tiles", Value::input(tiles.words().to_vec())),
        ("indirect_count", Value::input(vec![end]).only_if(is_on_device)),
        ("element_count", Value::Pair(of_number(if is_on_device { end + 5 } else { end }))),
    ];
    rig.check(&format!("{run_count} runs, wide: {is_wide}"), values, tiles.tile_count)
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
    let values = random(run_count + 1, run_count * words);
    let runs = (0..run_count).flat_map(|run| vec![run; lengths[run] as usize]);
    let mut expected: Vec<_> = match words {
        0 => runs.map(|run| run as u32).collect(),
        _ => runs.flat_map(|run| values[run * words..][..words].to_vec()).collect(),
    };
    expected.resize(capacity * words.max(1), POISON);
    let name = format!("{run_count} runs of {words} words, {capacity} fit");
    let values = [
        ("ends", Value::input(ends(lengths))),
        ("values", Value::input(values)),
        ("elements", Value::output(expected)),
        ("element_count", Value::output(vec![lengths.iter().sum()])),
        ("indirect_count", Value::input(vec![run_count as u32]).only_if(is_on_device)),
        ("run_count", Value::Number(run_count + if is_on_device { 9 } else { 0 })),
        ("capacity", Value::Number(capacity)),
    ];
    rig.check(&name, values, capacity.div_ceil(tile).max(1))
}
