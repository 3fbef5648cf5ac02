//! Pass checks of selections.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::select::{Comparison, Predicate};
use subsweep::{ElementType, FloatOrder};
use subsweep_tool::harness::SelectCase;
use subsweep_tool::reference::passes::select::{Compacted, compacted, tile_counts};

use super::rig::{
    Alignment, Memory, POISON, Rig, Selection, Tiles, Value, check_fallbacks, key_words, nth_look_back,
    numbers_stored, packed_bits, random, sizes, small_workgroup, stored, type_of_keys,
};
use super::{Check, packed};

pub fn check(stem: &str, _: &str) -> Option<Check> {
    stem.starts_with("select/").then_some(pass)
}

/// A specialization of the kernels.
#[derive(Debug, Clone, Copy)]
struct TileShape {
    by: Predicate,
    element: ElementType,
    /// The type of elements in memory: of 8 and 16 bits another.
    stored_as: ElementType,
    parts: usize,
    /// Words of an element and of a value that are stored, and whether indices are.
    kept: [usize; 2],
    has_indices: bool,
    /// Every Nth tile is stalled; 0 for none. Only `_counted` variants stall tiles.
    stall_every: usize,
    /// Whether a compaction adds up the counts of tiles.
    sums_counts: bool,
    /// Whether counts and indices are of 64 bits.
    is_wide: bool,
}

const LESS: Predicate = Predicate::Compare(Comparison::Less);
const RANGE: Predicate = Predicate::Compare(Comparison::Range);

