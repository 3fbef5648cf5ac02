//! Results of scans and sorts, in the format of the input.

use ::subsweep::ElementType;
use ::subsweep::scan::{ScanAlgorithm, ScanConfig, ScanKind};

use super::*;

const COUNT: usize = 10_007;

#[test]
fn raw_elements_are_scanned() {
    let folder = Folder::new();
    let input = random(COUNT);
    let path = folder.file("in", bytes(&input));
    let stdout = run(&mut subsweep(["scan", &path, "--type", "u32"])).done();
    assert_eq!(words(&stdout), scanned(&input, 1, false));
    let stdout = run(&mut subsweep(["scan", &path, "--type", "u32", "--exclusive", "--op", "add"])).done();
    assert_eq!(words(&stdout), scanned(&input, 1, true));
    assert_eq!(folder.read("in"), bytes(&input));
}

#[test]
fn monotone_sums_are_the_maxima_of_sums() {
    let folder = Folder::new();
    let numbers: Vec<u32> = random(30_011).into_iter().map(|word| ((word >> 8) as f32).to_bits()).collect();
    let path = folder.file("in", bytes(&numbers));
    let sums = folder.file("sums", run(&mut subsweep(["scan", &path, "--type", "f32"])).done());
    let maxima = run(&mut subsweep(["scan", &sums, "--type", "f32", "--op", "max"])).done();
    let monotone = run(&mut subsweep(["scan", &path, "--type", "f32", "--monotone"])).done();
    assert!(monotone == maxima);
    for arguments in [["--type", "u32"], ["--op", "max"]] {
        let mut command = subsweep(["scan", &path, "--monotone"]);
        if arguments[0] != "--type" {
            command.args(["--type", "f32"]);
        }
        assert_eq!(run(command.args(arguments)).code, 2, "{arguments:?}");
    }
}

#[test]
fn an_array_keeps_its_header() {
    let folder = Folder::new();
    let input = random(COUNT);
    let path = folder.file("in.npy", npy("<u4", "(10007,)", &bytes(&input)));
    let output = folder.argument("out.npy");
    let stdout = run(&mut subsweep(["scan", &path, "-o", &output])).done();
    assert_eq!(stdout, b"");
    assert_eq!(folder.read("out.npy"), npy("<u4", "(10007,)", &bytes(&scanned(&input, 1, false))));
    assert_eq!(folder.names(), ["in.npy", "out.npy"]);
}

#[test]
fn tables_are_scanned_by_column() {
    for columns in 1..=4 {
        let input = random(2501 * columns);
        let shape = format!("(2501, {columns})");
        let file = npy("<u4", &shape, &bytes(&input));
        for is_exclusive in [false, true] {
            let mut command = subsweep(["scan", "-"]);
            command.args(is_exclusive.then_some("--exclusive"));
            let expected = npy("<u4", &shape, &bytes(&scanned(&input, columns, is_exclusive)));
            assert!(run_with(&mut command, &file).done() == expected, "{columns} columns");
        }
    }
}

#[test]
fn tables_are_scanned_along_their_rows() {
    let folder = Folder::new();
    for (rows, columns) in [(700, 3), (41, 40), (3, 5000), (5, 1)] {
        let input = random(rows * columns);
        let file = npy("<u4", &format!("({rows}, {columns})"), &bytes(&input));
        let path = folder.file("in.npy", &file);
        for is_reverse in [false, true] {
            let scan = |row: &[u32]| -> Vec<u32> {
                let mut row = row.to_vec();
                if is_reverse {
                    row.reverse();
                }
                let mut sums = scanned(&row, 1, false);
                if is_reverse {
                    sums.reverse();
                }
                sums
            };
            let expected: Vec<_> = input.chunks(columns).flat_map(scan).collect();
            let mut command = subsweep(["scan", &path, "--axis", "1"]);
            command.args(is_reverse.then_some("--reverse"));
            let expected = npy("<u4", &format!("({rows}, {columns})"), &bytes(&expected));
            assert!(run(&mut command).done() == expected, "{rows} rows of {columns}");
        }
    }
    let none = npy("<u4", "(0, 3)", b"");
    assert_eq!(run_with(&mut subsweep(["scan", "-", "--axis", "1"]), &none).done(), none);
    let flat = folder.file("flat.npy", npy("<u4", "(2,)", &bytes(&[1, 2])));
    run(without_drivers(&mut subsweep(["scan", &flat, "--axis", "1"]))).refused(2, "has one dimension");
    let segmented = ["scan", &flat, "--axis", "1", "--segments", "starts.npy"];
    run(without_drivers(&mut subsweep(segmented))).refused(2, "leave out --axis 1");
    run(&mut subsweep(["scan", &flat, "--axis", "2"])).refused_with_words(2, "--axis");
}

