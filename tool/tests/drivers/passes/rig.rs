//! The rig of a pass check: a kernel and its arrays. Outputs are poisoned, and every array lies between guard words or
//! in its own buffer.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use libtest_mimic::Failed;
use subsweep::device::{AddressRange, Pipeline, PipelineOptions, PushBlock, PushConstants, Recorder};
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep::kernels::{self, Family, Kernel};
use subsweep::{ElementType, NumberKind};
use subsweep_tool::harness::BufferLayout;
use subsweep_tool::reference::packed::{packed_memory, unpacked_memory};

use super::packed;

/// Fills unwritten memory.
pub const POISON: u32 = 0xdead_beef;
/// Guard word on both sides of every array. A load of it gives a wrong result; a store to it is reported.
pub const GUARD: u32 = 0x600d_600d;
const GUARD_WORDS: usize = 64;

/// The layout of arrays in this process.
static LAYOUT: OnceLock<BufferLayout> = OnceLock::new();

/// Sets the layout of [`Memory::with_words`].
pub fn set_layout(layout: BufferLayout) {
    LAYOUT.get_or_init(|| layout);
}

/// The layout from [`set_layout`].
pub fn layout() -> BufferLayout {
    LAYOUT.get().copied().unwrap_or_default()
}

/// Whether GPU-assisted validation watches the kernels of this process. It loops over all buffers at an access and over shared
/// memory at a barrier, which counts for `Workarounds::LOOPS_END_AT_65535`: workgroups must wait and stride less.
pub fn is_watched() -> bool {
    layout() == BufferLayout::Separate
}

/// The alignment of an array, and the access that it allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Alignment {
    /// Aligned to 16 bytes.
    Quads,
    /// One word after an aligned address.
    Words,
}

impl Alignment {
    pub const ALL: [Self; 2] = [Self::Quads, Self::Words];

    /// The specialization constants of the access. Counts are arbitrary, so that quads are mixed with words.
    pub fn constants(self) -> [(&'static str, u32); 2] {
        [("QUAD_ACCESS", u32::from(self == Self::Quads)), ("MIXED_ACCESS", u32::from(self == Self::Quads))]
    }

    fn offset_words(self) -> usize {
        match self {
            Self::Quads => 0,
            Self::Words => 1,
        }
    }
}

/// How many specializations of a kernel are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// The first specialization.
    One,
    /// The first few, in small tiles: in each module every access, each direction, each kind of heads.
    Short,
    /// All specializations of the check.
    Full,
}

impl Selection {
    /// All of `specializations`, the first `count` of them, which must include every value of every option, or the
    /// first alone.
    pub fn first<T>(self, count: usize, specializations: impl IntoIterator<Item = T>) -> Vec<T> {
        let count = match self {
            Self::One => count.min(1),
            Self::Short => count,
            Self::Full => usize::MAX,
        };
        specializations.into_iter().take(count).collect()
    }
}

/// Words of a kernel's keys.
pub fn key_words(kernel: &Kernel) -> u32 {
    if kernel.defines.contains(&("KEY_WORDS", 2)) { 2 } else { 1 }
}

/// Bits of a key in memory: 8 or 16 where the kernel has such keys, else the bits of a word.
pub fn packed_bits(kernel: &Kernel) -> u32 {
    kernel.defines.iter().find(|(name, _)| *name == "KEY_BITS").map_or(32, |(_, bits)| *bits)
}

/// The type that a kernel's keys have in place of one of 32 bits; of floats every other one is a brain float.
pub fn type_of_keys(kernel: &Kernel, element: ElementType, index: usize) -> ElementType {
    match (packed_bits(kernel), element.kind()) {
        (8, NumberKind::Signed) => ElementType::I8,
        (8, _) => ElementType::U8,
        (16, NumberKind::Unsigned) => ElementType::U16,
        (16, NumberKind::Signed) => ElementType::I16,
        (16, NumberKind::Float) => [ElementType::F16, ElementType::Bf16][index % 2],
        _ => element,
    }
}

/// The type that numbers have in memory for a kernel that takes packed elements as they are; else their own.
pub fn type_in_memory(kernel: &Kernel, element: ElementType) -> ElementType {
    let is_packed = kernel.defines.iter().any(|(name, _)| name.starts_with("PACKED"));
    match element.kind() {
        _ if !is_packed => element,
        NumberKind::Unsigned => ElementType::U8,
        NumberKind::Signed => ElementType::I16,
        NumberKind::Float => ElementType::F16,
    }
}

