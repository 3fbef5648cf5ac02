//! `subsweep-mpi` on ranks of this machine: every rank on lavapipe, with a thread of its own.
//!
//! A run for each number of ranks has all cases of `verify`; further ones have files, and a failure each.

#![cfg(unix)]

#[allow(
    dead_code,
    reason = "for what drivers need in their environment; the rest is of tests with a process a row"
)]
#[path = "../../tests/common/children.rs"]
mod children;
#[allow(dead_code, reason = "not every driver is needed by name")]
#[path = "../../tests/common/software.rs"]
mod software;

use std::ffi::OsString;
use std::fs;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Elements of a file, which no number of ranks divides.
const COUNT: usize = 50_021;

/// The variables that select a driver.
type Variables = Vec<(&'static str, OsString)>;

fn lavapipe() -> Option<Variables> {
    found(software::lavapipe())
}

/// The environment of a driver; none where it is missing and not required.
fn found(environment: software::Environment) -> Option<Variables> {
    match environment {
        Ok(environment) => Some(environment),
        Err(missing) => {
            assert!(!missing.is_failure, "{}", missing.what);
            eprintln!("SKIPPED: {}", missing.what);
            None
        }
    }
}

/// Runs `mpirun` in a folder with these groups of ranks: their number, and the command of each.
fn mpirun(folder: &TempDir, groups: &[(usize, &[&str])]) -> Option<Output> {
    mpirun_with(folder, groups, lavapipe()?)
}

fn mpirun_with(
    folder: &TempDir,
    groups: &[(usize, &[&str])],
    environment: Vec<(&'static str, OsString)>,
) -> Option<Output> {
    // Far more than any takes, so that ranks which wait for each other are found.
    let limit = Duration::from_secs(if children::is_full() { 3_600 } else { 300 });
    let mut command = Command::new("mpirun");
    command.current_dir(folder.path()).envs(environment);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // For Open MPI: more ranks than cores, which leave them to others while they wait; root is whom containers run as. A folder of
    // sessions that two runs make at the same time fails one of them.
    command.env("OMPI_MCA_orte_tmpdir_base", folder.path());
    for (name, value) in [
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("LP_NUM_THREADS", "1"),
    ] {
        command.env(name, value);
    }
    for (i, (count, arguments)) in groups.iter().enumerate() {
        if i > 0 {
            command.arg(":");
        }
        // As the documentation has it, the program is on the path.
        let program = |argument: &&str| argument.replace("subsweep-mpi", env!("CARGO_BIN_EXE_subsweep-mpi"));
        command.args(["-n", &count.to_string()]).args(arguments.iter().map(program));
    }
    let start = Instant::now();
    let child = command.spawn().expect("mpirun starts; tools/setup mpi installs it");
    let id = child.id().to_string();
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(child.wait_with_output()));
    let Ok(output) = end.recv_timeout(limit) else {
        // mpirun ends its ranks.
        let _ = Command::new("kill").arg(&id).status();
        panic!("{groups:?} has not ended within {limit:?}");
    };
    eprintln!("{groups:?}: {:.1} s", start.elapsed().as_secs_f64());
    Some(output.expect("mpirun ends"))
}

fn words(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i.wrapping_mul(0x9e37_79b9).rotate_left(11)).collect()
}

/// An `.npy` file.
fn npy(descr: &str, shape: &str, words: &[u32]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes
}

/// A folder with inputs.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: Vec<u8>| fs::write(folder.path().join(name), bytes).unwrap();
    fs::create_dir(folder.path().join("other")).unwrap();
    write("other/keys.npy", npy("<u4", &format!("({COUNT},)"), &words(COUNT)));
    write("keys.npy", npy("<u4", &format!("({COUNT},)"), &words(COUNT)));
    write(
        "few.npy",
        npy("<i8", &format!("({COUNT},)"), &words(2 * COUNT).iter().map(|word| word % 3).collect::<Vec<_>>()),
    );
    write("ids.npy", npy("<u8", &format!("({COUNT},)"), &words(2 * COUNT)));
    write("table.npy", npy("<i4", &format!("({COUNT}, 3)"), &words(3 * COUNT)));
    // Segments, of which some begin where the rows of ranks do.
    let starts = [0, 5, 16_673, 16_674, 33_347, 33_348, 40_000, COUNT as u32];
    write("starts.npy", npy("<u4", "(8,)", &starts));
    write("raw", words(COUNT).iter().flat_map(|word| word.to_le_bytes()).collect());
    write("empty.npy", npy("<f4", "(0,)", &[]));
    folder
}

fn verified(ranks: usize, arguments: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let arguments: Vec<_> = ["subsweep-mpi", "verify"].iter().chain(arguments).copied().collect();
    let Some(output) = mpirun(&folder, &[(ranks, &arguments)]) else { return };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains(&format!("results over {ranks} ranks are right")), "{stderr}");
}

#[test]
fn results_over_ranks_are_those_of_one_device() {
    // The files of other tests go over three ranks.
    for ranks in [1, 2, 5] {
        verified(ranks, &["--quick"]);
    }
}

