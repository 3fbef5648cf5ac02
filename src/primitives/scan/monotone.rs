//! Sums that do not decrease: a scan of floats, and the running maxima of its results in place.
//!
//! Rounded sums of non-negative numbers may decrease, since two results add in different orders. The maximum of a result and
//! those before it has the same error bound: exact sums do not decrease.

use super::config::{ScanBuffers, ScanConfig, SegmentsBy};
use super::{Scan, ScanPlan, Strategy, TileDepth};
use crate::device::{Barrier, Device, Pipeline, Recorder};
use crate::error::Result;
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::{ScratchCursor, ScratchRange};

#[derive(Debug)]
pub(super) struct Monotone {
    sums: ScanPlan,
    maxima: ScanPlan,
}

/// Offsets and sizes of the scratch of both scans.
#[derive(Debug)]
pub(super) struct ScratchLayout {
    sums: ScratchRange,
    maxima: ScratchRange,
}

impl Monotone {
    pub(super) fn new(device: &Device, config: &ScanConfig) -> Result<Self> {
        Ok(Self {
            sums: ScanPlan::declare(device, config.without_order())?,
            maxima: ScanPlan::declare(device, config.maxima_in_place())?,
        })
    }
}

impl Strategy for Monotone {
    fn rounding_depth(&self, count: u64, tile: &TileDepth) -> u64 {
        self.sums.primitive.0.rounding_depth(count, tile)
    }

    fn moved_rows(&self, count: u64) -> u64 {
        let [sums, maxima] = [&self.sums, &self.maxima].map(|plan| plan.primitive.0.moved_rows(count));
        sums.saturating_add(maxima)
    }

    fn scans_in_place(&self) -> bool {
        self.sums.primitive.0.scans_in_place()
    }

    fn has_fill(&self) -> bool {
        self.sums.primitive.0.has_fill()
    }
}

impl Algorithm<Scan> for Monotone {
    type Layout = ScratchLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.sums.pipelines().chain(self.maxima.pipelines())
    }

    fn layout(&self, cursor: &mut ScratchCursor, max_count: u64) -> ScratchLayout {
        let mut take = |name, plan: &ScanPlan| cursor.array(name, plan.scratch_requirements(max_count).size);
        ScratchLayout {
            sums: take("scratch of the sums", &self.sums),
            maxima: take("scratch of the maxima", &self.maxima),
        }
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Scan, ScratchLayout>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let scratch = layout.sums.range(buffers.scratch);
        self.sums.record(recorder, &ScanBuffers { scratch, ..*buffers }, count)?;
        // A dispatch that prepares the maxima has a barrier after it, which orders the sums as well.
        let marks_segments =
            self.maxima.config().segments == Some(SegmentsBy::Offsets) && buffers.segments.size > 0;
        if !marks_segments && !count.is_indirect() {
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        }
        let results = ScanBuffers::in_place(buffers.destination, layout.maxima.range(buffers.scratch));
        self.maxima.record(recorder, &results.segments(buffers.segments), count)
    }
}
