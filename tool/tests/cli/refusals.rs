//! Refusals: the exit code, one line, before a device is opened, and without loss of an existing output.

use super::*;

/// Expects a refusal of input or options without any driver; an existing output is unchanged.
#[track_caller]
pub fn refused(folder: &Folder, arguments: &[&str], what: &str) {
    let output = folder.file("out", "before");
    let before = folder.names();
    let mut command = subsweep(arguments.iter().chain(&["-o", &output]));
    run(without_drivers(&mut command)).refused(2, what);
    assert_eq!(folder.read("out"), b"before");
    assert_eq!(folder.names(), before);
}

/// Checks that a command refuses every option without a meaning for it: it has no policy of the seed, no algorithms, and
/// runs on one device.
#[track_caller]
pub fn refused_options(folder: &Folder, arguments: &[&str]) {
    let command = arguments[0];
    let with = |option: [&str; 2], what: String| refused(folder, &[arguments, &option].concat(), &what);
    for policy in ["seed", "seed-bin-by-bin"] {
        with(["--policy", policy], format!("the seed has no {command}"));
    }
    with(["--algorithm", "radix-4bit"], format!("{command} has no algorithms to choose from"));
    with(["--device", "all"], format!("{command} runs on one device"));
}

/// A manifest that is not JSON stops the loader, whatever good drivers are beside it.
#[test]
#[cfg(target_os = "linux")]
fn manifests_that_are_not_json() {
    for kind in ["icd.d", "implicit_layer.d"] {
        let folder = Folder::new();
        std::fs::create_dir_all(folder.path("vulkan").join(kind)).unwrap();
        std::fs::write(folder.path("vulkan").join(kind).join("broken.json"), "{").unwrap();
        let input = folder.file("in", bytes(&[2, 1]));
        let commands: [&[&str]; 4] =
            [&["devices"], &["sort", &input, "--type", "u32"], &["verify", "--quick"], &["tune", "scan"]];
        for arguments in commands {
            let mut command = subsweep(arguments);
            // Without the variables that name single drivers, the loader looks into all folders.
            command.env_remove("VK_DRIVER_FILES").env_remove("VK_ICD_FILENAMES");
            let ended = run(command.env("XDG_DATA_HOME", folder.path("")));
            ended.refused(3, "the Vulkan loader cannot read the manifest of a driver or a layer");
            assert!(ended.stderr.contains("VK_LOADER_DEBUG=error names it"), "{}", ended.stderr);
        }
    }
}

#[test]
fn inputs_that_are_no_table() {
    let folder = Folder::new();
    let four = bytes(&[1, 2, 3, 4]);
    let archive = |name: &[u8; 8]| [&b"PK\x03\x04\x2d\0"[..], &[0; 20], &[8, 0, 0, 0], name].concat();
    let [keys, quoted] = [b"keys.npy", b"it's.npy"].map(archive);
    let files: &[(&[u8], &str)] = &[
        (&npy("<u4", "(4,)", &four[..15]), "ended after 143 of 144 bytes"),
        (&npy("<c8", "(2,)", &four), "elements of type <c8, and u32"),
        (&npy("<u4", "(1, 2, 2)", &four), "3 dimensions"),
        (&four, "is not an .npy file"),
        (
            &keys,
            "is an archive of arrays (.npz); save one of them, numpy.save('a.npy', numpy.load('a.npz')['keys'])",
        ),
        (
            &quoted,
            "is an archive of arrays (.npz); save one of them, numpy.save('a.npy', list(numpy.load('a.npz').values())[0])",
        ),
    ];
    for (bytes, what) in files {
        let input = folder.file("in", bytes);
        for command in ["scan", "sort"] {
            refused(&folder, &[command, &input], what);
        }
        if what.starts_with("is an archive") {
            for command in ["scan", "sort", "reduce"] {
                refused(&folder, &[command, &input, "--type", "u32"], what);
            }
        }
        // The same from a pipe, whose length is unknown.
        let mut command = subsweep(["scan", "-"]);
        run_with(without_drivers(&mut command), bytes).refused(2, what);
    }
}

