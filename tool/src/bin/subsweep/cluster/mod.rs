//! Commands over all ranks. The rule of this folder: before the ranks exchange anything, they agree that none has failed.

pub mod bench;
pub mod scan;
pub mod sort;
pub mod verify;

use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use subsweep::cluster::mpi::Rank;
use subsweep::cluster::mpi::environment::processor_name;
use subsweep::cluster::mpi::topology::SimpleCommunicator;
use subsweep::cluster::mpi::traits::*;
use subsweep::cluster::{ClusterError, first_failed, rank_on_node};
use subsweep::headless::StreamError;

use crate::args::{Common, MemoryLimit};
use crate::cache::CachedGpu;
use crate::device::{self, DeviceChoice, Numbered};
use crate::error::{self, Exit, usage};
use crate::files::output::{OutputError, OutputProblem, remove_unfinished, sync};
use crate::files::{BegunOutput, Destination, Job, Output, finish_all};
use crate::{terminal, tested};

/// The failure of another rank, which reports it.
#[derive(Debug, thiserror::Error)]
#[error("rank {0} has failed")]
pub struct RemoteFailure(Rank);

/// The outcome of a step on all ranks.
pub trait Agreed<T> {
    /// The result of this rank, or the error of any. Collective.
    ///
    /// # Errors
    /// The error of this rank, or [`RemoteFailure`].
    fn agreed(self, world: &SimpleCommunicator) -> Result<T>;
}

impl<T, E: Into<anyhow::Error>> Agreed<T> for Result<T, E> {
    fn agreed(self, world: &SimpleCommunicator) -> Result<T> {
        match (first_failed(world, self.is_err()), self) {
            (Some(rank), Ok(_)) => Err(RemoteFailure(rank).into()),
            (_, own) => own.map_err(Into::into),
        }
    }
}

/// Ends all ranks with the same exit code. The lowest that has failed reports why.
pub fn end(world: &SimpleCommunicator, result: Result<()>) -> ExitCode {
    let own = match result {
        Err(error) if error.is::<RemoteFailure>() => Ok(()),
        own => own,
    };
    let Some(rank) = first_failed(world, own.is_err()) else { return ExitCode::SUCCESS };
    let exit = error::exit_of(&own);
    let mut code = exit as u8;
    world.process_at_rank(rank).broadcast_into(&mut code);
    if let Some(error) = own.as_ref().err().filter(|_| world.rank() == rank && exit != Exit::Done) {
        terminal::print_line(format_args!("{}: {}", name_of(world), error::line(error)));
    }
    error::leave_if_busy(&own, exit);
    ExitCode::from(code)
}

/// A rank in a message: its number and its host.
fn name_of(world: &SimpleCommunicator) -> String {
    let host = processor_name().unwrap_or_default();
    format!("rank {} of {} on {host}", world.rank(), world.size())
}

/// Lets a panic end this process, and so the job: other ranks would wait for it.
pub fn end_all_on_panic(world: &SimpleCommunicator) {
    let name = name_of(world);
    std::panic::set_hook(Box::new(move |panic| {
        terminal::print_line(format_args!("{name}: {panic}; this is a bug"));
        remove_unfinished();
        error::leave(Exit::Failed);
    }));
}

/// The ranks of the job.
pub fn world() -> SimpleCommunicator {
    SimpleCommunicator::world()
}

/// Fails on all ranks unless all have the same `what`, such as a configuration: they would wait for each other. Collective.
///
/// # Errors
/// The ranks differ.
pub fn check_same(world: &SimpleCommunicator, what: &impl Hash) -> Result<()> {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    let own = hasher.finish();
    let mut of_first = own;
    world.process_at_rank(0).broadcast_into(&mut of_first);
    let differs = usage!("its arguments or its input differ from rank 0's; start all ranks alike");
    (own == of_first).then_some(()).ok_or(differs).agreed(world)
}

