//! Sorts of keys of every type and of pairs, and argsorts.

use super::elements::{Element, WIDE};
use super::*;

const COUNT: usize = 10_007;

#[test]
fn keys_are_sorted() {
    let folder = Folder::new();
    let input = random(COUNT);
    let mut expected = input.clone();
    expected.sort();
    let raw = folder.file("in", bytes(&input));
    assert_eq!(words(&run(&mut subsweep(["sort", &raw, "--type", "u32"])).done()), expected);
    let array = folder.file("in.npy", npy("<u4", "(10007,)", &bytes(&input)));
    let stdout = run(&mut subsweep(["sort", &array, "--type", "u32", "-o", "-"])).done();
    assert_eq!(stdout, npy("<u4", "(10007,)", &bytes(&expected)));
}

#[test]
fn keys_are_sorted_by_a_range_of_bits_and_stable() {
    let input = random(COUNT);
    for (begin, end) in [(8, 16), (0, 1), (31, 32), (5, 5), (0, 32)] {
        let mask = ((1_u64 << (end - begin)) - 1) as u32;
        let mut expected = input.clone();
        expected.sort_by_key(|key| key.checked_shr(begin).unwrap_or(0) & mask);
        let bits = format!("{begin}:{end}");
        let mut command = subsweep(["sort", "-", "--type", "u32", "--bits", &bits]);
        assert!(words(&run_with(&mut command, &bytes(&input)).done()) == expected, "{bits}");
    }
}

fn shape() -> String {
    format!("({COUNT},)")
}

impl Element {
    /// Keys with many duplicates: the topmost byte is random, and the others are mostly the same.
    pub fn payload(&self) -> Vec<u8> {
        let key = |word: u32| {
            let mut key = vec![(word >> 30) as u8; self.size];
            key[self.size - 1] = (word >> 8) as u8;
            key
        };
        random(COUNT).into_iter().flat_map(key).collect()
    }

    /// The permutation that sorts the keys.
    fn indices(&self, payload: &[u8], is_descending: bool) -> Vec<usize> {
        let keys = self.numbers(&self.elements(payload));
        let mut indices: Vec<_> = (0..COUNT).collect();
        indices.sort_by(|&a, &b| {
            let order = keys[a].total_cmp(&keys[b]);
            if is_descending { order.reverse() } else { order }
        });
        indices
    }
}

/// Elements of `size` bytes, in the order of `indices`.
pub fn permuted(payload: &[u8], size: usize, indices: &[usize]) -> Vec<u8> {
    indices.iter().flat_map(|&index| &payload[index * size..][..size]).copied().collect()
}

#[test]
fn each_type_is_sorted_as_keys_or_to_a_permutation_in_either_direction() {
    // One of the four variants for each type, as each takes long to compile.
    let ways = [(false, false), (true, true), (false, true), (true, false)];
    for (keys, (is_argsort, is_descending)) in WIDE.into_iter().zip(ways.into_iter().cycle()) {
        let payload = keys.payload();
        let file = npy(keys.descr, &shape(), &payload);
        let indices = keys.indices(&payload, is_descending);
        let options = [is_argsort.then_some("--argsort"), is_descending.then_some("--descending")];
        let stdout = run_with(subsweep(["sort", "-"]).args(options.into_iter().flatten()), &file).done();
        let expected = if is_argsort {
            let permutation: Vec<_> = indices.iter().map(|&index| index as u32).collect();
            npy("<u4", &shape(), &bytes(&permutation))
        } else {
            npy(keys.descr, &shape(), &permuted(&payload, keys.size, &indices))
        };
        assert!(stdout == expected, "{}, {options:?}", keys.descr);
    }
}