/// The constants of such a type.
pub fn constants_in_memory(kernel: &Kernel, element: ElementType) -> Vec<(&'static str, u32)> {
    let stored = type_in_memory(kernel, element);
    if stored.is_packed() { packed::constants(stored, 0).to_vec() } else { Vec::new() }
}

/// Numbers in words, as they are in memory: of 8 and 16 bits several in a word, and those that the type lacks rounded or
/// wrapped.
pub fn stored(element: ElementType, words: &[u32]) -> Vec<u32> {
    if element.is_packed() { packed_memory(element, false, words, POISON) } else { words.to_vec() }
}

/// The numbers that are stored in place of others.
pub fn numbers_stored(element: ElementType, words: Vec<u32>) -> Vec<u32> {
    if element.is_packed() { unpacked_memory(element, &stored(element, &words), words.len()) } else { words }
}

/// The lowest bit of a model's keys: keys of 8 and 16 bits are the high bits of words, as a sign and an exponent are.
pub fn first_bit(kernel: &Kernel) -> u32 {
    32 - packed_bits(kernel)
}

/// The words as keys of a model.
pub fn as_keys(kernel: &Kernel, words: Vec<u32>) -> Vec<u32> {
    words.into_iter().map(|word| word << first_bit(kernel)).collect()
}

/// Elements in tiles, all full but the last: the push constants `tile_count` and `last_extent`.
#[derive(Debug, Clone, Copy)]
pub struct Tiles {
    pub tile_count: usize,
    pub last_extent: usize,
}

impl Tiles {
    /// `count` elements in tiles of `tile_items`. No elements are an empty tile.
    pub fn new(count: usize, tile_items: usize) -> Self {
        let tile_count = count.div_ceil(tile_items).max(1);
        Self { tile_count, last_extent: count - (tile_count - 1) * tile_items }
    }

    /// The words of a GPU-resident count of tiles.
    pub fn words(self) -> [u32; 2] {
        [self.tile_count as u32, self.last_extent as u32]
    }

    /// The push constants of these tiles. With a GPU-resident count, the host's numbers are wrong.
    pub fn push(self, is_on_device: bool) -> [(&'static str, Value<'static>); 3] {
        self.push_instead_of(is_on_device.then_some(Self { tile_count: 7, last_extent: 0 }))
    }

    /// As [`Self::push`], with a GPU-resident count where the host's numbers are given.
    pub fn push_instead_of(self, host: Option<Self>) -> [(&'static str, Value<'static>); 3] {
        let Self { tile_count, last_extent } = host.unwrap_or(self);
        [
            ("indirect_tiles", Value::input(self.words().to_vec()).only_if(host.is_some())),
            ("tile_count", Value::Number(tile_count)),
            ("last_extent", Value::Number(last_extent)),
        ]
    }
}

/// The size of a small workgroup of at least two subgroups.
pub fn small_workgroup(gpu: &Gpu) -> u32 {
    2 * gpu.capabilities().max_subgroup_size.max(16)
}

/// An array on the device.
pub struct Memory<'g> {
    gpu: &'g Gpu,
    buffer: GpuBuffer,
    first: usize,
    count: usize,
    /// Of a word, those that memory holds: its high bits.
    bits: u32,
}

impl<'g> Memory<'g> {
    /// Keys, packed as the kernel takes them.
    pub fn of_keys(
        gpu: &'g Gpu,
        kernel: &Kernel,
        keys: &[u32],
        alignment: Alignment,
    ) -> Result<Self, Failed> {
        let bits = packed_bits(kernel);
        let mut words = vec![GUARD; keys.len().div_ceil(32 / bits as usize)];
        for (index, key) in keys.iter().enumerate() {
            let (word, shift) = place(index, bits);
            words[word] = words[word] & !((u32::MAX >> (32 - bits)) << shift) | key >> (32 - bits) << shift;
        }
        Ok(Self { count: keys.len(), bits, ..Self::with_words(gpu, &words, alignment)? })
    }

    pub fn with_words(gpu: &'g Gpu, words: &[u32], alignment: Alignment) -> Result<Self, Failed> {
        Self::laid_out(gpu, words, alignment, layout())
    }

