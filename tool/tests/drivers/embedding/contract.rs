//! Plans recorded among a caller's commands: barriers from a plan's accesses, primary and secondary command buffers,
//! threads, frames in flight.

use std::fmt::Debug;
use std::sync::Arc;

use libtest_mimic::Failed;
use subsweep::ash::vk;
use subsweep::device::{Access, AddressRange, Barrier, BufferRange, CommandCounts, Device, Recorder};
use subsweep::headless::Gpu;
use subsweep::scan::{ScanAlgorithm, ScanBuffers, ScanConfig, ScanPlan, ScanPolicy};
use subsweep::sort::{SortAlgorithm, SortBuffers, SortConfig, SortPlan, SortPolicy};
use subsweep::{Config, Count, Counts, ElementType, Error, Plan, Primitive, Result};
use subsweep_hazards::{Finding, HazardChecker};
use subsweep_tool::harness::PolicyName;

use super::super::PRIMITIVES;
use super::arguments;
use super::host::{Host, HostMemory, on_adopted_device, record_barrier, record_host_barrier, submit};

/// Elements of each recording: more than a single workgroup sorts, and more than one tile.
pub const COUNT: u32 = 20_000;
const SIZE: u64 = 4 * COUNT as u64;

/// A plan of any kind with its recording.
pub struct Subject {
    pub name: String,
    pub first: Access,
    pub last: Access,
    pub record: Record,
    pub commands: Box<dyn Fn() -> Result<CommandCounts>>,
    pub scratch_size: u64,
    /// Checks the table of arguments.
    pub check_arguments: Box<dyn Fn() -> Result<(), Failed>>,
}

type Record = Box<dyn Fn(&mut Recorder<'_>) -> Result<()>>;

/// The memory of a subject: the count, four arrays of [`COUNT`] words, and scratch.
#[derive(Clone, Copy)]
pub struct Room {
    pub arrays: BufferRange,
    pub scratch: BufferRange,
    /// Whether the even or the odd arrays are aligned to a word, and not to 16 bytes.
    pub shifted: Option<u64>,
}

impl Subject {
    /// A plan of `config` with a recording of up to `max` elements.
    pub fn new<C: Config>(
        device: &Device,
        name: impl Into<String>,
        config: C,
        buffers: <C::Primitive as Primitive>::Buffers,
        count: impl Into<<C::Primitive as Primitive>::Count>,
    ) -> Result<Self>
    where
        <C::Primitive as Primitive>::Buffers: 'static,
        <C::Primitive as Primitive>::Count: 'static,
    {
        let plan = Arc::new(Plan::<C::Primitive>::new(device, config)?);
        let [counted, checked] = [(); 2].map(|()| Arc::clone(&plan));
        let count = count.into();
        let scratch_size = plan.scratch_requirements(count.max()).size;
        let ends = plan
            .scratch_arrays(count.max())
            .into_iter()
            .map(|array| (array.offset, array.offset + array.size));
        let last = ends.fold(0, |end, array| if array.0 >= end { array.1 } else { u64::MAX });
        assert!(
            (last..last + 16).contains(&scratch_size),
            "arrays overlap, or fill {last} of {scratch_size} bytes"
        );
        Ok(Self {
            name: name.into(),
            first: plan.first_access(),
            last: plan.last_access(),
            scratch_size,
            record: Box::new(move |recorder| plan.record(recorder, &buffers, count)),
            commands: Box::new(move || counted.commands(&buffers, count)),
            check_arguments: Box::new(move || arguments::check(&checked, buffers, count)),
        })
    }

    /// Plans of several configurations, each with a recording of its count.
    pub fn all<C: Config, N>(
        device: &Device,
        name: &str,
        buffers: <C::Primitive as Primitive>::Buffers,
        recordings: impl IntoIterator<Item = (C, N)>,
    ) -> Result<Vec<Self>>
    where
        N: Into<<C::Primitive as Primitive>::Count> + Debug,
        <C::Primitive as Primitive>::Buffers: 'static,
        <C::Primitive as Primitive>::Count: 'static,
    {
        let subject =
            |(config, count)| Self::new(device, format!("{name}, {count:?}"), config, buffers, count);
        recordings.into_iter().map(subject).collect()
    }
}

impl Room {
    pub const ARRAYS_SIZE: u64 = 256 + 4 * Self::STEP;
    /// From one array to the next.
    const STEP: u64 = SIZE + 16;
    /// More scratch than any subject needs.
    pub const SCRATCH_SIZE: u64 = 1 << 20;

    pub fn array(&self, index: u64) -> AddressRange {
        let shift = if self.shifted == Some(index % 2) { 4 } else { 0 };
        self.arrays.slice(256 + index * Self::STEP + shift, SIZE).addresses()
    }

    pub fn count(&self) -> Count {
        self.count_up_to(COUNT)
    }

    pub fn count_up_to(&self, max: u32) -> Count {
        Count::Indirect { address: self.arrays.address, max }
    }
}

/// Plans of each primitive, with direct and indirect counts.
pub fn subjects(device: &Device, room: Room) -> Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    for primitive in &PRIMITIVES {
        subjects.extend((primitive.subjects)(device, room)?);
    }
    Ok(subjects)
}

