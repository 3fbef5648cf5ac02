//! A file beside another one until it is complete: without a name where the file system has such files, so that nothing
//! is left behind however the program ends.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::unfinished::Unfinished;

/// A temporary file, removed unless it is renamed.
#[derive(Debug)]
pub struct Temporary {
    file: File,
    /// None of a file without a name.
    name: Option<TemporaryName>,
}

/// A name that a signal removes.
#[derive(Debug)]
struct TemporaryName {
    path: TempPath,
    _unfinished: Unfinished,
}

impl Temporary {
    /// Makes a file in a folder, with the permissions of any new file.
    pub fn new_in(folder: &Path) -> io::Result<Self> {
        match nameless_in(folder) {
            Some(file) => Ok(Self { file, name: None }),
            None => Self::named_in(folder),
        }
    }

    /// As [`Self::new_in`], with a name.
    pub fn named_in(folder: &Path) -> io::Result<Self> {
        // tempfile's default is private to the owner.
        let open = |path: &Path| OpenOptions::new().read(true).write(true).create_new(true).open(path);
        let (file, name) = TemporaryName::make_in(folder, open)?;
        Ok(Self { file, name: Some(name) })
    }

    /// The file.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// A path by which other processes of this machine open the file: the path of its descriptor in this process if it
    /// has no name.
    pub fn path(&self) -> PathBuf {
        match &self.name {
            Some(name) => name.path.to_path_buf(),
            None => descriptor_path(&self.file, &std::process::id().to_string()),
        }
    }

    /// Gives the file a name in `folder`, which is its own folder, if it has none.
    pub fn give_name(&mut self, folder: &Path) -> io::Result<()> {
        if self.name.is_none() {
            let link = |path: &Path| link(&self.file, path);
            self.name = Some(TemporaryName::make_in(folder, link)?.1);
        }
        Ok(())
    }

    /// Renames the file to `path`, in the same folder, in place of what is there.
    pub fn rename(mut self, path: &Path) -> io::Result<()> {
        // A link cannot replace a file, so that it takes a name first.
        self.give_name(super::output::folder_of(path))?;
        match self.name {
            // Unlike `persist`, this replaces a file on Windows that others have open and share. The old name is gone then.
            Some(name) => fs::rename(&name.path, path),
            None => Ok(()),
        }
    }
}

impl TemporaryName {
    /// Finds a free name in a folder, and makes it.
    fn make_in<F>(folder: &Path, mut make: impl FnMut(&Path) -> io::Result<F>) -> io::Result<(F, Self)> {
        let mut unfinished = None;
        let made = tempfile::Builder::new().prefix(".subsweep-").suffix(".tmp").make_in(folder, |path| {
            // Registered before it is made, so that a signal cannot leave it behind.
            unfinished = Some(Unfinished::new(path));
            make(path)
        })?;
        let (file, path) = made.into_parts();
        Ok((file, Self { path, _unfinished: unfinished.expect("what was made was noted before") }))
    }
}

/// A file without a name, if the file system has such files and they can be given one.
#[cfg(target_os = "linux")]
fn nameless_in(folder: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;

    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_TMPFILE).open(folder).ok()?;
    // Without /proc it could never be linked.
    descriptor_path(&file, "self").exists().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn nameless_in(_: &Path) -> Option<File> {
    None
}

/// The path of a descriptor of a process.
#[cfg(unix)]
fn descriptor_path(file: &File, process: &str) -> PathBuf {
    use std::os::fd::AsRawFd;

    format!("/proc/{process}/fd/{}", file.as_raw_fd()).into()
}

#[cfg(not(unix))]
fn descriptor_path(_: &File, _: &str) -> PathBuf {
    PathBuf::new()
}

/// Gives a file without a name the name `path`.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;

    let as_c = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
    let (from, to) = (as_c(&descriptor_path(file, "self"))?, as_c(path)?);
    let (here, flags) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both strings are alive.
    match unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn files_with_and_without_a_name_replace_others() {
        for make in [Temporary::new_in, Temporary::named_in] {
            let folder = tempfile::tempdir().unwrap();
            let names = || fs::read_dir(folder.path()).unwrap().count();
            let path = folder.path().join("out");
            for (index, text) in ["first", "second"].into_iter().enumerate() {
                let mut temporary = make(folder.path()).unwrap();
                let is_named = temporary.name.is_some();
                assert_eq!(names(), index + usize::from(is_named));
                temporary.file().write_all(text.as_bytes()).unwrap();
                assert_eq!(fs::read(temporary.path()).unwrap(), text.as_bytes());
                temporary.rename(&path).unwrap();
                assert_eq!((names(), fs::read(&path).unwrap()), (1, text.as_bytes().to_vec()));
            }
            let mut unfinished = make(folder.path()).unwrap();
            unfinished.give_name(folder.path()).unwrap();
            assert_eq!(names(), 2);
            assert_eq!(unfinished.path().parent(), Some(folder.path()));
            drop(unfinished);
            assert_eq!(names(), 1);
        }
    }
}
