//! The kernels of sort.

use libtest_mimic::Failed;
use subsweep::ElementType;
use subsweep::harness::PolicyName;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::reference::lanes::Workgroup;
use subsweep::reference::sort::{
    self as twin, Array, Chunk, Digit, KeyOrder, MatchShape, Numbers, Route, Scheduled, Shape,
};
use subsweep::reference::{Tiles, oracle};
use subsweep::sort::{ChunkCounting, Ranking, SortAlgorithm, SortConfig, SortPolicy};
use subsweep::vk::Capabilities;

use super::rig::{Access, Memory, POISON, Rig, Value, compare, random, sizes};

/// The digits of one algorithm: the first, the last, one of a single bit that may be of two words, and one without bits.
fn digits(algorithm: SortAlgorithm, key_bits: u32) -> [Digit; 4] {
    let bits = algorithm.radix_bits();
    let mask = (1 << bits) - 1;
    [
        Digit { shift: 0, mask },
        Digit { shift: key_bits - bits, mask },
        if key_bits == 64 { Digit { shift: 31, mask } } else { Digit { shift: 9, mask: 1 } },
        Digit { shift: key_bits - 1, mask: 0 },
    ]
}

pub fn workgroup(gpu: &Gpu, policy: &SortPolicy) -> Workgroup {
    Workgroup { size: policy.workgroup_size as usize, lanes: gpu.capabilities().subgroup_size as usize }
}

/// The kernels of a policy: what a pass has to know of them, and their twins.
trait Twin: std::fmt::Debug {
    fn tile_items(&self) -> usize;
    fn radix(&self) -> usize;
    fn count(&self, digits: &[usize], counts: &mut [u32], tiles: Tiles);
    fn scatter(&self, digits: &[usize], offsets: &[u32], tiles: Tiles) -> Vec<u32>;
}

impl Twin for Shape {
    fn tile_items(&self) -> usize {
        self.tile_items()
    }

    fn radix(&self) -> usize {
        self.radix()
    }

    fn count(&self, digits: &[usize], counts: &mut [u32], tiles: Tiles) {
        twin::count(self, digits, counts, tiles);
    }

    fn scatter(&self, digits: &[usize], offsets: &[u32], tiles: Tiles) -> Vec<u32> {
        twin::scatter(self, digits, offsets, tiles)
    }
}

impl Twin for MatchShape {
    fn tile_items(&self) -> usize {
        self.tile_items()
    }

    fn radix(&self) -> usize {
        self.radix()
    }

    fn count(&self, digits: &[usize], counts: &mut [u32], tiles: Tiles) {
        twin::count_bins(self, digits, counts, tiles);
    }

    fn scatter(&self, digits: &[usize], offsets: &[u32], tiles: Tiles) -> Vec<u32> {
        twin::match_scatter(self, digits, offsets, tiles)
    }
}

impl Twin for Chunk {
    fn tile_items(&self) -> usize {
        self.items()
    }

    fn radix(&self) -> usize {
        self.radix()
    }

    fn count(&self, digits: &[usize], counts: &mut [u32], tiles: Tiles) {
        twin::chunk_count(self, digits, counts, tiles);
    }

    fn scatter(&self, digits: &[usize], offsets: &[u32], tiles: Tiles) -> Vec<u32> {
        twin::chunk_bucket(self, digits, offsets, tiles)
    }
}

/// A chunk that is counted bin by bin.
#[derive(Debug)]
struct BinByBin(Chunk);

impl Twin for BinByBin {
    fn tile_items(&self) -> usize {
        self.0.items()
    }

    fn radix(&self) -> usize {
        self.0.radix()
    }

    fn count(&self, digits: &[usize], counts: &mut [u32], tiles: Tiles) {
        twin::chunk_count_bin_by_bin(&self.0, digits, counts, tiles);
    }

    fn scatter(&self, digits: &[usize], offsets: &[u32], tiles: Tiles) -> Vec<u32> {
        self.0.scatter(digits, offsets, tiles)
    }
}

/// Elements of `size` words, each at its place.
pub fn moved(words: &[u32], size: usize, places: &[u32]) -> Vec<u32> {
    let mut moved = vec![POISON; words.len()];
    for (element, &place) in words.chunks_exact(size).zip(places) {
        moved[place as usize * size..][..size].copy_from_slice(element);
    }
    moved
}

