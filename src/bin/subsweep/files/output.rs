//! Writing a table or a report so that it appears whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use subsweep::table::Table;
use tempfile::NamedTempFile;

use super::identity::FileId;
use super::unfinished::{self, Unfinished};
use super::{Destination, Source, streams};
use crate::words;

/// A place that is ready for a table or a report; to be prepared before any work that would be lost if there
/// were none.
///
/// A file is written beside its place under a name of its own, and renamed when it is complete:
/// until [`commit`](Self::commit) succeeds an existing file stands as it was, and without it
/// nothing is left behind. Standard output, pipes and devices are written directly.
#[derive(Debug)]
pub struct Output {
    name: String,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Stdout,
    /// A pipe, a device or an open descriptor, which must be written through and never be replaced.
    Special(File),
    Regular(Place),
}

/// Where a file goes, under whatever links.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    /// What is there already.
    replaced: Option<fs::Metadata>,
}

impl Output {
    /// Prepares to write to `destination`. Refuses a terminal, a directory, any file of `sources`
    /// under whatever name, and a place that cannot be written. The destination stands in the
    /// command line after `option`.
    pub fn prepare(
        destination: &Destination,
        option: &'static str,
        sources: &[&Source],
    ) -> Result<Self, OutputError> {
        unfinished::handle_signals();
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

    /// Writes all of `table`, and puts it in its place.
    pub fn commit(self, table: &Table) -> Result<(), OutputError> {
        self.commit_pieces(&[&table.header(), table.payload()])
    }

    /// Writes a report that will be written again, where that can be done: a file is replaced each time, and what else
    /// there is gets the last one alone, for which nothing is rendered yet.
    pub fn update(&self, render: impl FnOnce() -> anyhow::Result<Vec<u8>>) -> anyhow::Result<()> {
        match &self.target {
            Target::Stdout | Target::Special(_) => Ok(()),
            Target::Regular(place) => Ok(self.named(place.replace(&[&render()?]))?),
        }
    }

    /// Writes a report for the last time.
    pub fn commit_report(self, report: &[u8]) -> Result<(), OutputError> {
        self.commit_pieces(&[report])
    }

    /// Whether this is standard output, which then has no room for anything else.
    pub fn is_stdout(&self) -> bool {
        matches!(self.target, Target::Stdout)
    }

    fn commit_pieces(&self, pieces: &[&[u8]]) -> Result<(), OutputError> {
        self.named(match &self.target {
            Target::Stdout => write(&mut io::stdout().lock(), pieces),
            Target::Special(file) => write(&mut &*file, pieces),
            Target::Regular(place) => place.replace(pieces),
        })
    }

    fn named<T>(&self, result: Result<T, OutputProblem>) -> Result<T, OutputError> {
        result.map_err(|problem| OutputError { output: self.name.clone(), problem })
    }
}

impl Destination {
    /// Whether what is written here and there would be in one place. Neither is opened for that.
    pub fn is_place_of(&self, other: &Self) -> bool {
        let is_one = |a: Option<FileId>, b| a.is_some() && a == b;
        let is_one_path = |a: Option<PathBuf>, b| a.is_some() && a == b;
        is_one(FileId::of_destination(self), FileId::of_destination(other))
            || is_one_path(self.new_path(), other.new_path())
    }

