//! The single pass, with workgroups that tell what they have and workgroups that stay silent, and the fixed tree.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::reference::lanes::Workgroup;
use subsweep::reference::scan::{self as twin, Shape};
use subsweep::reference::{Add, Element, Row, Tiles};

use super::numbers::TestRow;
use super::rig::{Access, Memory, Rig, Value, compare, random};
use super::scan::Order;

/// Words of the state before those of the tiles.
const TICKET_WORDS: usize = 4;

/// How many of every so many workgroups stay silent; what a build that counts can be told.
const SILENT_EVERY: [usize; 3] = [0, 3, 1];

/// Small tiles, and the chained kernel in them.
struct Chained<'g> {
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    shape: Shape,
    access: Access,
    exclusive: bool,
    fixed_tree: bool,
    /// In reverse, it begins with an initial value as well: a pipeline takes time.
    order: Order,
}

impl<'g> Chained<'g> {
    fn new(gpu: &'g Gpu, kernel: &'static Kernel) -> Self {
        let capabilities = gpu.capabilities();
        let size = capabilities.max_subgroup_size.max(64) as usize;
        let workgroup = Workgroup { size, lanes: capabilities.subgroup_size as usize };
        let shape = Shape { workgroup, runs_per_invocation: 2, packs_per_run: 1 };
        Self {
            gpu,
            kernel,
            shape,
            access: Access::Quads,
            exclusive: false,
            fixed_tree: false,
            order: Order::Forward,
        }
    }

    fn is_counted(&self) -> bool {
        self.kernel.name.ends_with("_counted")
    }

    fn rig<R: TestRow>(&self, silent_every: usize) -> Result<Rig<'g>, Failed> {
        let shape = &self.shape;
        let mut constants = vec![
            ("RUNS_PER_INVOCATION", shape.runs_per_invocation as u32),
            ("PACKS_PER_RUN", shape.packs_per_run as u32),
            ("EXCLUSIVE", self.exclusive.into()),
            ("FIXED_TREE", self.fixed_tree.into()),
            self.access.constant(),
            self.order.constant(),
        ];
        constants.extend(R::constants(self.kernel));
        if self.is_counted() {
            constants.push(("SILENT_EVERY", silent_every as u32));
        }
        Rig::new(self.gpu, self.kernel, shape.workgroup.size as u32, &constants)
    }

    fn initial_words<R: TestRow>() -> Vec<u32> {
        R::input(5, 1)
    }

    /// What its twin makes of `elements`.
    fn expected<R: TestRow>(&self, elements: Vec<R>, is_silent: impl Fn(usize) -> bool) -> Vec<R> {
        let count = elements.len();
        let (rows, tiles) = self.order.of(elements, self.shape.tile_items::<R>());
        let mut results = vec![R::IDENTITY; rows.len()];
        let (exclusive, fixed_tree) = (self.exclusive, self.fixed_tree);
        twin::chained(&self.shape, exclusive, fixed_tree, &rows, &mut results, tiles, is_silent);
        if self.order == Order::Reverse {
            let initial = R::of_words(&Self::initial_words::<R>())[0];
            results.iter_mut().for_each(|result| *result = initial.combine(*result));
        }
        self.order.undo(results, count)
    }

    /// Scans `words`; what it made of them, and what it counted. Where the device tells the tiles, there is room for more.
    fn run<R: TestRow>(
        &self,
        rig: &Rig<'_>,
        case: &str,
        words: &[u32],
        on_device: bool,
    ) -> Result<(Vec<u32>, Vec<u32>), Failed> {
        let (gpu, access) = (self.gpu, self.access);
        let tiles = Tiles::new(words.len() / R::WORDS, self.shape.tile_items::<R>());
        let told = Memory::of(gpu, &[tiles.tile_count as u32, tiles.last_extent as u32], Access::Words)?;
        let (tile_count, last_extent, tiles_on_device) = match on_device {
            true => (tiles.tile_count * 3 / 2 + 2, 1, Value::Pointer(&told)),
            false => (tiles.tile_count, tiles.last_extent, Value::Null),
        };
        let group_count = if self.fixed_tree { tile_count.div_ceil(twin::GROUP_TILES) } else { 0 };
        let source = Memory::of(gpu, words, access)?;
        let destination = Memory::poisoned(gpu, words.len(), access)?;
        let state_words = TICKET_WORDS + (tile_count + group_count) * 2 * R::WORDS;
        let state = Memory::of(gpu, &vec![0; state_words], Access::Quads)?;
        let counts = Memory::of(gpu, &[0; 4], Access::Quads)?;
        let initial = Memory::of(gpu, &Self::initial_words::<R>(), Access::Words)?;
        rig.run(
            &[
                ("source", Value::Pointer(&source)),
                ("destination", Value::Pointer(&destination)),
                ("state", Value::Pointer(&state)),
                (
                    "initial",
                    match self.order {
                        Order::Forward => Value::Null,
                        Order::Reverse => Value::Pointer(&initial),
                    },
                ),
                ("tiles_on_device", tiles_on_device),
                ("tile_count", Value::Number(tile_count)),
                ("last_extent", Value::Number(last_extent)),
                ("counts", Value::Pointer(&counts)),
            ],
            tile_count,
        )?;
        compare(case, "source", &source, words)?;
        state.read().map_err(|why| format!("{case}: state{why}"))?;
        Ok((destination.read().map_err(|why| format!("{case}: destination{why}"))?, counts.read()?))
    }
}

