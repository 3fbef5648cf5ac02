"""The six types of numbers, and arrays of the host that have them."""

from __future__ import annotations

from typing import Any, Literal, Optional

import numpy as np
import numpy.ma  # Not on first use: that may be in the handler of a signal.
import numpy.typing as npt

NDArray = npt.NDArray[Any]
#: An order of floats.
Order = Literal["numpy", "total"]

#: The name of a type in the native module, by numpy's kind and size.
ELEMENTS = {("u", 4): "u32", ("i", 4): "i32", ("f", 4): "f32", ("u", 8): "u64", ("i", 8): "i64", ("f", 8): "f64"}
SUPPORTED = "uint32, int32, float32, uint64, int64 and float64"


def check_type(dtype: np.dtype[Any], name: str) -> None:
    """Refuse other types than the six, with what converts an array called `name`."""
    if (dtype.kind, dtype.itemsize) not in ELEMENTS:
        raise TypeError(f"{name} is of {dtype}, and subsweep takes {SUPPORTED}: {_remedy(dtype, name)}")


def _remedy(dtype: np.dtype[Any], name: str) -> str:
    if dtype.kind == "c":
        return f"give {name}.real and {name}.imag, each by itself"
    if dtype.kind in "mM":
        return f"give {name}.view(numpy.int64)"
    if dtype.kind in "bif" and dtype.itemsize < 4:
        return f"convert it, {name}.astype(numpy.{'float32' if dtype.kind == 'f' else 'int32'})"
    if dtype.kind == "u":
        return f"convert it, {name}.astype(numpy.uint32)"
    if dtype.kind == "f":
        return f"convert it, {name}.astype(numpy.float64)"
    return "give it numbers"


def host_array(a: Any, name: str) -> NDArray:
    """Return `a` as an array of the host. One with a mask is refused, which would be lost."""
    if isinstance(a, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: give {name}.compressed(), or {name}.filled(value)")
    return np.asarray(a)


def converted(array: NDArray, dtype: np.dtype[Any], name: str) -> NDArray:
    """Return `array` as numbers of `dtype`, which they are; floats are rounded."""
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} is of {array.dtype}: give numbers of {dtype}, the type of a")
    with np.errstate(all="ignore"):
        numbers: NDArray = array.astype(dtype)
    are_right = np.isfinite(numbers) == np.isfinite(array) if dtype.kind == "f" else numbers == array
    if not np.all(are_right):
        raise ValueError(f"{name} has a number that is none of {dtype}, the type of a: give others, or convert a")
    return numbers


def host_numbers(a: Any, name: str, dtype: Optional[npt.DTypeLike]) -> NDArray:
    """Return `a` as an array of a supported type in native byte order; `dtype` converts it before."""
    array = host_array(a, name)
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    check_type(array.dtype, name)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