#[test]
fn raw_inputs_of_a_size_that_does_not_fit_the_type() {
    let folder = Folder::new();
    let input = folder.file("in", [0; 15]);
    refused(&folder, &["scan", &input, "--type", "u32"], "not a multiple of the 4 bytes of a u32");
    refused(&folder, &["sort", &input, "--type", "f64"], "not a multiple of the 8 bytes of a f64");
    let array = folder.file("in.npy", npy("<u4", "(1,)", &[0; 4]));
    refused(&folder, &["sort", &array, "--type", "f32"], "--type says f32");
}

#[test]
fn inputs_that_cannot_be_read() {
    let folder = Folder::new();
    let nowhere = folder.argument("nowhere");
    refused(&folder, &["scan", &nowhere], "cannot be opened");
    std::fs::create_dir(folder.path("directory")).unwrap();
    let directory = folder.argument("directory");
    refused(&folder, &["scan", &directory, "--type", "u32"], "is a directory");
}

#[test]
fn tables_of_a_shape_that_the_command_does_not_take() {
    let folder = Folder::new();
    let input = folder.file("in", npy("<u4", "(2, 65)", &[0; 520]));
    refused(&folder, &["scan", &input], "has 65 columns, and 1 to 64 are scanned");
    let what = "has 2 dimensions, shape (2, 65), and one is sorted; --axis 1 sorts each row; for columns, save \
                numpy.ascontiguousarray(a.T)";
    refused(&folder, &["sort", &input], what);
    refused(&folder, &["sort", &input, "--segments", &input], what);
    let column = folder.file("column", npy("<u4", "(3, 1)", &[0; 12]));
    refused(&folder, &["sort", &column], "has 2 dimensions, shape (3, 1), and one is taken; save a.reshape(-1)");
    let keys = folder.file("keys", npy("<u4", "(2,)", &[0; 8]));
    for (options, of_another_count) in [
        (&[][..], "holds 3 elements for 2 of the input; give one for each"),
        (&["--segments", &keys], "has shape (3, 2), and the keys (2,); give one value for each key"),
    ] {
        let sort = |values: &str| {
            let given = ["sort", &keys, "--values", values, "--values-output", &folder.argument("moved")];
            [&given.map(str::to_owned)[..], &options.iter().map(ToString::to_string).collect::<Vec<_>>()].concat()
        };
        let refused = |values: &str, what| refused(&folder, &sort(values).iter().map(String::as_str).collect::<Vec<_>>(), what);
        let cube = folder.file("cube", npy("<u4", "(2, 65, 1)", &[0; 520]));
        refused(&cube, "has 3 dimensions, shape (2, 65, 1), and a value is a number or a row for each key; leave out --values, \
                        sort with --argsort, and take the values");
        let long = folder.file("long", npy("<u4", "(2, 4097)", &[0; 8 * 4097]));
        refused(&long, "--values has rows of 16388 bytes, and up to 16384 are moved; write --argsort, and take them at its indices");
        let rows = folder.file("rows", npy("<u4", "(3, 2)", &[0; 24]));
        refused(&rows, of_another_count);
    }
}

#[test]
fn operators_of_unsupported_types() {
    let folder = Folder::new();
    let floats = folder.file("in.npy", npy("<f8", "(2,)", &[0; 16]));
    for operator in ["and", "or", "xor"] {
        let what = format!("--op {operator} is of whole numbers, and the elements are f64");
        refused(&folder, &["scan", &floats, "--op", operator], &what);
    }
    let raw = folder.file("in", [0; 8]);
    refused(&folder, &["scan", &raw, "--type", "f32", "--op", "xor"], "the elements are f32");
    let seed = ["scan", &raw, "--policy", "seed", "--type"];
    refused(&folder, &[&seed[..], &["i32"]].concat(), "--policy seed sums up u32 in up to 4 columns");
    refused(&folder, &[&seed[..], &["u32", "--op", "max"]].concat(), "--policy seed sums up u32");
}

