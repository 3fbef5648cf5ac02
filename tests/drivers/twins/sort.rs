//! The kernels of sort.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::reference::lanes::Workgroup;
use subsweep::reference::sort::{self as twin, Chunk, Digit, Shape};
use subsweep::reference::{Tiles, oracle};
use subsweep::sort::{SortAlgorithm, SortPolicy};

use super::rig::{Access, Memory, POISON, Rig, Value, compare, random, sizes};

/// The digits of one algorithm: the first, the last, one of a single bit, and one without bits.
fn digits(algorithm: SortAlgorithm) -> [Digit; 4] {
    let bits = algorithm.radix_bits();
    let mask = (1 << bits) - 1;
    [
        Digit { shift: 0, mask },
        Digit { shift: 32 - bits, mask },
        Digit { shift: 9, mask: 1 },
        Digit { shift: 31, mask: 0 },
    ]
}

fn workgroup(gpu: &Gpu, policy: &SortPolicy) -> Workgroup {
    Workgroup { size: policy.workgroup_size as usize, lanes: gpu.capabilities().subgroup_size as usize }
}

/// The kernels of a policy: what a pass has to know of them, and their twins.
trait Twin: std::fmt::Debug {
    fn tile_items(&self) -> usize;
    fn radix(&self) -> usize;
    fn count(&self, keys: &[u32], counts: &mut [u32], tiles: Tiles, digit: Digit);
    fn scatter(&self, keys: &[u32], sorted: &mut [u32], offsets: &[u32], tiles: Tiles, digit: Digit);
}

impl Twin for Shape {
    fn tile_items(&self) -> usize {
        self.tile_items()
    }

    fn radix(&self) -> usize {
        self.radix()
    }

    fn count(&self, keys: &[u32], counts: &mut [u32], tiles: Tiles, digit: Digit) {
        twin::count(self, keys, counts, tiles, digit);
    }

    fn scatter(&self, keys: &[u32], sorted: &mut [u32], offsets: &[u32], tiles: Tiles, digit: Digit) {
        twin::scatter(self, keys, sorted, offsets, tiles, digit);
    }
}

impl Twin for Chunk {
    fn tile_items(&self) -> usize {
        self.items()
    }

    fn radix(&self) -> usize {
        self.radix()
    }

    fn count(&self, keys: &[u32], counts: &mut [u32], tiles: Tiles, digit: Digit) {
        twin::chunk_count(self, keys, counts, tiles, digit);
    }

    fn scatter(&self, keys: &[u32], sorted: &mut [u32], offsets: &[u32], tiles: Tiles, digit: Digit) {
        twin::chunk_bucket(self, keys, sorted, offsets, tiles, digit);
    }
}

/// One of the two kernels of a pass, in one variant.
struct Pass<'g> {
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    rig: Rig<'g>,
    twin: Box<dyn Twin>,
    access: Access,
}

/// Each algorithm with its default policy in both variants.
fn tiled<'g>(
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    check: fn(&Pass<'g>, &[u32], Digit) -> Result<(), Failed>,
) -> Result<(), Failed> {
    for algorithm in SortAlgorithm::ALL {
        let policy = SortPolicy::tuned(algorithm, gpu.capabilities());
        let quads_per_invocation = policy.items_per_invocation / 4;
        let shape = Shape {
            workgroup: workgroup(gpu, &policy),
            radix_bits: algorithm.radix_bits(),
            quads_per_invocation: quads_per_invocation as usize,
        };
        for access in Access::ALL {
            let constants = [
                access.constant(),
                ("RADIX_BITS", algorithm.radix_bits()),
                ("QUADS_PER_INVOCATION", quads_per_invocation),
            ];
            let rig = Rig::new(gpu, kernel, policy.workgroup_size, &constants)?;
            let pass = Pass { gpu, kernel, rig, twin: Box::new(shape), access };
            check_all(&pass, algorithm, check)?;
        }
    }
    Ok(())
}

/// Each algorithm with the seed's policy.
fn chunked<'g>(
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    check: fn(&Pass<'g>, &[u32], Digit) -> Result<(), Failed>,
) -> Result<(), Failed> {
    for algorithm in SortAlgorithm::ALL {
        let policy = SortPolicy::seed(algorithm, gpu.capabilities());
        let shape = Chunk {
            workgroup: workgroup(gpu, &policy),
            radix_bits: algorithm.radix_bits(),
            batches_per_chunk: policy.items_per_invocation as usize,
        };
        let constants =
            [("RADIX_BITS", algorithm.radix_bits()), ("BATCHES_PER_CHUNK", policy.items_per_invocation)];
        for access in Access::ALL {
            let rig = Rig::new(gpu, kernel, policy.workgroup_size, &constants)?;
            let pass = Pass { gpu, kernel, rig, twin: Box::new(shape), access };
            check_all(&pass, algorithm, check)?;
        }
    }
    Ok(())
}

fn check_all<'g>(
    pass: &Pass<'g>,
    algorithm: SortAlgorithm,
    check: fn(&Pass<'g>, &[u32], Digit) -> Result<(), Failed>,
) -> Result<(), Failed> {
    for digit in digits(algorithm) {
        for count in sizes(pass.twin.tile_items()) {
            check(pass, &random(count, count), digit)?;
            // One digit alone fills its counters, and the last digit lies at the end of every packed word.
            check(pass, &vec![u32::MAX; count], digit)?;
        }
    }
    Ok(())
}

