//! Paths, devices, pipes and sharing of Windows. Under Wine, too, in row `windows-wine` of `tools/platforms`.

#![cfg(windows)]

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::FromRawHandle;
use std::path::Path;

use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_SHARE_READ, FILE_SHARE_WRITE, PIPE_ACCESS_INBOUND, PIPE_ACCESS_OUTBOUND,
};
use windows_sys::Win32::System::Pipes::{ConnectNamedPipe, CreateNamedPipeW, PIPE_TYPE_BYTE};

use super::*;

const KEYS: [u32; 5] = [5, 1, 4, 2, 3];

/// `sort` of raw keys.
fn sort(arguments: &[&str]) -> Command {
    subsweep([&["sort", "--type", "u32"], arguments].concat())
}

#[test]
fn a_path_has_many_spellings() {
    let folder = Folder::new();
    let input = folder.file("in", bytes(&KEYS));
    let drive = input.split_once(":\\").expect("a path begins with a drive").0;
    assert_eq!(drive.len(), 1, "{input}");
    let spellings = [
        input.clone(),
        input.replace('\\', "/"),
        input.to_uppercase(),
        format!(r"\\?\{input}"),
        input.replace("\\in", "\\.\\nowhere\\..\\in"),
    ];
    for spelling in &spellings {
        assert_eq!(words(&run(&mut sort(&[spelling])).done()), [1, 2, 3, 4, 5], "{spelling}");
        run(without_drivers(&mut sort(&[&input, "-o", spelling]))).refused(2, "is also the input");
        let output = spelling[..spelling.len() - 2].to_owned() + "out";
        run(&mut sort(&[&input, "-o", &output])).done();
        assert_eq!(words(&folder.read("out")), [1, 2, 3, 4, 5], "{output}");
        std::fs::remove_file(folder.path("out")).unwrap();
    }
    // Relative to the current folder, and to the current folder of the drive.
    for output in ["out".to_owned(), format!("{drive}:out")] {
        run(sort(&["in", "-o", &output]).current_dir(folder.path(""))).done();
        assert_eq!(words(&folder.read("out")), [1, 2, 3, 4, 5], "{output}");
        std::fs::remove_file(folder.path("out")).unwrap();
    }
    for (output, what) in [
        ("in:stream", "names a stream of a file"),
        ("a?b", "cannot be reached"),
        ("nowhere\\out", "no file can be made in its directory (no such directory)"),
        ("nowhere\\", "names no file"),
        ("", "is a directory"),
    ] {
        run(without_drivers(&mut sort(&[&input, "-o", &folder.argument(output)]))).refused(2, what);
    }
    run(without_drivers(&mut sort(&[&folder.argument("")]))).refused(2, "is a directory; name a file in it");
    assert_eq!(folder.names(), ["in"]);
}

#[test]
fn devices_are_no_files() {
    let folder = Folder::new();
    let input = folder.file("in", bytes(&KEYS));
    let values = folder.file("values", bytes(&KEYS));
    for null in ["NUL", "nul", r"\\.\NUL"] {
        let mut command = sort(&[&input, "-o", null]);
        assert_eq!(run(command.current_dir(folder.path(""))).done(), b"");
        assert_eq!(run(&mut sort(&[null])).done(), b"");
        let both = ["--values", &values, "--values-output", null, "-o", null];
        run(&mut sort(&[&[&*input], &both[..]].concat())).done();
    }
    // There is a console or none; in neither case is it a file.
    let mut command = sort(&[&input, "-o", "CON"]);
    let ended = run(without_drivers(command.current_dir(folder.path(""))));
    assert!(ended.stderr.starts_with("subsweep: CON: "), "{}", ended.stderr);
    ended.refused(2, "name ");
    run(without_drivers(&mut sort(&["LPT9"]))).refused(2, "LPT9: cannot be opened");
    assert_eq!(folder.names(), ["in", "values"]);
}

/// The server's end of a named pipe, for one client.
struct PipeServer(HANDLE);

// SAFETY: a handle may be used by any thread.
unsafe impl Send for PipeServer {}

