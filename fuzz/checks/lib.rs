//! What every reader of foreign bytes keeps to, tried on one input: no panic, no more memory than the input's length
//! justifies, one clean line where it is refused, and the same answer however it is read.
//!
//! The fuzz targets and `tests/hostile` share this.

use std::io::Read;
use std::mem::discriminant;

use subsweep::harness::{ForeignModule, InspectedDevice, ModuleError, Report, ReportError};
use subsweep::table::{Bytes, ElementType, Format, Table, TableError, Taken};

pub mod memory;
pub mod planted;

/// What a refusal and other words may take.
const WORDS_SIZE: usize = 4 << 10;
/// The longest `.npy` header, which is taken on the word of its length.
const HEADER_SIZE: usize = 64 << 10;
/// The first piece of a stream.
const CHUNK_SIZE: usize = 64 << 10;

/// The most that a table's file of `size` bytes justifies: its header, then itself.
pub fn file_bound(size: usize) -> usize {
    WORDS_SIZE + HEADER_SIZE + size
}

/// The same of a stream: what arrived is held twice over at most, and once more while it moves there.
pub fn stream_bound(size: usize) -> usize {
    WORDS_SIZE + HEADER_SIZE + CHUNK_SIZE + 3 * size
}

/// The same of a report. The most is taken by what a device's section has beside the fields that are known, which serde
/// holds as a tree: an array in an array takes 128 bytes for two brackets. Words about a text where none belongs, which is
/// quoted with up to six characters a byte and copied to where it grows by doubling, take less.
pub fn report_bound(size: usize) -> usize {
    WORDS_SIZE + 64 * size
}

/// The same of a module: its words, and an index of its instructions, whose tables grow by doubling. The most is taken by
/// types of two words.
pub fn module_bound(size: usize) -> usize {
    WORDS_SIZE + 32 * size
}

const EVERYTHING: Taken = {
    use ElementType::{F32, F64, I32, I64, U32, U64};
    Taken { elements: &[U32, I32, F32, U64, I64, F64], max_dimensions: 2, max_count: u64::MAX }
};
/// As little as a command could take.
const LITTLE: Taken = Taken { elements: &[ElementType::U32], max_dimensions: 1, max_count: 3 };

/// Reads `bytes` with types declared of each size that there is, and as values. Returns how many of the former readings
/// gave a table.
pub fn raw(bytes: &[u8]) -> usize {
    for size in [4, 8, 5] {
        values(bytes, (bytes.len() / size) as u64);
    }
    let types = [ElementType::U32, ElementType::F64].into_iter();
    types.filter_map(|element| table(bytes, Some(element))).inspect(|table| check_raw(table, bytes)).count()
}

/// Reads `bytes`, which have to say themselves what they are. Returns whether that gave a table.
pub fn npy(bytes: &[u8]) -> bool {
    table(bytes, None).is_some()
}

/// Reads a table with everything taken, and holds other readings to that: with little taken, and while the file changes.
fn table(bytes: &[u8], declared: Option<ElementType>) -> Option<Table> {
    let everything = read(bytes, declared, &EVERYTHING);
    for size in [bytes.len() + 8, bytes.len().saturating_sub(8)] {
        let read = read_file(bytes, size, declared, &EVERYTHING);
        assert!(
            read.is_err() || size == bytes.len(),
            "{read:?} was read of a file that was {size} bytes long"
        );
    }
    let little = read(bytes, declared, &LITTLE);
    if let Some(little) = little {
        assert!(little.shape.element_count() <= 3 && little.shape.columns() == 1);
        assert_eq!(Some(little), everything);
    }
    everything
}

/// Reads a table from a file and from a stream, which have to agree.
fn read(bytes: &[u8], declared: Option<ElementType>, taken: &Taken) -> Option<Table> {
    let file = read_file(bytes, bytes.len(), declared, taken);
    // It comes in two pieces.
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let stream = memory::within(stream_bound(bytes.len()), bytes, || {
        let reader = first.chain(second);
        Table::read(Bytes { reader, file_size: None, memory_size: u64::MAX }, declared, taken)
    });
    match (file, stream) {
        (Ok(file), Ok(stream)) => {
            assert_eq!(file, stream);
            check_table(&file, bytes);
            Some(file)
        }
        (Err(file), Err(stream)) => {
            check_line(&file.to_string());
            check_line(&stream.to_string());
            assert_eq!(discriminant::<TableError>(&file), discriminant(&stream), "{file:?}, {stream:?}");
            None
        }
        (file, stream) => panic!("a file gives {file:?}, and a stream {stream:?}"),
    }
}

