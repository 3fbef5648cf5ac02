//! Moves rows to where a sort has their indices: a gather and, in place, a copy back.

use crate::device::{AddressRange, Barrier, BufferRange, Device, Pipeline, Recorder};
use crate::error::Result;
use crate::gather::{GatherBuffers, GatherConfig, GatherPlan};
use crate::primitives::{Count, ScratchCursor};

#[derive(Debug)]
pub(super) struct RowMover {
    gather: GatherPlan,
    /// In place.
    copy: Option<GatherPlan>,
}

/// An array in scratch: its offset and its size.
type Array = (u64, u64);

/// The rows on their way, and the scratch of both gathers.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowMoverLayout {
    rows: Array,
    gather: Array,
    copy: Array,
}

impl RowMover {
    pub(super) fn new(
        device: &Device,
        words_per_row: u32,
        is_in_place: bool,
        has_indirect_count: bool,
    ) -> Result<Self> {
        let declared = |config: GatherConfig| {
            GatherPlan::declare(device, if has_indirect_count { config.indirect_count() } else { config })
        };
        let gather = declared(GatherConfig::elements(words_per_row))?;
        let copy = is_in_place.then(|| declared(GatherConfig::copy(words_per_row))).transpose()?;
        Ok(Self { gather, copy })
    }

    pub(super) fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.gather.pipelines().chain(self.copy.iter().flat_map(GatherPlan::pipelines))
    }

    pub(super) fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> RowMoverLayout {
        let mut take = |name, size| (cursor.take(name, size), size);
        let in_place = |size: &dyn Fn(&GatherPlan) -> u64| self.copy.as_ref().map_or(0, size);
        RowMoverLayout {
            rows: take("moved rows", in_place(&|copy| count.saturating_mul(copy.config().element_size()))),
            gather: take("scratch of the gather", self.gather.scratch_requirements(count).size),
            copy: take("scratch of the copy", in_place(&|copy| copy.scratch_requirements(count).size)),
        }
    }

    /// Records the move of `rows` to `sorted`, which in place are the same, by `indices` that were just written.
    pub(super) fn record(
        &self,
        recorder: &mut Recorder<'_>,
        (scratch, layout): (BufferRange, &RowMoverLayout),
        [rows, indices, sorted]: [AddressRange; 3],
        count: Count,
    ) -> Result<()> {
        let array = |(offset, size): Array| scratch.slice(offset, size);
        let of = |source, indices, destination, of_scratch| {
            GatherBuffers::new(source, indices, destination).scratch(array(of_scratch))
        };
        recorder.barrier_before(Barrier::COMPUTE_TO_COMPUTE, indices);
        let Some(copy) = &self.copy else {
            return self.gather.record(recorder, &of(rows, indices, sorted, layout.gather), count);
        };
        let moved = array(layout.rows).addresses();
        self.gather.record(recorder, &of(rows, indices, moved, layout.gather), count)?;
        recorder.barrier_before(Barrier::COMPUTE_TO_COMPUTE, moved);
        copy.record(recorder, &of(moved, AddressRange::NONE, sorted, layout.copy), count)
    }

    /// Bytes that a recording of `count` rows reads and writes.
    pub(super) fn traffic_size(&self, count: u64) -> u64 {
        let copied = self.copy.as_ref().map_or(0, |copy| copy.traffic_size(count));
        self.gather.traffic_size(count).saturating_add(copied)
    }
}
