//! Reading a table from a file, a pipe or standard input.

use std::fs::File;
use std::io::{self, Read};

use super::{ElementType, Format, Shape, Source, Table, memory, npy, streams};

/// Reads all of `source`, which is an `.npy` file if it starts with the magic of one, and else raw
/// elements of the type `declared`. Of an `.npy` file `declared` may be left out, and must agree
/// with the header where it is not.
///
/// Nothing is read that is not `taken`. A regular file's length is compared with what it should be
/// before memory is taken for it; of a pipe no more is held than has arrived, twice over at most.
pub fn read(source: &Source, declared: Option<ElementType>, taken: &Taken) -> Result<Table, InputError> {
    let table = match source {
        Source::Stdin if streams::is_stdin_closed() => Err(InputProblem::Closed),
        Source::Stdin => read_from(io::stdin().lock(), None, declared, taken),
        Source::File(path) => open(path).and_then(|(file, size)| read_from(file, size, declared, taken)),
    };
    table.map_err(|problem| InputError { input: source.to_string(), problem })
}

/// What a command takes.
#[derive(Clone, Copy, Debug)]
pub struct Taken<'a> {
    /// The types of elements.
    pub elements: &'a [ElementType],
    /// One dimension, or up to two.
    pub max_dimensions: usize,
    /// The most elements.
    pub max_count: u64,
}

/// Why no table was read. One line, with the file's name and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{input}: {problem}")]
pub struct InputError {
    /// The file, or "standard input".
    pub input: String,
    /// What is wrong with it.
    pub problem: InputProblem,
}

/// What can be wrong with an input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputProblem {
    /// The file cannot be opened.
    #[error("cannot be opened ({0}); check the path and its permissions")]
    Open(io::Error),
    /// Reading failed on the way.
    #[error("cannot be read ({0})")]
    Read(io::Error),
    /// Standard input is not there.
    #[error("is closed; give it the elements, or name a file")]
    Closed,
    /// The path is a directory's.
    #[error("is a directory; name a file in it")]
    Directory,
    /// A raw file, and nothing says what it holds.
    #[error("is not an .npy file; if it holds raw elements, say of which type with --type")]
    TypeMissing,
    /// Nothing at all, and nothing says that it stands for zero elements.
    #[error("is empty; give it elements, or say with --type of which type it holds none")]
    Empty,
    /// A raw file that ends inside an element.
    #[error(
        "holds {size} bytes, which is no multiple of the {} bytes of a {element}; \
         check --type, or whether it is complete",
        element.size()
    )]
    PartialElement {
        /// Bytes in the file.
        size: u64,
        /// The type declared.
        element: ElementType,
    },
    /// `--type` contradicts the header.
    #[error(
        "holds {found} by its .npy header, and --type says {declared}; \
         leave --type out, or save a.astype('{}')",
        declared.descr()
    )]
    TypeDisagrees {
        /// The type in the header.
        found: ElementType,
        /// The type declared.
        declared: ElementType,
    },
    /// A type that is not taken.
    #[error(
        "holds elements of type {found}, and {} is taken; save {} if every element fits, \
         for it changes those that are negative, fractional or too large",
        names(taken),
        conversions(taken)
    )]
    ElementNotTaken {
        /// The type as it was found, cut to a line.
        found: String,
        /// The types taken.
        taken: Vec<ElementType>,
    },
    /// A type that is taken, but big-endian.
    #[error("holds big-endian elements ({found}); save a.astype('{}')", element.descr())]
    ByteOrder {
        /// The type as it was found.
        found: String,
        /// The type less its byte order.
        element: ElementType,
    },
    /// An `.npy` version from the future, or no version at all.
    #[error(
        "has .npy version {major}.{minor}, and 1.0, 2.0 and 3.0 are known; save it again with numpy.save"
    )]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// An `.npy` header longer than any that is needed.
    #[error(
        "has an .npy header of {size} bytes, and {} are enough for a plain type; \
         save it again with numpy.save",
        npy::MAX_HEADER_SIZE
    )]
    HeaderTooLong {
        /// The length that the file gives, in bytes.
        size: u32,
    },
    /// An `.npy` header that is none.
    #[error("has a damaged .npy header ({what}, at byte {at} of its text); save it again with numpy.save")]
    Malformed {
        /// What is wrong.
        what: &'static str,
        /// Bytes into the header's text.
        at: usize,
    },
    /// A shape that is no tuple of whole numbers.
    #[error("has a damaged shape {shape} in its .npy header; save it again with numpy.save")]
    Shape {
        /// The shape as it was found, cut to a line.
        shape: String,
    },
    /// A shape of no or too many dimensions.
    #[error("has {count} dimensions, shape {shape}, and {}", dimensions_taken(*count, *max))]
    Dimensions {
        /// The shape as it was found, cut to a line.
        shape: String,
        /// Its dimensions.
        count: usize,
        /// As many as are taken.
        max: usize,
    },
    /// More elements than are taken.
    #[error("holds {count} elements, and at most {max} are taken; split it")]
    TooMany {
        /// Its elements.
        count: u64,
        /// The most that are taken.
        max: u64,
    },
    /// A table of zero columns, in which there is nothing to scan or to sort.
    #[error("has shape ({rows}, 0), a table without columns; save one with at least one column")]
    NoColumns {
        /// Its rows.
        rows: usize,
    },
    /// A table stored column after column.
    #[error("is stored by columns (fortran_order); save numpy.ascontiguousarray(a)")]
    ByColumns,
    /// A shape of more bytes than can be counted.
    #[error(
        "has shape {shape} in its .npy header, more than any file can hold; save it again with numpy.save"
    )]
    TooLarge {
        /// The shape as it was found, cut to a line.
        shape: String,
    },
    /// The end came before the header or the elements that it promises were complete.
    #[error(
        "ended after {held} of {needed} bytes; it is truncated or its .npy header is wrong: make it again"
    )]
    Ended {
        /// Bytes that were there.
        held: u64,
        /// Bytes needed, header included; at least these, where the header itself is not complete.
        needed: u64,
    },
    /// More bytes than the header promises.
    #[error(
        "goes on after the {needed} bytes that its .npy header promises; \
         cut it there, or save it again with numpy.save"
    )]
    Extra {
        /// Bytes promised, header included.
        needed: u64,
    },
    /// A regular file that grew or shrank meanwhile.
    #[error("changed while it was read; try again once it is complete")]
    Changed,
    /// More than the machine's memory.
    #[error("needs {size} bytes of memory, and there is not as much; split it")]
    Memory {
        /// Bytes that were asked for.
        size: u64,
    },
}

