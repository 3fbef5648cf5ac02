//! Names and times of what is recorded: debug labels, and timestamps in a caller's query pool.
//!
//! ```text
//!   plan       begin ┌ histogram ┬  pass  ┬ … ┬ copy ┐        labels, one in another, where VK_EXT_debug_utils is on
//!   timestamps     ▲ 0      ▲ 1      ▲ 2         ▲ last     each named for the phase that is done by then
//! ```

use std::ffi::CStr;

use ash::ext::debug_utils;
use ash::vk;

use super::recorder::Recorder;
use crate::error::Result;

/// Queries of a caller's timestamp pool, and what is done when each of them is written.
///
/// Recording with [`Recorder::with_timestamps`] writes one as the outermost plan begins, one as each phase ends, and of a
/// plan without phases one as it ends; each when all earlier work is done. So a phase takes its own timestamp less the one
/// before it. Where there are fewer slots than phases, the last slot is kept for the end of the plan, and the phases before
/// it go without.
///
/// The caller resets the queries before they are written again, and calls [`Self::clear`].
#[derive(Debug)]
pub struct TimestampSlots {
    pool: vk::QueryPool,
    first_query: u32,
    capacity: usize,
    names: Vec<&'static CStr>,
}

impl TimestampSlots {
    /// The name of the timestamp with which a plan begins.
    pub const BEGIN: &CStr = c"begin";

    /// The most that are taken: more than any plan of this library has phases.
    const MAX_COUNT: u32 = 1 << 12;

    /// Takes `count` queries of `pool` from `first_query` on. The most that a plan writes: one, and one for each of its
    /// phases; fewer will do. Queries from the 4,097th on, or beyond the last number that a query has, are left alone.
    pub fn new(pool: vk::QueryPool, first_query: u32, count: u32) -> Self {
        let capacity = count.min(Self::MAX_COUNT).min(u32::MAX - first_query) as usize;
        // Recording allocates nothing.
        Self { pool, first_query, capacity, names: Vec::with_capacity(capacity) }
    }

    /// What is done when the first query is written, the second, and so on: [`Self::BEGIN`] and phases of plans.
    pub fn names(&self) -> &[&'static CStr] {
        &self.names
    }

    /// Begins anew at the first query.
    pub fn clear(&mut self) {
        self.names.clear();
    }

    /// The query of the next slot, unless fewer than `spare` were left behind it.
    fn take(&mut self, name: &'static CStr, spare: usize) -> Option<(vk::QueryPool, u32)> {
        let slot = self.names.len();
        (slot + spare < self.capacity).then(|| {
            self.names.push(name);
            (self.pool, self.first_query + slot as u32)
        })
    }
}

/// How deep plans may lie in one another: a sort holds a scan.
const MAX_DEPTH: usize = 4;

/// Where a recorder stands. A plan or a phase begins with its first command: what records nothing leaves no mark.
#[derive(Debug, Default)]
pub(super) struct Phases<'d> {
    slots: Option<&'d mut TimestampSlots>,
    /// Plans within plans, from the outermost on, and how many of them have begun.
    plans: [&'static CStr; MAX_DEPTH],
    depth: usize,
    begun: usize,
    phase: Option<&'static CStr>,
    has_phase_begun: bool,
    /// Whether commands were recorded since the last timestamp.
    is_untimed: bool,
}

impl<'d> Recorder<'d> {
    /// Notes the time in `slots` as phases end.
    ///
    /// The pool is one of timestamps, of the recorder's device; its queries are reset when the commands run, and its queue
    /// family has timestamps (`timestampValidBits`). This belongs to what [`Recorder::new`] is promised.
    pub fn with_timestamps(mut self, slots: &'d mut TimestampSlots) -> Self {
        self.phases.slots = Some(slots);
        self
    }

