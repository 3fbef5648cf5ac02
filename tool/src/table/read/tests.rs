use super::*;
use crate::table::element::descr;
use crate::table::testing::*;

const TAKEN: &Taken = &Taken { elements: &[ElementType::U32], max_dimensions: 2, max_count: u64::MAX };
const U32: Option<ElementType> = Some(ElementType::U32);

fn bytes(words: &[u32]) -> Vec<u8> {
    bytemuck::cast_slice(words).to_vec()
}

fn read_from(
    reader: impl Read,
    file_size: Option<u64>,
    declared: Option<ElementType>,
    taken: &Taken,
) -> Result<Table, TableError> {
    Table::read(Bytes { reader, file_size, memory_size: 1 << 40 }, declared, taken)
}

fn as_file(bytes: &[u8], declared: Option<ElementType>) -> Result<Table, TableError> {
    read_from(bytes, Some(bytes.len() as u64), declared, TAKEN)
}

fn as_stream(bytes: &[u8], declared: Option<ElementType>) -> Result<Table, TableError> {
    read_from(Dribble { rest: bytes, interrupted: false }, None, declared, TAKEN)
}

/// The error of reading a file and a stream, which must agree.
fn refusal(bytes: &[u8], declared: Option<ElementType>) -> String {
    let message = as_file(bytes, declared).unwrap_err().to_string();
    assert_eq!(as_stream(bytes, declared).unwrap_err().to_string(), message);
    message
}

/// A reader that returns few bytes at a time, and is interrupted before each.
struct Dribble<'a> {
    rest: &'a [u8],
    interrupted: bool,
}

impl Read for Dribble<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let size = bytes.len().min(5);
        self.rest.read(&mut bytes[..size])
    }
}

#[test]
fn npy_is_known_by_its_magic() {
    let flat = Table {
        format: Format::Npy,
        element: ElementType::U32,
        shape: TableShape::Flat { count: 3 },
        payload: bytes(&[0, 1, 2]),
    };
    let grid = Table {
        shape: TableShape::Grid { rows: 3, columns: 2 },
        payload: bytes(&[0, 1, 2, 3, 4, 5]),
        ..flat.clone()
    };
    let no_rows = Table { shape: TableShape::Grid { rows: 0, columns: 4 }, payload: vec![], ..flat.clone() };
    let big_endian = Table { shape: TableShape::Flat { count: 2 }, payload: bytes(&[0, 1]), ..flat.clone() };
    for (bytes, table) in [
        (FLAT, flat),
        (BIG_ENDIAN, big_endian),
        (GRID, grid.clone()),
        (GRID_BY_COLUMNS, grid),
        (NO_ROWS, no_rows),
    ] {
        for declared in [None, U32] {
            assert_eq!(as_file(bytes, declared).unwrap(), table);
            assert_eq!(as_stream(bytes, declared).unwrap(), table);
        }
    }
}

/// What `numpy.savez` and a zip program write begins so.
#[test]
fn archives_are_refused_whatever_is_declared() {
    for version in [10, 20, 45] {
        let archive = [&b"PK\x03\x04"[..], &[version, 0, 0, 0]].concat();
        for declared in [None, U32] {
            assert_eq!(refusal(&archive, declared), "is a zip archive; save an array of it with numpy.save");
        }
        let whole = || Bytes { reader: &archive[..], file_size: Some(8), memory_size: 1 << 40 };
        for read in
            [Table::read_values(whole(), 2), Table::read_values_of(whole(), TableShape::Flat { count: 2 })]
        {
            assert!(matches!(read, Err(TableError::Archive { .. })));
        }
        assert!(matches!(
            TableReader::values(
                &archive[..],
                8,
                2,
                &Taken { elements: &ElementType::ALL, max_dimensions: 1, max_count: 8 }
            ),
            Err(TableError::Archive { .. })
        ));
        assert!(matches!(crate::table::Flags::read(&archive[..], 8), Err(TableError::Archive { .. })));
    }
    assert!(refusal(b"PK\x05\x06\0\0\0\0", U32).starts_with("is a zip archive"));
    // The first file's name is the array's, and cut short or of another kind is none.
    let named = |name: &str| {
        [&b"PK\x03\x04\x14\0"[..], &[0; 20], &[name.len() as u8, 0, 0, 0], name.as_bytes()].concat()
    };
    let remedy =
        "is an archive of arrays (.npz); save one of them, numpy.save('a.npy', numpy.load('a.npz')['arr_0'])";
    assert_eq!(refusal(&named("arr_0.npy"), None), remedy);
    let flags = crate::table::Flags::read(&named("arr_0.npy")[..], 8).unwrap_err();
    assert_eq!(flags.to_string(), remedy);
    for archive in [&named("data.pkl")[..], &named("arr_0.npy")[..35]] {
        assert!(refusal(archive, None).starts_with("is a zip archive"));
    }
    // The signature alone may be a number.
    assert_eq!(as_file(b"PK\x03\x04\x01\x02\x03\x04", U32).unwrap().payload.len(), 8);
}