fn names(elements: &[ElementType]) -> String {
    elements.iter().map(|element| element.name()).collect::<Vec<_>>().join("|")
}

fn conversions(elements: &[ElementType]) -> String {
    elements.iter().map(|element| format!("a.astype('{}')", element.descr())).collect::<Vec<_>>().join(" or ")
}

fn dimensions_taken(count: usize, max: usize) -> &'static str {
    match (count, max) {
        (_, 1) => "one is taken; save a.reshape(-1)",
        (0, _) => "one or two are taken; save a.reshape(-1)",
        _ => "one or two are taken; save a.reshape(-1) or a.reshape(len(a), -1)",
    }
}

/// Fills `bytes` as far as `reader` goes, and returns how far that was.
pub(super) fn read_full(reader: &mut impl Read, bytes: &mut [u8]) -> Result<usize, InputProblem> {
    let mut filled = 0;
    while filled < bytes.len() {
        match reader.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(InputProblem::Read(error)),
        }
    }
    Ok(filled)
}

/// The file, and its length if it is a regular one.
fn open(path: &std::path::Path) -> Result<(File, Option<u64>), InputProblem> {
    let file = File::open(path).map_err(InputProblem::Open)?;
    let metadata = file.metadata().map_err(InputProblem::Open)?;
    if metadata.is_dir() {
        return Err(InputProblem::Directory);
    }
    Ok((file, metadata.is_file().then_some(metadata.len())))
}

/// As [`read`], from a regular file of `file_size` bytes or from a stream.
fn read_from(
    mut reader: impl Read,
    file_size: Option<u64>,
    declared: Option<ElementType>,
    taken: &Taken,
) -> Result<Table, InputProblem> {
    let mut start = [0; npy::MAGIC.len()];
    let start_size = read_full(&mut reader, &mut start)?;
    if start == npy::MAGIC {
        read_npy(reader, file_size, declared, taken)
    } else {
        let element = declared.ok_or(match start_size {
            0 => InputProblem::Empty,
            _ => InputProblem::TypeMissing,
        })?;
        if !taken.elements.contains(&element) {
            let taken = taken.elements.to_vec();
            return Err(InputProblem::ElementNotTaken { found: element.to_string(), taken });
        }
        read_raw(start[..start_size].chain(reader), file_size, element, taken.max_count)
    }
}

