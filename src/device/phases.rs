//! Debug labels and timestamps of recorded phases.
//!
//! ```text
//!   plan       begin ┌ histogram ┬  pass  ┬ … ┬ copy ┐        nested labels, where VK_EXT_debug_utils is enabled
//!   timestamps     ▲ 0      ▲ 1      ▲ 2         ▲ last     each named after the phase that ends there
//! ```

use std::ffi::CStr;

use ash::ext::debug_utils;
use ash::vk;

use super::buffer::AddressRange;
use super::recorder::Recorder;
use crate::error::Result;

/// Queries of a caller's timestamp pool, with the name of the phase that ends at each.
///
/// [`Recorder::with_timestamps`] writes a timestamp at the beginning of the outermost plan, at the end of each phase,
/// and at the end of a plan without phases, each after all earlier work has completed. The time of a phase is its
/// timestamp less the previous one. If there are fewer slots than phases, the last slot is kept for the end of the
/// plan, and the phases before it have none.
///
/// The caller resets the queries and calls [`Self::clear`] before they are written again.
#[derive(Debug)]
pub struct TimestampSlots {
    pool: vk::QueryPool,
    first_query: u32,
    capacity: usize,
    names: Vec<&'static CStr>,
}

impl TimestampSlots {
    /// Name of the timestamp at the beginning of a plan.
    pub const BEGIN: &CStr = c"begin";

    /// Largest number of slots used; more than the phases of any plan of this library.
    const MAX_COUNT: u32 = 1 << 12;

    /// Uses `count` queries of `pool` from `first_query` on, at most 4,096. A plan writes at most one more than it has
    /// phases; fewer queries are allowed.
    pub fn new(pool: vk::QueryPool, first_query: u32, count: u32) -> Self {
        let capacity = count.min(Self::MAX_COUNT).min(u32::MAX - first_query) as usize;
        // Recording allocates nothing.
        Self { pool, first_query, capacity, names: Vec::with_capacity(capacity) }
    }

    /// Names of the timestamps written so far, in order: [`Self::BEGIN`] and phases of plans.
    pub fn names(&self) -> &[&'static CStr] {
        &self.names
    }

    /// Starts again at the first query.
    pub fn clear(&mut self) {
        self.names.clear();
    }

    /// The query of the next slot, unless that leaves fewer than `spare` slots.
    fn take(&mut self, name: &'static CStr, spare: usize) -> Option<(vk::QueryPool, u32)> {
        let slot = self.names.len();
        (slot + spare < self.capacity).then(|| {
            self.names.push(name);
            (self.pool, self.first_query + slot as u32)
        })
    }
}

/// Maximum nesting of plans: the unpacking of narrow keys contains a sort by indices, that a sort, and that a scan; a caller's own
/// plans are around them.
const MAX_DEPTH: usize = 8;

/// Current plans and phase of a recorder. A plan or phase begins with its first command; an empty one leaves no label
/// or timestamp.
#[derive(Debug, Default)]
pub(super) struct Phases<'d> {
    slots: Option<&'d mut TimestampSlots>,
    /// Nested plans from the outermost on; `begun` of them have recorded a command.
    plans: [&'static CStr; MAX_DEPTH],
    depth: usize,
    begun: usize,
    phase: Option<&'static CStr>,
    has_phase_begun: bool,
    /// Whether commands were recorded since the last timestamp.
    is_untimed: bool,
    /// The phase that the last command was recorded in, if it has ended.
    ended: Option<&'static CStr>,
}

impl<'d> Recorder<'d> {
    /// Writes timestamps to `slots` as phases end.
    ///
    /// The pool is a timestamp pool of the recorder's device, its queries are reset when the commands execute, and the
    /// queue family supports timestamps (`timestampValidBits`). These are conditions of [`Recorder::new`].
    pub fn with_timestamps(mut self, slots: &'d mut TimestampSlots) -> Self {
        self.phases.slots = Some(slots);
        self
    }