/// Memory for recordings that are never submitted.
pub fn unused_memory() -> Room {
    let usage = vk::BufferUsageFlags::from_raw(!0);
    let range =
        |address, size| BufferRange { buffer: vk::Handle::from_raw(1), offset: 0, size, address, usage };
    let (arrays, scratch) = (range(1 << 20, Room::ARRAYS_SIZE), range(1 << 30, Room::SCRATCH_SIZE));
    Room { arrays, scratch, shifted: None }
}

/// The hazard checker's findings where a caller fills all memory, records a plan between barriers to `before` and from
/// `after`, copies the arrays, and fills the scratch.
fn findings(
    device: &Device,
    subject: &Subject,
    room: Room,
    before: Access,
    after: Access,
) -> Result<Vec<Finding>> {
    let checker = HazardChecker::default();
    let mut recorder = Recorder::dry(device).traced_by(&checker);
    recorder.begin();
    let scratch = room.scratch.slice(0, subject.scratch_size);
    recorder.fill(room.arrays, 0);
    recorder.fill(scratch, 0);
    recorder.barrier(Barrier { name: "before", source: Access::TRANSFER_WRITE, destination: before });
    (subject.record)(&mut recorder)?;
    recorder.barrier(Barrier { name: "after", source: after, destination: Access::TRANSFER });
    let sink = BufferRange { address: 1 << 40, ..room.arrays };
    recorder.copy(room.arrays, sink);
    recorder.fill(scratch, 0);
    recorder.end();
    Ok(checker.take_findings())
}

/// Barriers from [`first_access`](SortPlan::first_access) and `last_access` suffice; with narrower ones, the hazard
/// checker reports a hazard.
pub fn outer_accesses(gpu: &Gpu) -> Result<(), Failed> {
    let (device, room) = (gpu.device(), unused_memory());
    for subject in subjects(device, room)? {
        let Subject { name, first, last, .. } = &subject;
        let found = findings(device, &subject, room, *first, *last)?;
        assert_eq!(found, [], "{name}");
        for (name, stages) in [("first", first.stages), ("last", last.stages)] {
            // A compute-only queue supports these stages.
            assert!(QUEUE_STAGES.contains(stages), "{name}: {stages:?}");
        }
        let is_hazard = |found: &Finding| matches!(found, Finding::Hazard { .. });
        let found = findings(device, &subject, room, Access::HOST_READ, *last)?;
        assert!(found.iter().any(is_hazard), "{name}, first");
        let found = findings(device, &subject, room, *first, Access::TRANSFER_WRITE)?;
        assert!(found.iter().any(is_hazard), "{name}, last");
    }
    Ok(())
}