/// Reads the values of `count` keys from a file and from a stream, which have to agree.
fn values(bytes: &[u8], count: u64) {
    let file = memory::within(file_bound(bytes.len()), bytes, || {
        let file_size = Some(bytes.len() as u64);
        Table::read_values(Bytes { reader: bytes, file_size, memory_size: u64::MAX }, count)
    });
    let stream = memory::within(stream_bound(bytes.len()), bytes, || {
        Table::read_values(Bytes { reader: bytes, file_size: None, memory_size: u64::MAX }, count)
    });
    match (file, stream) {
        (Ok(file), Ok(stream)) => {
            assert_eq!(file, stream);
            assert_eq!(file.shape.element_count() as u64, count);
            check_table(&file, bytes);
        }
        (Err(file), Err(stream)) => {
            check_line(&file.to_string());
            check_line(&stream.to_string());
            assert_eq!(discriminant::<TableError>(&file), discriminant(&stream), "{file:?}, {stream:?}");
        }
        (file, stream) => panic!("a file gives {file:?}, and a stream {stream:?}"),
    }
}

/// Reads a file that was `size` bytes long when its length was asked for.
fn read_file(
    bytes: &[u8],
    size: usize,
    declared: Option<ElementType>,
    taken: &Taken,
) -> Result<Table, TableError> {
    memory::within(file_bound(size), bytes, || {
        let file = Bytes { reader: bytes, file_size: Some(size as u64), memory_size: u64::MAX };
        Table::read(file, declared, taken)
    })
}

/// A table holds the end of its file, and is read back from what is written of it.
fn check_table(table: &Table, bytes: &[u8]) {
    assert_eq!(table.payload().len(), table.shape.element_count() * table.element.size());
    assert!(bytes.ends_with(table.payload()));
    let written = [&table.header(), table.payload()].concat();
    let bytes = Bytes { reader: &written[..], file_size: None, memory_size: u64::MAX };
    let read = Table::read(bytes, Some(table.element), &EVERYTHING);
    assert!(read.as_ref().is_ok_and(|read| read == table), "{table:?} was written, and {read:?} read");
}

/// Raw elements are their file.
fn check_raw(table: &Table, bytes: &[u8]) {
    assert!(table.format == Format::Npy || table.payload() == bytes);
}

/// Reads a report, and reads back what is written of it.
pub fn report(bytes: &[u8]) -> Result<Report, ReportError> {
    let read = memory::within(report_bound(bytes.len()), bytes, || Report::from_json(bytes));
    match &read {
        Ok(report) => {
            let written = report.to_json().expect("a report can be written");
            assert_eq!(Report::from_json(&written).as_ref(), Ok(report));
        }
        Err(error) => check_line(&error.to_string()),
    }
    read
}

/// Reads an inspection, and reads back what is written of it. Its devices are held as trees, as a report's are.
pub fn inspection(bytes: &[u8]) -> Result<Vec<InspectedDevice>, ReportError> {
    let read = memory::within(report_bound(bytes.len()), bytes, || InspectedDevice::all_from_json(bytes));
    match &read {
        Ok(devices) => {
            let written = serde_json::to_vec(devices).expect("an inspection can be written");
            assert_eq!(InspectedDevice::all_from_json(&written).as_ref(), Ok(devices));
        }
        Err(error) => check_line(&error.to_string()),
    }
    read
}

/// Reads a module, and specializes it: as it is, by its first constant, and for an entry point that it lacks. Returns whether
/// a driver would be asked for a pipeline.
pub fn module(bytes: &[u8]) -> bool {
    let constants = ["64", "0xFF", "-1.5", "true"].map(|value| [(0, value.to_owned())]);
    let read = memory::within(module_bound(bytes.len()), bytes, || {
        let read = ForeignModule::from_bytes(bytes)?;
        for constants in &constants {
            check_module_error(read.specialize(None, constants).err());
        }
        check_module_error(read.specialize(Some("no such entry point"), &[]).err());
        read.specialize(None, &[]).map(drop)
    });
    let is_read = read.is_ok();
    check_module_error(read.err());
    is_read
}

fn check_module_error(error: Option<ModuleError>) {
    error.iter().for_each(|error| check_line(&error.to_string()));
}

/// A refusal is one line that steers no terminal.
fn check_line(line: &str) {
    assert!(line.len() < 400 && !line.contains(char::is_control), "{line:?}");
}
