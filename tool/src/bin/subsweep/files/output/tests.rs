use subsweep_tool::table::{Format, TableShape};

use super::*;

fn grid() -> Table {
    Table::of_u32(Format::Npy, TableShape::Grid { rows: 3, columns: 2 }, &[0, 1, 2, 3, 4, 5])
}

fn prepare(path: &Path) -> Result<Output, OutputError> {
    Output::prepare(&Destination::File(path.to_owned()), "-o", &[])
}

fn commit(outputs: impl Into<Vec<Output>>) -> Result<(), OutputError> {
    let outputs = outputs.into();
    let tables = outputs.iter().map(|_| grid()).collect::<Vec<_>>();
    Outputs(outputs).commit(tables)
}

fn refusal(path: &Path, input: &Path) -> OutputProblem {
    let sources = [&Source::Stdin, &Source::File(input.to_owned())];
    Output::prepare(&Destination::File(path.to_owned()), "-o", &sources).unwrap_err().problem
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_failed_commit_keeps_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let output = prepare(&path).unwrap();
    // A rename cannot replace a directory that is not empty.
    fs::create_dir(&path).unwrap();
    fs::write(path.join("inside"), "before").unwrap();
    let error = commit([output]).unwrap_err();
    assert!(matches!(error.problem, OutputProblem::Write(_)));
    assert!(error.to_string().starts_with(&format!("{}: could not be written (", path.display())), "{error}");
    assert_eq!(names_in(folder.path()), ["out"]);
    assert_eq!(names_in(&path), ["inside"]);
}

#[test]
fn two_tables_are_both_kept_back_if_one_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "before").unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    for is_first in [true, false] {
        let gone = folder.path().join("sub/gone");
        let (file, failing) = (prepare(&path).unwrap(), prepare(&gone).unwrap());
        // The folder is removed after the preparation.
        fs::remove_dir(folder.path().join("sub")).unwrap();
        let error = commit(if is_first { [failing, file] } else { [file, failing] }).unwrap_err();
        assert!(matches!(error.problem, OutputProblem::Folder(_)), "{error}");
        assert_eq!(error.output, gone.display().to_string());
        assert_eq!(fs::read(&path).unwrap(), b"before");
        assert_eq!(names_in(folder.path()), ["file"]);
        fs::create_dir(folder.path().join("sub")).unwrap();
    }
}

#[test]
fn one_file_is_recognized_under_several_names() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name);
    fs::create_dir(inside("sub")).unwrap();
    fs::write(inside("there"), "before").unwrap();
    let is_one = |a: &str, b: &str| {
        let [a, b] = [a, b].map(|name| Destination::File(inside(name)));
        a.is_same_file_as(&b)
    };
    for name in ["there", "new"] {
        assert!(is_one(name, name));
        assert!(is_one(name, &format!("sub/../{name}")));
        assert!(is_one(&format!("./{name}"), name));
        assert!(!is_one(name, "other"));
        assert!(!is_one(&format!("sub/{name}"), name));
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("new", inside("link")).unwrap();
        assert!(is_one("link", "new"));
        assert!(!is_one("link", "there"));
        std::os::unix::fs::symlink("sub", inside("folder")).unwrap();
        assert!(is_one("folder/new", "sub/new"));
        // Without opening the pipe, which would block.
        assert!(std::process::Command::new("mkfifo").arg(inside("pipe")).status().unwrap().success());
        assert!(is_one("pipe", "sub/../pipe"));
        assert!(!is_one("pipe", "there"));
        let null = Destination::File("/dev/null".into());
        assert!(!null.is_same_file_as(&null));
    }
}

#[test]
fn the_folder_of_temporary_files_is_that_of_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::prepare(&Destination::File(folder.path().join("new")), "-o", &[]).unwrap();
    let found = Outputs(vec![output]).temporary_folder();
    assert!(same_file::is_same_file(&found.path, folder.path()).unwrap());
    assert_eq!(found.another, "write the output to another folder");
    #[cfg(unix)]
    {
        let stream = Output::prepare(&Destination::File("/dev/null".into()), "-o", &[]).unwrap();
        assert_eq!(Outputs(vec![stream]).temporary_folder().path, std::env::temp_dir());
    }
}

