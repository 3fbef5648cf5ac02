//! Reductions: printed results, files in the format of the input, and refusals.

use super::refusals::{refused, refused_options};
use super::*;

/// Runs `subsweep reduce` on an .npy file from a pipe; returns standard output.
fn reduced(options: &[&str], file: &[u8]) -> Vec<u8> {
    run_with(&mut subsweep([&["reduce", "-"], options].concat()), file).done()
}

fn text(options: &[&str], file: &[u8]) -> String {
    String::from_utf8(reduced(options, file)).unwrap()
}

#[test]
fn results_are_printed_as_numpy_prints_them() {
    let whole = npy("<u4", "(5,)", &bytes(&[7, 3, 9, 3, 5]));
    for (op, expected) in [
        ("add", "27\n"),
        ("mul", "2835\n"),
        ("min", "3\n"),
        ("max", "9\n"),
        ("and", "1\n"),
        ("or", "15\n"),
        ("xor", "11\n"),
        ("argmin", "1\n"),
        ("argmax", "2\n"),
        ("argminmax", "1\n2\n"),
    ] {
        assert_eq!(text(&["--op", op], &whole), expected, "{op}");
    }
    assert_eq!(text(&[], &whole), "27\n");
    let floats = [0.1f32, 0.2, 0.3].map(f32::to_bits);
    assert_eq!(text(&[], &npy("<f4", "(3,)", &bytes(&floats))), format!("{:?}\n", 0.1f32 + 0.3 + 0.2));
    let grid = [1.5f32, -2.0, 0.25, 1e20, 5.0, 6.0].map(f32::to_bits);
    assert_eq!(text(&[], &npy("<f4", "(2, 3)", &bytes(&grid))), "1e+20 3.0 6.25\n");
    let none = npy("<f4", "(0,)", b"");
    assert_eq!(text(&[], &none), "0.0\n");
    assert_eq!(text(&["--op", "min"], &none), "inf\n");
    assert_eq!(text(&["--op", "argmin"], &none), "4294967295\n");
}

#[test]
fn sums_of_every_type_equal_a_loop() {
    let words = random(40_002);
    let sum32 = words.iter().fold(0, |sum: u32, word| sum.wrapping_add(*word));
    let pairs: Vec<u64> =
        words.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect();
    let sum64 = pairs.iter().fold(0, |sum: u64, word| sum.wrapping_add(*word));
    for (descr, count, expected) in [
        ("<u4", 40_002, sum32.to_string()),
        ("<i4", 40_002, (sum32 as i32).to_string()),
        ("<u8", 20_001, sum64.to_string()),
        ("<i8", 20_001, (sum64 as i64).to_string()),
    ] {
        let file = npy(descr, &format!("({count},)"), &bytes(&words));
        assert_eq!(text(&[], &file), expected + "\n", "{descr}");
    }
    // Whole numbers, whose sums are exact.
    let whole: Vec<f64> = words.iter().map(|word| f64::from(word % 1000)).collect();
    let sum: f64 = whole.iter().sum();
    let as_words: Vec<u32> =
        whole.iter().map(|value| value.to_bits()).flat_map(|bits| [bits as u32, (bits >> 32) as u32]).collect();
    assert_eq!(text(&[], &npy("<f8", "(40002,)", &bytes(&as_words))), format!("{sum:?}\n"));
}

#[test]
fn segments_and_runs_of_keys() {
    let folder = Folder::new();
    let values = npy("<i4", "(6,)", &bytes(&[1, 2, 3, 4, 5, 6]));
    let starts = folder.file("starts.npy", npy("<u4", "(4,)", &bytes(&[0, 2, 2, 5])));
    assert_eq!(text(&["--segments", &starts], &values), "3\n0\n12\n6\n");
    let output = folder.argument("out.npy");
    assert_eq!(reduced(&["--segments", &starts, "-o", &output], &values), b"");
    assert_eq!(folder.read("out.npy"), npy("<i4", "(4,)", &bytes(&[3, 0, 12, 6])));
    let grid = npy("<u4", "(3, 2)", &bytes(&[1, 2, 3, 4, 5, 6]));
    let two = folder.file("two", bytes(&[0, 1]));
    let expected = npy("<u4", "(2, 2)", &bytes(&[1, 2, 8, 10]));
    assert_eq!(reduced(&["--segments", &two, "-o", "-"], &grid), expected);
    assert_eq!(text(&["--segments", &two], &grid), "1 2\n8 10\n");

    let keys = folder.file("keys.npy", npy("<u8", "(6,)", &bytes(&[7, 0, 7, 0, 7, 1, 7, 0, 7, 0, 7, 0])));
    let unique = folder.argument("unique.npy");
    let by_key = ["--by-key", &keys, "--keys-output", &unique];
    assert_eq!(text(&by_key, &values), "3\n3\n15\n");
    assert_eq!(folder.read("unique.npy"), npy("<u8", "(3,)", &bytes(&[7, 0, 7, 1, 7, 0])));
    reduced(&[&by_key[..], &["-o", &output]].concat(), &values);
    assert_eq!(folder.read("out.npy"), npy("<i4", "(3,)", &bytes(&[3, 3, 15])));
    // Raw keys, whose size follows from the number of rows.
    let raw = folder.file("keys", bytes(&[9, 9, 9, 8, 8, 9]));
    assert_eq!(text(&["--by-key", &raw, "--keys-output", &unique], &values), "6\n9\n6\n");
    assert_eq!(words(&folder.read("unique.npy")), [9, 8, 9]);
}

