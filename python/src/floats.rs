//! The order of floats in numpy: -0 equals +0, and all NaNs are equal and last.
//!
//! A sort on the device is by `total_cmp`. With one bit pattern for each set of equal floats both orders are one.

use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use subsweep::ElementType;

use crate::array::slice;
use crate::device::{element_type, numbers};

/// The bits of a positive quiet NaN.
const NAN32: u32 = 0x7fc0_0000;
const NAN64: u64 = 0x7ff8_0000_0000_0000;
const SIGN32: u32 = 1 << 31;
const SIGN64: u64 = 1 << 63;

/// The key of a float: +0 for either zero, and one NaN for all.
fn key32(bits: u32) -> u32 {
    let magnitude = bits & !SIGN32;
    let zero = if magnitude == 0 { 0 } else { bits };
    if magnitude > f32::INFINITY.to_bits() { NAN32 } else { zero }
}

fn key64(bits: u64) -> u64 {
    let magnitude = bits & !SIGN64;
    let zero = if magnitude == 0 { 0 } else { bits };
    if magnitude > f64::INFINITY.to_bits() { NAN64 } else { zero }
}

/// Whether no float has another key than its bits. In blocks, each without a branch.
fn are_keys<B: Copy + PartialEq>(bits: &[B], key: impl Fn(B) -> B) -> bool {
    bits.chunks(4096).all(|block| block.iter().fold(true, |equal, &bits| equal & (key(bits) == bits)))
}

/// Whether numpy's order of these numbers is that of the device, down to the bits of equal ones.
#[pyfunction]
pub fn has_numpy_order(py: Python<'_>, words: PyReadonlyArray1<'_, u32>, element: &str) -> PyResult<bool> {
    let words = slice(&words)?;
    Ok(match element_type(element)? {
        ElementType::F32 => py.detach(|| are_keys(words, key32)),
        ElementType::F64 => py.detach(|| are_keys(numbers(words), key64)),
        _ => true,
    })
}

/// Keys whose order on the device is numpy's order of the floats: u32 or u64.
#[pyfunction]
pub fn numpy_keys<'py>(
    py: Python<'py>,
    words: PyReadonlyArray1<'py, u32>,
    element: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let words = slice(&words)?;
    Ok(match element_type(element)? {
        ElementType::F64 => {
            let keys = || numbers(words).iter().copied().map(key64).collect::<Vec<u64>>();
            py.detach(keys).into_pyarray(py).into_any()
        }
        ElementType::F32 => {
            py.detach(|| words.iter().copied().map(key32).collect::<Vec<u32>>()).into_pyarray(py).into_any()
        }
        _ => words.to_vec().into_pyarray(py).into_any(),
    })
}
