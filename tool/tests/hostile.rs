//! Malformed and hostile files: the fuzzers' corpus through the fuzzers' checks, and inputs too large for fuzzing.
//!
//! `tools/fuzz` runs the fuzzers.

#[path = "../../fuzz/checks/lib.rs"]
mod checks;

use std::path::{Path, PathBuf};

use checks::memory;
use subsweep_tool::table::{Bytes, ElementType, Table, Taken};

const TAKEN: &Taken = &Taken { elements: &[ElementType::U32], max_dimensions: 2, max_count: u64::MAX };

/// The files of a folder of the repository.
fn files(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Checks every input of a folder: some must be read and some refused.
fn try_inputs(folder: &str, is_read: impl Fn(&[u8]) -> bool) {
    let (mut read_count, mut refused_count) = (0, 0);
    for (path, bytes) in files(folder) {
        // Shown if the check panics.
        println!("{}", path.display());
        *if is_read(&bytes) { &mut read_count } else { &mut refused_count } += 1;
    }
    assert!(read_count > 0 && refused_count > 0, "{read_count} read, {refused_count} refused");
}

#[test]
fn raw_inputs() {
    // An odd number of bytes is of u8 alone.
    try_inputs("fuzz/corpus/raw", |bytes| checks::raw(bytes) > 1);
}

#[test]
fn npy_inputs() {
    try_inputs("fuzz/corpus/npy", checks::npy);
    // Files written by NumPy.
    try_inputs("tool/src/table/fixtures", checks::npy);
}

#[test]
fn report_inputs() {
    try_inputs("fuzz/corpus/report", |bytes| checks::report(bytes).is_ok());
}

#[test]
fn inspection_inputs() {
    try_inputs("fuzz/corpus/inspection", |bytes| checks::inspection(bytes).is_ok());
}

#[test]
fn module_inputs() {
    try_inputs("fuzz/corpus/module", checks::module);
}

/// Their runs were ended by a time limit, and they hold what was measured until then.
const CUT_OFF: [&str; 2] = ["h200-cub.json", "h200-peers.json"];

#[test]
fn recorded_reports_are_read() {
    let mut records = files("benches/record");
    records.retain(|(path, _)| path.extension().is_some_and(|extension| extension == "json"));
    assert!(!records.is_empty());
    for (path, json) in records {
        let report = checks::report(&json).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let is_cut_off = CUT_OFF.iter().any(|name| path.ends_with(name));
        assert_eq!(report.complete, !is_cut_off, "{}", path.display());
        assert!(!report.devices.is_empty(), "{}", path.display());
    }
}

fn npy(text: &str, payload: &[u8]) -> Vec<u8> {
    let size = u16::try_from(text.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &size[..], text.as_bytes(), payload].concat()
}

#[test]
fn large_tables_stay_within_their_bounds() {
    // Sizes around the pieces of a stream, and around the growth of its buffer.
    for size in [(64 << 10) - 8, 64 << 10, (128 << 10) + 8, 1 << 20, (2 << 20) + 8, 5_000_000] {
        let payload = vec![1; size];
        assert_eq!(checks::raw(&payload), 4);
        let text =
            format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, 1)}}{:60000}", size / 4, "");
        assert!(checks::npy(&npy(&text, &payload)));
        assert!(!checks::npy(&npy(&text, &payload[1..])));
    }
}

#[test]
fn declared_sizes_allocate_nothing() {
    let shape = "{'descr': '<u4', 'fortran_order': False, 'shape': (1152921504606846976,)}";
    assert!(!checks::npy(&npy(shape, &[0; 16])));
    assert!(!checks::npy(&[&b"\x93NUMPY\x02\x00"[..], &[0xFF; 4]].concat()));
}

#[test]
fn a_file_of_known_length_is_allocated_once() {
    let bytes = vec![0; 5 << 20];
    let file = Bytes { reader: &bytes[..], file_size: Some(5 << 20), memory_size: 5 << 20 };
    let (table, peak) = memory::peak(|| Table::read(file, Some(ElementType::U32), TAKEN).unwrap());
    assert_eq!((table.payload.capacity(), peak), (5 << 20, 5 << 20));
}

/// A module whose entry point is function 1, with words before the function and in it.
fn module(before: impl Iterator<Item = u32>, inside: impl Iterator<Item = u32>) -> Vec<u8> {
    let head = [0x0723_0203, 0x1_0300, 0, 0x3f_ffff, 0, 0x4_000f, 5, 1, 0, 0x2_0013, 2];
    let begin = [0x5_0036, 2, 1, 0, 3];
    let words = head.into_iter().chain(before).chain(begin).chain(inside).chain([0x1_0038]);
    words.flat_map(u32::to_ne_bytes).collect()
}

#[test]
fn large_modules_stay_within_their_bounds() {
    // Slightly more than a power of two, where tables grow.
    let ids = || 3..(7 << 15) + 10;
    let none = std::iter::empty;
    for numbered in [
        // Types, constants, decorations and functions, each of the shortest valid form.
        |id| vec![0x2_0013, id],
        |id| vec![0x3_0029, 2, id],
        |id| vec![0x3_0047, id, 2],
        |id| vec![0x4_0047, id, 1, id],
        |id| vec![0x3_0036, 2, id],
    ] {
        assert!(checks::module(&module(ids().flat_map(numbered), none())));
    }
    assert!(checks::module(&module(none(), ids().map(|_| 0x1_00fd))));
    assert!(checks::module(&module(none(), ids().flat_map(|id| [0x3_0039, id, id ^ 0x5555]))));
    // Entry points that are no functions, and valid ones.
    assert!(!checks::module(&module(ids().flat_map(|id| [0x4_000f, 5, id, 0]), none())));
    assert!(checks::module(&module(ids().flat_map(|_| [0x4_000f, 5, 1, 0]), none())));
    // Instructions of the largest length: a name, an interface, and a structure's members.
    let longest = |first: &[u32]| [first, &vec![0x0101_0101; 0xFFFF - first.len()]].concat();
    assert!(!checks::module(&module(longest(&[0xFFFF_000F, 5, 1]).into_iter(), none())));
    assert!(checks::module(&module(longest(&[0xFFFF_000F, 5, 1, 0]).into_iter(), none())));
    assert!(checks::module(&module(longest(&[0xFFFF_001E, 4]).into_iter(), none())));
}

#[test]
#[should_panic = "index out of bounds"]
fn a_planted_panic_is_seen() {
    checks::planted::panic(b"\xB9\x79\x37\x9E\xFF\xFF\xFF\x00");
}

#[test]
#[should_panic = "16777215 bytes were requested"]
fn a_planted_allocation_is_seen() {
    checks::planted::memory(b"\xB9\x79\x37\x9E\xFF\xFF\xFF\x00");
}