impl Pass<'_> {
    fn tiles(&self, keys: &[u32]) -> Tiles {
        Tiles::new(keys.len(), self.twin.tile_items())
    }

    fn case(&self, keys: &[u32], digit: Digit) -> String {
        format!(
            "{}, {} keys from {:#010x} on, {:?}, {digit:?}, {:?}",
            self.kernel.name,
            keys.len(),
            keys[0],
            self.access,
            self.twin
        )
    }

    fn count(&self, keys: &[u32], digit: Digit) -> Result<(), Failed> {
        let tiles = self.tiles(keys);
        let mut expected = vec![POISON; self.twin.radix() * tiles.tile_count];
        self.twin.count(keys, &mut expected, tiles, digit);

        let keys_memory = Memory::of(self.gpu, keys, self.access)?;
        let counts = Memory::poisoned(self.gpu, expected.len(), self.access)?;
        let pointers = [("keys", Value::Pointer(&keys_memory)), ("counts", Value::Pointer(&counts))];
        self.run(pointers, tiles, digit)?;
        let case = self.case(keys, digit);
        compare(&case, "keys", &keys_memory, keys)?;
        compare(&case, "counts", &counts, &expected)
    }

    fn scatter(&self, keys: &[u32], digit: Digit) -> Result<(), Failed> {
        let tiles = self.tiles(keys);
        let mut counts = vec![POISON; self.twin.radix() * tiles.tile_count];
        self.twin.count(keys, &mut counts, tiles, digit);
        let offsets = oracle::exclusive_scan(&counts, 1);
        let mut expected = vec![POISON; keys.len()];
        self.twin.scatter(keys, &mut expected, &offsets, tiles, digit);

        let keys_memory = Memory::of(self.gpu, keys, self.access)?;
        let sorted = Memory::poisoned(self.gpu, keys.len(), self.access)?;
        let offsets_memory = Memory::of(self.gpu, &offsets, self.access)?;
        let pointers = [
            ("keys", Value::Pointer(&keys_memory)),
            ("sorted", Value::Pointer(&sorted)),
            ("offsets", Value::Pointer(&offsets_memory)),
        ];
        self.run(pointers, tiles, digit)?;
        let case = self.case(keys, digit);
        compare(&case, "keys", &keys_memory, keys)?;
        compare(&case, "offsets", &offsets_memory, &offsets)?;
        compare(&case, "sorted", &sorted, &expected)
    }

    fn run<'a>(
        &self,
        pointers: impl IntoIterator<Item = (&'static str, Value<'a>)>,
        tiles: Tiles,
        digit: Digit,
    ) -> Result<(), Failed> {
        let numbers = [
            ("tile_count", Value::Number(tiles.tile_count)),
            ("last_extent", Value::Number(tiles.last_extent)),
            ("shift", Value::Number(digit.shift as usize)),
            ("digit_mask", Value::Number(digit.mask as usize)),
        ];
        let push: Vec<_> = pointers.into_iter().chain(numbers).collect();
        self.rig.run(&push, tiles.tile_count)
    }
}

pub fn count(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    tiled(gpu, kernel, Pass::count)?;
    // So many keys of one digit that the highest bits of bytes and halves come into play.
    let policy = SortPolicy::tuned(SortAlgorithm::Radix4Bit, gpu.capabilities());
    let (radix_bits, quads_per_invocation) = (4, 32);
    let shape = Shape { workgroup: workgroup(gpu, &policy), radix_bits, quads_per_invocation };
    let constants = [("RADIX_BITS", radix_bits), ("QUADS_PER_INVOCATION", quads_per_invocation as u32)];
    let rig = Rig::new(gpu, kernel, policy.workgroup_size, &constants)?;
    let pass = Pass { gpu, kernel, rig, twin: Box::new(shape), access: Access::Words };
    let keys: Vec<u32> = (0..16).flat_map(|digit| vec![digit; shape.tile_items()]).collect();
    pass.count(&keys, Digit { shift: 0, mask: 15 })
}

pub fn scatter(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    tiled(gpu, kernel, Pass::scatter)?;
    // The largest tile that the device's shared memory has room for: prefixes of more bits than the default's.
    let mut policy = SortPolicy::tuned(SortAlgorithm::Radix4Bit, gpu.capabilities());
    let tables = 4 * (16 + policy.workgroup_size / 4 + 1);
    let room = (gpu.capabilities().shared_memory_size - tables) / (16 * policy.workgroup_size);
    let (radix_bits, quads) = (4, room.min(15));
    policy.items_per_invocation = 4 * quads;
    let shape =
        Shape { workgroup: workgroup(gpu, &policy), radix_bits, quads_per_invocation: quads as usize };
    let constants = [("RADIX_BITS", radix_bits), ("QUADS_PER_INVOCATION", quads)];
    let rig = Rig::new(gpu, kernel, policy.workgroup_size, &constants)?;
    let pass = Pass { gpu, kernel, rig, twin: Box::new(shape), access: Access::Words };
    let keys: Vec<u32> = (0..shape.tile_items() as u32).rev().map(|i| i / 8).collect();
    pass.scatter(&keys, Digit { shift: 0, mask: 1 })?;
    pass.scatter(&random(7, 2 * shape.tile_items() + 1), Digit { shift: 0, mask: 15 })
}

pub fn chunk_count(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    chunked(gpu, kernel, Pass::count)
}

pub fn chunk_bucket(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    chunked(gpu, kernel, Pass::scatter)
}
