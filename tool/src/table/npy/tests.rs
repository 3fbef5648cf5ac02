use super::*;
use crate::table::testing::*;

const TAKEN: &Taken = &Taken { elements: &[ElementType::U32], max_dimensions: 2, max_count: u64::MAX };

fn read(file: &[u8]) -> Result<Header, TableError> {
    read_header(&mut &file[MAGIC.len()..], TAKEN)
}

fn refusal(file: &[u8]) -> String {
    read(file).unwrap_err().to_string()
}

#[test]
fn files_of_numpy_round_trip() {
    let flat = Header {
        format: Format::Npy,
        element: ElementType::U32,
        is_swapped: false,
        shape: TableShape::Flat { count: 3 },
        is_by_columns: false,
        header_size: 128,
        payload_size: 12,
    };
    assert_eq!(read(FLAT).unwrap(), flat);
    assert_eq!(header("<u4", flat.shape), FLAT[..128]);
    for file in FLAT_LONG {
        assert_eq!(read(file).unwrap(), flat);
    }
    assert_eq!(
        read(BIG_ENDIAN).unwrap(),
        Header { is_swapped: true, shape: TableShape::Flat { count: 2 }, payload_size: 8, ..flat }
    );
    assert_eq!(read(GRID_BY_COLUMNS).unwrap(), Header { is_by_columns: true, ..read(GRID).unwrap() });
    for (file, rows, columns) in [(GRID, 3, 2), (NO_ROWS, 0, 4)] {
        let read = read(file).unwrap();
        assert_eq!(read.shape, TableShape::Grid { rows, columns });
        assert_eq!(header("<u4", read.shape), file[..128]);
    }
}

#[test]
fn headers_are_aligned_and_read_back_whatever_their_shape() {
    for digits in 1..=9 {
        let rows = 10_usize.pow(digits);
        for shape in [
            TableShape::Flat { count: rows },
            TableShape::Grid { rows, columns: 1 },
            TableShape::Grid { rows: 2, columns: rows },
        ] {
            let bytes = header("<u4", shape);
            assert_eq!(bytes.len() % 64, 0);
            let read = read(&bytes).unwrap();
            assert_eq!(read.shape, shape);
            assert_eq!(read.header_size, bytes.len() as u64);
        }
    }
}

#[test]
fn values_of_a_table_have_three_dimensions() {
    let read = |file: &[u8]| read_header(&mut &file[MAGIC.len()..], &Taken { max_dimensions: 3, ..*TAKEN });
    for (rows, values, columns) in [(3, 2, 5), (0, 4, 3), (10_000_000, 1, 1)] {
        let shape = TableShape::Cube { rows, values, columns };
        let bytes = header("<u4", shape);
        assert_eq!(bytes.len() % 64, 0);
        assert_eq!(read(&bytes).unwrap().shape, shape);
    }
    let by_columns = "{'descr': '<u4', 'fortran_order': True, 'shape': (1, 2, 3)}";
    assert!(read(&npy(by_columns, b"")).unwrap().is_by_columns);
    let refused = |text: &str| read(&npy(text, b"")).unwrap_err().to_string();
    for shape in ["(4294967296, 4294967296, 1)", "(4294967296, 1, 4294967296)"] {
        let message = refused(&format!("{{'descr': '<u4', 'fortran_order': False, 'shape': {shape}}}"));
        assert!(message.starts_with(&format!("has shape {shape} in its .npy header")), "{message}");
    }
    let message = read(&npy_of("'<u4'", "(2, 3, 4, 5)", b"")).unwrap_err().to_string();
    assert!(message.contains("up to three are taken"), "{message}");
}

#[test]
fn python_spellings_are_accepted() {
    for text in [
        "{'shape': (3L,), 'fortran_order': False, 'descr': '<u4'}",
        "{ \"descr\" :\"<u4\",\n'fortran_order':True,'shape':( 3 , ) , }  \n",
        "{'descr':'<u4','fortran_order':True,'shape':(3,1)}",
        "{'descr':'<u4','fortran_order':True,'shape':(1,3,)}",
    ] {
        let header = read(&npy(text, b"")).unwrap();
        assert_eq!((header.payload_size, header.is_by_columns), (12, false), "{text}");
    }
}