fn read_npy(
    mut reader: impl Read,
    file_size: Option<u64>,
    declared: Option<ElementType>,
    taken: &Taken,
) -> Result<Table, InputProblem> {
    let npy::Header { element, shape, header_size, payload_size } = npy::read_header(&mut reader, taken)?;
    if let Some(declared) = declared.filter(|&declared| declared != element) {
        return Err(InputProblem::TypeDisagrees { found: element, declared });
    }
    let needed = header_size + payload_size;
    match file_size {
        Some(held) if held < needed => return Err(InputProblem::Ended { held, needed }),
        Some(held) if held > needed => return Err(InputProblem::Extra { needed }),
        _ => {}
    }
    check_count(payload_size, element, taken.max_count)?;
    let (words, held) = read_words(&mut reader, payload_size, file_size.is_some())?;
    if held < payload_size {
        return Err(match file_size {
            Some(_) => InputProblem::Changed,
            None => InputProblem::Ended { held: header_size + held, needed },
        });
    }
    if goes_on(&mut reader)? {
        return Err(if file_size.is_some() { InputProblem::Changed } else { InputProblem::Extra { needed } });
    }
    Ok(Table { format: Format::Npy, element, shape, words })
}

fn read_raw(
    mut reader: impl Read,
    file_size: Option<u64>,
    element: ElementType,
    max_count: u64,
) -> Result<Table, InputProblem> {
    let check = |size: u64| match size % element.size() as u64 {
        0 => check_count(size, element, max_count),
        _ => Err(InputProblem::PartialElement { size, element }),
    };
    file_size.map_or(Ok(()), check)?;
    let (words, held) = read_words(&mut reader, file_size.unwrap_or(u64::MAX), file_size.is_some())?;
    if file_size.is_some_and(|size| held < size) || goes_on(&mut reader)? {
        return Err(InputProblem::Changed);
    }
    check(held)?;
    let count = size_of_val(words.as_slice()) / element.size();
    Ok(Table { format: Format::Raw, element, shape: Shape::Flat { count }, words })
}

/// Reads `max_size` bytes, or fewer where the end comes before them; returns them with their
/// number. A last word that is not complete is filled up with zeros. Where `max_size` is known to
/// be there memory is taken at once.
fn read_words(
    reader: &mut impl Read,
    max_size: u64,
    is_known: bool,
) -> Result<(Vec<u32>, u64), InputProblem> {
    // Small enough to be cleared in a cache, just before the bytes arrive.
    const CHUNK_SIZE: u64 = 1 << 20;

    let mut words = Vec::new();
    let available = memory::available().unwrap_or(u64::MAX);
    if is_known {
        if max_size > available {
            return Err(InputProblem::Memory { size: max_size });
        }
        let count = usize::try_from(max_size / 4).map_err(|_| InputProblem::Memory { size: max_size })?;
        words.try_reserve_exact(count).map_err(|_| InputProblem::Memory { size: max_size })?;
    }
    let mut held = 0;
    while held < max_size {
        // Chunks before this one are full, so it starts with a word.
        let start = words.len();
        let size = CHUNK_SIZE.min(max_size - held) as usize;
        let count = size.div_ceil(4);
        let needed = held + size as u64;
        if needed > available || words.try_reserve(count).is_err() {
            return Err(InputProblem::Memory { size: needed });
        }
        words.resize(start + count, 0);
        let filled = read_full(reader, &mut bytemuck::cast_slice_mut(&mut words[start..])[..size])?;
        held += filled as u64;
        if filled < size {
            words.truncate(start + filled.div_ceil(4));
            break;
        }
    }
    Ok((words, held))
}

fn check_count(size: u64, element: ElementType, max: u64) -> Result<(), InputProblem> {
    let count = size / element.size() as u64;
    if count > max { Err(InputProblem::TooMany { count, max }) } else { Ok(()) }
}

fn goes_on(reader: &mut impl Read) -> Result<bool, InputProblem> {
    Ok(read_full(reader, &mut [0])? > 0)
}

#[cfg(test)]
mod tests;
