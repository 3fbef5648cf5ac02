//! Arrays of numpy's bool: those that hold elements stay bool, and arithmetic is refused.

use super::*;

fn bools(elements: &[u8]) -> Vec<u8> {
    npy("|b1", &format!("({},)", elements.len()), elements)
}

fn u32s(numbers: &[u32]) -> Vec<u8> {
    npy("<u4", &format!("({},)", numbers.len()), &bytes(numbers))
}

#[test]
fn elements_that_are_moved_or_compared_stay_bools() {
    let folder = Folder::new();
    let a = folder.file("a.npy", bools(&[1, 0, 1, 1, 0]));
    let ids = folder.file("ids.npy", u32s(&[5, 4, 3, 2, 1]));
    let sorted = folder.file("sorted.npy", bools(&[0, 0, 1, 1, 1]));
    let [out, more] = ["out", "more"].map(|name| folder.argument(name));
    let bytes_file = folder.file("bytes.npy", npy("|u1", "(2,)", &[0, 7]));
    for (arguments, expected) in [
        (&["sort", &a][..], bools(&[0, 0, 1, 1, 1])),
        (&["sort", &a, "--descending"], bools(&[1, 1, 1, 0, 0])),
        (&["sort", &a, "--argsort"], u32s(&[1, 4, 0, 2, 3])),
        (&["select", &a, "--where", "x < 1"], bools(&[0, 0])),
        (&["select", &a, "--flags", &a], bools(&[1, 1, 1])),
        (&["select", &a, "--unique"], bools(&[1, 0, 1, 0])),
        (&["runs", &a, "--counts", &more], bools(&[1, 0, 1, 0])),
        (&["search", &sorted, &a], u32s(&[2, 0, 2, 2, 0])),
        (&["search", &sorted, &bytes_file], u32s(&[0, 5])),
        (&["merge", &sorted, &sorted], bools(&[0, 0, 0, 0, 1, 1, 1, 1, 1, 1])),
        (&["merge", &sorted, &bytes_file], npy("|u1", "(7,)", &[0, 0, 0, 1, 1, 1, 7])),
        (&["topk", &a, "-k", "2"], bools(&[1, 1])),
        (&["histogram", &a, "--bins", "2", "--range", "0:1"], u32s(&[2, 3])),
        (&["reduce", &a, "--op", "argmin"], u32s(&[1])),
        (&["reduce", &a, "--op", "argminmax"], u32s(&[1, 0])),
        (&["reduce", &a, "--unpacked"], u32s(&[3])),
        (&["scan", &ids, "--by-key", &a], u32s(&[5, 4, 3, 5, 1])),
    ] {
        run(subsweep(arguments).args(["-o", &out])).done();
        assert_eq!(folder.read("out"), expected, "{arguments:?}");
    }
    run(&mut subsweep(["sort", &ids, "--values", &a, "--values-output", &out])).done();
    assert_eq!(folder.read("out"), bools(&[0, 1, 1, 0, 1]));
    run(&mut subsweep(["reduce", &ids, "--by-key", &a, "--keys-output", &out])).done();
    assert_eq!(folder.read("out"), bools(&[1, 0, 1, 0]));
}

#[test]
fn arithmetic_of_bools_is_refused() {
    let folder = Folder::new();
    let a = folder.file("a.npy", bools(&[1, 0]));
    let remedy = "holds bool, and arithmetic is of numbers; save a.view('|u1'), or a.astype('<u4') to count what is true";
    for arguments in [
        &["scan", &a][..],
        &["scan", &a, "--op", "max"],
        &["reduce", &a],
        &["reduce", &a, "--segments", &a],
        &["diff", &a],
    ] {
        run(without_drivers(&mut subsweep(arguments))).refused(2, remedy);
    }
}