    pub fn laid_out(
        gpu: &'g Gpu,
        words: &[u32],
        alignment: Alignment,
        layout: BufferLayout,
    ) -> Result<Self, Failed> {
        let guard_words = match layout {
            BufferLayout::Guarded => GUARD_WORDS,
            BufferLayout::Separate => 0,
        };
        let first = guard_words + alignment.offset_words();
        // No buffer is empty.
        let mut guarded = vec![GUARD; (first + words.len() + guard_words).max(1)];
        guarded[first..first + words.len()].copy_from_slice(words);
        let size = size_of_val(&*guarded) as u64;
        let buffer = match layout {
            BufferLayout::Guarded => gpu.allocate(size)?,
            BufferLayout::Separate => gpu.allocate_apart(size)?,
        };
        assert!(buffer.range().addresses().is_aligned(16), "a buffer starts at a multiple of 16 bytes");
        gpu.upload(&buffer, 0, &guarded)?;
        Ok(Self { gpu, buffer, first, count: words.len(), bits: 32 })
    }

    pub fn poisoned(gpu: &'g Gpu, count: usize, alignment: Alignment) -> Result<Self, Failed> {
        Self::with_words(gpu, &vec![POISON; count], alignment)
    }

    pub fn range(&self) -> AddressRange {
        let address = self.buffer.range().address + self.first as u64 * 4;
        AddressRange::new(address, self.count as u64 * u64::from(self.bits / 8))
    }

    /// The contents of the array, or an error for an overwritten guard word.
    pub fn read(&self) -> Result<Vec<u32>, String> {
        let word_count = (self.buffer.range().size / 4) as usize;
        let guarded = self.gpu.read(&self.buffer, word_count).map_err(|error| error.to_string())?;
        let array = self.first..self.first + self.count.div_ceil(32 / self.bits as usize);
        let written = |i: &usize| !array.contains(i) && guarded[*i] != GUARD;
        if let Some(i) = (0..guarded.len()).find(written) {
            let index = i as i64 - self.first as i64;
            return Err(format!("[{index}] of {} was written: {:#010x}", self.count, guarded[i]));
        }
        let words = &guarded[array];
        let unpacked = |index: usize| {
            let (word, shift) = place(index, self.bits);
            words[word] >> shift << (32 - self.bits)
        };
        let mut rest = self.count..words.len() * (32 / self.bits as usize);
        let is_kept =
            |index: &usize| unpacked(*index) == GUARD >> place(*index, self.bits).1 << (32 - self.bits);
        match rest.find(|index| !is_kept(index)) {
            Some(index) => Err(format!("[{index}] of {} was written", self.count)),
            None => Ok((0..self.count).map(unpacked).collect()),
        }
    }
}

/// The word of a packed element, and its lowest bit there.
fn place(index: usize, bits: u32) -> (usize, u32) {
    let in_word = 32 / bits as usize;
    (index / in_word, (index % in_word) as u32 * bits)
}

/// Fails unless `memory`, the kernel's array `name`, holds `expected` between intact guard words.
pub fn compare(case: &str, name: &str, memory: &Memory<'_>, expected: &[u32]) -> Result<(), Failed> {
    let got = memory.read().map_err(|why| format!("{case}: {name}{why}"))?;
    let differs = |i: &usize| (got[*i] ^ expected[*i]) >> (32 - memory.bits) != 0;
    if let Some(i) = (0..expected.len()).find(differs) {
        let others = (i + 1..expected.len()).filter(differs).count();
        let (got, expected) = (got[i], expected[i]);
        return Err(format!(
            "{case}: {name}[{i}] is {got:#010x}, not {expected:#010x}; {others} more differ"
        )
        .into());
    }
    Ok(())
}

/// Compares the fallbacks that a kernel has counted with its stalled tiles: every Nth but the last, none for 0.
pub fn check_fallbacks(
    case: &str,
    counts: &Memory<'_>,
    stall_every: usize,
    tiles: Tiles,
) -> Result<(), Failed> {
    let is_stalled = |tile: &usize| stall_every > 0 && tile.is_multiple_of(stall_every);
    let stalled = (0..tiles.tile_count - 1).filter(is_stalled).count();
    let fallbacks = counts.read().map_err(|why| format!("{case}: counts{why}"))?[2];
    if (fallbacks as usize) < stalled {
        return Err(format!("{case}: {fallbacks} fallbacks of {stalled} stalled tiles").into());
    }
    Ok(())
}