#[test]
fn results_over_many_ranks_are_those_of_one_device() {
    if !children::is_full() {
        return;
    }
    for ranks in [3, 8, 16] {
        verified(ranks, &["--quick"]);
    }
    verified(2, &[]);
}

#[test]
fn files_are_those_of_one_device() {
    let folder = folder();
    let cases: [(&str, &str); 8] = [
        ("sort keys.npy -o", ""),
        ("sort few.npy --values ids.npy --descending -o", "--values-output"),
        ("sort few.npy --argsort --bits 1:2 -o", ""),
        ("sort raw --type f32 -o", ""),
        ("sort empty.npy -o", ""),
        ("scan table.npy --segments starts.npy --init 9 --exclusive -o", ""),
        ("scan table.npy --segments starts.npy --reverse --op max -o", ""),
        ("scan raw --type u32 -o", ""),
    ];
    for (arguments, second) in cases {
        let of = |program: &str| -> Vec<String> {
            let mut words: Vec<_> = arguments.split(' ').map(str::to_owned).collect();
            words.push(format!("{program}.out"));
            if !second.is_empty() {
                words.extend([second.to_owned(), format!("{program}.second")]);
            }
            words
        };
        let Some(environment) = lavapipe() else { return };
        let mut single = Command::new(env!("CARGO_BIN_EXE_subsweep"));
        let single = single.current_dir(folder.path()).envs(environment).args(of("single")).output().unwrap();
        assert!(single.status.success(), "{}", String::from_utf8_lossy(&single.stderr));
        let ranks = of("ranks");
        let ranks: Vec<_> = std::iter::once("subsweep-mpi").chain(ranks.iter().map(String::as_str)).collect();
        let Some(output) = mpirun(&folder, &[(3, &ranks)]) else { return };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for name in if second.is_empty() { &["out"][..] } else { &["out", "second"] } {
            let read = |program: &str| fs::read(folder.path().join(format!("{program}.{name}"))).unwrap();
            assert!(read("single") == read("ranks"), "{arguments}: {name}");
        }
    }
}

#[test]
fn what_ranks_do_not_take_is_refused() {
    let folder = folder();
    fs::write(folder.path().join("big.npy"), npy(">u4", "(8,)", &words(8))).unwrap();
    for (arguments, what) in [
        (&["sort", "big.npy"][..], "is big-endian or stored by columns, and ranks read slices of it; save"),
        (&["scan", "big.npy"], "is big-endian or stored by columns, and ranks read slices of it; save"),
        (&["scan", "keys.npy", "--by-key", "keys.npy"], "leave out --by-key, or take subsweep"),
    ] {
        let arguments: Vec<_> =
            ["subsweep-mpi"].iter().chain(arguments).chain(&["-o", "out"]).copied().collect();
        let Some(output) = mpirun(&folder, &[(2, &arguments)]) else { return };
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(what), "{stderr}");
        assert!(!folder.path().join("out").exists());
    }
}

/// Every `$ mpirun -n 8 subsweep-mpi …` of these pages, over three ranks.
#[test]
fn commands_of_the_documentation_work() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, words: &[u32]| {
        let bytes = npy("<u4", &format!("({},)", words.len()), words);
        fs::write(folder.path().join(name), bytes).unwrap();
    };
    write("keys.npy", &[3, 1, 4, 1, 5, 9]);
    write("ids.npy", &[10, 11, 12, 13, 14, 15]);
    write("values.npy", &[2, 7, 1, 8, 2]);
    write("starts.npy", &[0, 3]);
    for page in [include_str!("../../README.md"), include_str!("../../docs/cluster.md")] {
        let commands: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("$ mpirun -n 8 ")).collect();
        assert!(!commands.is_empty() && commands.len() == page.matches("$ mpirun").count());
        // Another test verifies.
        for command in commands.into_iter().filter(|command| !command.contains(" verify ")) {
            let Some(output) = mpirun(&folder, &[(3, &command.split(' ').collect::<Vec<_>>())]) else {
                return;
            };
            assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    for (name, words) in [
        ("sorted.npy", &[1u32, 1, 3, 4, 5, 9][..]),
        ("by-key.npy", &[1, 1, 3, 4, 5, 9]),
        ("ids-by-key.npy", &[11, 13, 10, 12, 14, 15]),
        ("order.npy", &[1, 3, 0, 2, 4, 5]),
        ("suffix.npy", &[7, 7, 1, 8, 2]),
    ] {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(fs::read(folder.path().join(name)).unwrap().ends_with(&bytes), "{name}");
    }
}

