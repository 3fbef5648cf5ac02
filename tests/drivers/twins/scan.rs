//! The kernels of scan.

use libtest_mimic::Failed;
use subsweep::harness::Layout;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::reference::lanes::Workgroup;
use subsweep::reference::scan::{self as twin, Chunk, Shape};
use subsweep::reference::{Element, Tiles, rows};
use subsweep::scan::{ScanConfig, ScanPolicy};

use super::numbers::TestRow;
use super::rig::{self, Access, Memory, Rig, Value, compare, random, sizes};

/// How far a check goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Every shape, access and variant.
    Whole,
    /// One of each: for what differs from another check in its operator alone.
    Brief,
}

/// The default policy's tile, and one of several short runs where the default has one long run, or the other way
/// round.
pub fn shapes<R: TestRow>(gpu: &Gpu, depth: Depth) -> Vec<Shape> {
    let capabilities = gpu.capabilities();
    let config = ScanConfig::inclusive().columns(R::WORDS as u32);
    let default = ScanPolicy::choose(capabilities, &config).policy;
    let tiled = |items_per_run| {
        ScanPolicy::tiled(default.workgroup_size, default.items_per_invocation, items_per_run)
    };
    let pack_items = R::PACK_ITEMS as u32;
    let mut policies = vec![default, tiled(pack_items), tiled(default.items_per_invocation)];
    policies.dedup();
    if depth == Depth::Brief {
        policies = vec![ScanPolicy::tiled(capabilities.max_subgroup_size.max(32), 4, 4)];
    } else if rig::layout() == Layout::Separate {
        // To compile a kernel that is watched takes seconds, and the case table brings the other shapes.
        policies.truncate(1);
    }
    let shape = |policy: &ScanPolicy| Shape {
        workgroup: workgroup(gpu, policy.workgroup_size),
        runs_per_invocation: (policy.items_per_invocation / policy.items_per_run) as usize,
        packs_per_run: (policy.items_per_run / pack_items) as usize,
    };
    policies.iter().map(shape).collect()
}

pub fn workgroup(gpu: &Gpu, size: u32) -> Workgroup {
    Workgroup { size: size as usize, lanes: gpu.capabilities().subgroup_size as usize }
}

pub fn rig<'g, R: TestRow>(
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    shape: &Shape,
    constants: &[(&'static str, u32)],
) -> Result<Rig<'g>, Failed> {
    let mut all = vec![
        ("RUNS_PER_INVOCATION", shape.runs_per_invocation as u32),
        ("PACKS_PER_RUN", shape.packs_per_run as u32),
    ];
    all.extend(R::constants(kernel));
    all.extend(constants);
    Rig::new(gpu, kernel, shape.workgroup.size as u32, &all)
}

/// The column of a table whose rows are `column_count` elements.
pub fn column<R: TestRow>(words: &[u32], column_count: usize, column: usize) -> Vec<R> {
    R::of_words(words).into_iter().skip(column).step_by(column_count).collect()
}

/// The way back from [`column`].
pub fn table<R: TestRow>(columns: &[Vec<R>]) -> Vec<u32> {
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows).flat_map(|row| columns.iter().flat_map(move |column| column[row].words())).collect()
}

/// How far apart a column's elements may lie: kernels that take whole rows have one column of rows.
fn access_of(kernel: &Kernel) -> &'static [Access] {
    if kernel.name.ends_with("_strided") { &[Access::Words] } else { &Access::ALL }
}

/// From which end a kernel goes, and who tells it of its tiles: both at once, for a pipeline takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By push constants.
    Forward,
    /// By words on the device.
    Reverse,
}

impl Order {
    /// The constant `REVERSE` of the variant.
    pub fn constant(self) -> (&'static str, u32) {
        ("REVERSE", u32::from(self == Self::Reverse))
    }

    /// Rows and tiles in the order of the scan.
    pub fn of<E: Element>(self, rows: Vec<E>, tile_items: usize) -> (Vec<E>, Tiles) {
        let rows = match self {
            Self::Forward => rows,
            Self::Reverse => twin::mirrored(&rows, tile_items),
        };
        let tiles = Tiles::new(rows.len(), tile_items);
        (rows, tiles)
    }

    /// The way back, of `count` rows.
    pub fn undo<E>(self, mut rows: Vec<E>, count: usize) -> Vec<E> {
        if self == Self::Reverse {
            rows.reverse();
            rows.truncate(count);
        }
        rows
    }
}

/// The ways in which a kernel accesses and orders a table.
fn ways(kernel: &Kernel, depth: Depth) -> Vec<(Access, Order)> {
    let accesses = access_of(kernel);
    match depth {
        Depth::Brief => vec![(accesses[0], Order::Forward)],
        Depth::Whole => {
            let forward = accesses.iter().map(|&access| (access, Order::Forward));
            forward.chain([(accesses[0], Order::Reverse)]).collect()
        }
    }
}

