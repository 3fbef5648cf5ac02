//! Scans and sorts of more elements than are in memory at once.

use super::refusals::sparse_file;
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

/// Peak resident memory in bytes. `wait4` reports at least this process's own, whose memory a child has until it is executed.
#[cfg(target_os = "linux")]
fn peak(command: &mut Command) -> u64 {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        // It only rises, and is gone once the process has ended.
        let status = std::fs::read_to_string(&path).unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB"));
        peak = size.map_or(peak, |size| size.trim().parse::<u64>().unwrap() * 1024);
        if let Some(ended) = child.try_wait().unwrap() {
            assert!(ended.success());
            return peak;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_memory_has_a_limit() {
    let folder = Folder::new();
    let tiny = folder.file("tiny", bytes(&[1, 2]));
    let large = folder.file("large", bytes(&random(24 << 20)));
    let [output, more] = ["out", "more"].map(|name| folder.argument(name));
    for (command, limit) in [
        (&["scan"][..], 64 << 20),
        (&["sort"], 64 << 20),
        (&["partition", "--where", "x < 99", "--indices", &more], 160 << 20),
        (&["runs", "--counts", &more], 160 << 20),
    ] {
        let peak_of = |input: &String| {
            let limit = limit.to_string();
            let options = ["--type", "u32", "-o", &output, "--memory", &limit];
            peak(subsweep(command).arg(input).args(options))
        };
        let (least, peak) = (peak_of(&tiny), peak_of(&large));
        let command = command[0];
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
    let memory = ["--type", "u32", "--memory", "28MiB"];
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
    assert_eq!(line, "subsweep: --memory 1048576 is too little; give 29360128 bytes or more");
    let mut command = subsweep(sort);
    let nowhere = "/nowhere: no temporary file can be written or read (";
    run(without_drivers(command.args(["--temp-dir", "/nowhere"]))).refused(2, nowhere);
    let segments = folder.file("segments", bytes(&[0]));
    let mut command = subsweep(sort);
    command.args(["--segments", &segments, "--memory", "1G"]);
    run(without_drivers(&mut command)).refused(2, "segments may be of any length and are sorted in memory");
    assert_eq!((folder.read("out"), folder.names()), (b"before".into(), ["in", "out", "segments"].map(str::to_owned).into()));
}

/// Not even a header.
#[test]
fn a_sort_without_memory_leaves_standard_output_empty() {
    let folder = Folder::new();
    let table = folder.file("in.npy", npy("<u4", &format!("({COUNT},)"), &bytes(&random(COUNT))));
    for options in [&[][..], &["--argsort"]] {
        let ended = run(subsweep(["sort", &table, "--memory", "1M"]).args(options));
        assert_eq!((ended.code, ended.stdout.len()), (2, 0), "{}", ended.stderr);
        assert!(ended.stderr.contains("--memory 1048576 is too little"), "{}", ended.stderr);
    }
}

/// Not even a header: a sort writes what it has read to its end, and the others a chunk that they have read.
#[test]
fn a_truncated_pipe_leaves_standard_output_empty() {
    for (command, count) in [("sort", COUNT), ("sort", 300_000), ("diff", 300_000), ("scan", 300_000)] {
        let truncated = npy("<u4", &format!("({count},)"), &bytes(&random(count - 1)));
        assert!(truncated.len() > 1 << 20);
        let ended = run_with(&mut subsweep([command, "-"]), &truncated);
        assert_eq!((ended.code, ended.stdout.len()), (2, 0), "{command}: {}", ended.stderr);
        assert!(ended.stderr.contains("standard input: ended after "), "{}", ended.stderr);
        let none = npy("<u4", "(0,)", b"");
        assert_eq!(run_with(&mut subsweep([command, "-"]), &none).done(), none, "{command}");
    }
}

/// Elements of three chunks of other commands than scans and sorts, the last of which is short.
const CHUNKED_COUNT: usize = 2 * (8 << 20) + 1001;

/// Elements of a chunk of a selection with indices, which has six arrays.
const INDEXED_CHUNK: usize = (128 << 20) / 6 / 4;

/// Small numbers, in runs of some, of which four cross the ends of chunks.
fn in_runs() -> Vec<u32> {
    let number = |index: u32| (index / 5).wrapping_mul(0x9E37_79B9) >> 28;
    let mut numbers: Vec<_> = (0..CHUNKED_COUNT as u32).map(number).collect();
    for chunk in [8 << 20, 16 << 20] {
        numbers[chunk - 3..chunk + 3].fill(20);
        numbers[chunk + 3] = 21;
    }
    for chunk in [INDEXED_CHUNK, 2 * INDEXED_CHUNK] {
        numbers[chunk - 3..chunk + 3].fill(20);
    }
    numbers
}

/// From a file, whose size is known, and from a pipe.
#[test]
fn chunks_of_any_number_have_the_results_of_the_whole() {
    let folder = Folder::new();
    let numbers = in_runs();
    let input = bytes(&numbers);
    let path = folder.file("in", &input);
    let limit = ["--type", "u32", "--memory", "160MiB"];
    let stdout = |arguments: &[&str]| {
        let of_file = run(subsweep([&[arguments[0], &path], &arguments[1..]].concat()).args(limit)).done();
        let mut command = subsweep([&[arguments[0], "-"], &arguments[1..]].concat());
        assert!(run_with(command.args(limit), &input).done() == of_file, "{arguments:?}");
        of_file
    };
    let sum = numbers.iter().sum::<u32>();
    assert_eq!(stdout(&["reduce"]), format!("{sum}\n").as_bytes());
    // The first of equals, and one in the last chunk.
    assert_eq!(stdout(&["reduce", "--op", "argmax"]), format!("{}\n", (8 << 20) + 3).as_bytes());

    let counts = words(&stdout(&["histogram", "--bins", "22", "--range", "0:22"]));
    let mut expected = vec![0; 22];
    numbers.iter().for_each(|&number| expected[number as usize] += 1);
    assert_eq!(counts, expected);

    let differences: Vec<_> = numbers.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
    assert!(words(&stdout(&["diff"])) == differences);
    let kept = words(&stdout(&["diff", "--keep-first"]));
    assert!(kept[0] == numbers[0] && kept[1..] == differences);

    let indices = folder.argument("indices");
    for (predicate, is_selected) in [
        (&["--where", "x >= 9"][..], (|numbers, index| numbers[index] >= 9) as fn(&[u32], usize) -> bool),
        (&["--unique"], |numbers, index| index == 0 || numbers[index] != numbers[index - 1]),
    ] {
        let expected: Vec<_> = (0..numbers.len()).filter(|&index| is_selected(&numbers, index)).collect();
        let selected = words(&stdout(&[&["select", "--indices", &indices], predicate].concat()));
        assert!(selected == expected.iter().map(|&index| numbers[index]).collect::<Vec<_>>(), "{predicate:?}");
        let expected: Vec<_> = expected.iter().map(|&index| index as u32).collect();
        assert!(words(&folder.read("indices")) == expected, "{predicate:?}");
        assert!(words(&stdout(&[&["select"], predicate].concat())) == selected, "{predicate:?}");
    }
}

/// From a file and from a pipe; the elements of a partition and the runs are spooled.
#[test]
fn chunks_of_parts_and_runs_have_the_results_of_the_whole() {
    let folder = Folder::new();
    let mut numbers = in_runs();
    // A run of several chunks, and runs of one element on both sides of an end.
    numbers[(5 << 20)..(11 << 20)].fill(30);
    numbers[(12 << 20) - 1] = 31;
    numbers[12 << 20] = 32;
    let path = folder.file("in", bytes(&numbers));
    let [output, counts, offsets] = ["out", "counts", "offsets"].map(|name| folder.argument(name));
    let limit = ["--type", "u32", "--memory", "160MiB", "-o", &output];
    let ended = |arguments: &[&str]| {
        let ended = run(subsweep([arguments, &[&path]].concat()).args(limit));
        let of_file = folder.read("out");
        let piped = run_with(subsweep([arguments, &["-"]].concat()).args(limit), &bytes(&numbers));
        assert!(piped.code == 0 && folder.read("out") == of_file, "{arguments:?}: {}", piped.stderr);
        ended
    };
    let read = |name: &str| words(&folder.read(name));
    let all = || (0..numbers.len() as u32).collect::<Vec<_>>();
    let of = |indices: &[u32]| indices.iter().map(|&index| numbers[index as usize]).collect::<Vec<_>>();

    let (kept, rejected): (Vec<_>, Vec<_>) = all().into_iter().partition(|&index| numbers[index as usize] < 7);
    let (second, rest): (Vec<_>, Vec<_>) = rejected.iter().copied().partition(|&index| numbers[index as usize] < 30);
    let partition = ["partition", "--where", "x < 7", "--indices", &offsets];
    let line = ended(&partition).stderr;
    assert!(line.ends_with(&format!("kept {}, rejected {}\n", kept.len(), rejected.len())), "{line}");
    let indices = [&kept[..], &rejected].concat();
    assert!(read("out") == of(&indices) && read("offsets") == indices);
    ended(&[&partition[..], &["--and-then", "x < 30", "--count", &counts]].concat()).done();
    let indices = [&kept[..], &second, &rest].concat();
    assert!(read("out") == of(&indices) && read("offsets") == indices);
    assert_eq!(read("counts"), [&kept, &second, &rest].map(|part| part.len() as u32));

    let begins: Vec<u32> = all().into_iter().filter(|&index| {
        index == 0 || numbers[index as usize] != numbers[index as usize - 1]
    }).collect();
    let ends = begins.iter().skip(1).copied().chain([numbers.len() as u32]);
    let runs: Vec<_> = begins.iter().copied().zip(ends).collect();
    for is_non_trivial in [true, false] {
        let option = if is_non_trivial { &["--non-trivial"][..] } else { &[] };
        ended(&[&["runs", "--counts", &counts, "--offsets", &offsets], option].concat()).done();
        let kept: Vec<_> = runs.iter().copied().filter(|(begin, end)| end - begin > 1 || !is_non_trivial).collect();
        let begins: Vec<_> = kept.iter().map(|&(begin, _)| begin).collect();
        assert!(read("out") == of(&begins) && read("offsets") == begins, "{option:?}");
        assert!(read("counts") == kept.iter().map(|(begin, end)| end - begin).collect::<Vec<_>>(), "{option:?}");
    }
    // Of equal floats that differ in their bits, the run has the bits of the first.
    let half = CHUNKED_COUNT / 2;
    let sign = |index: usize| (index as u32 & 1) << 31;
    let nan = |index: usize| 0x7fc0_0000 + (index as u32 & 0xff);
    let floats: Vec<_> = (0..half).map(sign).chain((half..CHUNKED_COUNT).map(nan)).collect();
    let floats = folder.file("floats", bytes(&floats));
    run(&mut subsweep(["runs", &floats, "--type", "f32", "-o", &output, "--counts", &counts])).done();
    assert_eq!(read("out"), [0, nan(half)]);
    assert_eq!(read("counts"), [half as u32, (CHUNKED_COUNT - half) as u32]);
    ended(&["runs", "--counts", &counts]).done();
    // The runs of all elements are there.
    let values = folder.file("values", folder.read("out"));
    run(subsweep(["runs", "--counts", &counts, "--decode", &values]).args(limit)).done();
    assert!(read("out") == numbers);
    run_with(subsweep(["runs", "--counts", &counts, "--decode", "-"]).args(limit), &folder.read("values")).done();
    assert!(read("out") == numbers);
}

/// Of a table, whose shape the outputs have.
#[test]
fn chunks_of_tables_have_the_results_of_the_whole() {
    let folder = Folder::new();
    let rows = CHUNKED_COUNT / 2;
    let numbers = &in_runs()[..2 * rows];
    let grid = |rows, columns, words: &[u32]| npy("<i4", &format!("({rows}, {columns})"), &bytes(words));
    let path = folder.file("in.npy", grid(rows, 2, numbers));
    let output = folder.argument("out.npy");
    let written = |arguments: &[&str]| {
        run(subsweep(arguments).args([&path, "-o", &output])).done();
        folder.read("out.npy")
    };
    let column = |column: usize| numbers.iter().skip(column).step_by(2);
    let sums: [u32; 2] = [column(0).sum(), column(1).sum()];
    assert!(written(&["reduce"]) == npy("<i4", "(2,)", &bytes(&sums)));
    let first = |of: usize| {
        let max = column(of).max();
        column(of).position(|number| Some(number) == max).unwrap() as u32
    };
    assert!(written(&["reduce", "--op", "argmax"]) == npy("<u4", "(2,)", &bytes(&[first(0), first(1)])));
    let least = |of: usize| column(of).position(|number| Some(number) == column(of).min()).unwrap() as u32;
    let both = bytes(&[least(0), least(1), first(0), first(1)]);
    assert!(written(&["reduce", "--op", "argminmax"]) == npy("<u4", "(2, 2)", &both));
    let of_both = |is_max: bool| {
        numbers.chunks(2).map(move |row| u32::from((row[1] as i32 > row[0] as i32) == is_max && row[0] != row[1]))
    };
    let both: Vec<_> = of_both(false).chain(of_both(true)).collect();
    let shape = format!("(2, {rows})");
    assert!(written(&["reduce", "--axis", "1", "--op", "argminmax"]) == npy("<u4", &shape, &bytes(&both)));
    let of_rows: Vec<u32> = numbers.chunks(2).map(|row| row[0].wrapping_add(row[1])).collect();
    assert!(written(&["reduce", "--axis", "1"]) == npy("<i4", &format!("({rows},)"), &bytes(&of_rows)));
    let down: Vec<_> = numbers.windows(3).map(|two| two[2].wrapping_sub(two[0])).collect();
    assert!(written(&["diff"]) == grid(rows - 1, 2, &down));
    let along: Vec<_> = numbers.chunks(2).map(|row| row[1].wrapping_sub(row[0])).collect();
    assert!(written(&["diff", "--axis", "1"]) == grid(rows, 1, &along));
    let is_less = |row: &[u32]| (row[0] as i32) <= row[1] as i32;
    let swapped = |row: &[u32], [first, second]: [u32; 2]| if is_less(row) { [first, second] } else { [second, first] };
    let sorted: Vec<_> = numbers.chunks(2).flat_map(|row| swapped(row, [row[0], row[1]])).collect();
    assert!(written(&["sort", "--axis", "1"]) == grid(rows, 2, &sorted));
    let order: Vec<_> = numbers.chunks(2).flat_map(|row| swapped(row, [0, 1])).collect();
    let expected = npy("<u4", &format!("({rows}, 2)"), &bytes(&order));
    assert!(written(&["sort", "--axis", "1", "--argsort"]) == expected);
    let column = npy("<i4", &format!("({},)", 2 * rows), &bytes(numbers));
    let path = folder.file("flat.npy", column);
    run(&mut subsweep(["select", &path, "--where", "x == 21", "-o", &output])).done();
    assert!(folder.read("out.npy") == npy("<i4", "(2,)", &bytes(&[21, 21])));
}

#[test]
fn what_is_too_large_for_memory_or_device_is_refused_before_it_is_read() {
    let folder = Folder::new();
    let path = folder.file("in", bytes(&in_runs()));
    let options = ["--type", "u32", "--memory", "1M"];
    for command in [
        &["reduce"][..],
        &["diff"],
        &["select", "--unique"],
        &["partition", "--where", "x < 3"],
        &["partition", "--where", "x < 3", "--indices", "indices"],
        &["runs", "--counts", "counts"],
        &["runs", "--counts", &path, "--decode"],
        &["histogram", "--bins", "2", "--range", "0:9"],
    ] {
        // Whole elements of a chunk in each of ten arrays of runs, six with indices, and four of the others.
        let has_more = command[0] == "runs" || command.contains(&"--indices");
        let needed = if has_more { 167_772_152 } else { 167_772_160 };
        let mut command = subsweep([command, &[&path], &options].concat());
        let what = format!("--memory 1048576 is too little; give {needed} bytes or more");
        run(without_drivers(&mut command)).refused(2, &what);
    }
    let devices = run(&mut subsweep(["devices", "--device", "0", "--json"])).json();
    let limit = |name: &str| devices[0]["limits"][name].as_u64().unwrap();
    let size = limit("max_allocation_size").min(limit("largest_heap_size")).saturating_add(1 << 20);
    let Some(large) = sparse_file(&folder, size).filter(|_| size < 1 << 40) else { return };
    let one = folder.file("one", bytes(&[0]));
    let commands: [&[&str]; 4] = [
        &["reduce", &large, "--segments", &one],
        &["select", &large, "--flags", &one],
        &["search", &large, &one],
        &["merge", &one, &large],
    ];
    for arguments in commands {
        let mut command = subsweep(arguments);
        let ended = run(command.args(["--type", "u32", "--device", "0", "-o", &folder.argument("out")]));
        ended.refused(4, &format!("has {size} bytes, and "));
        assert!(ended.stderr.ends_with(" at once at most; split it\n"), "{}", ended.stderr);
    }
}
