"""Arrays that stay on a device between calls."""

from __future__ import annotations

import math
import operator
import sys
from typing import Any, Dict, Iterable, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _subsweep
from ._device import current
from ._types import SUPPORTED, NDArray, bytes_of, element_of, host_numbers

Shape = Union[int, Iterable[int]]


class Array:
    """Numbers in the memory of a device, which stay there between calls.

    A function that is given an Array runs on its device and returns Arrays; indices and counts are of uint32 then. Arithmetic,
    comparisons and parts of an Array are left to numpy.

    ``numpy.asarray(array)`` is the memory itself, without a copy, where the host sees it: on CPU devices and many integrated GPUs.
    Elsewhere it is a copy that cannot be written. Where it is no copy, there are DLPack (``numpy.from_dlpack``,
    ``torch.from_dlpack``; from numpy 1.23 on) and, from Python 3.12 on, the buffer protocol (``memoryview``) as well. Once the memory
    was given away, calls copy it on the device first, since another thread may write it.

    Parameters
    ----------
    a : array_like
        Numbers, copied to the device in use.
    dtype : dtype, optional
        Type to convert `a` to before.

    Examples
    --------
    >>> import numpy as np, subsweep
    >>> keys = subsweep.Array([30, 10, 20])
    >>> order = subsweep.argsort(keys)
    >>> subsweep.take(keys, order)
    Array([10, 20, 30], device='...')
    >>> np.asarray(order)
    array([1, 2, 0], dtype=uint32)
    """

    __slots__ = ("__weakref__", "_buffer", "_dtype", "_shape")

    _buffer: _subsweep.Buffer
    _dtype: np.dtype[Any]
    _shape: Tuple[int, ...]

    def __init__(self, a: Any, dtype: Optional[npt.DTypeLike] = None) -> None:
        copied = Array.on(current(), host_numbers(a, "a", dtype))
        self._buffer, self._dtype, self._shape = copied._buffer, copied._dtype, copied._shape

    @classmethod
    def empty(cls, shape: Shape, dtype: npt.DTypeLike = np.float64) -> Array:
        """Return an Array of undefined numbers on the device in use, to be written through ``numpy.asarray``.

        Where the host does not see the memory that would have no effect, and is a ValueError.
        """
        shape = tuple(operator.index(length) for length in (shape if isinstance(shape, Iterable) else (shape,)))
        dtype = np.dtype(dtype).newbyteorder("=")
        if element_of(dtype) is None:
            raise TypeError(f"dtype is {dtype}, and subsweep takes {SUPPORTED}")
        if any(length < 0 for length in shape):
            raise ValueError(f"shape is {shape}: give lengths from 0 on")
        size = math.prod(shape) * dtype.itemsize
        if size > sys.maxsize:
            raise MemoryError(f"{size} bytes are more than there can be")
        array = cls.of_buffer(current().allocate(np.empty(0, np.uint8), size), dtype, shape)
        if not array._is_visible():
            raise ValueError(f"the host does not see the memory of {array.device.name}: copy an array to it, subsweep.Array(a)")
        return array

    @classmethod
    def on(cls, device: _subsweep.Device, array: NDArray) -> Array:
        """Return a copy of `array`, of a supported type, on a device."""
        data = bytes_of(array)
        return cls.of_buffer(device.allocate(data, len(data)), array.dtype, array.shape)

    @classmethod
    def of_buffer(cls, buffer: _subsweep.Buffer, dtype: np.dtype[Any], shape: Tuple[int, ...]) -> Array:
        """Return the Array of bytes of the native module."""
        array = cls.__new__(cls)
        array._buffer, array._dtype, array._shape = buffer, dtype, shape
        return array

    @property
    def buffer(self) -> _subsweep.Buffer:
        """The bytes, for the native module."""
        return self._buffer

    @property
    def device(self) -> _subsweep.Device:
        """The device that has the memory."""
        return self._buffer.device

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers."""
        return self._dtype

    @property
    def shape(self) -> Tuple[int, ...]:
        """Length along each axis."""
        return self._shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """Number of numbers."""
        return math.prod(self._shape)

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all numbers."""
        return self.size * self.itemsize

    def reshape(self, *shape: Any) -> Array:
        """Return the same memory in another shape; one length may be -1."""
        lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], Iterable) else shape
        # numpy finds the length that is missing, and refuses what does not fit, of an array that takes one byte.
        found = np.broadcast_to(np.zeros((), np.bool_), self._shape).reshape(tuple(lengths)).shape
        return Array.of_buffer(self._buffer, self._dtype, found)

    def item(self) -> Any:
        """Return the only number as one of Python."""
        return np.array(self).item()

    def __eq__(self, other: object) -> bool:
        raise TypeError("Arrays are not compared: numpy.asarray(array) == other")

    __hash__ = object.__hash__

    def __reduce__(self) -> Any:
        raise TypeError("an Array is memory of this process: copy or send numpy.asarray(array)")

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        return operator.index(self.item())

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of an Array without axes")
        return self._shape[0]

    def __repr__(self) -> str:
        return f"Array({np.array2string(np.array(self), separator=', ', prefix='Array(')}, device={self.device.name!r})"

    def _is_visible(self) -> bool:
        return self.size == 0 or self._buffer.is_visible

    def __array__(self, dtype: Optional[npt.DTypeLike] = None, copy: Optional[bool] = None) -> NDArray:
        is_converted = dtype is not None and np.dtype(dtype) != self._dtype
        if copy is False and (is_converted or not self._is_visible()):
            why = "numbers of another type" if is_converted else f"the memory of {self.device.name}, which the host does not see"
            raise ValueError(f"{why} cannot be had without a copy: leave copy=False out")
        if self.size == 0:
            array = np.empty(self._shape, self._dtype)
        elif self._is_visible() and not copy and not is_converted:
            array = np.asarray(_Visible(self)).view(self._dtype).reshape(self._shape)
        else:
            array = self._buffer.read().view(self._dtype).reshape(self._shape)
            # What is written to a copy that nobody asked for would be lost.
            array.flags.writeable = bool(copy) or is_converted
        return array.astype(dtype, copy=False) if is_converted else array

    def _view(self) -> NDArray:
        if not self._is_visible():
            raise BufferError(f"the host does not see the memory of {self.device.name}: give a copy, numpy.asarray(array)")
        return np.asarray(self)

    def __buffer__(self, flags: int) -> memoryview:
        view: Any = self._view()
        return memoryview(view)

    def __dlpack__(self, **options: Any) -> Any:
        return self._view().__dlpack__(**options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self._view().__dlpack_device__()


class _Visible:
    """The memory of an Array as numpy takes it, which keeps it alive."""

    def __init__(self, array: Array) -> None:
        self._array = array

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        array = self._array
        # Bytes, since types that numpy does not have itself have no letter.
        return {"version": 3, "shape": (array.nbytes,), "typestr": "|u1", "data": (array.buffer.address, False)}
