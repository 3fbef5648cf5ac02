//! A device that is open, and who may call it.

use std::process;
use std::sync::Arc;

use pyo3::prelude::*;
use subsweep::Result;
use subsweep::headless::{DeviceSelector, Gpu, GpuOptions, WorkOptions};

use crate::error::{Error, check_reentry, exception, interrupted};

/// An opened device, and the process that has opened it.
pub struct Opened {
    gpu: Gpu,
    process: u32,
}

impl Opened {
    /// Opens the device of a selector; the best one without.
    pub fn open(py: Python<'_>, selector: Option<&str>) -> PyResult<Self> {
        let device = selector.map_or(DeviceSelector::Best, |selector| {
            let Ok(selector) = selector.parse();
            selector
        });
        let work = WorkOptions { interrupted: Some(Arc::new(interrupted)), ..WorkOptions::default() };
        let options = GpuOptions { device, work, ..GpuOptions::default() };
        let gpu = py.detach(|| Gpu::open(options)).map_err(exception)?;
        Ok(Self { gpu, process: process::id() })
    }

    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Whether this process has opened it.
    pub fn is_ours(&self) -> bool {
        self.process == process::id()
    }

    /// Fails where nothing may be called: in a forked process, which has none of the threads of a driver, and by the handler of
    /// a signal that came amid a call.
    pub fn check(&self) -> PyResult<()> {
        if self.is_ours() {
            return check_reentry();
        }
        let text = "the device was opened before this process was forked, and so was the memory of its arrays: take them anew";
        Err(Error::new_err(text))
    }

    /// Runs without the lock of the interpreter.
    pub fn run<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&Gpu) -> Result<T> + Send) -> PyResult<T> {
        self.check()?;
        py.detach(|| work(&self.gpu)).map_err(exception)
    }
}