/// No kernel accesses an array that is aligned to a word by more bytes at once, whether others are aligned or not. A source and
/// its destination have neighbouring numbers.
pub fn any_alignment(gpu: &Gpu) -> Result<(), Failed> {
    let rooms = [0, 1].map(|shifted| Room { shifted: Some(shifted), ..unused_memory() });
    // Alive together, the plans share their pipelines.
    let all = [subjects(gpu.device(), rooms[0])?, subjects(gpu.device(), rooms[1])?];
    for (shifted, (room, subjects)) in rooms.into_iter().zip(all).enumerate() {
        for subject in subjects {
            let found = findings(gpu.device(), &subject, room, subject.first, subject.last)?;
            assert_eq!(found, [], "{}, arrays {shifted} and {}", subject.name, shifted + 2);
        }
    }
    Ok(())
}

/// The stages of a compute queue.
const QUEUE_STAGES: vk::PipelineStageFlags = vk::PipelineStageFlags::from_raw(
    vk::PipelineStageFlags::COMPUTE_SHADER.as_raw()
        | vk::PipelineStageFlags::TRANSFER.as_raw()
        | vk::PipelineStageFlags::DRAW_INDIRECT.as_raw(),
);

/// Frames in flight, each with its own memory, recorded by one plan.
const FRAMES: usize = 3;

/// Several threads record one plan into primary and secondary command buffers; each is submitted twice, with different
/// GPU-resident counts.
pub fn threads_and_frames(gpu: &Gpu) -> Result<(), Failed> {
    on_adopted_device(gpu, |host, raw, device| {
        for algorithm in [SortAlgorithm::Radix8Bit, SortAlgorithm::Onesweep] {
            let config = SortConfig::keys(ElementType::U32).indirect_count();
            let policy = SortPolicy::tuned(algorithm, device.capabilities(), &config);
            let plan = SortPlan::new(device, config.policy(policy))?;
            let memory: Vec<_> =
                (0..FRAMES).map(|_| memory_for(host, raw, &plan)).collect::<Result<_, _>>()?;
            let ranges: Vec<BufferRange> = memory.iter().map(HostMemory::range).collect();
            std::thread::scope(|scope| -> Result<(), Failed> {
                let recorded: Vec<_> = ranges
                    .iter()
                    .enumerate()
                    .map(|(frame, &range)| {
                        let plan = &plan;
                        scope.spawn(move || record_frame(raw, plan, frame, range))
                    })
                    .collect();
                let recorded: Vec<Recorded> = recorded
                    .into_iter()
                    .map(|thread| thread.join().expect("no thread panics"))
                    .collect::<Result<_, String>>()?;
                let commands: Vec<_> = recorded.iter().map(|recorded| recorded.commands).collect();
                for counts in [[COUNT, 5000, 0], [1, COUNT / 2, 2 * COUNT]] {
                    sort_and_check(raw, &commands, &memory, counts)?;
                }
                recorded.into_iter().for_each(|recorded| recorded.destroy(raw));
                Ok(())
            })?;
        }
        Ok(())
    })
}

/// One recording of onesweep, submitted for keys with different constant digits each time: the skipped passes, and with
/// them the current parity of the descriptors, change from one submission to the next.
pub fn skipped_passes(gpu: &Gpu) -> Result<(), Failed> {
    on_adopted_device(gpu, |host, raw, device| {
        let config = SortConfig::keys(ElementType::U32).indirect_count();
        let policy = PolicyName::Small.sort(device.capabilities(), SortAlgorithm::Onesweep, &config);
        let plan = SortPlan::new(device, config.policy(policy))?;
        let memory = memory_for(host, raw, &plan)?;
        let recorded = record_frame(raw, &plan, 0, memory.range())?;
        // Without pass 0, 1, 2, 3, with all, without 1 and 2, 0 and 1, all but one, and all.
        let masks = [
            0xffff_ff00,
            0xffff_00ff,
            0xff00_ffff,
            0x00ff_ffff,
            0xffff_ffff,
            0xff00_00ff,
            0xffff_0000,
            0x0000_00ff,
            0,
            0xffff_ff00,
        ];
        for mask in masks {
            let mut keys: Vec<u32> = (0..COUNT).map(|index| index.wrapping_mul(0x9e37_79b9) & mask).collect();
            memory.words()[0] = COUNT;
            memory.words()[64..64 + COUNT as usize].copy_from_slice(&keys);
            submit(raw, &[recorded.commands])?;
            keys.sort_unstable();
            assert!(memory.words()[64..64 + COUNT as usize] == keys, "keys that differ in {mask:#010x}");
        }
        recorded.destroy(raw);
        Ok(())
    })
}

