//! Top-k: results in the format of the input, and refusals.

use super::refusals::{refused, refused_options};
use super::*;

/// The indices of the k best of each row, by a stable sort.
fn best(rows: &[u32], columns: usize, k: usize, compare: impl Fn(u32, u32) -> std::cmp::Ordering) -> Vec<u32> {
    let of_row = |row: &[u32]| {
        let mut indices: Vec<_> = (0..columns as u32).collect();
        indices.sort_by(|&a, &b| compare(row[a as usize], row[b as usize]));
        indices.truncate(k);
        indices
    };
    rows.chunks(columns).flat_map(of_row).collect()
}

#[test]
fn rows_of_every_order_and_their_indices() {
    let folder = Folder::new();
    // Many ties.
    let words: Vec<_> = random(40 * 300).into_iter().map(|word| word % 50).collect();
    let input = folder.file("in.npy", npy("<u4", "(40, 300)", &bytes(&words)));
    let (output, indices) = (folder.argument("out.npy"), folder.argument("indices.npy"));
    for (options, is_smallest, is_sorted) in [
        (&[][..], false, true),
        (&["--smallest"], true, true),
        (&["--unsorted"], false, false),
        (&["--smallest", "--unsorted"], true, false),
    ] {
        let order = |a: u32, b: u32| if is_smallest { a.cmp(&b) } else { b.cmp(&a) };
        let mut expected = best(&words, 300, 17, order);
        if !is_sorted {
            expected.chunks_mut(17).for_each(<[u32]>::sort_unstable);
        }
        let key = |(place, &index): (usize, &u32)| words[place / 17 * 300 + index as usize];
        let keys: Vec<_> = expected.iter().enumerate().map(key).collect();
        let arguments = ["topk", &input, "-k", "17", "-o", &output, "--indices", &indices];
        assert_eq!(run(&mut subsweep([&arguments[..], options].concat())).done(), b"");
        assert!(folder.read("out.npy") == npy("<u4", "(40, 17)", &bytes(&keys)), "{options:?}");
        assert!(folder.read("indices.npy") == npy("<u4", "(40, 17)", &bytes(&expected)), "{options:?}");
    }
}

#[test]
fn an_array_is_one_row_of_any_type() {
    let floats = [1.5, f64::NAN, -0.0, 0.0, -f64::INFINITY, f64::INFINITY];
    let payload: Vec<_> = floats.iter().flat_map(|number| number.to_le_bytes()).collect();
    let of = |indices: &[usize]| -> Vec<u8> {
        indices.iter().flat_map(|&index| floats[index].to_le_bytes()).collect()
    };
    let input = npy("<f8", "(6,)", &payload);
    let largest = run_with(&mut subsweep(["topk", "-", "-k", "4"]), &input);
    assert_eq!(largest.done(), npy("<f8", "(4,)", &of(&[1, 5, 0, 2])));
    let smallest = run_with(&mut subsweep(["topk", "-", "-k", "3", "--smallest"]), &input);
    assert_eq!(smallest.done(), npy("<f8", "(3,)", &of(&[4, 2, 3])));
    let raw = run_with(&mut subsweep(["topk", "-", "--type", "i32", "-k", "2"]), &bytes(&[3, u32::MAX, 7]));
    assert_eq!(raw.done(), bytes(&[7, 3]));
    let none = run_with(&mut subsweep(["topk", "-", "-k", "2"]), &npy("<f4", "(0, 5)", b""));
    assert_eq!(none.done(), npy("<f4", "(0, 2)", b""));
    // A k for which all are sorted.
    let words = random(20_000);
    let mut sorted = words.clone();
    sorted.sort_unstable();
    let all = run_with(&mut subsweep(["topk", "-", "-k", "20000", "--smallest"]), &npy("<u4", "(20000,)", &bytes(&words)));
    assert!(all.done() == npy("<u4", "(20000,)", &bytes(&sorted)));
}

