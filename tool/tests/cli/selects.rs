//! Selections and partitions of files: results, formats and refusals.

use super::refusals::refused;
use super::*;

/// Floats as an .npy file of one dimension.
fn floats(values: &[f32]) -> Vec<u8> {
    let words: Vec<_> = values.iter().map(|value| value.to_bits()).collect();
    npy("<f4", &format!("({},)", values.len()), &bytes(&words))
}

/// The last line on standard error, after the line of the device.
fn last_line(ended: &Ended) -> &str {
    ended.stderr.lines().last().unwrap_or_default()
}

const VALUES: [f32; 7] = [3.5, f32::NAN, -0.0, -7.0, 0.0, 9.0, f32::NEG_INFINITY];

#[test]
fn conditions_compare_as_numpy_does() {
    let folder = Folder::new();
    let input = folder.file("in.npy", floats(&VALUES));
    for (condition, expected) in [
        ("x < 0", &[3, 6][..]),
        ("x<=0", &[2, 3, 4, 6]),
        ("x == -0.0", &[2, 4]),
        ("x != 0", &[0, 1, 3, 5, 6]),
        ("x >= 3.5", &[0, 5]),
        ("x > nan", &[]),
        ("x != nan", &[0, 1, 2, 3, 4, 5, 6]),
        ("-7 <= x < 9", &[0, 2, 3, 4]),
        ("-inf <= x < -7", &[6]),
    ] {
        let indices = folder.argument("indices");
        let stdout =
            run(&mut subsweep(["select", &input, "--where", condition, "--indices", &indices])).done();
        let kept: Vec<_> = expected.iter().map(|&index| VALUES[index]).collect();
        assert_eq!(stdout, floats(&kept), "{condition}");
        let numbers: Vec<_> = expected.iter().map(|&index| index as u32).collect();
        let expected = npy("<u4", &format!("({},)", numbers.len()), &bytes(&numbers));
        assert_eq!(folder.read("indices"), expected, "{condition}");
    }
}

#[test]
fn rows_are_selected_by_flags_of_every_format() {
    let folder = Folder::new();
    let rows: Vec<u32> = (0..15).collect();
    let input = folder.file("rows.npy", npy("<i4", "(5, 3)", &bytes(&rows)));
    let expected = npy("<i4", "(2, 3)", &bytes(&[3, 4, 5, 12, 13, 14]));
    let files: [&[u8]; 5] = [
        &npy("|b1", "(5,)", &[0, 1, 0, 0, 1]),
        &npy("|u1", "(5,)", &[0, 128, 0, 0, 7]),
        &npy("<u4", "(5,)", &bytes(&[0, 1 << 31, 0, 0, 9])),
        &[0, 1, 0, 0, 1],
        &bytes(&[0, 1, 0, 0, 1]),
    ];
    for flags in files {
        let flags = folder.file("flags", flags);
        for algorithm in [&[][..], &["--algorithm", "chained"], &["--algorithm", "reduce-then-scan"]] {
            let arguments = [&["select", &input, "--flags", &flags], algorithm].concat();
            assert_eq!(run(&mut subsweep(arguments)).done(), expected);
        }
        let mut command = subsweep(["partition", &input, "--flags", &flags]);
        let ended = run(&mut command);
        assert_eq!(last_line(&ended), "subsweep: kept 2, rejected 3");
        let parts = [3, 4, 5, 12, 13, 14, 0, 1, 2, 6, 7, 8, 9, 10, 11];
        assert_eq!(ended.stdout, npy("<i4", "(5, 3)", &bytes(&parts)));
    }
}

#[test]
fn partitions_write_the_sizes_of_their_parts() {
    let folder = Folder::new();
    let input = folder.file("in", bytes(&[5, 1, 9, 3, 7, 1]));
    let count = folder.argument("count");
    let arguments = ["partition", &input, "--type", "u32", "--where", "x < 3", "--and-then", "x < 7"];
    let ended = run(&mut subsweep([&arguments[..], &["--count", &count]].concat()));
    assert_eq!(words(&ended.stdout), [1, 1, 5, 3, 9, 7]);
    assert!(ended.code == 0 && !ended.stderr.contains("kept"), "{}", ended.stderr);
    assert_eq!(words(&folder.read("count")), [2, 2, 2]);
    let ended = run(&mut subsweep(arguments));
    assert_eq!(last_line(&ended), "subsweep: kept 2, second part 2, rejected 2");
}

#[test]
fn unique_elements_and_rows_by_their_keys() {
    let folder = Folder::new();
    let keys = folder.file("keys.npy", npy("<u8", "(4,)", &bytes(&[1, 0, 1, 0, 1, 1, 1, 0])));
    let unique = npy("<u8", "(3,)", &bytes(&[1, 0, 1, 1, 1, 0]));
    assert_eq!(run(&mut subsweep(["select", &keys, "--unique"])).done(), unique);
    let rows = folder.file("rows.npy", npy("<f4", "(4, 3)", &bytes(&(0..12).collect::<Vec<_>>())));
    let keys_output = folder.argument("keys-output");
    let arguments = ["select", &rows, "--unique", "--by-key", &keys, "--keys-output", &keys_output];
    let expected = npy("<f4", "(3, 3)", &bytes(&[0, 1, 2, 6, 7, 8, 9, 10, 11]));
    assert_eq!(run(&mut subsweep(arguments)).done(), expected);
    assert_eq!(folder.read("keys-output"), unique);
    assert_eq!(run(&mut subsweep(&arguments[..5])).done(), expected);
}

