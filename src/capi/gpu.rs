//! A device of the library's own, and plans run on arrays of the host.

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::ptr::{self, NonNull};

use super::boundary::{Versioned, create, destroy, read, words};
use super::*;
use crate::device::AddressRange;
use crate::error::at_most;
use crate::headless::{DeviceSelector, Gpu, GpuOptions, Keys, ReducedBytes, ScanInputs};
use crate::primitives::ElementType;
use crate::reduce::ReduceRuns;

/// A device that subsweep_gpu_open has opened, with an instance, queues and memory of its own.
pub struct SubsweepGpu {
    gpu: Gpu,
    name: CString,
}

/// Opens a device, to be closed by subsweep_gpu_close. The Vulkan loader is loaded when this is called: a program
/// links to none.
///
/// `selector` is the device's index in the list of devices, a part of its name, "uuid:..." or "driver:..."; null
/// for the environment variable SUBSWEEP_DEVICE, and where that is unset or empty for the best device.
///
/// Returns VK_ERROR_INITIALIZATION_FAILED if there is no loader, no device or no such device,
/// VK_ERROR_FEATURE_NOT_PRESENT if the device lacks a requirement of subsweep_requirements_query,
/// SUBSWEEP_ERROR_NULL, or Vulkan's own error. `*gpu` is null then.
///
/// Threads: any, while no other thread changes the environment.
///
/// # Safety
/// `selector` is null or ends with a 0; `gpu` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_gpu_open(selector: *const c_char, gpu: *mut *mut SubsweepGpu) -> VkResult {
    // SAFETY: as the caller promises.
    result(|| unsafe { create(gpu, "gpu", || open(text(selector))) })
}

fn open(selector: Option<&CStr>) -> Result<SubsweepGpu> {
    let of_environment = std::env::var_os("SUBSWEEP_DEVICE").filter(|selector| !selector.is_empty());
    let of_environment = of_environment.as_deref().map(OsStr::to_string_lossy);
    let selector = selector.map(CStr::to_string_lossy).or(of_environment);
    let Ok(device) = selector.map_or(Ok(DeviceSelector::Best), |selector| selector.parse());
    let gpu = Gpu::open(GpuOptions { device, ..GpuOptions::default() })?;
    let name = words(&gpu.identity().name);
    Ok(SubsweepGpu { gpu, name })
}

/// Closes `gpu`, which may be null.
///
/// Threads: any, while no other thread uses `gpu`.
///
/// # Safety
/// `gpu` is null, or was opened by subsweep_gpu_open and is not closed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_gpu_close(gpu: *mut SubsweepGpu) {
    // SAFETY: as the caller promises.
    unsafe { destroy(gpu) }
}

/// The name of the device, owned by `gpu`. "" if `gpu` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `gpu` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_gpu_name(gpu: *const SubsweepGpu) -> *const c_char {
    // SAFETY: as the caller promises.
    value(c"".as_ptr(), || Ok(unsafe { borrow(gpu, "gpu") }?.name.as_ptr()))
}

/// Sorts `count` keys, and moves their values along or writes indices, as `info->values` says; `values` is null
/// for keys alone. Always in place, whatever the form of memory in `info->flags`. An argsort only reads its keys.
/// With `info->row_length` each row of so many keys is sorted by itself, and `count` is the number of all keys.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_gpu_sort(
    gpu: *const SubsweepGpu,
    info: *const SubsweepSortPlanCreateInfo,
    keys: *mut c_void,
    values: *mut c_void,
    count: u64,
) -> VkResult {
    let sort = |gpu: &Gpu, info: &SubsweepSortPlanCreateInfo| {
        // SAFETY: as the caller promises.
        let config = unsafe { sort_config(info, Some(gpu.capabilities())) }?;
        let reason = "arrays are sorted without functions; record a plan of subsweep_sort_plan_create";
        refuse_if(config.is_computed(), reason)?;
        let reason = "a sort of keys alone has no values; see SUBSWEEP_SORT_VALUES_...";
        refuse_if(config.value_size() == 0 && !values.is_null(), reason)?;
        let keys = array(keys, "keys", count, config.key_size(), config.key_size())?;
        let values = array(values, "values", count, config.value_size(), 4)?;
        let range = |bytes: *mut [u8]| AddressRange::new(bytes.addr() as u64, bytes.len() as u64);
        if range(keys).overlaps(&range(values)) {
            return Err(Error::Overlap { first: "keys", second: "values" }.into());
        }
        let keys = match config.is_argsort() {
            // SAFETY: as the caller promises; others may read them, too.
            true => Keys::Read(unsafe { &*keys }),
            // SAFETY: as the caller promises.
            false => Keys::Sorted(unsafe { &mut *keys }),
        };
        // SAFETY: disjoint from the keys, and as the caller promises.
        let values = unsafe { &mut *values };
        let prepared = match info.row_length {
            0 => {
                check_has_no_ranges(info)?;
                gpu.prepare_keys(config, keys, values)
            }
            _ => gpu.prepare_segments(in_segments(config.into(), info), keys, values, &[]),
        };
        Ok(prepared?.run_or_keep()?)
    };
    // SAFETY: as the caller promises.
    unsafe { run(gpu, info, sort) }
}