/// Memory for the count, the keys and the scratch of a frame.
fn memory_for<'d>(
    host: &Host,
    raw: &'d subsweep::ash::Device,
    plan: &SortPlan,
) -> Result<HostMemory<'d>, Failed> {
    HostMemory::new(host, raw, 256 + SIZE + plan.scratch_requirements(COUNT.into()).size)
}

struct Recorded {
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
}

impl Recorded {
    fn destroy(self, raw: &subsweep::ash::Device) {
        // SAFETY: `submit` has waited.
        unsafe { raw.destroy_command_pool(self.pool, None) };
    }
}

/// Records a frame's primary command buffer; every other one executes a secondary command buffer.
fn record_frame(
    raw: &subsweep::ash::Device,
    plan: &SortPlan,
    frame: usize,
    range: BufferRange,
) -> Result<Recorded, String> {
    let keys = range.slice(256, SIZE).addresses();
    let scratch = range.slice(256 + SIZE, range.size - 256 - SIZE);
    let buffers = SortBuffers::new(keys, scratch);
    let count = Count::Indirect { address: range.address, max: COUNT };
    let text = |error: vk::Result| error.to_string();
    // SAFETY: the command buffers are this thread's alone, and the memory lives until the work is done.
    unsafe {
        let pool = raw.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).map_err(text)?;
        let allocate = |level| {
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .level(level)
                .command_buffer_count(1);
            raw.allocate_command_buffers(&info).map(|commands| commands[0]).map_err(text)
        };
        let primary = allocate(vk::CommandBufferLevel::PRIMARY)?;
        let inheritance = vk::CommandBufferInheritanceInfo::default();
        let info = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
        let is_secondary = frame % 2 == 1;
        let target = if is_secondary { allocate(vk::CommandBufferLevel::SECONDARY)? } else { primary };
        raw.begin_command_buffer(target, &info).map_err(text)?;
        // Orders the last submission before this one.
        let again = Barrier { name: "again", source: plan.last_access(), destination: plan.first_access() };
        record_barrier(raw, target, again);
        plan.cmd_record(target, &buffers, count).map_err(|error| error.to_string())?;
        record_host_barrier(raw, target);
        raw.end_command_buffer(target).map_err(text)?;
        if is_secondary {
            raw.begin_command_buffer(primary, &vk::CommandBufferBeginInfo::default()).map_err(text)?;
            raw.cmd_execute_commands(primary, &[target]);
            raw.end_command_buffer(primary).map_err(text)?;
        }
        Ok(Recorded { pool, commands: primary })
    }
}