    /// Records what belongs to one plan, under its name; plans may hold others, up to four deep.
    ///
    /// # Errors
    /// Those of `record`.
    ///
    /// # Panics
    /// Where plans are deeper.
    pub fn plan<T>(&mut self, name: &'static CStr, record: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.end_phase(1);
        self.phases.plans[self.phases.depth] = name;
        self.phases.depth += 1;
        let recorded = record(self);
        let spare = usize::from(self.phases.depth > 1);
        self.end_phase(spare);
        if self.phases.begun == self.phases.depth {
            if self.phases.is_untimed {
                self.write_timestamp(name, spare);
            }
            self.end_label();
            self.phases.begun -= 1;
        }
        self.phases.depth -= 1;
        recorded
    }

    /// Names what is recorded from here on, to the next phase or the end of the plan. Outside of a plan it does nothing.
    pub fn phase(&mut self, name: &'static CStr) {
        if self.phases.depth > 0 {
            self.end_phase(1);
            self.phases.phase = Some(name);
        }
    }

    /// To be called before each command.
    pub(super) fn begin_phases(&mut self) {
        while self.phases.begun < self.phases.depth {
            if self.phases.begun == 0 {
                // A plan without an end tells nothing.
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
        self.phases.is_untimed = self.phases.depth > 0;
    }

    fn end_phase(&mut self, spare: usize) {
        let phase = self.phases.phase.take();
        if let Some(name) = phase.filter(|_| self.phases.has_phase_begun) {
            self.phases.has_phase_begun = false;
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
        // SAFETY: as `with_timestamps` was promised.
        unsafe { raw.cmd_write_timestamp(self.command_buffer(), stage, pool, query) };
    }

    /// The functions that label, where something is labelled. A label that begins in one command buffer and ends in
    /// another is right in Vulkan, and crashes Mesa, which counts them by command buffer: so there are none where a
    /// recording is cut.
    fn labels(&self) -> Option<&'d debug_utils::Device> {
        self.device().debug_utils().filter(|_| self.raw().is_some() && !self.is_paced())
    }

    fn begin_label(&self, name: &CStr) {
        if let Some(debug_utils) = self.labels() {
            let label = vk::DebugUtilsLabelEXT::default().label_name(name);
            // SAFETY: as `Recorder::new` was promised; the extension is on.
            unsafe { debug_utils.cmd_begin_debug_utils_label(self.command_buffer(), &label) };
        }
    }

    fn end_label(&self) {
        if let Some(debug_utils) = self.labels() {
            // SAFETY: as above; each one has been begun.
            unsafe { debug_utils.cmd_end_debug_utils_label(self.command_buffer()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_slot_is_kept_for_the_end() {
        let mut slots = TimestampSlots::new(vk::QueryPool::null(), 7, 3);
        let mut queries = Vec::new();
        for (name, spare) in [(TimestampSlots::BEGIN, 1), (c"first", 1), (c"second", 1), (c"third", 0)] {
            queries.extend(slots.take(name, spare).map(|(_, query)| query));
        }
        assert_eq!(queries, [7, 8, 9]);
        assert_eq!(slots.names(), [TimestampSlots::BEGIN, c"first", c"third"]);
        slots.clear();
        assert_eq!(slots.take(c"again", 0), Some((vk::QueryPool::null(), 7)));
        let mut one = TimestampSlots::new(vk::QueryPool::null(), 0, 1);
        assert_eq!(one.take(TimestampSlots::BEGIN, 1), None);
    }

    #[test]
    fn slots_stay_within_what_can_be_numbered_and_named() {
        let capacity =
            |first_query, count| TimestampSlots::new(vk::QueryPool::null(), first_query, count).capacity;
        assert_eq!(capacity(7, 3), 3);
        assert_eq!(capacity(0, u32::MAX), 4096);
        assert_eq!(capacity(u32::MAX - 2, 3), 2);
        let mut slots = TimestampSlots::new(vk::QueryPool::null(), u32::MAX - 2, 3);
        let queries = [0; 3].map(|spare| slots.take(c"", spare).map(|(_, query)| query));
        assert_eq!(queries, [Some(u32::MAX - 2), Some(u32::MAX - 1), None]);
    }
}
