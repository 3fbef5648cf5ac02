//! Pass checks of the passes of a sort, and of the sort in one workgroup.

use libtest_mimic::Failed;
use subsweep::ElementType;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::sort::{SortAlgorithm, SortConfig, SortPolicy};
use subsweep_tool::reference::oracle;
use subsweep_tool::reference::passes::digit_histogram::{Buffer, PassArgs, PingPong};
use subsweep_tool::reference::passes::sort::{self as model, Digit, KeyOrder, Numbers};

use super::rig::{
    Alignment, POISON, Rig, Selection, Tiles, Value, as_keys, first_bit, key_words, packed_bits, random,
    sizes, small_workgroup,
};

/// Digits of a radix: the first, the last, one across two words or of a single bit, and one without bits.
fn digits(radix_bits: u32, kernel: &Kernel) -> [Digit; 4] {
    let (mask, key_bits) = ((1 << radix_bits) - 1, 32 * widths(kernel).0 as u32);
    [
        Digit { shift: first_bit(kernel), mask },
        Digit { shift: key_bits - radix_bits, mask },
        if key_bits == 64 { Digit { shift: 31, mask } } else { Digit { shift: nth_bit(kernel, 9), mask: 1 } },
        Digit { shift: key_bits - 1, mask: 0 },
    ]
}

/// Scatters elements of `size` words to their indices.
pub fn scattered(words: &[u32], size: usize, indices: &[u32]) -> Vec<u32> {
    let mut scattered = vec![POISON; words.len()];
    for (element, &index) in words.chunks_exact(size).zip(indices) {
        scattered[index as usize * size..][..size].copy_from_slice(element);
    }
    scattered
}

/// The words of a key in the model, and of a value.
pub fn widths(kernel: &Kernel) -> (usize, usize) {
    let values = kernel.defines.iter().find(|(name, _)| *name == "VALUE_WORDS");
    (key_words(kernel) as usize, values.map_or(0, |(_, words)| *words as usize))
}

/// Bit `index` of keys of whole words; of narrower keys, one of their bits.
pub fn nth_bit(kernel: &Kernel, index: u32) -> u32 {
    first_bit(kernel) + index % packed_bits(kernel)
}

/// The order of keys in trial `index`.
pub fn nth_order(index: usize) -> KeyOrder {
    const ORDERS: [(Numbers, bool); 6] = [
        (Numbers::Unsigned, false),
        (Numbers::Float, false),
        (Numbers::Signed, true),
        (Numbers::NumpyFloat, true),
        (Numbers::Float, true),
        (Numbers::NumpyFloat, false),
    ];
    let (numbers, is_descending) = ORDERS[index % ORDERS.len()];
    KeyOrder { numbers, is_descending }
}

pub fn order_constants(kernel: &Kernel, order: KeyOrder) -> Vec<(&'static str, u32)> {
    // The high half of an f32 is a brain float.
    let is_brain = order.numbers == Numbers::NumpyFloat && packed_bits(kernel) < 32;
    let numbers = order.numbers as u32 + u32::from(is_brain);
    vec![("KEY_NUMBERS", numbers), ("DESCENDING", order.is_descending.into())]
}

/// Subgroups of a workgroup: `MAX_SUBGROUPS`.
pub fn subgroup_count(gpu: &Gpu, workgroup_size: u32) -> u32 {
    workgroup_size.div_ceil(gpu.capabilities().subgroup_size)
}

/// The specialization of a kernel that counts or ranks a tile, except the order of keys.
#[derive(Debug, Clone, Copy)]
struct Specialization {
    radix_bits: u32,
    workgroup_size: u32,
    items_per_invocation: u32,
    alignment: Alignment,
}

/// What a kernel that scatters is specialized for besides.
#[derive(Debug, Clone, Copy)]
struct Scatter {
    has_exchange: bool,
    has_no_last_keys: bool,
}

impl Scatter {
    const USUAL: Self = Self { has_exchange: true, has_no_last_keys: false };
}

impl Specialization {
    fn tuned(gpu: &Gpu, algorithm: SortAlgorithm, alignment: Alignment) -> Self {
        let SortPolicy { workgroup_size, items_per_invocation, .. } =
            SortPolicy::tuned(algorithm, gpu.capabilities(), &SortConfig::keys(ElementType::U32));
        Self { radix_bits: algorithm.radix_bits(), workgroup_size, items_per_invocation, alignment }
    }

