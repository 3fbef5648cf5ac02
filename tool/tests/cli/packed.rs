//! Elements of 8 and 16 bits, by every command that takes files: raw, as arrays of numpy, and from pipes.

use super::elements::{Element, PACKED};
use super::*;

/// Elements of several workgroups, and of no whole word.
const COUNT: usize = 5001;

impl Element {
    /// Any bits but the bits of a NaN.
    fn random(&self) -> Vec<u64> {
        let bits =
            random(COUNT).into_iter().map(|word| u64::from(word >> 8) & (0xffff >> (16 - 8 * self.size)));
        bits.map(|bits| if (self.number)(bits).is_nan() { 0 } else { bits }).collect()
    }

    /// Whole numbers from 0 to 11, whose sums of some are exact.
    fn small(&self) -> Vec<u64> {
        let numbers: Vec<_> = random(COUNT).into_iter().map(|word| f64::from((word >> 8) % 12)).collect();
        self.encode(&numbers)
    }

    /// The result of a command on elements that are a raw file and a pipe, and an array of numpy, which agree: the bytes after
    /// the header.
    #[track_caller]
    fn run(&self, command: &[&str], elements: &[u64], descr: &str) -> Vec<u8> {
        let (name, arguments) = command.split_first().unwrap();
        let command = |input: &[&str]| subsweep([&[*name], input, arguments].concat());
        let payload = self.bytes(elements);
        let folder = Folder::new();
        let raw = run(&mut command(&[&folder.file("in", &payload), "--type", self.name])).done();
        assert!(run_with(&mut command(&["-", "--type", self.name]), &payload).done() == raw, "{}", self.name);
        let array = run_with(&mut command(&["-"]), &self.npy(elements)).done();
        let text = String::from_utf8_lossy(&array[..128]).into_owned();
        assert!(text.contains(&format!("'descr': '{descr}'")) && array[128..] == raw, "{} {text}", self.name);
        raw
    }

    /// Expects a command to turn elements into others of the type, as [`Self::run`] reads them.
    #[track_caller]
    fn gives(&self, command: &[&str], elements: &[u64], expected: &[u64]) {
        let result = self.run(command, elements, self.descr);
        assert!(result == self.bytes(expected), "{}: {command:?}", self.name);
    }
}

pub fn indices(numbers: impl IntoIterator<Item = usize>) -> Vec<u8> {
    numbers.into_iter().flat_map(|index| (index as u32).to_le_bytes()).collect()
}

#[test]
fn elements_are_sorted_and_the_greatest_selected() {
    for packed in PACKED {
        let elements = packed.random();
        let numbers = packed.numbers(&elements);
        let mut order: Vec<_> = (0..COUNT).collect();
        order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
        let sorted: Vec<_> = order.iter().map(|&index| elements[index]).collect();
        packed.gives(&["sort"], &elements, &sorted);
        assert!(packed.run(&["sort", "--argsort"], &elements, "<u4") == indices(order), "{}", packed.name);
        let mut descending: Vec<_> = (0..COUNT).collect();
        descending.sort_by(|&a, &b| numbers[b].total_cmp(&numbers[a]));
        let greatest: Vec<_> = descending[..9].iter().map(|&index| elements[index]).collect();
        packed.gives(&["topk", "-k", "9", "--order", "total"], &elements, &greatest);

        let folder = Folder::new();
        let (keys, values) = (folder.file("keys", packed.npy(&elements)), indices(0..COUNT));
        let values = folder.file("values", values);
        let moved = ["sort", &keys, "--descending", "--values", &values, "--values-output", "-"];
        let stdout = run(subsweep(moved).args(["-o", &folder.argument("sorted")])).done();
        assert!(stdout == indices(descending), "{}", packed.name);
        let starts = folder.file("starts", indices([2, 2, 1000, 4999]));
        let mut expected = elements.clone();
        for (begin, end) in [(2, 1000), (1000, 4999), (4999, COUNT)] {
            expected[begin..end].sort_by(|&a, &b| (packed.number)(a).total_cmp(&(packed.number)(b)));
        }
        let stdout = run(&mut subsweep(["sort", &keys, "--segments", &starts])).done();
        assert!(stdout == packed.npy(&expected), "{}", packed.name);
    }
}

/// In the least memory, of which each needs several times as much.
#[test]
fn more_elements_than_the_memory_are_sorted() {
    let folder = Folder::new();
    for (packed, count) in [(&PACKED[0], (40 << 20) + 3), (&PACKED[2], (20 << 20) + 3)] {
        let bytes: Vec<u8> = random(count)
            .into_iter()
            .flat_map(|word| (word >> 8).to_le_bytes().into_iter().take(packed.size))
            .collect();
        let path = folder.file("in", &bytes);
        let stdout = run(&mut subsweep(["sort", &path, "--type", packed.name, "--memory", "28MiB"])).done();
        let mut expected = packed.elements(&bytes);
        expected.sort();
        assert!(packed.elements(&stdout) == expected, "{}", packed.name);
    }
}

