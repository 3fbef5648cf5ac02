//! Calls of primitives: memory for each argument of a table, a recording, and its results.

use std::sync::Arc;

use subsweep::arguments::{Argument, Memory, Role};
use subsweep::device::{Access, Barrier, BufferRange, Recorder};
use subsweep::headless::GpuBuffer;
use subsweep::{Error, Plan, Primitive, Result};

use crate::array::{Buffer, Output, Source};
use crate::opened::Opened;

/// Inputs by the name of their argument.
pub type Inputs<'i> = [(&'static str, Source<'i>)];

/// The arguments of a recording that has completed.
pub struct Completed<'a> {
    opened: &'a Arc<Opened>,
    arguments: Vec<Argument>,
    /// What was allocated for each argument.
    memory: Vec<Option<GpuBuffer>>,
    /// Whether results stay on the device: they do where an input is there.
    stays: bool,
}

impl Opened {
    /// Runs `plan` on `inputs`. What the recording changes is a copy, and so is what the host sees: another thread may write it
    /// meanwhile, and kernels whose input changes access memory out of bounds.
    pub fn call<P: Primitive>(
        self: &Arc<Self>,
        plan: &Plan<P>,
        mut buffers: P::Buffers,
        count: impl Into<P::Count>,
        inputs: &Inputs<'_>,
    ) -> Result<Completed<'_>> {
        let gpu = self.gpu();
        let mut count = count.into();
        let input = |name: &str| inputs.iter().find(|input| input.0 == name).map(|input| input.1);
        plan.visit_arguments(&mut buffers, &mut count, &mut |argument, memory| {
            if let (Some(source), Memory::Addresses(range)) = (input(argument.name), memory) {
                range.size = source.size();
            }
            Ok(())
        })?;
        let arguments = plan.arguments(&buffers, count)?;
        // Until the work has ended.
        let mut guards = Vec::new();
        // Memory and range of each argument, and the ranges to copy from one to the other.
        let (mut memory, mut ranges, mut copies) = (Vec::new(), Vec::new(), Vec::new());
        for &Argument { name, role, size, .. } in &arguments {
            let source = input(name).filter(|_| role.is_read() && size > 0);
            let got = source.map_or(0, Source::size);
            if role.is_read() && got < size {
                return Err(Error::RangeTooSmall { what: name, needed: size, got });
            }
            let mut on_device = None;
            if let Some(Source::Device(buffer)) = source {
                if !buffer.is_on(self) {
                    return Err(Error::ForeignDevice);
                }
                let range = buffer.memory().range().slice(0, size);
                if let (Role::Read, Some(guard)) = (role, buffer.unseen()) {
                    guards.push(guard);
                    memory.push(None);
                    ranges.push(range);
                    continue;
                }
                on_device = Some(range);
            }
            let allocated = if size > 0 { Some(gpu.allocate(size)?) } else { None };
            let range = allocated.as_ref().map_or(BufferRange::NONE, |buffer| buffer.range().slice(0, size));
            if let (Some(buffer), Some(Source::Host(bytes))) = (&allocated, source) {
                gpu.upload(buffer, 0, &bytes[..size as usize])?;
            }
            copies.extend(on_device.map(|from| [from, range]));
            memory.push(allocated);
            ranges.push(range);
        }
        let mut rows = ranges.iter();
        plan.visit_arguments(&mut buffers, &mut count, &mut |_, memory| {
            let range = rows.next().copied().unwrap_or(BufferRange::NONE);
            match memory {
                Memory::Addresses(addresses) => *addresses = range.addresses(),
                Memory::Buffer(buffer) => *buffer = range,
            }
            Ok(())
        })?;
        let record = |recorder: &mut Recorder<'_>| {
            if !copies.is_empty() {
                copies.iter().for_each(|&[from, to]| recorder.copy(from, to));
                let [source, destination] = [Access::TRANSFER_WRITE, plan.first_access()];
                recorder.barrier(Barrier { name: "copies before the plan", source, destination });
            }
            plan.record(recorder, &buffers, count)
        };
        // SAFETY: the memory is this device's and lives until `submit` has waited. What is written is new, and the rest is read
        // alone; of what the host sees, by the copies, and by the guards the host begins to see nothing else.
        unsafe { gpu.submit(record) }?;
        drop(guards);
        let stays = inputs.iter().any(|(_, source)| matches!(source, Source::Device(_)));
        Ok(Completed { opened: self, arguments, memory, stays })
    }
}

impl Completed<'_> {
    fn position(&self, name: &str) -> usize {
        let position = self.arguments.iter().position(|argument| argument.name == name);
        position.unwrap_or_else(|| panic!("no argument is named {name}"))
    }

    /// The first `count` numbers of an argument, on the host.
    pub fn read<T: bytemuck::Pod>(&self, name: &str, count: u64) -> Result<Vec<T>> {
        match &self.memory[self.position(name)] {
            Some(buffer) => {
                self.opened.gpu().read_values(buffer, 0, usize::try_from(count).unwrap_or(usize::MAX))
            }
            None => Ok(Vec::new()),
        }
    }

    /// The first `size` bytes of a result.
    pub fn take(&mut self, name: &str, size: u64) -> Result<Output> {
        let position = self.position(name);
        match self.memory[position].take_if(|_| self.stays) {
            Some(buffer) => {
                let memory =
                    if size < buffer.range().size / 2 { self.shrunk(&buffer, size)? } else { buffer };
                Ok(Output::Device(Buffer::new(self.opened, memory, size as usize)))
            }
            None => self.read(name, size).map(Output::Host),
        }
    }

    /// The first `size` bytes of a buffer in memory of their own, so that few results keep little of it.
    fn shrunk(&self, buffer: &GpuBuffer, size: u64) -> Result<GpuBuffer> {
        let gpu = self.opened.gpu();
        let small = gpu.allocate(size)?;
        let [from, to] = [buffer, &small].map(|buffer| buffer.range().slice(0, size));
        let record = |recorder: &mut Recorder<'_>| {
            recorder.copy(from, to);
            Ok(())
        };
        // SAFETY: both are this device's, live until `submit` has waited, and are used by nothing else.
        unsafe { gpu.submit(record) }?;
        Ok(small)
    }

    /// All bytes of a result.
    pub fn take_all(&mut self, name: &str) -> Result<Output> {
        self.take(name, self.arguments[self.position(name)].size)
    }

    /// Replaces words of a result, from the word `first` on.
    pub fn replace(&self, name: &str, first: u64, words: &[u32]) -> Result<()> {
        match &self.memory[self.position(name)] {
            Some(buffer) => self.opened.gpu().upload(buffer, 4 * first, words),
            None => Ok(()),
        }
    }
}