/// Scans `count` rows in place, or along rows, with `info->row_length`, `count` elements. Without segments and
/// without an initial value.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_gpu_scan(
    gpu: *const SubsweepGpu,
    info: *const SubsweepScanPlanCreateInfo,
    elements: *mut c_void,
    count: u64,
) -> VkResult {
    let scan = |gpu: &Gpu, info: &SubsweepScanPlanCreateInfo| {
        // SAFETY: as the caller promises.
        let config = unsafe { scan_config(info, gpu.capabilities()) }?;
        if info.segments_by != SUBSWEEP_SEGMENTS_BY_NONE {
            return Err(unknown("segments_by", info.segments_by, "segments are for recordings alone"));
        }
        let elements =
            array(elements, "elements", count, config.row_size(), element_size(config.element_type()))?;
        // SAFETY: as the caller promises.
        Ok(gpu.scan_bytes(config, unsafe { &mut *elements }, ScanInputs::default())?)
    };
    // SAFETY: as the caller promises.
    unsafe { run(gpu, info, scan) }
}

/// Reduces `count` rows to `results`: a row, or with SUBSWEEP_REDUCE_INDEX_BIT a uint32_t for each column, with
/// SUBSWEEP_REDUCE_BOTH_INDICES_BIT two; along rows, with `info->row_length`, `count` elements to a result for each row of the table. Without runs.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_gpu_reduce(
    gpu: *const SubsweepGpu,
    info: *const SubsweepReducePlanCreateInfo,
    elements: *const c_void,
    count: u64,
    results: *mut c_void,
) -> VkResult {
    let reduce = |gpu: &Gpu, info: &SubsweepReducePlanCreateInfo| {
        let config = reduce_config(info)?;
        let result_count = match config.reduced_runs() {
            None => 1,
            Some(ReduceRuns::FixedSize(length)) => count.div_ceil(length.into()),
            Some(_) => return Err(unknown("runs", info.runs, "runs are for recordings alone")),
        };
        let elements =
            array(elements, "elements", count, config.source_size(), element_size(config.element_type()))?;
        let results = array(
            results,
            "results",
            result_count,
            config.result_size(),
            element_size(config.result_type()),
        )?;
        let mut reduced = ReducedBytes::default();
        // SAFETY: as the caller promises.
        gpu.prepare_reduce(config, unsafe { &*elements }, &[], &mut reduced)?.run()?;
        // SAFETY: as the caller promises; the elements are no longer used.
        unsafe { &mut *results }.copy_from_slice(&reduced.results);
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { run(gpu, info, reduce) }
}

/// # Safety
/// As the header says of the functions that take arrays.
unsafe fn run<I: Versioned>(
    gpu: *const SubsweepGpu,
    info: *const I,
    body: impl FnOnce(&Gpu, &I) -> Result<()>,
) -> VkResult {
    // SAFETY: as the caller promises.
    result(|| unsafe { body(&borrow(gpu, "gpu")?.gpu, &read(info)?) })
}

/// Size of an element, bytes; for a caller's functions the size of a word.
fn element_size(element: Option<ElementType>) -> u64 {
    element.map_or(4, ElementType::size) as u64
}

/// The bytes of an array of the caller's, which may be null if it is empty. Elements of at most 4 bytes are aligned to these,
/// others to 4.
fn array(
    pointer: *const c_void,
    what: &'static str,
    row_count: u64,
    row_size: u64,
    element_size: u64,
) -> Result<*mut [u8]> {
    at_most(row_count, isize::MAX as u64 / row_size.max(1), "an array of the host")?;
    let size = row_count * row_size;
    AddressRange::new(pointer.addr() as u64, size).aligned(what, element_size.min(4))?;
    let given = NonNull::new(pointer.cast_mut().cast()).ok_or(Failure::Null(what));
    let first = if size > 0 { given? } else { NonNull::dangling() };
    Ok(ptr::slice_from_raw_parts_mut(first.as_ptr(), size as usize))
}
