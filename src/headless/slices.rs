//! Recordings on slices: a buffer for each argument of a table, filled before the recording and read back after it.

use std::sync::Arc;

use super::transfer::OnError;
use super::{Gpu, GpuBuffer};
use crate::device::BufferRange;
use crate::error::{Error, Result};
use crate::primitives::arguments::{Argument, Memory, Role};
use crate::primitives::{Counts, ElementType, Number, Plan, Primitive};

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
    memory: Vec<(&'static str, Arc<GpuBuffer>)>,
}

impl Gpu {
    /// A recording with `buffers`, whose ranges are allocated. `sizes` has the bytes of arguments whose size is as given.
    pub(super) fn slices<P: Primitive>(
        &self,
        plan: Arc<Plan<P>>,
        mut buffers: P::Buffers,
        count: impl Into<P::Count>,
        sizes: &[(&'static str, u64)],
    ) -> Result<Slices<'_, P>> {
        let mut count = count.into();
        plan.check_count(count.max())?;
        plan.visit_arguments(&mut buffers, &mut count, &mut |argument, memory| {
            let given = sizes.iter().find(|(name, _)| *name == argument.name);
            if let (Some(&(_, size)), Memory::Addresses(range)) = (given, memory) {
                range.size = size;
            }
            Ok(())
        })?;
        let arguments = plan.arguments(&buffers, count)?;
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
        self.arguments.iter().find(|argument| argument.name == name).map_or(0, |argument| argument.size)
    }

    /// Whether an argument has the memory of the one before it.
    fn shares(&self, argument: &Argument) -> bool {
        self.is_in_place && argument.role == Role::WriteInPlace
    }

    /// Allocates the arguments, uploads those that are read, records, submits and waits. Each that is read has its words in
    /// `inputs`.
    pub(super) fn run(mut self, inputs: &[(&'static str, &[u32])]) -> Result<Completed<'a>> {
        let mut ranges = Vec::new();
        let mut memory: Vec<(&'static str, Arc<GpuBuffer>)> = Vec::new();
        for argument in &self.arguments {
            let Argument { name, role, size } = *argument;
            if size == 0 {
                ranges.push(BufferRange::NONE);
                continue;
            }
            let buffer = match memory.last() {
                Some((_, source)) if self.shares(argument) => Arc::clone(source),
                _ => Arc::new(self.gpu.allocate(size)?),
            };
            if role.is_read() {
                let words = inputs.iter().find(|input| input.0 == name).expect("what is read is given").1;
                self.gpu.upload(&buffer, 0, &words[..size as usize / 4])?;
            }
            ranges.push(buffer.range().slice(0, size));
            memory.push((name, buffer));
        }
        let mut ranges = ranges.into_iter();
        self.plan.visit_arguments(&mut self.buffers, &mut self.count, &mut |_, memory| {
            let range = ranges.next().unwrap_or(BufferRange::NONE);
            match memory {
                Memory::Addresses(addresses) => *addresses = range.addresses(),
                Memory::Buffer(buffer) => *buffer = range,
            }
            Ok(())
        })?;
        let Self { gpu, plan, buffers, count, .. } = self;
        // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
        unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, count)) }?;
        Ok(Completed { gpu, memory })
    }
}

impl<'a> Completed<'a> {
    fn buffer(&self, name: &str) -> Option<&GpuBuffer> {
        self.memory.iter().find(|(other, _)| *other == name).map(|(_, buffer)| &**buffer)
    }

    /// The first `word_count` words of an argument; none of one that is not accessed.
    pub(super) fn read(&self, name: &'static str, word_count: u64) -> Result<Vec<u32>> {
        match self.buffer(name) {
            Some(buffer) => self.gpu.read(buffer, usize::try_from(word_count).unwrap_or(usize::MAX)),
            None => Ok(Vec::new()),
        }
    }

    /// Reads arguments into slices; none of one that is not accessed.
    pub(super) fn read_back(
        &self,
        results: impl IntoIterator<Item = (&'static str, &'a mut [u32])>,
        on_error: OnError,
    ) -> Result<()> {
        let results = results.into_iter().filter_map(|(name, words)| Some((self.buffer(name)?, words)));
        self.gpu.read_back(&mut results.collect::<Vec<_>>(), on_error)
    }
}

/// Fails unless numbers of type `N` are those of the configuration; u32 stands for any type of 32 bits of a custom operator,
/// which has no type.
pub(super) fn check_type<N: Number>(expected: impl Into<Option<ElementType>>) -> Result<()> {
    match expected.into() {
        Some(expected) if expected == N::TYPE => Ok(()),
        None if N::TYPE.words() == 1 => Ok(()),
        expected => {
            Err(Error::ElementMismatch { expected: expected.unwrap_or(ElementType::U32), got: N::TYPE })
        }
    }
}

/// The number of rows of `row_size` bytes in `words`. An error tells it in values of `value_words` words.
pub(super) fn row_count(words: &[u32], row_size: u64, value_words: u32) -> Result<u64> {
    let (word_count, row_words) = (words.len() as u64, row_size / 4);
    if row_words > 0 && word_count.is_multiple_of(row_words) {
        return Ok(word_count / row_words);
    }
    let value_words = u64::from(value_words);
    Err(Error::RowLengthMismatch {
        value_count: word_count / value_words,
        columns: (row_words / value_words) as u32,
    })
}

/// The first `size` bytes of a result.
pub(super) fn result_of<'a>(words: &'a mut [u32], size: u64, what: &'static str) -> Result<&'a mut [u32]> {
    let got = size_of_val(words) as u64;
    let word_count = usize::try_from(size / 4).unwrap_or(usize::MAX);
    words.get_mut(..word_count).ok_or(Error::RangeTooSmall { what, needed: size, got })
}
