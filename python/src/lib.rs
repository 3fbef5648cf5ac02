//! The native module of the Python package: the class [`Device`](device::Device), whose methods take and give
//! arrays as bytes, and [`Buffer`](array::Buffer), bytes on a device.
//!
//! The Python side checks types, shapes and axes; this side releases the interpreter's lock, runs, and maps errors.

mod array;
mod call;
mod device;
mod error;
mod list;
mod opened;
mod stream;

use pyo3::prelude::*;

/// The native module.
#[pymodule]
fn _subsweep(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<array::Buffer>()?;
    module.add_class::<device::Device>()?;
    module.add_function(wrap_pyfunction!(list::devices, module)?)
}
