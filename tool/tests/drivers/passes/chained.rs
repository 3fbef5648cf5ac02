//! Pass check of the chained scan, with stalled tiles, and with the fixed tree.

use libtest_mimic::Failed;
use subsweep::ElementType;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep_tool::reference::passes::scan::{self as model, Descriptor, GROUP_TILES};
use subsweep_tool::reference::{Add, Element as _, Max, Min, Mul, Row};

use super::numbers::TestRow;
use super::rig::{
    Alignment, Memory, Rig, Selection, Tiles, Value, constants_in_memory, nth_look_back, numbers_stored,
    random, stored, type_in_memory,
};
use super::scan::{Order, TileShape};

/// Words of the state before the tiles' descriptors.
const TICKET_WORDS: usize = 4;

/// Every Nth tile is stalled; 0 for none. Only `_counted` variants stall tiles.
const STALL_EVERY: [usize; 3] = [0, 3, 1];

/// The chained kernel, specialized, in small tiles.
#[derive(Clone, Copy)]
struct Chained<'g> {
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    shape: TileShape,
    alignment: Alignment,
    exclusive: bool,
    /// Tiles of a group of the fixed tree.
    group_tiles: Option<usize>,
    /// Reverse scans also have an initial value, to save pipelines.
    order: Order,
    stall_every: usize,
    /// The turn of the look-back.
    look_back: usize,
}

/// The output of a dispatch.
struct Written {
    destination: Vec<u32>,
    /// The ticket, then descriptors of `tile_room` tiles and of groups.
    state: Vec<u32>,
    tile_room: usize,
    /// Windows, spins, fallbacks, and the longest look-back.
    counts: Vec<u32>,
}

impl<'g> Chained<'g> {
    fn new(gpu: &'g Gpu, kernel: &'static Kernel) -> Self {
        let shape = TileShape::small(gpu, 2, 1);
        let (alignment, order) = (Alignment::Quads, Order::Forward);
        let (exclusive, group_tiles) = (false, None);
        Self { gpu, kernel, shape, alignment, exclusive, group_tiles, order, stall_every: 0, look_back: 0 }
    }

    fn is_counted(&self) -> bool {
        self.kernel.name.ends_with("_counted")
    }

    fn is_stalled(&self, tile: usize) -> bool {
        self.stall_every > 0 && tile.is_multiple_of(self.stall_every)
    }

