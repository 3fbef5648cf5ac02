//! Adjacent differences: results in the format of the input, and refusals.

use super::refusals::{refused, refused_options};
use super::*;

#[test]
fn arrays_of_every_type_are_subtracted() {
    for element in elements::all() {
        let numbers: Vec<_> = random(5003).iter().map(|word| element.spread(word % 100)).collect();
        let differences: Vec<_> = numbers.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let file = |numbers: &[f64]| element.npy(&element.encode(numbers));
        let input = file(&numbers);
        assert!(
            run_with(&mut subsweep(["diff", "-"]), &input).done() == file(&differences),
            "{}",
            element.name
        );
        let kept = run_with(&mut subsweep(["diff", "-", "--keep-first"]), &input).done();
        assert!(kept == file(&[&numbers[..1], &differences].concat()), "{}, with the first", element.name);
    }
}

#[test]
fn tables_are_subtracted_along_either_axis() {
    let folder = Folder::new();
    let table = folder.file("table.npy", npy("<i4", "(3, 2)", &bytes(&[1, 3, 6, 0, 10, 5])));
    let output = folder.argument("out.npy");
    assert_eq!(run(&mut subsweep(["diff", &table, "-o", &output])).done(), b"");
    let minus = |number: u32| number.wrapping_neg();
    assert_eq!(folder.read("out.npy"), npy("<i4", "(2, 2)", &bytes(&[5, minus(3), 4, 5])));
    let along = run(&mut subsweep(["diff", &table, "--axis", "1"])).done();
    assert_eq!(along, npy("<i4", "(3, 1)", &bytes(&[2, minus(6), minus(5)])));
    let kept = run(&mut subsweep(["diff", &table, "--axis", "1", "--keep-first"])).done();
    assert_eq!(kept, npy("<i4", "(3, 2)", &bytes(&[1, 2, 6, minus(6), 10, minus(5)])));
    let raw = run_with(&mut subsweep(["diff", "-", "--type", "u32"]), &bytes(&[1, 7, 5]));
    assert_eq!(raw.done(), bytes(&[6, minus(2)]));
    for (shape, expected) in [("(0,)", "(0,)"), ("(0, 2)", "(0, 2)"), ("(1, 1)", "(0, 1)")] {
        let payload = if shape == "(1, 1)" { &[0; 4][..] } else { &[] };
        let result = run_with(&mut subsweep(["diff", "-"]), &npy("<u4", shape, payload)).done();
        assert_eq!(result, npy("<u4", expected, b""), "{shape}");
    }
}

#[test]
fn invalid_differences() {
    let folder = Folder::new();
    let flat = folder.file("flat.npy", npy("<u4", "(2,)", &bytes(&[1, 2])));
    let column = folder.file("column.npy", npy("<u4", "(2, 1)", &bytes(&[1, 2])));
    refused(&folder, &["diff", &flat, "--axis", "1"], "has one axis; leave out --axis 1");
    refused(&folder, &["diff", &column, "--axis", "1"], "has one column, and --axis 1 leaves none");
    refused(&folder, &["diff", &flat, "--axis", "2"], "--axis");
    let wide = folder.file("wide.npy", npy("<u4", "(0, 65537)", b""));
    refused(&folder, &["diff", &wide], "has 65537 columns, and up to 65536 are subtracted");
    let raw = folder.file("raw", bytes(&[1]));
    refused(&folder, &["diff", &raw], "say of which type with --type");
    run(without_drivers(&mut subsweep(["diff", &flat, "-o", &flat]))).refused(2, "is also the input");
    refused_options(&folder, &["diff", &flat]);
}

/// SwiftShader has no f64.
#[test]
fn a_type_that_the_device_lacks_leaves_no_output() {
    let Some(environment) = found(software::swiftshader()) else { return };
    for (shape, payload) in [("(2,)", &[0; 16][..]), ("(0,)", &[])] {
        let mut command = subsweep(["diff", "-", "--device", "0"]);
        let ended = run_with(command.envs(environment.clone()), &npy("<f8", shape, payload));
        assert_eq!((ended.code, &ended.stdout[..]), (3, &b""[..]), "{}", ended.stderr);
        assert!(ended.stderr.contains("shaderFloat64, which differences of f64 need"), "{}", ended.stderr);
    }
}