    /// Counters in registers: each radix and access once in small tiles, then in default tiles. The full product is for
    /// one-word keys alone, since wider keys and values differ only in loads and stores.
    fn by_counters(gpu: &Gpu, is_plain: bool) -> Vec<Self> {
        let small = |radix_bits, items_per_invocation, alignment| Self {
            radix_bits,
            workgroup_size: small_workgroup(gpu),
            items_per_invocation,
            alignment,
        };
        let mut specializations = vec![small(4, 4, Alignment::Quads), small(2, 8, Alignment::Words)];
        for (algorithm, alignment) in [
            (SortAlgorithm::Radix4Bit, Alignment::Quads),
            (SortAlgorithm::Radix2Bit, Alignment::Words),
            (SortAlgorithm::Radix4Bit, Alignment::Words),
            (SortAlgorithm::Radix2Bit, Alignment::Quads),
        ] {
            specializations.push(Self::tuned(gpu, algorithm, alignment));
        }
        specializations.truncate(if is_plain { 6 } else { 4 });
        specializations
    }

    /// Ranking by matching digits across lanes.
    fn by_match(gpu: &Gpu, is_plain: bool) -> Vec<Self> {
        let small = Self {
            radix_bits: 8,
            workgroup_size: small_workgroup(gpu),
            items_per_invocation: 3,
            alignment: Alignment::Words,
        };
        let tuned = Alignment::ALL.map(|alignment| Self::tuned(gpu, SortAlgorithm::Radix8Bit, alignment));
        [small].into_iter().chain(tuned).take(if is_plain { 3 } else { 2 }).collect()
    }

    /// The seed's ranking by ballots.
    fn by_ballot(gpu: &Gpu) -> Vec<Self> {
        let specializations =
            [(SortAlgorithm::Radix4Bit, Alignment::Quads), (SortAlgorithm::Radix2Bit, Alignment::Words)];
        let seed = |(algorithm, alignment): (SortAlgorithm, _)| {
            let SortPolicy { workgroup_size, items_per_invocation, .. } =
                SortPolicy::seed(algorithm, gpu.capabilities());
            Self { radix_bits: algorithm.radix_bits(), workgroup_size, items_per_invocation, alignment }
        };
        specializations.map(seed).to_vec()
    }

    /// The specializations of a kernel, and how many the short selection takes.
    fn for_kernel(gpu: &Gpu, kernel: &Kernel) -> (usize, Vec<Self>) {
        let is_plain = widths(kernel) == (1, 0);
        match kernel.name.split_once(':') {
            Some(("sort/chunk_count" | "sort/chunk_bucket", _)) => (2, Self::by_ballot(gpu)),
            Some(("sort/count_bins", _)) => (1, Self::by_match(gpu, is_plain)),
            Some((_, variant)) if variant.starts_with("match_") => (1, Self::by_match(gpu, is_plain)),
            _ => (2, Self::by_counters(gpu, is_plain)),
        }
    }
}

/// One of the two kernels of a pass, specialized.
struct Pass<'g> {
    kernel: &'static Kernel,
    rig: Rig<'g>,
    specialization: Specialization,
    scatter: Scatter,
    order: KeyOrder,
}

pub fn count(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    all_passes(gpu, kernel, selection, Pass::count)?;
    if kernel.name != "sort/count:key1" {
        return Ok(());
    }
    // Tiles of one digit, whose counts set the highest bits of bytes and halves.
    let tuned = Specialization::tuned(gpu, SortAlgorithm::Radix4Bit, Alignment::Words);
    let large = Specialization { items_per_invocation: 128, ..tuned };
    let pass = Pass::new(gpu, kernel, (large, Scatter::USUAL), nth_order(0))?;
    let keys: Vec<u32> = (0..16).flat_map(|digit| vec![digit; pass.tile_items()]).collect();
    pass.count(&keys, Digit { shift: 0, mask: 15 })
}

