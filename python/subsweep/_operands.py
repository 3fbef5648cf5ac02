"""Arrays of the host or on a device, and the bytes that the native module takes and gives."""

from __future__ import annotations

import math
import operator
from typing import Any, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _subsweep
from ._array import Array
from ._device import current
from ._types import NDArray, bytes_of, check_type, converted, element_of, host_array, host_numbers, kind_of, unpacked

#: An array; of a function that returns one, an `Array` where it is given one.
Numbers = Any
#: Bytes of an array, on the host or on a device.
Data = Union[npt.NDArray[np.uint8], _subsweep.Buffer]

#: numpy 1.25 has moved it.
AxisError = getattr(np, "exceptions", np).AxisError

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


def unmasked(a: Any, name: str) -> Numbers:
    """Return `a` as an array of any type, on the host or on a device."""
    return a if isinstance(a, Array) else host_array(a, name)


def numbers(a: Any, name: str = "a", dtype: Optional[npt.DTypeLike] = None) -> Numbers:
    """Return `a` as an array of a supported type in native byte order; `dtype` converts it before."""
    if not isinstance(a, Array):
        return host_numbers(a, name, dtype)
    if dtype is not None and a.dtype != np.dtype(dtype):
        check_type(np.dtype(dtype), name)
        raise TypeError(f"{name} is an Array of {a.dtype}: convert it, subsweep.Array({name}, numpy.{np.dtype(dtype)})")
    return a


def addends(a: Any, name: str = "a", dtype: Optional[npt.DTypeLike] = None) -> Tuple[Numbers, np.dtype[Any]]:
    """Return `a` as numbers to compute with, and the type of the results: of elements of 8 and 16 bits that may be their 32."""
    array = unmasked(a, name)
    if dtype is not None and element_of(array.dtype) is not None and np.dtype(dtype) == unpacked(array.dtype):
        return numbers(array, name), unpacked(array.dtype)
    array = numbers(array, name, dtype)
    if array.dtype.kind == "b":
        raise TypeError(f"{name} is of bool, and arithmetic is of numbers: convert it, {name}.astype(numpy.uint32)")
    return array, array.dtype


def vector(a: Any, name: str = "a") -> Numbers:
    """Return `a` as `numbers` do, of one dimension."""
    array = numbers(a, name)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions, and this function takes one: {name}.reshape(-1)")
    return array


def check_values(values: Numbers, keys: Numbers, name: str = "values") -> None:
    """Refuse values of which there is not one, or a row, for each of `keys`."""
    if values.ndim == 0 or len(values) != len(keys):
        raise ValueError(f"{name} has the shape {values.shape}: give a value for each of {len(keys)} keys")


def element(array: Numbers) -> str:
    """Return the native module's name of the type of `array`."""
    name = element_of(array.dtype)
    assert name is not None, array.dtype
    return name


def data(array: Numbers) -> Any:
    """Return the bytes of `array` in C order: the buffer of an Array, a view where it is contiguous, else a copy."""
    return array.buffer if isinstance(array, Array) else bytes_of(array)


def device_of(*operands: Any) -> _subsweep.Device:
    """Return the device of a call: the device of its Arrays, else the one in use."""
    devices = [operand.device for operand in operands if isinstance(operand, Array)]
    if any(device != devices[0] for device in devices):
        names = " and ".join(device.name for device in devices)
        raise ValueError(f"the Arrays are on two devices, {names}: give one as numpy.asarray(array)")
    return devices[0] if devices else current()


def given(result: Data, dtype: npt.DTypeLike, shape: Tuple[int, ...]) -> Numbers:
    """Return bytes of a result as an array of the host, or as an Array."""
    if isinstance(result, _subsweep.Buffer):
        return Array.of_buffer(result, np.dtype(dtype), shape)
    return result.view(dtype).reshape(shape)


def indices_of(result: Data, shape: Tuple[int, ...]) -> Numbers:
    """Return indices or counts of a result: of intp as numpy's, of an Array of uint32 as the device's, or of uint64 if it has 8
    bytes for each."""
    dtype = np.uint64 if len(result) > 4 * np.prod(shape, dtype=int) else np.uint32
    if isinstance(result, _subsweep.Buffer):
        return given(result, dtype, shape)
    return result.view(dtype).astype(np.intp).reshape(shape)


