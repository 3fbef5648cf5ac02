//! Merges: results in the format of the inputs, values, and refusals.

use super::refusals::{refused, refused_options};
use super::*;

#[test]
fn arrays_of_every_type_are_merged() {
    let folder = Folder::new();
    let sorted = |mut numbers: Vec<u32>| {
        numbers.sort_unstable();
        numbers
    };
    let numbers: Vec<_> = random(2000).into_iter().map(|word| word % 100).collect();
    let (a, b) = (sorted(numbers[..801].to_vec()), sorted(numbers[900..1903].to_vec()));
    let merged = sorted([&a[..], &b].concat());
    for element in elements::all() {
        for is_descending in [false, true] {
            let file = |numbers: &[u32]| {
                let mut numbers: Vec<_> = numbers.iter().map(|&number| element.spread(number)).collect();
                if is_descending {
                    numbers.reverse();
                }
                element.npy(&element.encode(&numbers))
            };
            let first = folder.file("a.npy", file(&a));
            let mut command = subsweep(["merge", &first, "-"]);
            if is_descending {
                command.arg("--descending");
            }
            let result = run_with(&mut command, &file(&b)).done();
            assert!(result == file(&merged), "{}, descending: {is_descending}", element.name);
        }
    }
}

#[test]
fn values_go_with_their_keys() {
    let folder = Folder::new();
    let a = folder.file("a", bytes(&[1, 3, 3]));
    let b = folder.file("b", bytes(&[0, 3]));
    let a_values = folder.file("a_values.npy", npy("<f8", "(3,)", &bytes(&[10, 11, 12, 13, 14, 15])));
    let b_values = folder.file("b_values.npy", npy("<f8", "(2,)", &bytes(&[20, 21, 22, 23])));
    let (keys, values) = (folder.argument("keys"), folder.argument("values.npy"));
    let arguments = ["merge", &a, &b, "--type", "u32", "-o", &keys, "--values", &a_values, &b_values];
    let mut command = subsweep(arguments);
    assert_eq!(run(command.args(["--values-output", &values])).done(), b"");
    assert_eq!(folder.read("keys"), bytes(&[0, 1, 3, 3, 3]));
    let expected = [20, 21, 10, 11, 12, 13, 14, 15, 22, 23];
    assert_eq!(folder.read("values.npy"), npy("<f8", "(5,)", &bytes(&expected)));
    // Raw values of 4 bytes, through standard streams.
    let raw = folder.file("raw", bytes(&[7, 8]));
    let arguments = ["merge", &a, &b, "--type", "u32", "-o", &keys, "--values", "-", &raw, "--values-output", "-"];
    assert_eq!(run_with(&mut subsweep(arguments), &bytes(&[4, 5, 6])).done(), bytes(&[7, 4, 5, 6, 8]));
    let none = folder.file("none.npy", npy("<u4", "(0,)", b""));
    let merged = run(&mut subsweep(["merge", &none, &none])).done();
    assert_eq!(merged, npy("<u4", "(0,)", b""));
}

