//! Gathers: results in the format of the input, and refusals.

use super::elements::{self, PACKED};
use super::packed::indices;
use super::refusals::{refused, refused_options, sparse_file};
use super::segments::whole_numbers;
use super::*;

#[test]
fn rows_of_every_type_are_gathered() {
    let folder = Folder::new();
    let row_count = 701;
    let indices: Vec<_> = random(1009).iter().map(|word| word % row_count).collect();
    let raw_indices = folder.file("indices", bytes(&indices));
    let array_of_indices = folder.file("indices.npy", npy("<u4", "(1009,)", &bytes(&indices)));
    for element in elements::all() {
        for columns in [1, 3, 4] {
            let row_size = element.size * columns;
            let rows = &bytes(&random(row_count as usize * row_size))[..row_count as usize * row_size];
            let shape = |count: u32| match columns {
                1 => format!("({count},)"),
                _ => format!("({count}, {columns})"),
            };
            let file = npy(element.descr, &shape(row_count), rows);
            let row = |&index: &u32| &rows[index as usize * row_size..][..row_size];
            let gathered: Vec<u8> = indices.iter().flat_map(row).copied().collect();
            let expected = npy(element.descr, &shape(1009), &gathered);
            for indices in [&raw_indices, &array_of_indices] {
                let mut command = subsweep(["gather", "-", "--indices", indices]);
                let stdout = run_with(&mut command, &file).done();
                assert!(stdout == expected, "{}, {columns} columns", element.name);
            }
        }
    }
}