def index_dtype(array: Numbers) -> Any:
    """Return the type of indices into `array`."""
    return np.uint32 if isinstance(array, Array) else np.intp


def like(other: Numbers, array: Numbers) -> Numbers:
    """Return `array` as an Array where `other` is one; an Array as it is."""
    if isinstance(other, Array) and not isinstance(array, Array):
        return Array.on(other.device, array)
    return array


def scalar(array: Numbers) -> Any:
    """Return the element of an array of the host without dimensions; else the array."""
    return array if isinstance(array, Array) else array[()]


def number_of(dtype: np.dtype[Any], number: Any, name: str) -> NDArray:
    """Return one number in a type of which it is; floats are rounded to the type, as numpy rounds a scalar."""
    array = host_array(number, name)
    if isinstance(number, int) and array.dtype.kind == "O":
        if kind_of(dtype) == "f":
            return _float_of(dtype, number, name)
        raise ValueError(f"{name} is {number}, and a is of {dtype}: give a number of this type")
    if array.ndim or kind_of(array.dtype) not in "biuf":
        raise TypeError(f"{name} is {number!r}: give one number")
    if kind_of(dtype) == "f":
        return np.asarray(number, dtype)
    if dtype.kind == "b":
        dtype = np.dtype(np.uint8)
    limits = np.iinfo(dtype)
    is_whole = array.dtype.kind in "biu" or float(number).is_integer()
    if not is_whole or not limits.min <= int(number) <= limits.max:
        raise ValueError(f"{name} is {number}, and a is of {dtype}: give a number of this type")
    return np.asarray(int(number), dtype)


def _float_of(dtype: np.dtype[Any], number: int, name: str) -> NDArray:
    """Return a whole number of more than 64 bits, which numpy does not convert, as the float that it is."""
    with np.errstate(all="ignore"):
        # Beyond the greatest float64 float() raises an error.
        found = np.asarray(float(number) if abs(number) <= int(np.finfo(np.float64).max) else np.inf, dtype)
    if float(found) != number:
        raise ValueError(f"{name} is a whole number of {number.bit_length()} bits, which {dtype} does not have: give a float")
    return found


def _check_count(count: int) -> None:
    if count > MAX_COUNT:
        raise ValueError(f"{count} elements are more than the {MAX_COUNT} that indices of the device take: split the array")


def indices32(array: Any, name: str, count: int) -> Numbers:
    """Return indices into `count` elements as uint32, negative ones from the end, as numpy takes them; an Array as it is."""
    _check_count(count)
    if isinstance(array, Array):
        if array.dtype != np.uint32:
            raise TypeError(f"{name} is an Array of {array.dtype}, and indices on a device are of uint32: convert it before")
        return array
    indices = host_array(array, name)
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


def segments32(
    segments: npt.ArrayLike, count: int, name: str = "segments", *, in_any_order: bool = False
) -> npt.NDArray[np.uint32]:
    """Return the indices at which segments of `count` elements begin, or end, checked, as uint32."""
    _check_count(count)
    begins = host_array(segments, name)
    if begins.ndim != 1:
        raise ValueError(f"segments has {begins.ndim} dimensions, and it is one: the index at which each segment begins")
    if begins.size == 0:
        return np.zeros(0, np.uint32)
    if begins.dtype.kind not in "iu":
        raise TypeError(f"segments is of {begins.dtype}, and indices are whole numbers: segments.astype(numpy.int64)")
    low, high = int(begins.min()), int(begins.max())
    if low < 0 or high > count:
        wrong = low if low < 0 else high
        raise ValueError(f"segments begin and end from 0 to {count}, and an index is {wrong}: give indices from 0 to {count}")
    if not in_any_order and bool(np.any(begins[1:] < begins[:-1])):
        raise ValueError("segments begin in ascending order: sort them, numpy.sort(segments)")
    return begins.astype(np.uint32)


