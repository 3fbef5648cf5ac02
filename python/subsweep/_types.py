"""The types of numbers, and arrays of the host that have them."""

from __future__ import annotations

from typing import Any, Literal, Optional

import numpy as np
import numpy.ma  # Not on first use: that may be in the handler of a signal.
import numpy.typing as npt

NDArray = npt.NDArray[Any]
#: An order of floats.
Order = Literal["numpy", "total"]

SUPPORTED = "integers of 8 to 64 bits, float16, bfloat16, float32 and float64"

_SIZES = {"u": (1, 2, 4, 8), "i": (1, 2, 4, 8), "f": (2, 4, 8)}
_UNPACKED = {"u": np.dtype(np.uint32), "i": np.dtype(np.int32), "f": np.dtype(np.float32)}


def _is_bfloat16(dtype: np.dtype[Any]) -> bool:
    # Of the package ml_dtypes, which nobody else needs.
    return dtype.name == "bfloat16"


def kind_of(dtype: np.dtype[Any]) -> str:
    """Return numpy's letter for the kind of a type; bfloat16 has no kind in numpy, and here is a float."""
    return "f" if _is_bfloat16(dtype) else dtype.kind


def element_of(dtype: np.dtype[Any]) -> Optional[str]:
    """Return the native module's name of a type, None if it has none; bool is its byte."""
    if _is_bfloat16(dtype):
        return "bf16"
    kind = "u" if dtype.kind == "b" else dtype.kind
    return f"{kind}{8 * dtype.itemsize}" if dtype.itemsize in _SIZES.get(kind, ()) else None


def unpacked(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of 32 bits in which the device computes with one of 8 or 16 bits; another type itself."""
    return dtype if dtype.itemsize >= 4 else _UNPACKED["u" if dtype.kind == "b" else kind_of(dtype)]


def check_type(dtype: np.dtype[Any], name: str) -> None:
    """Refuse types that the native module has not, with what converts an array called `name`."""
    if element_of(dtype) is None:
        raise TypeError(f"{name} is of {dtype}, and subsweep takes {SUPPORTED}: {_remedy(dtype, name)}")


def _remedy(dtype: np.dtype[Any], name: str) -> str:
    if dtype.kind == "c":
        return f"give {name}.real and {name}.imag, each by itself"
    if dtype.kind in "mM":
        return f"give {name}.view(numpy.int64)"
    if dtype.kind == "f":
        return f"convert it, {name}.astype(numpy.float64)"
    return "give it numbers"


def check_unmasked(a: Any, name: str) -> None:
    """Refuse an array with a mask, which would be lost."""
    if isinstance(a, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: give {name}.compressed(), or {name}.filled(value)")


def host_array(a: Any, name: str) -> NDArray:
    """Return `a`, which has no mask, as an array of the host."""
    check_unmasked(a, name)
    return np.asarray(a)


def plain_bool(array: NDArray) -> NDArray:
    """Return an array of bool with the byte 1 for every True, another array itself. To numpy any byte but 0 is True, while the device
    compares bytes."""
    return np.asarray(np.not_equal(array.view(np.uint8), 0)) if array.dtype.kind == "b" else array


def bytes_of(array: NDArray) -> npt.NDArray[np.uint8]:
    """Return the bytes of `array` in C order: a view where it is contiguous, else a copy."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def converted(array: NDArray, dtype: np.dtype[Any], name: str) -> NDArray:
    """Return `array` as numbers of `dtype`, which they are; floats are rounded."""
    if kind_of(array.dtype) not in "biuf":
        raise TypeError(f"{name} is of {array.dtype}: give numbers of {dtype}, the type of a")
    with np.errstate(all="ignore"):
        numbers: NDArray = plain_bool(array).astype(dtype)
    are_right = np.isfinite(numbers) == np.isfinite(array) if kind_of(dtype) == "f" else numbers == array
    if not np.all(are_right):
        raise ValueError(f"{name} has a number that is none of {dtype}, the type of a: give others, or convert a")
    return numbers


def host_numbers(a: Any, name: str, dtype: Optional[npt.DTypeLike]) -> NDArray:
    """Return `a` as an array of a supported type in native byte order; `dtype` converts it before."""
    array = plain_bool(host_array(a, name))
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    check_type(array.dtype, name)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
