//! Top-k: results in the format of the input, and refusals.

use super::refusals::refused;
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
fn invalid_selections() {
    let folder = Folder::new();
    let input = folder.file("in.npy", npy("<f4", "(2, 5)", &[0; 40]));
    for k in ["0", "6", "4294967295"] {
        refused(&folder, &["topk", &input, "-k", k], "give 1 to 5");
    }
    refused(&folder, &["topk", &input, "-k", "-1"], "-k");
    run(&mut subsweep(["topk", &input])).refused_with_words(2, "-k <N>");
    let empty = folder.file("empty.npy", npy("<u4", "(0,)", b""));
    refused(&folder, &["topk", &empty, "-k", "1"], "is empty");
    let what = "standard output takes one table";
    let arguments = ["topk", &input, "-k", "1", "--indices", "-"];
    run(without_drivers(&mut subsweep(arguments))).refused(2, what);
    let same = folder.argument("same");
    let arguments = ["topk", &input, "-k", "1", "-o", &same, "--indices", &same];
    run(without_drivers(&mut subsweep(arguments))).refused(2, "name the same file");
    let arguments = ["topk", &input, "-k", "1", "-o", &input];
    run(without_drivers(&mut subsweep(arguments))).refused(2, "is also the input");
    for policy in ["seed", "seed-bin-by-bin"] {
        refused(&folder, &["topk", &input, "-k", "1", "--policy", policy], "the seed has no topk");
    }
    let what = "topk has no algorithms to choose from";
    refused(&folder, &["topk", &input, "-k", "1", "--algorithm", "radix-4bit"], what);
    refused(&folder, &["topk", &input, "-k", "1", "--device", "all"], "topk runs on one device");
    let cube = folder.file("cube.npy", npy("<u4", "(1, 1, 1)", &[0; 4]));
    refused(&folder, &["topk", &cube, "-k", "1"], "3 dimensions");
}

#[test]
fn devices_shows_the_policy_of_a_top_k() {
    let devices = run(&mut subsweep(["devices", "--json"])).json();
    let policy = &devices[0]["policies"]["top_k"];
    assert!(policy["policy"].as_str().unwrap().starts_with("top-k: tiles"), "{policy}");
    assert!(policy["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{policy}");
}