#[test]
fn sums_wrap_and_are_rounded_or_unpacked() {
    for packed in PACKED {
        let elements = packed.small();
        let numbers = packed.numbers(&elements);
        let mut sum = 0.0;
        let sums: Vec<_> = numbers
            .iter()
            .map(|number| {
                sum += number;
                sum
            })
            .collect();
        packed.gives(&["scan"], &elements, &packed.encode(&sums));
        let after: Vec<_> = [3.0].into_iter().chain(sums.iter().map(|sum| sum + 3.0)).take(COUNT).collect();
        packed.gives(&["scan", "--exclusive", "--init", "3"], &elements, &packed.encode(&after));
        let differences: Vec<_> = numbers.windows(2).map(|pair| pair[1] - pair[0]).collect();
        packed.gives(&["diff"], &elements, &packed.encode(&differences));

        let total = sums[COUNT - 1];
        packed.gives(&["reduce", "-o", "-"], &elements, &packed.encode(&[total]));
        let reduce = |options: &[&str], descr| {
            packed.run(&[&["reduce", "-o", "-"], options].concat(), &elements, descr)
        };
        let wide =
            if packed.is_float() { (total as f32).to_le_bytes() } else { (total as i32).to_le_bytes() };
        let descr = if packed.is_float() {
            "<f4"
        } else if packed.name.starts_with('u') {
            "<u4"
        } else {
            "<i4"
        };
        assert_eq!(reduce(&["--unpacked"], descr), wide, "{}", packed.name);
        let first = numbers.iter().position(|&number| number == 11.0);
        assert_eq!(reduce(&["--op", "argmax"], "<u4"), indices(first), "{}", packed.name);
    }
}

#[test]
fn results_are_printed_as_those_of_numpy() {
    for (packed, expected) in PACKED.iter().zip(["44", "44", "300", "300", "300.0", "300"]) {
        let bytes = packed.bytes(&packed.encode(&[100.0; 3]));
        let printed = run_with(&mut subsweep(["reduce", "-", "--type", packed.name]), &bytes).done();
        assert_eq!(printed, format!("{expected}\n").as_bytes(), "{}", packed.name);
    }
    // The identities of a type, and a sum beyond it.
    let print = |arguments: &[&str], bytes: &[u8]| {
        let printed = run_with(subsweep(["reduce", "-"]).args(arguments), bytes).done();
        String::from_utf8(printed).unwrap()
    };
    assert_eq!(print(&["--type", "u8", "--op", "min"], b""), "255\n");
    assert_eq!(print(&["--type", "i16", "--op", "max"], b""), "-32768\n");
    assert_eq!(print(&["--type", "f16"], &[0xff, 0x7b, 0xff, 0x7b]), "inf\n");
    assert_eq!(print(&["--type", "f16", "--unpacked"], &[0xff, 0x7b, 0xff, 0x7b]), "131008.0\n");
}

#[test]
fn segments_and_runs_are_reduced() {
    for packed in PACKED {
        let folder = Folder::new();
        let elements = packed.encode(&[1.0, 2.0, 3.0, 100.0, 100.0, 100.0]);
        let path = folder.file("in.npy", packed.npy(&elements));
        let starts = folder.file("starts", indices([1, 3, 3]));
        let reduce = ["reduce", &path, "-o", "-"];
        let sums = run(subsweep(reduce).args(["--segments", &starts])).done();
        assert!(sums == packed.npy(&packed.encode(&[5.0, 0.0, 300.0])), "{}", packed.name);
        let keys = folder.file("keys.npy", packed.npy(&packed.encode(&[0.0, 0.0, 1.0, 2.0, 2.0, 2.0])));
        let unique = folder.argument("unique.npy");
        let sums = run(subsweep(reduce).args(["--by-key", &keys, "--keys-output", &unique])).done();
        assert!(sums == packed.npy(&packed.encode(&[3.0, 3.0, 300.0])), "{}", packed.name);
        assert!(folder.read("unique.npy") == packed.npy(&packed.encode(&[0.0, 1.0, 2.0])), "{}", packed.name);
    }
}

