//! Errors of the library as exceptions, and interrupts.

use std::cell::Cell;
use std::time::{Duration, Instant};

use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(subsweep, Error, PyRuntimeError, "An error of a device, its driver or the Vulkan loader.");

/// Time between two looks at the signals.
const SIGNALS: Duration = Duration::from_millis(50);

thread_local! {
    /// The exception that ended the work of this thread.
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
    static LAST_LOOK: Cell<Option<Instant>> = const { Cell::new(None) };
    static IS_LOOKING: Cell<bool> = const { Cell::new(false) };
}

/// Refuses a call by the handler of a signal that came while another call of this thread runs: the device is in use.
pub fn check_reentry() -> PyResult<()> {
    if IS_LOOKING.get() {
        return Err(Error::new_err(
            "the handler of a signal calls subsweep amid a call; let it raise an exception, or set a flag",
        ));
    }
    Ok(())
}

/// Whether a signal's handler has raised an exception, such as `KeyboardInterrupt`. Only the main thread has handlers.
pub fn interrupted() -> bool {
    let now = Instant::now();
    if LAST_LOOK.get().is_some_and(|last| now.duration_since(last) < SIGNALS) {
        return false;
    }
    LAST_LOOK.set(Some(now));
    IS_LOOKING.set(true);
    let raised = Python::try_attach(|py| py.check_signals().err()).flatten();
    IS_LOOKING.set(false);
    let is_raised = raised.is_some();
    RAISED.set(raised);
    is_raised
}

/// The exception for an error: `MemoryError`, `ValueError` for what an argument causes, else [`Error`].
pub fn exception(error: subsweep::Error) -> PyErr {
    use subsweep::Error as E;
    let text = error.to_string();
    match error {
        E::Interrupted => RAISED.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(())),
        E::OutOfDeviceMemory { .. } | E::OutOfHostMemory { .. } | E::Allocation { .. } => {
            PyMemoryError::new_err(text)
        }
        E::OutOfRange { .. }
        | E::Unsupported { .. }
        | E::TooManyElements { .. }
        | E::PartialElement { .. }
        | E::RowLengthMismatch { .. }
        | E::ValueSizeMismatch { .. }
        | E::ValueCountMismatch { .. }
        | E::FlagCountMismatch { .. }
        | E::SegmentOutOfOrder { .. }
        | E::RangeTooSmall { .. }
        | E::InvalidEdge { .. } => PyValueError::new_err(text),
        _ => Error::new_err(text),
    }
}
