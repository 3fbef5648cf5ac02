//! The proof of barriers: a replay of what was recorded, over the ranges that it was recorded with.
//!
//! No validation layer sees what a dispatch does through device addresses. The recorder knows the range of every
//! pointer, and the kernel table knows, from the instructions, whether it is read or written. So for every two commands
//! that touch the same bytes, one of them writing, this checks that the barriers between them order the two as the
//! memory model of Vulkan 1.2 (chapter "Synchronization and Cache Control") asks: a chain of execution dependencies, and
//! after a write also availability and visibility. A barrier whose absence would leave every such pair in order is a
//! finding too.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use ash::vk;

use super::barrier::{Access, Barrier};
use super::buffer::AddressRange;
use super::trace::{Command, Trace, Workgroups};

/// A [`Trace`] that checks every command buffer as it ends. Give it to
/// [`Recorder::traced_by`](super::Recorder::traced_by), or to a device as [`OpenOptions::trace`](super::OpenOptions), which
/// `headless` calls `WorkOptions::trace`.
#[derive(Debug, Default)]
pub struct HazardChecker {
    recordings: Mutex<HashMap<vk::CommandBuffer, Vec<Event>>>,
    findings: Mutex<Vec<Finding>>,
}

/// What is wrong with a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Two commands touch the same bytes, and nothing orders them.
    Hazard {
        /// The earlier command: its place in the recording, and what it is.
        earlier: String,
        /// The later one.
        later: String,
        /// The bytes in common.
        range: AddressRange,
        /// What is lacking between them.
        missing: Missing,
    },
    /// A barrier without which everything would be in order just the same.
    SuperfluousBarrier {
        /// Its place in the recording, and its name.
        barrier: String,
    },
}

/// What no barrier does for two commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Nothing makes the later command's stage wait for the earlier one's.
    Execution,
    /// The earlier command's writes are not made available.
    Availability(vk::AccessFlags),
    /// They are available, but not made visible to the later command's accesses.
    Visibility(vk::AccessFlags),
}

#[derive(Debug)]
enum Event {
    Work(Work),
    Barrier(Barrier),
}

/// A command, as memory sees it.
#[derive(Debug)]
struct Work {
    name: String,
    touches: Vec<Touch>,
}

/// One kind of access to one range, in a stage.
#[derive(Debug, Clone, Copy)]
struct Touch {
    range: AddressRange,
    access: vk::AccessFlags,
    stage: vk::PipelineStageFlags,
}

const WRITES: vk::AccessFlags = vk::AccessFlags::from_raw(
    vk::AccessFlags::SHADER_WRITE.as_raw() | vk::AccessFlags::TRANSFER_WRITE.as_raw(),
);

