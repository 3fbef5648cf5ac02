//! Big-endian files and tables in Fortran order, read as numpy reads them.

use super::*;

/// An `.npy` file of a table in Fortran order, of elements of `size` bytes row after row, and big-endian if `descr` is.
fn foreign(descr: &str, [rows, columns]: [usize; 2], by_rows: &[u8]) -> Vec<u8> {
    let size = by_rows.len() / (rows * columns);
    let is_big = descr.starts_with('>');
    let element = |row: usize, column: usize| {
        let mut element = by_rows[(row * columns + column) * size..][..size].to_vec();
        if is_big {
            element.reverse();
        }
        element
    };
    let by_columns: Vec<u8> =
        (0..columns).flat_map(|column| (0..rows).flat_map(move |row| element(row, column))).collect();
    let mut file = npy(descr, &format!("({rows}, {columns})"), &by_columns);
    let at = file.windows(5).position(|text| text == b"False").unwrap();
    file[at..at + 5].copy_from_slice(b"True ");
    file
}

/// An array of big-endian elements.
fn big(descr: &str, size: usize, elements: &[u8]) -> Vec<u8> {
    let swapped: Vec<u8> = elements.chunks(size).flat_map(|bytes| bytes.iter().rev().copied()).collect();
    npy(&format!(">{descr}"), &format!("({},)", elements.len() / size), &swapped)
}

fn native(descr: &str, size: usize, elements: &[u8]) -> Vec<u8> {
    npy(&format!("<{descr}"), &format!("({},)", elements.len() / size), elements)
}

#[test]
fn big_endian_arrays_have_the_results_of_others() {
    let folder = Folder::new();
    let elements = bytes(&random(40_004));
    // Floats are ones of whole numbers, whose sums are exact.
    let small: Vec<u8> = random(20_001).iter().flat_map(|word| f64::from(word % 99).to_le_bytes()).collect();
    let counts = folder.argument("counts");
    let all: [&[&str]; 8] = [
        &["sort"],
        &["sort", "--argsort", "--descending"],
        &["scan"],
        &["scan", "--reverse"],
        &["reduce"],
        &["runs", "--counts", &counts],
        &["select", "--where", "x > 40"],
        &["topk", "-k", "7"],
    ];
    for (descr, size, elements, commands) in
        [("i2", 2, &elements, &all[..]), ("u4", 4, &elements, &all[..1]), ("f8", 8, &small, &all[2..4])]
    {
        let [big, native] = [big(descr, size, elements), native(descr, size, elements)];
        let big_path = folder.file("big.npy", &big);
        let native_path = folder.file("native.npy", &native);
        for &arguments in commands {
            let expected = run(subsweep(arguments).arg(&native_path)).done();
            assert!(run(subsweep(arguments).arg(&big_path)).done() == expected, "{arguments:?}, {descr}");
            if !arguments.contains(&"--reverse") {
                let piped = run_with(subsweep(arguments).arg("-"), &big).done();
                assert!(piped == expected, "{arguments:?}, {descr}");
            }
        }
    }
}