#[test]
fn values_move_with_their_elements() {
    let folder = Folder::new();
    let input = folder.file("in.npy", npy("<u4", "(2, 4)", &bytes(&[5, 9, 9, 1, 2, 0, 7, 3])));
    let (output, moved) = (folder.argument("out.npy"), folder.argument("moved.npy"));
    let run_on = |input: &str, values: &str| {
        let arguments = ["topk", input, "-k", "2", "-o", &output, "--values", values, "--values-output", &moved];
        assert_eq!(run(&mut subsweep(arguments)).done(), b"");
        folder.read("moved.npy")
    };
    let doubles: Vec<_> = (10..18).flat_map(|number| f64::from(number).to_le_bytes()).collect();
    let values = folder.file("values.npy", npy("<f8", "(2, 4)", &doubles));
    let of_doubles = |places: [usize; 4]| places.map(|place| &doubles[8 * place..][..8]).concat();
    assert!(run_on(&input, &values) == npy("<f8", "(2, 2)", &of_doubles([1, 2, 6, 7])));
    assert!(folder.read("out.npy") == npy("<u4", "(2, 2)", &bytes(&[9, 9, 7, 3])));
    // Three elements for each, of a table and of an array.
    let words: Vec<_> = (100..124).collect();
    let of_words = |places: &[usize]| places.iter().map(|&place| bytes(&words[3 * place..][..3])).collect::<Vec<_>>().concat();
    let values = folder.file("values.npy", npy("<i4", "(2, 4, 3)", &bytes(&words)));
    assert!(run_on(&input, &values) == npy("<i4", "(2, 2, 3)", &of_words(&[1, 2, 6, 7])));
    let input = folder.file("in.npy", npy("<f4", "(4,)", &bytes(&[5, 9, 9, 1])));
    let values = folder.file("values.npy", npy("<i4", "(4, 3)", &bytes(&words[..12])));
    assert!(run_on(&input, &values) == npy("<i4", "(2, 3)", &of_words(&[1, 2])));
    // Raw values, of 8 bytes, to standard output.
    let values = folder.file("values.raw", &doubles[..32]);
    let arguments = ["topk", &input, "-k", "1", "-o", &output, "--values", &values, "--values-output", "-"];
    assert_eq!(run(&mut subsweep(arguments)).done(), &doubles[8..16]);
}

#[test]
fn rows_have_lengths_and_a_k_of_their_own() {
    let folder = Folder::new();
    let input = folder.file("in.npy", npy("<u4", "(6,)", &bytes(&[5, 1, 4, 4, 9, 2])));
    let segments = folder.file("segments.npy", npy("<u4", "(4,)", &bytes(&[1, 4, 4, 5])));
    let ks = folder.file("ks.npy", npy("<i8", "(4,)", &[1u64, 0, 3, 2].map(u64::to_le_bytes).concat()));
    let (output, indices) = (folder.argument("out.npy"), folder.argument("indices.npy"));
    let selected = |options: &[&str]| {
        let arguments = ["topk", &input, "-o", &output, "--indices", &indices];
        assert_eq!(run(&mut subsweep([&arguments[..], options].concat())).done(), b"");
        (folder.read("out.npy"), folder.read("indices.npy"))
    };
    let both = |keys: &[u32], columns: &[u32]| {
        let of = |words: &[u32]| npy("<u4", &format!("({},)", words.len()), &bytes(words));
        (of(keys), of(columns))
    };
    assert_eq!(selected(&["-k", "2", "--segments", &segments]), both(&[4, 4, 9, 2], &[1, 2, 0, 0]));
    assert_eq!(selected(&["--ks", &ks, "--segments", &segments]), both(&[4, 9, 2], &[1, 0, 0]));
    let smallest = ["-k", "9", "--smallest", "--segments", &segments];
    assert_eq!(selected(&smallest), both(&[1, 4, 4, 9, 2], &[0, 1, 2, 0, 0]));
    let table = folder.file("table.npy", npy("<u4", "(4, 2)", &bytes(&[1, 2, 3, 4, 6, 5, 8, 7])));
    let what = format!("{ks}: has a k of 3, and a row of {table} has 2; give 0 to 2");
    refused(&folder, &["topk", &table, "--ks", &ks], &what);
    let array = folder.file("array.npy", npy("<u4", "(0,)", b""));
    for (k, of) in [(0, "zero.npy"), (1, "one.npy")] {
        let ks = folder.file(of, npy("<u4", "(1,)", &bytes(&[k])));
        let arguments = ["topk", &array, "--ks", &ks];
        match k {
            0 => assert_eq!(run(&mut subsweep(arguments)).done(), npy("<u4", "(0,)", b"")),
            _ => {
                let what = format!("{ks}: has a k of 1, and a row of {array} has 0; give 0");
                refused(&folder, &arguments, &what);
            }
        }
    }
    let few = folder.file("few.npy", npy("<u4", "(4,)", &bytes(&[1, 0, 2, 1])));
    let got = run(&mut subsweep(["topk", &table, "--ks", &few])).done();
    assert_eq!(got, npy("<u4", "(4,)", &bytes(&[2, 6, 5, 8])));

    refused(&folder, &["topk", &table, "-k", "1", "--segments", &segments], "has rows, and --segments divide one dimension");
    refused(&folder, &["topk", &input, "-k", "0", "--segments", &segments], "-k 0: a row of");
    // No tile has as many, so that all are sorted.
    let many = folder.file("many.npy", npy("<u4", "(4,)", &bytes(&[4097, 1, 1, 1])));
    assert_eq!(selected(&["--ks", &many, "--segments", &segments]), both(&[4, 4, 1, 9, 2], &[1, 2, 0, 0, 0]));
    // More elements before the first segment than rows of the longest have together, of 8 bits, which are unpacked.
    let small = folder.file("small.npy", npy("|u1", "(40,)", &[&[9; 38][..], &[1, 2]].concat()));
    let last = folder.file("last.npy", npy("<u4", "(1,)", &bytes(&[38])));
    let result = folder.file("small-top.npy", []);
    run(&mut subsweep(["topk", &small, "-k", "1", "--segments", &last, "-o", &result])).done();
    assert_eq!(std::fs::read(&result).unwrap()[128..], [2]);
    refused(&folder, &["topk", &input, "--ks", &ks], "has 4 numbers, and ");
    run(&mut subsweep(["topk", &input, "-k", "1", "--ks", &ks])).refused_with_words(2, "--ks");
}

