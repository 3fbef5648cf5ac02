//! Pipes, terminals and closed streams.

use super::*;

#[test]
fn a_large_table_goes_from_pipe_to_pipe() {
    let input = random(1 << 20);
    let stdout = run_with(&mut subsweep(["scan", "-", "--type", "u32"]), &bytes(&input)).done();
    assert!(words(&stdout) == scanned(&input, 1, false));
}

#[test]
fn a_closed_reader_is_no_error() {
    let folder = Folder::new();
    // More than a pipe holds.
    let input = folder.file("in", bytes(&random(1 << 18)));
    let arguments: [&[&str]; 3] = [&["sort", &input, "--type", "u32"], &["devices"], &["--list-algorithms"]];
    for arguments in arguments {
        let mut command = subsweep(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert!(stderr.is_empty() || stderr.starts_with("subsweep: on device "), "{stderr}");
        assert!(stderr.lines().count() <= 1, "{stderr}");
    }
}

#[cfg(unix)]
mod unix {
    use super::*;

    /// The program started by a shell line, in which it is `$0`.
    fn by_shell(line: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line, env!("CARGO_BIN_EXE_subsweep")]).args(arguments);
        command.env_remove("SUBSWEEP_DEVICE").stdin(Stdio::null());
        command
    }

    #[test]
    fn closed_standard_streams_do_no_harm() {
        let folder = Folder::new();
        let input = folder.file("in", bytes(&[1, 2, 3]));
        let output = folder.file("out", "before");
        for line in [r#""$0" scan - -o "$1" <&-"#, r#""$0" sort - --type u32 -o "$1" <&-"#] {
            run(&mut by_shell(line, &[&output])).refused(2, "standard input: is closed");
            assert_eq!(folder.read("out"), b"before");
        }
        for line in [
            r#""$0" scan "$1" --type u32 >&-"#,
            r#""$0" --list-algorithms >&-"#,
            r#""$0" --version >&-"#,
            r#""$0" scan --help >&-"#,
        ] {
            run(&mut by_shell(line, &[&input])).refused(2, "standard output: is closed");
        }

        let mut no_words = by_shell(r#""$0" scan "$1" --type u32 -o "$2" 2>&-"#, &[&input, &output]);
        assert_eq!(run(&mut no_words).code, 0);
        assert_eq!(words(&folder.read("out")), [1, 3, 6]);
    }

    #[test]
    fn the_null_device_is_a_good_input_and_output() {
        let folder = Folder::new();
        let input = folder.file("in", bytes(&[1, 2]));
        for line in [
            r#""$0" sort - --type u32 </dev/null"#,
            r#""$0" sort - --type u32 0<>/dev/null"#,
            r#""$0" sort "$1" --type u32 >/dev/null"#,
            r#""$0" sort "$1" --type u32 1<>/dev/null"#,
        ] {
            assert_eq!(run(&mut by_shell(line, &[&input])).done(), b"", "{line}");
        }
    }

    #[test]
    fn descriptors_are_written_through() {
        let folder = Folder::new();
        let input = folder.file("in", bytes(&[1, 2]));
        let output = folder.file("out", bytes(&[7]));
        for path in ["/dev/fd/3", "/proc/self/fd/3"] {
            if !Path::new(path).parent().unwrap().exists() {
                continue;
            }
            folder.file("out", bytes(&[7]));
            let line = r#""$0" scan "$1" --type u32 -o "$3" 3>>"$2""#;
            run(&mut by_shell(line, &[&input, &output, path])).done();
            assert_eq!(words(&folder.read("out")), [7, 1, 3], "{path}");
        }
        let mut onto_itself = by_shell(r#""$0" scan "$1" --type u32 -o /dev/fd/3 3>>"$1""#, &[&input]);
        run(&mut onto_itself).refused(2, "is also the input");
        for redirection in ["3<&-", "3</dev/null"] {
            let line = format!(r#""$0" scan "$1" --type u32 -o /dev/fd/3 {redirection}"#);
            run(&mut by_shell(&line, &[&input])).refused(2, "/dev/fd/3: cannot be written");
        }
    }

    #[test]
    fn a_file_over_the_size_limit_is_an_error_and_leaves_nothing() {
        let folder = Folder::new();
        let input = folder.file("in", bytes(&random(1 << 20)));
        let output = folder.file("out", "before");
        // 64 blocks of 512 or 1024 bytes.
        let mut command = by_shell(r#"ulimit -f 64; "$0" sort "$1" --type u32 -o "$2""#, &[&input, &output]);
        let ended = run(&mut command);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(
            ended.stderr.trim_end().ends_with("raise the limit (ulimit -f), or name another file"),
            "{}",
            ended.stderr
        );
        assert_eq!(folder.read("out"), b"before");
        assert_eq!(folder.names(), ["in", "out"]);
    }

    /// What is spooled beside the output, or for a stream in `TMPDIR`.
    #[test]
    fn a_temporary_file_that_cannot_be_written_has_the_remedy_of_its_error() {
        let folder = Folder::new();
        let input = folder.file("in", bytes(&random(1 << 20)));
        let output = folder.file("out", "before");
        let line = r#"ulimit -f 64; "$0" select "$1" --type u32 --where 'x >= 0' -o "$2""#;
        let ended = run(&mut by_shell(line, &[&input, &output]));
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.ends_with("; raise the limit of a file's size (ulimit -f)\n"), "{}", ended.stderr);
        assert_eq!((folder.read("out"), folder.names()), (b"before".into(), ["in", "out"].map(str::to_owned).into()));
        let mut command = subsweep(["select", &input, "--type", "u32", "--unique"]);
        let ended = run(command.env("TMPDIR", "/nowhere"));
        ended.refused(2, "/nowhere: no temporary file can be written or read (No such file");
        assert!(ended.stderr.ends_with("is a folder and writable, or name another folder in TMPDIR\n"), "{}", ended.stderr);
        let ended = run(&mut subsweep(["sort", &input, "--type", "u32", "--temp-dir", "/nowhere"]));
        assert!(ended.stderr.ends_with(", or name another folder with --temp-dir\n"), "{}", ended.stderr);
    }

    /// Runs a command that reads what `write` writes, and fails if each waits for the other.
    #[track_caller]
    fn run_while(command: &mut Command, write: impl FnOnce() + Send + 'static) {
        let writer = std::thread::spawn(write);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = std::time::Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed().as_secs() > 60 {
                child.kill().unwrap();
                panic!("the command waits");
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        assert!(status.success(), "{status}");
        writer.join().unwrap();
    }

    /// Of more bytes than a pipe holds.
    #[test]
    fn one_program_may_write_two_pipes() {
        let folder = Folder::new();
        let [first, second, output, more] = ["first", "second", "out", "more"].map(|name| folder.argument(name));
        for pipe in [&first, &second] {
            assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
        }
        let elements = random(1 << 16);
        let table = npy("<u4", "(65536,)", &bytes(&elements));
        let (values, counts) = ((first.clone(), table.clone()), (second.clone(), bytes(&[1; 1 << 16])));
        let write = |files: [(String, Vec<u8>); 2]| {
            move || files.into_iter().for_each(|(pipe, bytes)| std::fs::write(pipe, bytes).unwrap())
        };
        let mut decode = subsweep(["runs", "--decode", &first, "--counts", &second, "-o", &output]);
        run_while(&mut decode, write([values.clone(), counts.clone()]));
        assert!(folder.read("out") == table);
        run_while(&mut decode, write([counts, values.clone()]));
        assert!(folder.read("out") == table);
        let input = folder.file("in.npy", &table);
        let mut encode = subsweep(["runs", &input, "-o", &first, "--counts", &second]);
        run_while(&mut decode, move || assert_eq!(run(&mut encode).done(), b""));
        assert!(folder.read("out") == table);

        let indices: Vec<_> = (0..1 << 16).collect();
        let mut sort = subsweep(["sort", &first, "--values", &second, "-o", &output, "--values-output", &more]);
        run_while(&mut sort, write([values, (second, bytes(&indices))]));
        let mut pairs: Vec<_> = elements.into_iter().zip(indices).collect();
        pairs.sort_by_key(|&(key, _)| key);
        let (keys, indices): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        assert!(folder.read("out") == npy("<u4", "(65536,)", &bytes(&keys)));
        assert!(words(&folder.read("more")) == indices);
    }

    /// Nothing can remove a file after SIGKILL: it has no name until it is complete.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_killed_command_leaves_nothing() {
        let folder = Folder::new();
        let output = folder.file("out", "before");
        let mut command = subsweep(["scan", "-", "--type", "u32", "-o", &output]);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // More than is read ahead; the pipe stays open.
        stdin.write_all(&[0; 4 << 20]).unwrap();
        let descriptors = format!("/proc/{}/fd", child.id());
        let is_begun = || {
            let mut links = std::fs::read_dir(&descriptors).unwrap().flatten();
            links.any(|link| std::fs::read_link(link.path()).is_ok_and(|path| path.starts_with(folder.path(""))))
        };
        let begun = std::time::Instant::now();
        while !is_begun() {
            assert!(begun.elapsed().as_secs() < 60, "no file is open in the folder of the output");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        drop(stdin);
        assert_eq!(folder.names(), ["out"]);
        assert_eq!(folder.read("out"), b"before");
    }

    #[test]
    fn standard_streams_have_their_paths_too() {
        let mut command = by_shell(r#"printf 1234 | "$0" sort /dev/stdin --type u32 -o /dev/stdout"#, &[]);
        assert_eq!(run(&mut command).done(), b"1234");
    }

    #[test]
    fn earlier_output_in_a_redirected_file_is_kept() {
        let folder = Folder::new();
        let input = folder.file("in", bytes(&[1, 2]));
        let output = folder.file("out", bytes(&[7]));
        let mut command = by_shell(r#""$0" scan "$1" --type u32 >>"$2""#, &[&input, &output]);
        run(&mut command).done();
        assert_eq!(words(&folder.read("out")), [7, 1, 3]);
        let mut onto_itself = by_shell(r#""$0" scan "$1" --type u32 >>"$1""#, &[&input]);
        run(&mut onto_itself).refused(2, "is also the input");
        assert_eq!(words(&folder.read("in")), [1, 2]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_device_is_an_error() {
        let mut command = by_shell(r#"printf 1234 | "$0" scan - --type u32 >/dev/full"#, &[]);
        let ended = run(&mut command);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        let last = ended.stderr.lines().last().unwrap();
        assert!(last.starts_with("subsweep: standard output: could not be written"), "{last}");
        let mut help = by_shell(r#""$0" sort --help >/dev/full"#, &[]);
        run(&mut help).refused(2, "standard output: could not be written");
    }

    /// An input that does not begin as JSON is not read to its end, which may never come.
    #[test]
    #[cfg(target_os = "linux")]
    fn an_endless_input_is_no_report() {
        let mut command = by_shell(r#""$0" compare /dev/zero /dev/zero"#, &[]);
        run(&mut command).refused(2, "/dev/zero: cannot be parsed as JSON");
    }

    /// Paths need not be UTF-8.
    #[test]
    #[cfg(target_os = "linux")]
    fn reports_go_to_any_path() {
        use std::os::unix::ffi::OsStrExt;

        let folder = Folder::new();
        let name = std::ffi::OsStr::from_bytes(b"a\xff.json");
        let mut command = subsweep(["verify", "--quick", "--filter", "scan:*n=1;*", "--json"]);
        let ended = run(command.arg(folder.0.path().join(name)));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(folder.0.path().join(name).exists());
    }

    /// Runs a command on a terminal of its own, by `script` of util-linux.
    #[test]
    #[cfg(target_os = "linux")]
    fn elements_never_go_to_a_terminal() {
        let folder = Folder::new();
        let input = folder.file("in", bytes(&[1, 2]));
        let on_terminal = |line: &str| {
            let mut command = Command::new("script");
            command.args(["--quiet", "--return", "--command", line, "/dev/null"]).stdin(Stdio::null());
            without_drivers(&mut command).output()
        };
        // Without a pseudo-terminal not even this works.
        let reason = match on_terminal("test -t 1") {
            Ok(trial) if trial.status.success() => None,
            Ok(trial) => Some(String::from_utf8_lossy(&[trial.stdout, trial.stderr].concat()).into_owned()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(reason) = reason {
            let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
            assert!(!is_ci, "no terminal by script(1), and in CI there must be one: {reason}");
            // Directly to standard error, as the test runner would capture the skip.
            let name = "elements_never_go_to_a_terminal";
            let _ = writeln!(std::io::stderr(), "SKIPPED {name}: no terminal by script(1): {reason}");
            return;
        }
        let line = format!("'{}' scan '{input}' --type u32", env!("CARGO_BIN_EXE_subsweep"));
        let output = on_terminal(&line).expect("it has just been there");
        let shown = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        // On a slow machine a progress line comes first, and is cleared.
        let refusal = "subsweep: standard output: is a terminal; name a file, or redirect";
        assert!(shown.trim_end().ends_with(refusal), "{shown}");
    }
}
