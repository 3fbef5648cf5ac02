"""Arrays of the six types, and the 32-bit words that the native module takes."""

from __future__ import annotations

import math
import operator
from typing import Any, Optional, Tuple, Union

import numpy as np
import numpy.ma  # Not on first use: that may be in the handler of a signal.
import numpy.typing as npt

Array = npt.NDArray[Any]

#: The name of a type in the native module, by numpy's kind and size.
ELEMENTS = {("u", 4): "u32", ("i", 4): "i32", ("f", 4): "f32", ("u", 8): "u64", ("i", 8): "i64", ("f", 8): "f64"}

#: numpy 1.25 has moved it.
AxisError = getattr(np, "exceptions", np).AxisError

_SUPPORTED = "uint32, int32, float32, uint64, int64 and float64"

_OPERATORS = {
    "add": "add",
    "mul": "mul",
    "multiply": "mul",
    "min": "min",
    "minimum": "min",
    "max": "max",
    "maximum": "max",
    "and": "and",
    "bitwise_and": "and",
    "or": "or",
    "bitwise_or": "or",
    "xor": "xor",
    "bitwise_xor": "xor",
}

#: The counts and indices of the device are of 32 bits.
MAX_COUNT = 2**32 - 1


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


def unmasked(a: npt.ArrayLike, name: str) -> Array:
    """Return `a` as an array. One with a mask is refused, which would be lost."""
    if isinstance(a, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: give {name}.compressed(), or {name}.filled(value)")
    return np.asarray(a)


def numbers(a: npt.ArrayLike, name: str = "a", dtype: Optional[npt.DTypeLike] = None) -> Array:
    """Return `a` as an array of a supported type in native byte order; `dtype` converts it before."""
    array = unmasked(a, name)
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    if (array.dtype.kind, array.dtype.itemsize) not in ELEMENTS:
        remedy = _remedy(array.dtype, name)
        raise TypeError(f"{name} is of {array.dtype}, and subsweep takes {_SUPPORTED}: {remedy}")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def element(array: Array) -> str:
    """Return the native module's name of the type of `array`."""
    return ELEMENTS[array.dtype.kind, array.dtype.itemsize]


def words(array: Array) -> npt.NDArray[np.uint32]:
    """Return the words of `array` in C order: a view where it is contiguous and aligned, else a copy."""
    contiguous = np.require(array, requirements=["C", "A"])
    # Elements of other types than numbers may have any size and alignment.
    return np.require(contiguous.reshape(-1).view(np.uint8).view(np.uint32), requirements=["A"])


def copied(array: Array) -> Array:
    """Return a contiguous copy, which the native module may overwrite."""
    return np.array(array, order="C", copy=True, subok=False)


def number_of(dtype: np.dtype[Any], number: Any, name: str) -> Array:
    """Return one number in a type of which it is; floats are rounded to the type, as numpy rounds a scalar."""
    given = np.asarray(number)
    if isinstance(number, int) and given.dtype.kind == "O":
        raise ValueError(f"{name} is {number}, and a is of {dtype}: give a number of this type")
    if given.ndim or given.dtype.kind not in "biuf":
        raise TypeError(f"{name} is {number!r}: give one number")
    if dtype.kind == "f":
        return np.asarray(number, dtype)
    limits = np.iinfo(dtype)
    is_whole = given.dtype.kind in "biu" or float(number).is_integer()
    if not is_whole or not limits.min <= int(number) <= limits.max:
        raise ValueError(f"{name} is {number}, and a is of {dtype}: give a number of this type")
    return np.asarray(int(number), dtype)


def _check_count(count: int) -> None:
    if count > MAX_COUNT:
        raise ValueError(f"{count} elements are more than the {MAX_COUNT} that indices of the device take: split the array")


def indices32(array: npt.ArrayLike, name: str, count: int) -> npt.NDArray[np.uint32]:
    """Return indices into `count` elements as uint32, negative ones from the end, as numpy takes them."""
    _check_count(count)
    indices = np.asarray(array)
    if indices.size == 0:
        return np.zeros(indices.shape, np.uint32)
    if indices.dtype.kind not in "iu":
        raise TypeError(f"{name} is of {indices.dtype}, and indices are whole numbers: {name}.astype(numpy.int64)")
    low, high = int(indices.min()), int(indices.max())
    if low < -count or high >= count:
        wrong = low if low < -count else high
        raise IndexError(f"index {wrong} in {name} is out of bounds for {count} elements")
    if low < 0:
        indices = np.where(indices < 0, indices.astype(np.int64) + count, indices)
    return indices.astype(np.uint32)


def segments32(segments: npt.ArrayLike, count: int) -> npt.NDArray[np.uint32]:
    """Return the indices at which segments of `count` elements begin, checked, as uint32."""
    _check_count(count)
    begins = np.asarray(segments)
    if begins.ndim != 1:
        raise ValueError(f"segments has {begins.ndim} dimensions, and it is one: the index at which each segment begins")
    if begins.size == 0:
        return np.zeros(0, np.uint32)
    if begins.dtype.kind not in "iu":
        raise TypeError(f"segments is of {begins.dtype}, and indices are whole numbers: segments.astype(numpy.int64)")
    if int(begins[0]) < 0 or int(begins[-1]) > count or bool(np.any(begins[1:] < begins[:-1])):
        raise ValueError(f"segments begin in ascending order, from 0 to {count}: sort them, numpy.sort(segments)")
    return begins.astype(np.uint32)


def check_dimensions(array: Array, name: str) -> None:
    """Refuse anything but one dimension."""
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions, and this function takes one: {name}.reshape(-1)")


def operator_name(op: Union[str, np.ufunc], array: Array) -> str:
    """Return the native module's name of an operator: a ufunc of numpy, or a name."""
    name = op if isinstance(op, str) else getattr(op, "__name__", repr(op))
    found = _OPERATORS.get(name)
    if found is None:
        raise ValueError(f"op is {name}, and there are add, mul, min, max, and, or, xor, or numpy's ufuncs of these")
    if found in ("and", "or", "xor") and array.dtype.kind == "f":
        raise TypeError(f"op {name} takes whole numbers, and a is of {array.dtype}: give its bits, a.view(numpy.uint32)")
    return found


def normalized(axis: int, array: Array) -> int:
    """Return the axis from 0 on."""
    axis = operator.index(axis)
    if not -array.ndim <= axis < array.ndim:
        raise AxisError(axis, array.ndim)
    return axis % array.ndim


def last_axis(array: Array, axis: Optional[int]) -> Tuple[Array, int]:
    """Return a view with `axis` as the last one, and where it came from; `None` takes the elements in C order."""
    if axis is None:
        return array.reshape(-1), 0
    axis = normalized(axis, array)
    return np.moveaxis(array, axis, -1), axis


def row_segments(shape: Tuple[int, ...]) -> Optional[npt.NDArray[np.uint32]]:
    """Return the beginnings of the rows along the last axis; None of one row."""
    size, length = math.prod(shape), shape[-1]
    if size == length:
        return None
    _check_count(size)
    return np.arange(0, size, length, dtype=np.uint32)


def promoted(a: npt.ArrayLike, b: npt.ArrayLike, names: Tuple[str, str]) -> Tuple[Array, Array]:
    """Return both arrays in the common type that numpy's function of the same name takes."""
    common = np.promote_types(np.asarray(a).dtype, np.asarray(b).dtype)
    return numbers(a, names[0], common), numbers(b, names[1], common)
