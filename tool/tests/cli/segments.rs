//! Segmented sorts of files, compared with sorts of the standard library.

use super::refusals::refused;
use super::elements::{Element, WIDE};
use super::sorts::permuted;
use super::{Folder, bytes, npy, random, run, run_with, subsweep, words};

/// The numbers as an `.npy` array of each type of whole numbers that is no u32; all fit it.
pub fn whole_numbers(numbers: &[i64]) -> [Vec<u8>; 3] {
    let shape = format!("({},)", numbers.len());
    let of = |descr: &str, size: usize| {
        let payload: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()[..size].to_vec()).collect();
        npy(descr, &shape, &payload)
    };
    [of("<i4", 4), of("<u8", 8), of("<i8", 8)]
}

#[test]
fn offsets_of_segments_are_whole_numbers_of_any_type() {
    let folder = Folder::new();
    let input = folder.file("in", npy("<u4", "(4,)", &bytes(&[4, 3, 2, 1])));
    for starts in whole_numbers(&[0, 2]) {
        let starts = folder.file("starts", starts);
        let of = |command: &[&str]| {
            let ended = run(subsweep(command).args([&input, "--segments", &starts]));
            words(&ended.done()[128..])
        };
        assert_eq!(of(&["sort"]), [3, 4, 1, 2]);
        assert_eq!(of(&["scan"]), [4, 7, 2, 3]);
        assert_eq!(of(&["scan", "--reverse"]), [7, 3, 3, 1]);
        let ended = run(&mut subsweep(["reduce", &input, "--segments", &starts]));
        assert_eq!(ended.done(), b"7\n3\n");
    }
    for (position, of_type) in [0, 2].into_iter().zip([0, 2]) {
        // Of i32 and of i64.
        let mut numbers = [0, 1, 2];
        numbers[position] = -3;
        let starts = folder.file("starts", &whole_numbers(&numbers)[of_type]);
        for command in [&["sort"][..], &["scan"], &["scan", "--reverse"], &["reduce"]] {
            let what = format!("a segment begins at -3, at index {position}, and ");
            refused(&folder, &[command, &[&input, "--segments", &starts]].concat(), &what);
        }
    }
    let starts = folder.file("starts", &whole_numbers(&[1 << 32])[2]);
    for command in ["sort", "scan", "reduce"] {
        let what = "a segment begins at 4294967296, and there are 4";
        refused(&folder, &[command, &input, "--segments", &starts], what);
    }
}

/// The rows of a table, sorted by the standard library as keys and as indices.
fn sorted_rows(words: &[u32], columns: usize) -> [Vec<u32>; 2] {
    let order = |row: &[u32]| -> Vec<u32> {
        let mut order: Vec<u32> = (0..columns as u32).collect();
        order.sort_by_key(|&index| row[index as usize]);
        order
    };
    let keys = |row: &[u32]| order(row).into_iter().map(|index| row[index as usize]).collect::<Vec<_>>();
    [words.chunks(columns).flat_map(keys).collect(), words.chunks(columns).flat_map(order).collect()]
}

