//! Memory of arrays on a device, and the bytes that methods take and give.

use std::mem::ManuallyDrop;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use subsweep::headless::GpuBuffer;

use crate::device::Device;
use crate::opened::Opened;

/// Bytes of an array in the memory of a device.
#[pyclass(frozen, module = "subsweep._subsweep")]
pub struct Buffer {
    opened: Arc<Opened>,
    memory: ManuallyDrop<GpuBuffer>,
    size: usize,
    /// Whether the host may write it at any time: its address was given away. Locked by calls that read it.
    is_seen: RwLock<bool>,
}

/// Bytes that a method takes, one-dimensional and contiguous.
#[derive(FromPyObject)]
pub enum Bytes<'py> {
    Host(PyReadonlyArray1<'py, u8>),
    Device(Bound<'py, Buffer>),
}

/// The bytes of an argument, without the interpreter.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    Host(&'a [u8]),
    Device(&'a Buffer),
}

/// Bytes that a method gives: on a device where an input is there.
pub enum Output {
    Host(Vec<u8>),
    Device(Buffer),
}

impl Buffer {
    /// The first `size` bytes of `memory`.
    pub fn new(opened: &Arc<Opened>, memory: GpuBuffer, size: usize) -> Self {
        Self {
            opened: Arc::clone(opened),
            memory: ManuallyDrop::new(memory),
            size,
            is_seen: RwLock::new(false),
        }
    }

    pub fn memory(&self) -> &GpuBuffer {
        &self.memory
    }

    /// Keeps the host from writing it until the guard is dropped; none where the host may, or waits for the address. Never waits,
    /// as a call that has one guard and waits for another could for ever.
    pub fn unseen(&self) -> Option<RwLockReadGuard<'_, bool>> {
        self.is_seen.try_read().ok().filter(|is_seen| !**is_seen)
    }

    /// Whether it is of this device.
    pub fn is_on(&self, opened: &Opened) -> bool {
        std::ptr::eq(&raw const *self.opened, opened)
    }
}

#[pymethods]
impl Buffer {
    fn __len__(&self) -> usize {
        self.size
    }

    /// The device that has the memory.
    #[getter]
    fn device(&self) -> Device {
        Device { opened: Arc::clone(&self.opened) }
    }

    /// Reads the bytes.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let bytes = self.opened.run(py, |gpu| gpu.read_values::<u8>(&self.memory, 0, self.size))?;
        Ok(bytes.into_pyarray(py))
    }

    /// Whether the host sees the bytes.
    #[getter]
    fn is_visible(&self) -> bool {
        self.memory.host_address().is_some()
    }

    /// The address at which the host sees the bytes; None if it does not. Waits for calls that read them.
    #[getter]
    fn address(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        self.opened.check()?;
        let Some(address) = self.memory.host_address() else { return Ok(None) };
        let address = address.addr().get();
        // A call may need the interpreter before it ends.
        py.detach(|| *self.is_seen.write().unwrap_or_else(PoisonError::into_inner) = true);
        Ok(Some(address))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // In a forked process the device is another's: its memory stays.
        if self.opened.is_ours() {
            // SAFETY: it is not used again.
            unsafe { ManuallyDrop::drop(&mut self.memory) };
        }
    }
}

impl Bytes<'_> {
    pub fn source(&self) -> PyResult<Source<'_>> {
        Ok(match self {
            Self::Host(bytes) => Source::Host(slice(bytes)?),
            Self::Device(buffer) => Source::Device(buffer.get()),
        })
    }
}

impl<'a> Source<'a> {
    /// None where the argument is missing.
    pub fn or_empty(bytes: Option<&'a Bytes<'_>>) -> PyResult<Self> {
        bytes.map_or(Ok(Self::Host(&[])), Bytes::source)
    }

    /// Bytes.
    pub fn size(self) -> u64 {
        match self {
            Self::Host(bytes) => bytes.len() as u64,
            Self::Device(buffer) => buffer.size as u64,
        }
    }

    /// How many elements of `element_size` bytes it has.
    pub fn count(self, element_size: u64) -> u64 {
        self.size() / element_size.max(1)
    }
}

impl<'py> IntoPyObject<'py> for Output {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Self::Host(bytes) => bytes.into_pyarray(py).into_any(),
            Self::Device(buffer) => Bound::new(py, buffer)?.into_any(),
        })
    }
}

/// The numbers of an array of the host.
pub fn slice<'a, T: numpy::Element>(numbers: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    numbers.as_slice().map_err(|error| PyValueError::new_err(error.to_string()))
}