pub fn scatter(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    all_passes(gpu, kernel, selection, Pass::scatter)?;
    if kernel.name != "sort/scatter:key1" {
        return Ok(());
    }
    // The largest tile that fits in shared memory: prefixes need more bits than in the default tile.
    let tuned = Specialization::tuned(gpu, SortAlgorithm::Radix4Bit, Alignment::Words);
    let tables = 4 * (16 + tuned.workgroup_size / 4 + 1);
    let room = (gpu.capabilities().shared_memory_size - tables) / (16 * tuned.workgroup_size);
    let specialization = Specialization { items_per_invocation: 4 * room.min(15), ..tuned };
    let pass = Pass::new(gpu, kernel, (specialization, Scatter::USUAL), nth_order(0))?;
    let tile_items = pass.tile_items();
    let keys: Vec<u32> = (0..tile_items as u32).rev().map(|i| i / 8).collect();
    pass.scatter(&keys, Digit { shift: 0, mask: 1 })?;
    pass.scatter(&random(7, 2 * tile_items + 1), Digit { shift: 0, mask: 15 })
}

fn all_passes<'g>(
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    selection: Selection,
    check: fn(&Pass<'g>, &[u32], Digit) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let (key_words, value_words) = widths(kernel);
    let (short_count, specializations) = Specialization::for_kernel(gpu, kernel);
    for (index, specialization) in selection.first(short_count, specializations).into_iter().enumerate() {
        let turn = index + key_words + value_words;
        let scatter = Scatter {
            has_exchange: index.is_multiple_of(2),
            has_no_last_keys: value_words > 0 && !turn.is_multiple_of(2),
        };
        let pass = Pass::new(gpu, kernel, (specialization, scatter), nth_order(turn))?;
        for digit in digits(specialization.radix_bits, kernel) {
            for count in sizes(pass.tile_items()) {
                check(&pass, &as_keys(kernel, random(count, count * key_words)), digit)?;
                if (key_words, value_words) == (1, 0) {
                    // Keys of one digit fill its counters; the last digit is in the highest bits of every packed word.
                    check(&pass, &as_keys(kernel, vec![u32::MAX; count]), digit)?;
                }
            }
        }
    }
    Ok(())
}

impl<'g> Pass<'g> {
    fn new(
        gpu: &'g Gpu,
        kernel: &'static Kernel,
        (specialization, scatter): (Specialization, Scatter),
        order: KeyOrder,
    ) -> Result<Self, Failed> {
        let has = |name| kernel.spec_constants.iter().any(|constant| constant.name == name);
        let items = if has("BATCHES_PER_CHUNK") { "BATCHES_PER_CHUNK" } else { "ITEMS_PER_INVOCATION" };
        let mut constants = order_constants(kernel, order);
        constants.extend([
            ("RADIX_BITS", specialization.radix_bits),
            (items, specialization.items_per_invocation),
        ]);
        let of_scatter = [("EXCHANGE", scatter.has_exchange), ("NO_LAST_KEYS", scatter.has_no_last_keys)];
        let of_scatter = of_scatter.into_iter().filter(|&(name, _)| has(name));
        constants.extend(of_scatter.map(|(name, is_set)| (name, is_set.into())));
        if has("MAX_SUBGROUPS") {
            constants.push(("MAX_SUBGROUPS", subgroup_count(gpu, specialization.workgroup_size)));
            let is_scatter = has("PACKED_RANKS");
            constants.extend(is_scatter.then_some(("PACKED_RANKS", scatter.has_exchange.into())));
        } else if has("QUAD_ACCESS") {
            constants.extend(specialization.alignment.constants());
        }
        let rig = Rig::new(gpu, kernel, specialization.workgroup_size, &constants)?;
        Ok(Self { kernel, rig, specialization, scatter, order })
    }

    fn tile_items(&self) -> usize {
        (self.specialization.workgroup_size * self.specialization.items_per_invocation) as usize
    }

    fn counts(&self, digits: &[usize]) -> Vec<u32> {
        model::tile_counts(digits, 1 << self.specialization.radix_bits, self.tile_items())
    }

    fn case(&self, keys: &[u32], digit: Digit) -> String {
        format!(
            "{}, {} words of keys from {:#010x} on, {:?}, {digit:?}, {:?}, {:?}",
            self.kernel.name,
            keys.len(),
            keys[0],
            self.order,
            self.specialization,
            self.scatter
        )
    }

    fn count(&self, keys: &[u32], digit: Digit) -> Result<(), Failed> {
        let digits = self.order.digits(keys, widths(self.kernel).0, digit);
        let expected = self.counts(&digits);

        let alignment = self.specialization.alignment;
        let buffers = nth_buffers(digit.shift as usize, false);
        let mut values = vec![("counts", Value::output(expected).at(alignment))];
        values.extend(key_arrays(buffers, Value::input(keys).of_keys().at(alignment), None));
        self.run(values, buffers, keys, digits.len(), digit)
    }