    /// Records the commands of a plan under its name. Plans nest up to four deep.
    ///
    /// # Errors
    /// Errors of `record`.
    ///
    /// # Panics
    /// If plans nest deeper.
    pub fn plan<T>(&mut self, name: &'static CStr, record: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        // Of this plan's functions, if it sets it.
        let outer_data = self.functions_data(AddressRange::NONE);
        self.end_phase(1);
        self.phases.plans[self.phases.depth] = name;
        self.phases.depth += 1;
        let recorded = record(self);
        let spare = usize::from(self.phases.depth > 1);
        self.end_phase(spare);
        if self.phases.begun == self.phases.depth {
            if self.phases.is_untimed {
                // The last phase may be of a nested plan that had no slot for it.
                let name = *self.phases.ended.get_or_insert(name);
                self.write_timestamp(name, spare);
            }
            self.end_label();
            self.phases.begun -= 1;
        }
        self.phases.depth -= 1;
        self.functions_data(outer_data);
        recorded
    }

    /// Names the commands recorded from here to the next phase or the end of the plan. Outside of a plan it has no
    /// effect.
    pub fn phase(&mut self, name: &'static CStr) {
        if self.phases.depth > 0 {
            self.end_phase(1);
            self.phases.phase = Some(name);
        }
    }

    /// Begins pending plans and phases. Called before each command.
    pub(super) fn begin_phases(&mut self) {
        while self.phases.begun < self.phases.depth {
            if self.phases.begun == 0 {
                // The last slot is for the end of the plan.
                self.write_timestamp(TimestampSlots::BEGIN, 1);
            }
            self.begin_label(self.phases.plans[self.phases.begun]);
            self.phases.begun += 1;
        }
        if let Some(name) = self.phases.phase
            && !self.phases.has_phase_begun
        {
            self.begin_label(name);
            self.phases.has_phase_begun = true;
        }
        self.phases.ended = None;
        self.phases.is_untimed = self.phases.depth > 0;
    }

    fn end_phase(&mut self, spare: usize) {
        let phase = self.phases.phase.take();
        if let Some(name) = phase.filter(|_| self.phases.has_phase_begun) {
            self.phases.has_phase_begun = false;
            self.phases.ended = phase;
            self.end_label();
            self.write_timestamp(name, spare);
        }
    }

    fn write_timestamp(&mut self, name: &'static CStr, spare: usize) {
        let Some(raw) = self.raw() else { return };
        let Some((pool, query)) = self.phases.slots.as_mut().and_then(|slots| slots.take(name, spare)) else {
            return;
        };
        self.phases.is_untimed = false;
        let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        // SAFETY: as the caller of `with_timestamps` promises.
        unsafe { raw.cmd_write_timestamp(self.command_buffer(), stage, pool, query) };
    }

    /// Functions for debug labels, where labels are recorded. A label that begins in one command buffer and ends in
    /// another is valid, but crashes Mesa, which counts labels per command buffer: recordings split across submissions
    /// have none.
    fn labels(&self) -> Option<&'d debug_utils::Device> {
        self.device().debug_utils().filter(|_| self.raw().is_some() && !self.is_paced())
    }

    fn begin_label(&self, name: &CStr) {
        if let Some(debug_utils) = self.labels() {
            let label = vk::DebugUtilsLabelEXT::default().label_name(name);
            // SAFETY: as the caller of `Recorder::new` promises; the extension is enabled.
            unsafe { debug_utils.cmd_begin_debug_utils_label(self.command_buffer(), &label) };
        }
    }

    fn end_label(&self) {
        if let Some(debug_utils) = self.labels() {
            // SAFETY: as above; the label was begun.
            unsafe { debug_utils.cmd_end_debug_utils_label(self.command_buffer()) };
        }
    }
}

#[cfg(test)]
mod tests;