/// Runs two ranks, the second of which fails: all end soon with `code`, one line names the rank, and nothing is written.
fn fails(first: &[&str], second: &[&str], code: i32, line: &str) {
    let folder = folder();
    fs::write(folder.path().join("out"), "before").unwrap();
    // Zeros, of which a part takes more than a limit of a file's size.
    fs::File::create(folder.path().join("large")).unwrap().set_len(64 << 20).unwrap();
    // More, whose sort takes seconds.
    fs::File::create(folder.path().join("larger")).unwrap().set_len(256 << 20).unwrap();
    let names = || {
        let mut names: Vec<_> =
            folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let start = Instant::now();
    let Some(output) = mpirun(&folder, &[(1, first), (1, second)]) else { return };
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    let of_program: Vec<_> = stderr
        .lines()
        .filter(|line| line.starts_with("subsweep: ") && !line.contains(" on device "))
        .collect();
    if line.is_empty() {
        assert_eq!(of_program, [""; 0]);
    } else {
        assert!(of_program.len() == 1 && of_program[0].starts_with("subsweep: rank 1 of 2 on "), "{stderr}");
        assert!(of_program[0].contains(line), "{stderr}");
    }
    assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"before");
    assert_eq!(names(), before);
}

#[test]
fn a_missing_input_of_one_rank_ends_all() {
    let sort = |input| ["subsweep-mpi", "sort", input, "-o", "out"];
    fails(&sort("keys.npy"), &sort("missing.npy"), 2, "missing.npy: cannot be opened");
}

#[test]
fn other_arguments_of_one_rank_end_all() {
    let sort = |input| ["subsweep-mpi", "sort", input, "-o", "out"];
    // As many elements of one type, but raw.
    let raw = ["subsweep-mpi", "sort", "raw", "-o", "out", "--type", "u32"];
    fails(&sort("keys.npy"), &raw, 2, "its arguments or its input differ from rank 0's");
}

#[test]
fn another_command_of_one_rank_ends_all() {
    let sort = ["subsweep-mpi", "sort", "keys.npy", "-o", "out"];
    let differs = "its arguments or its input differ from rank 0's";
    fails(&sort, &["subsweep-mpi", "--version"], 2, differs);
    fails(&sort, &["subsweep-mpi", "scan", "keys.npy", "-o", "out"], 2, differs);
}

#[test]
fn another_input_of_one_rank_ends_all() {
    let command = ["subsweep-mpi", "sort", "keys.npy", "-o", "out"];
    // The same bytes, in a file of another folder.
    let elsewhere = ["sh", "-c", "cd other && exec \"$0\" \"$@\""].into_iter().chain(command);
    fails(&command, &elsewhere.collect::<Vec<_>>(), 2, "its arguments or its input differ from rank 0's");
}

#[test]
fn a_missing_device_of_one_rank_ends_all() {
    let sort = ["subsweep-mpi", "sort", "keys.npy", "-o", "out"];
    let other = ["env", "SUBSWEEP_DEVICE=voodoo", "subsweep-mpi", "sort", "keys.npy", "-o", "out"];
    fails(&sort, &other, 3, "no Vulkan device matches 'voodoo'");
}

#[test]
fn too_little_memory_of_one_rank_ends_all() {
    let scan = ["subsweep-mpi", "scan", "keys.npy", "-o", "out"];
    let limited = ["subsweep-mpi", "scan", "keys.npy", "-o", "out", "--memory", "1M"];
    fails(&scan, &limited, 2, "--memory 1048576 is too little");
}

#[test]
fn a_failed_write_of_one_rank_ends_all() {
    let command = ["subsweep-mpi", "scan", "large", "--type", "u32", "-o", "out"];
    let limited = "ulimit -f 81920; exec \"$0\" \"$@\"";
    let limited: Vec<_> = ["sh", "-c", limited].into_iter().chain(command).collect();
    fails(&command, &limited, 2, "raise the limit (ulimit -f), or name another file");
}

#[test]
fn a_killed_rank_ends_the_job() {
    let command = ["subsweep-mpi", "sort", "larger", "--type", "u64", "-o", "out"];
    let killed = "(sleep 0.7; kill -9 $$) & exec \"$0\" \"$@\"";
    let killed: Vec<_> = ["sh", "-c", killed].into_iter().chain(command).collect();
    fails(&command, &killed, 137, "");
}

#[test]
fn ranks_of_a_node_take_the_devices_that_are_listed() {
    let Some((lavapipe, swiftshader)) = found(software::lavapipe()).zip(found(software::swiftshader()))
    else {
        return;
    };
    // Both drivers: their manifests, in the variables that have one each.
    let mut environment = lavapipe.clone();
    for (name, value) in &mut environment {
        if let Some((_, other)) =
            swiftshader.iter().find(|(other, _)| other == name && name.starts_with("VK_"))
        {
            value.push(":");
            value.push(other);
        }
    }
    let folder = folder();
    let command = ["subsweep-mpi", "sort", "keys.npy", "-o", "out", "--device", "llvmpipe,swiftshader"];
    let Some(output) = mpirun_with(&folder, &[(3, &command)], environment) else { return };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    for (rank, name) in ["llvmpipe", "SwiftShader", "llvmpipe"].into_iter().enumerate() {
        let start = format!("subsweep: rank {rank} of 3 on device ");
        let line = stderr.lines().find(|line| line.starts_with(&start));
        assert!(line.is_some_and(|line| line.contains(name)), "{stderr}");
    }
    let mut sorted = words(COUNT);
    sorted.sort_unstable();
    assert!(fs::read(folder.path().join("out")).unwrap() == npy("<u4", &format!("({COUNT},)"), &sorted));
}