def ranges32(
    segments: npt.ArrayLike, ends: Optional[npt.ArrayLike], count: int
) -> Tuple[npt.NDArray[np.uint32], Optional[npt.NDArray[np.uint32]]]:
    """Return the begins of segments of `count` elements, and their ends where these are given, checked, as uint32."""
    begins = segments32(segments, count, in_any_order=ends is not None)
    if ends is None:
        return begins, None
    ends32 = segments32(ends, count, "ends", in_any_order=True)
    if len(ends32) != len(begins):
        raise ValueError(f"ends has {len(ends32)} indices, and there are {len(begins)} segments: give the end of each")
    return begins, ends32


def operator_name(op: Union[str, np.ufunc], array: Numbers) -> str:
    """Return the native module's name of an operator: a ufunc of numpy, or a name."""
    name = op if isinstance(op, str) else getattr(op, "__name__", repr(op))
    found = _OPERATORS.get(name)
    if found is None:
        raise ValueError(f"op is {name}, and there are add, mul, min, max, and, or, xor, or numpy's ufuncs of these")
    if found in ("and", "or", "xor") and kind_of(array.dtype) == "f":
        bits = f"a.view(numpy.uint{8 * array.itemsize})"
        raise TypeError(f"op {name} takes whole numbers, and a is of {array.dtype}: give its bits, {bits}")
    return found


def normalized(axis: int, array: Numbers) -> int:
    """Return the axis from 0 on."""
    axis = operator.index(axis)
    if not -array.ndim <= axis < array.ndim:
        raise AxisError(axis, array.ndim)
    return axis % int(array.ndim)


def last_axis(array: Numbers, axis: Optional[int]) -> Tuple[Numbers, int]:
    """Return a view with `axis` as the last one, and where it came from; `None` takes the elements in C order."""
    if axis is None:
        return array.reshape(-1), 0
    axis = normalized(axis, array)
    if not isinstance(array, Array):
        return np.moveaxis(array, axis, -1), axis
    if axis < array.ndim - 1:
        raise _not_moved(array, axis)
    return array, axis


def to_axis(array: Numbers, axis: int) -> Numbers:
    """Return a view with the last axis where `last_axis` found it."""
    return array if isinstance(array, Array) else np.moveaxis(array, -1, axis)


def axes_last(array: Numbers, axes: Sequence[int]) -> Numbers:
    """Return a view with `axes` as the last ones."""
    last = range(array.ndim - len(axes), array.ndim)
    if not isinstance(array, Array):
        return np.moveaxis(array, axes, last)
    if sorted(axes) != list(last):
        raise _not_moved(array, axes)
    return array


def _not_moved(array: Array, axis: Any) -> ValueError:
    return ValueError(
        f"axis is {axis}, and no axes of an Array of shape {array.shape} are moved: give one with this axis last, "
        "subsweep.Array(numpy.moveaxis(a, axis, -1))"
    )


def row_length(shape: Tuple[int, ...]) -> Optional[int]:
    """Return the length of the rows along the last axis; None of one row."""
    size, length = math.prod(shape), shape[-1]
    if size == length:
        return None
    _check_count(size)
    return length


def promoted(a: Any, b: Any, names: Tuple[str, str]) -> Tuple[Numbers, Numbers]:
    """Return both arrays in the common type that numpy's function of the same name takes, or, where one is an Array, in its type."""
    if isinstance(a, Array) and not isinstance(b, Array):
        return a, converted(host_array(b, names[1]), a.dtype, names[1])
    if isinstance(b, Array) and not isinstance(a, Array):
        return converted(host_array(a, names[0]), b.dtype, names[0]), b
    dtypes = [array.dtype if isinstance(array, Array) else np.asarray(array).dtype for array in (a, b)]
    try:
        common = np.promote_types(*dtypes)
    except TypeError:
        text = f"{names[0]} is of {dtypes[0]} and {names[1]} of {dtypes[1]}, which have no common type: convert one of them"
        raise TypeError(text) from None
    return numbers(a, names[0], common), numbers(b, names[1], common)
