//! Memory layout of a workload's ranges.

use subsweep::device::BufferRange;
use subsweep::error::Result;
use subsweep::headless::{Gpu, GpuBuffer};

/// How ranges are separated. Decides which out-of-range accesses are detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BufferLayout {
    /// All in one buffer between guard words, which detect stores outside of a range on every driver. Split into more
    /// buffers where a device's maximum allocation is too small.
    #[default]
    Guarded,
    /// Each in a buffer and an allocation of its own, so that GPU-assisted validation detects loads as well.
    Separate,
}

/// The word outside of all ranges.
pub(super) const GUARD: u32 = 0x6a8d_c0de;
/// Initial contents of the memory that a recording writes.
pub(super) const POISON: u32 = 0xdead_beef;
/// Words on each side of a range.
const GUARD_WORDS: u64 = 16;

/// A range in words of one buffer.
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

    /// The first `count` words, and the rest.
    pub fn split_at(self, count: u64) -> (Self, Self) {
        let others = Self { first: self.first + count, count: self.count - count, ..self };
        (Self { count, ..self }, others)
    }

    pub fn words(self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// Lays out ranges, then allocates the buffers.
pub(super) struct Arrangement {
    layout: BufferLayout,
    /// Maximum size of a buffer, in words.
    max_size: u64,
    /// Size of each buffer, in words.
    sizes: Vec<u64>,
}

impl Arrangement {
    /// For a device with this maximum allocation size, in bytes.
    pub fn new(layout: BufferLayout, max_allocation_size: u64) -> Self {
        Self { layout, max_size: max_allocation_size / 4, sizes: Vec::new() }
    }

    /// Reserves `count` words, the first of which has the byte that is `misalignment` bytes past a multiple of 16.
    pub fn reserve(&mut self, count: u64, misalignment: u32) -> Span {
        let missed = u64::from(misalignment) / 4;
        let first_behind = |size: u64| match self.layout {
            BufferLayout::Guarded => (size + GUARD_WORDS).next_multiple_of(4) + missed,
            BufferLayout::Separate => missed,
        };
        let fits = |size: &u64| {
            self.layout == BufferLayout::Guarded && first_behind(*size) + count + GUARD_WORDS <= self.max_size
        };
        if !self.sizes.last().is_some_and(fits) {
            self.sizes.push(0);
        }
        let memory = self.sizes.len() - 1;
        let first = first_behind(self.sizes[memory]);
        self.sizes[memory] = first + count;
        Span { memory, first, count }
    }

    /// Allocates the buffers. Their contents are undefined.
    pub fn allocate(self, gpu: &Gpu) -> Result<Vec<GpuBuffer>> {
        let allocate = |&size: &u64| match self.layout {
            BufferLayout::Guarded => gpu.allocate((size + GUARD_WORDS) * 4),
            BufferLayout::Separate => gpu.allocate_apart(size * 4),
        };
        self.sizes.iter().map(allocate).collect()
    }
}

/// The guard words of a buffer of `size` words with these ranges: all outside of them.
pub(super) fn gaps(size: usize, spans: impl Iterator<Item = Span>) -> Vec<std::ops::Range<usize>> {
    let mut spans: Vec<_> = spans.map(Span::words).collect();
    spans.sort_by_key(|span| span.start);
    let mut guard_start = 0;
    let mut gaps = Vec::new();
    for span in spans.into_iter().chain(std::iter::once(size..size)) {
        gaps.push(guard_start..span.start.max(guard_start));
        guard_start = guard_start.max(span.end);
    }
    gaps
}

/// Index of the first overwritten guard word of a buffer.
pub(super) fn broken_guard(image: &[u32], spans: impl Iterator<Item = Span>) -> Option<usize> {
    gaps(image.len(), spans).into_iter().flatten().find(|&index| image[index] != GUARD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(layout: BufferLayout, max_words: u64) -> Vec<(usize, u64)> {
        let mut arrangement = Arrangement::new(layout, max_words * 4);
        let spans = [(100, 0), (100, 4), (300, 0), (10, 0)].map(|(count, misalignment)| {
            let span = arrangement.reserve(count, misalignment);
            assert_eq!(span.count, count);
            span
        });
        spans.map(|span| (span.memory, span.first)).into()
    }

    #[test]
    fn ranges_share_a_memory_as_far_as_it_may_grow() {
        assert_eq!(positions(BufferLayout::Guarded, u64::MAX / 4), [(0, 16), (0, 133), (0, 252), (0, 568)]);
        // The third does not fit after the others. A range larger than the maximum is left for the device to refuse.
        assert_eq!(positions(BufferLayout::Guarded, 584), [(0, 16), (0, 133), (0, 252), (1, 16)]);
        assert_eq!(positions(BufferLayout::Guarded, 400), [(0, 16), (0, 133), (1, 16), (1, 332)]);
        assert_eq!(positions(BufferLayout::Guarded, 200), [(0, 16), (1, 17), (2, 16), (3, 16)]);
        assert_eq!(positions(BufferLayout::Separate, 400), [(0, 0), (1, 1), (2, 0), (3, 0)]);
    }
}