#[test]
fn the_input_is_refused_as_output_under_every_spelling() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name);
    fs::create_dir(inside("sub")).unwrap();
    fs::write(inside("in"), "before").unwrap();
    fs::write(inside("other"), "before").unwrap();
    fs::hard_link(inside("in"), inside("hard")).unwrap();
    let spellings = ["in", "./in", "sub/../in", "hard"].map(inside).to_vec();
    #[cfg(unix)]
    let spellings = {
        std::os::unix::fs::symlink("in", inside("link")).unwrap();
        std::os::unix::fs::symlink(inside("link"), inside("sub/link")).unwrap();
        [spellings, ["link", "sub/link"].map(inside).to_vec()].concat()
    };
    for path in &spellings {
        assert!(matches!(refusal(path, &inside("in")), OutputProblem::IsInput { .. }), "{}", path.display());
        assert!(matches!(refusal(&inside("in"), path), OutputProblem::IsInput { .. }), "{}", path.display());
    }
    assert!(
        Output::prepare(&Destination::File(inside("other")), "-o", &[&Source::File(inside("in"))]).is_ok()
    );
    assert!(
        Output::prepare(&Destination::File(inside("new")), "-o", &[&Source::File(inside("none"))]).is_ok()
    );
    assert_eq!(fs::read(inside("in")).unwrap(), b"before");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
    use std::process::Command;

    use super::*;
    use crate::files::GRID;

    #[test]
    fn permissions_are_those_of_the_replaced_file_or_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().mode() & 0o777;
        for bits in [0o640, 0o600, 0o755, 0o666] {
            let path = folder.path().join("out");
            fs::write(&path, "before").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(bits)).unwrap();
            commit([prepare(&path).unwrap()]).unwrap();
            assert_eq!(mode("out"), bits);
        }
        File::create(folder.path().join("plain")).unwrap();
        commit([prepare(&folder.path().join("new")).unwrap()]).unwrap();
        assert_eq!(mode("new"), mode("plain"));
    }

    #[test]
    fn links_are_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| folder.path().join(name);
        fs::create_dir(inside("sub")).unwrap();
        fs::write(inside("sub/there"), "before").unwrap();
        for (link, target) in [("link", "sub/there"), ("dangling", "sub/new")] {
            symlink(target, inside(link)).unwrap();
            symlink(inside(link), inside("sub").join(link)).unwrap();
            for link in [inside(link), inside("sub").join(link)] {
                commit([prepare(&link).unwrap()]).unwrap();
                assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
                assert_eq!(fs::read(inside(target)).unwrap(), GRID);
                fs::write(inside(target), "before").unwrap();
            }
            if target == "sub/new" {
                fs::remove_file(inside(target)).unwrap();
                commit([prepare(&inside("sub/dangling")).unwrap()]).unwrap();
                assert_eq!(fs::read(inside(target)).unwrap(), GRID);
            }
        }
        symlink("loop", inside("loop")).unwrap();
        assert!(matches!(prepare(&inside("loop")).unwrap_err().problem, OutputProblem::Unreachable(_)));
    }

    #[test]
    fn devices_are_written_and_never_replaced() {
        commit([prepare(Path::new("/dev/null")).unwrap()]).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        // Writing to a device cannot destroy its input.
        let null = Path::new("/dev/null").to_owned();
        Output::prepare(&Destination::File(null.clone()), "-o", &[&Source::File(null)]).unwrap();
        if Path::new("/dev/full").exists() {
            let error = commit([prepare(Path::new("/dev/full")).unwrap()]).unwrap_err();
            assert!(matches!(error.problem, OutputProblem::NoRoom(_)), "{error}");
            // If the stream fails, the file is not renamed.
            let folder = tempfile::tempdir().unwrap();
            let file = prepare(&folder.path().join("file")).unwrap();
            let full = prepare(Path::new("/dev/full")).unwrap();
            assert!(commit([file, full]).is_err());
            assert!(names_in(folder.path()).is_empty());
        }
    }

    #[test]
    fn pipes_are_written_and_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let reader = std::thread::spawn({
            let path = path.clone();
            move || fs::read(path).unwrap()
        });
        commit([prepare(&path).unwrap()]).unwrap();
        assert_eq!(reader.join().unwrap(), GRID);
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
    }

    /// Run only by the next test, in a process of its own.
    #[test]
    #[ignore = "it ends its process"]
    fn a_signal_while_a_file_is_written() {
        let Some(path) = std::env::var_os("SUBSWEEP_TEST_OUTPUT") else { return };
        let path = PathBuf::from(path);
        handle_signals();
        let folder = path.parent().unwrap();
        let _temporaries = [Temporary::named_in(folder).unwrap(), Temporary::named_in(folder).unwrap()];
        assert_eq!(names_in(folder).len(), 3);
        // SAFETY: `raise` has no preconditions.
        unsafe { libc::raise(std::env::var("SUBSWEEP_TEST_SIGNAL").unwrap().parse().unwrap()) };
    }

    #[test]
    fn a_signal_removes_temporary_files_and_keeps_the_old_one() {
        use std::os::unix::process::{CommandExt, ExitStatusExt};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "before").unwrap();
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
            let mut command = Command::new(std::env::current_exe().unwrap());
            let test = "files::output::tests::unix::a_signal_while_a_file_is_written";
            command.args(["--exact", test, "--ignored"]);
            command.env("SUBSWEEP_TEST_OUTPUT", &path).env("SUBSWEEP_TEST_SIGNAL", signal.to_string());
            // The signal may be ignored in this process, as under `nohup`, and children inherit that.
            let restore_default = move || {
                // SAFETY: `signal` may be called between fork and exec.
                unsafe { libc::signal(signal, libc::SIG_DFL) };
                Ok(())
            };
            // SAFETY: the closure calls `signal` only.
            unsafe { command.pre_exec(restore_default) };
            let output = command.output().unwrap();
            assert_eq!(output.status.signal(), Some(signal), "{output:?}");
            assert_eq!(fs::read(&path).unwrap(), b"before");
            assert_eq!(names_in(folder.path()), ["out"]);
        }
    }

    #[test]
    fn protected_files_and_directories_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "before").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        if OpenOptions::new().write(true).open(&path).is_ok() {
            eprintln!("not supported: permissions bind everybody but root");
            return;
        }
        assert!(matches!(prepare(&path).unwrap_err().problem, OutputProblem::Existing(_)));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let new = prepare(&folder.path().join("new"));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(new.unwrap_err().problem, OutputProblem::Folder(_)));
        assert_eq!(fs::read(&path).unwrap(), b"before");
    }
}

