//! The contract of every reader of untrusted bytes, checked on one input: no panic, errors of one printable line, for
//! tables and modules memory bounded by the input's size, and for tables the same result of a file and a stream.
//!
//! The fuzz targets and `tool/tests/hostile` share this.

use std::fmt::Debug;
use std::io::Read;
use std::mem::discriminant;

use subsweep_tool::harness::{ForeignModule, InspectedDevice, ModuleError, Report, ReportError};
use subsweep_tool::table::{
    Bytes, ElementType, Format, NamedField, Structures, Table, TableError, TableShape, Taken,
};

pub mod memory;
pub mod planted;

/// Bytes allowed for error texts.
const WORDS_SIZE: usize = 4 << 10;
/// Maximum size of an `.npy` header, allocated on trust.
const HEADER_SIZE: usize = 64 << 10;
/// Size of a stream's first chunk.
const CHUNK_SIZE: usize = 64 << 10;

/// Maximum memory for a table file of `size` bytes: its header and itself, and once more where it is stored by columns.
pub fn file_bound(size: usize) -> usize {
    WORDS_SIZE + HEADER_SIZE + 2 * size
}

/// Maximum memory for a stream of `size` bytes: at most twice the bytes received, and once more while a buffer is
/// reallocated, or columns are read as rows.
pub fn stream_bound(size: usize) -> usize {
    WORDS_SIZE + HEADER_SIZE + CHUNK_SIZE + 3 * size
}

/// Maximum memory for a module of `size` bytes: its words, and an index of its instructions in tables that double. The
/// worst case are types of two words.
pub fn module_bound(size: usize) -> usize {
    WORDS_SIZE + 32 * size
}

const EVERYTHING: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 2, max_count: u64::MAX };
/// Every table that is written: values have a dimension more.
const WRITTEN: Taken = Taken { max_dimensions: 3, ..EVERYTHING };
/// The strictest limits of a command.
const LITTLE: Taken = Taken { elements: &[ElementType::U32], max_dimensions: 1, max_count: 3 };

/// Reads `bytes` as raw elements of each size, and as values. Returns how many of the reads with a declared type gave a
/// table.
pub fn raw(bytes: &[u8]) -> usize {
    for size in [1, 2, 4, 8, 5] {
        let count = bytes.len() / size;
        values(bytes, count as u64);
        values_of(bytes, TableShape::Grid { rows: count / 2, columns: 2 });
    }
    let types = [ElementType::U8, ElementType::F16, ElementType::U32, ElementType::F64].into_iter();
    types.filter_map(|element| table(bytes, Some(element))).inspect(|table| check_raw(table, bytes)).count()
}

/// Maximum memory for structures of `size` bytes: names of fields within others repeat the outer ones, up to 256 bytes each.
pub fn structures_bound(size: usize) -> usize {
    stream_bound(size) + 64 * size.min(HEADER_SIZE)
}

/// Reads `bytes` as structures, from a file and from a stream, which must agree.
fn structures(bytes: &[u8]) {
    let read = |file_size| {
        memory::within(structures_bound(bytes.len()), bytes, || {
            Structures::read(Bytes { reader: bytes, file_size, memory_size: u64::MAX })
        })
    };
    let Some(read) = agreed(read(Some(bytes.len() as u64)), read(None)) else { return };
    assert_eq!([&read.header[..], &read.payload].concat(), bytes);
    let fits = |field: &NamedField| {
        let size = field.number.map_or(0, ElementType::size);
        field.offset + size <= read.structure.size
    };
    assert!(read.structure.fields.iter().all(fits), "{:?}", read.structure);
}

/// Reads `bytes` without a declared type. Returns whether that gave a table.
pub fn npy(bytes: &[u8]) -> bool {
    structures(bytes);
    // As values of keys of the shape that is found, and of the shape without its last dimension.
    let found = Table::read(Bytes { reader: bytes, file_size: None, memory_size: u64::MAX }, None, &WRITTEN);
    match found.map(|found| found.shape) {
        Ok(TableShape::Cube { rows, values, columns }) => {
            let is_read = values_of(bytes, TableShape::Grid { rows, columns: values });
            assert_eq!(is_read, columns > 0);
        }
        Ok(shape) => {
            assert!(values_of(bytes, shape));
            assert!(shape.is_flat() || values_of(bytes, TableShape::Flat { count: shape.rows() }));
        }
        Err(_) => {
            values_of(bytes, TableShape::Grid { rows: 3, columns: 2 });
        }
    }
    table(bytes, None).is_some()
}

/// Reads a table without limits, and compares with other reads: with strict limits, and of a file that changes size.
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

