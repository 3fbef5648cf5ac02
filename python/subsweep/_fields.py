"""Structured arrays, sorted by their fields."""

from __future__ import annotations

from typing import Any, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt
from numpy.lib import recfunctions

from ._device import current
from ._types import NDArray, SUPPORTED, bytes_of, element_of, host_array

#: Names of fields, of which - is before each that is descending.
By = Union[str, Sequence[str]]
#: Type, offset and direction of a field, for the native module.
_Field = Tuple[str, int, bool]

_ALIGNED = "numpy.lib.recfunctions.repack_fields(a, align=True)"


def is_structured(a: Any) -> bool:
    """Return whether `a` is an array with fields."""
    return isinstance(a, np.ndarray) and a.dtype.names is not None


def _found(dtype: np.dtype[Any], name: str) -> Optional[Tuple[np.dtype[Any], int]]:
    """Return the type and offset of a field, `outer.inner` of one within another."""
    if name in (dtype.names or ()):
        found = dtype.fields[name]  # type: ignore[index]
        return found[0], found[1]
    for outer in dtype.names or ():
        if name.startswith(outer + "."):
            of_outer = dtype.fields[outer]  # type: ignore[index]
            inner = _found(of_outer[0], name[len(outer) + 1 :])
            return None if inner is None else (inner[0], of_outer[1] + inner[1])
    return None


def _field(dtype: np.dtype[Any], name: str, descending: bool) -> _Field:
    found = _found(dtype, name)
    if found is None and name.startswith("-"):
        name, descending = name[1:], not descending
        found = _found(dtype, name)
    if found is None:
        raise ValueError(f"a has no field {name!r}: it has {', '.join(dtype.names or ())}")
    of_field, offset = found
    element = element_of(of_field)
    if element is None:
        raise TypeError(f"field {name!r} is of {of_field}, and fields to sort by are {SUPPORTED}: add one of numbers")
    if not of_field.isnative:
        raise TypeError(f"field {name!r} is of {of_field}, of another byte order: give a.astype(a.dtype.newbyteorder('='))")
    if offset % min(of_field.itemsize, 4):
        raise TypeError(f"field {name!r} is at byte {offset}, not a multiple of its size: give {_ALIGNED}")
    return element, offset, descending


def _repacked(dtype: np.dtype[Any]) -> str:
    """Return an expression for the structures in a multiple of 4 bytes, to which fields of a byte or two do not align them."""
    aligned = recfunctions.repack_fields(dtype, align=True)
    if aligned.itemsize % 4 == 0 < dtype.itemsize:
        return _ALIGNED
    offsets = [aligned.fields[name][1] for name in aligned.names or ()]  # type: ignore[index]
    types = "'names': a.dtype.names, 'formats': [a.dtype[name] for name in a.dtype.names]"
    size = max(4, -(-aligned.itemsize // 4) * 4)
    return f"a.astype(numpy.dtype({{{types}, 'offsets': {offsets}, 'itemsize': {size}}}))"


def _checked(a: Any, by: Optional[By], axis: Optional[int], descending: bool) -> Tuple[NDArray, List[_Field]]:
    array = host_array(a, "a")
    if array.dtype.names is None:
        raise TypeError(f"a is of {array.dtype}, which has no fields: leave by out")
    if array.ndim != 1 or axis not in (-1, 0, None):
        raise ValueError(f"a has the shape {array.shape}, and structures are sorted along one axis: a.reshape(-1)")
    if array.dtype.hasobject:
        raise TypeError(f"a is of {array.dtype}, which refers to objects, and a sort moves bytes: use numpy.sort")
    if array.dtype.itemsize % 4 or array.dtype.itemsize == 0:
        raise TypeError(f"a has structures of {array.dtype.itemsize} bytes, not a multiple of 4: give {_repacked(array.dtype)}")
    names = [by] if isinstance(by, str) else list(array.dtype.names if by is None else by)
    return array, [_field(array.dtype, name, descending) for name in names]


def _offsets_of_bool(dtype: np.dtype[Any], start: int = 0) -> Iterator[int]:
    for name in dtype.names or ():
        of_field, offset = dtype.fields[name][:2]  # type: ignore[index]
        if of_field.kind == "b":
            yield start + offset
        yield from _offsets_of_bool(of_field, start + offset)


def _structures(array: NDArray, fields: List[_Field]) -> npt.NDArray[np.uint8]:
    """Return the bytes of `array`, of every True among the fields the byte 1: the device compares bytes."""
    structures = bytes_of(array)
    offsets = sorted({offset for _, offset, _ in fields}.intersection(_offsets_of_bool(array.dtype)))
    if offsets:
        structures = structures.reshape(len(array), -1).copy()
        structures[:, offsets] = structures[:, offsets] != 0
    return structures.reshape(-1)


def sort_structures(a: Any, by: Optional[By], axis: Optional[int], descending: bool, order: str) -> NDArray:
    """Return a sorted copy of a structured array."""
    array, fields = _checked(a, by, axis, descending)
    if array.size == 0:
        return np.array(array)
    result = current().sort_structures(_structures(array, fields), array.dtype.itemsize, fields, order)
    sorted_array: NDArray = np.asarray(result).view(array.dtype)
    return sorted_array


def argsort_structures(a: Any, by: Optional[By], axis: Optional[int], descending: bool, order: str) -> NDArray:
    """Return the indices that sort a structured array."""
    array, fields = _checked(a, by, axis, descending)
    if array.size == 0:
        return np.empty(0, np.intp)
    result = current().argsort_structures(_structures(array, fields), array.dtype.itemsize, fields, order)
    return np.asarray(result).view(np.uint32).astype(np.intp)