#[test]
fn refused_types_are_listed_with_accepted_ones() {
    for (descr, named) in [("'<f8'", "<f8"), ("'<i4'", "<i4"), ("'>f8'", ">f8"), ("''", "")] {
        let message = refusal(&npy_of(descr, "(2,)", b""));
        assert_eq!(
            message,
            format!(
                "holds elements of type {named}, and u32 is taken; save a.astype('<u4') if every element fits, \
                 for it changes those that are negative, fractional or too large"
            )
        );
    }
    assert_eq!(
        refusal(STRUCTURED),
        "holds elements of type [('a', '<u4'), ('b', '<f4', (2,))], and u32 is taken; \
         save one of its fields, such as a['a']"
    );
    let two = read_header(
        &mut &npy_of("'<i8'", "(2,)", b"")[MAGIC.len()..],
        &Taken { elements: &[ElementType::U32, ElementType::F64], ..*TAKEN },
    );
    assert!(
        two.unwrap_err().to_string().contains("u32|f64 is taken; save a.astype('<u4') or a.astype('<f8') if")
    );
}

#[test]
fn shapes_that_are_no_table_are_refused() {
    assert!(refusal(SCALAR).starts_with("has 0 dimensions, shape (), and one or two are taken"));
    assert!(refusal(&npy_of("'<u4'", "(2, 3, 4)", b"")).starts_with("has 3 dimensions, shape (2, 3, 4), "));
    assert!(
        refusal(&npy_of("'<u4'", "(4, 0)", b"")).starts_with("has shape (4, 0), a table without columns")
    );
    for shape in ["(3)", "(-1,)", "(3.0,)", "(0x3,)", "(,3)", "(3,,)", "('3',)", "(3 4,)"] {
        assert!(refusal(&npy_of("'<u4'", shape, b"")).contains(&format!("damaged shape {shape}")), "{shape}");
    }
}

#[test]
fn shapes_beyond_counting_are_refused_by_arithmetic() {
    let most = u64::MAX;
    for shape in [
        format!("({most},)"),
        format!("({most}0,)"),
        format!("({most}, {most})"),
        "(4294967296, 4294967296)".to_owned(),
        format!("({},)", most / 4),
    ] {
        let message = refusal(&npy_of("'<u4'", &shape, b""));
        assert!(
            message.starts_with(&format!("has shape {shape} in its .npy header, more than any file")),
            "{message}"
        );
    }
    assert_eq!(read(&npy_of("'<u4'", "(1152921504606846976,)", b"")).unwrap().payload_size, 1 << 62);
}

#[test]
fn malformed_dictionaries_are_refused() {
    for text in [
        "",
        "{",
        "{}",
        "[]",
        "{'descr'",
        "{'descr': '<u4', 'fortran_order': False}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), 'shape': (4,)}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), 'more': 1}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': (3,)} x",
        "{'descr': '<u4', 'fortran_order': 0, 'shape': (3,)}",
        "{'descr': '<u4' 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': (3,",
        "{'descr': '<u4, 'fortran_order': False, 'shape': (3,)}",
        "{'descr': 4, 'fortran_order': False, 'shape': (3,)}",
    ] {
        let message = refusal(&npy(text, b""));
        assert!(message.starts_with("has a damaged .npy header ("), "{text}: {message}");
    }
}

#[test]
fn a_header_that_claims_to_be_long_is_refused() {
    let file = [&MAGIC[..], b"\x02\x00", &u32::MAX.to_le_bytes()].concat();
    assert!(matches!(read(&file), Err(TableError::HeaderTooLong { size: u32::MAX })));
    assert!(refusal(b"\x93NUMPY\x04\x00\x00\x00").starts_with("has .npy version 4.0, "));
}

#[test]
fn a_header_is_as_long_as_it_may_be() {
    let size = MAX_HEADER_SIZE as usize;
    let dictionary = "{'descr': '<u4', 'fortran_order': False, 'shape': (1,), }";
    let text = format!("{dictionary}{}\n", " ".repeat(size - dictionary.len() - 1));
    assert_eq!(text.len(), size);
    assert_eq!(read(&npy(&text, &7u32.to_le_bytes())).unwrap().payload_size, 4);
}

#[test]
fn nesting_and_escapes_reach_neither_the_stack_nor_the_terminal() {
    let deep = refusal(&npy_of(&"[".repeat(60_000), "(1,)", b""));
    assert!(deep.len() < 300, "{deep}");
    let steering = refusal(&npy_of("'\u{1b}]0;x\u{7}\r\n'", "(1,)", b""));
    assert!(!steering.contains(char::is_control), "{steering:?}");
    let wide = refusal(&npy_of("'<u4'", &format!("({})", "1,".repeat(30_000)), b""));
    assert!(wide.starts_with("has 30000 dimensions, "), "{wide}");
    assert!(wide.len() < 300, "{wide}");
}

#[test]
fn a_header_cut_anywhere_ends_early() {
    for size in MAGIC.len()..128 {
        assert!(
            matches!(read(&FLAT[..size]), Err(TableError::Ended { held, .. }) if held == size as u64),
            "{size}"
        );
    }
}