#[test]
fn elements_are_selected_and_counted() {
    for packed in PACKED {
        let elements = packed.small();
        let numbers = packed.numbers(&elements);
        let kept = |keeps: &dyn Fn(usize) -> bool| -> Vec<u64> {
            (0..COUNT).filter(|&index| keeps(index)).map(|index| elements[index]).collect()
        };
        let below = kept(&|index| numbers[index] < 7.0);
        packed.gives(&["select", "--where", "x < 7"], &elements, &below);
        let unique = kept(&|index| index == 0 || numbers[index] != numbers[index - 1]);
        packed.gives(&["select", "--unique"], &elements, &unique);
        let mut counts = [0; 4];
        numbers.iter().for_each(|number| counts[*number as usize / 3] += 1);
        let histogram = ["histogram", "--bins", "4", "--range", "0:12"];
        assert_eq!(packed.run(&histogram, &elements, "<u4"), indices(counts), "{}", packed.name);

        let folder = Folder::new();
        let path = folder.file("in.npy", packed.npy(&elements));
        let flags =
            folder.file("flags", numbers.iter().map(|&number| u8::from(number < 7.0)).collect::<Vec<_>>());
        let selected = run(&mut subsweep(["select", &path, "--flags", &flags])).done();
        assert!(selected == packed.npy(&below), "{}", packed.name);
        let others = kept(&|index| numbers[index] >= 7.0);
        let parted =
            run(&mut subsweep(["partition", &path, "--where", "x < 7", "--count", &folder.argument("n")]))
                .done();
        assert!(parted == packed.npy(&[&below[..], &others].concat()), "{}", packed.name);
        let counts = folder.argument("counts");
        let values = run(&mut subsweep(["runs", &path, "--counts", &counts])).done();
        assert!(values == packed.npy(&unique), "{}", packed.name);
        let values = folder.file("values.npy", values);
        let decoded = run(&mut subsweep(["runs", "--decode", &values, "--counts", &counts])).done();
        assert!(decoded == packed.npy(&elements), "{}", packed.name);
    }
}

#[test]
fn rows_move_with_their_keys() {
    let folder = Folder::new();
    let keys: Vec<u32> = random(COUNT).iter().map(|word| word % 1000).collect();
    let keys_file = npy("<u4", &format!("({COUNT},)"), &bytes(&keys));
    let keys_path = folder.file("keys.npy", &keys_file);
    let mut order: Vec<usize> = (0..COUNT).collect();
    order.sort_by_key(|&index| keys[index]);
    let segments = folder.file("starts.npy", npy("<u4", "(1,)", &bytes(&[0])));
    let out = folder.argument("out");
    // Whole words, and rows that are padded to these.
    for (descr, columns, row_size) in [("<u4", 5, 20), ("|u1", 3, 3), ("<i2", 9, 18)] {
        let rows: Vec<u8> = random(COUNT * row_size).iter().map(|&word| word as u8).collect();
        let shape = format!("({COUNT}, {columns})");
        let values = folder.file("rows.npy", npy(descr, &shape, &rows));
        let moved: Vec<u8> =
            order.iter().flat_map(|&row| &rows[row_size * row..][..row_size]).copied().collect();
        let expected = npy(descr, &shape, &moved);
        for (options, keys) in [(&[][..], &*keys_path), (&["--segments", &segments], &keys_path), (&[], "-")]
        {
            let mut sort = subsweep(["sort", keys, "-o", &folder.argument("keys-out"), "--values", &values]);
            run_with(sort.args(["--values-output", &out]).args(options), &keys_file).done();
            assert!(folder.read("out") == expected, "{descr} {columns} {options:?} {keys}");
        }
        // By columns, as Fortran has them.
        let by_columns: Vec<u8> = (0..columns)
            .flat_map(|column| (0..COUNT).map(move |row| row * row_size + column * (row_size / columns)))
            .flat_map(|first| &rows[first..first + row_size / columns])
            .copied()
            .collect();
        let mut file = npy(descr, &shape, &by_columns);
        let order = file.windows(5).position(|word| word == b"False").unwrap();
        file[order..order + 5].copy_from_slice(b"True ");
        let values = folder.file("columns.npy", file);
        let mut sort =
            subsweep(["sort", &keys_path, "-o", &folder.argument("keys-out"), "--values", &values]);
        run(sort.args(["--values-output", &out])).done();
        assert!(folder.read("out") == expected, "{descr} {columns} by columns");
    }
}