#[test]
fn invalid_segments_of_sorts() {
    let folder = Folder::new();
    let input = folder.file("in.npy", npy("<u4", "(4,)", &[0; 16]));
    let files: [(&[u8], &str); 3] = [
        (&bytes(&[0, 3, 2]), "segments are not ascending: 2 at index 2 comes after 3; sort them"),
        (&bytes(&[0, 5]), "a segment begins at 5, and there are 4 keys"),
        (b"", "is empty; leave out --segments to sort all at once"),
    ];
    for (bytes, what) in files {
        let segments = folder.file("segments", bytes);
        let arguments = ["sort", &input, "--segments", &segments];
        refused(&folder, &arguments, what);
        refused(&folder, &[&arguments[..], &["--argsort"]].concat(), what);
    }
    let starts = folder.file("starts", [0; 4]);
    let arguments = ["sort", &input, "--segments", &starts];
    for seed in ["seed", "seed-bin-by-bin"] {
        let seed = [&arguments[..], &["--policy", seed]].concat();
        refused(&folder, &seed, "the seed has no --segments");
    }
    let algorithm = [&arguments[..], &["--algorithm", "radix-4bit"]].concat();
    refused(&folder, &algorithm, "leave out one of --segments and --algorithm radix-4bit");
    refused(&folder, &["sort", "-", "--segments", "-"], "name a file for --segments");
    let output = folder.argument("values_out");
    let values = ["sort", &input, "--values", "-", "--values-output", &output, "--segments", "-"];
    refused(&folder, &values, "name a file for --segments");
}

#[test]
fn invalid_initial_values_and_segments() {
    let folder = Folder::new();
    let input = folder.file("in.npy", npy("<u4", "(4,)", &[0; 16]));
    let floats = folder.file("floats.npy", npy("<f4", "(4,)", &[0; 16]));
    for (input, init, what) in [
        (&input, "-1", "'-1' is no u32; it is a whole number from 0 to 4294967295"),
        (&input, "1.5", "'1.5' is no u32"),
        (&input, "4294967296", "'4294967296' is no u32"),
        (&input, "", "'' is no u32"),
        (&floats, "one", "'one' is no f32; it is a number, such as 1.5, -2e3 or inf"),
        (&floats, "1e39", "'1e39' is no f32"),
    ] {
        refused(&folder, &["scan", input, "--init", init], what);
    }
    let files: [(&[u8], &str); 6] = [
        (&bytes(&[0, 3, 2]), "segments are not ascending: 2 at index 2 comes after 3; sort them"),
        (&npy("<u4", "(2,)", &bytes(&[0, 5])), "a segment begins at 5, and there are 4 rows"),
        (&npy("<u4", "(2, 1)", &bytes(&[0, 1])), "2 dimensions"),
        (&npy("<f4", "(1,)", &[0; 4]), "elements of type <f4, and u32|i32|u64|i64 is taken"),
        (b"", "is empty; leave out --segments to scan all at once"),
        (&[0; 3], "not a multiple of the 4 bytes of a u32"),
    ];
    for (bytes, what) in files {
        let segments = folder.file("segments", bytes);
        refused(&folder, &["scan", &input, "--segments", &segments], what);
    }
    let nowhere = folder.argument("nowhere");
    refused(&folder, &["scan", &input, "--segments", &nowhere], "cannot be opened");
    refused(&folder, &["scan", "-", "--segments", "-"], "standard input is read once");
    for (option, value) in [("--reverse", None), ("--init", Some("1")), ("--segments", Some("segments"))] {
        let seed = [&["scan", &input, "--policy", "seed", option][..], value.as_slice()].concat();
        refused(&folder, &seed, &format!("--policy seed has no {option}"));
    }
    let starts = folder.file("starts", [0; 4]);
    for algorithm in ["chained", "scan-then-propagate", "strided", "reduce-then-scan/sklansky"] {
        let arguments = ["scan", &input, "--segments", &starts, "--algorithm", algorithm];
        refused(&folder, &arguments, &format!("--algorithm {algorithm}"));
    }
}

#[test]
fn a_negative_axis_is_a_value() {
    let folder = Folder::new();
    let input = folder.file("table.npy", npy("<u4", "(1, 2)", &[0; 8]));
    for command in ["sort", "scan", "reduce", "diff"] {
        refused(&folder, &[command, &input, "--axis", "-1"], "invalid value '-1' for '--axis <AXIS>'");
    }
}