/// Zeros of both signs are one run, and so are all NaNs: of a reduction, of run lengths and of unique elements.
#[test]
fn float_keys_are_equal_by_value() {
    let folder = Folder::new();
    let values = npy("<i4", "(7,)", &bytes(&[1, 2, 3, 4, 5, 6, 7]));
    let unique = folder.argument("unique.npy");
    let singles = [-0.0, 0.0, f32::NAN, -f32::NAN, 2.0, 2.0, f32::INFINITY].map(f32::to_bits);
    let doubles = [-0.0, 0.0, f64::NAN, -f64::NAN, 2.0, 2.0, f64::INFINITY];
    let doubles: Vec<u8> = doubles.iter().flat_map(|key| key.to_le_bytes()).collect();
    for (descr, size, keys) in [("<f4", 4, bytes(&singles)), ("<f8", 8, doubles)] {
        let input = folder.file("keys.npy", npy(descr, "(7,)", &keys));
        assert_eq!(text(&["--by-key", &input, "--keys-output", &unique], &values), "3\n7\n11\n7\n");
        let first = [0, 2, 4, 6].map(|index| &keys[index * size..][..size]).concat();
        let expected = npy(descr, "(4,)", &first);
        assert_eq!(folder.read("unique.npy"), expected);
        let counts = folder.argument("counts");
        for arguments in [&["runs", "--counts", &counts][..], &["select", "--unique"]] {
            let output = run(subsweep(arguments).args([&input, "-o", &unique]));
            output.done();
            assert_eq!(folder.read("unique.npy"), expected, "{arguments:?}");
        }
        // Raw keys have no type.
        let raw = folder.file("keys", keys);
        let sums = text(&["--by-key", &raw, "--keys-output", &unique], &values);
        assert_eq!(sums, "1\n2\n3\n4\n11\n7\n");
    }
}

#[test]
fn rows_of_a_table_have_a_result_each() {
    let folder = Folder::new();
    let output = folder.argument("out.npy");
    let grid = npy("<i4", "(2, 3)", &bytes(&[1, 2, 3, 9, 5, 9]));
    assert_eq!(text(&["--axis", "1"], &grid), "6\n23\n");
    assert_eq!(text(&["--axis", "1", "--op", "argmax"], &grid), "2\n0\n");
    assert_eq!(text(&["--axis", "1", "--op", "argminmax"], &grid), "0 1\n2 0\n");
    assert_eq!(text(&["--op", "argminmax"], &grid), "0 0 0\n1 1 1\n");
    for (rows, columns) in [(1000, 7), (33, 128), (9, 300), (4, 20_000), (3, 1)] {
        let numbers = random(rows * columns);
        let file = npy("<u4", &format!("({rows}, {columns})"), &bytes(&numbers));
        let sum = |row: &[u32]| row.iter().fold(0, |sum: u32, word| sum.wrapping_add(*word));
        let least = |row: &[u32]| row.iter().position(|word| word == row.iter().min().unwrap()).unwrap() as u32;
        let of = |of: &dyn Fn(&[u32]) -> u32| numbers.chunks(columns).map(of).collect::<Vec<_>>();
        for (op, expected) in [("add", of(&sum)), ("argmin", of(&least))] {
            reduced(&["--axis", "1", "--op", op, "-o", &output], &file);
            let expected = npy("<u4", &format!("({rows},)"), &bytes(&expected));
            assert!(folder.read("out.npy") == expected, "{op} of {rows} rows of {columns}");
        }
    }
    reduced(&["--axis", "1", "-o", &output], &npy("<f8", "(0, 4)", b""));
    assert_eq!(folder.read("out.npy"), npy("<f8", "(0,)", b""));
}

