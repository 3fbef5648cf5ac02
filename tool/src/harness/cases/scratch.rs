//! The memory of a case: arguments by the table of its plan, and the arrays in its scratch by a recording on the host.

use std::sync::{Arc, OnceLock};

use super::Case;
use super::known::Known;
use crate::harness::layout::{Arrangement, BufferLayout, Span};
use subsweep::arguments::Argument;
use subsweep::ash::vk::{self, Handle};
use subsweep::device::{BufferRange, Capabilities, Command, Device, Recorder, Trace};
use subsweep::error::Result;
use subsweep::headless::Gpu;
use subsweep::{Config, Plan, ScratchArray};

/// A device that makes the plans of cases, whose pipelines are not compiled yet.
pub(in crate::harness) trait Planner {
    fn capabilities(&self) -> &Capabilities;
    fn plan<C: Config>(&self, config: C) -> Result<Arc<Plan<C::Primitive>>>;
}

impl Planner for Gpu {
    fn capabilities(&self) -> &Capabilities {
        self.capabilities()
    }

    fn plan<C: Config>(&self, config: C) -> Result<Arc<Plan<C::Primitive>>> {
        self.declared(config)
    }
}

/// For recordings on the host.
impl Planner for Device {
    fn capabilities(&self) -> &Capabilities {
        self.capabilities()
    }

    fn plan<C: Config>(&self, config: C) -> Result<Arc<Plan<C::Primitive>>> {
        Plan::declare(self, config).map(Arc::new)
    }
}

/// The arrays of the first plan of a recording; other plans are parts of it.
#[derive(Default)]
struct FirstPlan(OnceLock<Vec<ScratchArray>>);

impl Trace for FirstPlan {
    fn record(&self, _: vk::CommandBuffer, _: &Command<'_>) {}

    fn plan(&self, arrays: &dyn Fn() -> Vec<(&'static str, u64, u64)>) {
        let array = |(name, offset, size)| ScratchArray { name, offset, size };
        self.0.get_or_init(|| arrays().into_iter().map(array).collect());
    }
}

/// The memory of a recording.
#[derive(Debug, Default)]
pub struct RecordedMemory {
    /// Those that it accesses, as its plan declares them. The scratch has the bytes that the plan requires.
    pub arguments: Vec<Argument>,
    /// What the scratch holds.
    pub arrays: Vec<ScratchArray>,
}

impl Case {
    /// The memory of its recording on a device with these capabilities.
    ///
    /// # Errors
    /// Errors of the plan and of the recording.
    pub fn memory(&self, capabilities: &Capabilities) -> Result<RecordedMemory> {
        let device = Device::absent(capabilities.clone());
        let known = Known::default();
        // Some operands are computed from it.
        known.input(self);
        let prepared = self.plan(&device)?(&known)?;
        let mut arrangement = Arrangement::new(BufferLayout::Guarded, u64::MAX);
        let spans = prepared.reserve(&mut arrangement, self);
        // Of a buffer that does not exist: nothing is executed.
        let range = |Span { first, count, .. }: Span| BufferRange {
            buffer: vk::Buffer::from_raw(1),
            offset: first * 4,
            size: count * 4,
            address: first * 4,
            usage: !vk::BufferUsageFlags::empty(),
        };
        let arguments = prepared.arguments.iter().filter(|argument| argument.size > 0).copied().collect();
        let record = prepared.recording(&|name| spans.get(name).map_or(BufferRange::NONE, range))?;
        let plan = FirstPlan::default();
        record(&mut Recorder::dry(&device).traced_by(&plan))?;
        Ok(RecordedMemory { arguments, arrays: plan.0.into_inner().unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::harness::cases::{Effort, verify_cases};
    use subsweep::arguments::Role;

    #[test]
    fn every_kind_of_case_has_its_arrays() {
        let mut capabilities = Capabilities::default();
        (capabilities.subgroup_size, capabilities.min_subgroup_size, capabilities.max_subgroup_size) =
            (32, 32, 32);
        capabilities.max_workgroup_invocations = 1024;
        capabilities.max_workgroup_count = [65_535; 3];
        capabilities.shared_memory_size = 32 << 10;
        let mut groups = BTreeSet::new();
        for case in verify_cases(Effort::Quick, &capabilities) {
            if !groups.insert(case.group()) {
                continue;
            }
            let RecordedMemory { arguments, arrays } =
                case.memory(&capabilities).unwrap_or_else(|error| panic!("{}: {error}", case.id()));
            let has_result = arguments.iter().any(|argument| argument.role.is_result());
            assert!(has_result || case.count == 0, "{}: {arguments:?}", case.id());
            let scratch = arguments.iter().find(|argument| argument.role == Role::Scratch);
            let size = scratch.map_or(0, |scratch| scratch.size);
            let all = arrays.last().map_or(0, |last| last.offset + last.size);
            // The requirement is of every count up to the maximum, for which another algorithm may need more.
            assert!(all <= size, "{}: {all} of {size}", case.id());
            let mut end = 0;
            for ScratchArray { name, offset, size } in arrays {
                assert_eq!(offset, end, "{}: {name}", case.id());
                end = (offset + size).next_multiple_of(16);
            }
        }
        assert!(groups.len() > 12, "{groups:?}");
    }
}