/// The words of a key and of a value, which a variant is named for: `key2_value1`, or `key1` without values.
pub fn widths(kernel: &Kernel) -> (usize, usize) {
    let variant = kernel.name.split_once(':').map_or("", |(_, variant)| variant);
    let width = |name: &str| {
        let parts = variant.split('_').find_map(|part| part.strip_prefix(name));
        parts.map_or(0, |digits| digits.parse().expect("a number of words"))
    };
    (width("key"), width("value"))
}

/// One of the two kernels of a pass, in one variant.
struct Pass<'g> {
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    rig: Rig<'g>,
    twin: Box<dyn Twin>,
    order: KeyOrder,
    access: Access,
}

/// How keys are ordered in the `index`th of a few trials.
pub fn nth_order(index: usize) -> KeyOrder {
    let numbers = [Numbers::Unsigned, Numbers::Float, Numbers::Signed, Numbers::Float][index % 4];
    KeyOrder { numbers, is_descending: index % 4 >= 2 }
}

pub fn order_constants(order: KeyOrder) -> Vec<(&'static str, u32)> {
    let numbers = match order.numbers {
        Numbers::Unsigned => 0,
        Numbers::Signed => 1,
        Numbers::Float => 2,
    };
    vec![("KEY_NUMBERS", numbers), ("DESCENDING", order.is_descending.into())]
}

impl<'g> Pass<'g> {
    fn new(
        gpu: &'g Gpu,
        kernel: &'static Kernel,
        policy: &SortPolicy,
        order: KeyOrder,
        access: Access,
    ) -> Result<Self, Failed> {
        let (radix_bits, items) = (policy.algorithm.radix_bits(), policy.items_per_invocation);
        let workgroup = workgroup(gpu, policy);
        let mut constants = order_constants(order);
        constants.push(("RADIX_BITS", radix_bits));
        let twin: Box<dyn Twin> = match policy.ranking {
            Ranking::CounterScan => {
                constants.extend([access.constant(), ("ITEMS_PER_INVOCATION", items)]);
                Box::new(Shape { workgroup, radix_bits, items_per_invocation: items as usize })
            }
            Ranking::Match => {
                constants.push(("ITEMS_PER_INVOCATION", items));
                if kernel.spec_constants.iter().any(|constant| constant.name == "MAX_SUBGROUPS") {
                    constants.push(("MAX_SUBGROUPS", workgroup.subgroup_count() as u32));
                }
                Box::new(MatchShape { workgroup, radix_bits, items_per_invocation: items as usize })
            }
            Ranking::Ballot(counting) => {
                constants.push(("BATCHES_PER_CHUNK", items));
                let chunk = Chunk { workgroup, radix_bits, batches_per_chunk: items as usize };
                match counting {
                    ChunkCounting::Packed => Box::new(chunk),
                    ChunkCounting::BinByBin => Box::new(BinByBin(chunk)),
                }
            }
        };
        let rig = Rig::new(gpu, kernel, policy.workgroup_size, &constants)?;
        Ok(Self { gpu, kernel, rig, twin, order, access })
    }
}

/// The algorithms whose digits are counted in registers.
const IN_REGISTERS: [SortAlgorithm; 2] = [SortAlgorithm::Radix4Bit, SortAlgorithm::Radix2Bit];

/// Each algorithm, at either access, on words alone; another of the two for each on wider keys and with values, which only
/// the loads and stores know of.
fn all_passes<'g>(
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    algorithms: &[SortAlgorithm],
    policy: fn(SortAlgorithm, &Capabilities) -> SortPolicy,
    check: fn(&Pass<'g>, &[u32], Digit) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let (key_words, value_words) = widths(kernel);
    let is_plain = (key_words, value_words) == (1, 0);
    let trials = algorithms.iter().flat_map(|&algorithm| Access::ALL.map(|access| (algorithm, access)));
    // Of four, the first and the last; of two, the first.
    let trials = trials.enumerate().filter(|(index, _)| is_plain || index % 3 == 0);
    for (index, (algorithm, access)) in trials {
        let policy = policy(algorithm, gpu.capabilities());
        let pass = Pass::new(gpu, kernel, &policy, nth_order(index + key_words + value_words), access)?;
        for digit in digits(algorithm, 32 * key_words as u32) {
            for count in sizes(pass.twin.tile_items()) {
                check(&pass, &random(count, count * key_words), digit)?;
                if is_plain {
                    // One digit alone fills its counters, and the last digit lies at the end of every packed word.
                    check(&pass, &vec![u32::MAX; count], digit)?;
                }
            }
        }
    }
    Ok(())
}

