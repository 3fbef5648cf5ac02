//! Writing a table or a report so that it appears whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::identity::FileId;
use super::{Destination, Format, Source, Table, npy};

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
    /// A pipe or a device, which must be written through and never be replaced.
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
    /// under whatever name, and a place that cannot be written.
    pub fn prepare(destination: &Destination, sources: &[&Source]) -> Result<Self, OutputError> {
        let name = destination.to_string();
        let target = match destination {
            Destination::Stdout => prepare_stdout(sources),
            Destination::File(path) => prepare_file(path, sources),
        };
        match target {
            Ok(target) => Ok(Output { name, target }),
            Err(problem) => Err(OutputError { output: name, problem }),
        }
    }

    /// Writes all of `table`, and puts it in its place.
    pub fn commit(self, table: &Table) -> Result<(), OutputError> {
        let header = match table.format {
            Format::Npy => npy::header(table.element, table.shape),
            Format::Raw => Vec::new(),
        };
        let words: &[u8] = bytemuck::cast_slice(&table.words);
        debug_assert_eq!(words.len(), table.shape.element_count() * table.element.size());
        self.commit_pieces(&[&header, words])
    }

    /// Writes a report that will be written again, where that can be done: a file is replaced each time, and what else
    /// there is gets the last one alone.
    pub fn update(&self, report: &[u8]) -> Result<(), OutputError> {
        match &self.target {
            Target::Stdout | Target::Special(_) => Ok(()),
            Target::Regular(place) => self.named(place.replace(&[report])),
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

    fn named(&self, result: Result<(), OutputProblem>) -> Result<(), OutputError> {
        result.map_err(|problem| OutputError { output: self.name.clone(), problem })
    }
}

/// Writes words to standard output.
pub fn print(text: &str) -> Result<(), OutputError> {
    let mut stdout = io::stdout().lock();
    write(&mut stdout, &[text.as_bytes()])
        .map_err(|problem| OutputError { output: Destination::Stdout.to_string(), problem })
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
    /// The path is a directory's, or ends as one.
    #[error("is a directory; name a file in it")]
    Directory,
    /// The path is empty.
    #[error("is no path; name a file with -o")]
    NoName,
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
    #[error("no file can be made in its directory ({0}); make the directory, or name another place")]
    Folder(io::Error),
    /// Writing failed on the way. An existing file is as it was.
    #[error("could not be written ({0})")]
    Write(io::Error),
    /// The reader of the pipe has gone, usually because it had enough: no reason for words.
    #[error("was closed by its reader")]
    BrokenPipe,
}

impl OutputProblem {
    fn writing(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Write(error),
        }
    }
}

fn prepare_stdout(sources: &[&Source]) -> Result<Target, OutputProblem> {
    if io::stdout().is_terminal() {
        return Err(OutputProblem::Terminal);
    }
    refuse_input(FileId::of_stdout(), sources)?;
    Ok(Target::Stdout)
}

fn prepare_file(path: &Path, sources: &[&Source]) -> Result<Target, OutputProblem> {
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
                return Err(OutputProblem::NoName);
            }
            if text.last().is_some_and(|&byte| std::path::is_separator(byte.into())) {
                return Err(OutputProblem::Directory);
            }
            Place { path: follow(path)?, replaced: None }.checked()
        }
        Err(error) => Err(OutputProblem::Unreachable(error)),
    }
}

impl Place {
    /// Shows that a file can be made here, and leaves none: one that waited for the work to be done would be left
    /// behind by whoever interrupts it.
    fn checked(self) -> Result<Target, OutputProblem> {
        self.temporary().map(|_| Target::Regular(self))
    }

    /// A temporary file in the same directory, because a rename is whole within a file system alone.
    fn temporary(&self) -> Result<NamedTempFile, OutputProblem> {
        let temporary = make_beside(&self.path)?;
        if let Some(replaced) = &self.replaced {
            copy_access(replaced, temporary.as_file()).map_err(OutputProblem::Folder)?;
        }
        Ok(temporary)
    }

    fn replace(&self, pieces: &[&[u8]]) -> Result<(), OutputProblem> {
        let mut temporary = self.temporary()?;
        write(temporary.as_file_mut(), pieces)?;
        temporary.persist(&self.path).map(drop).map_err(|error| OutputProblem::Write(error.error))
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

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn make_beside(path: &Path) -> Result<NamedTempFile, OutputProblem> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".subsweep-").suffix(".tmp");
    #[cfg(unix)]
    {
        // What any new file gets, less the umask; by default a temporary one is for its owner
        // alone.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // The kind alone: the whole error names the temporary file, which would only puzzle.
    builder.tempfile_in(folder_of(path)).map_err(|error| OutputProblem::Folder(error.kind().into()))
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
