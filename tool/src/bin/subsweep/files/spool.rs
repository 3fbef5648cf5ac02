//! Elements in temporary files without a name, whose number is known at their end.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;

use crate::error::{CommandError, usage};

/// A folder of temporary files.
#[derive(Debug, Clone)]
pub struct TemporaryFolder {
    /// Its path.
    pub path: PathBuf,
    /// How a user chooses another.
    pub another: &'static str,
}

impl Default for TemporaryFolder {
    /// `TMPDIR`, on Windows `TMP`.
    fn default() -> Self {
        let another = match cfg!(windows) {
            true => "name another folder in TMP",
            false => "name another folder in TMPDIR",
        };
        Self { path: std::env::temp_dir(), another }
    }
}

impl TemporaryFolder {
    /// The refusal of this folder, in which a temporary file cannot be made, written or read.
    pub fn refusal(&self, error: &io::Error) -> CommandError {
        use io::ErrorKind as Kind;

        let Self { path, another } = self;
        let remedy = match error.kind() {
            Kind::StorageFull | Kind::QuotaExceeded => format!("free some space, or {another}"),
            Kind::FileTooLarge => "raise the limit of a file's size (ulimit -f)".to_owned(),
            Kind::NotFound | Kind::NotADirectory | Kind::PermissionDenied | Kind::ReadOnlyFilesystem => {
                format!("check that it is a folder and writable, or {another}")
            }
            _ => (*another).to_owned(),
        };
        // The kind alone where a name was sought: the whole error has the name of the temporary file.
        let error = error.raw_os_error().map_or_else(|| error.kind().to_string(), |_| error.to_string());
        let path = path.display();
        usage!("{path}: no temporary file can be written or read ({error}); {remedy}")
    }
}

/// Elements in a temporary file.
#[derive(Debug)]
pub struct Spool {
    file: File,
    folder: TemporaryFolder,
}

impl Spool {
    /// An empty file in `folder`.
    ///
    /// # Errors
    /// No file can be made there.
    pub fn new_in(folder: &TemporaryFolder) -> Result<Self, CommandError> {
        let file = tempfile::tempfile_in(&folder.path).map_err(|error| folder.refusal(&error))?;
        Ok(Self { file, folder: folder.clone() })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), CommandError> {
        self.file.write_all(bytes).map_err(|error| self.refusal(&error))
    }

    /// Returns to the first element.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn rewind(&mut self) -> Result<(), CommandError> {
        self.file.rewind().map_err(|error| self.refusal(&error))
    }

    /// Reads the next bytes, as many as there is room for.
    ///
    /// # Errors
    /// The file cannot be read, or has fewer.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<(), CommandError> {
        self.file.read_exact(bytes).map_err(|error| self.refusal(&error))
    }

    /// Copies all elements.
    ///
    /// # Errors
    /// The file cannot be read, or the other not written.
    pub fn copy_to(&mut self, to: &mut impl Write) -> io::Result<()> {
        self.file.rewind()?;
        io::copy(&mut self.file, to).map(|_| ())
    }

    /// The file, at the position of the last write or read.
    pub fn into_file(self) -> File {
        self.file
    }

    fn refusal(&self, error: &io::Error) -> CommandError {
        self.folder.refusal(error)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_remedy_is_that_of_the_error() {
        use io::ErrorKind as Kind;

        let text = |folder: &TemporaryFolder, kind: Kind| folder.refusal(&kind.into()).to_string();
        let folder = TemporaryFolder { path: "/some".into(), another: "name another folder" };
        for (kind, remedy) in [
            (Kind::StorageFull, "free some space, or name another folder"),
            (Kind::FileTooLarge, "raise the limit of a file's size (ulimit -f)"),
            (Kind::NotFound, "check that it is a folder and writable, or name another folder"),
            (Kind::PermissionDenied, "check that it is a folder and writable, or name another folder"),
            (Kind::TimedOut, "name another folder"),
        ] {
            let text = text(&folder, kind);
            assert!(text.starts_with("/some: ") && text.ends_with(&format!("; {remedy}")), "{text}");
        }
        let variable = if cfg!(windows) { "TMP" } else { "TMPDIR" };
        assert!(text(&TemporaryFolder::default(), Kind::NotFound).ends_with(&format!(" in {variable}")));
    }

    #[test]
    fn bytes_are_read_from_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let folder_at = |path: &Path| TemporaryFolder { path: path.to_owned(), ..TemporaryFolder::default() };
        let mut spool = Spool::new_in(&folder_at(folder.path())).unwrap();
        spool.write(&[1, 2]).unwrap();
        spool.write(&[3]).unwrap();
        let mut two = [0; 2];
        spool.rewind().unwrap();
        spool.read(&mut two).unwrap();
        assert_eq!(two, [1, 2]);
        assert!(spool.read(&mut two).is_err());
        let mut bytes = Vec::new();
        spool.copy_to(&mut bytes).unwrap();
        assert_eq!(bytes, [1, 2, 3]);
        assert!(Spool::new_in(&folder_at(&folder.path().join("none"))).is_err());
    }
}