/// Scans a table of 5 columns with `--op`, and compares with a sequential loop.
macro_rules! scans_of {
    ($type:ident, $descr:literal, $value:expr, $($op:literal: $combine:expr),+) => {{
        let value: fn(u32) -> $type = $value;
        let input: Vec<$type> = random(5 * 301).into_iter().map(value).collect();
        let bytes_of = |values: &[$type]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        $(
            let combine: fn($type, $type) -> $type = $combine;
            let mut expected = input.clone();
            for i in 5..expected.len() {
                expected[i] = combine(expected[i - 5], expected[i]);
            }
            let mut command = subsweep(["scan", "-", "--op", $op]);
            let stdout = run_with(&mut command, &npy($descr, "(301, 5)", &bytes_of(&input))).done();
            assert!(stdout == npy($descr, "(301, 5)", &bytes_of(&expected)), "{} of {}", $op, $descr);
        )+
    }};
}

#[test]
fn every_type_is_scanned_by_its_operators() {
    scans_of!(u32, "<u4", |word| word | 1,
        "mul": u32::wrapping_mul, "min": Ord::min, "max": Ord::max, "xor": |a, b| a ^ b);
    scans_of!(i32, "<i4", |word| word as i32,
        "add": i32::wrapping_add, "min": Ord::min, "max": Ord::max, "and": |a, b| a & b);
    scans_of!(u64, "<u8", |word| (u64::from(word) << 31) | 1,
        "add": u64::wrapping_add, "mul": u64::wrapping_mul, "max": Ord::max, "or": |a, b| a | b);
    scans_of!(i64, "<i8", |word| i64::from(word as i32) << 20,
        "add": i64::wrapping_add, "min": Ord::min, "max": Ord::max, "xor": |a, b| a ^ b);
    // Small integers, so that sums are exact in any order.
    scans_of!(f32, "<f4", |word| ((word >> 20) as i32 - 2048) as f32,
        "add": |a, b| a + b, "min": f32::min, "max": f32::max);
    scans_of!(f64, "<f8", |word| (f64::from(word) - 2e9) / 1024.0, "min": f64::min, "max": f64::max);
}

/// Reference of a segmented scan of rows of `columns` i32; segments begin at `starts`.
fn scanned_in_segments(
    rows: &[i32],
    columns: usize,
    starts: &[usize],
    init: i32,
    is_exclusive: bool,
    is_reverse: bool,
) -> Vec<i32> {
    let count = rows.len() / columns;
    let mut results = vec![0; rows.len()];
    let ends = starts[1..].iter().copied().chain([count]);
    for (start, end) in starts.iter().copied().zip(ends) {
        for column in 0..columns {
            let mut sum = init;
            let order: Vec<_> =
                if is_reverse { (start..end).rev().collect() } else { (start..end).collect() };
            for row in order {
                let before = sum;
                sum = sum.wrapping_add(rows[row * columns + column]);
                results[row * columns + column] = if is_exclusive { before } else { sum };
            }
        }
    }
    results
}

