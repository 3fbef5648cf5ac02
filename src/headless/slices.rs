//! Recordings on slices: a buffer for each argument of a table, filled before the recording and read back after it.

use std::sync::Arc;

use super::transfer::OnError;
use super::{Gpu, GpuBuffer};
use crate::device::BufferRange;
use crate::error::{Error, Result};
use crate::primitives::arguments::{Argument, Memory, Role};
use crate::primitives::{ElementType, Number, Plan, Primitive};

/// What a recording reads, by the name of the argument.
pub(super) type Inputs<'i> = [(&'static str, &'i [u8])];

/// A recording of a plan, before memory is allocated.
pub(super) struct Slices<'a, P: Primitive> {
    gpu: &'a Gpu,
    plan: Arc<Plan<P>>,
    buffers: P::Buffers,
    count: P::Count,
    arguments: Vec<Argument>,
    /// Whether the result of a primitive that may be in place has the memory of its source.
    is_in_place: bool,
}

/// The memory of a recording that has completed.
pub(super) struct Completed<'a> {
    gpu: &'a Gpu,
    arguments: Vec<Argument>,
    /// Of each argument, unless it is not accessed.
    memory: Vec<Option<Arc<GpuBuffer>>>,
}

impl Gpu {
    /// A recording with `buffers`, whose ranges are allocated. An argument of any size gets the size of its input.
    pub(super) fn slices<P: Primitive>(
        &self,
        plan: Arc<Plan<P>>,
        mut buffers: P::Buffers,
        count: impl Into<P::Count>,
        inputs: &Inputs<'_>,
    ) -> Result<Slices<'_, P>> {
        let mut count = count.into();
        let given = |name: &str| inputs.iter().find(|input| input.0 == name).map(|input| input.1);
        plan.visit_arguments(&mut buffers, &mut count, &mut |argument, memory| {
            if let (Some(bytes), Memory::Addresses(range)) = (given(argument.name), memory) {
                range.size = bytes.len() as u64;
            }
            Ok(())
        })?;
        let arguments = plan.arguments(&buffers, count)?;
        for &Argument { name, size, .. } in arguments.iter().filter(|argument| argument.role.is_read()) {
            let got = given(name).map_or(0, |bytes| bytes.len() as u64);
            if got < size {
                return Err(Error::RangeTooSmall { what: name, needed: size, got });
            }
        }
        Ok(Slices { gpu: self, plan, buffers, count, arguments, is_in_place: false })
    }
}

impl<'a, P: Primitive> Slices<'a, P> {
    /// Gives the result the memory of the source.
    pub(super) fn in_place(mut self, is_in_place: bool) -> Self {
        self.is_in_place = is_in_place;
        self
    }

    /// Bytes of device memory.
    pub(super) fn device_size(&self) -> u64 {
        let is_allocated = |argument: &&Argument| !self.shares(argument);
        self.arguments.iter().filter(is_allocated).fold(0, |sum, argument| sum.saturating_add(argument.size))
    }

    /// Bytes of an argument.
    pub(super) fn size(&self, name: &str) -> u64 {
        self.arguments[position(&self.arguments, name)].size
    }

    /// Whether an argument has the memory of the one before it.
    fn shares(&self, argument: &Argument) -> bool {
        self.is_in_place && argument.role == Role::WriteInPlace
    }