#[test]
fn files_have_the_type_of_the_input_and_indices_are_u32() {
    let folder = Folder::new();
    let grid = npy("<u8", "(2, 2)", &bytes(&[5, 0, 1, 0, 5, 0, 0, 1]));
    let output = folder.argument("out.npy");
    reduced(&["--op", "max", "-o", &output], &grid);
    assert_eq!(folder.read("out.npy"), npy("<u8", "(2,)", &bytes(&[5, 0, 0, 1])));
    reduced(&["--op", "argmax", "-o", &output], &grid);
    assert_eq!(folder.read("out.npy"), npy("<u4", "(2,)", &bytes(&[0, 1])));
    reduced(&["--op", "argminmax", "-o", &output], &grid);
    assert_eq!(folder.read("out.npy"), npy("<u4", "(2, 2)", &bytes(&[0, 0, 0, 1])));
    let raw = folder.file("in", bytes(&[1, 2, 3]));
    let stdout = run(&mut subsweep(["reduce", &raw, "--type", "u32", "-o", "-"])).done();
    assert_eq!(words(&stdout), [6]);
}

#[test]
fn invalid_reductions() {
    let folder = Folder::new();
    let table = folder.file("in.npy", npy("<f4", "(4,)", &[0; 16]));
    let reduce = |options: &[&'static str]| [&["reduce", &table], options].concat();
    refused(&folder, &reduce(&["--axis", "1"]), "has one dimension, and no axis 1");
    run(&mut subsweep(reduce(&["--axis", "2"]))).refused_with_words(2, "--axis");
    run(&mut subsweep(reduce(&["--op", "median"]))).refused_with_words(2, "median");
    refused(&folder, &reduce(&["--op", "xor"]), "--op xor is of whole numbers, and the elements are f32");
    refused_options(&folder, &reduce(&[]));
    refused(&folder, &["reduce", "-", "--segments", "-"], "standard input is read once; name a file for --segments");
    let same = folder.argument("same");
    let mut command = subsweep(reduce(&["--by-key", "keys"]));
    command.args(["-o", &same, "--keys-output", &same]);
    run(without_drivers(&mut command)).refused(2, "-o and --keys-output name the same file");
    let descending = folder.file("descending", bytes(&[2, 1]));
    let beyond = folder.file("beyond", bytes(&[5]));
    refused(&folder, &["reduce", &table, "--segments", &descending], "segments are not ascending");
    refused(&folder, &["reduce", &table, "--segments", &beyond], "a segment begins at 5, and there are 4 rows");
    let starts = folder.file("starts", bytes(&[0]));
    let rows = ["reduce", &table, "--segments", &starts, "--axis", "1"];
    refused(&folder, &rows, "leave out --axis 1");
    let narrow = folder.file("narrow.npy", npy("<u4", "(2, 0)", b""));
    refused(&folder, &["reduce", &narrow, "--axis", "1"], "a table without columns");
    let both = ["reduce", &table, "--segments", &starts, "--op", "argmin"];
    refused(&folder, &both, "--op argmin is of all rows");
    let unique = folder.argument("unique");
    let partial = folder.file("partial", [0; 12]);
    let partial = ["reduce", &table, "--by-key", &partial, "--keys-output", &unique];
    let what = "holds 12 bytes, and elements of 1, 2, 4 or 8 bytes for each of 4 of the input are taken";
    refused(&folder, &partial, what);
    let keys = folder.file("keys", bytes(&[0; 4]));
    let printed = ["reduce", &table, "--by-key", &keys, "--keys-output", "-"];
    run(without_drivers(&mut subsweep(printed))).refused(2, "standard output is written once");
    run(&mut subsweep(["reduce", &table, "--by-key", &keys])).refused_with_words(2, "--keys-output");
    let wide = folder.file("wide.npy", npy("<u4", "(1, 65)", &[0; 260]));
    refused(&folder, &["reduce", &wide], "has 65 columns, and 1 to 64 are reduced");
}

#[test]
fn segments_end_where_they_are_said_to() {
    let folder = Folder::new();
    let file = npy("<u4", "(6,)", &bytes(&[1, 2, 4, 8, 16, 32]));
    let begins = folder.file("begins.npy", npy("<i8", "(4,)", &bytes(&[3, 0, 0, 0, 6, 0, 2, 0])));
    let ends = folder.file("ends", bytes(&[6, 5, 6, 1]));
    let ranges = ["--segments", &begins, "--segment-ends", &ends];
    assert_eq!(text(&ranges, &file), "56\n31\n0\n0\n");
    let table = folder.file("in.npy", file);
    let few = folder.file("few", bytes(&[6, 5]));
    let mut arguments = ["reduce", &table, "--segments", &begins, "--segment-ends", &few];
    refused(&folder, &arguments, "has 2 ends of 4 segments; give one for each");
    let beyond = folder.file("beyond", bytes(&[7, 5, 6, 1]));
    arguments[5] = &beyond;
    refused(&folder, &arguments, "a segment begins or ends at 7, and there are 6 rows");
    run(&mut subsweep(["reduce", &table, "--segment-ends", &few])).refused_with_words(2, "--segments");
}