impl PipeServer {
    fn new(name: &str, access: u32) -> Self {
        let name: Vec<u16> = name.encode_utf16().chain([0]).collect();
        // SAFETY: the name ends with 0, and no attributes are given.
        let handle =
            unsafe { CreateNamedPipeW(name.as_ptr(), access, PIPE_TYPE_BYTE, 1, 65536, 65536, 0, std::ptr::null()) };
        assert!(handle != INVALID_HANDLE_VALUE, "{}", std::io::Error::last_os_error());
        Self(handle)
    }

    /// Waits for the client. One that has come already is an error, which is ignored.
    fn connect(self) -> File {
        // SAFETY: the handle is a pipe's, and owned by the file from here on.
        unsafe {
            ConnectNamedPipe(self.0, std::ptr::null_mut());
            File::from_raw_handle(self.0)
        }
    }
}

#[test]
fn named_pipes_are_read_and_written() {
    let folder = Folder::new();
    let (input, output) = (r"\\.\pipe\subsweep-test-in", r"\\.\pipe\subsweep-test-out");
    // More than a pipe holds.
    let keys = random(1 << 16);
    let mut sorted = keys.clone();
    sorted.sort_unstable();

    let server = PipeServer::new(input, PIPE_ACCESS_OUTBOUND);
    let writer = std::thread::spawn({
        let keys = bytes(&keys);
        move || server.connect().write_all(&keys).unwrap()
    });
    run(&mut sort(&[input, "-o", &folder.argument("out")])).done();
    writer.join().unwrap();
    assert!(words(&folder.read("out")) == sorted);

    let server = PipeServer::new(output, PIPE_ACCESS_INBOUND);
    let reader = std::thread::spawn(move || {
        let (mut pipe, mut bytes) = (server.connect(), Vec::new());
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    });
    run(&mut sort(&[&folder.file("in", bytes(&keys)), "-o", output])).done();
    assert!(words(&reader.join().unwrap()) == sorted);
}

#[test]
fn an_output_that_is_open_is_replaced_or_kept() {
    let folder = Folder::new();
    let input = folder.file("in", bytes(&KEYS));
    let output = folder.file("out", "before");
    // All is shared, as Rust and many programs open files. Wine 8 lacks the rename that replaces it nevertheless.
    let mut reader = File::open(&output).unwrap();
    let ended = run(&mut sort(&[&input, "-o", &output]));
    match ended.code {
        0 => assert_eq!(words(&folder.read("out")), [1, 2, 3, 4, 5]),
        _ => assert!(ended.stderr.contains("close the program that has it open"), "{}", ended.stderr),
    }
    let mut before = String::new();
    reader.read_to_string(&mut before).unwrap();
    assert_eq!((before.as_str(), folder.names()), ("before", vec!["in".into(), "out".into()]));
    drop(reader);

    let open = |shared| OpenOptions::new().read(true).share_mode(shared).open(folder.path("out")).unwrap();
    folder.file("out", "before");
    for (shared, remedy) in [
        // Nobody else may write; nobody may remove.
        (FILE_SHARE_READ, "check its permissions, or name another file"),
        (FILE_SHARE_READ | FILE_SHARE_WRITE, "close the program that has it open, or name another file"),
    ] {
        let _reader = open(shared);
        let ended = run(&mut sort(&[&input, "-o", &output]));
        assert_eq!((ended.code, &*ended.stdout), (2, &b""[..]), "{}", ended.stderr);
        assert!(ended.stderr.contains(remedy), "{}", ended.stderr);
        assert_eq!((folder.read("out"), folder.names()), (b"before".to_vec(), vec!["in".into(), "out".into()]));
    }
    run(&mut sort(&[&input, "-o", &output])).done();
    assert_eq!(words(&folder.read("out")), [1, 2, 3, 4, 5]);
}

#[test]
fn the_cache_is_in_the_folder_of_local_data() {
    let folder = Folder::new();
    let input = folder.file("in", bytes(&KEYS));
    run(sort(&[&input]).env_remove("SUBSWEEP_CACHE")).done();
    let local = std::env::var_os("LOCALAPPDATA").expect("Windows sets it");
    assert!(Path::new(&local).join(r"subsweep\self-tests").is_dir(), "{local:?}");
    let elsewhere = folder.path("cache");
    run(sort(&[&input]).env("SUBSWEEP_CACHE", &elsewhere)).done();
    assert!(elsewhere.join("self-tests").is_dir());
}