#[test]
fn segments_are_scanned_from_either_end_and_from_an_initial_value() {
    let folder = Folder::new();
    let starts = [0usize, 1, 2, 2, 700, 5000, 5001];
    let words: Vec<u32> = starts.iter().map(|&start| start as u32).collect();
    let segments = folder.file("starts.npy", npy("<u4", "(7,)", &bytes(&words)));
    let raw_segments = folder.file("starts", bytes(&words));
    for columns in [1, 3] {
        let input = random(5001 * columns);
        let rows: Vec<i32> = input.iter().map(|&word| word as i32).collect();
        let shape = if columns == 1 { "(5001,)".to_owned() } else { format!("(5001, {columns})") };
        let file = npy("<i4", &shape, &bytes(&input));
        let path = folder.file("in.npy", &file);
        for (is_exclusive, is_reverse, init, segments) in [
            (false, true, None, None),
            (true, true, Some(-7), None),
            (false, false, Some(i32::MAX), Some(&segments)),
            (true, false, None, Some(&raw_segments)),
            (true, true, Some(5), Some(&segments)),
        ] {
            // A reverse scan takes no pipe.
            let mut command = subsweep(["scan", if is_reverse { &path } else { "-" }]);
            command.args(is_exclusive.then_some("--exclusive")).args(is_reverse.then_some("--reverse"));
            if let Some(init) = init {
                command.args(["--init", &init.to_string()]);
            }
            if let Some(path) = segments {
                command.args(["--segments", path]);
            }
            let starts = if segments.is_some() { &starts[..] } else { &[0] };
            let init = init.unwrap_or(0);
            let expected = scanned_in_segments(&rows, columns, starts, init, is_exclusive, is_reverse);
            let expected: Vec<u32> = expected.iter().map(|&sum| sum as u32).collect();
            assert!(
                run_with(&mut command, &file).done() == npy("<i4", &shape, &bytes(&expected)),
                "{command:?}"
            );
        }
    }
}

#[test]
fn every_algorithm_and_policy_gives_the_same() {
    let input = random(COUNT);
    let mut sorted = input.clone();
    sorted.sort();
    for (command, algorithm, expected) in [
        ("scan", "reduce-then-scan", &scanned(&input, 1, false)),
        ("sort", "radix-2bit", &sorted),
        ("sort", "radix-4bit", &sorted),
    ] {
        for policy in ["default", "seed"] {
            let arguments = [command, "-", "--type", "u32", "--algorithm", algorithm, "--policy", policy];
            let stdout = run_with(&mut subsweep(arguments), &bytes(&input)).done();
            assert!(words(&stdout) == *expected, "{algorithm}, {policy}");
        }
    }
}

#[test]
fn every_algorithm_of_a_scan_gives_the_same() {
    let input = random(COUNT);
    for (is_exclusive, kind, options) in
        [(false, ScanKind::Inclusive, &[][..]), (true, ScanKind::Exclusive, &["--exclusive"])]
    {
        let config = ScanConfig::new(kind, ElementType::U32);
        let expected = scanned(&input, 1, is_exclusive);
        let algorithms =
            ScanAlgorithm::ALL.into_iter().filter(|algorithm| algorithm.refusal(&config).is_none());
        for algorithm in algorithms {
            let arguments = ["scan", "-", "--type", "u32", "--algorithm", algorithm.name()];
            let mut command = subsweep(arguments.iter().chain(options));
            assert!(words(&run_with(&mut command, &bytes(&input)).done()) == expected, "{algorithm}");
        }
    }
}

#[test]
fn scans_and_sorts_of_no_elements_are_empty() {
    let folder = Folder::new();
    let empty = folder.file("empty", b"");
    for command in ["scan", "sort"] {
        assert_eq!(run(&mut subsweep([command, &empty, "--type", "u32"])).done(), b"");
        let flat = npy("<u4", "(0,)", b"");
        assert_eq!(run_with(&mut subsweep([command, "-"]), &flat).done(), flat);
    }
    let grid = npy("<u4", "(0, 3)", b"");
    assert_eq!(run_with(&mut subsweep(["scan", "-"]), &grid).done(), grid);
}

#[test]
fn an_existing_output_is_replaced() {
    let folder = Folder::new();
    let input = folder.file("in", bytes(&[3, 1, 2]));
    let output = folder.file("out", "before, and longer than what comes");
    assert_eq!(run(&mut subsweep(["sort", &input, "--type", "u32", "--output", &output])).done(), b"");
    assert_eq!(words(&folder.read("out")), [1, 2, 3]);
    assert_eq!(folder.names(), ["in", "out"]);
}