#[test]
fn rows_of_tables_are_sorted() {
    let folder = Folder::new();
    for (rows, columns) in [(300, 7), (40, 1), (1, 9_000), (3, 4_001), (0, 5)] {
        let words: Vec<_> = random(rows * columns).into_iter().map(|word| word % 1_000).collect();
        let shape = format!("({rows}, {columns})");
        let input = folder.file("in.npy", npy("<u4", &shape, &bytes(&words)));
        let [keys, order] = sorted_rows(&words, columns);
        for (option, expected) in [(None, keys), (Some("--argsort"), order)] {
            let ended = run(subsweep(["sort", &input, "--axis", "1"]).args(option));
            assert!(ended.done() == npy("<u4", &shape, &bytes(&expected)), "{shape}, {option:?}");
        }
    }
    // In the order of numpy, from a pipe, and of a type of 8 bits.
    let floats = [f32::NAN, 0.0, -0.0, 1.0, -f32::INFINITY, -f32::NAN].map(f32::to_bits);
    let table = npy("<f4", "(2, 3)", &bytes(&floats));
    let options = ["sort", "-", "--axis", "1", "--order", "numpy"];
    let expected = [1, 2, 0, 4, 3, 5].map(|index: usize| floats[index]);
    assert_eq!(run_with(&mut subsweep(options), &table).done(), npy("<f4", "(2, 3)", &bytes(&expected)));
    let small = npy("|i1", "(2, 3)", &[1, 255, 0, 128, 127, 0]);
    let descending = ["sort", "-", "--axis", "1", "--descending"];
    assert_eq!(run_with(&mut subsweep(descending), &small).done(), npy("|i1", "(2, 3)", &[1, 0, 255, 127, 0, 128]));

    let flat = folder.file("flat.npy", npy("<u4", "(2,)", &bytes(&[1, 2])));
    let grid = folder.file("grid.npy", npy("<u4", "(1, 2)", &bytes(&[1, 2])));
    let refused = |input: &str, options: &[&str], what: &str| {
        refused(&folder, &[&["sort", input, "--axis", "1"], options].concat(), what);
    };
    refused(&flat, &[], "has one dimension, and no axis 1; leave out --axis 1");
    refused(&grid, &["--segments", &flat], "--segments are of an array of one dimension; leave out --axis 1");
    let values = folder.argument("values");
    refused(&grid, &["--values", &flat, "--values-output", &values], "--axis 1 moves no values");
    refused(&grid, &["--temp-dir", "."], "--axis 1 writes no temporary files");
    refused(&grid, &["--algorithm", "onesweep"], "leave out one of --axis 1 and --algorithm onesweep");
    refused(&grid, &["--policy", "seed"], "the seed has no --axis 1");
}

/// Segment offsets: segments of every size class, empty ones, and keys before the first.
fn begins(count: usize) -> Vec<u32> {
    let mut begins = vec![3, 3];
    let mut begin = 3;
    for (index, word) in random(400).into_iter().enumerate() {
        begin += match index {
            7 => 5_000,
            _ if index % 50 == 0 => word >> 23,
            _ => word >> 27,
        };
        begins.push(begin.min(count as u32));
    }
    begins
}

/// The permutation of keys, sorted within each segment; `compare` orders two indices.
fn indices(count: usize, begins: &[u32], compare: impl Fn(usize, usize) -> std::cmp::Ordering) -> Vec<usize> {
    let mut indices: Vec<_> = (0..count).collect();
    let ends = begins.iter().skip(1).copied().chain([count as u32]);
    for (&begin, end) in begins.iter().zip(ends) {
        indices[begin as usize..end as usize].sort_by(|&a, &b| compare(a, b));
    }
    indices
}

/// Keys in an array, their segment offsets, and their permutation.
fn keys_in_segments(keys: &Element, is_descending: bool) -> (Vec<u8>, Vec<u32>, Vec<usize>) {
    let payload = keys.payload();
    let count = payload.len() / keys.size;
    let begins = begins(count);
    let numbers = keys.numbers(&keys.elements(&payload));
    let indices = indices(count, &begins, |a, b| {
        let order = numbers[a].total_cmp(&numbers[b]);
        if is_descending { order.reverse() } else { order }
    });
    (payload, begins, indices)
}

// Segmented sorts take seconds to compile, and tool/tests/drivers covers all types: here one of one word and one of two.

#[test]
fn values_move_with_the_keys_of_their_segment() {
    let folder = Folder::new();
    let keys = &WIDE[0];
    let (payload, begins, indices) = keys_in_segments(keys, false);
    let count = indices.len();
    let shape = format!("({count},)");
    let input = folder.file("keys", npy(keys.descr, &shape, &payload));
    let starts = folder.file("starts", bytes(&begins));
    let values = bytes(&random(count));
    let values_path = folder.file("values", npy("<i4", &shape, &values));
    let (output, values_output) = (folder.argument("out"), folder.argument("values_out"));
    let mut command = subsweep(["sort", &input, "--segments", &starts, "--values", &values_path]);
    run(command.args(["-o", &output, "--values-output", &values_output])).done();
    assert!(folder.read("out") == npy(keys.descr, &shape, &permuted(&payload, keys.size, &indices)));
    assert!(folder.read("values_out") == npy("<i4", &shape, &permuted(&values, 4, &indices)));
}