/// A kernel's tiles, where a kernel finds them.
pub struct TilesMemory<'g> {
    tiles: Tiles,
    on_device: Option<Memory<'g>>,
}

impl<'g> TilesMemory<'g> {
    pub fn new(gpu: &'g Gpu, tiles: Tiles, order: Order) -> Result<Self, Failed> {
        let words = [tiles.tile_count as u32, tiles.last_extent as u32];
        let on_device = (order == Order::Reverse).then(|| Memory::of(gpu, &words, Access::Words));
        Ok(Self { tiles, on_device: on_device.transpose()? })
    }

    pub fn push(&self) -> [(&'static str, Value<'_>); 3] {
        let Self { tiles, on_device } = self;
        // What the device says of itself, the host does not know.
        let (tile_count, last_extent, pointer) = match on_device {
            Some(memory) => (3, 1, Value::Pointer(memory)),
            None => (tiles.tile_count, tiles.last_extent, Value::Null),
        };
        [
            ("tiles_on_device", pointer),
            ("tile_count", Value::Number(tile_count)),
            ("last_extent", Value::Number(last_extent)),
        ]
    }
}

pub fn reduce<R: TestRow>(
    gpu: &Gpu,
    kernel: &'static Kernel,
    column_count: usize,
    depth: Depth,
) -> Result<(), Failed> {
    for shape in shapes::<R>(gpu, depth) {
        let tile_items = shape.tile_items::<R>();
        for (access, order) in ways(kernel, depth) {
            let rig = rig::<R>(gpu, kernel, &shape, &[access.constant(), order.constant()])?;
            for count in sizes(tile_items) {
                let tiles = Tiles::new(count, tile_items);
                let words = R::input(count, count * column_count);
                let sums_of = |index| {
                    let mut sums = vec![R::IDENTITY; tiles.tile_count];
                    let (rows, tiles) = order.of(column::<R>(&words, column_count, index), tile_items);
                    twin::reduce(&shape, &rows, &mut sums, tiles);
                    sums
                };
                let expected: Vec<_> = (0..column_count).map(sums_of).collect();

                let source = Memory::of(gpu, &words, access)?;
                let sums = Memory::poisoned(gpu, tiles.tile_count * column_count * R::WORDS, access)?;
                let on_device = TilesMemory::new(gpu, tiles, order)?;
                let mut push = vec![
                    ("source", Value::Pointer(&source)),
                    ("sums", Value::Pointer(&sums)),
                    ("heads", Value::Null),
                    ("sum_heads", Value::Null),
                    ("column_count", Value::Number(column_count)),
                ];
                push.extend(on_device.push());
                rig.run(&push, tiles.tile_count * column_count)?;
                let case = format!(
                    "{} of {}, {count} rows, {access:?}, {order:?}, {shape:?}",
                    kernel.name,
                    R::name()
                );
                compare(&case, "source", &source, &words)?;
                compare(&case, "sums", &sums, &table(&expected))?;
            }
        }
    }
    Ok(())
}

pub fn downsweep<R: TestRow>(
    gpu: &Gpu,
    kernel: &'static Kernel,
    column_count: usize,
    depth: Depth,
) -> Result<(), Failed> {
    for (index, shape) in shapes::<R>(gpu, depth).into_iter().enumerate() {
        let all_variants = [(false, true), (true, false), (false, false), (true, true)];
        // Pipelines take most of the time: beyond the default shape, each choice once.
        let variants = match depth {
            Depth::Brief => &all_variants[3..],
            Depth::Whole if index == 0 => &all_variants[..],
            Depth::Whole => &all_variants[..2],
        };
        for (access, order) in ways(kernel, depth) {
            for &(exclusive, has_carry) in variants {
                if order == Order::Reverse && !has_carry {
                    continue;
                }
                let constants = [
                    access.constant(),
                    order.constant(),
                    ("EXCLUSIVE", exclusive.into()),
                    ("HAS_CARRY", has_carry.into()),
                ];
                let downsweep = Downsweep {
                    gpu,
                    rig: rig::<R>(gpu, kernel, &shape, &constants)?,
                    shape,
                    access,
                    order,
                    exclusive,
                    has_carry,
                    column_count,
                };
                let case = format!(
                    "{} of {}, {access:?}, {order:?}, exclusive: {exclusive}, carry: {has_carry}, {shape:?}",
                    kernel.name,
                    R::name()
                );
                for count in sizes(shape.tile_items::<R>()) {
                    downsweep.check::<R>(&format!("{count} rows of {case}"), count, false)?;
                    downsweep.check::<R>(&format!("{count} rows in place of {case}"), count, true)?;
                }
            }
        }
    }
    Ok(())
}

struct Downsweep<'g> {
    gpu: &'g Gpu,
    rig: Rig<'g>,
    shape: Shape,
    access: Access,
    order: Order,
    exclusive: bool,
    has_carry: bool,
    column_count: usize,
}

