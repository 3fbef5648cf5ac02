//! Output of tables and reports that appears whole or not at all.

mod problem;

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use same_file::Handle;
use serde::Serialize;
use subsweep_tool::table::Table;

pub use problem::{OutputError, OutputProblem};

use super::identity;
use super::spool::{Spool, TemporaryFolder};
use super::temporary::Temporary;
pub use super::unfinished::handle_signals;
#[allow(unused_imports, reason = "of subsweep-mpi")]
pub use super::unfinished::remove_unfinished;
use super::{Destination, Source, streams};
use crate::terminal;

/// A prepared destination of a table or a report. It is prepared before any work, so that a bad destination costs
/// none.
///
/// A file is written to a temporary one in the same directory, without a name where the file system has such files, and
/// renamed when complete: until [`Outputs::commit`] succeeds an existing file is unchanged, and without it nothing is
/// left behind. Standard
/// output, pipes and devices are written directly.
#[derive(Debug)]
pub struct Output {
    name: String,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Stdout,
    /// A pipe, a device or an open descriptor, which is written through and never replaced.
    Special(File),
    Regular(RegularFile),
}

/// A regular file that exists or will be created, with links followed.
#[derive(Debug)]
struct RegularFile {
    path: PathBuf,
    /// Metadata of the existing file.
    replaced: Option<fs::Metadata>,
}

impl Output {
    /// Prepares to write to `destination`. Refuses a terminal, a directory, any file of `sources` under any name,
    /// and a path that cannot be written. `option` is the option that named the destination.
    pub fn prepare(
        destination: &Destination,
        option: &'static str,
        sources: &[&Source],
    ) -> Result<Self, OutputError> {
        handle_signals();
        let name = destination.to_string();
        let target = match destination {
            Destination::Stdout => prepare_stdout(sources),
            Destination::File(path) => prepare_file(path, option, sources),
        };
        match target {
            Ok(target) => Ok(Output { name, target }),
            Err(problem) => Err(OutputError { output: name, problem }),
        }
    }

    /// Writes an intermediate report: a file is replaced each time. Streams get only the last report, so nothing is
    /// rendered for them.
    pub fn update(&self, render: impl FnOnce() -> anyhow::Result<Vec<u8>>) -> anyhow::Result<()> {
        match &self.target {
            Target::Stdout | Target::Special(_) => Ok(()),
            Target::Regular(regular) => Ok(self.named(regular.replace(&[&render()?]))?),
        }
    }

    /// Writes the final report.
    pub fn commit_report(self, report: &[u8]) -> Result<(), OutputError> {
        let mut begun = self.begin()?;
        begun.write_bytes(report)?;
        begun.finish()
    }

    /// Whether this is standard output, which then takes no other text.
    pub fn is_stdout(&self) -> bool {
        matches!(self.target, Target::Stdout)
    }

    /// The folder of the file, if it is one.
    pub fn folder(&self) -> Option<&Path> {
        match &self.target {
            Target::Regular(regular) => Some(folder_of(&regular.path)),
            Target::Stdout | Target::Special(_) => None,
        }
    }

    /// Begins to write a table from its first byte to its last.
    pub fn begin(self) -> Result<BegunOutput, OutputError> {
        let sink = match &self.target {
            Target::Stdout => Sink::Stdout(io::stdout()),
            Target::Special(file) => {
                Sink::Special(self.named(file.try_clone().map_err(OutputProblem::writing))?)
            }
            Target::Regular(regular) => Sink::Temporary(self.named(regular.temporary())?),
        };
        Ok(BegunOutput { output: self, sink, header: Vec::new(), is_one_of_several: false, is_closed: false })
    }

    fn named<T>(&self, result: Result<T, OutputProblem>) -> Result<T, OutputError> {
        result.map_err(|problem| OutputError { output: self.name.clone(), problem })
    }
}

/// An output that is being written. A file appears once [`finish`](Self::finish) succeeds, and without it nothing is left
/// behind.
#[derive(Debug)]
pub struct BegunOutput {
    output: Output,
    sink: Sink,
    /// Written with the first bytes, so that a failure before them leaves a stream empty.
    pub header: Vec<u8>,
    /// Whether a closed pipe takes all further bytes, because another output is not to end with it.
    is_one_of_several: bool,
    is_closed: bool,
}