#[test]
fn values_that_do_not_match_their_keys() {
    let folder = Folder::new();
    let keys = folder.file("keys.npy", npy("<u4", "(4,)", &[0; 16]));
    let values_output = folder.file("values_out", "before");
    let with = |values: &str, what: &str| {
        let arguments = ["sort", &keys, "--values", values, "--values-output", &values_output];
        refused(&folder, &arguments, what);
        assert_eq!(folder.read("values_out"), b"before");
    };
    with(&folder.file("values", npy("<u4", "(3,)", &[0; 12])), "holds 3 elements for 4 of the input");
    with(
        &folder.file("values", [0; 12]),
        "holds 12 bytes, and elements of 1, 2, 4 or 8 bytes for each of 4 of the input are taken",
    );
    let arguments = ["sort", &keys, "--values", "-", "--values-output", &values_output];
    for (size, what) in [(12, "holds 12 bytes, and"), (36, "holds 36 bytes, and")] {
        run_with(without_drivers(&mut subsweep(arguments)), &vec![0; size]).refused(2, what);
    }
    with(&folder.argument("nowhere"), "cannot be opened");
    assert_eq!(folder.read("values_out"), b"before");
}

#[test]
fn invalid_options_of_a_sort() {
    let folder = Folder::new();
    let keys = folder.file("keys.npy", npy("<u4", "(4,)", &[0; 16]));
    let values = folder.file("values", [0; 16]);
    let wide = folder.file("wide.npy", npy("<f8", "(2,)", &[0; 16]));
    let other = folder.argument("other");
    let output = folder.argument("out");
    let cases: [(&[&str], &str); 9] = [
        (&[&keys, "--bits", "0:33"], "--bits 0:33 exceeds the 32 bits of a u32"),
        (&[&values, "--type", "f32", "--bits", "8:64"], "--bits 8:64 exceeds the 32 bits of a f32"),
        (&[&keys, "--values", &values], "name a file with --values-output"),
        (&[&keys, "--values-output", &other], "name a file with --values"),
        (&[&keys, "--argsort", "--values", &values], "--argsort makes the values"),
        (&[&keys, "--argsort", "--values-output", &other], "--argsort makes the values"),
        (&["-", "--values", "-", "--values-output", &other], "standard input is read once"),
        (&[&keys, "--values", &values, "--values-output", &values], "is also the input"),
        (&[&keys, "--values", &values, "--values-output", &keys], "is also the input"),
    ];
    for (arguments, what) in cases {
        refused(&folder, &[&["sort"], arguments].concat(), what);
    }
    // A valid command fails only because there is no driver.
    let mut command = subsweep(["sort", &wide, "--bits", "33:64", "-o", &output]);
    run(without_drivers(&mut command)).refused(3, "no Vulkan device");

    let pairs = ["sort", &keys, "--values", &values, "--values-output"];
    let ended = run(without_drivers(&mut subsweep(pairs.iter().chain(&["-"]))));
    ended.refused(2, "standard output is written once");
    let mut command = subsweep(pairs.iter().chain(&[&*folder.argument("./out"), "-o", &output]));
    run(without_drivers(&mut command)).refused(2, "-o and --values-output name the same file");
    // One pipe for both, without a reader.
    #[cfg(unix)]
    {
        let pipe = folder.argument("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let mut command = subsweep(pairs.iter().chain(&[&*pipe, "-o", &pipe]));
        run(without_drivers(&mut command)).refused(2, "-o and --values-output name the same file");
        let raw = ["sort", "--type", "u32", &*pipe, "-o"];
        let mut command = subsweep(raw.iter().chain(&[&*pipe]));
        run(without_drivers(&mut command)).refused(2, "INPUT and -o name the same pipe");
        let mut command = subsweep(raw.iter().chain(&["-", "--values", &pipe, "--values-output", &other]));
        run(without_drivers(&mut command)).refused(2, "INPUT and --values name the same pipe");
        std::fs::remove_file(&pipe).unwrap();
        let to_null = ["/dev/null", "-o", "/dev/null"];
        run(&mut subsweep(pairs.iter().chain(&to_null))).done();
    }
    let nowhere = folder.argument("nowhere/values");
    folder.file("out", "before");
    let mut command = subsweep(pairs.iter().chain(&[&*nowhere, "-o", &output]));
    run(without_drivers(&mut command)).refused(2, "no file can be made in its directory");
    run(without_drivers(&mut subsweep(pairs.iter().chain(&["", "-o", &output]))))
        .refused(2, "is no path; name a file with --values-output");
    assert_eq!(folder.read("out"), b"before");
    assert_eq!(folder.names(), ["keys.npy", "out", "values", "wide.npy"]);
}

#[test]
fn options_that_contradict_each_other() {
    let folder = Folder::new();
    let input = folder.file("in", bytes(&[1, 2]));
    let cases: [(&[&str], &str); 7] = [
        (&["scan", "--policy", "seed", "--exclusive"], "--policy seed scans inclusively only"),
        (&["scan", "--policy", "seed-bin-by-bin"], "a scan has no bins to count"),
        (
            &["sort", "--policy", "seed-bin-by-bin", "--algorithm", "onesweep"],
            "--policy seed-bin-by-bin has no onesweep; leave out --policy or --algorithm",
        ),
        (&["scan", "--algorithm", "radix-4bit"], "scan has reduce-then-scan"),
        (
            &["sort", "--algorithm", "reduce-then-scan"],
            "sort has onesweep, radix-8bit, radix-4bit, radix-2bit, single-workgroup",
        ),
        (&["scan", "--device", "all"], "scan runs on one device"),
        (&["sort", "--device", "all"], "sort runs on one device"),
    ];
    for (options, what) in cases {
        refused(&folder, &[options, &[&input, "--type", "u32"]].concat(), what);
    }
    let mut command = subsweep(["sort", &input, "--type", "u32"]);
    run(without_drivers(command.env("SUBSWEEP_DEVICE", "ALL"))).refused(2, "and SUBSWEEP_DEVICE says all");
    let table = folder.file("table.npy", npy("<u4", "(2, 2)", &[0; 16]));
    refused(&folder, &["scan", &table, "--algorithm", "chained"], "chained: it takes one column");
    for algorithm in ["reduce-then-scan/brent-kung", "scan-then-propagate", "block-doubling", "strided"] {
        let of_u32 = ["scan", &input, "--type", "u32", "--algorithm", algorithm];
        let what = format!("--algorithm {algorithm}: it sums up u32 in one column only");
        refused(&folder, &["scan", &table, "--algorithm", algorithm], &what);
        refused(&folder, &["scan", &input, "--type", "i32", "--algorithm", algorithm], &what);
        refused(&folder, &[&of_u32[..], &["--op", "max"]].concat(), &what);
        let what = format!("--policy seed has no {algorithm}; leave out --policy or --algorithm");
        refused(&folder, &[&of_u32[..], &["--policy", "seed"]].concat(), &what);
    }
    for algorithm in ["block-doubling", "strided"] {
        let exclusive = ["scan", &input, "--type", "u32", "--exclusive", "--algorithm", algorithm];
        refused(&folder, &exclusive, "in one column only, inclusively");
    }
}

#[test]
fn invalid_command_lines() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "Usage: subsweep"),
        (&["--device", "0"], "a command is missing"),
        (&["devices", "--device", ""], "--device is empty"),
        (&["devices", "--device", " "], "names no device"),
        (&["devices", "--device=driver:"], "names no device"),
        (&["tidy"], "unrecognized subcommand 'tidy'"),
        (&["scan"], "<INPUT>"),
        (&["scan", "a", "b"], "unexpected argument 'b'"),
        (&["scan", "a", "--op", "sub"], "'sub'"),
        (&["scan", "a", "--type", "u128"], "'u128'"),
        (&["scan", "a", "--memory", "-1"], "'-1' for '--memory <SIZE>': it is a number of bytes"),
        (&["sort", "a", "--memory", "-512M"], "'-512M' for '--memory <SIZE>': it is a number of bytes"),
        (&["verify", "--repeat", "-1"], "-1 is not in 1..=10000"),
        (&["verify", "--large", "-1"], "'-1' for '--large [<N>]': give a whole number, not negative"),
        (&["inspect", "--spirv", "a", "--lanes", "-1"], "-1 is not in 0..=4294967295"),
        (&["scratch", "--count", "-1"], "'-1' for '--count <N>': give a whole number, not negative"),
        (&["tune", "sort", "--count", "-1"], "a number from 1 to 2^30"),
        (&["tune", "sort", "--budget", "-1"], "'-1' for '--budget <SECONDS>': "),
        (&["tune", "sort", "--values", "-1"], "'-1' for '--values <BYTES>': "),
        (&["sort", "a", "--exclusive"], "unexpected argument '--exclusive'"),
        (&["sort", "a", "--bits", "16:8"], "0 <= B <= E <= 64"),
        (&["sort", "a", "--bits", "0:65"], "0 <= B <= E <= 64"),
        (&["sort", "a", "--algorithm", "bogo"], "radix-4bit, radix-2bit, single-workgroup (sort)"),
        (&["scan", "a", "--algorithm", "reduce-then-scan/bogo"], "block-doubling, strided (scan)"),
        (&["bench", "--preset", "bogo"], "'bogo'"),
        (&["verify", "--preset", "textbook"], "unexpected argument '--preset'"),
        (&["devices", "--policy", "best"], "'best'"),
        (&["verify", "--quick", "--full"], "cannot be used with"),
    ];
    for (arguments, what) in cases {
        let ended = run(without_drivers(&mut subsweep(*arguments)));
        assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, b"", "{arguments:?}");
        assert!(ended.stderr.contains(what), "{arguments:?}: {}", ended.stderr);
        // Help without arguments has many lines.
        let is_refusal = !arguments.is_empty();
        assert!(!is_refusal || ended.stderr.lines().count() == 1, "{arguments:?}: {}", ended.stderr);
        assert_eq!(ended.stderr.starts_with("subsweep: "), is_refusal, "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = Folder::new();
    let input = folder.file("in", bytes(&[1, 2]));
    std::fs::create_dir(folder.path("directory")).unwrap();
    let outputs = [
        ("directory", "is a directory"),
        ("in", "is also the input"),
        ("directory/../in", "is also the input"),
        ("nowhere/out", "no file can be made in its directory (no such directory); check that it exists"),
        ("nowhere/", "nowhere/: ends with / and names no file; name a file in it"),
        ("directory/", "is a directory"),
        // To Windows there is no such directory.
        ("in/out", if cfg!(windows) { "no such directory" } else { "cannot be reached" }),
    ];
    for (output, what) in outputs {
        let output = folder.argument(output);
        let mut command = subsweep(["scan", &input, "--type", "u32", "-o", &output]);
        run(without_drivers(&mut command)).refused(2, what);
    }
    run(without_drivers(&mut subsweep(["scan", &input, "--type", "u32", "-o", ""])))
        .refused(2, "is no path; name a file with -o");
    run(without_drivers(&mut subsweep(["verify", "--json", ""])))
        .refused(2, "is no path; name a file with --json");
    assert_eq!(words(&folder.read("in")), [1, 2]);
    assert_eq!(folder.names(), ["directory", "in"]);
}

