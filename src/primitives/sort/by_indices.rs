//! Values that kernels do not carry: keys are sorted with their indices, and by these the values move once.
//!
//! ```text
//!   keys ── sort of keys and indices ──► sorted keys, indices ── RowMover ──► sorted values
//! ```

use super::config::{Form, SortBuffers, SortConfig};
use super::row_mover::{RowMover, RowMoverLayout};
use super::{Sort, SortPlan, SortPolicy};
use crate::device::{AddressRange, BufferRange, Device, Pipeline, Recorder};
use crate::error::Result;
use crate::gather::GatherConfig;
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::{Count, ScratchCursor, ScratchRange};

/// The values of a sort of one form, or of segments.
#[derive(Debug)]
pub(super) struct ValueMover {
    /// The form of the sort of keys and indices.
    form: Form,
    mover: RowMover,
}

/// Indices, alternate ones, and what the values need.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueMoverLayout {
    indices: [ScratchRange; 2],
    values: RowMoverLayout,
}

impl ValueMoverLayout {
    /// The indices that the sort leaves.
    pub(super) fn indices(&self, scratch: BufferRange) -> BufferRange {
        self.indices[0].range(scratch)
    }
}

impl ValueMover {
    /// For the values of `config`, whose keys and indices are sorted in `form`. The indices of keys that are in no segment
    /// are beyond all: their values stay.
    pub(super) fn new(device: &Device, config: &SortConfig, form: Form) -> Result<Self> {
        let gather = GatherConfig::elements((config.value_size() / 4) as u32).keeping_others();
        let is_in_place = matches!(form, Form::InPlace | Form::DoubleBuffer);
        let mover = RowMover::new(device, gather, is_in_place, config.has_indirect_count)?;
        Ok(Self { form, mover })
    }

    pub(super) fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.mover.pipelines()
    }

    pub(super) fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> ValueMoverLayout {
        let size = count.saturating_mul(4);
        let alternate_size =
            if matches!(self.form, Form::DoubleBuffer | Form::DestroysInput) { size } else { 0 };
        let indices = [cursor.array("indices", size), cursor.array("alternate indices", alternate_size)];
        ValueMoverLayout { indices, values: self.mover.layout(cursor, count) }
    }

    /// The memory of the sort of keys and indices, but for its scratch.
    pub(super) fn sort_buffers(&self, buffers: &SortBuffers, layout: &ValueMoverLayout) -> SortBuffers {
        let [result, other] = layout.indices.map(|array| array.range(buffers.scratch).addresses());
        let (values, values_alt) = match self.form {
            Form::InPlace => (result, AddressRange::NONE),
            Form::DoubleBuffer => (result, other),
            Form::OutOfPlace => (AddressRange::NONE, result),
            Form::DestroysInput => (other, result),
        };
        SortBuffers { values, values_alt, ..*buffers }
    }

    /// Records what goes before the sort. It fails before anything is recorded.
    pub(super) fn begin(
        &self,
        recorder: &mut Recorder<'_>,
        (buffers, layout): (&SortBuffers, &ValueMoverLayout),
        count: Count,
    ) -> Result<()> {
        let scratch = (buffers.scratch, &layout.values);
        self.mover.check(recorder, scratch, self.ranges(buffers, layout), count)?;
        self.mover.copy(recorder, scratch, buffers.values, count)
    }

    /// Records the move, after the sort.
    pub(super) fn end(
        &self,
        recorder: &mut Recorder<'_>,
        (buffers, layout): (&SortBuffers, &ValueMoverLayout),
        count: Count,
    ) -> Result<()> {
        let ranges = self.ranges(buffers, layout);
        self.mover.gather(recorder, (buffers.scratch, &layout.values), ranges, count)
    }

    /// The values, the indices, and the sorted values.
    fn ranges(&self, buffers: &SortBuffers, layout: &ValueMoverLayout) -> [AddressRange; 3] {
        let sorted = match self.form {
            Form::InPlace | Form::DoubleBuffer => buffers.values,
            Form::OutOfPlace | Form::DestroysInput => buffers.values_alt,
        };
        [buffers.values, layout.indices(buffers.scratch).addresses(), sorted]
    }

    /// Bytes that the move of `count` values reads and writes.
    pub(super) fn traffic_size(&self, count: u64) -> u64 {
        self.mover.traffic_size(count)
    }
}

/// The algorithm of a [`Sort`] whose values move once.
#[derive(Debug)]
pub(super) struct ByIndices {
    pub(super) sort: SortPlan,
    pub(super) values: ValueMover,
}

impl ByIndices {
    pub(super) fn new(device: &Device, config: &SortConfig, policy: &SortPolicy) -> Result<Self> {
        let mut of_kernels = config.of_kernels().policy(*policy);
        if of_kernels.form == Form::DoubleBuffer {
            // The keys end where the values do, whose order is known after all passes: in the alternate buffer.
            of_kernels.form = Form::DestroysInput;
        }
        let values = ValueMover::new(device, config, of_kernels.form)?;
        Ok(Self { sort: SortPlan::declare(device, of_kernels)?, values })
    }
}

impl Algorithm<Sort> for ByIndices {
    /// Of the sort's scratch, and of the values.
    type Layout = (ScratchRange, ValueMoverLayout);

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.sort.pipelines().chain(self.values.pipelines())
    }

    fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> Self::Layout {
        let size = self.sort.scratch_requirements(count).size;
        (cursor.array("scratch of the sort", size), self.values.layout(cursor, count))
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Sort, Self::Layout>) -> Result<()> {
        let Checked { buffers, layout: &(sort, values), count } = given;
        let scratch = sort.range(buffers.scratch);
        let sorted = SortBuffers { scratch, ..self.values.sort_buffers(buffers, &values) };
        self.sort.record(&mut Recorder::dry(recorder.device()), &sorted, count)?;
        self.values.begin(recorder, (buffers, &values), count)?;
        self.sort.record(recorder, &sorted, count)?;
        self.values.end(recorder, (buffers, &values), count)
    }
}