#[derive(Debug)]
enum Sink {
    Stdout(io::Stdout),
    Special(File),
    Temporary(Temporary),
}

impl Sink {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Stdout(stdout) => stdout,
            Self::Special(file) => file,
            Self::Temporary(temporary) => temporary.file(),
        }
    }
}

impl BegunOutput {
    /// The file, if it can be written in any order.
    pub fn file(&mut self) -> Option<&mut File> {
        match &mut self.sink {
            Sink::Temporary(temporary) => Some(temporary.file()),
            Sink::Stdout(_) | Sink::Special(_) => None,
        }
    }

    /// A path by which other processes of this machine open the file until it is renamed, if it is one.
    #[allow(dead_code, reason = "other ranks of subsweep-mpi open it")]
    pub fn path(&self) -> Option<PathBuf> {
        match &self.sink {
            Sink::Temporary(temporary) => Some(temporary.path()),
            Sink::Stdout(_) | Sink::Special(_) => None,
        }
    }

    /// Gives a file without a name one, so that processes of other machines open it by its path as well.
    #[allow(dead_code, reason = "other ranks of subsweep-mpi open it")]
    pub fn give_name(&mut self) -> Result<(), OutputError> {
        let given = match (&mut self.sink, self.output.folder()) {
            (Sink::Temporary(temporary), Some(folder)) => temporary.give_name(folder),
            _ => Ok(()),
        };
        given.map_err(|error| self.own_error(error))
    }

    /// The error of a failed write: of this output, or of the one that has returned it.
    pub fn error(&self, error: io::Error) -> OutputError {
        error.downcast().unwrap_or_else(|error| self.own_error(error))
    }

    fn own_error(&self, error: io::Error) -> OutputError {
        OutputError { output: self.output.name.clone(), problem: OutputProblem::writing(error) }
    }

    /// Ends writing, and renames the file to its final path.
    pub fn finish(mut self) -> Result<(), OutputError> {
        self.complete()?;
        self.rename()
    }

    /// Completes the file, or the stream, and does not rename it.
    fn complete(&mut self) -> Result<(), OutputError> {
        self.write_header().map_err(|error| self.error(error))?;
        let completed = match &mut self.sink {
            Sink::Temporary(temporary) => sync(temporary.file()),
            Sink::Stdout(_) | Sink::Special(_) if self.is_closed => Err(OutputProblem::BrokenPipe),
            Sink::Stdout(stdout) => stdout.flush().map_err(OutputProblem::writing),
            Sink::Special(_) => Ok(()),
        };
        self.output.named(completed)
    }

    fn rename(self) -> Result<(), OutputError> {
        let Self { output, sink, .. } = self;
        match (sink, &output.target) {
            (Sink::Temporary(temporary), Target::Regular(regular)) => output.named(regular.rename(temporary)),
            _ => Ok(()),
        }
    }

    fn write_header(&mut self) -> io::Result<()> {
        let header = std::mem::take(&mut self.header);
        self.write_all(&header)
    }

    /// Writes bytes that are in memory.
    pub fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), OutputError> {
        self.write_all(bytes).map_err(|error| self.error(error))
    }

    fn write_table(&mut self, table: &Table) -> Result<(), OutputError> {
        self.write_bytes(&table.header())?;
        self.write_bytes(&table.payload)
    }
}

/// The prepared outputs of a job, in the order of their declaration.
#[derive(Debug)]
pub struct Outputs(pub Vec<Output>);

/// A table whose elements are in temporary files.
#[derive(Debug)]
pub struct Spooled {
    /// The header, and elements that are in memory.
    pub start: Vec<u8>,
    /// The elements of one file, followed by the elements of the next.
    pub elements: Vec<Spool>,
}

impl Outputs {
    /// The folder of temporary files: the folder of the first file, or `TMPDIR` for a stream.
    pub fn temporary_folder(&self) -> TemporaryFolder {
        let folder = self.0.first().and_then(Output::folder);
        folder.map_or_else(TemporaryFolder::default, |folder| TemporaryFolder {
            path: folder.to_owned(),
            another: "write the output to another folder",
        })
    }

