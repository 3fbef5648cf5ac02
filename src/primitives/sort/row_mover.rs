//! Moves rows to where a sort has their indices: a gather and, in place, a copy before it.
//!
//! ```text
//!   out of place:  rows ── gather ──► sorted
//!   in place:      rows ── copy ──► scratch ── gather ──► rows
//! ```

use crate::device::{AddressRange, Barrier, BufferRange, Device, Pipeline, Recorder};
use crate::error::Result;
use crate::gather::{GatherBuffers, GatherConfig, GatherPlan};
use crate::primitives::{Count, ScratchCursor, ScratchRange};

#[derive(Debug)]
pub(super) struct RowMover {
    gather: GatherPlan,
    /// In place.
    copy: Option<GatherPlan>,
}

/// The rows that a copy keeps, and the scratch of both plans.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowMoverLayout {
    rows: ScratchRange,
    gather: ScratchRange,
    copy: ScratchRange,
}

impl RowMover {
    /// For rows of as many words as `gather` has, which says what becomes of rows whose index is beyond all.
    pub(super) fn new(
        device: &Device,
        gather: GatherConfig,
        is_in_place: bool,
        has_indirect_count: bool,
    ) -> Result<Self> {
        let declared = |config: GatherConfig| {
            GatherPlan::declare(device, if has_indirect_count { config.indirect_count() } else { config })
        };
        let copy = GatherConfig::copy(gather.words_per_element());
        Ok(Self { gather: declared(gather)?, copy: is_in_place.then(|| declared(copy)).transpose()? })
    }

    pub(super) fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.gather.pipelines().chain(self.copy.iter().flat_map(GatherPlan::pipelines))
    }

    pub(super) fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> RowMoverLayout {
        let in_place = |size: &dyn Fn(&GatherPlan) -> u64| self.copy.as_ref().map_or(0, size);
        RowMoverLayout {
            rows: cursor
                .array("copied rows", in_place(&|copy| count.saturating_mul(copy.config().element_size()))),
            gather: cursor.array("scratch of the gather", self.gather.scratch_requirements(count).size),
            copy: cursor
                .array("scratch of the copy", in_place(&|copy| copy.scratch_requirements(count).size)),
        }
    }

    /// Records what goes before the sort: in place the copy of `rows`. No barrier comes before or after it.
    pub(super) fn copy(
        &self,
        recorder: &mut Recorder<'_>,
        (scratch, layout): (BufferRange, &RowMoverLayout),
        rows: AddressRange,
        count: Count,
    ) -> Result<()> {
        let Some(copy) = &self.copy else { return Ok(()) };
        let [copied, scratch] = [layout.rows, layout.copy].map(|array| array.range(scratch));
        let buffers = GatherBuffers::new(rows, AddressRange::NONE, copied.addresses()).scratch(scratch);
        copy.record(recorder, &buffers, count)
    }

    /// Records the move of `rows` to `sorted`, which in place are the same, by `indices` that were just written.
    pub(super) fn gather(
        &self,
        recorder: &mut Recorder<'_>,
        (scratch, layout): (BufferRange, &RowMoverLayout),
        [rows, indices, sorted]: [AddressRange; 3],
        count: Count,
    ) -> Result<()> {
        let [copied, scratch] = [layout.rows, layout.gather].map(|array| array.range(scratch));
        let rows = if self.copy.is_some() { copied.addresses() } else { rows };
        recorder.barrier_before(Barrier::COMPUTE_TO_COMPUTE, indices);
        self.gather.record(recorder, &GatherBuffers::new(rows, indices, sorted).scratch(scratch), count)
    }

    /// Fails as a recording of `count` rows would, before anything is recorded.
    pub(super) fn check(
        &self,
        recorder: &Recorder<'_>,
        scratch: (BufferRange, &RowMoverLayout),
        ranges: [AddressRange; 3],
        count: Count,
    ) -> Result<()> {
        let mut dry = Recorder::dry(recorder.device());
        self.copy(&mut dry, scratch, ranges[0], count)?;
        self.gather(&mut dry, scratch, ranges, count)
    }

    /// Bytes that a recording of `count` rows reads and writes.
    pub(super) fn traffic_size(&self, count: u64) -> u64 {
        let copied = self.copy.as_ref().map_or(0, |copy| copy.traffic_size(count));
        self.gather.traffic_size(count).saturating_add(copied)
    }
}
