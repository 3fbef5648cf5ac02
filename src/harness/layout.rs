//! Where the ranges of a workload lie.

use crate::error::Result;
use crate::headless::{Gpu, GpuBuffer};
use crate::vk::BufferRange;

/// How ranges are kept apart, which decides who sees a kernel leave its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// All in one buffer, between guard words, which show a store beside a range on every driver.
    #[default]
    Guarded,
    /// Each in a buffer that ends where it ends, in memory that is nobody else's: then GPU-assisted validation tells
    /// of loads, too.
    Separate,
}

/// Stands wherever no range is.
pub(super) const GUARD: u32 = 0x6a8d_c0de;
/// Words on each side of a range.
const GUARD_WORDS: u64 = 16;

/// A range, in words of one of the memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub memory: usize,
    pub first: u64,
    pub count: u64,
}

impl Span {
    pub fn range(self, memories: &[GpuBuffer]) -> BufferRange {
        memories[self.memory].range().slice(self.first * 4, self.count * 4)
    }

    /// The first `count` words, and the others.
    pub fn split_at(self, count: u64) -> (Self, Self) {
        let others = Self { first: self.first + count, count: self.count - count, ..self };
        (Self { count, ..self }, others)
    }

    pub fn words(self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// Places ranges, then makes the memory for them.
pub(super) struct Arrangement {
    layout: Layout,
    /// Of each memory, in words.
    sizes: Vec<u64>,
}

impl Arrangement {
    pub fn new(layout: Layout) -> Self {
        Self { layout, sizes: Vec::new() }
    }

    /// Places `count` words at `misalignment` bytes past a multiple of 16.
    pub fn place(&mut self, count: u64, misalignment: u32) -> Span {
        let missed = u64::from(misalignment) / 4;
        if self.layout == Layout::Separate || self.sizes.is_empty() {
            self.sizes.push(0);
        }
        let memory = self.sizes.len() - 1;
        let first = match self.layout {
            Layout::Guarded => (self.sizes[memory] + GUARD_WORDS).next_multiple_of(4) + missed,
            Layout::Separate => missed,
        };
        self.sizes[memory] = first + count;
        Span { memory, first, count }
    }

    /// The memory, its content undefined.
    pub fn allocate(self, gpu: &Gpu) -> Result<Vec<GpuBuffer>> {
        let allocate = |&size: &u64| match self.layout {
            Layout::Guarded => gpu.allocate((size + GUARD_WORDS) * 4),
            Layout::Separate => gpu.allocate_apart(size * 4),
        };
        self.sizes.iter().map(allocate).collect()
    }
}

/// The first word of a memory that is in no span, and should be a guard, but is not.
pub(super) fn broken_guard(image: &[u32], spans: impl Iterator<Item = Span>) -> Option<usize> {
    let mut spans: Vec<_> = spans.map(Span::words).collect();
    spans.sort_by_key(|span| span.start);
    let mut guard_start = 0;
    for span in spans.into_iter().chain(std::iter::once(image.len()..image.len())) {
        let guard = guard_start..span.start.max(guard_start);
        if let Some(index) = image[guard].iter().position(|&word| word != GUARD) {
            return Some(guard_start + index);
        }
        guard_start = guard_start.max(span.end);
    }
    None
}