    /// Begins all, of which the command has declared `N`.
    pub fn begin<const N: usize>(self) -> Result<[BegunOutput; N], OutputError> {
        Ok(self.begin_all()?.try_into().expect("a command begins the outputs that it has declared"))
    }

    /// Begins all; a pipe that its reader closes does not end the others.
    pub fn begin_all(self) -> Result<Vec<BegunOutput>, OutputError> {
        let is_one_of_several = self.0.len() > 1;
        let begin = |output: Output| Ok(BegunOutput { is_one_of_several, ..output.begin()? });
        self.0.into_iter().map(begin).collect()
    }

    /// Writes a table to each, whole.
    pub fn commit(self, tables: impl IntoIterator<Item = Table>) -> Result<(), OutputError> {
        self.commit_by(tables, |output, table| output.write_table(table))
    }

    /// Writes the parts of a file to the only output.
    pub fn commit_parts(self, parts: [&[u8]; 2]) -> Result<(), OutputError> {
        self.commit_by([parts], |output, parts| parts.iter().try_for_each(|part| output.write_bytes(part)))
    }

    /// Writes a table to each, whole.
    pub fn commit_spooled(self, tables: impl IntoIterator<Item = Spooled>) -> Result<(), OutputError> {
        self.commit_by(tables, |output, Spooled { start, elements }| {
            output.write_bytes(start)?;
            let copied = elements.iter_mut().try_for_each(|spool| spool.copy_to(output));
            copied.map_err(|error| output.error(error))
        })
    }

    /// A stream cannot be taken back, so it is written after the temporary files, and standard output, which has a reader,
    /// last.
    fn commit_by<T>(
        self,
        tables: impl IntoIterator<Item = T>,
        write: impl Fn(&mut BegunOutput, &mut T) -> Result<(), OutputError>,
    ) -> Result<(), OutputError> {
        let output_count = self.0.len();
        let mut begun: Vec<_> = self.begin_all()?.into_iter().zip(tables).collect();
        assert_eq!(begun.len(), output_count, "each output has a table");
        begun.sort_by_key(|(output, _)| match output.sink {
            Sink::Temporary(_) => 0,
            Sink::Special(_) => 1,
            Sink::Stdout(_) => 2,
        });
        for (output, table) in &mut begun {
            write(output, table)?;
        }
        finish_all(begun.into_iter().map(|(output, _)| output))
    }
}

/// Finishes several outputs. All files are complete before the first is renamed.
pub fn finish_all(outputs: impl IntoIterator<Item = BegunOutput>) -> Result<(), OutputError> {
    let mut outputs: Vec<_> = outputs.into_iter().collect();
    let mut ended = Ok(());
    for output in &mut outputs {
        match output.complete() {
            Ok(()) => {}
            Err(error) if matches!(error.problem, OutputProblem::BrokenPipe) => ended = Err(error),
            Err(error) => return Err(error),
        }
    }
    for output in outputs {
        output.rename()?;
    }
    ended
}

impl Write for BegunOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.header.is_empty() {
            self.write_header()?;
        }
        if self.is_closed {
            return Ok(bytes.len());
        }
        match self.sink.writer().write(bytes) {
            Err(error) if self.is_one_of_several && error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(bytes.len())
            }
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                Err(io::Error::other(self.own_error(error)))
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.writer().flush()
    }
}

impl Destination {
    /// Whether both destinations are the same file, pipe or socket. Neither is opened.
    pub fn is_same_file_as(&self, other: &Self) -> bool {
        let is_one_file = |a: Option<Handle>, b| a.is_some() && a == b;
        let is_one_path = |a: Option<PathBuf>, b| a.is_some() && a == b;
        is_one_path(self.resolved(), other.resolved()) || is_one_file(self.handle(), other.handle())
    }

    /// The file, if it exists and is no pipe or device.
    fn handle(&self) -> Option<Handle> {
        match self {
            Self::File(path) => identity::of_path(path),
            Self::Stdout => identity::of_stdout(),
        }
    }