    fn rig<R: TestRow>(&self) -> Result<Rig<'g>, Failed> {
        let mut constants = self.shape.constants().to_vec();
        constants.extend([
            ("EXCLUSIVE", self.exclusive.into()),
            ("FIXED_TREE", self.group_tiles.is_some().into()),
            ("GROUP_TILES", self.group_tiles.unwrap_or(GROUP_TILES) as u32),
            self.order.constant(),
        ]);
        constants.extend(self.alignment.constants());
        constants.extend(R::constants(self.kernel));
        constants.extend(constants_in_memory(self.kernel, R::NUMBER));
        if type_in_memory(self.kernel, R::NUMBER).is_packed() {
            constants.push(("UNPACKED_RESULTS", u32::from(!self.result::<R>().is_packed())));
        }
        constants.extend(nth_look_back(self.look_back, 4));
        if self.is_counted() {
            constants.push(("STALL_EVERY", self.stall_every as u32));
        }
        Rig::new(self.gpu, self.kernel, self.shape.workgroup_size, &constants)
    }

    /// The type of a result: exclusive scans of packed numbers have results of 32 bits.
    fn result<R: TestRow>(&self) -> ElementType {
        if self.exclusive { R::NUMBER } else { type_in_memory(self.kernel, R::NUMBER) }
    }

    fn initial_words<R: TestRow>() -> Vec<u32> {
        R::input(5, 1)
    }

    /// Scans `words`. With a GPU-resident count, the state has room for more tiles.
    fn run<R: TestRow>(
        &self,
        rig: &Rig<'_>,
        case: &str,
        words: &[u32],
        on_device: bool,
    ) -> Result<Written, Failed> {
        let (gpu, alignment) = (self.gpu, self.alignment);
        let tiles = Tiles::new(words.len() / R::WORDS, self.shape.tile_items(R::TYPE));
        let tile_count = if on_device { tiles.tile_count * 3 / 2 + 2 } else { tiles.tile_count };
        let group_count = self.group_tiles.map_or(0, |tiles| tile_count.div_ceil(tiles));
        let input = stored(type_in_memory(self.kernel, R::NUMBER), words);
        let result_size = words.len() * self.result::<R>().bits().min(32) as usize;
        let destination = Memory::poisoned(gpu, result_size.div_ceil(32), alignment)?;
        let state_words = TICKET_WORDS + (tile_count + group_count) * 2 * R::WORDS;
        let state = Memory::with_words(gpu, &vec![0; state_words], Alignment::Quads)?;
        let counts = Memory::with_words(gpu, &[0; 4], Alignment::Quads)?;
        let initial = Value::input(Self::initial_words::<R>());
        let arrays = [
            ("source", Value::input(input).at(alignment)),
            ("destination", Value::Pointer(&destination)),
            ("state", Value::Pointer(&state)),
            ("initial", initial.only_if(self.order == Order::Reverse)),
            ("counts", Value::Pointer(&counts)),
        ];
        let host = on_device.then_some(Tiles { tile_count, last_extent: 1 });
        rig.check(case, arrays.into_iter().chain(tiles.push_instead_of(host)), tile_count)?;
        let read = |name, memory: &Memory<'_>| memory.read().map_err(|why| format!("{case}: {name}{why}"));
        Ok(Written {
            destination: read("destination", &destination)?,
            state: read("state", &state)?,
            tile_room: tile_count,
            counts: read("counts", &counts)?,
        })
    }

    /// Compares a scan of `count` rows with the model.
    fn check<R: TestRow>(&self, rig: &Rig<'_>, count: usize, on_device: bool) -> Result<(), Failed> {
        let Self { alignment, order, exclusive, group_tiles, stall_every, .. } = *self;
        let case = format!(
            "{}, {count} elements of {}, {alignment:?}, {order:?}, exclusive: {exclusive}, groups of the fixed \
             tree: {group_tiles:?}, stalled: every {stall_every}, tiles on the device: {on_device}",
            self.kernel.name,
            R::name()
        );
        let tile_items = self.shape.tile_items(R::TYPE);
        let words = numbers_stored(type_in_memory(self.kernel, R::NUMBER), R::input(count, count));
        let rows = order.arrange(R::of_words(&words), tile_items);
        let mut expected = model::chained(&rows, tile_items, exclusive, group_tiles);
        if order == Order::Reverse {
            let initial = R::of_words(&Self::initial_words::<R>())[0];
            expected.results.iter_mut().for_each(|result| *result = initial.combine(*result));
        }
        let written = self.run::<R>(rig, &case, &words, on_device)?;
        let results: Vec<_> = order.undo(expected.results, count).iter().flat_map(R::words).collect();
        let results = stored(self.result::<R>(), &results);
        if let Some(i) = (0..results.len()).find(|&i| written.destination[i] != results[i]) {
            let (got, expected) = (written.destination[i], results[i]);
            return Err(format!("{case}: destination[{i}] is {got:#010x}, not {expected:#010x}").into());
        }
        if !R::IS_MAPPED {
            self.check_state::<R>(&case, &written, &expected.tiles, &expected.groups)?;
        }
        self.check_counts(&case, expected.tiles.len(), &written.counts)
    }

    /// Compares the descriptors of tiles and groups with the model.
    fn check_state<R: TestRow>(
        &self,
        case: &str,
        written: &Written,
        tiles: &[Descriptor<R>],
        groups: &[Descriptor<R>],
    ) -> Result<(), Failed> {
        let (ticket, statuses) = written.state.split_at(TICKET_WORDS);
        let statuses: Vec<&[u32]> = statuses.chunks(2 * R::WORDS).collect();
        let (of_tiles, of_groups) = statuses.split_at(written.tile_room);
        // By the packing of `glsl/common/look_back.glsl`.
        let packed = |descriptor: &Descriptor<R>| -> Vec<u32> {
            let (status, value) = match descriptor {
                Descriptor::Aggregate(value) => (1 << 30, value),
                Descriptor::Prefix(value) => (2 << 30, value),
            };
            value.words().into_iter().flat_map(|word| [status | word & 0xffff, status | word >> 16]).collect()
        };
        let is_empty = |status: &[u32]| status.iter().all(|&word| word == 0);
        for (tile, descriptor) in tiles.iter().enumerate() {
            let (got, expected) = (of_tiles[tile], packed(descriptor));
            // The next tile, if any, publishes the aggregate of a stalled tile.
            let is_right = match self.is_stalled(tile) {
                false => got == expected,
                true => tile + 1 == tiles.len() || got[0] >> 30 == 1,
            };
            if !is_right {
                return Err(format!("{case}: tile {tile} has published {got:x?}, not {expected:x?}").into());
            }
        }
        // The first group has no prefix. A stalled tile does not publish a group's prefix.
        for (group, descriptor) in (1..).zip(groups) {
            let (got, expected) = (of_groups[group], packed(descriptor));
            if got != expected && !(self.stall_every > 0 && is_empty(got)) {
                return Err(format!("{case}: group {group} has published {got:x?}, not {expected:x?}").into());
            }
        }
        let is_clear = of_tiles[tiles.len()..].iter().all(|status| is_empty(status));
        if !is_clear || !is_empty(&ticket[1..]) {
            return Err(format!("{case}: a word outside the descriptors has been written").into());
        }
        Ok(())
    }

    fn check_counts(&self, case: &str, tile_count: usize, counts: &[u32]) -> Result<(), Failed> {
        if !self.is_counted() {
            return Ok(());
        }
        let stalled = (0..tile_count - 1).filter(|&tile| self.is_stalled(tile)).count() as u32;
        let [windows, spins, fallbacks, longest] = counts[..] else { unreachable!("4 words") };
        let look_backs = tile_count as u32 - 1;
        let is_between = longest <= windows && longest >= windows.div_ceil(look_backs.max(1));
        if fallbacks < stalled || windows < look_backs || !is_between {
            let counts =
                format!("{windows} windows, {spins} spins, {fallbacks} fallbacks, longest {longest}");
            return Err(format!("{case}: {counts}").into());
        }
        Ok(())
    }
}

