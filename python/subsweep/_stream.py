"""Files and streams of any size, as iterators of blocks: neither host nor device holds them whole."""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import io
import operator
import os
import queue
import threading
from typing import Any, BinaryIO, Callable, Iterable, Iterator, Optional, Set, Union

import numpy as np
import numpy.typing as npt

from . import _subsweep
from ._device import current
from ._operands import addends, data, element, number_of, numbers, operator_name
from ._scan import Op, check_monotone, reduce
from ._types import NDArray, Order, kind_of, unpacked

_MAGIC = b"\x93NUMPY"


def blocks(
    file: Union[str, os.PathLike[str], BinaryIO], dtype: Optional[npt.DTypeLike] = None, *, count: int = 2**20
) -> Iterator[NDArray]:
    """Read a file or a stream block by block.

    Parameters
    ----------
    file : path or binary file object
        A ``.npy`` file, by its header, or plain numbers; ``sys.stdin.buffer``, for example. An array of several dimensions is read
        as one of its numbers in C order, and one in Fortran order from a file alone.
    dtype : dtype, optional
        Type of plain numbers.
    count : int, optional
        Numbers of a block; the last one has what is left.

    Yields
    ------
    ndarray
        One dimension.

    Examples
    --------
    >>> import io, subsweep
    >>> file = io.BytesIO(bytes([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]))
    >>> [block.tolist() for block in subsweep.blocks(file, "uint32", count=2)]
    [[1, 2], [3]]
    """
    count = operator.index(count)
    if not isinstance(file, (str, os.PathLike)) and not hasattr(file, "read"):
        raise TypeError(f"file is {type(file).__name__}: give a path, or a binary file object; a sequence is its own blocks")
    if count < 1:
        raise ValueError(f"count is {count}: give the numbers of a block, 1 or more")
    return _blocks(file, dtype, count)