impl Pass<'_> {
    fn digits(&self, keys: &[u32], digit: Digit) -> Vec<usize> {
        self.order.digits(keys, widths(self.kernel).0, digit)
    }

    fn case(&self, keys: &[u32], digit: Digit) -> String {
        format!(
            "{}, {} words of keys from {:#010x} on, {:?}, {:?}, {digit:?}, {:?}",
            self.kernel.name,
            keys.len(),
            keys[0],
            self.access,
            self.order,
            self.twin
        )
    }

    fn count(&self, keys: &[u32], digit: Digit) -> Result<(), Failed> {
        let digits = self.digits(keys, digit);
        let tiles = Tiles::new(digits.len(), self.twin.tile_items());
        let mut expected = vec![POISON; self.twin.radix() * tiles.tile_count];
        self.twin.count(&digits, &mut expected, tiles);

        let keys_memory = Memory::of(self.gpu, keys, self.access)?;
        let counts = Memory::poisoned(self.gpu, expected.len(), self.access)?;
        let route = self.route(digit, false);
        let mut pointers = vec![("counts", Value::Pointer(&counts))];
        pointers.extend(key_pointers(route, &keys_memory, None));
        self.run(pointers, route, tiles, digit)?;
        let case = self.case(keys, digit);
        compare(&case, "keys", &keys_memory, keys)?;
        compare(&case, "counts", &counts, &expected)
    }

    fn scatter(&self, keys: &[u32], digit: Digit) -> Result<(), Failed> {
        let (key_words, value_words) = widths(self.kernel);
        let digits = self.digits(keys, digit);
        let tiles = Tiles::new(digits.len(), self.twin.tile_items());
        let mut counts = vec![POISON; self.twin.radix() * tiles.tile_count];
        self.twin.count(&digits, &mut counts, tiles);
        let offsets = oracle::exclusive_scan(&counts, 1);
        let places = self.twin.scatter(&digits, &offsets, tiles);
        let moved = |words: &[u32], size: usize| moved(words, size, &places);

        // Values that are told, and those of one word also as the keys' own places.
        let told = random(3, digits.len() * value_words);
        let own: Vec<u32> = (0..digits.len() as u32).collect();
        let all_values = match value_words {
            0 => vec![None],
            1 => vec![Some(&told), None],
            _ => vec![Some(&told)],
        };
        for values in all_values {
            let keys_memory = Memory::of(self.gpu, keys, self.access)?;
            let sorted = Memory::poisoned(self.gpu, keys.len(), self.access)?;
            let values_memory = Memory::of(self.gpu, &told, Access::Words)?;
            let sorted_values = Memory::poisoned(self.gpu, told.len(), Access::Words)?;
            let offsets_memory = Memory::of(self.gpu, &offsets, self.access)?;
            let has_values = value_words > 0;
            let route = self.route(digit, values.is_none());
            let mut pointers = vec![("offsets", Value::Pointer(&offsets_memory))];
            pointers.extend(key_pointers(route, &keys_memory, Some(&sorted)));
            let values_before = if has_values { Some(&values_memory) } else { None };
            pointers.extend(value_pointers(route, values_before, &sorted_values));
            self.run(pointers, route, tiles, digit)?;
            let case = self.case(keys, digit);
            compare(&case, "keys", &keys_memory, keys)?;
            compare(&case, "offsets", &offsets_memory, &offsets)?;
            compare(&case, "sorted", &sorted, &moved(keys, key_words))?;
            if has_values {
                compare(&case, "values", &values_memory, &told)?;
                let expected = moved(values.unwrap_or(&own), value_words);
                compare(&case, "sorted values", &sorted_values, &expected)?;
            }
        }
        Ok(())
    }

    /// One of those that a schedule has, by turns.
    fn route(&self, digit: Digit, are_places: bool) -> Route {
        nth_route(digit.shift as usize, are_places)
    }

    fn run(
        &self,
        pointers: Vec<(&'static str, Value<'_>)>,
        route: Route,
        tiles: Tiles,
        digit: Digit,
    ) -> Result<(), Failed> {
        let scheduled = schedule_memory(self.gpu, route, tiles)?;
        // No longer than what else is told.
        let mut push: Vec<(&str, Value<'_>)> = pointers;
        push.extend([
            ("schedule", Value::Pointer(&scheduled)),
            ("shift", Value::Number(digit.shift as usize)),
            ("digit_mask", Value::Number(digit.mask as usize)),
        ]);
        self.rig.run(&push, tiles.tile_count)
    }
}

