//! Scans of runs of equal keys, compared with a loop.

use super::refusals::refused;
use super::*;

/// The scan of the runs of equal keys.
fn scanned_by_key<K: PartialEq>(
    values: &[u32],
    keys: &[K],
    combine: fn(u32, u32) -> u32,
    identity: u32,
    is_exclusive: bool,
    is_reverse: bool,
) -> Vec<u32> {
    let mut results = vec![0; values.len()];
    let mut order: Vec<usize> = (0..values.len()).collect();
    if is_reverse {
        order.reverse();
    }
    let mut sum = identity;
    for (at, &index) in order.iter().enumerate() {
        if at > 0 && keys[index] != keys[order[at - 1]] {
            sum = identity;
        }
        let before = sum;
        sum = combine(sum, values[index]);
        results[index] = if is_exclusive { before } else { sum };
    }
    results
}

/// Rows of several blocks of keys.
const COUNT: usize = 70_001;

/// Keys in runs of lengths from 1 to thousands; of the same key, some runs are apart.
fn keys() -> Vec<u64> {
    let lengths = random(COUNT).into_iter().map(|word| match word % 100 {
        0 => 3000 + word as usize % 20_000,
        1..50 => 1,
        _ => word as usize % 40,
    });
    let keys = lengths.enumerate().flat_map(|(run, length)| std::iter::repeat_n(run as u64 % 7, length));
    keys.take(COUNT).collect()
}

#[test]
fn runs_of_keys_of_every_type_are_scanned() {
    let folder = Folder::new();
    let values = random(COUNT);
    let shape = format!("({COUNT},)");
    let values_file = npy("<u4", &shape, &bytes(&values));
    let values_path = folder.file("values.npy", &values_file);
    let keys = keys();
    let add: fn(u32, u32) -> u32 = u32::wrapping_add;
    type BytesOfKey = fn(u64) -> Vec<u8>;
    let types: [(&str, BytesOfKey); 5] = [
        ("|u1", |key| vec![key as u8]),
        ("<i2", |key| (key as i16 - 3).to_le_bytes().to_vec()),
        ("<f4", |key| (key as f32 - 2.5).to_le_bytes().to_vec()),
        ("<u8", |key| (key << 40).to_le_bytes().to_vec()),
        (">f8", |key| (key as f64 / 3.0).to_be_bytes().to_vec()),
    ];
    for (descr, of) in types {
        let payload: Vec<u8> = keys.iter().flat_map(|&key| of(key)).collect();
        let keys_path = folder.file("keys.npy", npy(descr, &shape, &payload));
        let forms = [(false, false), (true, true), (false, true), (true, false)];
        for &(is_exclusive, is_reverse) in if descr == "<i2" { &forms[..] } else { &forms[1..2] } {
            let mut command = subsweep(["scan", &values_path, "--by-key", &keys_path]);
            command.args(is_exclusive.then_some("--exclusive")).args(is_reverse.then_some("--reverse"));
            let expected = scanned_by_key(&values, &keys, add, 0, is_exclusive, is_reverse);
            assert!(run(&mut command).done() == npy("<u4", &shape, &bytes(&expected)), "{command:?} {descr}");
        }
    }
    // Every operator, with an initial value, through pipes and in several chunks.
    let raw: Vec<u8> = keys.iter().map(|&key| key as u8).collect();
    let keys_path = folder.file("keys", raw);
    for (op, combine, identity) in [
        ("add", add, 5),
        ("mul", u32::wrapping_mul, 3),
        ("min", |a, b| a.min(b), u32::MAX / 2),
        ("max", |a, b| a.max(b), 9),
        ("and", |a, b| a & b, u32::MAX - 4),
        ("or", |a, b| a | b, 8),
        ("xor", |a, b| a ^ b, 1),
    ] as [(&str, fn(u32, u32) -> u32, u32); 7]
    {
        let expected = scanned_by_key(&values, &keys, combine, identity, true, false);
        let init = identity.to_string();
        let arguments = ["scan", "-", "--type", "u32", "--by-key", &keys_path, "--op", op, "--init", &init];
        let mut command = subsweep(arguments);
        command.args(["--exclusive", "--memory", "28MiB"]);
        assert!(words(&run_with(&mut command, &bytes(&values)).done()) == expected, "{op}");
    }
    let expected = npy("<u4", &shape, &bytes(&scanned_by_key(&values, &keys, add, 0, false, false)));
    let payload: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
    let piped = run_with(&mut subsweep(["scan", &values_path, "--by-key", "-"]), &npy("<u8", &shape, &payload));
    assert!(piped.done() == expected);
}

#[test]
fn keys_of_a_table_are_of_its_rows_and_floats_equal_in_their_order() {
    let folder = Folder::new();
    let table = folder.file("table.npy", npy("<u4", "(5, 2)", &bytes(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10])));
    let nan = f32::NAN.to_bits();
    let keys = folder.file("keys.npy", npy("<f4", "(5,)", &bytes(&[0, 1 << 31, nan, nan | 1, 1 << 31])));
    let of = |order: &[&str]| run(subsweep(["scan", &table, "--by-key", &keys]).args(order)).done();
    let numpy = npy("<u4", "(5, 2)", &bytes(&[1, 2, 4, 6, 5, 6, 12, 14, 9, 10]));
    assert_eq!(of(&[]), numpy);
    assert_eq!(of(&["--order", "total"]), npy("<u4", "(5, 2)", &bytes(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10])));
    let none = folder.file("none.npy", npy("<u4", "(0,)", b""));
    assert_eq!(run(&mut subsweep(["scan", &none, "--by-key", &none])).done(), npy("<u4", "(0,)", b""));
}

#[test]
fn invalid_keys_are_refused() {
    let folder = Folder::new();
    let values = folder.file("values.npy", npy("<u4", "(3,)", &bytes(&[1, 2, 3])));
    let table = folder.file("table.npy", npy("<u4", "(3, 1)", &bytes(&[1, 2, 3])));
    let two = folder.file("two.npy", npy("<u4", "(2,)", &bytes(&[1, 2])));
    let raw = folder.file("raw", [1, 2]);
    let empty = folder.file("empty", b"");
    for (arguments, what) in [
        (&["scan", &values, "--by-key", &two][..], "holds 2 elements for 3 of the input"),
        (
            &["scan", &values, "--by-key", &raw],
            "holds 2 bytes, and elements of 1, 2, 4 or 8 bytes for each of 3 of the input",
        ),
        (
            &["scan", &values, "--by-key", &empty],
            "holds 0 bytes, and elements of 1, 2, 4 or 8 bytes for each of 3 of the input",
        ),
        (&["scan", &values, "--by-key", &table], "has 2 dimensions"),
        (&["scan", &table, "--by-key", &values, "--axis", "1"], "leave out --axis 1"),
        (&["scan", &values, "--by-key", &values, "--policy", "seed"], "--policy seed has no --by-key"),
        (&["scan", "-", "--by-key", "-"], "standard input is read once; name a file for --by-key"),
    ] {
        refused(&folder, arguments, what);
    }
    run(&mut subsweep(["scan", &values, "--by-key", &values, "--segments", &values]))
        .refused_with_words(2, "cannot be used with");
    run(&mut subsweep(["scan", &values, "--order", "total"])).refused_with_words(2, "--by-key");
}