/// Specializations: alignment, exclusive, fixed tree, order, and in `_counted` variants every Nth stalled tile. If all are
/// stalled, tile 0 has an aggregate, which a window that reaches beyond it must add once.
const SPECIALIZATIONS: [(Alignment, bool, bool, Order, &[usize]); 3] = [
    (Alignment::Words, true, false, Order::Reverse, &[3]),
    (Alignment::Quads, false, false, Order::Forward, &[0, 1]),
    (Alignment::Quads, false, true, Order::Forward, &[1]),
];

/// Compares one specialization of the chained scan with the pass model of a row type.
type Check = fn(Chained<'_>) -> Result<(), Failed>;

/// Checks a variant on its row types.
pub fn chained(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let variant = kernel.name.split_once(':').map_or("", |(_, variant)| variant);
    let checks: &[Check] = match variant {
        "u32x1" | "words32x1_counted" => &[check::<Row<Add, u32, 1>>],
        "words32x1" => &[check::<Row<Add, u32, 1>>, check::<Row<Mul, i32, 1>>, check::<Row<Max, f32, 1>>],
        "packed" => &[check::<Row<Max, i32, 1>>, check::<Row<Add, f32, 1>>, check::<Row<Add, u32, 1>>],
        "words64x1" => &[check::<Row<Add, u64, 1>>, check::<Row<Min, i64, 1>>],
        "float64x1" => &[check::<Row<Add, f64, 1>>],
        _ => return Err("no rows for this variant".into()),
    };
    for (index, (alignment, exclusive, fixed_tree, order, stalled)) in
        selection.first(SPECIALIZATIONS.len(), SPECIALIZATIONS).into_iter().enumerate()
    {
        let chained = Chained::new(gpu, kernel);
        // Stalled tiles and long look-backs are left to the counted variant: it has every window.
        let look_back = if chained.is_counted() { index + 1 } else { 0 };
        // Fewer than the lanes of a subgroup: at the default, 32, no driver of the short suite has more lanes.
        let group_tiles = fixed_tree.then(|| gpu.capabilities().max_subgroup_size as usize / 2);
        let chained = Chained { alignment, exclusive, group_tiles, order, look_back, ..chained };
        let is_short = selection != Selection::Full;
        let stalls = match chained.is_counted() {
            false => &[0][..],
            true if is_short => stalled,
            true => &STALL_EVERY,
        };
        // The type alternates from one specialization to the next.
        let checks = if is_short { &checks[index % checks.len()..][..1] } else { checks };
        for &stall_every in stalls {
            checks.iter().try_for_each(|check| check(Chained { stall_every, ..chained }))?;
        }
    }
    if Chained::new(gpu, kernel).is_counted() { fixed_tree(gpu, kernel, selection) } else { Ok(()) }
}

fn check<R: TestRow>(chained: Chained<'_>) -> Result<(), Failed> {
    let rig = chained.rig::<R>()?;
    let tile_items = chained.shape.tile_items(R::TYPE);
    // One tile, two tiles, several, and several look-back windows of tiles and groups with a partial tile.
    let many = 175 * tile_items + 5;
    for count in [1, tile_items, tile_items + 1, 7 * tile_items - 3, many] {
        chained.check::<R>(&rig, count, false)?;
    }
    chained.check::<R>(&rig, tile_items - 1, true)?;
    chained.check::<R>(&rig, many, true)
}

/// With the fixed tree, sums of floats have equal bits, with stalled tiles or without, by every look-back. Groups of fewer tiles
/// than a subgroup has lanes show whether it adds beyond the end of a group.
fn fixed_tree(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let few = gpu.capabilities().max_subgroup_size as usize / 2;
    fixed_tree_of(gpu, kernel, few, selection.first(2, [0, 1]))?;
    fixed_tree_of(gpu, kernel, GROUP_TILES, selection.first(3, [0, 1, 32, 3]))
}

fn fixed_tree_of(
    gpu: &Gpu,
    kernel: &'static Kernel,
    group_tiles: usize,
    stalls: Vec<usize>,
) -> Result<(), Failed> {
    type Sum = Row<Add, f32, 1>;
    let chained = Chained { group_tiles: Some(group_tiles), ..Chained::new(gpu, kernel) };
    let tile_items = chained.shape.tile_items(Sum::TYPE);
    let count = 137 * tile_items + 9;
    // Numbers of every size and both signs, so that few sums are exact.
    let number = |word: &u32| (*word as i32 as f32) * 2f32.powi((*word % 41) as i32 - 20);
    let words: Vec<u32> = random(7, count).iter().map(|word| number(word).to_bits()).collect();
    let elements = Sum::of_words(&words);
    let totals = model::tile_totals(&elements, tile_items);
    let forward = totals.iter().fold(Sum::IDENTITY, |sum, &total| sum.combine(total));
    let from_the_end = totals.iter().rev().fold(Sum::IDENTITY, |sum, &total| total.combine(sum));
    if forward == from_the_end {
        return Err("sums of these numbers do not depend on the order of additions".into());
    }
    let mut first = None;
    for (look_back, stall_every) in stalls.into_iter().enumerate() {
        let chained = Chained { stall_every, look_back, ..chained };
        let rig = chained.rig::<Sum>()?;
        let case = format!("{}, groups of {group_tiles}, stalled: every {stall_every}", kernel.name);
        for on_device in [false, true] {
            let written = chained.run::<Sum>(&rig, &case, &words, on_device)?;
            let sums = written.destination;
            let expected = first.get_or_insert_with(|| sums.clone());
            if let Some(i) = (0..count).find(|&i| sums[i] != expected[i]) {
                let (got, expected) = (sums[i], expected[i]);
                let counts = format!("windows, spins, fallbacks: {:?}", written.counts);
                return Err(format!("{case}: [{i}] is {got:#010x}, not {expected:#010x}; {counts}").into());
            }
        }
    }
    Ok(())
}