pub fn chained<R: TestRow>(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    for (access, exclusive, fixed_tree, order) in [
        (Access::Quads, false, false, Order::Forward),
        (Access::Words, true, false, Order::Reverse),
        (Access::Quads, false, true, Order::Forward),
    ] {
        let chained = Chained { access, exclusive, fixed_tree, order, ..Chained::new(gpu, kernel) };
        let tile_items = chained.shape.tile_items::<R>();
        let silences = if chained.is_counted() { &SILENT_EVERY[..] } else { &SILENT_EVERY[..1] };
        for &silent_every in silences {
            let rig = chained.rig::<R>(silent_every)?;
            // One tile, several windows of tiles or groups, and a rest.
            let many = 175 * tile_items + 5;
            let by_host =
                [1, tile_items, tile_items + 1, 7 * tile_items - 3, many].map(|count| (count, false));
            for (count, on_device) in by_host.into_iter().chain([(tile_items - 1, true), (many, true)]) {
                let case = format!(
                    "{count} elements of {}, {access:?}, {order:?}, exclusive: {exclusive}, fixed tree: {fixed_tree}, \
                     {silent_every} silent, told by the device: {on_device}, {}",
                    R::name(),
                    kernel.name
                );
                let tiles = Tiles::new(count, tile_items);
                let words = R::input(count, count);
                let elements = R::of_words(&words);
                let is_silent = |tile: usize| silent_every > 0 && tile.is_multiple_of(silent_every);
                let expected = chained.expected(elements, is_silent);
                let (destination, counts) = chained.run::<R>(&rig, &case, &words, on_device)?;
                let expected: Vec<_> = expected.iter().flat_map(R::words).collect();
                if let Some(i) = (0..expected.len()).find(|&i| destination[i] != expected[i]) {
                    let (got, expected) = (destination[i], expected[i]);
                    return Err(
                        format!("{case}: destination[{i}] is {got:#010x}, not {expected:#010x}").into()
                    );
                }
                if chained.is_counted() {
                    let silent = (0..tiles.tile_count - 1).filter(|&tile| is_silent(tile)).count() as u32;
                    let [windows, spins, fallbacks, longest] = counts[..] else { unreachable!("4 words") };
                    let look_backs = tiles.tile_count as u32 - 1;
                    let is_between = longest <= windows && longest >= windows.div_ceil(look_backs.max(1));
                    if fallbacks < silent || windows < look_backs || !is_between {
                        return Err(format!("{case}: {windows} windows, {spins} spins, {fallbacks} fallbacks, longest {longest}").into());
                    }
                }
            }
        }
    }
    Ok(())
}

/// With the fixed tree, sums of floats are the same to the bit whether workgroups tell what they have or stay silent.
pub fn fixed_tree(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    type Sum = Row<Add, f32, 1>;
    let chained = Chained { fixed_tree: true, ..Chained::new(gpu, kernel) };
    let tile_items = chained.shape.tile_items::<Sum>();
    let count = 137 * tile_items + 9;
    // Of every size and both signs, so that hardly a sum is exact: the twin shows that another order is told apart.
    let number = |word: &u32| (*word as i32 as f32) * 2f32.powi((*word % 41) as i32 - 20);
    let words: Vec<u32> = random(7, count).iter().map(|word| number(word).to_bits()).collect();
    let elements = Sum::of_words(&words);
    let in_another_order = |silent_every: usize| {
        let mut sums = vec![Sum::IDENTITY; count];
        let tiles = Tiles::new(count, tile_items);
        let is_silent = |tile: usize| silent_every > 0 && tile.is_multiple_of(silent_every);
        twin::chained(&chained.shape, false, false, &elements, &mut sums, tiles, is_silent);
        sums.iter().flat_map(Sum::words).collect::<Vec<_>>()
    };
    if in_another_order(0) == in_another_order(1) {
        return Err("these numbers would not tell one order from another".into());
    }
    let mut first = None;
    for silent_every in SILENT_EVERY.into_iter().chain([0, 32]) {
        let rig = chained.rig::<Sum>(silent_every)?;
        let case = format!("fixed tree, {silent_every} silent");
        let (sums, counts) = chained.run::<Sum>(&rig, &case, &words, silent_every == 32)?;
        let expected = first.get_or_insert_with(|| sums.clone());
        if let Some(i) = (0..count).find(|&i| sums[i] != expected[i]) {
            let (got, expected) = (sums[i], expected[i]);
            let counts = format!("windows, spins, fallbacks: {counts:?}");
            return Err(format!("{case}: [{i}] is {got:#010x}, not {expected:#010x}; {counts}").into());
        }
    }
    Ok(())
}