#[test]
fn raw_elements_need_a_type_and_come_in_any_number() {
    // Several chunks, and sizes around the magic's.
    for count in [0, 1, 2, 3, 1 << 18, (1 << 18) + 1, 3 << 18] {
        let words: Vec<u32> = (0..count).map(|index: u32| index.wrapping_mul(0x9E37_79B9)).collect();
        let bytes = &bytes(&words)[..];
        let table = as_file(bytes, U32).unwrap();
        assert_eq!((table.format, table.shape), (Format::Raw, TableShape::Flat { count: count as usize }));
        assert!(table.payload == bytes);
        assert!(as_stream(bytes, U32).unwrap() == table);
        assert!(refusal(bytes, None).contains("--type"));
    }
}

#[test]
fn bools_are_read_as_bytes_and_written_as_bools() {
    let bools = npy_of("'|b1'", "(3,)", &[1, 0, 1]);
    let taken = &Taken { elements: &ElementType::ALL, ..*TAKEN };
    let table = read_from(&bools[..], None, Some(ElementType::U8), taken).unwrap();
    assert_eq!(
        (table.format, table.element, &table.payload[..]),
        (Format::NpyBool, ElementType::U8, &[1, 0, 1][..])
    );
    assert!(String::from_utf8_lossy(&table.header()).contains("'descr': '|b1'"));
    assert_eq!(read_from(&[&table.header()[..], &[1, 0, 1]].concat()[..], None, None, taken).unwrap(), table);
    // Such as indices of them.
    let counts = Table::of_u32(table.format, table.shape, &[0, 1, 2]);
    assert!(String::from_utf8_lossy(&counts.header()).contains("'descr': '<u4'"));
    assert!(matches!(table.format.check_numbers(), Err(TableError::Bool)));
    assert!(refusal(&bools, None).contains("save numpy.flatnonzero(a)"));
}

#[test]
fn elements_have_the_size_of_their_type() {
    for element in ElementType::ALL {
        let taken = &Taken { elements: &[element], ..*TAKEN };
        let (size, payload) = (element.size(), [7; 24]);
        let table = read_from(&payload[..], Some(24), Some(element), taken).unwrap();
        assert_eq!((table.shape.element_count(), &table.payload[..]), (24 / size, &payload[..]), "{element}");
        let partial = read_from(&payload[..23], Some(23), Some(element), taken);
        assert_eq!(partial.is_ok(), size == 1, "{element}");
        let npy = npy_of(&format!("'{}'", descr(element)), "(3,)", &payload[..3 * size]);
        assert_eq!(read_from(&npy[..], None, None, taken).unwrap().payload, &payload[..3 * size]);
    }
}

#[test]
fn a_type_that_is_wrong_is_refused() {
    assert!(refusal(&[], None).starts_with("is empty; "));
    assert_eq!(
        refusal(&[0; 10], U32),
        "holds 10 bytes, which is not a multiple of the 4 bytes of a u32; check which type it holds, and whether it is complete"
    );
    assert_eq!(
        refusal(&[0; 8], Some(ElementType::F64)),
        "holds elements of type f64, and u32 is taken; save a.astype('<u4') if every element fits, \
         for it changes those that are negative, fractional or too large"
    );
    assert_eq!(
        refusal(FLAT, Some(ElementType::I32)),
        "holds u32 by its .npy header, and --type says i32; leave --type out, or save a.astype('<i4')"
    );
}