/// One of the routes that a schedule has, by turns.
pub fn nth_route(index: usize, are_places: bool) -> Route {
    let there = (Array::Callers, Array::Aside);
    let back = (Array::Aside, Array::Callers);
    let keys = [there, back, (Array::Aside, Array::Other), (Array::Other, Array::Aside)][index % 4];
    let values = match (are_places, index % 3) {
        (true, 0) => (Array::Other, Array::Aside),
        (true, _) => (Array::Other, Array::Callers),
        (false, 0) => back,
        (false, _) => there,
    };
    Route { keys, values, region: index as u32 / 2 % 2 }
}

pub fn schedule_memory(gpu: &Gpu, route: Route, tiles: Tiles) -> Result<Memory<'_>, Failed> {
    let Tiles { tile_count, last_extent } = tiles;
    let mut words = Scheduled { tile_count, last_extent, route }.words(tile_count, 1).to_vec();
    words.push(POISON);
    Memory::of(gpu, &words, Access::Quads)
}

/// The keys' arrays of a route: those that it goes between, and none else.
pub fn key_pointers<'a>(
    route: Route,
    before: &'a Memory<'a>,
    after: Option<&'a Memory<'a>>,
) -> [(&'static str, Value<'a>); 3] {
    let names = [(Array::Callers, "keys"), (Array::Aside, "keys_aside"), (Array::Other, "keys_other")];
    names.map(|(array, name)| match after {
        _ if array == route.keys.0 => (name, Value::Pointer(before)),
        Some(after) if array == route.keys.1 => (name, Value::Pointer(after)),
        _ => (name, Value::Null),
    })
}

/// The values' arrays, if there are any.
pub fn value_pointers<'a>(
    route: Route,
    before: Option<&'a Memory<'a>>,
    after: &'a Memory<'a>,
) -> [(&'static str, Value<'a>); 2] {
    let names = [(Array::Callers, "values"), (Array::Aside, "values_aside")];
    names.map(|(array, name)| match before {
        Some(before) if array == route.values.0 => (name, Value::Pointer(before)),
        Some(_) if array == route.values.1 => (name, Value::Pointer(after)),
        _ => (name, Value::Null),
    })
}

pub fn count(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    all_passes(gpu, kernel, &IN_REGISTERS, SortPolicy::tuned, Pass::count)?;
    if widths(kernel) != (1, 0) {
        return Ok(());
    }
    // So many keys of one digit that the highest bits of bytes and halves come into play.
    let mut policy = SortPolicy::tuned(SortAlgorithm::Radix4Bit, gpu.capabilities());
    policy.items_per_invocation = 128;
    let pass = Pass::new(gpu, kernel, &policy, nth_order(0), Access::Words)?;
    let keys: Vec<u32> = (0..16).flat_map(|digit| vec![digit; pass.twin.tile_items()]).collect();
    pass.count(&keys, Digit { shift: 0, mask: 15 })
}

pub fn scatter(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    all_passes(gpu, kernel, &IN_REGISTERS, SortPolicy::tuned, Pass::scatter)?;
    if widths(kernel) != (1, 0) {
        return Ok(());
    }
    // The largest tile that the device's shared memory has room for: prefixes of more bits than the default's.
    let mut policy = SortPolicy::tuned(SortAlgorithm::Radix4Bit, gpu.capabilities());
    let tables = 4 * (16 + policy.workgroup_size / 4 + 1);
    let room = (gpu.capabilities().shared_memory_size - tables) / (16 * policy.workgroup_size);
    policy.items_per_invocation = 4 * room.min(15);
    let pass = Pass::new(gpu, kernel, &policy, nth_order(0), Access::Words)?;
    let tile_items = pass.twin.tile_items();
    let keys: Vec<u32> = (0..tile_items as u32).rev().map(|i| i / 8).collect();
    pass.scatter(&keys, Digit { shift: 0, mask: 1 })?;
    pass.scatter(&random(7, 2 * tile_items + 1), Digit { shift: 0, mask: 15 })
}