    /// The canonical path of a file or pipe, which need not exist, if its folder does; none for a device such as
    /// `/dev/null`.
    fn resolved(&self) -> Option<PathBuf> {
        let Self::File(path) = self else { return None };
        if identity::is_device(path) {
            return None;
        }
        let path = follow(path).ok()?;
        Some(fs::canonicalize(folder_of(&path)).ok()?.join(path.file_name()?))
    }
}

/// Writes text to standard output.
pub fn print(text: &str) -> Result<(), OutputError> {
    let written = if streams::is_stdout_closed() {
        Err(OutputProblem::Closed)
    } else {
        write(&mut io::stdout().lock(), &[text.as_bytes()])
    };
    written.map_err(of_stdout)
}

/// JSON for people as well, with an end of line.
pub fn to_json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// Refuses a closed standard output: another file may have its descriptor.
pub fn check_stdout() -> Result<(), OutputError> {
    if streams::is_stdout_closed() { Err(of_stdout(OutputProblem::Closed)) } else { Ok(()) }
}

/// An error of standard output.
pub fn of_stdout(problem: OutputProblem) -> OutputError {
    OutputError { output: Destination::Stdout.to_string(), problem }
}

/// Writes text to standard output, or to standard error if data has taken that. A closed stream is ignored: the
/// exit code matters still.
pub fn print_text(text: &str, is_stdout_taken: bool) -> Result<(), OutputError> {
    if is_stdout_taken {
        terminal::print(text);
        return Ok(());
    }
    print(text).or_else(|error| match error.problem {
        OutputProblem::BrokenPipe | OutputProblem::Closed => Ok(()),
        _ => Err(error),
    })
}

fn prepare_stdout(sources: &[&Source]) -> Result<Target, OutputProblem> {
    if streams::is_stdout_closed() {
        return Err(OutputProblem::Closed);
    }
    if io::stdout().is_terminal() {
        return Err(OutputProblem::Terminal);
    }
    refuse_input(identity::of_stdout(), sources)?;
    Ok(Target::Stdout)
}

/// Prepares an open descriptor, which is written through like standard output: its path would resolve to the
/// redirected file, and replace earlier output in it.
#[cfg(unix)]
fn prepare_descriptor(number: i32, sources: &[&Source]) -> Result<Target, OutputProblem> {
    use std::os::fd::FromRawFd;

    // SAFETY: `fcntl` returns a new descriptor or fails.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(OutputProblem::Existing(io::Error::last_os_error()));
    }
    // SAFETY: the descriptor is open and owned by nothing else.
    let file = unsafe { File::from_raw_fd(copy) };
    // SAFETY: `fcntl` only queries an open descriptor.
    if unsafe { libc::fcntl(copy, libc::F_GETFL) } & libc::O_ACCMODE == libc::O_RDONLY {
        return Err(OutputProblem::Existing(io::Error::from_raw_os_error(libc::EBADF)));
    }
    if file.is_terminal() {
        return Err(OutputProblem::Terminal);
    }
    refuse_input(identity::of_file(&file), sources)?;
    Ok(Target::Special(file))
}

fn prepare_file(path: &Path, option: &'static str, sources: &[&Source]) -> Result<Target, OutputProblem> {
    #[cfg(unix)]
    if let Some(number) = super::descriptor(path.as_os_str()) {
        return prepare_descriptor(number, sources);
    }
    #[cfg(windows)]
    if identity::is_device(path) {
        // Windows has no metadata of it.
        let file = OpenOptions::new().write(true).open(path).map_err(OutputProblem::Existing)?;
        return if file.is_terminal() { Err(OutputProblem::Terminal) } else { Ok(Target::Special(file)) };
    }
    #[cfg(windows)]
    if path.file_name().is_some_and(|name| name.as_encoded_bytes().contains(&b':')) {
        return Err(OutputProblem::Stream);
    }
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(OutputProblem::Directory),
        Ok(metadata) => {
            refuse_input(identity::of_path(path), sources)?;
            // A rename needs permission on the directory only; this checks that the file itself is writable.
            let file = OpenOptions::new().write(true).open(path).map_err(OutputProblem::Existing)?;
            if file.is_terminal() {
                return Err(OutputProblem::Terminal);
            }
            if !metadata.is_file() {
                return Ok(Target::Special(file));
            }
            let path = fs::canonicalize(path).map_err(OutputProblem::Unreachable)?;
            RegularFile { path, replaced: Some(metadata) }.checked()
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = path.as_os_str().as_encoded_bytes();
            if text.is_empty() {
                return Err(OutputProblem::NoName { option });
            }
            if text.last().is_some_and(|&byte| std::path::is_separator(byte.into())) {
                return Err(OutputProblem::NoFile);
            }
            RegularFile { path: follow(path)?, replaced: None }.checked()
        }
        Err(error) => Err(OutputProblem::Unreachable(error)),
    }
}