#[cfg(windows)]
mod windows {
    use std::os::windows::process::CommandExt;
    use std::process::Command;
    use std::time::Duration;

    use windows_sys::Win32::Foundation::STATUS_CONTROL_C_EXIT;
    use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent};
    use windows_sys::Win32::System::Threading::CREATE_NO_WINDOW;

    use super::*;
    use crate::files::unfinished::remove_and_end;

    /// Run only by the next test, in a process with a console of its own.
    #[test]
    #[ignore = "it ends its process"]
    fn ctrl_break_while_a_file_is_written() {
        let Some(path) = std::env::var_os("SUBSWEEP_TEST_OUTPUT") else { return };
        let path = PathBuf::from(path);
        handle_signals();
        let folder = path.parent().unwrap();
        let _temporaries = [Temporary::named_in(folder).unwrap(), Temporary::named_in(folder).unwrap()];
        assert_eq!(names_in(folder).len(), 3);
        // SAFETY: a call without pointers. All processes of the console, which is this one, get the event.
        let is_sent = unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, 0) } != 0;
        if !is_sent {
            // Wine makes no console here; the handler is called as Windows calls it.
            // SAFETY: it takes any number.
            std::thread::spawn(|| unsafe { remove_and_end(CTRL_BREAK_EVENT) });
        }
        std::thread::sleep(Duration::from_secs(30));
    }

    #[test]
    fn ctrl_break_removes_temporary_files_and_keeps_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "before").unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        let test = "files::output::tests::windows::ctrl_break_while_a_file_is_written";
        command.args(["--exact", test, "--ignored"]).env("SUBSWEEP_TEST_OUTPUT", &path);
        let output = command.creation_flags(CREATE_NO_WINDOW).output().unwrap();
        assert_eq!(output.status.code(), Some(STATUS_CONTROL_C_EXIT), "{output:?}");
        assert_eq!(fs::read(&path).unwrap(), b"before");
        assert_eq!(names_in(folder.path()), ["out"]);
    }
}