#[test]
fn invalid_selections() {
    let folder = Folder::new();
    let input = folder.file("in.npy", npy("<f4", "(2, 5)", &[0; 40]));
    let to = folder.argument("to.npy");
    for (shape, size, what) in [
        ("(2, 4)", 32, "has shape (2, 4), and the keys (2, 5)"),
        ("(10,)", 40, "has shape (10,), and the keys (2, 5)"),
        ("(5, 2, 3)", 120, "has shape (5, 2, 3), and the keys (2, 5)"),
        ("(2, 5, 0)", 0, "has shape (2, 5, 0), and the keys (2, 5)"),
        ("(2, 5, 4097)", 163_880, "has values of 4097 u32, and values of up to 16384 bytes are moved"),
        ("(2, 5, 1, 1)", 40, "4 dimensions"),
    ] {
        let values = folder.file("values.npy", npy("<u4", shape, &vec![0; size]));
        let arguments = ["topk", &input, "-k", "1", "--values", &values, "--values-output", &to];
        refused(&folder, &arguments, what);
    }
    let raw = folder.file("values.raw", vec![0; 41]);
    refused(
        &folder,
        &["topk", &input, "-k", "1", "--values", &raw, "--values-output", &to],
        "elements of 1, 2, 4 or 8 bytes for each of 10 of the input",
    );
    refused(&folder, &["topk", &input, "-k", "1", "--values", &raw], "go together");
    let arguments = ["topk", "-", "-k", "1", "--values", "-", "--values-output", &to];
    run(without_drivers(&mut subsweep(arguments))).refused(2, "standard input is read once");
    for k in ["0", "6", "4294967295"] {
        refused(&folder, &["topk", &input, "-k", k], "give 1 to 5");
    }
    refused(&folder, &["topk", &input, "-k", "-1"], "-k");
    run(&mut subsweep(["topk", &input])).refused_with_words(2, "<-k <N>|--ks <FILE>>");
    let empty = folder.file("empty.npy", npy("<u4", "(0,)", b""));
    refused(&folder, &["topk", &empty, "-k", "1"], "has rows of no elements");
    let what = "standard output is written once";
    let arguments = ["topk", &input, "-k", "1", "--indices", "-"];
    run(without_drivers(&mut subsweep(arguments))).refused(2, what);
    let same = folder.argument("same");
    let arguments = ["topk", &input, "-k", "1", "-o", &same, "--indices", &same];
    run(without_drivers(&mut subsweep(arguments))).refused(2, "name the same file");
    let arguments = ["topk", &input, "-k", "1", "-o", &input];
    run(without_drivers(&mut subsweep(arguments))).refused(2, "is also the input");
    refused_options(&folder, &["topk", &input, "-k", "1"]);
    let cube = folder.file("cube.npy", npy("<u4", "(1, 1, 1)", &[0; 4]));
    refused(&folder, &["topk", &cube, "-k", "1"], "3 dimensions");
}