/// Writes a file whole or not at all, as [`Output`] does.
///
/// # Errors
/// The folder or the file cannot be written.
pub fn write_whole(path: &Path, pieces: &[&[u8]]) -> Result<(), OutputProblem> {
    handle_signals();
    RegularFile { path: path.to_owned(), replaced: None }.replace(pieces)
}

impl RegularFile {
    /// Checks that a file can be created, and removes it: one kept during the work would be left behind by SIGKILL.
    fn checked(self) -> Result<Target, OutputProblem> {
        self.temporary().map(|_| Target::Regular(self))
    }

    /// A temporary file in the same directory, because a rename is atomic only within a file system.
    fn temporary(&self) -> Result<Temporary, OutputProblem> {
        let made = Temporary::new_in(folder_of(&self.path));
        // Only the kind: the whole error names the temporary file, which would confuse.
        let mut temporary = made.map_err(|error| OutputProblem::Folder(error.kind().into()))?;
        if let Some(replaced) = &self.replaced {
            copy_access(replaced, temporary.file()).map_err(OutputProblem::Folder)?;
        }
        Ok(temporary)
    }

    fn replace(&self, pieces: &[&[u8]]) -> Result<(), OutputProblem> {
        let mut temporary = self.temporary()?;
        write(temporary.file(), pieces)?;
        sync(temporary.file())?;
        self.rename(temporary)
    }

    fn rename(&self, temporary: Temporary) -> Result<(), OutputProblem> {
        temporary.rename(&self.path).map_err(|error| {
            // Access is denied, or a share.
            #[cfg(windows)]
            if matches!(error.raw_os_error(), Some(5 | 32)) && self.path.is_file() {
                return OutputProblem::InUse(error);
            }
            OutputProblem::writing(error)
        })
    }
}

/// Without a sync, a crash of the machine could leave a renamed file without its bytes.
pub fn sync(file: &File) -> Result<(), OutputProblem> {
    match file.sync_all() {
        // Some file systems do not support it.
        Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => {
            Ok(())
        }
        synced => synced.map_err(OutputProblem::writing),
    }
}

fn refuse_input(output: Option<Handle>, sources: &[&Source]) -> Result<(), OutputProblem> {
    let Some(output) = output else { return Ok(()) };
    match sources.iter().find(|source| identity::of_source(source).as_ref() == Some(&output)) {
        Some(source) => Err(OutputProblem::IsInput { input: source.to_string() }),
        None => Ok(()),
    }
}

/// Follows the links at `path`, the last of which may point to nothing.
fn follow(path: &Path) -> Result<PathBuf, OutputProblem> {
    // Linux follows as many; a loop of links has failed earlier, when its metadata was read.
    const MAX_LINKS: usize = 40;

    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(link) => path = folder_of(&path).join(link),
            Err(_) => break,
        }
    }
    Ok(path)
}

/// The folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Copies permissions of the replaced file, and its owner where allowed.
fn copy_access(replaced: &fs::Metadata, file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (replaced.uid(), replaced.gid()) {
            // Only root may change the owner; others may change the group.
            let _ = fchown(file, Some(replaced.uid()), Some(replaced.gid()))
                .or_else(|_| fchown(file, None, Some(replaced.gid())));
        }
    }
    file.set_permissions(replaced.permissions())
}

fn write(to: &mut impl Write, pieces: &[&[u8]]) -> Result<(), OutputProblem> {
    let written = pieces.iter().try_for_each(|piece| to.write_all(piece));
    written.and_then(|()| to.flush()).map_err(OutputProblem::writing)
}

#[cfg(test)]
mod tests;
