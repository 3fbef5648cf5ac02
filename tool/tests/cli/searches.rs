//! Searches: positions in the format of the needles, and refusals.

use super::refusals::{refused, refused_options, sparse_file};
use super::*;

/// The number of sorted numbers that are less than each needle, or not greater.
fn positions(sorted: &[f64], needles: &[f64], is_right: bool) -> Vec<u32> {
    let count = |needle: &f64| {
        sorted.iter().filter(|key| if is_right { *key <= needle } else { *key < needle }).count() as u32
    };
    needles.iter().map(count).collect()
}

#[test]
fn needles_of_every_type_are_searched_for_on_both_sides() {
    let folder = Folder::new();
    for element in elements::all() {
        let spread = |count: usize, end: u32| random(count).iter().map(|word| element.spread(word % end)).collect();
        let (mut sorted, needles): (Vec<_>, Vec<_>) = (spread(801, 100), spread(1003, 110));
        sorted.sort_by(f64::total_cmp);
        let file = |numbers: &[f64]| element.npy(&element.encode(numbers));
        let array = folder.file("sorted.npy", file(&sorted));
        let needles_file = file(&needles);
        for side in ["left", "right"] {
            let expected = npy("<u4", "(1003,)", &bytes(&positions(&sorted, &needles, side == "right")));
            let mut command = subsweep(["search", &array, "-", "--side", side]);
            assert!(run_with(&mut command, &needles_file).done() == expected, "{}, {side}", element.name);
        }
    }
}

#[test]
fn positions_have_the_shape_of_the_needles() {
    let folder = Folder::new();
    let sorted = folder.file("sorted.npy", npy("<u4", "(4,)", &bytes(&[1, 3, 3, 7])));
    let output = folder.argument("out.npy");
    let table = folder.file("table.npy", npy("<u4", "(2, 2)", &bytes(&[3, 0, 8, 7])));
    assert_eq!(run(&mut subsweep(["search", &sorted, &table, "-o", &output])).done(), b"");
    assert_eq!(folder.read("out.npy"), npy("<u4", "(2, 2)", &bytes(&[1, 0, 4, 3])));
    let raw = folder.file("raw", bytes(&[3, 4]));
    let mut command = subsweep(["search", "-", &raw, "--type", "u32", "--side", "right"]);
    assert_eq!(run_with(&mut command, &bytes(&[1, 3, 3, 7])).done(), bytes(&[3, 3]));
    let none = npy("<u4", "(0,)", b"");
    assert_eq!(run_with(&mut subsweep(["search", &sorted, "-"]), &none).done(), none);
    let in_none = run_with(&mut subsweep(["search", "-", &table]), &none).done();
    assert_eq!(in_none, npy("<u4", "(2, 2)", &[0; 16]));
}

/// In the type of `numpy.promote_types`, which is tested of every pair in `subsweep_tool::table`.
#[test]
fn needles_of_another_type_are_compared_in_the_common_one() {
    let folder = Folder::new();
    let all_of = |numbers: &[f64], of: &dyn Fn(f64) -> Vec<u8>| numbers.iter().flat_map(|&number| of(number)).collect::<Vec<_>>();
    let numbers = [-3.0, 0.0, 1.0, 1.0, 7.0, 100.0];
    let needles = [1.0, -4.0, 100.0, 101.0, 0.5];
    let positive: Vec<_> = numbers[1..].to_vec();
    let i8s = folder.file("i8.npy", npy("|i1", "(6,)", &all_of(&numbers, &|n| vec![n as i8 as u8])));
    let f64s = folder.file("f64.npy", npy("<f8", "(5,)", &all_of(&needles, &|n| n.to_le_bytes().to_vec())));
    let u16s = folder.file("u16.npy", npy("<u2", "(5,)", &all_of(&positive, &|n| (n as u16).to_le_bytes().to_vec())));
    let i32s = [1.0, -4.0, 100.0, 101.0];
    let i32s_file = folder.file("i32.npy", npy(">i4", "(4,)", &all_of(&i32s, &|n| (n as i32).to_be_bytes().to_vec())));
    let brains = [1.0, 100.0, 6.9];
    let brains_file = folder.file("bf16.npy", npy("<V2", "(3,)", &all_of(&brains, &|n| half::bf16::from_f64(n).to_le_bytes().to_vec())));
    let brains = brains.map(|n| half::bf16::from_f64(n).to_f64());
    for (sorted, sorted_numbers, needles_file, needles) in [
        (&i8s, &numbers[..], &f64s, &needles[..]),
        (&u16s, &positive, &f64s, &needles),
        (&u16s, &positive, &i32s_file, &i32s),
        (&i8s, &numbers, &i32s_file, &i32s),
        (&i8s, &numbers, &brains_file, &brains),
    ] {
        for side in ["left", "right"] {
            let positions = positions(sorted_numbers, needles, side == "right");
            let expected = npy("<u4", &format!("({},)", needles.len()), &bytes(&positions));
            let command = ["search", sorted, needles_file, "--side", side];
            assert_eq!(run(&mut subsweep(command)).done(), expected, "{sorted}, {needles_file}, {side}");
        }
    }
    // As f64, in which 2^63 - 1 rounds to 2^63.
    let sorted = [1_u64 << 63, (1 << 63) + 1].map(u64::to_le_bytes).concat();
    let sorted = folder.file("u64.npy", npy("<u8", "(2,)", &sorted));
    let needle = folder.file("i64.npy", npy("<i8", "(1,)", &i64::MAX.to_le_bytes()));
    let command = ["search", &sorted, &needle, "--side", "right"];
    assert_eq!(run(&mut subsweep(command)).done(), npy("<u4", "(1,)", &bytes(&[2])));
}