#[test]
fn a_descending_argsort_is_segment_by_segment() {
    let folder = Folder::new();
    let keys = &WIDE[5];
    let (payload, begins, indices) = keys_in_segments(keys, true);
    let shape = format!("({},)", indices.len());
    let starts = folder.file("starts", npy("<u4", &format!("({},)", begins.len()), &bytes(&begins)));
    let mut command = subsweep(["sort", "-", "--descending", "--segments", &starts, "--argsort"]);
    let permutation: Vec<_> = indices.iter().map(|&index| index as u32).collect();
    let stdout = run_with(&mut command, &npy(keys.descr, &shape, &payload)).done();
    assert!(stdout == npy("<u4", &shape, &bytes(&permutation)));
}

#[test]
fn segments_with_ends_leave_out_keys() {
    let folder = Folder::new();
    let keys = random(6_000);
    let (begins, ends) = ([4_000, 7, 9, 5_999, 100], [5_990, 9, 5, 6_000, 4_000]);
    let mut order: Vec<u32> = (0..6_000).collect();
    for (begin, end) in begins.into_iter().zip(ends).filter(|(begin, end)| begin < end) {
        order[begin as usize..end as usize].sort_by_key(|&index| keys[index as usize]);
    }
    let starts = folder.file("starts", bytes(&begins));
    let stops = folder.file("stops", npy("<u4", "(5,)", &bytes(&ends)));
    let sorted = |options: &[&str]| {
        let mut command = subsweep(["sort", "-", "--type", "u32", "--segments", &starts, "--segment-ends"]);
        words(&run_with(command.arg(&stops).args(options), &bytes(&keys)).done())
    };
    assert!(sorted(&[]) == order.iter().map(|&index| keys[index as usize]).collect::<Vec<_>>());
    assert!(sorted(&["--argsort"]) == order);
    let input = folder.file("keys", npy("<u4", "(6000,)", &bytes(&keys)));
    let of = |begins: &[u32], ends: &[u32]| {
        [("b", begins), ("e", ends)].map(|(name, indices)| folder.file(name, bytes(indices)))
    };
    refused(&folder, &["sort", &input, "--segment-ends", &stops], "--segments");
    let refused = |[begins, ends]: [String; 2], what: &str| {
        refused(&folder, &["sort", &input, "--segments", &begins, "--segment-ends", &ends], what);
    };
    let overlap = "b: segment 0 begins at 5, before the end of another one, 6; make them disjoint";
    refused(of(&[5, 1], &[9, 6]), overlap);
    refused(of(&[5, 1], &[9]), "e: has 1 ends of 2 segments; give one for each");
    refused(of(&[5], &[6_001]), "e: a segment begins or ends at 6001, and there are 6000 keys; leave it out");
}

#[test]
fn part_of_a_key_sorts_segments_too() {
    let folder = Folder::new();
    let keys = random(6_000);
    let begins = begins(keys.len());
    let starts = folder.file("starts", bytes(&begins));
    let part = |index: usize| keys[index] >> 7 & 0x1f;
    let indices = indices(keys.len(), &begins, |a, b| part(a).cmp(&part(b)));
    let expected: Vec<_> = indices.iter().map(|&index| keys[index]).collect();
    let mut command = subsweep(["sort", "-", "--type", "u32", "--bits", "7:12", "--segments", &starts]);
    assert!(words(&run_with(&mut command, &bytes(&keys)).done()) == expected);
}

#[test]
fn segments_may_be_a_stream_and_may_be_none_or_empty() {
    let folder = Folder::new();
    let input = folder.file("keys", bytes(&[3, 2, 1, 0]));
    let sort = |segments: &[u8]| {
        let mut command = subsweep(["sort", &input, "--type", "u32", "--segments", "-"]);
        words(&run_with(&mut command, segments).done())
    };
    assert_eq!(sort(&bytes(&[0, 2])), [2, 3, 0, 1]);
    assert_eq!(sort(&bytes(&[1])), [3, 0, 1, 2]);
    assert_eq!(sort(&bytes(&[4, 4])), [3, 2, 1, 0]);
    assert_eq!(sort(&npy("<u4", "(0,)", b"")), [3, 2, 1, 0]);
    let nothing = folder.file("nothing", b"");
    let starts = folder.file("starts", bytes(&[0, 0]));
    let stdout = run(&mut subsweep(["sort", &nothing, "--type", "u32", "--segments", &starts])).done();
    assert_eq!(stdout, b"");
    let mut command = subsweep(["sort", &input, "--type", "u32", "--segments", "-", "--argsort"]);
    assert_eq!(words(&run_with(&mut command, &bytes(&[2])).done()), [0, 1, 3, 2]);
}
