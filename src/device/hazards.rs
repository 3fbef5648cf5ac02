//! The proof of barriers: a replay of what was recorded, over the ranges that it was recorded with.
//!
//! No validation layer sees what a dispatch does through device addresses. The recorder knows the range of every
//! pointer, and the kernel table knows, from the instructions, whether it is read or written. So for every two commands
//! that touch the same bytes, one of them writing, this checks that the barriers between them order the two as the
//! memory model of Vulkan 1.2 (chapter "Synchronization and Cache Control") asks: a chain of execution dependencies, and
//! after a write also availability and visibility. Where all is in order, a barrier whose absence would leave it so is a
//! finding too.

use std::collections::{BTreeSet, HashMap};
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
    recordings: Mutex<HashMap<vk::CommandBuffer, Recording>>,
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
    /// A barrier without which everything would be in order just the same. Found only where there is no hazard.
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

/// A recording as far as it has come.
#[derive(Debug, Default)]
struct Recording {
    /// What the commands and barriers are called, by place.
    names: Vec<&'static str>,
    /// What commands did to memory, in order. The last access of its kind to some bytes stands for those before it: they
    /// have all its barriers behind them, so whatever orders it orders them.
    touches: Vec<PastTouch>,
    /// The places of barriers that no two commands have needed.
    unneeded: BTreeSet<usize>,
    hazards: Vec<Finding>,
}

/// One kind of access to one range, in a stage.
#[derive(Debug, Clone, Copy)]
struct Touch {
    range: AddressRange,
    access: vk::AccessFlags,
    stage: vk::PipelineStageFlags,
}

/// What a command did, and what barriers have done for it since.
#[derive(Debug)]
struct PastTouch {
    place: usize,
    touch: Touch,
    reach: Reach,
    /// The same without a barrier, by place, for each whose absence makes a difference.
    reach_without: Vec<(usize, Reach)>,
}