impl TileShape {
    const fn new(
        by: Predicate,
        element: ElementType,
        parts: usize,
        kept: [usize; 2],
        has_indices: bool,
    ) -> Self {
        let stored_as = element;
        Self {
            by,
            element,
            stored_as,
            parts,
            kept,
            has_indices,
            stall_every: 0,
            sums_counts: false,
            is_wide: false,
        }
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
        if packed_bits(kernel) < 32 {
            for (index, shape) in shapes.iter_mut().enumerate() {
                shape.stored_as = type_of_keys(kernel, shape.element, index / 2);
                shape.element = shape.stored_as.unpacked();
                shape.kept[0] = shape.kept[0].min(1);
            }
        }
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
            Predicate::Function(_) => unreachable!("no case has functions of a caller"),
        };
        let numbers = match self.element {
            ElementType::I32 | ElementType::I64 => 1,
            ElementType::F32 | ElementType::F64 => self.element.key_numbers(FloatOrder::Numpy),
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
        if self.stored_as.is_packed() {
            constants.extend(packed::constants(self.stored_as, 0));
        }
        if !kernel.name.starts_with("select/count") {
            let [elements, values] = self.kept.map(|words| words as u32);
            constants.extend([
                ("KEPT_WORDS", elements),
                ("KEPT_VALUE_WORDS", values),
                ("KEPT_INDICES", self.has_indices.into()),
            ]);
        }
        if !kernel.name.starts_with("select/chained") {
            constants.push(("WIDE_OFFSETS", self.is_wide.into()));
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
        let few32 = match self.stored_as.is_packed() && !self.stored_as.is_float() {
            true => [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff],
            false => few32,
        };
        let pick = |draw: &u32| (draw >> 8) as usize % 8;
        match self.element.words() {
            2 => draws.iter().map(pick).flat_map(|i| [few[i] as u32, (few[i] >> 32) as u32]).collect(),
            _ => {
                let keys = draws.iter().map(pick).map(|i| few32[i]).collect();
                numbers_stored(self.stored_as, keys)
            }
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

impl TileShape {
    /// Selected elements that a selection has before the second tile, and a partition in two after the last one, as if there
    /// were more tiles.
    fn base(&self, kernel: &Kernel, is_single_tile: bool) -> u64 {
        let is_based = self.is_wide && self.has_flags() && !is_single_tile;
        if is_based && kernel.name.starts_with("select/compact") { (1 << 32) - 7 } else { 0 }
    }

    /// The inputs of `count` elements, of which the first `unselected` have no flag.
    fn inputs(&self, count: usize, unselected: usize) -> Inputs {
        let (case, [kept_words, value_words]) = (self.case(), self.kept);
        let mut tested = self.tested(count);
        tested[..unselected].fill(0);
        let operands = if self.has_flags() { Vec::new() } else { case.operands(&tested) };
        let as_bytes = |words: &[u32]| words.iter().rev().fold(0, |word, flag| word << 8 | flag);
        Inputs {
            parts: case.parts(&tested, &operands),
            source: match self.has_flags() {
                true => numbers_stored(self.stored_as, random(count + 1, count * kept_words)),
                false => tested.clone(),
            },
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
    let is_chained = kernel.name.starts_with("select/chained");
    let variants = |shape: TileShape| {
        let wide = TileShape { is_wide: true, ..shape };
        [shape, wide, TileShape { sums_counts: true, ..shape }]
    };
    let shapes = selection.first(4, TileShape::all(kernel, key_words)).into_iter().flat_map(variants);
    for shape in shapes.filter(|shape| (is_compact || !shape.sums_counts) && !(is_chained && shape.is_wide)) {
        let rig = Rig::new(gpu, kernel, workgroup_size as u32, &shape.constants(kernel))?;
        // No elements are an empty tile.
        for (index, count) in [0].into_iter().chain(sizes(tile)).enumerate() {
            run(gpu, &rig, kernel, shape, (tile, count), index % 2 == 1)?;
        }
    }
    Ok(())
}

/// The elements at these indices, of so many words each.
fn taken(from: &[u32], order: &[usize], words: usize) -> Vec<u32> {
    order.iter().flat_map(|&index| from[index * words..][..words].to_vec()).collect()
}

/// Numbers that begin at `base`, of so many words.
fn of_numbers(numbers: &[u32], base: u64, number_words: usize) -> Vec<u32> {
    let numbers = numbers.iter().map(|&number| u64::from(number) + base);
    numbers.flat_map(|of| [of as u32, (of >> 32) as u32].into_iter().take(number_words)).collect()
}

/// The inclusive prefix sums of the counts of tiles, of `counted` parts each.
fn prefixes(tile_counts: &[u32], counted: usize) -> Vec<u32> {
    let sum = |index: usize| tile_counts[index % counted..=index].iter().step_by(counted).sum();
    (0..tile_counts.len()).map(sum).collect()
}

/// Runs a kernel on `count` elements; with `is_on_device` tiles and operands are in device memory, and the numbers of
/// the host are wrong.
fn run(
    gpu: &Gpu,
    rig: &Rig<'_>,
    kernel: &'static Kernel,
    shape: TileShape,
    (tile, count): (usize, usize),
    is_on_device: bool,
) -> Result<(), Failed> {
    let tiles = Tiles::new(count, tile);
    let [kept_words, value_words] = shape.kept;
    // Arrays of the result begin `base` elements before their memory.
    let base = shape.base(kernel, count <= tile);
    let Inputs { tested, source, values, operands, parts } =
        shape.inputs(count, if base == 0 { 0 } else { [tile, count][shape.parts - 1] });
    let Compacted { order, counts } = compacted(&parts, shape.parts);
    let counted = counts.len();
    // No elements are an empty tile.
    let word_tile_counts = if count == 0 { vec![0; counted] } else { tile_counts(&parts, shape.parts, tile) };
    let as_stored = |elements: &[u32]| stored(shape.stored_as, elements);
    let number_words = if shape.is_wide { 2 } else { 1 };
    let of_numbers = |numbers: &[u32], base| of_numbers(numbers, base, number_words);
    let [is_count, is_chained] = ["select/count", "select/chained"].map(|of| kernel.name.starts_with(of));
    let has_state = is_count || is_chained || shape.sums_counts || count > tile;
    let state = match (is_count, is_chained) {
        (true, _) => Value::output(of_numbers(&word_tile_counts, 0)),
        (_, true) => Value::state(4 + 2 * tiles.tile_count),
        _ if shape.sums_counts => Value::input(of_numbers(&word_tile_counts, 0)),
        _ => {
            let prefixes = prefixes(&word_tile_counts, counted);
            let (others, last) = prefixes.split_at(prefixes.len() - 1);
            let others = of_numbers(others, if shape.parts == 1 { base } else { 0 });
            Value::input([others, of_numbers(last, base)].concat())
        }
    };
    // An array of the result, which a kernel that counts leaves poisoned: what is stored, with room for all elements.
    let result = |mut words: Vec<u32>, room: usize| {
        if is_count {
            words.clear();
        }
        words.resize(room, POISON);
        Value::output(words)
    };
    let kept_room = as_stored(&vec![0; count * kept_words]).len();
    let element_size = if shape.stored_as.is_packed() { shape.stored_as.size() } else { kept_words * 4 };
    let kept = result(as_stored(&taken(&source, &order, kept_words)), kept_room);
    let kept_values = result(taken(&values, &order, value_words), count * value_words);
    let all_indices = of_numbers(&(0..count as u32).collect::<Vec<_>>(), 0);
    let index_words = if shape.has_indices { number_words } else { 0 };
    let kept_indices = result(taken(&all_indices, &order, index_words), count * index_words);
    let operand = |index: usize| match operands.chunks(shape.element.words() as usize).nth(index) {
        Some(&[word]) => Value::Pair([word, 0]),
        Some(&[low, high]) => Value::Pair([low, high]),
        _ => Value::Pair([7, 7]),
    };
    let first_operands = if shape.by == RANGE { 2 } else { 1 };
    let tested = if shape.has_flags() { tested } else { as_stored(&tested) };
    let are_operands_on_device = is_on_device && !operands.is_empty();
    let counters = Memory::with_words(gpu, &[0; 4], Alignment::Words)?;
    let values = [
        ("tested", Value::input(tested)),
        ("source", Value::input(as_stored(&source)).only_if(shape.has_flags())),
        ("values", Value::input(values)),
        ("destination", kept.after(base * element_size as u64)),
        ("destination_values", kept_values.after(base * value_words as u64 * 4)),
        ("destination_indices", kept_indices.after(base * number_words as u64 * 4)),
        ("state", state.only_if(has_state)),
        ("selected_counts", result(of_numbers(&counts, base), counted * number_words)),
        ("operands", Value::input(as_stored(&operands)).only_if(are_operands_on_device)),
        ("operand", operand(0)),
        ("range_end", operand(1)),
        ("second_operand", operand(first_operands)),
        ("second_range_end", operand(first_operands + 1)),
        ("counts", Value::Pointer(&counters)),
    ];
    let host = is_on_device.then_some(Tiles { last_extent: 1, ..tiles });
    let name = format!("{}, {count} elements, on the device: {is_on_device}, {shape:?}", kernel.name);
    rig.check(&name, values.into_iter().chain(tiles.push_instead_of(host)), tiles.tile_count)?;
    if is_count { Ok(()) } else { check_fallbacks(&name, &counters, shape.stall_every, tiles) }
}
