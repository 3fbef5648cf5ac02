//! Streams: sorts and scans of blocks that an iterator gives, which host and device need not hold.
//!
//! Blocks come from and go to functions of the interpreter, whose lock is taken for each.

use std::io::{self, Read, Write};

use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use subsweep::headless::{ScanStream, SortStream, StreamError};
use subsweep::scan::ScanConfig;
use subsweep::sort::SortConfig;

use crate::error::{Error, exception};
use crate::opened::Opened;

/// Bytes of a block that a stream gives.
const BLOCK_SIZE: usize = 8 << 20;

/// Reads what a function returns: bytes of an array, none at the end.
struct Blocks {
    next: Py<PyAny>,
    block: Option<Py<PyArray1<u8>>>,
    /// Bytes of the block that were read.
    done: usize,
}

/// Passes whole blocks to a function.
struct Sink {
    write: Py<PyAny>,
    block: Vec<u8>,
}

impl Read for Blocks {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            loop {
                if let Some(block) = &self.block {
                    let block = block.bind(py).try_readonly().map_err(io::Error::other)?;
                    let rest = &block.as_slice().map_err(io::Error::other)?[self.done..];
                    let len = rest.len().min(bytes.len());
                    bytes[..len].copy_from_slice(&rest[..len]);
                    self.done += len;
                    if len > 0 || bytes.is_empty() {
                        return Ok(len);
                    }
                }
                // An `InterruptedError` of its own would be taken for a call to repeat.
                let next = self.next.bind(py).call0().map_err(io::Error::other)?;
                if next.is_none() {
                    return Ok(0);
                }
                let next =
                    next.cast_into::<PyArray1<u8>>().map_err(|error| io::Error::other(PyErr::from(error)))?;
                (self.block, self.done) = (Some(next.unbind()), 0);
            }
        })
    }
}

impl Sink {
    fn new(write: Py<PyAny>) -> Self {
        Self { write, block: Vec::with_capacity(BLOCK_SIZE) }
    }

    /// Passes what there is.
    fn pass(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let block = std::mem::replace(&mut self.block, Vec::with_capacity(BLOCK_SIZE));
        Python::attach(|py| {
            self.write.bind(py).call1((block.into_pyarray(py),)).map(drop).map_err(io::Error::other)
        })
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(BLOCK_SIZE - self.block.len());
        self.block.extend_from_slice(&bytes[..len]);
        if self.block.len() == BLOCK_SIZE {
            self.pass()?;
        }
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The exception for an error of a stream; an exception that a caller's function raised is returned unchanged.
fn stream_exception(error: StreamError) -> PyErr {
    match error {
        StreamError::Device(error) => exception(error),
        StreamError::Read(error) | StreamError::Write(error) => error.into(),
        StreamError::Temporary(error) => {
            let text =
                format!("no temporary file can be written ({error}): name a folder with room in TMPDIR");
            PyErr::from(io::Error::new(error.kind(), text))
        }
        StreamError::Memory { needed, given } => {
            PyValueError::new_err(format!("memory is {given}, and at least {needed} bytes are needed"))
        }
        error => Error::new_err(error.to_string()),
    }
}

impl Opened {
    /// Sorts the keys that `next` returns, and passes them to `write`.
    pub fn sort_stream(
        &self,
        py: Python<'_>,
        config: SortConfig,
        next: Py<PyAny>,
        write: Py<PyAny>,
        memory_size: Option<u64>,
    ) -> PyResult<()> {
        self.check()?;
        let (mut keys, mut sink) = (Blocks { next, block: None, done: 0 }, Sink::new(write));
        py.detach(|| {
            self.gpu().sort_stream(
                config,
                SortStream {
                    keys: &mut keys,
                    values: None,
                    sorted_keys: Some(&mut sink),
                    sorted_values: None,
                    count: None,
                    memory_size,
                    chunk_size: None,
                    as_on_gpu: None,
                    temporary: &mut tempfile::tempfile,
                    progress: None,
                },
            )?;
            sink.pass().map_err(StreamError::Write)
        })
        .map_err(stream_exception)
    }

    /// Scans the rows that `next` returns, and passes them to `write`.
    pub fn scan_stream(
        &self,
        py: Python<'_>,
        config: ScanConfig,
        next: Py<PyAny>,
        write: Py<PyAny>,
        initial: Option<&[u8]>,
    ) -> PyResult<()> {
        self.check()?;
        let (source, mut sink) = (Blocks { next, block: None, done: 0 }, Sink::new(write));
        py.detach(|| {
            let stream = ScanStream { initial, ..ScanStream::default() };
            self.gpu().scan_stream(config, stream, source, &mut sink)?;
            sink.pass().map_err(StreamError::Write)
        })
        .map_err(stream_exception)
    }
}