    /// The one path of a file that is not there yet, if its folder is.
    fn new_path(&self) -> Option<PathBuf> {
        match self {
            Self::File(path) if !fs::exists(path).ok()? => resolved(&follow(path).ok()?),
            Self::File(_) | Self::Stdout => None,
        }
    }
}

/// Writes two tables, and puts both in their places. Both are complete before either is there; then no more is left to
/// do than to rename one and the other.
pub fn commit_both(first: (Output, &Table), second: (Output, &Table)) -> Result<(), OutputError> {
    let outputs = [first, second];
    let mut finished = Vec::new();
    for (output, table) in &outputs {
        if let Target::Regular(place) = &output.target {
            let temporary = output.named(place.finish(&[&table.header(), table.payload()]))?;
            finished.push((output, place, temporary));
        }
    }
    // What has gone to a stream cannot be taken back, so it goes once the files are safe.
    let mut ended = Ok(());
    for (output, table) in &outputs {
        if !matches!(output.target, Target::Regular(_)) {
            ended = output.commit_pieces(&[&table.header(), table.payload()]);
            match &ended {
                // Whoever has read enough of one takes nothing from the other.
                Ok(()) | Err(OutputError { problem: OutputProblem::BrokenPipe, .. }) => {}
                Err(_) => return ended,
            }
        }
    }
    for (output, place, temporary) in finished {
        output.named(place.put(temporary))?;
    }
    ended
}

/// Writes words to standard output.
pub fn print(text: &str) -> Result<(), OutputError> {
    let written = if streams::is_stdout_closed() {
        Err(OutputProblem::Closed)
    } else {
        write(&mut io::stdout().lock(), &[text.as_bytes()])
    };
    written.map_err(of_stdout)
}

/// Refuses words for a standard output that is not there: something else may be open in its place.
pub fn check_stdout() -> Result<(), OutputError> {
    if streams::is_stdout_closed() { Err(of_stdout(OutputProblem::Closed)) } else { Ok(()) }
}

/// Why words did not reach standard output.
pub fn of_stdout(problem: OutputProblem) -> OutputError {
    OutputError { output: Destination::Stdout.to_string(), problem }
}

/// Words for standard output, or for standard error where data has taken that. Whoever reads them may go, or never have
/// been there: the exit code is still to be found out.
pub fn tell(text: &str, is_stdout_taken: bool) -> Result<(), OutputError> {
    if is_stdout_taken {
        words::print(text);
        return Ok(());
    }
    print(text).or_else(|error| match error.problem {
        OutputProblem::BrokenPipe | OutputProblem::Closed => Ok(()),
        _ => Err(error),
    })
}

/// Why nothing was written. One line, with the file's name and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{output}: {problem}")]
pub struct OutputError {
    /// The file, or "standard output".
    pub output: String,
    /// What is wrong with it.
    pub problem: OutputProblem,
}

/// What can be wrong with an output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputProblem {
    /// Neither elements nor reports are words.
    #[error("is a terminal; name a file, or redirect")]
    Terminal,
    /// Standard output is not there.
    #[error("is closed; name a file, or redirect")]
    Closed,
    /// The path is a directory's.
    #[error("is a directory; name a file in it")]
    Directory,
    /// The path of no file ends as a directory's.
    #[error("ends with / and names no file; name a file in it")]
    NoFile,
    /// The path is empty.
    #[error("is no path; name a file with {option}")]
    NoName {
        /// What it is the value of.
        option: &'static str,
    },
    /// The file is read as well.
    #[error("is also the input {input}; name another file")]
    IsInput {
        /// The input, as it was given.
        input: String,
    },
    /// A file, pipe or device that is there and cannot be written.
    #[error("cannot be written ({0}); check its permissions, or name another file")]
    Existing(io::Error),
    /// The path leads nowhere.
    #[error("cannot be reached ({0}); check the path")]
    Unreachable(io::Error),
    /// The directory that the file should be in takes none.
    #[error(
        "no file can be made in its directory ({}); see that it is there and takes files, or name another place",
        of_folder(.0)
    )]
    Folder(io::Error),
    /// There is no room for it, or not for so much. An existing file is as it was.
    #[error("could not be written ({0}); free some space, or choose another place")]
    NoRoom(io::Error),
    /// It would be larger than a file may be here. An existing file is as it was.
    #[error("could not be written ({0}); raise the limit (ulimit -f), or choose another place")]
    TooLarge(io::Error),
    /// Writing failed on the way. An existing file is as it was.
    #[error("could not be written ({0})")]
    Write(io::Error),
    /// The reader of the pipe has gone, usually because it had enough: no reason for words.
    #[error("was closed by its reader")]
    BrokenPipe,
}

/// What is wrong with a directory: what is not found in making a file is the directory itself.
fn of_folder(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such directory".to_owned(),
        _ => error.to_string(),
    }
}

impl OutputProblem {
    /// What writing failed of.
    pub fn writing(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoRoom(error),
            io::ErrorKind::FileTooLarge => Self::TooLarge(error),
            _ => Self::Write(error),
        }
    }
}

fn prepare_stdout(sources: &[&Source]) -> Result<Target, OutputProblem> {
    if streams::is_stdout_closed() {
        return Err(OutputProblem::Closed);
    }
    if io::stdout().is_terminal() {
        return Err(OutputProblem::Terminal);
    }
    refuse_input(FileId::of_stdout(), sources)?;
    Ok(Target::Stdout)
}

/// An open descriptor is written through like standard output: by its path it would resolve to the
/// file behind it, and replace what others wrote there.
#[cfg(unix)]
fn prepare_descriptor(number: i32, sources: &[&Source]) -> Result<Target, OutputProblem> {
    use std::os::fd::FromRawFd;

    // SAFETY: it makes a new descriptor or fails.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(OutputProblem::Existing(io::Error::last_os_error()));
    }
    // SAFETY: it is open and nobody else's.
    let file = unsafe { File::from_raw_fd(copy) };
    // SAFETY: it asks about an open descriptor.
    if unsafe { libc::fcntl(copy, libc::F_GETFL) } & libc::O_ACCMODE == libc::O_RDONLY {
        return Err(OutputProblem::Existing(io::Error::from_raw_os_error(libc::EBADF)));
    }
    if file.is_terminal() {
        return Err(OutputProblem::Terminal);
    }
    refuse_input(FileId::of_file(&file), sources)?;
    Ok(Target::Special(file))
}