def _blocks(file: Union[str, os.PathLike[str], BinaryIO], dtype: Optional[npt.DTypeLike], count: int) -> Iterator[NDArray]:
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as opened:
            yield from _blocks(opened, dtype, count)
        return
    begin = _read(file, len(_MAGIC))
    left = None
    if begin == _MAGIC:
        found, shape, is_fortran = _header(file)
        left = int(np.prod(shape, dtype=object))
        if dtype is not None and found.kind == "V" and found.itemsize == np.dtype(dtype).itemsize:
            # As numpy.save has the types of other packages.
            found = np.dtype(dtype)
        if dtype is not None and np.dtype(dtype) != found:
            raise TypeError(f"the file has numbers of {found}, and dtype is {np.dtype(dtype)}: leave it out, and convert the blocks")
        begin, kind = b"", found
    elif dtype is None:
        raise ValueError("the file is not in numpy's format: give the dtype of its numbers")
    else:
        kind = np.dtype(dtype)
    if kind.itemsize == 0 or kind.hasobject:
        raise TypeError(f"the file has elements of {kind}, which are no numbers")
    if left is not None and is_fortran and sum(axis > 1 for axis in shape) > 1:
        array = _mapped(file, kind, shape)
        yield from (np.array(array.flat[begin : begin + count]) for begin in range(0, left, count))
        return
    while left is None or left > 0:
        wanted = kind.itemsize * (count if left is None else min(count, left)) - len(begin)
        data = begin + _read(file, wanted) if wanted > 0 else begin
        data, begin = data[: kind.itemsize * count], data[kind.itemsize * count :]
        if not data and left is None:
            return
        block = np.frombuffer(data[: len(data) // kind.itemsize * kind.itemsize], kind)
        if len(data) % kind.itemsize or (left is not None and len(block) < min(count, left)):
            raise ValueError(f"the file ends within a number of {kind}, or before its last: it is not whole")
        left = None if left is None else left - len(block)
        yield block


def _read(file: BinaryIO, size: int) -> bytes:
    """Read `size` bytes, or all there are."""
    parts = []
    while size > 0:
        part = file.read(size)
        if part is None:
            raise BlockingIOError("the file has no data yet, and does not wait for it: os.set_blocking(file.fileno(), True)")
        if not isinstance(part, (bytes, bytearray, memoryview)):
            raise TypeError("the file is one of text: open it in binary mode, open(path, 'rb')")
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _mapped(file: BinaryIO, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray:
    """Map the array in Fortran order that begins where `file` is."""
    try:
        begin, size = file.tell(), os.stat(file.fileno()).st_size
    except (AttributeError, OSError):
        text = "the stream has an array in Fortran order, which begins with a column: give the path of a file, or save it in C order"
        raise ValueError(text + ", numpy.ascontiguousarray(a)") from None
    if size < begin + dtype.itemsize * int(np.prod(shape, dtype=object)):
        raise ValueError("the file ends before its last number: it is not whole")
    return np.memmap(file, dtype, "r", begin, shape, "F")


def _header(file: BinaryIO) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    """Read the header of a .npy file after its magic: the type, the shape, and whether the order is Fortran's."""
    version = _read(file, 2)
    if version[:1] not in (b"\x01", b"\x02", b"\x03"):
        raise ValueError("the file is of an unknown version of numpy's format: save it anew, numpy.save")
    length = _read(file, 2 if version[:1] == b"\x01" else 4)
    text = io.BytesIO(length + _read(file, int.from_bytes(length, "little")))
    read = np.lib.format.read_array_header_1_0 if version[:1] == b"\x01" else np.lib.format.read_array_header_2_0
    shape, is_fortran, dtype = read(text)
    if any(length < 0 for length in shape):
        raise ValueError(f"the file has a damaged shape {shape} in its header")
    return dtype, shape, is_fortran


def sort_stream(
    blocks: Iterable[npt.ArrayLike], *, descending: bool = False, order: Order = "numpy", memory: Optional[int] = None
) -> Iterator[NDArray]:
    """Sort the numbers of blocks: there may be more than host and device hold.

    What exceeds `memory` is sorted in parts, which lie in temporary files (in the folder ``TMPDIR``) until they are merged.

    Parameters
    ----------
    blocks : iterable of array_like
        Numbers, each block of the same one. They are taken in the background, in the context of the caller.
    descending, order : optional
        As in `sort`.
    memory : int, optional
        Bytes of host and device together, at least 28 MiB; by default as much as the device has free.

    Yields
    ------
    ndarray
        One dimension, of 8 MiB but for the last. To leave the iterator waits for the block in work, and for `blocks`.

    Examples
    --------
    >>> import subsweep
    >>> [block.tolist() for block in subsweep.sort_stream([[3, 1], [2]])]
    [[1, 2, 3]]
    """
    device = current()
    if memory is not None and memory < 0:
        raise ValueError(f"memory is {memory}: give bytes, at least 28 MiB")
    return _streamed(
        blocks, lambda array, next, write: device.sort_stream(next, write, element(array), descending, order, memory)
    )


def cumsum_stream(
    blocks: Iterable[npt.ArrayLike],
    *,
    op: Op = "add",
    exclusive: bool = False,
    initial: Any = None,
    monotone: bool = False,
) -> Iterator[NDArray]:
    """Return the cumulative sum of the numbers of blocks, or the scan by another operator, in constant memory.

    Parameters
    ----------
    blocks : iterable of array_like
        Numbers, each block of the same one. They are taken in the background, in the context of the caller.
    op, exclusive, initial, monotone : optional
        As in `cumsum`.

    Yields
    ------
    ndarray
        One dimension, of 8 MiB but for the last, whatever the sizes of `blocks`.

    Examples
    --------
    >>> import subsweep
    >>> [block.tolist() for block in subsweep.cumsum_stream([[3, 1], [2]])]
    [[3, 4, 6]]
    """
    device = current()

    def run(array: NDArray, next: _Next, write: _Write) -> None:
        addends(array, "block")
        name = operator_name(op, array)
        check_monotone(monotone, name, array)
        first = None if initial is None else data(number_of(array.dtype, initial, "initial"))
        device.scan_stream(next, write, element(array), name, exclusive, monotone, first)

    return _streamed(blocks, run)


def reduce_stream(blocks: Iterable[npt.ArrayLike], op: Op = "add") -> Any:
    """Reduce the numbers of blocks by an operator.

    Sums and products of floats are of each block, as `reduce` has them, and then of these in their order. Of float16 and
    bfloat16 they are all computed in float32, and rounded once.

    Parameters
    ----------
    blocks : iterable of array_like
        Numbers, each block of the same one.
    op : str or ufunc, optional
        As in `reduce`.

    Returns
    -------
    scalar

    Examples
    --------
    >>> import subsweep
    >>> int(subsweep.reduce_stream([[3, 1], [2]], "max"))
    3
    """
    results, dtype = [], np.dtype(np.float32)
    for block in _alike(blocks):
        dtype = block.dtype
        results.append(reduce(block, op, dtype=unpacked(dtype) if kind_of(dtype) == "f" else dtype))
    if not results:
        raise ValueError("the blocks have no number: give one or more")
    with np.errstate(all="ignore"):
        return np.asarray(reduce(np.stack(results), op)).astype(dtype)[()]


_Next = Callable[[], Optional[npt.NDArray[np.uint8]]]
_Write = Callable[[npt.NDArray[np.uint8]], None]


def _alike(blocks: Iterable[npt.ArrayLike]) -> Iterator[NDArray]:
    """Yield the blocks that have numbers, as arrays of one type."""
    dtype = None
    for index, block in enumerate(blocks):
        array = np.asarray(numbers(block, "block"))
        if array.size == 0:
            continue
        if dtype is not None and array.dtype != dtype:
            raise TypeError(f"block {index} is of {array.dtype}, and those before are of {dtype}: convert it")
        dtype = array.dtype
        yield array


class _Stopped(Exception):
    """Nobody takes the results any more."""


class _Worker:
    """A thread that runs a stream, with the queue of its results; None is the last, and an exception is raised."""

    def __init__(self, arrays: Iterator[NDArray], run: Callable[[NDArray, _Next, _Write], None]) -> None:
        self._arrays, self._run = arrays, run
        self._first: Optional[NDArray] = None
        # Two blocks wait while the device works on others.
        self.results: queue.Queue[Any] = queue.Queue(2)
        self._stopped = threading.Event()
        # The blocks are computed on the device, and with the settings, of the call.
        self._context = contextvars.copy_context()
        self._process = os.getpid()
        # A daemon, so that the interpreter ends streams at its exit in place of waiting for them.
        self._thread = threading.Thread(target=self._work, name="subsweep stream", daemon=True)

    def start(self, first: NDArray) -> None:
        self._first, self._dtype = first, first.dtype
        _workers.add(self)
        self._thread.start()

    def get(self) -> Any:
        if self._process != os.getpid():
            raise _subsweep.Error("the stream was begun before this process was forked, and its thread is the parent's: begin one here")
        return self.results.get()

    def stop(self, timeout: Optional[float] = None) -> None:
        """Wait until the thread has ended."""
        self._stopped.set()
        self._thread.join(timeout)
        _workers.discard(self)

    def _next(self) -> Optional[npt.NDArray[np.uint8]]:
        if self._stopped.is_set():
            raise _Stopped
        array, self._first = self._first, None
        if array is None:
            array = self._context.run(next, self._arrays, None)
        return None if array is None else data(array)

    def _put(self, result: Any) -> None:
        while not self._stopped.is_set():
            try:
                self.results.put(result, timeout=0.05)
                return
            except queue.Full:
                continue
        raise _Stopped

    def _work(self) -> None:
        with contextlib.suppress(_Stopped):
            try:
                self._run(np.empty(0, self._dtype), self._next, self._put)
                self._put(None)
            except BaseException as error:
                self._put(error)


_workers: Set[_Worker] = set()


def _stop_all() -> None:
    # A thread that took the interpreter's lock after its end would abort the process. One that waits for its source does not.
    for worker in [*_workers]:
        worker.stop(timeout=2)


atexit.register(_stop_all)


def _streamed(blocks: Iterable[npt.ArrayLike], run: Callable[[NDArray, _Next, _Write], None]) -> Iterator[NDArray]:
    """Return an iterator of what `run` writes, which is given an array of the blocks' type."""
    arrays = _alike(blocks)
    return _results(arrays, _Worker(arrays, run))


def _results(arrays: Iterator[NDArray], worker: _Worker) -> Iterator[NDArray]:
    first = next(arrays, None)
    if first is None:
        return
    dtype = first.dtype
    worker.start(first)
    del first
    try:
        while (result := worker.get()) is not None:
            if isinstance(result, BaseException):
                raise result
            yield result.view(dtype)
    finally:
        worker.stop()