#[test]
fn npy_of_wrong_length_is_refused() {
    for size in npy::MAGIC.len()..FLAT.len() {
        assert!(refusal(&FLAT[..size], None).starts_with(&format!("ended after {size} of ")), "{size}");
    }
    assert!(refusal(&FLAT[..130], None).starts_with("ended after 130 of 140 bytes; "));
    assert!(refusal(&[FLAT, &[0]].concat(), None).starts_with("goes on after the 140 bytes "));
    assert!(refusal(&[NO_ROWS, NO_ROWS].concat(), None).starts_with("goes on after the 128 bytes "));
    // A file shorter than the magic is not recognised as `.npy`.
    assert!(refusal(&FLAT[..5], None).contains("is not an .npy file"));
}

#[test]
fn an_endless_stream_is_read_one_byte_too_far() {
    assert!(matches!(
        read_from(FLAT.chain(io::repeat(0)), None, None, TAKEN),
        Err(TableError::Extra { needed: 140 })
    ));
}

#[test]
fn a_file_that_changes_meanwhile_is_noticed() {
    for (bytes, declared) in [(FLAT, None), (&[0; 32][..], U32)] {
        let size = bytes.len() as u64;
        let grown = bytes.chain(&[0; 4][..]);
        assert!(matches!(read_from(grown, Some(size), declared, TAKEN), Err(TableError::Changed)));
        let shrunk = &bytes[..bytes.len() - 4];
        assert!(matches!(read_from(shrunk, Some(size), declared, TAKEN), Err(TableError::Changed)));
    }
}

#[test]
fn more_than_the_memory_is_refused() {
    // A plausible size, beyond any memory.
    let size = u64::MAX / 2 - 3;
    assert!(matches!(read_from(&[0; 8][..], Some(size), U32, TAKEN), Err(TableError::Memory { .. })));
    for file_size in [Some(1 << 20), None] {
        let bytes = Bytes { reader: &[0; 1 << 20][..], file_size, memory_size: 1 << 19 };
        assert!(matches!(Table::read(bytes, U32, TAKEN), Err(TableError::Memory { .. })));
        assert!(Table::read(Bytes { memory_size: 2 << 20, ..bytes }, U32, TAKEN).is_ok());
    }
    // Its elements in either order.
    let columns = |memory_size| Bytes { reader: GRID_BY_COLUMNS, file_size: None, memory_size };
    assert!(matches!(Table::read(columns(47), U32, TAKEN), Err(TableError::Memory { size: 48 })));
    assert!(Table::read(columns(48), U32, TAKEN).is_ok());
}

#[test]
fn too_many_elements_are_refused_unread() {
    let two = &Taken { max_dimensions: 1, max_count: 2, ..*TAKEN };
    let refusal = |bytes: &[u8], size| read_from(bytes, size, U32, two).unwrap_err().to_string();
    let line = "holds more than 2 elements, which is the most that is taken; split it";
    for size in [Some(140), None] {
        assert_eq!(refusal(FLAT, size), line);
    }
    for size in [Some(12), None] {
        assert_eq!(refusal(&[0; 12], size), line);
    }
    // None of the bytes exist.
    assert_eq!(refusal(&[], Some(12)), line);
    let endless = read_from(io::repeat(0), None, U32, two).unwrap_err();
    assert_eq!(endless.to_string(), line);
    assert!(read_from(&[0; 8][..], Some(8), U32, two).is_ok());
}

#[test]
fn refused_dimensions_are_listed_with_the_maximum() {
    let flat = &Taken { max_dimensions: 1, ..*TAKEN };
    let refusal = |bytes: &[u8], taken| read_from(bytes, None, None, taken).unwrap_err().to_string();
    assert_eq!(
        refusal(GRID, flat),
        "has 2 dimensions, shape (3, 2), and one is taken; \
         save a row or a column of it, or a.reshape(-1), all rows as one"
    );
    for line in ["(3, 1)", "(1, 3)", "(1, 1, 1)"] {
        let message = refusal(&npy_of("'<u4'", line, b""), flat);
        assert!(message.ends_with("and one is taken; save a.reshape(-1)"), "{message}");
    }
    let cube = refusal(&npy_of("'<u4'", "(2, 3, 4)", b""), TAKEN);
    assert!(cube.ends_with("a.reshape(len(a), -1), or the last axis, a.reshape(-1, a.shape[-1])"), "{cube}");
    assert_eq!(refusal(SCALAR, flat), "has 0 dimensions, shape (), and one is taken; save a.reshape(-1)");
    assert_eq!(
        refusal(SCALAR, TAKEN),
        "has 0 dimensions, shape (), and one or two are taken; save a.reshape(-1)"
    );
    let cubes = &Taken { max_dimensions: 3, ..*TAKEN };
    assert_eq!(
        refusal(SCALAR, cubes),
        "has 0 dimensions, shape (), and one to three are taken; save a.reshape(-1)"
    );
}

