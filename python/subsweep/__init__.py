"""Scans, sorts and stream primitives for numpy arrays, on any GPU with Vulkan.

Functions have the names, arguments and results of numpy's. They take arrays of integers of 8 to 64 bits, float16, float32, float64
and the bfloat16 of ml_dtypes, in any memory layout and byte order, and return new arrays of the same type; those that order,
compare or move elements take bool as well. Other types are refused with the conversion to use. Indices and counts are intp, as numpy's.

A call copies its arrays to the device and the result back; an `Array` stays there between calls. A call releases the interpreter's
lock, so that other threads run; threads may share a device. Ctrl-C ends long work between two of its submissions. Do not change an
array while a call reads it.

Errors are `TypeError`, `ValueError` and `IndexError` for arguments, `MemoryError` for memory of device and host, and `Error`, a
`RuntimeError`, for devices and drivers. Each states the remedy.

>>> import subsweep
>>> subsweep.argsort([30, 10, 20])
array([1, 2, 0])
"""

from ._array import Array
from ._device import DeviceInfo, device, devices
from ._scan import argmax, argmin, argminmax, cumsum, diff, reduce, reduce_by_key, segmented_cumsum, segmented_reduce
from ._select import histogram, partition, runs, select, take
from ._sort import (
    argsort,
    lexsort,
    merge,
    searchsorted,
    segmented_argsort,
    segmented_sort,
    segmented_topk,
    sort,
    sort_pairs,
    topk,
    unique,
)
from ._stream import blocks, cumsum_stream, reduce_stream, sort_stream
from ._subsweep import Error, __version__

__all__ = [
    "Array",
    "DeviceInfo",
    "Error",
    "__version__",
    "argmax",
    "argmin",
    "argminmax",
    "argsort",
    "blocks",
    "cumsum",
    "cumsum_stream",
    "device",
    "devices",
    "diff",
    "histogram",
    "lexsort",
    "merge",
    "partition",
    "reduce",
    "reduce_by_key",
    "reduce_stream",
    "runs",
    "searchsorted",
    "segmented_argsort",
    "segmented_cumsum",
    "segmented_reduce",
    "segmented_sort",
    "segmented_topk",
    "select",
    "sort",
    "sort_pairs",
    "sort_stream",
    "take",
    "topk",
    "unique",
]