fn prepare_file(path: &Path, option: &'static str, sources: &[&Source]) -> Result<Target, OutputProblem> {
    #[cfg(unix)]
    if let Some(number) = super::descriptor(path.as_os_str()) {
        return prepare_descriptor(number, sources);
    }
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(OutputProblem::Directory),
        Ok(metadata) => {
            refuse_input(FileId::of_path(path), sources)?;
            // A rename asks the directory alone; a file that is itself protected has to be asked.
            let file = OpenOptions::new().write(true).open(path).map_err(OutputProblem::Existing)?;
            if file.is_terminal() {
                return Err(OutputProblem::Terminal);
            }
            if !metadata.is_file() {
                return Ok(Target::Special(file));
            }
            let path = fs::canonicalize(path).map_err(OutputProblem::Unreachable)?;
            Place { path, replaced: Some(metadata) }.checked()
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = path.as_os_str().as_encoded_bytes();
            if text.is_empty() {
                return Err(OutputProblem::NoName { option });
            }
            if text.last().is_some_and(|&byte| std::path::is_separator(byte.into())) {
                return Err(OutputProblem::NoFile);
            }
            Place { path: follow(path)?, replaced: None }.checked()
        }
        Err(error) => Err(OutputProblem::Unreachable(error)),
    }
}

/// A file that has no place yet, removed unless it gets one.
#[derive(Debug)]
struct Temporary {
    file: NamedTempFile,
    unfinished: Unfinished,
}

impl Place {
    /// Shows that a file can be made here, and leaves none: one that waited for the work to be done would be left
    /// behind by whoever kills this program.
    fn checked(self) -> Result<Target, OutputProblem> {
        self.temporary().map(|_| Target::Regular(self))
    }

    /// A temporary file in the same directory, because a rename is whole within a file system alone.
    fn temporary(&self) -> Result<Temporary, OutputProblem> {
        let temporary = make_beside(&self.path)?;
        if let Some(replaced) = &self.replaced {
            copy_access(replaced, temporary.file.as_file()).map_err(OutputProblem::Folder)?;
        }
        Ok(temporary)
    }

    fn replace(&self, pieces: &[&[u8]]) -> Result<(), OutputProblem> {
        self.put(self.finish(pieces)?)
    }

    /// All that is to be there, under a name of its own.
    fn finish(&self, pieces: &[&[u8]]) -> Result<Temporary, OutputProblem> {
        let mut temporary = self.temporary()?;
        write(temporary.file.as_file_mut(), pieces)?;
        // A name on a disk that had not the bytes yet would be what a crash of the machine leaves.
        match temporary.file.as_file().sync_all() {
            // Some file systems have nothing of the kind.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => {}
            synced => synced.map_err(OutputProblem::writing)?,
        }
        Ok(temporary)
    }

    fn put(&self, temporary: Temporary) -> Result<(), OutputProblem> {
        let Temporary { file, unfinished } = temporary;
        file.persist(&self.path).map_err(|error| OutputProblem::writing(error.error))?;
        drop(unfinished);
        Ok(())
    }
}

fn refuse_input(output: Option<FileId>, sources: &[&Source]) -> Result<(), OutputProblem> {
    let Some(output) = output else { return Ok(()) };
    match sources.iter().find(|source| FileId::of_source(source).as_ref() == Some(&output)) {
        Some(source) => Err(OutputProblem::IsInput { input: source.to_string() }),
        None => Ok(()),
    }
}

/// Where the links at `path`, the last of which points to nothing yet, lead to.
fn follow(path: &Path) -> Result<PathBuf, OutputProblem> {
    // As many as Linux follows; a loop does not come here, because asking for its metadata fails
    // otherwise.
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

/// The one path of a file that need not be there, if its folder is.
fn resolved(path: &Path) -> Option<PathBuf> {
    Some(fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn make_beside(path: &Path) -> Result<Temporary, OutputProblem> {
    let mut unfinished = None;
    let file =
        tempfile::Builder::new().prefix(".subsweep-").suffix(".tmp").make_in(folder_of(path), |path| {
            // Noted before it is made, so that there is no moment in which a signal would leave it.
            unfinished = Some(Unfinished::new(path));
            // With the permissions that any new file gets; tempfile's own is for its owner alone.
            OpenOptions::new().read(true).write(true).create_new(true).open(path)
        });
    // The kind alone: the whole error names the temporary file, which would only puzzle.
    let file = file.map_err(|error| OutputProblem::Folder(error.kind().into()))?;
    let unfinished = unfinished.expect("what was made was noted before");
    Ok(Temporary { file, unfinished })
}

/// Gives the file that will replace another the other's permissions, and its owner as far as is
/// allowed.
fn copy_access(replaced: &fs::Metadata, file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (replaced.uid(), replaced.gid()) {
            // Only root may give a file away; to others the group alone may be open.
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
