//! Structured arrays, sorted by their fields: rows are moved whole, and what cannot be a key is refused.

use super::*;

/// A structured array, as numpy saves one of C's alignment: of each row an i16, a float, a byte, and text.
const DESCR: &str = "[('a', '<i2'), ('', '|V2'), ('b', '<f4'), ('c', '|u1'), ('text', '|S7')]";
const SIZE: usize = 16;

fn structured(descr: &str, rows: &[Vec<u8>]) -> Vec<u8> {
    let file = npy("<u4", &format!("({},)", rows.len()), &rows.concat());
    let text = String::from_utf8_lossy(&file[10..]).into_owned();
    let end = text.find('\n').expect("a header ends");
    let header = format!("{}\n", text[..end].trim_end().replace("'<u4'", descr));
    let size = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\0", &size[..], header.as_bytes(), &rows.concat()].concat()
}

fn row(a: i16, b: f32, c: u8, text: &[u8; 7]) -> Vec<u8> {
    [&a.to_le_bytes()[..], &[0xaa, 0xbb], &b.to_le_bytes(), &[c], text].concat()
}

fn rows() -> Vec<Vec<u8>> {
    let text = |index: usize| <[u8; 7]>::try_from(format!("{index:07}").as_bytes()).expect("seven digits");
    let floats = [0.5, -0.0, 0.0, -1.0, f32::INFINITY, 7.25];
    let words = random(5000).into_iter().enumerate();
    words
        .map(|(index, word)| {
            row((word % 7) as i16 - 3, floats[word as usize / 7 % 6], (word >> 28) as u8, &text(index))
        })
        .collect()
}

type Parsed = (i16, f32, u8);

fn parsed(row: &[u8]) -> Parsed {
    let float = row[4..8].try_into().map(f32::from_le_bytes).expect("four bytes");
    (i16::from_le_bytes([row[0], row[1]]), float, row[8])
}

#[test]
fn rows_are_sorted_by_their_fields() {
    let (folder, rows) = (Folder::new(), rows());
    let input = folder.file("in.npy", structured(DESCR, &rows));
    let output = folder.argument("out.npy");
    type Compare = fn(&Parsed, &Parsed) -> std::cmp::Ordering;
    let cases: [(&str, &[&str], Compare); 5] = [
        ("a", &[], |x, y| x.0.cmp(&y.0)),
        ("a,-c", &[], |x, y| x.0.cmp(&y.0).then(y.2.cmp(&x.2))),
        ("-b, a", &[], |x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0))),
        ("b,c", &["--order", "numpy", "--descending"], |x, y| {
            y.1.partial_cmp(&x.1).expect("numbers").then(y.2.cmp(&x.2))
        }),
        ("c,b,a", &["--order", "total"], |x, y| {
            x.2.cmp(&y.2).then(x.1.total_cmp(&y.1)).then(x.0.cmp(&y.0))
        }),
    ];
    for (by, options, compare) in cases {
        let mut indices: Vec<u32> = (0..rows.len() as u32).collect();
        let of = |index: &u32| parsed(&rows[*index as usize]);
        indices.sort_by(|a, b| compare(&of(a), &of(b)));
        let sorted: Vec<_> = indices.iter().map(|&index| rows[index as usize].clone()).collect();
        let arguments = ["sort", &input, "-o", &output, "--by", by];
        assert_eq!(run(&mut subsweep([&arguments[..], options].concat())).done(), b"");
        assert!(folder.read("out.npy") == structured(DESCR, &sorted), "{by} {options:?}");
        let argsort = [&["sort", &input, "--argsort", "--by", by][..], options].concat();
        let expected = npy("<u4", "(5000,)", &bytes(&indices));
        assert!(run(&mut subsweep(argsort)).done() == expected, "{by} {options:?}");
    }
    let none = structured(DESCR, &[]);
    assert_eq!(run_with(&mut subsweep(["sort", "-", "--by=-a"]), &none).done(), none);
}

#[test]
fn wide_integers_are_two_fields_and_inner_fields_have_the_names_of_both() {
    let descr = "[('id', [('low', '<u8'), ('high', '<i8')])]";
    let numbers = [0i128, i128::MIN, -1, i128::MAX, 1 << 64, 1];
    let of = |numbers: &[i128]| {
        structured(descr, &numbers.iter().map(|number| number.to_le_bytes().to_vec()).collect::<Vec<_>>())
    };
    let sorted = run_with(&mut subsweep(["sort", "-", "--by", "id.high,id.low"]), &of(&numbers));
    assert_eq!(sorted.done(), of(&[i128::MIN, -1, 0, 1, 1 << 64, i128::MAX]));
}

#[test]
fn what_is_no_key_is_refused() {
    let folder = Folder::new();
    let file = |descr: &str, size: usize| folder.file("in.npy", structured(descr, &[vec![0; size]]));
    let plain = folder.file("plain.npy", npy("<u4", "(2,)", &bytes(&[1, 2])));
    let raw = folder.file("raw", bytes(&[1, 2, 3]));
    let rows = file(DESCR, SIZE);
    let refused = |arguments: &[&str], what: &str| {
        run(without_drivers(&mut subsweep([&["sort"], arguments].concat()))).refused(2, what);
    };
    refused(&[&rows, "--by", "x"], "has no field 'x'; it has a, b, c, text");
    refused(&[&rows, "--by", ""], "has no field ''");
    refused(&[&rows, "--by", "a,-text"], "numpy.unique(a['text'], return_inverse=True)[1]");
    refused(&[&rows], "name the fields to sort by with --by");
    refused(&[&plain, "--by", "a"], "have no fields; leave out --by");
    refused(&[&raw, "--by", "a"], "is not an .npy file");
    for (option, value) in [
        ("--bits", "0:8"),
        ("--values", "v.npy"),
        ("--segments", "s.npy"),
        ("--type", "u32"),
        ("--memory", "1G"),
        ("--temp-dir", "."),
        ("--axis", "1"),
        ("--algorithm", "radix-8bit"),
        ("--policy", "seed"),
    ] {
        refused(&[&rows, "--by", "a", option, value], "leave out");
    }
    for (descr, size, by, what) in [
        ("[('a', '>u4')]", 4, "a", "newbyteorder('<')"),
        ("[('a', '<M8[s]')]", 8, "a", "a['a'].view('<i8')"),
        ("[('a', '<c8')]", 8, "a", "append_fields"),
        ("[('a', '<u4', (2,))]", 8, "a", "of <u4, (2,), which is no key; add a field"),
        ("[('a', '<u4', (2,))]", 8, "a", "a['a'][:, 0]"),
        ("[('a', [('x', '<u4')], (2,))]", 8, "a", "append_fields"),
        ("[('a', '|u1'), ('b', '<f4')]", 5, "a", "repack_fields(a, align=True)"),
        ("[('a', '|u1'), ('b', '|S2')]", 3, "a", "append_fields(a, 'pad', numpy.zeros(len(a), 'u4'), usemask=False)"),
        ("[('a', '|u1'), ('b', '<f4'), ('c', '|S3')]", 8, "b", "repack_fields(a, align=True)"),
        ("[('a', '<u8'), ('b', '<u8'), ('c', '<u8')]", 24, "a,b,c", "sort by the last of them first"),
        ("[('a', '<u4'), ('b', '|V1048576')]", (1 << 20) + 4, "a", "for --argsort"),
    ] {
        refused(&[&file(descr, size), "--by", by], what);
    }
}
