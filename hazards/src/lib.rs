//! Hazard checker: replays recorded commands over the memory ranges that they access.
//!
//! Validation layers do not track accesses through device addresses. The recorder has the range of every pointer, and
//! the kernel table has, from the SPIR-V, whether it is read or written. For every two commands that access the same
//! bytes, at least one of them writing, the checker requires that the barriers between them order the two as in the
//! memory model of Vulkan 1.2 (chapter "Synchronization and Cache Control"): by a chain of execution dependencies and,
//! after a write, by availability and visibility. In a recording without hazards, a barrier that could be removed
//! without causing one is a finding too. So is an address that is not a multiple of what a kernel, as specialized, declares
//! for its accesses.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use subsweep::ash::vk;
use subsweep::device::{Access, AddressRange, Barrier, Command, Trace, Workgroups};
use subsweep::kernels::Kernel;

/// A [`Trace`] that checks each recording when it ends. Pass it to
/// [`Recorder::traced_by`](subsweep::device::Recorder::traced_by), or set it as
/// [`OpenOptions::trace`](subsweep::device::OpenOptions) of a device (`WorkOptions::trace` in `headless`).
#[derive(Debug, Default)]
pub struct HazardChecker {
    recordings: Mutex<HashMap<vk::CommandBuffer, Recording>>,
    /// Of each pipeline so far.
    alignments: Mutex<HashMap<PipelineKey, Arc<[u32]>>>,
    findings: Mutex<Vec<Finding>>,
}

/// A hazard or a superfluous barrier of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Two commands access the same bytes without being ordered.
    Hazard {
        /// The earlier command: its index in the recording, and its name.
        earlier: String,
        /// The later command, likewise.
        later: String,
        /// The bytes that both access.
        range: AddressRange,
        /// The dependency that is missing.
        missing: Missing,
    },
    /// A barrier that could be removed without causing a hazard. Reported only for recordings without hazards.
    SuperfluousBarrier {
        /// Its index in the recording, and its name.
        barrier: String,
    },
    /// A kernel accesses memory by more bytes than the address is a multiple of.
    Misaligned {
        /// The command: its index in the recording, and its name.
        command: String,
        /// The pointer of the kernel.
        pointer: &'static str,
        /// The range that it is given.
        range: AddressRange,
        /// The alignment that an access of the specialized kernel requires, bytes.
        alignment: u32,
    },
}

/// The dependency between two commands that no barrier provides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Execution dependency: the later command's stage does not wait for the earlier one's.
    Execution,
    /// Availability: the earlier command's writes are not made available.
    Availability(vk::AccessFlags),
    /// Visibility: the writes are available, but not visible to the later command's accesses.
    Visibility(vk::AccessFlags),
}

/// The address of a `'static` kernel, and its specialization constants.
type PipelineKey = (usize, Vec<(&'static str, u32)>);

/// State of a recording in progress.
#[derive(Debug, Default)]
struct Recording {
    /// Names of the commands and barriers, by index.
    names: Vec<&'static str>,
    /// Accesses of earlier commands, in order. The last access of its kind to some bytes replaces earlier ones: they
    /// have passed all of its barriers, so that what orders it orders them.
    touches: Vec<PastTouch>,
    /// Indices of barriers that no two commands have needed so far.
    unneeded: BTreeSet<usize>,
    hazards: Vec<Finding>,
}

/// One type of access to one range, in one stage.
#[derive(Debug, Clone, Copy)]
struct Touch {
    range: AddressRange,
    access: vk::AccessFlags,
    stage: vk::PipelineStageFlags,
}

/// An access of an earlier command, and the effect of the barriers since.
#[derive(Debug)]
struct PastTouch {
    index: usize,
    touch: Touch,
    reach: Reach,
    /// `reach` without one barrier, by its index, for each barrier that makes a difference.
    reach_without: Vec<(usize, Reach)>,
}

/// Stages and accesses that are ordered after an access.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Reach {
    /// Stages that wait for it, through any chain of barriers.
    waiting: vk::PipelineStageFlags,
    is_available: bool,
    /// Accesses to which it is visible.
    visible: vk::AccessFlags,
}

const WRITES: vk::AccessFlags = vk::AccessFlags::from_raw(
    vk::AccessFlags::SHADER_WRITE.as_raw() | vk::AccessFlags::TRANSFER_WRITE.as_raw(),
);

impl HazardChecker {
    /// The findings since the last call.
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
            Command::Barrier(barrier) => recording.barrier(barrier),
            _ => {
                let (name, touches) = touches(command);
                recording.command(name, &touches);
                if let Command::Dispatch { kernel, ranges, constants, .. } = command {
                    recording.check_alignment(kernel, ranges, &self.alignments_of(kernel, constants));
                }
            }
        }
    }
}

impl HazardChecker {
    /// The alignment that each member of a kernel's push constants needs.
    fn alignments_of(&self, kernel: &'static Kernel, constants: &[(&'static str, u32)]) -> Arc<[u32]> {
        let key = (std::ptr::from_ref(kernel).addr(), constants.to_vec());
        let mut alignments = self.alignments.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(alignments.entry(key).or_insert_with(|| kernel.alignments(constants).into()))
    }
}