#[test]
fn values_are_npy_or_raw_of_a_size_that_follows() {
    let as_file = |bytes: &[u8], count| {
        let file_size = Some(bytes.len() as u64);
        Table::read_values(Bytes { reader: bytes, file_size, memory_size: 1 << 40 }, count)
    };
    let as_stream = |bytes, count| {
        let reader = Dribble { rest: bytes, interrupted: false };
        Table::read_values(Bytes { reader, file_size: None, memory_size: 1 << 40 }, count)
    };
    assert_eq!(as_file(FLAT, 3).unwrap().payload, bytes(&[0, 1, 2]));
    let raw = [7, 0, 0, 0, 8, 0, 0, 0];
    for (count, element) in [(2, ElementType::U32), (1, ElementType::U64)] {
        let table = as_file(&raw, count).unwrap();
        assert_eq!((table.format, table.element, &table.payload[..]), (Format::Raw, element, &raw[..]));
        assert_eq!(table.shape, TableShape::Flat { count: count as usize });
        assert_eq!(as_stream(&raw, count).unwrap(), table);
    }
    // The header suffices: the rest is neither read nor given memory.
    let endless = Bytes { reader: FLAT.chain(std::io::repeat(0)), file_size: Some(1 << 50), memory_size: 0 };
    let expected = "holds 3 elements for 4 of the input; give one for each";
    assert_eq!(Table::read_values(endless, 4).unwrap_err().to_string(), expected);
    assert_eq!(as_file(&FLAT[..130], 4).unwrap_err().to_string(), expected);
    assert_eq!(as_file(b"", 0).unwrap().shape, TableShape::Flat { count: 0 });
    assert_eq!(as_stream(b"", 0).unwrap().shape, TableShape::Flat { count: 0 });
    for (bytes, count, message) in [
        (FLAT, 4, "holds 3 elements for 4 of the input; give one for each"),
        (
            GRID,
            6,
            "has 2 dimensions, shape (3, 2), and one is taken; \
             save a row or a column of it, or a.reshape(-1), all rows as one",
        ),
        (
            &raw[..6],
            2,
            "holds 6 bytes, and elements of 1, 2, 4 or 8 bytes for each of 2 of the input are taken; check whether it is complete",
        ),
        (
            &raw,
            3,
            "holds 8 bytes, and elements of 1, 2, 4 or 8 bytes for each of 3 of the input are taken; check whether it is complete",
        ),
        (
            b"",
            1,
            "holds 0 bytes, and elements of 1, 2, 4 or 8 bytes for each of 1 of the input are taken; check whether it is complete",
        ),
    ] {
        assert_eq!(as_file(bytes, count).unwrap_err().to_string(), message);
        assert_eq!(as_stream(bytes, count).unwrap_err().to_string(), message);
    }
    // A stream is not read beyond what is needed.
    for bytes in [&[0; 9][..], &[0; 1 << 20]] {
        let error = as_stream(bytes, 1).unwrap_err();
        assert!(matches!(error, TableError::ValueSize { size: 8, goes_on: true, count: 1, .. }), "{error:?}");
        assert!(matches!(as_file(bytes, 1).unwrap_err(), TableError::ValueSize { goes_on: false, .. }));
    }
    let short = Bytes { reader: &raw[..4], file_size: Some(8), memory_size: 1 << 40 };
    assert!(matches!(Table::read_values(short, 2).unwrap_err(), TableError::Changed));
}