/// One push constant.
#[derive(Clone)]
pub enum Value<'a> {
    /// A pointer to an array that [`Rig::check`] makes, and compares after the kernel.
    Array(Array<'a>),
    Pointer(&'a Memory<'a>),
    /// The pointer of an earlier value of this name.
    SameAs(&'static str),
    /// A pointer to memory outside the rig's arrays.
    Range(AddressRange),
    /// A pointer that the variant does not use.
    Null,
    Number(usize),
    /// Two words.
    Pair([u32; 2]),
}

/// The words of an array before and after a kernel.
#[derive(Clone)]
pub struct Array<'a> {
    /// `None` if the kernel must not change it.
    before: Option<Cow<'a, [u32]>>,
    after: Cow<'a, [u32]>,
    alignment: Alignment,
    /// Whether the words are keys, packed as the kernel takes them.
    are_keys: bool,
    /// Where the kernel's array begins, in bytes from the memory's begin, and its size, unless that is the memory's.
    offset: i64,
    size: Option<u64>,
}

impl<'a> Value<'a> {
    /// An array that the kernel must not change.
    pub fn input(words: impl Into<Cow<'a, [u32]>>) -> Self {
        Self::array(None, words.into())
    }

    /// A poisoned array, in which the kernel must store these words.
    pub fn output(expected: impl Into<Cow<'a, [u32]>>) -> Self {
        let expected = expected.into();
        Self::array(Some(vec![POISON; expected.len()].into()), expected)
    }

    /// An array that the kernel must change to `after`.
    pub fn changed(before: impl Into<Cow<'a, [u32]>>, after: impl Into<Cow<'a, [u32]>>) -> Self {
        Self::array(Some(before.into()), after.into())
    }

    /// An array of zeros, which the kernel may change.
    pub fn state(word_count: usize) -> Self {
        Self::array(Some(vec![0; word_count].into()), Cow::default())
    }

    fn array(before: Option<Cow<'a, [u32]>>, after: Cow<'a, [u32]>) -> Self {
        let alignment = Alignment::Words;
        Self::Array(Array { before, after, alignment, are_keys: false, offset: 0, size: None })
    }

    /// The array at this alignment. By default it is aligned to words.
    pub fn at(self, alignment: Alignment) -> Self {
        self.with(|array| array.alignment = alignment)
    }

    /// The array, of keys.
    pub fn of_keys(self) -> Self {
        self.with(|array| array.are_keys = true)
    }

    /// The array as the end of one that begins `size` bytes earlier, where there is no memory.
    pub fn after(self, size: u64) -> Self {
        self.with(|array| array.offset = -(size as i64))
    }

    /// The bytes `range` of the array. The others must not change.
    pub fn part(self, range: Range<usize>) -> Self {
        self.with(|array| (array.offset, array.size) = (range.start as i64, Some(range.len() as u64)))
    }

    fn with(mut self, change: impl FnOnce(&mut Array<'a>)) -> Self {
        if let Self::Array(array) = &mut self {
            change(array);
        }
        self
    }

    /// The value, or null where the specialization does not use it.
    pub fn only_if(self, is_used: bool) -> Self {
        if is_used { self } else { Self::Null }
    }
}

/// Push constants by name, laid out by the kernel's reflection.
pub struct Push(PushBlock);

// SAFETY: the block is laid out by the kernel's own table.
unsafe impl PushConstants for Push {
    const FAMILIES: &'static [&'static Family] = &FAMILIES;

    fn block(&self) -> PushBlock {
        self.0
    }
}

#[cfg(feature = "compile-shaders")]
const FIXTURES: &Family = &crate::fixtures::FAMILY;
#[cfg(not(feature = "compile-shaders"))]
const FIXTURES: &Family = &Family::new(&[]);

/// The families of the library, and the fixtures.
const FAMILIES: [&Family; kernels::FAMILIES.len() + 1] = {
    let mut families = [FIXTURES; kernels::FAMILIES.len() + 1];
    let mut index = 0;
    while index < kernels::FAMILIES.len() {
        families[index] = kernels::FAMILIES[index];
        index += 1;
    }
    families
};

/// A kernel, specialized.
pub struct Rig<'g> {
    gpu: &'g Gpu,
    pub pipeline: Pipeline,
}