#[test]
fn a_permutation_of_raw_keys_is_raw() {
    let input: Vec<u8> =
        [2.5f64, -0.0, 0.0, f64::NAN, -1.0].iter().flat_map(|key| key.to_le_bytes()).collect();
    let mut command = subsweep(["sort", "-", "--type", "f64", "--argsort"]);
    assert_eq!(words(&run_with(&mut command, &input).done()), [4, 1, 2, 0, 3]);
    let mut command =
        subsweep(["sort", "-", "--type", "f64", "--argsort", "--bits", "63:64", "--descending"]);
    assert_eq!(words(&run_with(&mut command, &input).done()), [0, 2, 3, 1, 4]);
    // Without bits to compare, and with one key, the permutation is still written.
    let mut command = subsweep(["sort", "-", "--type", "f64", "--argsort", "--bits", "7:7"]);
    assert_eq!(words(&run_with(&mut command, &input).done()), [0, 1, 2, 3, 4]);
    let mut command = subsweep(["sort", "-", "--type", "f64", "--argsort"]);
    assert_eq!(words(&run_with(&mut command, &input[..8]).done()), [0]);
    let mut command = subsweep(["sort", "-", "--type", "f64", "--argsort"]);
    assert_eq!(words(&run_with(&mut command, b"").done()), [0; 0]);
}

#[test]
fn values_move_with_their_keys() {
    let folder = Folder::new();
    let keys_output = folder.file("keys_out", "before");
    for (keys, value_size) in WIDE.iter().zip([4, 8].into_iter().cycle()) {
        let payload = keys.payload();
        let input = folder.file("keys", npy(keys.descr, &shape(), &payload));
        let values: Vec<u8> =
            (0..COUNT as u64).flat_map(|index| (index << 40 | index).to_le_bytes()).collect();
        let values: Vec<u8> = values.chunks(8).flat_map(|value| &value[..value_size]).copied().collect();
        let indices = keys.indices(&payload, false);
        let moved = permuted(&values, value_size, &indices);
        let (is_array, descr) = (keys.descr != "<i8", if value_size == 4 { "<f4" } else { "<i8" });
        let file = |values: &[u8]| if is_array { npy(descr, &shape(), values) } else { values.to_vec() };
        let values_path = folder.file("values", file(&values));
        let values_output = folder.argument("values_out");
        let arguments = ["sort", &input, "--values", &values_path, "--values-output", &values_output];
        let stdout = run(&mut subsweep(arguments.iter().chain(&["-o", &keys_output]))).done();
        assert_eq!(stdout, b"");
        let sorted = npy(keys.descr, &shape(), &permuted(&payload, keys.size, &indices));
        assert!(folder.read("keys_out") == sorted, "{}", keys.descr);
        assert!(folder.read("values_out") == file(&moved), "{}", keys.descr);
    }
    assert_eq!(folder.names(), ["keys", "keys_out", "values", "values_out"]);
}

#[test]
fn either_of_keys_and_values_may_be_a_stream() {
    let folder = Folder::new();
    let keys = bytes(&[3, 1, 2]);
    let values = bytes(&[30, 10, 20]);
    let (keys_path, values_path) = (folder.file("keys", &keys), folder.file("values", &values));
    let output = folder.argument("out");
    let arguments =
        ["sort", "-", "--type", "u32", "--values", &values_path, "--values-output", "-", "-o", &output];
    assert_eq!(words(&run_with(&mut subsweep(arguments), &keys).done()), [10, 20, 30]);
    assert_eq!(words(&folder.read("out")), [1, 2, 3]);
    let arguments = ["sort", &keys_path, "--type", "u32", "--values", "-", "--values-output", &output];
    assert_eq!(words(&run_with(&mut subsweep(arguments), &values).done()), [1, 2, 3]);
    assert_eq!(words(&folder.read("out")), [10, 20, 30]);
    let nothing = folder.file("nothing", b"");
    let arguments = ["sort", "-", "--type", "u32", "--values", &nothing, "--values-output", &output];
    assert_eq!(run_with(&mut subsweep(arguments), b"").done(), b"");
    assert_eq!(folder.read("out"), b"");
}

#[test]
fn more_keys_than_one_workgroup_holds_are_refused() {
    let folder = Folder::new();
    let input = folder.file("in", vec![0; 4 << 17]);
    let mut command = subsweep(["sort", &input, "--type", "u32", "--algorithm", "single-workgroup"]);
    let ended = run(&mut command);
    assert_eq!((ended.code, &*ended.stdout), (2, &b""[..]), "{}", ended.stderr);
    assert!(ended.stderr.contains("--algorithm single-workgroup sorts up to"), "{}", ended.stderr);
}