#[test]
fn rows_are_searched_by_themselves() {
    let folder = Folder::new();
    for (rows, sorted_length, needle_length) in [(300, 7, 3), (3, 1000, 401), (5, 1, 1), (0, 2, 3)] {
        let mut sorted = random(rows * sorted_length);
        sorted.iter_mut().for_each(|word| *word %= 500);
        sorted.chunks_mut(sorted_length).for_each(<[u32]>::sort_unstable);
        let needles: Vec<_> = random(rows * needle_length + 1).iter().map(|word| word % 510).skip(1).collect();
        let table = |length: usize, words: &[u32]| npy("<u4", &format!("({rows}, {length})"), &bytes(words));
        let input = folder.file("sorted.npy", table(sorted_length, &sorted));
        for side in ["left", "right"] {
            let position = |row: &[u32], needle: u32| {
                row.iter().filter(|&&key| if side == "right" { key <= needle } else { key < needle }).count() as u32
            };
            let of_row = |(row, needles): (&[u32], &[u32])| needles.iter().map(|&needle| position(row, needle)).collect::<Vec<_>>();
            let expected: Vec<_> = sorted.chunks(sorted_length).zip(needles.chunks(needle_length)).flat_map(of_row).collect();
            let mut command = subsweep(["search", &input, "-", "--axis", "1", "--side", side]);
            let got = run_with(&mut command, &table(needle_length, &needles)).done();
            assert!(got == table(needle_length, &expected), "{rows} rows of {sorted_length}, {side}");
        }
    }
    let flat = folder.file("flat.npy", npy("<u4", "(2,)", &bytes(&[1, 2])));
    let two = folder.file("two.npy", npy("<u4", "(2, 1)", &bytes(&[1, 2])));
    let one = folder.file("one.npy", npy("<u4", "(1, 2)", &bytes(&[1, 2])));
    refused(&folder, &["search", &flat, &two, "--axis", "1"], "has one dimension, and no axis 1; leave out --axis 1");
    refused(&folder, &["search", &two, &flat, "--axis", "1"], "has one dimension, and no axis 1; leave out --axis 1");
    refused(&folder, &["search", &two, &one, "--axis", "1"], "has 1 rows, and ");
}

#[test]
fn invalid_searches() {
    let folder = Folder::new();
    let ints = folder.file("ints.npy", npy("<u4", "(2,)", &bytes(&[1, 2])));
    let brains = folder.file("brains.npy", npy("<V2", "(2,)", &bytes(&[1])));
    let table = folder.file("table.npy", npy("<u4", "(1, 2)", &bytes(&[1, 2])));
    refused(&folder, &["search", &ints, &brains], "has elements of bf16, and ");
    refused(&folder, &["search", &ints, &brains], "no common type; save a.astype('<f4') of ");
    refused(&folder, &["search", &table, &ints], "2 dimensions");
    refused(&folder, &["search", "-", "-"], "standard input is read once; name a file for NEEDLES");
    let raw = folder.file("raw", bytes(&[1]));
    refused(&folder, &["search", &ints, &raw], "say of which type with --type");
    refused(&folder, &["search", &folder.argument("nowhere"), &ints], "cannot be opened");
    run(&mut subsweep(["search", &ints])).refused_with_words(2, "<NEEDLES>");
    run(&mut subsweep(["search", &ints, &ints, "--side", "middle"])).refused_with_words(2, "left, right");
    run(without_drivers(&mut subsweep(["search", &ints, &ints, "-o", &ints]))).refused(2, "is also the input");
    refused_options(&folder, &["search", &ints, &ints]);
}

#[test]
fn a_search_in_more_elements_than_memory_holds() {
    let folder = Folder::new();
    let Some(sorted) = sparse_file(&folder, 8 << 40) else { return };
    let needles = folder.file("needles", bytes(&[1]));
    let arguments = ["search", &sorted, &needles, "--type", "u32"];
    run(without_drivers(&mut subsweep(arguments))).refused(4, "needs 8796093022208 bytes of memory");
    let rows = folder.file("rows.npy", npy("|u1", "(4294967296, 1)", &[]));
    run(without_drivers(&mut subsweep(["search", &rows, &rows, "--axis", "1"]))).refused(2, "4294967295");
}