impl<'g> Rig<'g> {
    pub fn new(
        gpu: &'g Gpu,
        kernel: &'static Kernel,
        workgroup_size: u32,
        constants: &[(&'static str, u32)],
    ) -> Result<Self, Failed> {
        let options = PipelineOptions { workgroup_size, constants, subgroup_size: None };
        Ok(Self { gpu, pipeline: Pipeline::new(gpu.device(), kernel, options)? })
    }

    /// Runs the kernel as [`Self::run`] does, and compares its arrays with what they must hold afterwards. Values that only other
    /// kernels take are left out.
    pub fn check<'a>(
        &self,
        case: &str,
        values: impl IntoIterator<Item = (&'a str, Value<'a>)>,
        tile_count: usize,
    ) -> Result<(), Failed> {
        let members = self.pipeline.kernel().push_constants;
        let is_taken = |(name, _): &(&str, _)| members.iter().any(|member| member.name == *name);
        let values: Vec<_> = values.into_iter().filter(is_taken).collect();
        let (mut push, mut memories) = (Vec::new(), Vec::new());
        for (name, value) in &values {
            let value = match value {
                Value::Array(array) => {
                    let memory = self.memory(array)?;
                    let AddressRange { address, size, .. } = memory.range();
                    memories.push((name, memory, &array.after));
                    let address = address.wrapping_add_signed(array.offset);
                    Value::Range(AddressRange::new(address, array.size.unwrap_or(size)))
                }
                Value::SameAs(other) => {
                    let earlier = push.iter().find(|(name, _)| name == other);
                    earlier.map(|(_, value): &(_, Value<'_>)| value.clone()).ok_or("no earlier value")?
                }
                other => other.clone(),
            };
            push.push((*name, value));
        }
        self.run(&push, tile_count)?;
        memories.iter().try_for_each(|(name, memory, after)| compare(case, name, memory, after))
    }

    fn memory(&self, array: &Array<'_>) -> Result<Memory<'g>, Failed> {
        let words = array.before.as_ref().unwrap_or(&array.after);
        match array.are_keys {
            true => Memory::of_keys(self.gpu, self.pipeline.kernel(), words, array.alignment),
            false => Memory::with_words(self.gpu, words, array.alignment),
        }
    }

    /// Runs the kernel on `tile_count` tiles and one surplus workgroup, as a two-dimensional dispatch may have.
    pub fn run(&self, push: &[(&str, Value<'_>)], tile_count: usize) -> Result<(), Failed> {
        let push = self.push(push)?;
        // SAFETY: every array is alive until `submit` has waited.
        unsafe { self.gpu.submit(|recorder| self.dispatch(recorder, &push, tile_count)) }?;
        Ok(())
    }

    pub fn push(&self, push: &[(&str, Value<'_>)]) -> Result<Push, Failed> {
        let mut block = PushBlock::default();
        for member in self.pipeline.kernel().push_constants {
            match push.iter().find(|(name, _)| *name == member.name) {
                Some((_, Value::Pointer(memory))) => block.push(memory.range()),
                Some((_, Value::Range(range))) => block.push(*range),
                Some((_, Value::Null)) => block.push(AddressRange::default()),
                Some((_, Value::Array(_) | Value::SameAs(_))) => unreachable!("`check` makes arrays"),
                Some((name, Value::Number(number))) => {
                    let is_bit = ["shift", "begin_bit", "end_bit"].contains(name);
                    let before = if is_bit { first_bit(self.pipeline.kernel()) } else { 0 };
                    block.push(u32::try_from(*number)? - before);
                }
                Some((_, Value::Pair(words))) => block.push(*words),
                None => return Err(format!("no value for push constant {}", member.name).into()),
            }
        }
        Ok(Push(block))
    }

    /// Records the dispatch of [`Self::run`].
    pub fn dispatch(
        &self,
        recorder: &mut Recorder<'_>,
        push: &Push,
        tile_count: usize,
    ) -> subsweep::Result<()> {
        recorder.dispatch(&self.pipeline, push, tile_count as u64 + 1)
    }
}

/// Specialization constants of look-backs, in turn: read-modify-writes tile by tile with the fallback after `spin_limit`
/// reads; then every window, loads and stores together and alone, and an early and a late fallback.
pub fn nth_look_back(index: usize, spin_limit: u32) -> [(&'static str, u32); 4] {
    let (loads, stores, window, spins) = [
        (0, 0, 1, spin_limit),
        (1, 1, 4, 3),
        (1, 0, 8, spin_limit),
        (0, 1, 2, 1),
        (1, 1, 1, spin_limit),
        (0, 0, 4, 100),
    ][index % 6];
    [("STATUS_LOADS", loads), ("STATUS_STORES", stores), ("LOOK_BACK_WINDOW", window), ("SPIN_LIMIT", spins)]
}

/// Counts around one tile, a part of a tile, and several tiles with a partial one.
pub fn sizes(tile: usize) -> [usize; 6] {
    [1, tile / 2 + 3, tile - 1, tile, tile + 1, 3 * tile + tile / 3 + 1]
}

/// `count` words that depend on `seed` alone.
pub fn random(seed: usize, count: usize) -> Vec<u32> {
    let mut state = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    };
    (0..count).map(next).collect()
}