#[test]
fn missing_devices() {
    let folder = Folder::new();
    let input = folder.file("in", bytes(&[1, 2]));
    let output = folder.file("out", "before");
    let arguments = ["scan", &input, "--type", "u32", "-o", &output];
    run(without_drivers(&mut subsweep(arguments))).refused(3, "no Vulkan device; install a driver");
    run(without_drivers(&mut subsweep(arguments))).refused(3, "or correct VK_DRIVER_FILES");
    for device in ["99", "no such name", "uuid:0123", "driver:none"] {
        let mut command = subsweep(arguments.iter().chain(&["--device", device]));
        run(&mut command).refused(3, &format!("no Vulkan device matches '{device}'"));
    }
    let mut command = subsweep(arguments.iter().chain(&["--device", "\x1b[31m\nred"]));
    run(&mut command).refused(3, r"no Vulkan device matches '\u{1b}[31m\nred'");
    for command in ["devices", "verify", "bench", "inspect"] {
        let ended = run(without_drivers(&mut subsweep([command])));
        ended.refused(3, "no Vulkan device; install a driver");
    }
    assert_eq!(folder.read("out"), b"before");
    assert_eq!(folder.names(), ["in", "out"]);
}

/// A sparse file of this length, which needs no disk space. A file system without sparse files is reported as a skip.
pub fn sparse_file(folder: &Folder, size: u64) -> Option<String> {
    let path = folder.file("sparse", b"");
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    match file.set_len(size) {
        Ok(()) => Some(path),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "SKIPPED: no sparse file of {size} bytes here: {error}");
            None
        }
    }
}

#[test]
fn more_elements_than_an_option_supports() {
    let folder = Folder::new();
    let Some(input) = sparse_file(&folder, 4 << 32) else { return };
    let segments = folder.file("segments", bytes(&[0]));
    let mut command = subsweep(["sort", &input, "--type", "u32", "-o", &folder.argument("out")]);
    let what = "--segments takes up to 4294967295 keys, and there are more; leave it out";
    run(without_drivers(command.args(["--segments", &segments]))).refused(2, what);
    assert_eq!(folder.names(), ["segments", "sparse"]);
}