    fn scatter(&self, keys: &[u32], digit: Digit) -> Result<(), Failed> {
        let (key_words, value_words) = widths(self.kernel);
        let digits = self.order.digits(keys, key_words, digit);
        let offsets = oracle::exclusive_scan(&self.counts(&digits), 1);
        let indices = model::scatter(&digits, &offsets, self.tile_items());
        let scattered = |words: &[u32], size: usize| scattered(words, size, &indices);

        // Values; if they have one word, also the indices of the keys.
        let values = random(3, digits.len() * value_words);
        let own: Vec<u32> = (0..digits.len() as u32).collect();
        let from_indices = if value_words == 1 { &[false, true][..] } else { &[false] };
        for &from_indices in from_indices {
            let alignment = self.specialization.alignment;
            let buffers = nth_buffers(digit.shift as usize, from_indices);
            let is_last = self.scatter.has_no_last_keys && digits.len() % 2 == 1;
            let buffers = if is_last { without_keys(buffers) } else { buffers };
            let sorted = Value::output(scattered(keys, key_words)).of_keys().at(alignment);
            let sorted_values = scattered(if from_indices { &own } else { &values }, value_words.max(1));
            let mut pushed = vec![("offsets", Value::input(&offsets).at(alignment))];
            pushed.extend(key_arrays(buffers, Value::input(keys).of_keys().at(alignment), Some(sorted)));
            let of_values = (value_words > 0).then(|| [Value::input(&values), Value::output(sorted_values)]);
            pushed.extend(value_arrays(buffers, of_values));
            self.run(pushed, buffers, keys, digits.len(), digit)?;
        }
        Ok(())
    }

    fn run(
        &self,
        mut values: Vec<(&'static str, Value<'_>)>,
        buffers: PingPong,
        keys: &[u32],
        count: usize,
        digit: Digit,
    ) -> Result<(), Failed> {
        let tiles = Tiles::new(count, self.tile_items());
        values.extend([
            ("dispatch_args", pass_args(buffers, tiles)),
            ("shift", Value::Number(digit.shift as usize)),
            ("digit_mask", Value::Number(digit.mask as usize)),
        ]);
        self.rig.check(&self.case(keys, digit), values, tiles.tile_count)
    }
}

/// The ping-pong buffers of pass `index` of a sort.
pub fn nth_buffers(index: usize, from_indices: bool) -> PingPong {
    let there = (Buffer::Primary, Buffer::Alternate);
    let back = (Buffer::Alternate, Buffer::Primary);
    let (once_more, and_back) = ((Buffer::Alternate, Buffer::Other), (Buffer::Other, Buffer::Alternate));
    let values = match (from_indices, index % 3) {
        (true, 0) => (Buffer::Other, Buffer::Alternate),
        (true, _) => (Buffer::Other, Buffer::Primary),
        (false, 0) => back,
        (false, _) => there,
    };
    PingPong { keys: [there, back, once_more, and_back][index % 4], values, parity: index as u32 / 2 % 2 }
}

/// The buffers of a last pass that does not write the keys.
pub fn without_keys(buffers: PingPong) -> PingPong {
    PingPong { keys: (buffers.keys.0, Buffer::Nowhere), ..buffers }
}

/// The dispatch arguments of a pass in device memory.
pub fn pass_args(buffers: PingPong, tiles: Tiles) -> Value<'static> {
    let Tiles { tile_count, last_extent } = tiles;
    let args = PassArgs { tile_count, workgroup_count: tile_count, last_extent, buffers };
    let words = args.words(tile_count, 1).into_iter().chain([POISON]);
    Value::input(words.collect::<Vec<_>>()).at(Alignment::Quads)
}

/// The buffers of keys: the pass's source and destination, and null for the others.
pub fn key_arrays<'a>(
    buffers: PingPong,
    before: Value<'a>,
    after: Option<Value<'a>>,
) -> [(&'static str, Value<'a>); 3] {
    let names = [(Buffer::Primary, "keys"), (Buffer::Alternate, "keys_alt"), (Buffer::Other, "keys_alt2")];
    names.map(|(buffer, name)| match &after {
        _ if buffer == buffers.keys.0 => (name, before.clone()),
        Some(after) if buffer == buffers.keys.1 => (name, after.clone()),
        _ => (name, Value::Null),
    })
}

