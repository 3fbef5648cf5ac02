//! The list of devices.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use subsweep::ash::vk;
use subsweep::device::DeviceIdentity;
use subsweep::headless::{Candidate, Instance};

use crate::error::exception;

/// The kind of a device, in a word.
pub fn kind(identity: &DeviceIdentity) -> &'static str {
    match identity.device_type {
        vk::PhysicalDeviceType::DISCRETE_GPU => "discrete",
        vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated",
        vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual",
        vk::PhysicalDeviceType::CPU => "cpu",
        _ => "other",
    }
}

/// A dictionary for each device, the best one first.
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let list = || Arc::new(Instance::new(false)?).candidates();
    let candidates = py.detach(list).map_err(exception)?;
    candidates.iter().enumerate().map(|(index, candidate)| describe(py, index, candidate)).collect()
}

fn describe<'py>(py: Python<'py>, index: usize, candidate: &Candidate) -> PyResult<Bound<'py, PyDict>> {
    let device = PyDict::new(py);
    device.set_item("index", index)?;
    device.set_item("name", candidate.name())?;
    let capabilities = candidate.capabilities();
    let identity = capabilities.map(|capabilities| &capabilities.identity);
    device.set_item("kind", identity.map_or("other", kind))?;
    device.set_item("driver", identity.map_or_else(String::new, DeviceIdentity::driver_text))?;
    device.set_item("uuid", identity.map_or_else(String::new, DeviceIdentity::device_uuid_text))?;
    device.set_item("lanes", capabilities.map_or(0, |capabilities| capabilities.subgroup_size))?;
    device.set_item("memory", capabilities.map_or(0, |capabilities| capabilities.largest_heap_size))?;
    device.set_item("problem", candidate.requirements().err().map(|error| error.to_string()))?;
    Ok(device)
}
