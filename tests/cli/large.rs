//! Scans and sorts of more elements than are in memory at once.

use super::*;

/// Elements of several chunks, of 8 MiB each.
const COUNT: usize = (5 << 20) + 3;

/// Sums of u32, which wrap, by segments that begin at these rows.
fn sums(values: &[u32], begins: &[u64], initial: u32) -> Vec<u32> {
    let mut begins = begins.iter().copied().peekable();
    let mut sum = initial;
    let add = |(row, value): (u64, &u32)| {
        while begins.next_if_eq(&row).is_some() {
            sum = initial;
        }
        sum = sum.wrapping_add(*value);
        sum
    };
    (0..).zip(values).map(add).collect()
}

#[test]
fn chunks_continue_each_other() {
    let folder = Folder::new();
    let input = random(COUNT);
    let path = folder.file("in", bytes(&input));
    let expected = sums(&input, &[], 0);
    let scan = ["scan", "-", "--type", "u32"];
    assert!(words(&run_with(&mut subsweep(scan), &bytes(&input)).done()) == expected);

    let chunk = 2 << 20;
    let begins = [1, chunk - 1, chunk, chunk, 2 * chunk - 7, COUNT as u64 - 1, COUNT as u64];
    let starts: Vec<u8> = begins.iter().flat_map(|begin| begin.to_le_bytes()).collect();
    let starts = folder.file("starts.npy", npy("<u8", "(7,)", &starts));
    let arguments = ["scan", &path, "--type", "u32", "--segments", &starts, "--init", "9"];
    assert!(words(&run(&mut subsweep(arguments)).done()) == sums(&input, &begins, 9));

    // In reverse, a segment ends where it began.
    let reversed: Vec<u32> = input.iter().rev().copied().collect();
    let ends: Vec<u64> = begins.iter().rev().map(|begin| COUNT as u64 - begin).collect();
    let expected: Vec<u32> = sums(&reversed, &ends, 9).into_iter().rev().collect();
    let mut reverse = subsweep(arguments);
    assert!(words(&run(reverse.arg("--reverse")).done()) == expected);
    let output = folder.argument("out");
    let mut reverse = subsweep(arguments);
    assert_eq!(run(reverse.args(["--reverse", "-o", &output])).done(), b"");
    assert!(words(&folder.read("out")) == expected);
}

#[test]
fn sums_of_floats_are_the_same_in_any_memory() {
    let folder = Folder::new();
    let input: Vec<u8> =
        random(COUNT).iter().flat_map(|&value| (value as f32).to_le_bytes()).collect();
    let path = folder.file("in", input);
    let scan = |memory: &[&str]| {
        let arguments = ["scan", &path, "--type", "f32", "--exclusive"];
        run(subsweep(arguments).args(memory)).done()
    };
    let expected = scan(&[]);
    assert!(["48M", "80M", "1GiB"].iter().all(|size| scan(&["--memory", size]) == expected));
}

#[test]
fn too_little_memory_and_a_pipe_in_reverse_are_refused() {
    let folder = Folder::new();
    let path = folder.file("in", bytes(&random(COUNT)));
    let output = folder.file("out", "before");
    let arguments = ["scan", &path, "--type", "u32", "-o", &output, "--memory", "1M"];
    let ended = run(&mut subsweep(arguments));
    let last = ended.stderr.lines().last().unwrap();
    let needed = last.strip_prefix("subsweep: --memory 1048576 is too little; give ");
    assert!(ended.code == 2 && needed.is_some_and(|text| text.ends_with(" bytes or more")), "{last}");
    assert_eq!((folder.read("out"), folder.names()), (b"before".into(), vec!["in".to_owned(), "out".into()]));
    let table = folder.file("in.npy", npy("<u4", &format!("({COUNT},)"), &bytes(&random(COUNT))));
    let ended = run(&mut subsweep(["scan", &table, "--memory", "1M"]));
    assert_eq!((ended.code, ended.stdout), (2, Vec::new()), "not even a header");
    let unit = ["scan", &path, "--type", "u32", "--memory", "1 potato"];
    run(&mut subsweep(unit)).refused(2, "it is a number of bytes, such as 1000000, 512M, 1GiB or 1e9");
    let mut reverse = subsweep(["scan", "-", "--type", "u32", "--reverse"]);
    let text = "standard input: is a pipe or a device, and --reverse reads from the end; save it to a file first";
    run_with(without_drivers(&mut reverse), b"1234").refused(2, text);
}