/// Opens a device for each rank: of those that `--device` lists, or of the best kind, by the rank within the node. Collective.
/// Up to 8 ranks print theirs, of more rank 0 alone.
///
/// # Errors
/// A rank has no device, or its driver fails.
pub fn open_device(world: &SimpleCommunicator, common: &Common) -> Result<CachedGpu> {
    let index = rank_on_node(world);
    let opened = choose(common, index).and_then(|Numbered { index, candidate, .. }| {
        let gpu = CachedGpu::open(candidate, !common.no_pipeline_cache)?;
        tested::check(&gpu, !common.no_pipeline_cache)?;
        Ok((index, gpu))
    });
    let (index, gpu) = opened.agreed(world)?;
    if world.rank() == 0 || world.size() <= 8 {
        let (rank, name) = (world.rank(), device::name_with_driver(gpu.identity()));
        terminal::print_line(format_args!("rank {rank} of {} on device {index}, {name}", world.size()));
    }
    Ok(gpu)
}

fn choose(common: &Common, index: usize) -> Result<Numbered> {
    let instance = device::instance()?;
    let mut devices = match &common.device {
        // All devices that are as good as the best.
        DeviceChoice::Unset => {
            let list = device::list(&instance)?;
            let kind = |numbered: &Numbered| {
                numbered.candidate.capabilities().map(|capabilities| capabilities.identity.device_type)
            };
            let best = kind(&list[0]);
            let is_like_best =
                |numbered: &Numbered| kind(numbered) == best && numbered.candidate.requirements().is_ok();
            let (alike, others): (Vec<_>, Vec<_>) = list.into_iter().partition(is_like_best);
            if alike.is_empty() { others } else { alike }
        }
        choice => device::choose(&instance, choice)?,
    };
    Ok(devices.swap_remove(index % devices.len()))
}

/// What tells a file from another: the same on every machine that sees the file, as long as nothing writes it.
///
/// # Errors
/// The system does not say.
pub fn identity(file: &File) -> io::Result<impl Hash + use<>> {
    let found = file.metadata()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&found);
    #[cfg(not(unix))]
    let number = 0u64;
    Ok((number, found.len(), found.modified()?))
}

/// The memory that this rank may use: its own limit, or its share of what is free on the node. Collective.
pub fn memory_of_rank(world: &SimpleCommunicator, memory: &MemoryLimit) -> Option<u64> {
    let ranks = ranks_on_node(world);
    memory.size().map(|size| if memory.is_given() { size } else { size / ranks })
}

/// The number of ranks on this node. Collective.
pub fn ranks_on_node(world: &SimpleCommunicator) -> u64 {
    world.split_shared(world.rank()).size() as u64
}

/// The error of a function over all ranks without files.
pub fn of_device(error: ClusterError) -> anyhow::Error {
    match error {
        ClusterError::Remote { rank } => RemoteFailure(rank).into(),
        ClusterError::Local(StreamError::Device(error)) => error.into(),
        ClusterError::Local(error) => error.into(),
    }
}

/// A file that all ranks write, each its slice. It appears whole, once rank 0 renames it, or not at all.
pub struct SharedOutput {
    name: String,
    file: File,
    /// Of rank 0.
    begun: Option<BegunOutput>,
}

/// Prepares outputs on rank 0, before any work. Collective.
///
/// # Errors
/// An output is no file, is an input, or cannot be written.
pub fn prepare_outputs(world: &SimpleCommunicator, job: &Job<'_>) -> Result<Vec<Option<Output>>> {
    let prepare = |(option, destination): &(&'static str, Destination)| -> Result<Option<Output>> {
        let Destination::File(path) = destination else {
            bail!(usage!("each rank writes its slice of a file; name one with {option}"));
        };
        if world.rank() != 0 {
            return Ok(None);
        }
        // Opening a pipe would wait until something reads from it.
        let is_special = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        let output =
            if is_special { None } else { Some(Output::prepare(destination, option, &job.sources())?) };
        let Some(output) = output.filter(|output| output.folder().is_some()) else {
            bail!(usage!(
                "{destination}: is no file that ranks could write together; name one with {option}"
            ));
        };
        Ok(Some(output))
    };
    job.outputs().iter().map(prepare).collect::<Result<Vec<_>>>().agreed(world)
}