impl HazardChecker {
    /// What was found since the last call.
    pub fn take_findings(&self) -> Vec<Finding> {
        std::mem::take(&mut self.findings.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Trace for HazardChecker {
    fn record(&self, command_buffer: vk::CommandBuffer, command: &Command<'_>) {
        let mut recordings = self.recordings.lock().unwrap_or_else(PoisonError::into_inner);
        let events = recordings.entry(command_buffer).or_default();
        match command {
            Command::Begin => events.clear(),
            Command::Submit => {}
            Command::End => {
                let found = check(events);
                events.clear();
                self.findings.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
            }
            Command::Barrier(barrier) => {
                let Barrier { name, before, after } = *barrier;
                events.push(Event::Barrier(Barrier {
                    name,
                    before: spelled_out(before),
                    after: spelled_out(after),
                }));
            }
            _ => events.push(Event::Work(Work::of(command))),
        }
    }
}

/// The stages and accesses that there are here, of those that stand for others.
fn spelled_out(Access { mut stages, mut access }: Access) -> Access {
    let all = Access::COMPUTE.and(Access::TRANSFER).and(Access::INDIRECT_READ).and(Access::HOST_READ);
    if stages.contains(vk::PipelineStageFlags::ALL_COMMANDS) {
        stages |= all.stages;
    }
    if access.contains(vk::AccessFlags::MEMORY_WRITE) {
        access |= WRITES;
    }
    if access.contains(vk::AccessFlags::MEMORY_READ) {
        access |= all.access & !WRITES;
    }
    Access { stages, access }
}

impl Work {
    fn of(command: &Command<'_>) -> Self {
        let (read, write) = (vk::AccessFlags::SHADER_READ, vk::AccessFlags::SHADER_WRITE);
        let shader = |range, access| Touch { range, access, stage: vk::PipelineStageFlags::COMPUTE_SHADER };
        let transfer = |range, access| Touch { range, access, stage: vk::PipelineStageFlags::TRANSFER };
        let (name, touches) = match *command {
            Command::Dispatch { kernel, ranges, workgroups, .. } => {
                let accesses = kernel.push_constants.iter().filter_map(|member| member.access);
                let mut touches: Vec<_> = accesses
                    .zip(ranges)
                    .flat_map(|(access, &range)| {
                        let reads = access.read.then_some(shader(range, read));
                        reads.into_iter().chain(access.write.then_some(shader(range, write)))
                    })
                    .collect();
                if let Workgroups::Indirect(range) = workgroups {
                    let access = vk::AccessFlags::INDIRECT_COMMAND_READ;
                    touches.push(Touch { range, access, stage: vk::PipelineStageFlags::DRAW_INDIRECT });
                }
                (kernel.name, touches)
            }
            Command::Fill { range } => ("fill", vec![transfer(range, vk::AccessFlags::TRANSFER_WRITE)]),
            Command::Update { range } => ("update", vec![transfer(range, vk::AccessFlags::TRANSFER_WRITE)]),
            Command::Copy { source, destination } => (
                "copy",
                vec![
                    transfer(source, vk::AccessFlags::TRANSFER_READ),
                    transfer(destination, vk::AccessFlags::TRANSFER_WRITE),
                ],
            ),
            Command::Begin | Command::Submit | Command::End | Command::Barrier(_) => ("", Vec::new()),
        };
        Self { name: name.to_owned(), touches }
    }
}

impl Touch {
    fn writes(self) -> bool {
        self.access.intersects(WRITES)
    }
}

/// Everything that is wrong with a recording, in its order.
fn check(events: &[Event]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut is_needed = vec![false; events.len()];
    for (later_index, event) in events.iter().enumerate() {
        let Event::Work(later) = event else { continue };
        for (earlier_index, event) in events[..later_index].iter().enumerate() {
            let Event::Work(earlier) = event else { continue };
            let barriers = barriers(events, earlier_index, later_index);
            let mut worst = None;
            for (from, to) in conflicts(earlier, later) {
                match ordered(from, to, barriers.iter().map(|&(_, barrier)| barrier)) {
                    Err(missing) => worst = worst.or(Some((from, to, missing))),
                    Ok(()) => {
                        // Needed is the barrier without which this pair is out of order.
                        for &(index, _) in &barriers {
                            let others = barriers.iter().filter(|(other, _)| *other != index);
                            let without = others.map(|&(_, barrier)| barrier);
                            is_needed[index] = is_needed[index] || ordered(from, to, without).is_err();
                        }
                    }
                }
            }
            if let Some((from, to, missing)) = worst {
                findings.push(Finding::Hazard {
                    earlier: format!("{earlier_index}: {}", earlier.name),
                    later: format!("{later_index}: {}", later.name),
                    range: common(from.range, to.range),
                    missing,
                });
            }
        }
    }
    findings.extend(events.iter().enumerate().filter_map(|(index, event)| match event {
        Event::Barrier(barrier) if !is_needed[index] => {
            Some(Finding::SuperfluousBarrier { barrier: format!("{index}: {}", barrier.name) })
        }
        _ => None,
    }));
    findings
}

/// The barriers between two events, with their places.
fn barriers(events: &[Event], earlier: usize, later: usize) -> Vec<(usize, &Barrier)> {
    (earlier..later)
        .filter_map(|index| match &events[index] {
            Event::Barrier(barrier) => Some((index, barrier)),
            Event::Work(_) => None,
        })
        .collect()
}

/// The accesses of two commands to the same bytes, one of them a write.
fn conflicts<'w>(earlier: &'w Work, later: &'w Work) -> impl Iterator<Item = (Touch, Touch)> + 'w {
    earlier.touches.iter().flat_map(move |&from| {
        let conflict = move |&to: &Touch| {
            ((from.writes() || to.writes()) && from.range.overlaps(&to.range)).then_some((from, to))
        };
        later.touches.iter().filter_map(conflict)
    })
}

/// Whether `barriers` order one access before another.
fn ordered<'b>(from: Touch, to: Touch, barriers: impl Iterator<Item = &'b Barrier>) -> Result<(), Missing> {
    // The stages that wait for the earlier command, through any chain of barriers.
    let mut waiting = vk::PipelineStageFlags::empty();
    let (mut is_available, mut is_visible) = (false, false);
    for barrier in barriers {
        if !with_earlier(barrier.before.stages).intersects(from.stage | waiting) {
            continue;
        }
        waiting |= with_later(barrier.after.stages);
        is_available |=
            barrier.before.stages.contains(from.stage) && barrier.before.access.contains(from.access);
        is_visible |= is_available
            && barrier.after.stages.contains(to.stage)
            && barrier.after.access.contains(to.access);
    }
    if !waiting.contains(to.stage) {
        Err(Missing::Execution)
    } else if !from.writes() || is_visible {
        // Overwriting what was read needs no more than to come later.
        Ok(())
    } else if is_available {
        Err(Missing::Visibility(to.access))
    } else {
        Err(Missing::Availability(from.access))
    }
}

/// Whoever waits for a stage waits for those that come before it in a pipeline; of memory it says nothing.
fn with_earlier(stages: vk::PipelineStageFlags) -> vk::PipelineStageFlags {
    let is_compute = stages.contains(vk::PipelineStageFlags::COMPUTE_SHADER);
    if is_compute { stages | vk::PipelineStageFlags::DRAW_INDIRECT } else { stages }
}

/// Where a stage waits, so do those that come after it.
fn with_later(stages: vk::PipelineStageFlags) -> vk::PipelineStageFlags {
    let is_indirect = stages.contains(vk::PipelineStageFlags::DRAW_INDIRECT);
    if is_indirect { stages | vk::PipelineStageFlags::COMPUTE_SHADER } else { stages }
}

fn common(first: AddressRange, second: AddressRange) -> AddressRange {
    let begin = first.address.max(second.address);
    let end = (first.address + first.size).min(second.address + second.size);
    AddressRange::new(begin, end - begin)
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hazard { earlier, later, range, missing } => write!(
                f,
                "command {later} is not ordered after command {earlier} in {} bytes at {:#x}: {missing}",
                range.size, range.address
            ),
            Self::SuperfluousBarrier { barrier } => write!(f, "barrier {barrier} orders nothing"),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Execution => write!(f, "no barrier makes its stage wait"),
            Self::Availability(access) => write!(f, "no barrier has {access:?} as source access"),
            Self::Visibility(access) => write!(f, "no barrier has {access:?} as destination access"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{PROBE_COPY, SCAN_CHUNK_SUM_U32X1, SCAN_REDUCE_WORDS32X1};

    const A: AddressRange = AddressRange::new(0x1000, 64);
    const B: AddressRange = AddressRange::new(0x2000, 64);
    const C: AddressRange = AddressRange::new(0x3000, 64);

    /// Reads the first range, writes the second.
    fn copy(ranges: &[AddressRange; 2]) -> Command<'_> {
        Command::Dispatch {
            kernel: &PROBE_COPY,
            ranges,
            workgroups: Workgroups::Direct([1; 3]),
            constants: &[],
        }
    }

    fn findings(commands: &[Command<'_>]) -> Vec<Finding> {
        let checker = HazardChecker::default();
        let command_buffer = vk::CommandBuffer::null();
        checker.record(command_buffer, &Command::Begin);
        commands.iter().for_each(|command| checker.record(command_buffer, command));
        checker.record(command_buffer, &Command::End);
        checker.take_findings()
    }

    fn missing(commands: &[Command<'_>]) -> Vec<Missing> {
        let hazard = |finding| match finding {
            Finding::Hazard { missing, .. } => Some(missing),
            Finding::SuperfluousBarrier { .. } => None,
        };
        findings(commands).into_iter().filter_map(hazard).collect()
    }

    const COMPUTE: Command<'_> = Command::Barrier(Barrier::COMPUTE_TO_COMPUTE);

    #[test]
    fn workgroups_from_memory_are_read_by_a_stage_of_their_own() {
        let indirect = |ranges| Command::Dispatch {
            kernel: &PROBE_COPY,
            ranges,
            workgroups: Workgroups::Indirect(B),
            constants: &[],
        };
        const INDIRECT: Command<'_> = Command::Barrier(Barrier::COMPUTE_TO_INDIRECT);
        let made = copy(&[A, B]);
        assert_eq!(findings(&[copy(&[A, B]), INDIRECT, indirect(&[C, A])]), []);
        assert_eq!(missing(&[made, indirect(&[C, A])]), [Missing::Execution]);
        let access = vk::AccessFlags::INDIRECT_COMMAND_READ;
        // It waits for the shader, but not for what the shader wrote.
        assert_eq!(missing(&[copy(&[A, B]), COMPUTE, indirect(&[C, A])]), [Missing::Execution]);
        let mut half = Barrier::COMPUTE_TO_INDIRECT;
        half.after.access = vk::AccessFlags::SHADER_READ;
        let half = [copy(&[A, B]), Command::Barrier(half), indirect(&[C, A])];
        assert_eq!(missing(&half), [Missing::Visibility(access)]);
        // What was read so may be overwritten by whoever waits for the shader behind it.
        assert_eq!(findings(&[indirect(&[C, A]), COMPUTE, copy(&[C, B])]), []);
    }

    #[test]
    fn an_update_is_a_transfer() {
        let update = || Command::Update { range: A };
        const TRANSFER: Command<'_> = Command::Barrier(Barrier::TRANSFER_TO_COMPUTE);
        assert_eq!(findings(&[update(), TRANSFER, copy(&[A, B])]), []);
        assert_eq!(missing(&[update(), copy(&[A, B])]), [Missing::Execution]);
    }

    #[test]
    fn a_chain_of_dispatches_needs_each_of_its_barriers() {
        assert_eq!(findings(&[copy(&[A, B]), COMPUTE, copy(&[B, C]), COMPUTE, copy(&[C, A])]), []);
        assert_eq!(missing(&[copy(&[A, B]), copy(&[B, C])]), [Missing::Execution]);
        // Overwriting what was read, and what was written.
        assert_eq!(missing(&[copy(&[A, B]), copy(&[C, A])]), [Missing::Execution]);
        assert_eq!(missing(&[copy(&[A, B]), copy(&[C, B])]), [Missing::Execution]);
    }

    #[test]
    fn a_finding_names_both_commands_and_the_bytes_in_common() {
        let half = AddressRange::new(B.address + 32, 64);
        let found = findings(&[copy(&[A, B]), copy(&[half, C])]);
        assert_eq!(
            found[0].to_string(),
            "command 1: probe/copy is not ordered after command 0: probe/copy in 32 bytes at 0x2020: \
             no barrier makes its stage wait"
        );
    }

    #[test]
    fn readers_and_strangers_need_no_barrier_and_may_not_have_one() {
        assert_eq!(findings(&[copy(&[A, B]), copy(&[A, C])]), []);
        for strangers in [[[A, B], [A, C]], [[A, B], [C, C]]] {
            let found = findings(&[copy(&strangers[0]), COMPUTE, copy(&strangers[1])]);
            assert_eq!(found, [Finding::SuperfluousBarrier { barrier: "1: compute to compute".into() }]);
        }
        assert_eq!(findings(&[copy(&[A, B]), COMPUTE, COMPUTE, copy(&[B, C])]).len(), 2);
        assert_eq!(findings(&[COMPUTE, copy(&[A, B])]).len(), 1);
        assert_eq!(findings(&[copy(&[A, B]), COMPUTE]).len(), 1);
    }

    #[test]
    fn the_scopes_of_a_barrier_count() {
        let fill = Command::Fill { range: A };
        let barrier = |barrier| Command::Barrier(barrier);
        let to_compute = Barrier::TRANSFER_TO_COMPUTE;
        assert_eq!(findings(&[fill, barrier(to_compute), copy(&[A, B])]), []);
        let fill = || Command::Fill { range: A };
        assert_eq!(missing(&[fill(), COMPUTE, copy(&[A, B])]), [Missing::Execution]);
        let mut unavailable = to_compute;
        unavailable.before.access = vk::AccessFlags::TRANSFER_READ;
        assert_eq!(
            missing(&[fill(), barrier(unavailable), copy(&[A, B])]),
            [Missing::Availability(vk::AccessFlags::TRANSFER_WRITE)]
        );
        let invisible = Barrier { after: Access::COMPUTE_WRITE, ..to_compute };
        assert_eq!(
            missing(&[fill(), barrier(invisible), copy(&[A, B])]),
            [Missing::Visibility(vk::AccessFlags::SHADER_READ)]
        );
    }

    #[test]
    fn a_barrier_of_everything_orders_everything() {
        let all = Access {
            stages: vk::PipelineStageFlags::ALL_COMMANDS,
            access: vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE,
        };
        let full = || Command::Barrier(Barrier { name: "full", before: all, after: all });
        let indirect = Command::Dispatch {
            kernel: &PROBE_COPY,
            ranges: &[B, C],
            workgroups: Workgroups::Indirect(A),
            constants: &[],
        };
        assert_eq!(findings(&[Command::Fill { range: A }, full(), copy(&[A, B]), full(), indirect]), []);
        let reads = Access { access: vk::AccessFlags::MEMORY_READ, ..all };
        let unavailable = Barrier { name: "half", before: reads, after: all };
        let found = missing(&[copy(&[A, B]), Command::Barrier(unavailable), copy(&[B, C])]);
        assert_eq!(found, [Missing::Availability(vk::AccessFlags::SHADER_WRITE)]);
    }

    #[test]
    fn barriers_chain() {
        let copied = Command::Copy { source: B, destination: C };
        let through = [
            Command::Fill { range: A },
            Command::Barrier(Barrier::TRANSFER_TO_COMPUTE),
            copy(&[A, B]),
            Command::Barrier(Barrier::COMPUTE_TO_TRANSFER),
            copied,
        ];
        assert_eq!(findings(&through), []);
    }

    #[test]
    fn what_a_kernel_does_in_place_is_both() {
        let table = [A];
        let sum = || Command::Dispatch {
            kernel: &SCAN_CHUNK_SUM_U32X1,
            ranges: &table,
            workgroups: Workgroups::Direct([1; 3]),
            constants: &[],
        };
        assert_eq!(missing(&[sum(), sum()]), [Missing::Execution]);
        let reduce = Command::Dispatch {
            kernel: &SCAN_REDUCE_WORDS32X1,
            ranges: &[A, B],
            workgroups: Workgroups::Direct([1; 3]),
            constants: &[],
        };
        assert_eq!(missing(&[sum(), reduce]), [Missing::Execution]);
    }
}