/// Who may rely on it that an access has come to pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Reach {
    /// The stages that wait for it, through any chain of barriers.
    waiting: vk::PipelineStageFlags,
    is_available: bool,
    /// The accesses to which it is visible.
    visible: vk::AccessFlags,
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
        let recording = recordings.entry(command_buffer).or_default();
        match command {
            Command::Begin => *recording = Recording::default(),
            Command::Submit => {}
            Command::End => {
                let found = std::mem::take(recording).end();
                self.findings.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
            }
            Command::Barrier(barrier) => recording.pass(barrier),
            _ => {
                let (name, touches) = touches(command);
                recording.work(name, &touches);
            }
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

/// A command, as memory sees it: its name, and what it does.
fn touches(command: &Command<'_>) -> (&'static str, Vec<Touch>) {
    let (read, write) = (vk::AccessFlags::SHADER_READ, vk::AccessFlags::SHADER_WRITE);
    let shader = |range, access| Touch { range, access, stage: vk::PipelineStageFlags::COMPUTE_SHADER };
    let transfer = |range, access| Touch { range, access, stage: vk::PipelineStageFlags::TRANSFER };
    match *command {
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
    }
}

impl Touch {
    fn writes(&self) -> bool {
        self.access.intersects(WRITES)
    }

    fn conflicts(&self, later: &Self) -> bool {
        (self.writes() || later.writes()) && self.range.overlaps(&later.range)
    }

    /// Whether it does the same to all the bytes of an earlier one.
    fn stands_for(&self, earlier: &Self) -> bool {
        self.access == earlier.access && self.range.contains(&earlier.range)
    }
}

impl Recording {
    /// Has the next command, which must come in order behind all whose bytes it touches.
    fn work(&mut self, name: &'static str, touches: &[Touch]) {
        let place = self.names.len();
        self.names.push(name);
        let mut last_hazard = None;
        for past in &self.touches {
            for &to in touches.iter().filter(|to| past.touch.conflicts(to)) {
                match past.reach.ordered(past.touch, to) {
                    Ok(()) => {
                        let is_needed = |without: &Reach| without.ordered(past.touch, to).is_err();
                        let needed = past.reach_without.iter().filter(|(_, without)| is_needed(without));
                        needed.for_each(|(barrier, _)| _ = self.unneeded.remove(barrier));
                    }
                    // One finding for two commands.
                    Err(_) if last_hazard == Some(past.place) => {}
                    Err(missing) => {
                        last_hazard = Some(past.place);
                        self.hazards.push(Finding::Hazard {
                            earlier: format!("{}: {}", past.place, self.names[past.place]),
                            later: format!("{place}: {name}"),
                            range: common(past.touch.range, to.range),
                            missing,
                        });
                    }
                }
            }
        }
        self.touches.retain(|past| !touches.iter().any(|touch| touch.stands_for(&past.touch)));
        self.touches.extend(touches.iter().map(|&touch| PastTouch {
            place,
            touch,
            reach: Reach::default(),
            reach_without: Vec::new(),
        }));
    }

    /// Has a barrier, behind everything so far.
    fn pass(&mut self, &Barrier { name, before, after }: &Barrier) {
        let place = self.names.len();
        self.names.push(name);
        self.unneeded.insert(place);
        let barrier = Barrier { name, before: spelled_out(before), after: spelled_out(after) };
        for PastTouch { touch, reach, reach_without, .. } in &mut self.touches {
            reach_without.iter_mut().for_each(|(_, without)| without.pass(*touch, &barrier));
            reach_without.push((place, *reach));
            reach.pass(*touch, &barrier);
            // What has come as far without a barrier goes on as far.
            reach_without.retain(|(_, without)| without != reach);
        }
    }

    /// Everything that is wrong. What is superfluous shows only where all is in order: until then a barrier that nothing
    /// needs may be one in the wrong place.
    fn end(self) -> Vec<Finding> {
        if !self.hazards.is_empty() {
            return self.hazards;
        }
        let named = |&place: &usize| format!("{place}: {}", self.names[place]);
        self.unneeded.iter().map(|place| Finding::SuperfluousBarrier { barrier: named(place) }).collect()
    }
}

impl Reach {
    fn pass(&mut self, touch: Touch, barrier: &Barrier) {
        let Barrier { before, after, .. } = barrier;
        if !with_earlier(before.stages).intersects(touch.stage | self.waiting) {
            return;
        }
        self.waiting |= with_later(after.stages);
        self.is_available |= before.stages.contains(touch.stage) && before.access.contains(touch.access);
        if self.is_available {
            self.visible |= after.access & accesses_of(after.stages);
        }
    }

    /// Whether `from`, which has come so far, is ordered before `to`.
    fn ordered(self, from: Touch, to: Touch) -> Result<(), Missing> {
        if !self.waiting.contains(to.stage) {
            Err(Missing::Execution)
        } else if !from.writes() || self.visible.contains(to.access) {
            // Overwriting what was read needs no more than to come later.
            Ok(())
        } else if self.is_available {
            Err(Missing::Visibility(to.access))
        } else {
            Err(Missing::Availability(from.access))
        }
    }
}

/// What stages do to memory, of what there is here.
fn accesses_of(stages: vk::PipelineStageFlags) -> vk::AccessFlags {
    let of = |Access { stages: stage, access }| {
        if stages.contains(stage) { access } else { vk::AccessFlags::empty() }
    };
    of(Access::COMPUTE) | of(Access::TRANSFER) | of(Access::INDIRECT_READ)
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
    fn a_wider_read_does_not_hide_what_was_written_before() {
        let wide = AddressRange::new(0x1000, 128);
        let indirect = Command::Dispatch {
            kernel: &PROBE_COPY,
            ranges: &[B, C],
            workgroups: Workgroups::Indirect(A),
            constants: &[],
        };
        let to_compute = Command::Barrier(Barrier::TRANSFER_TO_COMPUTE);
        let found = missing(&[Command::Fill { range: A }, to_compute, copy(&[wide, C]), COMPUTE, indirect]);
        assert_eq!(found, [Missing::Execution]);
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
    fn a_recording_of_thousands_of_commands_is_checked_at_once() {
        let turn = || [copy(&[A, B]), COMPUTE, copy(&[B, A]), COMPUTE];
        let turns = |count| (0..count).flat_map(move |_| turn());
        let last = || [copy(&[A, C])];
        let whole: Vec<_> = turns(20_000).chain(last()).collect();
        assert_eq!(findings(&whole), []);
        let twice: Vec<_> = turns(10_000).chain([COMPUTE]).chain(turns(10_000)).chain(last()).collect();
        let named = |place| Finding::SuperfluousBarrier { barrier: format!("{place}: compute to compute") };
        assert_eq!(findings(&twice), [named(39_999), named(40_000)]);
        let mut lacking = whole;
        lacking.remove(40_001);
        let found = findings(&lacking);
        let [Finding::Hazard { earlier, later, .. }] = &found[..] else { panic!("{found:?}") };
        assert_eq!([earlier, later], ["40000: probe/copy", "40001: probe/copy"]);
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
