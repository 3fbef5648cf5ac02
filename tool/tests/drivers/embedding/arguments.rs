//! The table of arguments of each plan: memory that does not meet it is refused, and kernels access no other.

use std::sync::{Arc, Mutex};

use libtest_mimic::Failed;
use subsweep::arguments::{Argument, Memory, Role};
use subsweep::ash::vk;
use subsweep::device::{AddressRange, Command, CommandCounts, Recorder, Trace};
use subsweep::headless::Gpu;
use subsweep::{Error, Plan, Primitive, Result};

use super::contract::{subjects, unused_memory};

pub fn tables(gpu: &Gpu) -> Result<(), Failed> {
    for subject in subjects(gpu.device(), unused_memory())? {
        (subject.check_arguments)().map_err(|failed| format!("{}: {failed:?}", subject.name))?;
    }
    Ok(())
}

/// Checks the table of a plan; `buffers` and `count` are of a recording that it takes.
pub fn check<P: Primitive>(plan: &Plan<P>, buffers: P::Buffers, count: P::Count) -> Result<(), Failed> {
    let mut recording = Recording { plan, buffers, count };
    let arguments = plan.arguments(&buffers, count)?;
    // Nothing is submitted, so any address will do.
    for index in 0..arguments.len() {
        recording.change(index, &mut |address, _| *address = (index as u64 + 1) << 40);
    }
    let apart = plan.commands(&recording.buffers, recording.count);
    if matches!(apart, Err(Error::Unsupported { reason }) if reason.contains("scan is in place")) {
        return Ok(());
    }
    accesses(&recording, &arguments)?;
    for (index, argument) in arguments.iter().enumerate().filter(|(_, argument)| argument.size > 0) {
        refused_alone(&recording, index, argument);
        for (other, second) in arguments.iter().enumerate().skip(index + 1).filter(|(_, row)| row.size > 0) {
            refused_together(&recording, [index, other], [argument, second]);
        }
    }
    Ok(())
}

/// A recording of a plan, which is never submitted.
struct Recording<'a, P: Primitive> {
    plan: &'a Plan<P>,
    buffers: P::Buffers,
    count: P::Count,
}

impl<P: Primitive> Clone for Recording<'_, P> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<P: Primitive> Recording<'_, P> {
    /// Changes the address and the size of an argument.
    fn change(&mut self, index: usize, change: &mut dyn FnMut(&mut u64, &mut u64)) {
        let mut row = 0;
        let visited = self.plan.visit_arguments(&mut self.buffers, &mut self.count, &mut |_, memory| {
            if row == index {
                match memory {
                    Memory::Addresses(range) => change(&mut range.address, &mut range.size),
                    Memory::Buffer(range) => change(&mut range.address, &mut range.size),
                }
            }
            row += 1;
            Ok(())
        });
        visited.expect("the recording is one that the plan takes");
    }

    /// The result of recording with an argument changed. A refused recording has no commands.
    fn with(&self, index: usize, change: &mut dyn FnMut(&mut u64, &mut u64)) -> Result<()> {
        let mut changed = self.clone();
        changed.change(index, change);
        let mut dry = Recorder::dry(self.plan.device());
        let recorded = self.plan.record(&mut dry, &changed.buffers, changed.count);
        assert!(recorded.is_ok() || dry.counts() == CommandCounts::default(), "{recorded:?}");
        recorded
    }
}

/// One argument alone: too small, at a wrong address, at none, or at the end of all memory.
fn refused_alone<P: Primitive>(recording: &Recording<'_, P>, index: usize, argument: &Argument) {
    let &Argument { name: what, role, size, .. } = argument;
    let got = size - 1;
    let is_scratch = role == Role::Scratch;
    let too_small = match is_scratch {
        true => Error::ScratchTooSmall { needed: size, got },
        false => Error::RangeTooSmall { what, needed: size, got },
    };
    let refused = recording.with(index, &mut |_, size| *size = got);
    // A count on the device is of a fixed size, and of some arguments as much is accessed as there is: which, the trials of
    // their primitives know.
    let is_count = role == Role::Read && size == 4 && what.ends_with("count");
    let mut larger = recording.clone();
    larger.change(index, &mut |_, size| *size += 1 << 20);
    let of_larger = recording.plan.arguments(&larger.buffers, larger.count);
    let is_any_size = of_larger.is_ok_and(|arguments| arguments[index].size > size);
    assert!(refused == Err(too_small) || is_count || is_any_size, "{what} too small: {refused:?}");

    let alignment = if is_scratch { 16 } else { 4 };
    let mut address = 0;
    let refused = recording.with(index, &mut |given, _| {
        *given += alignment / 2;
        address = *given;
    });
    assert_eq!(refused, Err(Error::Misaligned { what, address, alignment }));
    let refused = recording.with(index, &mut |address, _| *address = 0);
    assert!(
        matches!(refused, Err(Error::NullAddress { what: name, .. }) if name == what),
        "{what}: {refused:?}"
    );
    let refused = recording.with(index, &mut |address, _| *address = u64::MAX - alignment + 1);
    assert!(
        matches!(refused, Err(Error::AddressOverflow { .. })) || size <= alignment,
        "{what}: {refused:?}"
    );
}