#[test]
fn raw_elements_are_gathered_by_indices_from_a_pipe() {
    let folder = Folder::new();
    let input = folder.file("in", bytes(&[1, 2, 3, 4, 5, 6]));
    let output = folder.argument("out");
    let mut command = subsweep(["gather", &input, "--type", "f64", "--indices", "-", "-o", &output]);
    assert_eq!(run_with(&mut command, &bytes(&[2, 0, 2])).done(), b"");
    assert_eq!(words(&folder.read("out")), [5, 6, 1, 2, 5, 6]);
    assert_eq!(words(&folder.read("in")), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_gather_without_indices_is_empty() {
    let folder = Folder::new();
    let indices = folder.file("indices", npy("<u4", "(0,)", b""));
    let grid = npy("<f4", "(2, 3)", &[0; 24]);
    let stdout = run_with(&mut subsweep(["gather", "-", "--indices", &indices]), &grid).done();
    assert_eq!(stdout, npy("<f4", "(0, 3)", b""));
    let none = npy("<u4", "(0,)", b"");
    let stdout = run_with(&mut subsweep(["gather", "-", "--indices", &indices]), &none).done();
    assert_eq!(stdout, none);
    // An empty raw file is probably the output of a program that failed.
    let empty = folder.file("empty", b"");
    let mut command = subsweep(["gather", "-", "--indices", &empty]);
    run_with(&mut command, &grid).refused(2, "is empty; give it indices");
}

#[test]
fn invalid_indices() {
    let folder = Folder::new();
    let table = folder.file("in.npy", npy("<f8", "(4, 2)", &[0; 64]));
    let files: [(&[u8], &str); 3] = [
        (&bytes(&[0, 3, 4, 9]), "index 4 at position 2 is out of range: the table has 4 rows; leave it out"),
        (&bytes(&[u32::MAX]), "index 4294967295 at position 0 is out of range"),
        (&npy("<f4", "(1,)", &[0; 4]), "elements of type <f4, and u32|i32|u64|i64 is taken"),
    ];
    for (bytes, what) in files {
        let indices = folder.file("indices", bytes);
        refused(&folder, &["gather", &table, "--indices", &indices], what);
    }
    run(&mut subsweep(["gather", "a"])).refused_with_words(2, "--indices <FILE>");
    let nowhere = folder.argument("nowhere");
    refused(&folder, &["gather", &table, "--indices", &nowhere], "cannot be opened");
    refused(&folder, &["gather", "-", "--indices", "-"], "standard input is read once");
    let zero = folder.file("zero", [0; 4]);
    let none = folder.file("none.npy", npy("<u4", "(0,)", b""));
    refused(
        &folder,
        &["gather", &none, "--indices", &zero],
        "index 0 at position 0 is out of range: the table has 0 rows",
    );
    refused(&folder, &["gather", &zero, "--indices", &zero], "is not an .npy file");
    let gather = ["gather", &table, "--indices", &zero];
    refused_options(&folder, &gather);
    refused(&folder, &[&gather[..], &["--type", "f32"]].concat(), "--type says f32");
    let mut command = subsweep(["gather", &table, "--indices", &zero, "-o", &zero]);
    run(without_drivers(&mut command)).refused(2, "is also the input");
}

#[test]
fn indices_are_whole_numbers_of_any_type() {
    let folder = Folder::new();
    let input = folder.file("in", bytes(&[10, 11, 12]));
    let gather =
        |indices: &str| run(&mut subsweep(["gather", &input, "--type", "u32", "--indices", indices]));
    for indices in whole_numbers(&[2, 0, 0]) {
        let indices = folder.file("indices", indices);
        assert_eq!(words(&gather(&indices).done()), [12, 10, 10]);
    }
    for (number, of_type) in [(-1, 0), (-1, 2), (i64::MIN, 2), (3, 1), (1 << 32, 1), (1 << 32, 2)] {
        let indices = folder.file("indices", &whole_numbers(&[1, number])[of_type]);
        let what = format!("index {number} at position 1 is out of range: the table has 3 rows");
        refused(&folder, &["gather", &input, "--type", "u32", "--indices", &indices], &what);
    }
    let floats = folder.file("floats", npy("<f8", "(1,)", &[0; 8]));
    let what = "elements of type <f8, and u32|i32|u64|i64 is taken";
    refused(&folder, &["gather", &input, "--type", "u32", "--indices", &floats], what);
}

#[test]
fn compile_only_gpus_gather_nothing() {
    let folder = Folder::new();
    let input = folder.file("in", bytes(&[3, 1, 2]));
    let arguments = ["gather", &input, "--type", "u32", "--indices", &input, "--device", "gpu:apple-m1"];
    run(without_drivers(&mut subsweep(arguments)))
        .refused(2, "gpu: devices only compile, and gather has to run; name a device of subsweep devices");
}

#[test]
fn devices_shows_the_policy() {
    let text = run(&mut subsweep(["devices", "--policies"])).text();
    assert!(text.contains("gather policy") && text.contains("  gather: workgroup "), "{text}");
}

#[test]
fn more_elements_than_this_machine_has_memory() {
    let folder = Folder::new();
    let Some(input) = sparse_file(&folder, 8 << 40) else { return };
    let output = folder.file("out", "before");
    let indices = folder.file("indices", bytes(&[0]));
    let mut command = subsweep(["gather", &input, "--type", "u32", "--indices", &indices, "-o", &output]);
    run(without_drivers(&mut command)).refused(4, "needs 8796093022208 bytes of memory");
    assert_eq!(folder.read("out"), b"before");
}

#[test]
fn more_elements_than_the_device_has_memory() {
    let swiftshader = std::env::var_os("SUBSWEEP_SWIFTSHADER_ICD");
    // SwiftShader has the smallest limit, which is the cheapest to exceed.
    let on_device = |command: &mut Command| {
        if let Some(manifest) = &swiftshader {
            command.env("VK_DRIVER_FILES", manifest).env("VK_ICD_FILENAMES", manifest);
        }
        run(command)
    };
    let stdout = on_device(&mut subsweep(["devices", "--json", "--device", "0"])).stdout;
    let devices: Value = serde_json::from_slice(&stdout).unwrap();
    let limits = &devices[0]["limits"];
    let [heap, allocation] =
        ["largest_heap_size", "max_allocation_size"].map(|limit| limits[limit].as_u64().unwrap());
    let size = heap.min(allocation) + 4;
    if size > 3 << 30 {
        let name = &devices[0]["name"];
        let _ = writeln!(std::io::stderr(), "SKIPPED: {size} bytes are too many to read, for {name}");
        return;
    }
    let folder = Folder::new();
    let Some(input) = sparse_file(&folder, size) else { return };
    let output = folder.file("out", "before");
    let indices = folder.file("indices", bytes(&[0]));
    let arguments =
        ["gather", &input, "--type", "u32", "--indices", &indices, "-o", &output, "--device", "0"];
    let ended = on_device(&mut subsweep(arguments));
    assert_eq!(ended.code, 4, "{}", ended.stderr);
    assert!(ended.stderr.contains("bytes are needed for a buffer"), "{}", ended.stderr);
    assert_eq!(folder.read("out"), b"before");
}

#[test]
fn bools_and_big_endian_files_are_taken() {
    let folder = Folder::new();
    let picks = [2_i64, 0].map(i64::to_be_bytes).concat();
    let picks = folder.file("picks.npy", npy(">i8", "(2,)", &picks));
    for (array, expected) in [
        (npy("|b1", "(3,)", &[1, 0, 0]), npy("|b1", "(2,)", &[0, 1])),
        (npy(">u2", "(3,)", &[1, 2, 3, 4, 5, 6]), npy("<u2", "(2,)", &[6, 5, 2, 1])),
    ] {
        let array = folder.file("a.npy", array);
        assert_eq!(run(&mut subsweep(["gather", &array, "--indices", &picks])).done(), expected);
    }
}

/// Of whole words, and of others.
#[test]
fn rows_of_any_size_are_moved() {
    let folder = Folder::new();
    let picks = folder.file("picks", indices([2, 0]));
    let flags = folder.file("flags", [1, 0, 1]);
    let keys = folder.file("keys", [7, 7, 8]);
    let out = folder.argument("out.npy");
    for packed in PACKED {
        for columns in [4 / packed.size, 3] {
            let size = columns * packed.size;
            let payload: Vec<u8> = (0..3 * size as u8).collect();
            let path = folder.file("in.npy", npy(packed.descr, &format!("(3, {columns})"), &payload));
            let rows = |first: usize, second: usize| {
                let rows = [&payload[size * first..][..size], &payload[size * second..][..size]].concat();
                npy(packed.descr, &format!("(2, {columns})"), &rows)
            };
            let gathered = run(&mut subsweep(["gather", &path, "--indices", &picks])).done();
            assert!(gathered == rows(2, 0), "{} columns of {}", columns, packed.name);
            let selected = run(&mut subsweep(["select", &path, "--flags", &flags])).done();
            assert!(selected == rows(0, 2), "{} columns of {}", columns, packed.name);
            if columns != 3 {
                continue;
            }
            let unique = ["select", &path, "--unique", "--by-key", &keys, "-o", &out];
            run(&mut subsweep(unique)).done();
            assert!(folder.read("out.npy") == rows(0, 2), "{} columns of {}", columns, packed.name);
        }
    }
}