/// Reads a table from a file and from a stream, which must agree.
fn read(bytes: &[u8], declared: Option<ElementType>, taken: &Taken) -> Option<Table> {
    let file = read_file(bytes, bytes.len(), declared, taken);
    // In two chunks.
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let stream = memory::within(stream_bound(bytes.len()), bytes, || {
        let reader = first.chain(second);
        Table::read(Bytes { reader, file_size: None, memory_size: u64::MAX }, declared, taken)
    });
    agreed(file, stream).inspect(|table| check_table(table, bytes))
}

/// What a file and a stream of the same bytes give, which must agree: none if both are refused.
fn agreed<T: PartialEq + Debug>(file: Result<T, TableError>, stream: Result<T, TableError>) -> Option<T> {
    match (file, stream) {
        (Ok(file), Ok(stream)) => {
            assert_eq!(file, stream);
            Some(file)
        }
        (Err(file), Err(stream)) => {
            check_line(&file.to_string());
            check_line(&stream.to_string());
            assert_eq!(discriminant(&file), discriminant(&stream), "{file:?}, {stream:?}");
            None
        }
        (file, stream) => panic!("a file gives {file:?}, and a stream {stream:?}"),
    }
}

/// Reads the values of `count` keys.
fn values(bytes: &[u8], count: u64) {
    if let Some(table) = read_values(bytes, |bytes| Table::read_values(bytes, count)) {
        assert_eq!(table.shape.element_count() as u64, count);
        check_table(&table, bytes);
    }
}

/// Reads the values of a table of shape `keys`. Returns whether they were read.
fn values_of(bytes: &[u8], keys: TableShape) -> bool {
    let Some(mut table) = read_values(bytes, |bytes| Table::read_values_of(bytes, keys)) else {
        return false;
    };
    assert!(table.shape == keys || table.shape == keys.of_values(table.shape.columns()));
    if table.format == Format::Raw {
        // No header states a shape.
        table.shape = TableShape::Flat { count: keys.element_count() };
    }
    check_table(&table, bytes);
    true
}

/// Reads values from a file and from a stream, which must agree.
fn read_values(bytes: &[u8], read: impl Fn(Bytes<&[u8]>) -> Result<Table, TableError>) -> Option<Table> {
    let of = |file_size| read(Bytes { reader: bytes, file_size, memory_size: u64::MAX });
    let file = memory::within(file_bound(bytes.len()), bytes, || of(Some(bytes.len() as u64)));
    let stream = memory::within(stream_bound(bytes.len()), bytes, || of(None));
    agreed(file, stream)
}

/// Reads a file whose reported size is `size`.
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

/// Checks that a table's elements are the end of its file, of a big-endian one and of one by columns its bytes in another order,
/// and that writing and reading it gives the same table.
fn check_table(table: &Table, bytes: &[u8]) {
    assert_eq!(table.payload.len(), table.shape.element_count() * table.element.size());
    let (header, end) = bytes.split_at(bytes.len() - table.payload.len());
    let is_plain = table.format == Format::Raw || !(header.contains(&b'>') || header.contains(&b'T'));
    let sorted = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes.sort_unstable();
        bytes
    };
    assert!(end == table.payload || !is_plain && sorted(end) == sorted(&table.payload));
    let written = [&table.header()[..], &table.payload].concat();
    let bytes = Bytes { reader: &written[..], file_size: None, memory_size: u64::MAX };
    let read = Table::read(bytes, Some(table.element), &WRITTEN);
    assert!(read.as_ref().is_ok_and(|read| read == table), "{table:?} was written, and {read:?} read");
}

/// Checks that raw elements are the whole file.
fn check_raw(table: &Table, bytes: &[u8]) {
    assert!(table.format != Format::Raw || table.payload == bytes);
}

/// Reads a report, and checks that writing and reading it gives the same report.
pub fn report(bytes: &[u8]) -> Result<Report, ReportError> {
    let read = Report::from_json(bytes);
    match &read {
        Ok(report) => {
            let written = report.to_json().expect("a report can be written");
            assert_eq!(Report::from_json(&written).as_ref(), Ok(report));
        }
        Err(error) => check_line(&error.to_string()),
    }
    read
}

/// Reads an inspection, and checks that writing and reading it gives the same one.
pub fn inspection(bytes: &[u8]) -> Result<Vec<InspectedDevice>, ReportError> {
    let read = InspectedDevice::all_from_json(bytes);
    match &read {
        Ok(devices) => {
            let written = serde_json::to_vec(devices).expect("an inspection can be written");
            assert_eq!(InspectedDevice::all_from_json(&written).as_ref(), Ok(devices));
        }
        Err(error) => check_line(&error.to_string()),
    }
    read
}

/// Reads a module and specializes it: without constants, by its first constant, and for an unknown entry point. Returns
/// whether a pipeline could be requested from a driver.
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

/// Checks that an error is one line without control characters.
fn check_line(line: &str) {
    assert!(line.len() < 400 && !line.contains(char::is_control), "{line:?}");
}