impl Downsweep<'_> {
    fn check<R: TestRow>(&self, case: &str, count: usize, in_place: bool) -> Result<(), Failed> {
        let column_count = self.column_count;
        let tile_items = self.shape.tile_items::<R>();
        let tiles = Tiles::new(count, tile_items);
        let words = R::input(count, count * column_count);
        let carry_words = R::input(count + 1, tiles.tile_count * column_count);
        let results_of = |index| {
            let (source, tiles) = self.order.of(column::<R>(&words, column_count, index), tile_items);
            let carries = column::<R>(&carry_words, column_count, index);
            let carries = self.has_carry.then_some(&*carries);
            let mut results = vec![R::IDENTITY; source.len()];
            twin::downsweep(&self.shape, self.exclusive, &source, &mut results, carries, tiles);
            self.order.undo(results, count)
        };
        let expected: Vec<_> = (0..column_count).map(results_of).collect();

        let source = Memory::of(self.gpu, &words, self.access)?;
        let destination = Memory::poisoned(self.gpu, words.len(), self.access)?;
        let carries = Memory::of(self.gpu, &carry_words, self.access)?;
        let destination = if in_place { &source } else { &destination };
        let on_device = TilesMemory::new(self.gpu, tiles, self.order)?;
        let mut push = vec![
            ("source", Value::Pointer(&source)),
            ("destination", Value::Pointer(destination)),
            ("carries", if self.has_carry { Value::Pointer(&carries) } else { Value::Null }),
            ("heads", Value::Null),
            ("initial", Value::Null),
            ("column_count", Value::Number(column_count)),
        ];
        push.extend(on_device.push());
        self.rig.run(&push, tiles.tile_count * column_count)?;
        if !in_place {
            compare(case, "source", &source, &words)?;
        }
        compare(case, "carries", &carries, &carry_words)?;
        compare(case, "destination", destination, &table(&expected))
    }
}

/// The seed's chunk.
fn chunk(gpu: &Gpu) -> Chunk {
    let seed = ScanPolicy::seed();
    let batches_per_chunk = seed.items_per_invocation as usize;
    Chunk { workgroup: workgroup(gpu, seed.workgroup_size), batches_per_chunk }
}

/// The table's rows themselves, entries of no level, and those of the level above the rows.
const STRIDES: [usize; 3] = [1, 3, 256];

pub fn chunk_sum<const C: usize>(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let shape = chunk(gpu);
    let batches = ("BATCHES_PER_CHUNK", shape.batches_per_chunk as u32);
    let rig = Rig::new(gpu, kernel, shape.workgroup.size as u32, &[batches])?;
    for access in Access::ALL {
        for stride in STRIDES {
            for chunk_count in [1, 2, 5] {
                let words = random(chunk_count, chunk_count * shape.items() * stride * C);
                let mut expected = rows::<C>(&words);
                twin::chunk_sum(&shape, &mut expected, stride, chunk_count);

                let table = Memory::of(gpu, &words, access)?;
                // Every chunk is full: the kernel does not look at `last_extent`.
                let chunks = Tiles { tile_count: chunk_count, last_extent: 0 };
                rig.run(&chunk_push(&table, stride, chunks), chunk_count)?;
                let case = format!("{}, {chunk_count} chunks, stride {stride}, {access:?}", kernel.name);
                compare(&case, "table", &table, expected.as_flattened())?;
            }
        }
    }
    Ok(())
}

pub fn chunk_prefix<const C: usize>(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let shape = chunk(gpu);
    for (has_sums, counts) in [(false, [1, 37, 255, 256]), (true, [257, 511, 512, 3 * 256 + 100])] {
        let constants =
            [("BATCHES_PER_CHUNK", shape.batches_per_chunk as u32), ("HAS_SUMS", has_sums.into())];
        let rig = Rig::new(gpu, kernel, shape.workgroup.size as u32, &constants)?;
        for access in Access::ALL {
            for stride in STRIDES {
                for count in counts {
                    let chunks = Tiles::new(count, shape.items());
                    let words = random(count, count * stride * C);
                    let mut expected = rows::<C>(&words);
                    twin::chunk_prefix(&shape, has_sums, &mut expected, stride, chunks);

                    let table = Memory::of(gpu, &words, access)?;
                    rig.run(&chunk_push(&table, stride, chunks), chunks.tile_count)?;
                    let case = format!(
                        "{}, {count} entries, stride {stride}, sums: {has_sums}, {access:?}",
                        kernel.name
                    );
                    compare(&case, "table", &table, expected.as_flattened())?;
                }
            }
        }
    }
    Ok(())
}

fn chunk_push<'a>(table: &'a Memory<'a>, stride: usize, chunks: Tiles) -> [(&'static str, Value<'a>); 4] {
    [
        ("table", Value::Pointer(table)),
        ("stride", Value::Number(stride)),
        ("chunk_count", Value::Number(chunks.tile_count)),
        ("last_extent", Value::Number(chunks.last_extent)),
    ]
}