pub fn count_bins(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    all_passes(gpu, kernel, &[SortAlgorithm::Radix8Bit], SortPolicy::tuned, Pass::count)
}

pub fn match_scatter(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    all_passes(gpu, kernel, &[SortAlgorithm::Radix8Bit], SortPolicy::tuned, Pass::scatter)
}

pub fn chunk_count(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    all_passes(gpu, kernel, &IN_REGISTERS, SortPolicy::seed, Pass::count)
}

pub fn chunk_count_bin_by_bin(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let policy = |algorithm, capabilities: &_| {
        let config = SortConfig::keys(ElementType::U32);
        PolicyName::SeedBinByBin.sort(capabilities, algorithm, &config)
    };
    all_passes(gpu, kernel, &IN_REGISTERS, policy, Pass::count)
}

pub fn chunk_bucket(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    all_passes(gpu, kernel, &IN_REGISTERS, SortPolicy::seed, Pass::scatter)
}

/// In place and apart, with places and without, by bits of every kind.
pub fn single_workgroup(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let (key_words, value_words) = widths(kernel);
    let policy = SortPolicy::tuned(SortAlgorithm::SingleWorkgroup, gpu.capabilities());
    let shape = policy.single_workgroup.expect("the algorithm has one");
    let (radix_bits, items) = (policy.algorithm.radix_bits(), shape.items_per_invocation);
    let twin = Shape { workgroup: workgroup(gpu, &policy), radix_bits, items_per_invocation: items as usize };
    let key_bits = 32 * key_words as u32;
    for (index, access) in Access::ALL.into_iter().enumerate() {
        let order = nth_order(index + key_words + value_words);
        let mut constants = order_constants(order);
        constants.extend([("RADIX_BITS", radix_bits), ("ITEMS_PER_INVOCATION", items), access.constant()]);
        let rig = Rig::new(gpu, kernel, shape.workgroup_size, &constants)?;
        let tile = shape.tile_items() as usize;
        for count in [1, 2, 100, tile / 2 + 3, tile - 1, tile] {
            for bits in [0..key_bits, 3..9, key_bits - 1..key_bits, 7..7] {
                let keys = random(count, count * key_words);
                let places = twin::single_workgroup(&twin, order, &keys, key_words, bits.clone());
                let told = random(5, count * value_words);
                let keys_memory = Memory::of(gpu, &keys, access)?;
                let apart = Memory::poisoned(gpu, keys.len(), access)?;
                let values = Memory::of(gpu, &told, Access::Words)?;
                let is_argsort = value_words == 1 && count % 2 == 1;
                let has_values = value_words > 0 && !is_argsort;
                let keeps_keys = is_argsort || bits.end == key_bits;
                // The device knows of more than are taken, or, where more might be, of these.
                let is_on_device = count.is_multiple_of(3) || count == tile;
                let on_device =
                    Memory::of(gpu, &[if count == tile { u32::MAX } else { count as u32 }], Access::Words)?;
                let most = if is_on_device { tile } else { count };
                let numbers = [
                    ("element_count", Value::Number(most)),
                    ("begin_bit", Value::Number(bits.start as usize)),
                    ("end_bit", Value::Number(bits.end as usize)),
                ];
                let sorted = if keeps_keys { &apart } else { &keys_memory };
                let pointers = [
                    ("keys", Value::Pointer(&keys_memory)),
                    ("sorted", if is_argsort { Value::Null } else { Value::Pointer(sorted) }),
                    ("values", if has_values { Value::Pointer(&values) } else { Value::Null }),
                    ("sorted_values", if value_words > 0 { Value::Pointer(&values) } else { Value::Null }),
                    ("count_on_device", if is_on_device { Value::Pointer(&on_device) } else { Value::Null }),
                ];
                rig.run(&pointers.into_iter().chain(numbers).collect::<Vec<_>>(), 1)?;
                let case = format!("{}, {count} keys, bits {bits:?}, {access:?}, {order:?}", kernel.name);
                if keeps_keys {
                    compare(&case, "keys", &keys_memory, &keys)?;
                }
                if !is_argsort {
                    compare(&case, "sorted", sorted, &moved(&keys, key_words, &places))?;
                }
                if value_words > 0 {
                    let own: Vec<u32> = (0..count as u32).collect();
                    let expected = moved(if is_argsort { &own } else { &told }, value_words, &places);
                    compare(&case, "values", &values, &expected)?;
                }
            }
        }
    }
    Ok(())
}
