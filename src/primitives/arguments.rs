//! The table of arguments of a recording: name, role and size of each, a row of the primitive's [`Buffers`](super::Buffers).
//!
//! From it come the checks of a recording, the memory of the functions on slices, and the tests that wrong memory is refused.

use super::Count;
use super::packed::{Extent, Packed, PackedForm};
use super::scratch::ScratchRequirements;
use crate::device::{AddressRange, BufferRange};
use crate::error::{Error, Result};

/// What a recording does with an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Reads it. May overlap others that are only read.
    Read,
    /// Writes it.
    Write,
    /// Writes it; it may be the same range as the argument before it, which is read.
    WriteInPlace,
    /// Reads and writes it.
    ReadWrite,
    /// Its contents are undefined before and after.
    Scratch,
}

impl Role {
    /// Whether the caller's data is read.
    pub const fn is_read(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }

    /// Whether it holds a result.
    pub const fn is_result(self) -> bool {
        matches!(self, Self::Write | Self::WriteInPlace | Self::ReadWrite)
    }
}

/// An argument of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    /// The field of the buffers, or the name of the count.
    pub name: &'static str,
    /// What the recording does with it.
    pub role: Role,
    /// Bytes that it accesses, from the first on; 0 if it does not.
    pub size: u64,
    /// Multiple of which the address is, bytes.
    pub alignment: u64,
    /// Of elements of a packed type.
    pub(super) packed: Option<Packed>,
}

/// Where an argument is.
#[derive(Debug)]
pub enum Memory<'a> {
    /// By address.
    Addresses(&'a mut AddressRange),
    /// Scratch, by address and handle.
    Buffer(&'a mut BufferRange),
}

/// The size of an argument that some recordings have.
pub(super) const fn size_if(is_there: bool, size: u64) -> u64 {
    if is_there { size } else { 0 }
}

/// Size of `count` rows of `row_size` bytes.
pub(super) fn size_of_rows(count: u64, row_size: u64) -> Result<u64> {
    let max = u64::MAX / row_size;
    count.checked_mul(row_size).ok_or(Error::TooManyElements { count, max, what: "64-bit sizes in bytes" })
}

/// Visitor of an argument.
type Visit<'a> = dyn FnMut(Argument, Memory<'_>) -> Result<()> + 'a;

/// Takes the rows of a table.
pub struct Arguments<'a> {
    scratch_size: u64,
    /// Whether scratch holds unpacked elements, and is needed for any count.
    has_unpacked: bool,
    /// Of the next row.
    packed: Option<Packed>,
    /// Of the next row, where kernels take its packed elements as they are.
    as_is: Option<PackedForm>,
    visit: &'a mut Visit<'a>,
}

impl<'a> Arguments<'a> {
    /// Passes each row to `visit`, of a recording with `scratch_size` bytes of scratch.
    pub(super) fn new(scratch_size: u64, has_unpacked: bool, visit: &'a mut Visit<'a>) -> Self {
        Self { scratch_size, has_unpacked, packed: None, as_is: None, visit }
    }

    /// The next row has elements of this form, if they are packed.
    pub(super) fn with_form(&mut self, form: Option<PackedForm>) -> &mut Self {
        self.packed = form.map(|form| Packed { form, extent: None });
        self
    }

    /// As [`Self::with_form`], of which a recording writes no more than `extent`.
    pub(super) fn up_to(&mut self, form: Option<PackedForm>, extent: Extent) -> &mut Self {
        self.packed = form.map(|form| Packed { form, extent: Some(extent) });
        self
    }

    /// The next row has elements of this form, which kernels take as they are.
    pub(super) fn as_is(&mut self, form: PackedForm) -> &mut Self {
        self.as_is = Some(form);
        self
    }

    fn row(&mut self, name: &'static str, role: Role, size: u64, memory: Memory<'_>) -> Result<()> {
        let packed = self.packed.take();
        let form = self.as_is.take().or(packed.map(|packed| packed.form));
        let alignment = form.map_or(4, |form| form.element.size() as u64);
        (self.visit)(Argument { name, role, size, alignment, packed }, memory)
    }

    /// `size` bytes of `range` are accessed.
    pub(super) fn addresses(
        &mut self,
        name: &'static str,
        role: Role,
        range: &mut AddressRange,
        size: u64,
    ) -> Result<()> {
        self.row(name, role, size, Memory::Addresses(range))
    }

    /// As [`Self::addresses`], which are read.
    pub(super) fn read(&mut self, name: &'static str, range: &mut AddressRange, size: u64) -> Result<()> {
        self.addresses(name, Role::Read, range, size)
    }

    /// As [`Self::addresses`], which are written.
    pub(super) fn write(&mut self, name: &'static str, range: &mut AddressRange, size: u64) -> Result<()> {
        self.addresses(name, Role::Write, range, size)
    }

    /// An indirect count is read.
    pub(super) fn count(&mut self, name: &'static str, count: &mut Count) -> Result<()> {
        let mut range = count.indirect();
        let size = range.size;
        self.read(name, &mut range, size)?;
        if let Count::Indirect { address, .. } = count {
            *address = range.address;
        }
        Ok(())
    }

    /// Scratch, as the algorithm allocates it.
    pub(super) fn scratch(&mut self, range: &mut BufferRange) -> Result<()> {
        self.scratch_if(true, range)
    }

    /// As [`Self::scratch`], unless the recording needs none.
    pub(super) fn scratch_if(&mut self, is_needed: bool, range: &mut BufferRange) -> Result<()> {
        let size = if is_needed || self.has_unpacked { self.scratch_size } else { 0 };
        self.row("scratch", Role::Scratch, size, Memory::Buffer(range))
    }
}

/// Checks arguments: their sizes and alignments row by row, then that none which is written overlaps another.
#[derive(Debug, Default)]
pub(super) struct Checker {
    /// Checked rows. A recording allocates no memory.
    rows: [Option<(Argument, AddressRange)>; Self::MAX_ROWS],
    len: usize,
}

impl Checker {
    /// More than any table has.
    const MAX_ROWS: usize = 12;

    /// Checks the range of a row, and shortens it to the size: an argument that is not accessed becomes empty.
    pub(super) fn check(&mut self, argument: Argument, memory: &mut Memory<'_>) -> Result<()> {
        let Argument { name, size, alignment, .. } = argument;
        let addresses = match memory {
            Memory::Addresses(range) => {
                let checked = range.prefix(name, size)?.aligned(name, alignment)?;
                // To a kernel a null pointer is an argument that is not accessed.
                **range = if size > 0 { checked } else { AddressRange::NONE };
                **range
            }
            Memory::Buffer(range) => {
                **range = ScratchRequirements::new(size).check(**range)?;
                range.addresses()
            }
        };
        self.rows[self.len] = Some((argument, addresses));
        self.len += 1;
        Ok(())
    }

    /// Fails where a range that is written overlaps another.
    pub(super) fn check_disjoint(&self) -> Result<()> {
        let rows = || self.rows.iter().flatten().enumerate();
        for (index, (first, range)) in rows() {
            for (later, (second, other)) in rows().skip(index + 1) {
                let are_read = first.role == Role::Read && second.role == Role::Read;
                let is_in_place = second.role == Role::WriteInPlace && later == index + 1 && range == other;
                if !are_read && !is_in_place && range.overlaps(other) {
                    return Err(Error::Overlap { first: first.name, second: second.name });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