    /// Allocates the arguments, uploads those that are read, records, submits and waits; does nothing where no result has a
    /// word. `inputs` are those that the recording was made with.
    pub(super) fn run(mut self, inputs: &Inputs<'_>) -> Result<Completed<'a>> {
        let mut memory: Vec<Option<Arc<GpuBuffer>>> = vec![None; self.arguments.len()];
        if !self.arguments.iter().any(|argument| argument.role.is_result() && argument.size > 0) {
            return Ok(Completed { gpu: self.gpu, arguments: self.arguments, memory });
        }
        for (index, argument) in self.arguments.iter().enumerate().filter(|(_, argument)| argument.size > 0) {
            memory[index] = match self.shares(argument) {
                true => memory[index - 1].clone(),
                false => Some(Arc::new(self.gpu.allocate(argument.size)?)),
            };
        }
        for &(name, bytes) in inputs {
            let index = position(&self.arguments, name);
            let Argument { role, size, .. } = self.arguments[index];
            if let Some(buffer) = memory[index].as_ref().filter(|_| role.is_read()) {
                self.gpu.upload(buffer, 0, &bytes[..size as usize])?;
            }
        }
        let mut rows = self.arguments.iter().zip(&memory);
        self.plan.visit_arguments(&mut self.buffers, &mut self.count, &mut |_, place| {
            let row = rows.next().and_then(|(argument, buffer)| Some((argument.size, buffer.as_ref()?)));
            let range = row.map_or(BufferRange::NONE, |(size, buffer)| buffer.range().slice(0, size));
            match place {
                Memory::Addresses(addresses) => *addresses = range.addresses(),
                Memory::Buffer(buffer) => *buffer = range,
            }
            Ok(())
        })?;
        let Self { gpu, plan, buffers, count, arguments, .. } = self;
        // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
        unsafe { gpu.submit_plan(&plan, &buffers, count) }?;
        Ok(Completed { gpu, arguments, memory })
    }
}

/// Where an argument stands in its table.
fn position(arguments: &[Argument], name: &str) -> usize {
    let position = arguments.iter().position(|argument| argument.name == name);
    position.unwrap_or_else(|| panic!("no argument is named {name}"))
}

impl Completed<'_> {
    fn buffer(&self, name: &str) -> Option<&GpuBuffer> {
        self.memory[position(&self.arguments, name)].as_deref()
    }

    /// The first `count` numbers of an argument; none of one that is not accessed.
    pub(super) fn read<T: bytemuck::Pod>(&self, name: &'static str, count: u64) -> Result<Vec<T>> {
        match self.buffer(name) {
            Some(buffer) => self.gpu.read_values(buffer, 0, usize::try_from(count).unwrap_or(usize::MAX)),
            None => Ok(Vec::new()),
        }
    }

    /// Reads arguments into slices; none of one that is not accessed.
    pub(super) fn read_back<'r>(
        &self,
        results: impl IntoIterator<Item = (&'static str, &'r mut [u8])>,
        on_error: OnError,
    ) -> Result<()> {
        let results = results.into_iter().filter_map(|(name, bytes)| Some((self.buffer(name)?, bytes)));
        let mut results: Vec<_> = results.collect();
        if results.is_empty() { Ok(()) } else { self.gpu.read_back(&mut results, on_error) }
    }
}

/// Fails unless `N` is the number type of the configuration. Elements of a caller's functions have no number type: any `N` of 32
/// bits will do, and an error names u32.
pub(super) fn check_type<N: Number>(expected: impl Into<Option<ElementType>>) -> Result<()> {
    match expected.into() {
        Some(expected) if expected == N::TYPE => Ok(()),
        None if size_of::<N>() == 4 => Ok(()),
        expected => {
            Err(Error::ElementMismatch { expected: expected.unwrap_or(ElementType::U32), got: N::TYPE })
        }
    }
}

/// The number of elements of `element_size` bytes in `bytes`.
pub(super) fn element_count(bytes: &[u8], element_size: u64) -> Result<u64> {
    let size = bytes.len() as u64;
    let count = size.checked_div(element_size).filter(|_| size.is_multiple_of(element_size));
    count.ok_or(Error::PartialElement { size, element_size })
}

/// The number of rows of `row_size` bytes in `bytes`, which are values of `value_size` bytes.
pub(super) fn row_count(bytes: &[u8], row_size: u64, value_size: u64) -> Result<u64> {
    let (value_count, columns) = (element_count(bytes, value_size)?, row_size / value_size);
    let count = value_count.checked_div(columns).filter(|_| value_count.is_multiple_of(columns));
    count.ok_or(Error::RowLengthMismatch { value_count, columns: columns as u32 })
}

/// The first `size` bytes of a result.
pub(super) fn result_of<'a>(bytes: &'a mut [u8], size: u64, what: &'static str) -> Result<&'a mut [u8]> {
    let got = bytes.len() as u64;
    let needed = usize::try_from(size).unwrap_or(usize::MAX);
    bytes.get_mut(..needed).ok_or(Error::RangeTooSmall { what, needed: size, got })
}
