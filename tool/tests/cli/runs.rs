//! Runs of equal elements: encoding, decoding, formats and refusals.

use super::refusals::{refused, refused_options};
use super::*;

fn array(descr: &str, words: &[u32]) -> Vec<u8> {
    npy(descr, &format!("({},)", words.len()), &bytes(words))
}

#[test]
fn runs_are_encoded_and_decoded() {
    let folder = Folder::new();
    let elements: Vec<_> = random(5003).iter().map(|word| word >> 31).collect();
    let input = folder.file("in.npy", array("<i4", &elements));
    let [values, counts, offsets] = ["values", "counts", "offsets"].map(|name| folder.argument(name));
    let starts: Vec<_> = (0..elements.len())
        .filter(|&index| index == 0 || elements[index] != elements[index - 1])
        .collect();
    let ends = starts.iter().skip(1).copied().chain([elements.len()]);
    let runs: Vec<_> = starts.iter().copied().zip(ends).collect();
    for is_non_trivial in [false, true] {
        let mut command = subsweep(["runs", &input, "-o", &values, "--counts", &counts, "--offsets", &offsets]);
        command.args(is_non_trivial.then_some("--non-trivial"));
        assert_eq!(run(&mut command).done(), b"");
        let kept = runs.iter().filter(|(start, end)| end - start > 1 || !is_non_trivial);
        let kept: Vec<_> = kept.copied().collect();
        let of = |of: fn((usize, usize)) -> usize| kept.iter().map(|&run| of(run) as u32).collect::<Vec<_>>();
        let expected: Vec<_> = kept.iter().map(|&(start, _)| elements[start]).collect();
        assert!(folder.read("values") == array("<i4", &expected));
        assert!(folder.read("counts") == array("<u4", &of(|(start, end)| end - start)));
        assert!(folder.read("offsets") == array("<u4", &of(|(start, _)| start)));
    }
    assert_eq!(run(&mut subsweep(["runs", &input, "-o", &values, "--counts", &counts])).done(), b"");
    let decoded = run(&mut subsweep(["runs", "--decode", &values, "--counts", &counts])).done();
    assert!(decoded == array("<i4", &elements));
}

#[test]
fn counts_are_integers_of_any_type_or_raw() {
    let folder = Folder::new();
    let values = folder.file("values.npy", npy("<f8", "(3,)", &bytes(&[1, 2, 3, 4, 5, 6])));
    let expected = npy("<f8", "(4,)", &bytes(&[1, 2, 1, 2, 5, 6, 5, 6]));
    let files = [
        array("<u4", &[2, 0, 2]),
        array("<i4", &[2, 0, 2]),
        npy("<i8", "(3,)", &bytes(&[2, 0, 0, 0, 2, 0])),
        npy("<u8", "(3,)", &bytes(&[2, 0, 0, 0, 2, 0])),
        bytes(&[2, 0, 2]),
    ];
    for file in files {
        let mut command = subsweep(["runs", "--decode", &values, "--counts", "-"]);
        assert_eq!(run_with(&mut command, &file).done(), expected);
    }
    let nothing = folder.file("nothing.npy", npy("<f4", "(0,)", b""));
    let counts = folder.file("counts.npy", array("<u4", &[]));
    let mut command = subsweep(["runs", "--decode", &nothing, "--counts", &counts]);
    assert_eq!(run(&mut command).done(), npy("<f4", "(0,)", b""));
    let mut command = subsweep(["runs", &nothing, "--counts", &counts]);
    assert_eq!(run(&mut command).done(), npy("<f4", "(0,)", b""));
    assert_eq!(folder.read("counts.npy"), array("<u4", &[]));
    // -0 equals 0, and nan equals nan.
    let floats = [0.0, -0.0, f32::NAN, -f32::NAN, 1.0].map(f32::to_bits);
    let mut command = subsweep(["runs", "-", "--type", "f32", "--counts", &counts]);
    assert_eq!(words(&run_with(&mut command, &bytes(&floats)).done()), [floats[0], floats[2], floats[4]]);
    assert_eq!(folder.read("counts.npy"), bytes(&[2, 2, 1]));
}

/// Of more elements than one decoding has: their number is in the header before the first is decoded.
#[test]
fn more_than_32_bits_of_elements_are_decoded() {
    use std::io::Read;

    let folder = Folder::new();
    let values = folder.file("values.npy", array("<u4", &[7, 8, 9]));
    let counts = folder.file("counts.npy", array("<u4", &[3, u32::MAX, u32::MAX]));
    let mut command = subsweep(["runs", "--decode", &values, "--counts", &counts]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let expected = npy("<u4", "(8589934593,)", &bytes(&[7, 7, 7, 8, 8]));
    let mut first = vec![0; expected.len()];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert!(first == expected);
    // It has written into a closed pipe, which is no failure.
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn invalid_runs() {
    let folder = Folder::new();
    let values = folder.file("values.npy", array("<u4", &[1, 2, 3]));
    let decode = ["runs", "--decode", &values, "--counts"];
    let files: [(Vec<u8>, &str); 5] = [
        (array("<u4", &[1, 2]), "has 2 counts, and"),
        (array("<i4", &[1, u32::MAX, 2]), "count 1 is -1; counts are from 0 to 4294967295"),
        (npy("<u8", "(3,)", &bytes(&[1, 0, 1, 0, 0, 1])), "count 2 is 4294967296"),
        (array("<f4", &[0, 0, 0]), "elements of type <f4"),
        (npy("<u4", "(3, 1)", &bytes(&[1, 1, 1])), "2 dimensions"),
    ];
    for (file, what) in files {
        let counts = folder.file("counts.npy", file);
        refused(&folder, &[&decode[..], &[&counts]].concat(), what);
    }
    refused(&folder, &["runs", "--decode", "-", "--counts", "-"], "name a file for --counts");
    let grid = folder.file("grid.npy", npy("<u4", "(2, 2)", &bytes(&[1, 1, 1, 1])));
    refused(&folder, &["runs", &grid, "--counts", "counts"], "2 dimensions");
    run(&mut subsweep(["runs", "--counts", "counts"])).refused_with_words(2, "INPUT");
    run(&mut subsweep(["runs", &values])).refused_with_words(2, "--counts");
    run(&mut subsweep(["runs", &values, "--decode", &values, "--counts", "counts"]))
        .refused_with_words(2, "cannot be used with");
    let mut command = subsweep(["runs", &values, "--counts", "-"]);
    run(without_drivers(&mut command)).refused(2, "standard output is written once");
    let out = folder.argument("out.npy");
    let mut command = subsweep(["runs", &values, "-o", &out, "--counts", &out]);
    run(without_drivers(&mut command)).refused(2, "-o and --counts name the same file");
    let mut command = subsweep(["runs", &values, "-o", &out, "--counts", &values]);
    run(without_drivers(&mut command)).refused(2, "is also the input");
    refused_options(&folder, &["runs", &values, "--counts", &folder.argument("counts")]);
}