#[test]
fn an_input_that_ends_early_leaves_the_output_as_it_was() {
    let folder = Folder::new();
    folder.file("out.npy", "before");
    let output = folder.argument("out.npy");
    let file = npy("<u4", &format!("({COUNT},)"), &bytes(&random(COUNT - 1)));
    let ended = run_with(&mut subsweep(["scan", "-", "-o", &output]), &file);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("standard input: ended after "), "{}", ended.stderr);
    assert_eq!((folder.read("out.npy"), folder.names()), (b"before".into(), vec!["out.npy".to_owned()]));
}

/// Peak resident memory in bytes.
#[cfg(target_os = "linux")]
fn peak(command: &mut Command) -> u64 {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: the child is this function's, and both places are writable.
    let ended = unsafe { libc::wait4(child.id() as i32, &mut status, 0, usage.as_mut_ptr()) };
    assert_eq!((ended, status), (child.id() as i32, 0));
    // Reaped already; this only closes the handles.
    let _ = child.try_wait();
    // SAFETY: every bit pattern is a usage.
    unsafe { usage.assume_init() }.ru_maxrss as u64 * 1024
}

#[test]
#[cfg(target_os = "linux")]
fn the_memory_has_a_limit() {
    let folder = Folder::new();
    let limit = 64 << 20;
    let tiny = folder.file("tiny", bytes(&[1, 2]));
    let large = folder.file("large", bytes(&random(24 << 20)));
    let output = folder.argument("out");
    for command in ["scan", "sort"] {
        let peak_of = |input: &String| {
            peak(&mut subsweep([command, input, "--type", "u32", "-o", &output, "--memory", "64MiB"]))
        };
        let (least, peak) = (peak_of(&tiny), peak_of(&large));
        assert!(peak - least <= limit, "{command}: {least} bytes, and {peak} for 96 MiB of elements");
    }
}

/// Keys of several chunks of a sort in the least memory.
const KEY_COUNT: usize = 2_000_003;

#[test]
fn runs_are_merged() {
    let folder = Folder::new();
    // Many equal keys.
    let keys: Vec<u32> = random(KEY_COUNT).iter().map(|word| word >> 16).collect();
    let input = bytes(&keys);
    let path = folder.file("keys", &input);
    let mut order: Vec<u32> = (0..KEY_COUNT as u32).collect();
    order.sort_by_key(|&index| keys[index as usize]);
    let sorted: Vec<u32> = order.iter().map(|&index| keys[index as usize]).collect();
    let memory = ["--type", "u32", "--memory", "40MiB"];
    assert!(words(&run(subsweep(["sort", &path]).args(memory)).done()) == sorted);
    assert!(words(&run_with(subsweep(["sort", "-"]).args(memory), &input).done()) == sorted);
    // How many indices a pipe has is known at its end.
    assert!(words(&run_with(subsweep(["sort", "-", "--argsort"]).args(memory), &input).done()) == order);

    let values: Vec<u8> = (0..KEY_COUNT as u64).flat_map(u64::to_le_bytes).collect();
    let (values, output) = (folder.file("values", values), folder.argument("out"));
    let runs = folder.0.path().join("runs");
    std::fs::create_dir(&runs).unwrap();
    let arguments = ["sort", "-", "--values", &values, "--values-output", &output, "--temp-dir"];
    let stdout = run_with(subsweep(arguments).arg(&runs).args(memory), &input).done();
    assert!(words(&stdout) == sorted);
    let expected: Vec<u8> = order.iter().flat_map(|&index| u64::from(index).to_le_bytes()).collect();
    assert!(folder.read("out") == expected);
    assert_eq!(std::fs::read_dir(&runs).unwrap().count(), 0);
}

#[test]
fn sorts_without_memory_or_room_for_runs_are_refused() {
    let folder = Folder::new();
    let path = folder.file("in", bytes(&random(KEY_COUNT)));
    let output = folder.file("out", "before");
    let sort = ["sort", &path, "--type", "u32", "-o", &output];
    let last_line = |options: &[&str]| {
        let ended = run(subsweep(sort).args(options));
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        ended.stderr.lines().last().unwrap().to_owned()
    };
    let line = last_line(&["--memory", "1M"]);
    assert_eq!(line, "subsweep: --memory 1048576 is too little; give 41943040 bytes or more");
    let mut command = subsweep(sort);
    let nowhere = "/nowhere: no temporary file can be written or read (";
    run(without_drivers(command.args(["--temp-dir", "/nowhere"]))).refused(2, nowhere);
    let segments = folder.file("segments", bytes(&[0]));
    let mut command = subsweep(sort);
    command.args(["--segments", &segments, "--memory", "1G"]);
    run(without_drivers(&mut command)).refused(2, "segments may be of any length and are sorted in memory");
    assert_eq!((folder.read("out"), folder.names()), (b"before".into(), ["in", "out", "segments"].map(str::to_owned).into()));
}
