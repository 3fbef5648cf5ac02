//! Both orders of floats, of every command that compares elements.

use super::*;

/// In the total order; to numpy the three NaNs are one number, the last, and the zeros are equal.
const ASCENDING: [f32; 9] =
    [f32::from_bits(0xffff_ffff), -f32::NAN, f32::NEG_INFINITY, -1.0, -0.0, 0.0, 1.0, f32::INFINITY, f32::NAN];

/// 3,000 of these numbers, as bits.
fn keys() -> Vec<u32> {
    random(3000).into_iter().map(|word| ASCENDING[word as usize % ASCENDING.len()].to_bits()).collect()
}

fn is_nan(bits: u32) -> bool {
    f32::from_bits(bits).is_nan()
}

/// A number for each key that compares as the key does.
fn rank(order: &str, bits: u32) -> usize {
    let place = |bits: u32| ASCENDING.iter().position(|key| key.to_bits() == bits).unwrap();
    match order {
        "numpy" if is_nan(bits) => ASCENDING.len(),
        "numpy" if bits == 1 << 31 => place(0),
        _ => place(bits),
    }
}

/// Indices of the stably sorted keys.
fn argsort(order: &str, keys: &[u32], is_descending: bool) -> Vec<u32> {
    let mut indices: Vec<_> = (0..keys.len() as u32).collect();
    let rank = |index: &u32| rank(order, keys[*index as usize]) as i64;
    indices.sort_by_key(|index| if is_descending { -rank(index) } else { rank(index) });
    indices
}

fn npy_of(descr: &str, words: &[u32]) -> Vec<u8> {
    npy(descr, &format!("({},)", words.len()), &bytes(words))
}

#[test]
fn floats_are_in_either_order() {
    let folder = Folder::new();
    let keys = keys();
    let at = |indices: &[u32]| -> Vec<u32> { indices.iter().map(|&index| keys[index as usize]).collect() };
    let input = folder.file("in.npy", npy_of("<f4", &keys));
    let output = folder.argument("out.npy");
    let done = |arguments: &[&str]| {
        run(subsweep(arguments).args(["-o", &output])).done();
        folder.read("out.npy")
    };
    for order in ["total", "numpy"] {
        let ascending = argsort(order, &keys, false);
        let sorted = at(&ascending);
        assert!(done(&["sort", &input, "--order", order]) == npy_of("<f4", &sorted), "{order}");
        let by = |more: &[&str]| done(&[&["sort", &input, "--order", order], more].concat());
        assert!(by(&["--argsort"]) == npy_of("<u4", &ascending), "{order}");
        let descending = argsort(order, &keys, true);
        assert!(by(&["--argsort", "--descending"]) == npy_of("<u4", &descending), "{order}");
        assert!(by(&["--descending"]) == npy_of("<f4", &at(&descending)), "{order}");
        let segments = folder.file("segments", bytes(&[0]));
        assert!(by(&["--segments", &segments]) == npy_of("<f4", &sorted), "{order}");

        // What is sorted is searched in the same order: each key is found where its equals begin.
        let sorted_file = folder.file("sorted.npy", npy_of("<f4", &sorted));
        let first = |&key: &u32| {
            sorted.partition_point(|&other| rank(order, other) < rank(order, key)) as u32
        };
        let positions: Vec<_> = keys.iter().map(first).collect();
        let found = done(&["search", &sorted_file, &input, "--order", order]);
        assert!(found == npy_of("<u4", &positions), "{order}");
        let halves = [&keys[..1000], &keys[1000..]].map(|half| {
            let half: Vec<_> = argsort(order, half, false).iter().map(|&index| half[index as usize]).collect();
            npy_of("<f4", &half)
        });
        let [a, b] = halves;
        let (a, b) = (folder.file("a.npy", a), folder.file("b.npy", b));
        assert!(done(&["merge", &a, &b, "--order", order]) == npy_of("<f4", &sorted), "{order}");
        let least = done(&["topk", &input, "-k", "2500", "--smallest", "--order", order]);
        assert!(least == npy_of("<f4", &sorted[..2500]), "{order}");

        let is_first = |&index: &usize| index == 0 || rank(order, sorted[index]) != rank(order, sorted[index - 1]);
        let firsts: Vec<_> = (0..sorted.len()).filter(is_first).collect();
        let unique: Vec<_> = firsts.iter().map(|&index| sorted[index]).collect();
        assert_eq!(unique.len(), if order == "total" { 9 } else { 6 });
        let expected = npy_of("<f4", &unique);
        assert_eq!(done(&["select", &sorted_file, "--unique", "--order", order]), expected, "{order}");
        let counts = folder.argument("counts");
        assert_eq!(done(&["runs", &sorted_file, "--counts", &counts, "--order", order]), expected, "{order}");
        let ends = firsts.iter().skip(1).copied().chain([sorted.len()]);
        let lengths: Vec<_> = firsts.iter().zip(ends).map(|(first, end)| (end - first) as u32).collect();
        assert_eq!(folder.read("counts"), npy_of("<u4", &lengths), "{order}");
        let ones = folder.file("ones.npy", npy_of("<u4", &vec![1; sorted.len()]));
        let by_key = ["reduce", &ones, "--by-key", &sorted_file, "--keys-output", &counts, "--order", order];
        assert_eq!(done(&by_key), npy_of("<u4", &lengths), "{order}");
        assert_eq!(folder.read("counts"), expected, "{order}");
    }
}