/// Submits all frames together, and checks their keys.
fn sort_and_check(
    raw: &subsweep::ash::Device,
    commands: &[vk::CommandBuffer],
    memory: &[HostMemory<'_>],
    counts: [u32; FRAMES],
) -> Result<(), Failed> {
    let input = |frame: usize| -> Vec<u32> {
        (0..COUNT).map(|index| (index + frame as u32).wrapping_mul(0x9e37_79b9)).collect()
    };
    for (frame, (memory, count)) in memory.iter().zip(counts).enumerate() {
        memory.words()[0] = count;
        memory.words()[64..64 + COUNT as usize].copy_from_slice(&input(frame));
    }
    submit(raw, commands)?;
    for (frame, (memory, count)) in memory.iter().zip(counts).enumerate() {
        let mut expected = input(frame);
        expected[..count.min(COUNT) as usize].sort_unstable();
        assert!(memory.words()[64..64 + COUNT as usize] == expected, "frame {frame}, {count} keys");
    }
    Ok(())
}

/// A plan without GPU-resident counts refuses one, and missing usages and invalid addresses are refused.
pub fn undeclared(gpu: &Gpu) -> Result<(), Failed> {
    let (device, room) = (gpu.device(), unused_memory());
    let config = SortConfig::keys(ElementType::U32);
    let policy = SortPolicy::tuned(SortAlgorithm::Radix8Bit, device.capabilities(), &config);
    let plan = SortPlan::new(device, config.policy(policy))?;
    let commands = |scratch: BufferRange| {
        plan.commands(&SortBuffers::new(room.array(0), scratch), u64::from(COUNT)).map(|_| ())
    };
    assert_eq!(commands(room.scratch), Ok(()));
    for flag in [
        vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS,
        vk::BufferUsageFlags::INDIRECT_BUFFER,
        vk::BufferUsageFlags::TRANSFER_DST,
    ] {
        let scratch = BufferRange { usage: room.scratch.usage & !flag, ..room.scratch };
        assert_eq!(commands(scratch), Err(Error::MissingUsage { what: "scratch", missing: flag }));
    }
    let odd = BufferRange { offset: 2, ..room.scratch };
    assert!(matches!(commands(odd), Err(Error::Misaligned { .. })));
    let counted = plan.commands(&SortBuffers::new(room.array(0), room.scratch), room.count());
    assert!(matches!(counted, Err(Error::Unsupported { reason }) if reason.contains("indirect_count")));
    for (what, keys, scratch) in [
        ("keys", AddressRange { address: 0, ..room.array(0) }, room.scratch),
        ("scratch", room.array(0), BufferRange { address: 0, ..room.scratch }),
    ] {
        let refused = plan.commands(&SortBuffers::new(keys, scratch), u64::from(COUNT)).map(|_| ());
        let size = if what == "keys" { SIZE } else { plan.scratch_requirements(COUNT.into()).size };
        assert_eq!(refused, Err(Error::NullAddress { what, size }));
    }
    let size = plan.scratch_requirements(COUNT.into()).size;
    let address = u64::MAX - 15;
    let overflow = |what, address, size| Err(Error::AddressOverflow { what, address, size });
    assert_eq!(commands(BufferRange { address, ..room.scratch }), overflow("scratch", address, size));
    let offset = u64::MAX - 3;
    let refused = commands(BufferRange { offset, ..room.scratch });
    assert_eq!(refused, overflow("scratch in its buffer", offset, size));
    let keys = AddressRange { address, ..room.array(0) };
    let refused = plan.commands(&SortBuffers::new(keys, room.scratch), u64::from(COUNT));
    assert_eq!(refused.map(|_| ()), overflow("keys", address, SIZE));
    let no_buffer = BufferRange { buffer: vk::Buffer::null(), ..room.scratch };
    assert_eq!(commands(no_buffer), Err(Error::NullBuffer { what: "scratch" }));
    let values = SortBuffers::new(room.array(0), room.scratch).values(room.array(1));
    let refused = plan.commands(&values, u64::from(COUNT));
    assert!(matches!(refused, Err(Error::Unsupported { reason }) if reason.contains("keys alone")));

    // Of a range that no recording uses nothing is checked.
    let config = ScanConfig::inclusive(ElementType::U32).out_of_place();
    let policy = ScanPolicy::tuned(ScanAlgorithm::Chained, device.capabilities(), &config);
    let plan = ScanPlan::new(device, config.policy(policy))?;
    assert_eq!(plan.scratch_requirements(1).size, 0);
    let odd = BufferRange { offset: 1, ..room.scratch };
    plan.commands(&ScanBuffers::new(room.array(0), room.array(1), odd), 1u64)?;
    Ok(())
}