#[test]
fn values_move_with_their_elements() {
    let folder = Folder::new();
    let input = folder.file("in.npy", floats(&VALUES));
    let values = folder.file("values", bytes(&(0..14).collect::<Vec<_>>()));
    let [output, values_output] = ["out", "values-output"].map(|name| folder.argument(name));
    let arguments = ["select", &input, "--where", "x >= 0", "-o", &output, "--values", &values];
    run(&mut subsweep([&arguments[..], &["--values-output", &values_output]].concat())).done();
    assert_eq!(folder.read("out"), floats(&[3.5, -0.0, 0.0, 9.0]));
    assert_eq!(words(&folder.read("values-output")), [0, 1, 4, 5, 8, 9, 10, 11]);
    // Rows of 3 bytes.
    let rows = folder.file("rows.npy", npy("|u1", "(7, 3)", &(0..21).collect::<Vec<_>>()));
    let arguments = ["select", &input, "--where", "x >= 0", "-o", &output, "--values", &rows];
    run(&mut subsweep([&arguments[..], &["--values-output", &values_output]].concat())).done();
    let kept = [0, 1, 2, 6, 7, 8, 12, 13, 14, 15, 16, 17];
    assert_eq!(folder.read("values-output"), npy("|u1", "(4, 3)", &kept));
}

#[test]
fn nothing_is_selected_of_nothing() {
    let folder = Folder::new();
    let none = folder.file("none.npy", floats(&[]));
    assert_eq!(run(&mut subsweep(["select", &none, "--where", "x > 1"])).done(), floats(&[]));
    assert_eq!(run(&mut subsweep(["select", &none, "--unique"])).done(), floats(&[]));
    let ended = run(&mut subsweep(["partition", &none, "--where", "x > 1", "--and-then", "x == 1"]));
    assert_eq!(last_line(&ended), "subsweep: kept 0, second part 0, rejected 0");
    assert_eq!(ended.stdout, floats(&[]));
}

#[test]
fn wrong_predicates() {
    let folder = Folder::new();
    let input = folder.file("in.npy", npy("<u4", "(3,)", &bytes(&[1, 2, 3])));
    let grid = folder.file("grid.npy", npy("<u4", "(2, 2)", &bytes(&[1, 2, 3, 4])));
    let two = folder.file("two.npy", npy("|b1", "(2,)", &[1, 0]));
    let wide = folder.file("wide.npy", npy("<f8", "(3,)", &[0; 24]));
    let five = folder.file("five", [1; 5]);
    let select = |options: &[&str], what: &str| {
        refused(&folder, &[&["select", input.as_str()], options].concat(), what);
    };
    select(&[], "select takes one of --flags FILE, --where CONDITION and --unique");
    select(&["--unique", "--where", "x < 3"], "select takes one of");
    select(&["--where", "x < -1"], "--where: '-1' is no u32");
    select(&["--where", "x < 4294967296"], "is no u32");
    select(&["--flags", &two], "holds 2 flags, and there are 3 elements; give one for each");
    select(&["--flags", &wide], "flags of type <f8, and bool, u8 and u32 are taken");
    select(&["--flags", &five], "holds 5 bytes, and flags of 1 or 4 for each of 3 elements are taken");
    select(
        &["--flags", "-", "--values", "-", "--values-output", "v"],
        "standard input is read once; name a file for --values",
    );
    select(&["--unique", "--values", &wide], "--values and --values-output go together");
    select(&["--where", "x < 3", "--by-key", &wide], "--by-key is for --unique");
    select(&["--unique", "--keys-output", "k"], "--keys-output has no keys");
    select(&["--unique", "--by-key", &two], "holds 2 elements for 3 of the input");
    let mut command = subsweep(["select", &input, "--unique", "--indices", "-"]);
    run(without_drivers(&mut command)).refused(2, "name a file with -o or --indices");
    select(&["--unique", "--policy", "seed"], "the seed has no select");
    select(&["--unique", "--algorithm", "radix-4bit"], "radix-4bit is no algorithm of select");
    select(&["--unique", "--device", "all"], "select runs on one device");
    let mut command = subsweep(["select", &input, "--where", "x <"]);
    run(&mut command).refused_with_words(2, "it is 'x < 3', with <, <=, ==, !=, >= or >, or '3 <= x < 9'");
    refused(&folder, &["select", &grid, "--unique"], "has 2 dimensions");
    let partition = |options: &[&str], what: &str| {
        refused(&folder, &[&["partition", input.as_str()], options].concat(), what);
    };
    partition(&[], "partition takes one of --flags FILE and --where CONDITION");
    partition(&["--flags", &two, "--and-then", "x < 1"], "--and-then goes with --where");
    partition(&["--where", "x < 1", "--and-then", "x < a"], "--and-then: 'a' is no u32");
    partition(&["--where", "x < 1", "--and-then", "-3 <= x < 9"], "--and-then: '-3' is no u32");
    partition(&["--where", "x < 1", "--algorithm", "chained"], "leave out --algorithm chained");
    let same = folder.argument("same");
    let mut command = subsweep(["select", &input, "--unique", "-o", &same, "--indices", &same]);
    run(without_drivers(&mut command)).refused(2, "-o and --indices name the same file");
}