#[test]
fn every_input_may_be_big_endian() {
    let folder = Folder::new();
    let words = |words: &[u32]| bytes(words);
    let starts = folder.file("starts.npy", big("u4", 4, &words(&[0, 2, 3])));
    let keys = folder.file("keys.npy", big("i8", 8, &[3_i64, -1, 2, 2].map(i64::to_le_bytes).concat()));
    let values = folder.file("values.npy", big("u4", 4, &words(&[5, 6, 7, 8])));
    let [output, more] = ["out.npy", "more.npy"].map(|name| folder.argument(name));
    let array = |name: &str| folder.read(name);
    run(&mut subsweep(["sort", &keys, "--values", &values, "-o", &output, "--values-output", &more])).done();
    assert_eq!(array("out.npy"), npy("<i8", "(4,)", &[-1_i64, 2, 2, 3].map(i64::to_le_bytes).concat()));
    assert_eq!(array("more.npy"), npy("<u4", "(4,)", &words(&[6, 7, 8, 5])));
    for (is_reverse, expected) in [(false, [5, 11, 7, 8]), (true, [11, 6, 7, 8])] {
        let mut command = subsweep(["scan", &values, "--segments", &starts]);
        command.args(is_reverse.then_some("--reverse"));
        assert_eq!(run(&mut command).done(), npy("<u4", "(4,)", &words(&expected)));
    }
    run(&mut subsweep(["reduce", &values, "--by-key", &keys, "--keys-output", &more, "-o", &output])).done();
    assert_eq!(array("out.npy"), npy("<u4", "(3,)", &words(&[5, 6, 15])));
    assert_eq!(array("more.npy"), npy("<i8", "(3,)", &[3_i64, -1, 2].map(i64::to_le_bytes).concat()));
    let edges = folder.file("edges.npy", big("f8", 8, &[5.0_f64, 6.5, 9.0].map(f64::to_le_bytes).concat()));
    let counts = run(&mut subsweep(["histogram", &values, "--edges", &edges])).done();
    assert_eq!(counts, npy("<u4", "(2,)", &words(&[2, 2])));
    let flags = folder.file("flags.npy", big("u4", 4, &words(&[0, 1 << 24, 1, 0])));
    let kept = run(&mut subsweep(["select", &values, "--flags", &flags])).done();
    assert_eq!(kept, npy("<u4", "(2,)", &words(&[6, 7])));
}

#[test]
fn tables_by_columns_have_the_results_of_those_by_rows() {
    let folder = Folder::new();
    // In blocks of rows and in one, in short columns, and in rows of one block or of several.
    for (descr, [rows, columns], arguments) in [
        ("<i4", [700_001, 2], &["scan"][..]),
        (">u4", [3, 400_001], &["scan", "--axis", "1"]),
        ("<u8", [1, 1_100_003], &["scan", "--axis", "1"]),
        ("<u2", [3, 3001], &["scan", "--axis", "1", "--reverse"]),
        (">i4", [3001, 3], &["reduce", "--axis", "1"]),
        ("<i4", [3001, 3], &["diff", "--keep-first"]),
        (">i2", [3001, 3], &["topk", "-k", "1"]),
        ("|u1", [9, 5], &["topk", "-k", "2"]),
    ] {
        let size = descr[2..].parse::<usize>().unwrap();
        let elements = &bytes(&random(rows * columns * size / 4 + 1))[..rows * columns * size];
        let shape = format!("({rows}, {columns})");
        let native = folder.file("native.npy", npy(&descr.replace('>', "<"), &shape, elements));
        let file = foreign(descr, [rows, columns], elements);
        let path = folder.file("columns.npy", &file);
        let expected = run(subsweep(arguments).arg(&native)).done();
        assert!(run(subsweep(arguments).arg(&path)).done() == expected, "{arguments:?}, {descr}");
        if !arguments.contains(&"--reverse") {
            let piped = run_with(subsweep(arguments).arg("-"), &file).done();
            assert!(piped == expected, "{arguments:?}, {descr} in a pipe");
        }
    }
    // Inputs beside the table: a weight is of the number in its row and column.
    let numbers = folder.file("numbers.npy", npy("<u4", "(2, 3)", &bytes(&[0, 1, 0, 0, 0, 1])));
    let weights = folder.file("weights.npy", foreign("<u4", [2, 3], &bytes(&[1, 2, 4, 8, 16, 32])));
    let range = ["--bins", "2", "--range", "0:1"];
    let weighted = run(subsweep(["histogram", &numbers, "--weights", &weights]).args(range)).done();
    assert_eq!(weighted, npy("<u4", "(3, 2)", &bytes(&[9, 0, 16, 2, 4, 32])));
    let cut = foreign("<u4", [4, 3], &bytes(&random(12)));
    let cut = &cut[..cut.len() - 1];
    run_with(&mut subsweep(["scan", "-"]), cut).refused(2, "ended after 175 of 176 bytes");
    let path = folder.file("cut.npy", cut);
    run(without_drivers(&mut subsweep(["scan", &path]))).refused(2, "ended after 175 of 176 bytes");
    let long = [&foreign("<u4", [4, 3], &bytes(&random(12)))[..], &[0]].concat();
    run_with(&mut subsweep(["scan", "-"]), &long).refused(2, "goes on after the 176 bytes");
}