#[test]
fn raw_keys_have_any_size() {
    for (size, element) in
        [(1, ElementType::U8), (2, ElementType::U16), (4, ElementType::U32), (8, ElementType::U64)]
    {
        for file_size in [Some(3 * size), None] {
            let reader = &[7; 24][..3 * size as usize];
            let keys = Bytes { reader, file_size, memory_size: 1 << 40 };
            let table = Table::read_values(keys, 3).unwrap();
            assert_eq!((table.element, &table.payload[..]), (element, reader));
        }
    }
    let short = Bytes { reader: &[0; 7][..], file_size: Some(7), memory_size: 1 << 40 };
    let refusal = Table::read_values(short, 3).unwrap_err().to_string();
    assert!(refusal.contains("and elements of 1, 2, 4 or 8 bytes for each of 3 of the input"), "{refusal}");
}

#[test]
fn values_of_a_table_have_its_shape() {
    // Of a file and of a stream.
    let both = |bytes: &[u8], memory_size, keys| {
        let [file, stream] = [Some(bytes.len() as u64), None].map(|file_size| {
            let reader = Dribble { rest: bytes, interrupted: false };
            let bytes = Bytes { reader, file_size, memory_size };
            Table::read_values_of(bytes, keys).map_err(|error| error.to_string())
        });
        assert_eq!(file, stream);
        file
    };
    let enough = 1 << 40;
    let flat = |count| TableShape::Flat { count };
    let grid = |rows, columns| TableShape::Grid { rows, columns };
    let raw = &bytes(&(0..12).collect::<Vec<_>>())[..];
    let cube = npy_of("'<u4'", "(3, 2, 2)", raw);
    let shape = TableShape::Cube { rows: 3, values: 2, columns: 2 };
    for (bytes, keys, expected, element) in [
        (FLAT, flat(3), flat(3), ElementType::U32),
        (GRID, grid(3, 2), grid(3, 2), ElementType::U32),
        (GRID, flat(3), grid(3, 2), ElementType::U32),
        (&cube, grid(3, 2), shape, ElementType::U32),
        // Raw values have the shape of the keys.
        (raw, grid(3, 4), grid(3, 4), ElementType::U32),
        (raw, grid(3, 2), grid(3, 2), ElementType::U64),
        (raw, flat(12), flat(12), ElementType::U32),
        (b"", grid(0, 4), grid(0, 4), ElementType::U32),
    ] {
        let table = both(bytes, enough, keys).unwrap();
        assert_eq!((table.shape, table.element), (expected, element), "{keys}");
        assert!(bytes.ends_with(&table.payload), "{keys}");
    }
    for (bytes, keys, what) in [
        (FLAT, flat(4), "has shape (3,), and the keys (4,); "),
        (FLAT, grid(3, 1), "has shape (3,), and the keys (3, 1); "),
        (GRID, grid(2, 3), "has shape (3, 2), and the keys (2, 3); "),
        (&cube, grid(2, 3), "has shape (3, 2, 2), and the keys (2, 3); "),
        (&npy_of("'<u4'", "(3, 2, 0)", b""), grid(3, 2), "has shape (3, 2, 0), and the keys (3, 2); "),
        (&cube, flat(3), "has 3 dimensions, shape (3, 2, 2), and one or two are taken; "),
        (SCALAR, grid(3, 2), "has 0 dimensions, shape (), and one to three are taken; save a.reshape(-1)"),
        (&cube[..cube.len() - 1], grid(3, 2), "ended after "),
        (
            &raw[..46],
            grid(3, 4),
            "holds 46 bytes, and elements of 1, 2, 4 or 8 bytes for each of 12 of the input are taken; ",
        ),
    ] {
        let message = both(bytes, enough, keys).unwrap_err();
        assert!(message.starts_with(what), "{message}");
    }
    // The header suffices: the rest is neither read nor given memory.
    let endless = Bytes { reader: FLAT.chain(io::repeat(0)), file_size: Some(1 << 50), memory_size: 0 };
    let error = Table::read_values_of(endless, flat(4));
    assert!(matches!(error, Err(TableError::ValueShape { .. })), "{error:?}");
    for bytes in [raw, &cube] {
        let keys = grid(3, 2);
        assert_eq!(
            both(bytes, 47, keys).unwrap_err(),
            "needs 48 bytes of memory, and there is not as much; split it"
        );
        assert!(both(bytes, 48, keys).is_ok());
    }
}