/// Expands `ALL_COMMANDS`, `MEMORY_READ` and `MEMORY_WRITE` to the stages and accesses in use here.
fn expanded(Access { mut stages, mut access }: Access) -> Access {
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

/// The name of a command and its accesses to memory.
fn touches(command: &Command<'_>) -> (&'static str, Vec<Touch>) {
    let (read, write) = (vk::AccessFlags::SHADER_READ, vk::AccessFlags::SHADER_WRITE);
    let shader = |range, access| Touch { range, access, stage: vk::PipelineStageFlags::COMPUTE_SHADER };
    let transfer = |range, access| Touch { range, access, stage: vk::PipelineStageFlags::TRANSFER };
    match *command {
        Command::Dispatch { kernel, ranges, workgroups, .. } => {
            let accesses = kernel.accesses();
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
        _ => unreachable!("the accesses of every command are told here: {command:?}"),
    }
}

impl Touch {
    fn writes(&self) -> bool {
        self.access.intersects(WRITES)
    }

    fn conflicts(&self, later: &Self) -> bool {
        (self.writes() || later.writes()) && self.range.overlaps(&later.range)
    }

    /// Whether this is the same type of access to all the bytes of an earlier one.
    fn replaces(&self, earlier: &Self) -> bool {
        self.access == earlier.access && self.range.contains(&earlier.range)
    }
}

impl Recording {
    /// Checks the next command against all earlier accesses.
    fn command(&mut self, name: &'static str, touches: &[Touch]) {
        let index = self.names.len();
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
                    // One finding for each pair of commands.
                    Err(_) if last_hazard == Some(past.index) => {}
                    Err(missing) => {
                        last_hazard = Some(past.index);
                        self.hazards.push(Finding::Hazard {
                            earlier: format!("{}: {}", past.index, self.names[past.index]),
                            later: format!("{index}: {name}"),
                            range: common(past.touch.range, to.range),
                            missing,
                        });
                    }
                }
            }
        }
        self.touches.retain(|past| !touches.iter().any(|touch| touch.replaces(&past.touch)));
        self.touches.extend(touches.iter().map(|&touch| PastTouch {
            index,
            touch,
            reach: Reach::default(),
            reach_without: Vec::new(),
        }));
    }

    /// Compares the addresses of the last command with the alignments that it needs.
    fn check_alignment(&mut self, kernel: &Kernel, ranges: &[AddressRange], alignments: &[u32]) {
        let pointers =
            kernel.push_constants.iter().zip(alignments).filter(|(member, _)| member.access.is_some());
        for (&range, (member, &alignment)) in ranges.iter().zip(pointers) {
            if !range.is_aligned(alignment.into()) {
                let index = self.names.len() - 1;
                self.hazards.push(Finding::Misaligned {
                    command: format!("{index}: {}", self.names[index]),
                    pointer: member.name,
                    range,
                    alignment,
                });
            }
        }
    }

    /// Applies a barrier to all earlier accesses.
    fn barrier(&mut self, &Barrier { name, source, destination }: &Barrier) {
        let index = self.names.len();
        self.names.push(name);
        self.unneeded.insert(index);
        let barrier = Barrier { name, source: expanded(source), destination: expanded(destination) };
        for PastTouch { touch, reach, reach_without, .. } in &mut self.touches {
            reach_without.iter_mut().for_each(|(_, without)| without.barrier(*touch, &barrier));
            reach_without.push((index, *reach));
            reach.barrier(*touch, &barrier);
            // Where a barrier has made no difference so far, it will make none later.
            reach_without.retain(|(_, without)| without != reach);
        }
    }

    /// The findings. Superfluous barriers are reported only without hazards: otherwise an unneeded barrier may be a
    /// misplaced one.
    fn end(self) -> Vec<Finding> {
        if !self.hazards.is_empty() {
            return self.hazards;
        }
        let named = |&index: &usize| format!("{index}: {}", self.names[index]);
        self.unneeded.iter().map(|index| Finding::SuperfluousBarrier { barrier: named(index) }).collect()
    }
}

impl Reach {
    fn barrier(&mut self, touch: Touch, barrier: &Barrier) {
        let Barrier { source, destination, .. } = barrier;
        if !with_earlier(source.stages).intersects(touch.stage | self.waiting) {
            return;
        }
        self.waiting |= with_later(destination.stages);
        self.is_available |= source.stages.contains(touch.stage) && source.access.contains(touch.access);
        if self.is_available {
            self.visible |= destination.access & accesses_of(destination.stages);
        }
    }

    /// Whether `from`, an access with this reach, is ordered before `to`.
    fn ordered(self, from: Touch, to: Touch) -> Result<(), Missing> {
        if !self.waiting.contains(to.stage) {
            Err(Missing::Execution)
        } else if !from.writes() || self.visible.contains(to.access) {
            // A write after a read needs only an execution dependency.
            Ok(())
        } else if self.is_available {
            Err(Missing::Visibility(to.access))
        } else {
            Err(Missing::Availability(from.access))
        }
    }
}

/// The access types of stages, of those in use here.
fn accesses_of(stages: vk::PipelineStageFlags) -> vk::AccessFlags {
    let of = |Access { stages: stage, access }| {
        if stages.contains(stage) { access } else { vk::AccessFlags::empty() }
    };
    of(Access::COMPUTE) | of(Access::TRANSFER) | of(Access::INDIRECT_READ)
}

/// A source stage includes logically earlier stages in the execution dependency, but not in the memory dependency.
fn with_earlier(stages: vk::PipelineStageFlags) -> vk::PipelineStageFlags {
    let is_compute = stages.contains(vk::PipelineStageFlags::COMPUTE_SHADER);
    if is_compute { stages | vk::PipelineStageFlags::DRAW_INDIRECT } else { stages }
}

/// A destination stage includes logically later stages.
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
            Self::Misaligned { command, pointer, range, alignment } => write!(
                f,
                "command {command} accesses {pointer} at {:#x} by {alignment} bytes at once",
                range.address
            ),
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
mod tests;
