//! Tests of the command-line program from outside: files, streams, messages and exit codes.
//!
//! Results are compared with sequential loops in these files. Everything runs on the best device of this machine;
//! tool/tests/drivers covers different devices.

// Every file of this folder is a module.
automod::dir!("tests/cli");
#[allow(
    dead_code,
    reason = "for what drivers need in their environment; the rest is of tests with a process a row"
)]
#[path = "../../../tests/common/children.rs"]
mod children;
#[allow(dead_code, reason = "not every driver is needed by name")]
#[path = "../../../tests/common/software.rs"]
mod software;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use children::{Missing, is_gate_on};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The outcome of a run.
#[derive(Debug)]
struct Ended {
    code: i32,
    stdout: Vec<u8>,
    stderr: String,
}

/// The program with these arguments, on the best device.
fn subsweep<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_subsweep"));
    command.args(arguments).env_remove("SUBSWEEP_DEVICE").stdin(Stdio::null());
    command
}

/// Removes every driver, so that opening a device fails.
fn without_drivers(command: &mut Command) -> &mut Command {
    command.env("VK_DRIVER_FILES", "/nowhere").env("VK_ICD_FILENAMES", "/nowhere")
}

/// The variables that select one driver.
type Environment = Result<Vec<(&'static str, OsString)>, Missing>;

/// The environment of a driver. A missing driver is reported as a skip, or fails where drivers are required.
fn found(environment: Environment) -> Option<Vec<(&'static str, OsString)>> {
    let Err(Missing { what, is_failure }) = environment else { return environment.ok() };
    assert!(!is_failure, "{what}");
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
    None
}

/// Runs the command to its end.
fn run(command: &mut Command) -> Ended {
    command.output().expect("the program starts").into()
}

/// Runs the command to its end, with `input` in a pipe as standard input.
fn run_with(command: &mut Command, input: &[u8]) -> Ended {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    std::thread::scope(|scope| {
        // The program may close the pipe before its end.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().expect("the program ends").into()
    })
}

/// Starts the command, and kills it once `is_there`, or it has ended.
fn kill_once(command: &mut Command, is_there: impl Fn() -> bool) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    while !is_there() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("no signal ended it"),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).expect("words are UTF-8"),
        }
    }
}

impl Ended {
    /// Expects success without any words, and returns standard output as text.
    #[track_caller]
    fn text(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""));
        String::from_utf8(self.stdout).expect("text is UTF-8")
    }

    /// As [`Self::text`], parsed as JSON.
    #[track_caller]
    fn json(self) -> Value {
        serde_json::from_str(&self.text()).expect("JSON")
    }

    /// Expects success, and nothing on standard error except the device's name.
    #[track_caller]
    fn done(self) -> Vec<u8> {
        assert_eq!(self.code, 0, "{}", self.stderr);
        assert!(self.is_device_line(), "{}", self.stderr);
        self.stdout
    }

    fn is_device_line(&self) -> bool {
        self.stderr.starts_with("subsweep: on device ") && self.stderr.lines().count() == 1
    }

    /// Expects this code, nothing on standard output, and one line that contains `what`.
    #[track_caller]
    fn refused(&self, code: i32, what: &str) {
        assert_eq!(self.code, code, "{}", self.stderr);
        assert_eq!(self.stdout, b"", "{}", self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        assert!(self.stderr.starts_with("subsweep: ") && self.stderr.contains(what), "{}", self.stderr);
    }

    /// Expects this code and one line that contains `what`, with any standard output.
    #[track_caller]
    fn refused_with_words(&self, code: i32, what: &str) {
        Self { stdout: Vec::new(), stderr: self.stderr.clone(), ..*self }.refused(code, what);
    }
}

/// A temporary folder, removed when dropped.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and returns its path as an argument.
    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), bytes).expect("a file is written");
        self.argument(name)
    }

    fn argument(&self, name: &str) -> String {
        self.path(name).into_os_string().into_string().expect("a path in UTF-8")
    }

    #[track_caller]
    fn read(&self, name: &str) -> Vec<u8> {
        read(&self.path(name))
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("a folder");
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[track_caller]
fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("a file is there")
}

/// Words from a linear congruential generator.
fn random(count: usize) -> Vec<u32> {
    let mut state = 12_345_u32;
    let step = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state ^ state >> 15
    };
    std::iter::repeat_with(step).take(count).collect()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    assert!(bytes.len().is_multiple_of(4), "{} bytes are no u32", bytes.len());
    bytes.chunks_exact(4).map(|chunk| u32::from_le_bytes(chunk.try_into().unwrap())).collect()
}

/// An `.npy` file as numpy writes it: its header fills 128 bytes.
fn npy(descr: &str, shape: &str, payload: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{text:117}\n").bytes());
    assert_eq!(file.len(), 128);
    file.extend(payload);
    file
}

/// Reference of a scan: sums of each of `columns` columns, in order.
fn scanned(input: &[u32], columns: usize, is_exclusive: bool) -> Vec<u32> {
    let mut sums = vec![0_u32; columns];
    let mut output = Vec::new();
    for (at, &word) in input.iter().enumerate() {
        let sum = &mut sums[at % columns];
        let before = *sum;
        *sum = sum.wrapping_add(word);
        output.push(if is_exclusive { before } else { *sum });
    }
    output
}