/// Two arguments with a word in common, of which one is written, and two that are the same range.
fn refused_together<P: Primitive>(
    recording: &Recording<'_, P>,
    indices: [usize; 2],
    [first, second]: [&Argument; 2],
) {
    let overlap = Err(Error::Overlap { first: first.name, second: second.name });
    let are_read = first.role == Role::Read && second.role == Role::Read;
    let base = |index: usize| (index as u64 + 1) << 40;
    // Scratch is aligned to more than a word, so that others move into it.
    let (moved, fixed, fixed_size) = match second.role {
        Role::Scratch => (indices[0], indices[1], second.size),
        _ => (indices[1], indices[0], first.size),
    };
    let last_word = base(fixed) + (fixed_size - 1) / 4 * 4;
    let expected = if are_read { Ok(()) } else { overlap.clone() };
    let recorded = recording.with(moved, &mut |address, _| *address = last_word);
    // In place may be the whole range only, which of one word is all.
    let is_in_place = second.role == Role::WriteInPlace && indices[1] == indices[0] + 1;
    if !(is_in_place && last_word == base(fixed)) {
        assert_eq!(recorded, expected, "{} and {}", first.name, second.name);
    }
    let recorded = recording.with(moved, &mut |address, _| *address = base(fixed));
    match recorded {
        // A plan that was made for scans out of place says so.
        Err(Error::Unsupported { reason }) if !is_in_place && reason.contains("out_of_place") => {}
        recorded => {
            let expected = if are_read || is_in_place { Ok(()) } else { overlap };
            assert_eq!(recorded, expected, "{} and {} at one address", first.name, second.name);
        }
    }
}

/// Ranges that kernels, fills and copies access, whether each is written, and by what.
#[derive(Default)]
struct Accessed(Mutex<Vec<(AddressRange, bool, &'static str)>>);

impl Trace for Accessed {
    fn record(&self, _: vk::CommandBuffer, command: &Command<'_>) {
        let mut accessed = self.0.lock().unwrap();
        match command {
            Command::Dispatch { kernel, ranges, .. } => {
                let accesses = kernel.accesses();
                for (&range, access) in ranges.iter().zip(accesses) {
                    accessed.extend(access.read.then_some((range, false, kernel.name)));
                    accessed.extend(access.write.then_some((range, true, kernel.name)));
                }
            }
            Command::Fill { range } | Command::Update { range } => accessed.push((*range, true, "a fill")),
            Command::Copy { source, destination } => {
                accessed.extend([(*source, false, "a copy"), (*destination, true, "a copy")]);
            }
            _ => {}
        }
    }
}

/// All that commands access is within an argument, whose role allows it; what the role promises is accessed.
fn accesses<P: Primitive>(recording: &Recording<'_, P>, arguments: &[Argument]) -> Result<(), Failed> {
    let accessed = Arc::new(Accessed::default());
    let mut recorder = Recorder::dry(recording.plan.device()).traced_by(&*accessed);
    recording.plan.record(&mut recorder, &recording.buffers, recording.count)?;
    let accessed = std::mem::take(&mut *accessed.0.lock().unwrap());
    let mut used = vec![[false; 2]; arguments.len()];
    for (range, is_written, by) in accessed.into_iter().filter(|(range, ..)| range.size > 0) {
        let index = (range.address >> 40) as usize - 1;
        let argument = arguments[index];
        let end = range.address + range.size;
        assert!(end <= ((index as u64 + 1) << 40) + argument.size, "{argument:?}: {range:?}");
        // Which arrays a pass of a sort writes depends on constants and on skipped passes; the cases check which are kept.
        let may_write = argument.role != Role::Read || by.starts_with("sort/");
        assert!(may_write || !is_written, "{argument:?} is written by {by}");
        used[index][usize::from(is_written)] = true;
    }
    for (argument, [is_read, is_written]) in arguments.iter().zip(used).filter(|(row, _)| row.size > 0) {
        assert!(is_read || !argument.role.is_read(), "{argument:?} is never read");
        assert!(is_written || !argument.role.is_result(), "{argument:?} is never written");
    }
    Ok(())
}