/// The buffers of values before and after, or null for none.
pub fn value_arrays(buffers: PingPong, values: Option<[Value<'_>; 2]>) -> [(&'static str, Value<'_>); 2] {
    let names = [(Buffer::Primary, "values"), (Buffer::Alternate, "values_alt")];
    names.map(|(buffer, name)| match &values {
        Some([before, _]) if buffer == buffers.values.0 => (name, before.clone()),
        Some([_, after]) if buffer == buffers.values.1 => (name, after.clone()),
        _ => (name, Value::Null),
    })
}

/// Checks sorts in place and out of place, as argsorts and with values, by various ranges of bits.
pub fn single_workgroup(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let (key_words, value_words) = widths(kernel);
    let policy = SortPolicy::tuned(
        SortAlgorithm::SingleWorkgroup,
        gpu.capabilities(),
        &SortConfig::keys(ElementType::U32),
    );
    let default = policy.single_workgroup.expect("the algorithm has one");
    let default = (default.workgroup_size, default.items_per_invocation);
    let small = small_workgroup(gpu);
    let specializations = [
        ((small, 4), Alignment::Quads),
        ((small, 8), Alignment::Words),
        (default, Alignment::Quads),
        (default, Alignment::Words),
    ];
    let key_bits = 32 * key_words as u32;
    for (index, ((workgroup_size, items), alignment)) in
        selection.first(2, specializations).into_iter().enumerate()
    {
        let order = nth_order(index + key_words + value_words);
        let mut constants = order_constants(kernel, order);
        constants.extend([
            ("RADIX_BITS", policy.algorithm.radix_bits()),
            ("ITEMS_PER_INVOCATION", items),
            // In parts with every second specialization.
            ("EXCHANGE_PARTS", [1, 4][index % 2]),
        ]);
        if packed_bits(kernel) == 32 {
            constants.extend(alignment.constants());
        }
        let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
        let tile = (workgroup_size * items) as usize;
        for count in [1, 2, 100, tile / 2 + 3, tile - 1, tile] {
            let first = first_bit(kernel);
            let some = first + 3..key_bits.min(first + 9);
            for bits in [first..key_bits, some, key_bits - 1..key_bits, first + 7..first + 7] {
                let keys = as_keys(kernel, random(count, count * key_words));
                let indices = model::stable_order(&order.all(&keys, key_words), bits.clone());
                let values = random(5, count * value_words);
                let is_argsort = value_words == 1 && count % 2 == 1;
                let has_values = value_words > 0 && !is_argsort;
                let keeps_keys = is_argsort || bits.end == key_bits;
                // A GPU-resident count: more than the maximum, or a smaller count than the maximum.
                let is_on_device = [2, tile - 1, tile].contains(&count);
                let on_device = if count == tile { u32::MAX } else { count as u32 };
                let sorted = scattered(&keys, key_words, &indices);
                let (keys, sorted) = match keeps_keys {
                    true => (Value::input(keys), Value::output(sorted).of_keys().at(alignment)),
                    false => (Value::changed(keys, sorted), Value::SameAs("keys")),
                };
                let own: Vec<u32> = (0..count as u32).collect();
                let before = if is_argsort { &own } else { &values };
                let sorted_values = Value::changed(&values, scattered(before, value_words.max(1), &indices));
                let pushed = [
                    ("keys", keys.of_keys().at(alignment)),
                    ("sorted", sorted.only_if(!is_argsort)),
                    ("sorted_values", sorted_values.only_if(value_words > 0)),
                    ("values", Value::SameAs("sorted_values").only_if(has_values)),
                    ("indirect_count", Value::input(vec![on_device]).only_if(is_on_device)),
                    ("element_count", Value::Number(if is_on_device { tile } else { count })),
                    ("begin_bit", Value::Number(bits.start as usize)),
                    ("end_bit", Value::Number(bits.end as usize)),
                ];
                let case = format!("{}, {count} keys, bits {bits:?}, {alignment:?}, {order:?}", kernel.name);
                rig.check(&case, pushed, 1)?;
            }
        }
    }
    Ok(())
}
