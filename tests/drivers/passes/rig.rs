//! A kernel and its memory: poisoned where it is to be written, and between guard words or in a buffer of its own.

use std::sync::OnceLock;

use libtest_mimic::Failed;
use subsweep::device::{AddressRange, Pipeline, PipelineOptions, PushBlock, PushConstants, Recorder};
use subsweep::harness::Layout;
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep::kernels::{self, Kernel};

/// Stands where nothing has been written yet.
pub const POISON: u32 = 0xdead_beef;
/// Stands on both sides of every array. A kernel that reads it goes wrong, one that writes it is caught.
const GUARD: u32 = 0x600d_600d;
const GUARD_WORDS: usize = 64;

/// The process's: every trial of a row lays its arrays out in one way.
static LAYOUT: OnceLock<Layout> = OnceLock::new();

/// Says how [`Memory::of`] lays arrays out.
pub fn lay_out(layout: Layout) {
    LAYOUT.get_or_init(|| layout);
}

/// What [`lay_out`] said.
pub fn layout() -> Layout {
    LAYOUT.get().copied().unwrap_or_default()
}

/// How an array lies in memory, and by which variant it may be accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// At a multiple of 16 bytes.
    Quads,
    /// One word behind such a multiple.
    Words,
}

impl Access {
    pub const ALL: [Self; 2] = [Self::Quads, Self::Words];

    /// The constants of the variant. Counts are any number, so that quads are mixed with words.
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

/// How many of its specializations a kernel is tried in: a pipeline takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// The first.
    One,
    /// The first few, in small tiles: in each module every way to access memory, each end, each source of heads.
    Short,
    /// All that the checks know.
    Full,
}

impl Selection {
    /// All of `ways`, or the first `count` of them, among which each choice must occur, or the first alone.
    pub fn first<T>(self, count: usize, ways: impl IntoIterator<Item = T>) -> Vec<T> {
        let count = match self {
            Self::One => count.min(1),
            Self::Short => count,
            Self::Full => usize::MAX,
        };
        ways.into_iter().take(count).collect()
    }
}

/// Elements in tiles, all full but the last: the push constants `tile_count` and `last_extent`.
#[derive(Debug, Clone, Copy)]
pub struct Tiles {
    pub tile_count: usize,
    pub last_extent: usize,
}

impl Tiles {
    /// `count` elements, at least one, in tiles of `tile_items`.
    pub fn new(count: usize, tile_items: usize) -> Self {
        let tile_count = count.div_ceil(tile_items);
        Self { tile_count, last_extent: count - (tile_count - 1) * tile_items }
    }

    /// The words that say so on the device.
    pub fn words(self) -> [u32; 2] {
        [self.tile_count as u32, self.last_extent as u32]
    }
}

/// A workgroup of several subgroups, and no larger than it must be.
pub fn small_workgroup(gpu: &Gpu) -> u32 {
    2 * gpu.capabilities().max_subgroup_size.max(16)
}

/// An array on the device.
pub struct Memory<'g> {
    gpu: &'g Gpu,
    buffer: GpuBuffer,
    first: usize,
    count: usize,
}

impl<'g> Memory<'g> {
    pub fn of(gpu: &'g Gpu, words: &[u32], access: Access) -> Result<Self, Failed> {
        Self::laid_out(gpu, words, access, layout())
    }

    pub fn laid_out(gpu: &'g Gpu, words: &[u32], access: Access, layout: Layout) -> Result<Self, Failed> {
        let guard_words = match layout {
            Layout::Guarded => GUARD_WORDS,
            Layout::Separate => 0,
        };
        let first = guard_words + access.offset_words();
        let mut guarded = vec![GUARD; first + words.len() + guard_words];
        guarded[first..first + words.len()].copy_from_slice(words);
        let size = size_of_val(&*guarded) as u64;
        let buffer = match layout {
            Layout::Guarded => gpu.allocate(size)?,
            Layout::Separate => gpu.allocate_apart(size)?,
        };
        assert!(buffer.range().addresses().is_aligned(16), "a buffer starts at a multiple of 16 bytes");
        gpu.upload(&buffer, 0, &guarded)?;
        Ok(Self { gpu, buffer, first, count: words.len() })
    }

    pub fn poisoned(gpu: &'g Gpu, count: usize, access: Access) -> Result<Self, Failed> {
        Self::of(gpu, &vec![POISON; count], access)
    }

    pub fn range(&self) -> AddressRange {
        let address = self.buffer.range().address + self.first as u64 * 4;
        AddressRange::new(address, self.count as u64 * 4)
    }

    /// What is in the array now, or which guard word is gone.
    pub fn read(&self) -> Result<Vec<u32>, String> {
        let word_count = (self.buffer.range().size / 4) as usize;
        let guarded = self.gpu.read(&self.buffer, word_count).map_err(|error| error.to_string())?;
        let array = self.first..self.first + self.count;
        let written = |i: &usize| !array.contains(i) && guarded[*i] != GUARD;
        if let Some(i) = (0..guarded.len()).find(written) {
            let index = i as i64 - self.first as i64;
            return Err(format!("[{index}] of {} was written: {:#010x}", self.count, guarded[i]));
        }
        Ok(guarded[array].to_vec())
    }
}

/// Fails unless `memory`, which the kernel calls `name`, holds `expected` between untouched guard words.
pub fn compare(case: &str, name: &str, memory: &Memory<'_>, expected: &[u32]) -> Result<(), Failed> {
    let got = memory.read().map_err(|why| format!("{case}: {name}{why}"))?;
    let differs = |i: &usize| got[*i] != expected[*i];
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

/// One push constant.
pub enum Value<'a> {
    Pointer(&'a Memory<'a>),
    /// For a pointer into what the rig did not make.
    Range(AddressRange),
    /// For a pointer that the variant does not use.
    Null,
    Number(usize),
}

impl<'a> Value<'a> {
    /// A pointer where there is something to point to.
    pub fn pointer_if(is_there: bool, memory: &'a Memory<'a>) -> Self {
        if is_there { Self::Pointer(memory) } else { Self::Null }
    }
}

/// Push constants by name, laid out as reflection found them in the kernel.
pub struct Push(PushBlock);

// SAFETY: the block is laid out by the kernel's own table.
unsafe impl PushConstants for Push {
    const KERNELS: &'static [&'static Kernel] = kernels::ALL;

    fn block(&self) -> PushBlock {
        self.0
    }
}

/// A kernel, specialized.
pub struct Rig<'g> {
    gpu: &'g Gpu,
    pipeline: Pipeline,
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

    /// Runs the kernel on so many tiles, and on one more, as a dispatch in two dimensions may: it is left alone.
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
                Some((_, Value::Number(number))) => block.push(u32::try_from(*number)?),
                None => return Err(format!("no value for push constant {}", member.name).into()),
            }
        }
        Ok(Push(block))
    }

    /// One of the dispatches that [`Self::run`] makes.
    pub fn dispatch(
        &self,
        recorder: &mut Recorder<'_>,
        push: &Push,
        tile_count: usize,
    ) -> subsweep::Result<()> {
        recorder.dispatch(&self.pipeline, push, tile_count as u64 + 1)
    }
}

/// Part of a tile, one more or less, several and a rest.
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