#[test]
fn values_of_8_and_16_bits_move_with_their_keys() {
    let folder = Folder::new();
    let keys: Vec<u32> = random(COUNT).iter().map(|word| word % 1000).collect();
    let shape = format!("({COUNT},)");
    let keys_file = npy("<u4", &shape, &bytes(&keys));
    let keys_path = folder.file("keys.npy", &keys_file);
    let mut order: Vec<usize> = (0..COUNT).collect();
    order.sort_by_key(|&index| keys[index]);
    let kept: Vec<usize> = (0..COUNT).filter(|&index| keys[index] < 100).collect();
    let half = npy("<u4", "(3,)", &bytes(&[5, 7, 7]));
    let half = folder.file("half.npy", half);
    let segments = folder.file("starts.npy", npy("<u4", "(1,)", &bytes(&[0])));
    let out = folder.argument("out");
    for packed in PACKED {
        let elements: Vec<u64> =
            random(COUNT).iter().map(|&word| (packed.bits)(f64::from(word % 101))).collect();
        let values = folder.file("values.npy", packed.npy(&elements));
        let raw = folder.file("values", packed.bytes(&elements));
        let moved =
            |indices: &[usize]| -> Vec<u64> { indices.iter().map(|&index| elements[index]).collect() };
        let moves = |command: &[&str], values: &[&str]| {
            let mut command = subsweep(command);
            command.args(["-o", &folder.argument("keys-out"), "--values"]).args(values);
            run(command.args(["--values-output", &out])).done();
            folder.read("out")
        };
        assert!(moves(&["sort", &keys_path], &[&values]) == packed.npy(&moved(&order)), "{}", packed.name);
        // One type of either size is enough of these.
        if !["i8", "f16"].contains(&packed.name) {
            continue;
        }
        assert!(moves(&["sort", &keys_path], &[&raw]) == packed.bytes(&moved(&order)), "{}", packed.name);
        let in_segments = moves(&["sort", &keys_path, "--segments", &segments], &[&values]);
        assert!(in_segments == packed.npy(&moved(&order)), "{}", packed.name);
        let selected = moves(&["select", &keys_path, "--where", "x < 100"], &[&values]);
        assert!(selected == packed.npy(&moved(&kept)), "{}", packed.name);
        let three = folder.file("three.npy", packed.npy(&packed.encode(&[1.0, 2.0, 3.0])));
        let merged = moves(&["merge", &half, &half], &[&three, &three]);
        assert!(merged == packed.npy(&packed.encode(&[1.0, 1.0, 2.0, 3.0, 2.0, 3.0])), "{}", packed.name);
        let largest = moves(&["topk", &half, "-k", "2"], &[&three]);
        assert!(largest == packed.npy(&packed.encode(&[2.0, 3.0])), "{}", packed.name);
        // In a pipe.
        let arguments = ["sort", "-", "--values", &values, "--values-output", &out];
        run_with(&mut subsweep(arguments), &keys_file).done();
        assert!(folder.read("out") == packed.npy(&moved(&order)), "{}", packed.name);
    }
    let raw = folder.file("raw", [0; 9]);
    let command = ["sort", &half, "--values", &raw, "--values-output", &out];
    run(without_drivers(&mut subsweep(command)))
        .refused(2, "holds 9 bytes, and elements of 1, 2, 4 or 8 bytes for each of 3 of the input are taken");
}

#[test]
fn bad_input_is_refused() {
    let folder = Folder::new();
    let odd = folder.file("odd", [0; 3]);
    for (arguments, what) in [
        (
            &["sort", &odd, "--type", "f16"][..],
            "holds 3 bytes, which is not a multiple of the 2 bytes of a f16",
        ),
        (
            &["scan", &odd, "--type", "u8", "--init", "256"],
            "'256' is no u8; it is a whole number from 0 to 255",
        ),
        (
            &["scan", &odd, "--type", "i8", "--op", "xor", "--init", "-129"],
            "'-129' is no i8; it is a whole number from -128 to 127",
        ),
        (&["select", &odd, "--type", "u8", "--where", "x < 1.5"], "'1.5' is no u8"),
        (&["sort", &odd, "--type", "u8", "--bits", "0:9"], "--bits 0:9 exceeds the 8 bits of a u8"),
    ] {
        run(without_drivers(&mut subsweep(arguments))).refused(2, what);
    }
    let halves = folder.file("halves.npy", npy("<f2", "(2,)", &[0; 4]));
    run(without_drivers(&mut subsweep(["scan", &halves, "--init", "65520"])))
        .refused(2, "'65520' is no f16; it is inf, -inf or a number between -65504 and 65504");
    let view = "--op xor is of whole numbers, and the elements are f16; save a.view('<u2')";
    run(without_drivers(&mut subsweep(["scan", &halves, "--op", "xor"]))).refused(2, view);
    let bytes = folder.file("bytes.npy", npy("|u1", "(4,)", &[0; 4]));
    for (arguments, what) in [
        (
            [&bytes, "--type", "bf16"],
            "holds u8 by its .npy header, and --type says bf16; leave --type out, or save a.astype(ml_dtypes.bfloat16)",
        ),
        (
            [&folder.file("void.npy", npy("|V2", "(1,)", &[0; 2])), "--type", "bf16"],
            "save a.view(ml_dtypes.bfloat16), if it holds that",
        ),
    ] {
        run(without_drivers(subsweep(["sort"]).args(arguments))).refused(2, what);
    }
    // Rounded once, to the nearest even, as numpy rounds a number of Python.
    let first = run(&mut subsweep(["scan", &halves, "--exclusive", "--init", "1.0004882812500002"])).done();
    assert_eq!(first[128..], [1, 0x3c, 1, 0x3c]);
}