#[test]
fn values_may_be_rows() {
    let folder = Folder::new();
    let a = folder.file("a.npy", npy("<u2", "(3,)", &[1, 0, 3, 0, 3, 0]));
    let b = folder.file("b.npy", npy("<u2", "(2,)", &[0, 0, 3, 0]));
    // Rows of 3 bytes, which are moved in 4, and of the most bytes that are moved.
    for size in [3, 16384] {
        let row = |value: u8| (0..size).map(|index| value.wrapping_mul(7).wrapping_add(index as u8)).collect::<Vec<_>>();
        let rows = |values: &[u8]| values.iter().flat_map(|&value| row(value)).collect::<Vec<_>>();
        let file = |values: &[u8]| npy("|u1", &format!("({}, {size})", values.len()), &rows(values));
        let (a_values, b_values) = (folder.file("a_values.npy", file(&[1, 2, 3])), folder.file("b_values.npy", file(&[4, 5])));
        let (keys, values) = (folder.argument("keys.npy"), folder.argument("values.npy"));
        let arguments = ["merge", &a, &b, "-o", &keys, "--values", &a_values, &b_values, "--values-output", &values];
        run(&mut subsweep(arguments)).done();
        assert_eq!(folder.read("keys.npy"), npy("<u2", "(5,)", &[0, 0, 1, 0, 3, 0, 3, 0, 3, 0]));
        assert!(folder.read("values.npy") == file(&[4, 1, 2, 3, 5]), "{size} bytes");
    }
    let values = |name: &str, columns: usize, count: usize| {
        folder.file(name, npy("|u1", &format!("({count}, {columns})"), &vec![0; columns * count]))
    };
    let [three, four] = [(3, "three.npy"), (4, "four.npy")].map(|(columns, name)| values(name, columns, 2));
    let [wide_a, wide_b] = [("wide-a.npy", 3), ("wide-b.npy", 2)].map(|(name, count)| values(name, 16385, count));
    let refused_values = |first: &str, second: &str, what| {
        refused(&folder, &["merge", &b, &b, "--values-output", "moved", "--values", first, second], what);
    };
    refused_values(&three, &four, "four.npy: has values of 4 numbers, and ");
    refused_values(&wide_a, &wide_b, "wide-a.npy: ");
    refused_values(&wide_b, &wide_b, "wide-b.npy: has 16385 columns, and up to 16384 of u8 are moved");
}

#[test]
fn invalid_merges() {
    let folder = Folder::new();
    let ints = folder.file("ints.npy", npy("<u4", "(2,)", &bytes(&[1, 2])));
    let floats = folder.file("floats.npy", npy("<f4", "(2,)", &bytes(&[1, 2])));
    let double = folder.file("double.npy", npy("<f8", "(2,)", &[0; 16]));
    let table = folder.file("table.npy", npy("<u4", "(1, 2)", &bytes(&[1, 2])));
    refused(&folder, &["merge", &ints, &floats], "has elements of f32, and ");
    refused(&folder, &["merge", &ints, &floats], "of u32; save a.astype('<f8') of ");
    refused(&folder, &["merge", &table, &ints], "2 dimensions");
    refused(&folder, &["merge", "-", "-"], "standard input is read once; name a file for B");
    let raw = folder.file("raw", bytes(&[1]));
    refused(&folder, &["merge", &ints, &raw], "say of which type with --type");
    refused(&folder, &["merge", &folder.argument("nowhere"), &ints], "cannot be opened");
    run(&mut subsweep(["merge", &ints])).refused_with_words(2, "<B>");
    run(without_drivers(&mut subsweep(["merge", &ints, &ints, "-o", &ints]))).refused(2, "is also the input");
    let values = folder.argument("values");
    let merge = ["merge", &ints, &ints, "--values-output", &values, "--values"];
    let with = |values: [&str; 2]| [&merge[..], &values.map(|value| value)].concat().into_iter().map(str::to_owned).collect::<Vec<_>>();
    let refused_values = |values: [&str; 2], what| {
        let arguments = with(values);
        refused(&folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>(), what);
    };
    refused_values([&double, &ints], "has elements of u32, and ");
    let short = folder.file("short.npy", npy("<u4", "(1,)", &[0; 4]));
    refused_values([&ints, &short], "short.npy: ");
    run(&mut subsweep(["merge", &ints, &ints, "--values", &ints, &ints])).refused_with_words(2, "--values-output");
    run(&mut subsweep(["merge", &ints, &ints, "--values-output", &values])).refused_with_words(2, "--values");
    let same = ["merge", &ints, &ints, "--values", &ints, &ints, "--values-output", &values, "-o", &values];
    run(without_drivers(&mut subsweep(same))).refused(2, "name the same file; give each its own");
    let both = ["merge", &ints, &ints, "--values", &ints, &ints, "--values-output", "-"];
    run(without_drivers(&mut subsweep(both))).refused(2, "standard output is written once");
    refused_options(&folder, &["merge", &ints, &ints]);
}
