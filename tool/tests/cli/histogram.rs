//! Histograms: results in the format of the input, and refusals.

use super::refusals::{refused, refused_options, sparse_file};
use super::*;

/// The values in each bin, one after the other.
fn counted(values: impl Iterator<Item = f64>, edges: &[f64]) -> Vec<u32> {
    let mut counts = vec![0; edges.len() - 1];
    for value in values {
        let is_in = |bin: &usize| {
            let is_last = bin + 1 == counts.len();
            edges[*bin] <= value && (value < edges[bin + 1] || is_last && value == edges[bin + 1])
        };
        if let Some(bin) = (0..counts.len()).find(is_in) {
            counts[bin] += 1;
        }
    }
    counts
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn values_of_every_type_are_counted_in_even_bins_and_by_edges() {
    let folder = Folder::new();
    let words = random(5003);
    let float = |word: u32| f32::from_bits(word >> 9 | 0x3f80_0000) - 1.5;
    for (descr, range, of) in [
        ("<u4", [-2.0, 4e9], (|word| word.into()) as fn(u32) -> f64),
        ("<i4", [-2e9, 2e9], |word| (word as i32).into()),
        ("<f4", [-0.5, 0.25], |word| f32::from_bits(word).into()),
    ] {
        let words: Vec<_> = match descr {
            "<f4" => words.iter().map(|&word| float(word).to_bits()).collect(),
            _ => words.clone(),
        };
        let [low, high] = range;
        // Edges that every type holds exactly.
        let edges: Vec<_> = (0..=8).map(|index| low + (high - low) / 8.0 * f64::from(index)).collect();
        let expected = counted(words.iter().map(|&word| of(word)), &edges);
        assert!(expected.iter().sum::<u32>() > 1000);
        let file = npy(descr, "(5003,)", &bytes(&words));
        let expected = npy("<u4", "(8,)", &bytes(&expected));
        let range = format!("{low}:{high}");
        let even = run_with(&mut subsweep(["histogram", "-", "--bins", "8", "--range", &range]), &file);
        assert!(even.done() == expected, "{descr}");
        let edges = folder.file("edges.npy", npy("<f8", "(9,)", &doubles(&edges)));
        let by_edges = run_with(&mut subsweep(["histogram", "-", "--edges", &edges]), &file);
        assert!(by_edges.done() == expected, "{descr}, by edges");
    }
}

#[test]
fn values_of_64_bits_and_weights() {
    let folder = Folder::new();
    let numbers: Vec<f64> = (0..5003).map(|index| f64::from(index) / 5002.0).collect();
    let edges = [0.0, 0.25, 0.5, 0.75, 1.0];
    let even = ["histogram", "-", "--bins", "4", "--range", "0:1"];
    let file = npy("<f8", "(5003,)", &doubles(&numbers));
    let expected = counted(numbers.iter().copied(), &edges);
    assert!(run_with(&mut subsweep(even), &file).done() == npy("<u4", "(4,)", &bytes(&expected)));
    let weights = folder.file("weights.npy", npy("<i4", "(5003,)", &bytes(&[-2i32 as u32; 5003])));
    let expected: Vec<_> = expected.iter().map(|count| count.wrapping_mul(-2i32 as u32)).collect();
    let weighted = run_with(subsweep(even).args(["--weights", &weights]), &file).done();
    assert!(weighted == npy("<i4", "(4,)", &bytes(&expected)));
    // Raw weights have no shape.
    let (table, raw) =
        (npy("<u4", "(2, 2)", &bytes(&[0, 1, 0, 0])), folder.file("weights", bytes(&[1, 2, 3, 4])));
    let columns = run_with(subsweep(even).args(["--weights", &raw]), &table).done();
    assert_eq!(columns, npy("<u4", "(2, 4)", &bytes(&[4, 0, 0, 0, 4, 0, 0, 2])));
    // 2^53 and the next integer are one number of f64, by which they are compared.
    let wide: Vec<u32> = [1u64 << 53, (1 << 53) + 1, (1 << 53) + 2, u64::MAX]
        .iter()
        .flat_map(|number| [*number as u32, (number >> 32) as u32])
        .collect();
    let edges = folder.file("edges.npy", npy("<f8", "(3,)", &doubles(&[0.0, 9_007_199_254_740_994.0, 2e19])));
    let counts =
        run_with(&mut subsweep(["histogram", "-", "--edges", &edges]), &npy("<u8", "(4,)", &bytes(&wide)));
    assert_eq!(counts.done(), npy("<u4", "(2,)", &bytes(&[2, 2])));
}

#[test]
fn each_column_of_a_table_has_a_row_of_counts() {
    let folder = Folder::new();
    let input = folder.file("in.npy", npy("<i4", "(4, 2)", &bytes(&[0, 9, 1, 5, 2, 10, u32::MAX, 11])));
    let output = folder.argument("out.npy");
    let arguments = ["histogram", &input, "--bins", "2", "--range", "0:10", "-o", &output];
    assert_eq!(run(&mut subsweep(arguments)).done(), b"");
    assert_eq!(folder.read("out.npy"), npy("<u4", "(2, 2)", &bytes(&[3, 0, 0, 3])));
    let one = npy("<u4", "(3, 1)", &bytes(&[1, 2, 3]));
    let counts = run_with(&mut subsweep(["histogram", "-", "--bins", "1", "--range", "1:2.5"]), &one);
    assert_eq!(counts.done(), npy("<u4", "(1, 1)", &bytes(&[2])));
    let none = npy("<u4", "(0, 3)", b"");
    let counts = run_with(&mut subsweep(["histogram", "-", "--bins", "1", "--range", "1:2"]), &none);
    assert_eq!(counts.done(), npy("<u4", "(3, 1)", &[0; 12]));
}

#[test]
fn edges_of_every_type_and_raw_ones() {
    let folder = Folder::new();
    let input = folder.file("in", bytes(&[0, 1, 2, 3, 4, 5, u32::MAX]));
    let expected = bytes(&[2, 1, 3]);
    let files: [(&str, Vec<u8>); 6] = [
        ("<u4", bytes(&[0, 2, 3, 5])),
        ("<i4", bytes(&[0, 2, 3, 5])),
        ("<f4", bytes(&[0.0f32, 1.5, 2.5, 5.5].map(f32::to_bits))),
        ("<u8", bytes(&[0, 0, 2, 0, 3, 0, 5, 0])),
        ("<i8", bytes(&[u32::MAX, u32::MAX, 2, 0, 3, 0, 5, 0])),
        ("<f8", doubles(&[-1e300, 1.25, 2.75, 5.0])),
    ];
    for (descr, numbers) in files {
        let edges = folder.file("edges.npy", npy(descr, "(4,)", &numbers));
        let mut command = subsweep(["histogram", &input, "--type", "u32", "--edges", &edges]);
        assert_eq!(run(&mut command).done(), expected, "{descr}");
    }
    let mut command = subsweep(["histogram", &input, "--type", "u32", "--edges", "-"]);
    assert_eq!(run_with(&mut command, &bytes(&[0, 2, 3, 5])).done(), expected);
    // numpy counts no value twice, and none in the bins beyond the numbers of a u32.
    let mut command = subsweep(["histogram", &input, "--type", "u32", "--bins", "3", "--range", "0:12e9"]);
    assert_eq!(run(&mut command).done(), bytes(&[6, 1, 0]));
}

#[test]
fn invalid_bins_and_edges() {
    let folder = Folder::new();
    let input = folder.file("in.npy", npy("<f4", "(4,)", &[0; 16]));
    let ints = folder.file("ints.npy", npy("<u4", "(4,)", &[0; 16]));
    let histogram = ["histogram", &input];
    let with = |options: &[&'static str]| [&histogram[..], options].concat();
    let range = ["--range", "0:1"];
    for (bins, reason) in [
        ("0", "0 is not in 1..=65536"),
        ("65537", "65537 is not in 1..=65536"),
        ("-1", "-1 is not in 1..=65536"),
        ("2.5", "give a whole number, not negative"),
    ] {
        refused(&folder, &[&with(&["--bins", bins]), &range[..]].concat(), reason);
    }
    for bad in ["1:1", "2:1", "1", "a:b", "0:inf", "nan:1", ":"] {
        refused(&folder, &with(&["--bins", "2", "--range", bad]), "two numbers A:B with A < B");
    }
    refused(
        &folder,
        &with(&["--bins", "2", "--range", "0:1e39"]),
        "beyond the numbers of its type; give edges of your own",
    );
    refused(&folder, &with(&["--bins", "65536", "--range", "1:1.001"]), "too few numbers for so many bins");
    run(&mut subsweep(with(&["--bins", "2"]))).refused_with_words(2, "--range");
    run(&mut subsweep(with(&range))).refused_with_words(2, "--bins");
    run(&mut subsweep(histogram)).refused_with_words(2, "<--bins <N>|--edges <FILE>>");
    let doubles_file = folder.file("doubles.npy", npy("<f8", "(1,)", &[0; 8]));
    refused(
        &folder,
        &["histogram", &doubles_file, "--bins", "3", "--range", "-1.7e308:1.7e308"],
        "--range is wider than the greatest float of 64 bits; take a narrower one, or name edges with --edges",
    );
    let files: [(&str, &str, Vec<u8>, &str); 5] = [
        (
            "<f8",
            "(1,)",
            doubles(&[1.0]),
            "edges of a histogram: 1 given, 2 to 65537 supported; give one more than there are bins",
        ),
        ("<f8", "(3,)", doubles(&[0.0, 2.0, 1.0]), "edge 2 is below the one before it; sort the edges"),
        ("<f4", "(2,)", bytes(&[0, f32::NAN.to_bits()]), "edge 1 is not a number; leave it out"),
        ("<f8", "(2, 1)", doubles(&[0.0, 1.0]), "2 dimensions"),
        ("<u4", "(65538,)", vec![0; 4 * 65_538], "more than 65537 elements"),
    ];
    for (descr, shape, numbers, what) in files {
        let edges = folder.file("edges.npy", npy(descr, shape, &numbers));
        for input in [&input, &ints] {
            refused(&folder, &["histogram", input, "--edges", &edges], what);
        }
    }
    let edges = folder.file("edges", b"");
    refused(&folder, &["histogram", &input, "--edges", &edges], "edges of a histogram: 0 given");
    let edges = folder.file("edges", bytes(&[0; 2]));
    run(&mut subsweep(["histogram", &input, "--edges", &edges, "--bins", "1"]))
        .refused_with_words(2, "cannot be used with");
    refused(&folder, &["histogram", "-", "--edges", "-"], "standard input is read once");
    let nowhere = folder.argument("nowhere");
    refused(&folder, &["histogram", &input, "--edges", &nowhere], "cannot be opened");
    let mut command = subsweep(["histogram", &input, "--edges", &edges, "-o", &edges]);
    run(without_drivers(&mut command)).refused(2, "is also the input");

    let even = ["histogram", &input, "--bins", "1", "--range", "0:1", "--weights"];
    for (descr, numbers, what) in [
        ("<u4", bytes(&[1; 3]), "has 3 weights for 4 elements; give one for each"),
        ("<i4", bytes(&[1; 5]), "has 5 weights for 4 elements; give one for each"),
        ("<f4", bytes(&[1; 4]), "elements of type <f4, and u32|i32 is taken"),
    ] {
        let shape = format!("({},)", numbers.len() / 4);
        let weights = folder.file("weights.npy", npy(descr, &shape, &numbers));
        run(subsweep(even).arg(&weights)).refused_with_words(2, what);
    }
    let six = bytes(&[0; 6]);
    for (shape, of_weights) in [("(3, 2)", "(2, 3)"), ("(3, 2)", "(6,)"), ("(6,)", "(2, 3)")] {
        let table = folder.file("table.npy", npy("<u4", shape, &six));
        let weights = folder.file("weights.npy", npy("<u4", of_weights, &six));
        let weighted = ["histogram", &table, "--bins", "1", "--range", "0:1", "--weights", &weights];
        let what = format!(
            "has shape {of_weights}, and {table} {shape}; give a weight for each element, in the same shape"
        );
        refused(&folder, &weighted, &what);
    }
    // A stream of raw elements has a shape at its end.
    let weights = folder.file("weights.npy", npy("<u4", "(2, 3)", &six));
    let raw = ["histogram", "-", "--type", "u32", "--bins", "1", "--range", "0:1", "--weights", &weights];
    let ended = run_with(&mut subsweep(raw), &six);
    assert_eq!((ended.code, &ended.stdout[..]), (2, &b""[..]), "{}", ended.stderr);
    assert!(ended.stderr.contains("has shape (2, 3), and standard input (6,); "), "{}", ended.stderr);
    let wide = folder.file("wide.npy", npy("<u4", "(0, 65537)", b""));
    refused(&folder, &["histogram", &wide, "--bins", "1", "--range", "0:1"], "has 65537 columns");
    let even = [&with(&["--bins", "2"]), &range[..]].concat();
    refused_options(&folder, &even);
}

#[test]
fn a_histogram_of_more_values_than_a_count_holds() {
    let folder = Folder::new();
    let Some(input) = sparse_file(&folder, 8 << 40) else { return };
    let output = folder.file("out", "before");
    let even = ["histogram", &input, "--type", "u32", "--bins", "2", "--range", "0:1", "-o", &output];
    run(without_drivers(&mut subsweep(even)))
        .refused(2, "holds more than 4294967295 elements, which is the most that is taken; split it");
    assert_eq!(folder.read("out"), b"before");
}