impl SharedOutput {
    /// Begins an output of `header` and `size` bytes. Collective.
    ///
    /// # Errors
    /// The file cannot be made, or not opened by each rank.
    pub fn begin(
        world: &SimpleCommunicator,
        destination: &Destination,
        prepared: Option<Output>,
        header: &[u8],
        size: u64,
    ) -> Result<Self> {
        let name = destination.to_string();
        let error = |error| OutputError { output: name.clone(), problem: OutputProblem::writing(error) };
        let begin = |output: Output| -> Result<BegunOutput, OutputError> {
            let mut begun = output.begin()?;
            begun.write_bytes(header)?;
            if let Some(file) = begun.file() {
                file.set_len(header.len() as u64 + size).map_err(error)?;
            }
            Ok(begun)
        };
        let mut begun = prepared.map(begin).transpose().agreed(world)?;
        let mut opened = open_on_all(world, begun.as_mut());
        if first_failed(world, opened.is_err()).is_some() {
            // A file without a name is open to the processes of its machine alone.
            begun.as_mut().map_or(Ok(()), BegunOutput::give_name).agreed(world)?;
            opened = open_on_all(world, begun.as_mut());
        }
        Ok(Self { file: opened.map_err(error).agreed(world)?, begun, name })
    }

    /// The file, whose byte 0 is the byte `start`.
    pub fn at(&self, start: u64) -> FileWindow<&File> {
        FileWindow::new(&self.file, start)
    }

    /// The error of a failed write.
    pub fn error(&self, error: io::Error) -> OutputError {
        OutputError { output: self.name.clone(), problem: OutputProblem::writing(error) }
    }

    /// Renames outputs that all ranks have written to their final paths. Collective.
    ///
    /// # Errors
    /// A slice could not be written, or a file not be replaced.
    pub fn finish(world: &SimpleCommunicator, outputs: Vec<Self>) -> Result<()> {
        let sync = |output: &Self| {
            sync(&output.file).map_err(|problem| OutputError { output: output.name.clone(), problem })
        };
        outputs.iter().try_for_each(sync).agreed(world)?;
        finish_all(outputs.into_iter().filter_map(|output| output.begun)).agreed(world)
    }
}

/// Opens the file of rank 0 on all ranks. Collective.
fn open_on_all(world: &SimpleCommunicator, begun: Option<&mut BegunOutput>) -> io::Result<File> {
    let (path, found) = match begun {
        Some(begun) => (begun.path(), begun.file().and_then(|file| file.metadata().ok())),
        None => (None, None),
    };
    let path = broadcast(world, path.unwrap_or_default().into_os_string().as_encoded_bytes());
    // SAFETY: the bytes encode a path of this program on rank 0.
    let path = PathBuf::from(unsafe { std::ffi::OsString::from_encoded_bytes_unchecked(path) });
    let mut inode = found.map_or(0, |found| found.ino());
    world.process_at_rank(0).broadcast_into(&mut inode);
    // A descriptor of the same number may be of another process, on another machine: it is not even opened.
    match fs::metadata(&path)?.ino() == inode {
        true => OpenOptions::new().write(true).open(path),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}

/// The bytes of rank 0, on all ranks.
fn broadcast(world: &SimpleCommunicator, own: &[u8]) -> Vec<u8> {
    let root = world.process_at_rank(0);
    let mut size = own.len() as u64;
    root.broadcast_into(&mut size);
    let mut bytes = own.to_vec();
    bytes.resize(size as usize, 0);
    root.broadcast_into(&mut bytes[..]);
    bytes
}

/// A file from byte `start` on, which is byte 0.
pub struct FileWindow<F> {
    file: F,
    start: u64,
}

impl<F: Seek> FileWindow<F> {
    /// `file` from byte `start` on.
    pub fn new(file: F, start: u64) -> Self {
        Self { file, start }
    }

    /// The whole file.
    pub fn file(&self) -> &F {
        &self.file
    }
}

impl<F: Seek> Seek for FileWindow<F> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => SeekFrom::Start(self.start + position),
            other => other,
        };
        Ok(self.file.seek(position)?.saturating_sub(self.start))
    }
}

impl<F: Read> Read for FileWindow<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.file.read(bytes)
    }
}

impl<F: Write> Write for FileWindow<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
