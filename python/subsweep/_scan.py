"""Scans, reductions and differences."""

from __future__ import annotations

import math
import operator
from typing import Any, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._array import Array
from ._operands import (
    Numbers,
    addends,
    axes_last,
    check_values,
    data,
    device_of,
    element,
    given,
    index_dtype,
    indices_of,
    last_axis,
    like,
    normalized,
    number_of,
    numbers,
    operator_name,
    ranges32,
    scalar,
    segments32,
    to_axis,
    vector,
)
from ._types import NDArray, Order, bytes_of, converted, host_array, kind_of

Axes = Union[None, int, Tuple[int, ...]]
Op = Union[str, np.ufunc]

#: Columns of a table that is scanned or reduced as it lies in memory.
_MAX_COLUMNS = 64
#: Columns of a table whose rows or columns are subtracted.
_MAX_DIFFERENCE_COLUMNS = 1 << 16


def _initial_row(initial: Any, dtype: np.dtype[Any], columns: int) -> Optional[npt.NDArray[np.uint8]]:
    if initial is None:
        return None
    return bytes_of(np.full(columns, number_of(dtype, initial, "initial")))


def check_monotone(monotone: bool, name: str, array: Numbers) -> None:
    """Refuse scans that are exact."""
    if monotone and (name != "add" or kind_of(array.dtype) != "f"):
        raise ValueError(f"monotone is for sums of floats, and this is {name} of {array.dtype}, which is exact: leave it out")


def cumsum(
    a: npt.ArrayLike,
    axis: Optional[int] = None,
    dtype: Optional[npt.DTypeLike] = None,
    *,
    op: Op = "add",
    exclusive: bool = False,
    reverse: bool = False,
    initial: Any = None,
    monotone: bool = False,
) -> Numbers:
    """Return the cumulative sum along an axis, or the scan by another operator.

    Equals ``numpy.cumsum(a, axis, dtype=a.dtype)``, or ``op.accumulate``: the type of `a` is kept, where numpy's default adds
    integers of up to 32 bits in 64: sums of uint8 are modulo 256. Sums and products of floats are rounded in another order; of
    float16 and bfloat16 they are computed in float32, and each result is rounded once.

    Parameters
    ----------
    a : array_like
        Numbers.
    axis : int or None, optional
        Axis along which to scan; by default all elements as one array.
    dtype : dtype, optional
        Type to convert `a` to before, such as ``numpy.int64`` for the sums of numpy's default. Of types of 8 and 16 bits the device
        converts: unsigned ones to uint32, signed ones to int32, and floats to float32.
    op : str or ufunc, optional
        One of add, mul, min, max, and, or, xor, or numpy's ufunc: ``numpy.maximum``.
    exclusive : bool, optional
        Whether each result excludes the element itself; the first is `initial`, or the identity of `op`.
    reverse : bool, optional
        Scan from the last element to the first.
    initial : number, optional
        Value to begin with.
    monotone : bool, optional
        Keep sums of non-negative floats from decreasing, as `searchsorted` in a cumulative distribution needs it: rounding alone
        may make a sum less than the one before it. It is then the greatest sum so far, at the price of a second scan.

    Returns
    -------
    ndarray
        The shape of `a`, or one dimension if `axis` is None.

    Examples
    --------
    >>> import numpy as np, subsweep
    >>> subsweep.cumsum([3, 1, 4], exclusive=True)
    array([0, 3, 4])
    >>> subsweep.cumsum([[1, 5, 2], [4, 3, 9]], axis=1, op=np.maximum)
    array([[1, 5, 5],
           [4, 4, 9]])
    """
    array, result_dtype = addends(a, dtype=dtype)
    name = operator_name(op, array)
    check_monotone(monotone, name, array)
    if axis is None:
        array, axis = array.reshape(-1), 0
    axis = normalized(axis, array)
    if array.size == 0:
        return like(array, np.empty(array.shape, result_dtype))
    columns, row_length, table = math.prod(array.shape[axis + 1 :]), None, array
    is_moved = math.prod(array.shape[:axis]) != 1 or not 1 <= columns <= _MAX_COLUMNS
    if is_moved:
        table, _ = last_axis(array, axis)
        columns, row_length = 1, table.shape[-1]
    start, is_unpacked = _initial_row(initial, result_dtype, columns), result_dtype != array.dtype
    scanned = device_of(table).scan(
        data(table), element(table), name, is_unpacked, exclusive, reverse, monotone, columns, row_length, None, start
    )
    result = given(scanned, result_dtype, table.shape)
    return to_axis(result, axis) if is_moved else result


def segmented_cumsum(
    a: npt.ArrayLike,
    segments: npt.ArrayLike,
    *,
    op: Op = "add",
    exclusive: bool = False,
    reverse: bool = False,
    initial: Any = None,
    monotone: bool = False,
) -> Numbers:
    """Return the cumulative sum of each segment by itself, or the scan by another operator.

    Parameters
    ----------
    a : array_like
        One dimension.
    segments : array_like of int
        Indices at which segments begin, in ascending order. The first element always begins one.
    op, exclusive, reverse, initial, monotone : optional
        As in `cumsum`; each segment begins with `initial`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import subsweep
    >>> subsweep.segmented_cumsum([1, 2, 3, 4, 5], [0, 3])
    array([1, 3, 6, 4, 9])
    """
    array, dtype = addends(vector(a))
    name, begins = operator_name(op, array), segments32(segments, len(array))
    check_monotone(monotone, name, array)
    start = _initial_row(initial, dtype, 1)
    if array.size == 0:
        return array
    scanned = device_of(array).scan(
        data(array), element(array), name, False, exclusive, reverse, monotone, 1, None, begins, start
    )
    return given(scanned, array.dtype, array.shape)


def _reduced_axes(array: Numbers, axis: Axes) -> Tuple[int, ...]:
    if axis is None:
        return tuple(range(array.ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    found = tuple(normalized(one, array) for one in axes)
    if len(set(found)) < len(found):
        raise ValueError("axis names one axis twice: name each once")
    return found


def _reduced(array: Numbers, axis: Axes, keepdims: bool, name: str, dtype: np.dtype[Any]) -> Any:
    """Reduce along axes to `dtype`, the type of `array` or its unpacked type; argminmax has two results, on a new axis."""
    axes = _reduced_axes(array, axis)
    shape = tuple(length for index, length in enumerate(array.shape) if index not in axes)
    kept = tuple(1 if index in axes else length for index, length in enumerate(array.shape))
    both = (2,) if name == "argminmax" else ()
    length = math.prod(array.shape[index] for index in axes)
    columns = math.prod(shape)
    if array.size == 0:
        # As numpy, which refuses to reduce no elements to one even where no result is due.
        if length == 0 and name not in ("add", "mul", "and", "or", "xor"):
            raise ValueError(f"{name} of no elements is not a number: give one element or more")
        identity = {"mul": 1, "and": ~np.zeros((), dtype) if kind_of(dtype) != "f" else 0}.get(name, 0)
        results = like(array, np.full(both + shape, identity, index_dtype(array) if name.startswith("arg") else dtype))
    else:
        # Axes that come first, as in a table of few columns, are reduced as they lie.
        if sorted(axes) == list(range(len(axes))) and columns <= _MAX_COLUMNS:
            table, row_length = array, None
        else:
            table, columns, row_length = axes_last(array, axes), 1, length
        is_unpacked = dtype != array.dtype and not name.startswith("arg")
        reduced = device_of(array).reduce(data(table), element(array), name, is_unpacked, columns, row_length, None, None)
        results = indices_of(reduced, both + shape) if name.startswith("arg") else given(reduced, dtype, shape)
    return results.reshape(both + kept) if keepdims else scalar(results)


def reduce(
    a: npt.ArrayLike,
    op: Op = "add",
    axis: Axes = None,
    dtype: Optional[npt.DTypeLike] = None,
    *,
    keepdims: bool = False,
) -> Any:
    """Reduce an array by an operator.

    Equals ``op.reduce(a, axis, dtype=a.dtype)``, as ``numpy.sum`` and ``numpy.max`` do: the type of `a` is kept, where numpy's
    default adds integers of up to 32 bits in 64: sums of uint8 are modulo 256. Sums and products of floats are rounded in another
    order, of a fixed tree: they have the same bits on all devices. Of float16 and bfloat16 they are computed in float32, and
    rounded once. Minima and maxima take -0 for less than 0.

    Parameters
    ----------
    a : array_like
        Numbers.
    op : str or ufunc, optional
        One of add, mul, min, max, and, or, xor, or numpy's ufunc: ``numpy.maximum``.
    axis : int, tuple of int or None, optional
        Axes to reduce; by default all.
    dtype : dtype, optional
        Type to convert `a` to before, as in `cumsum`.
    keepdims : bool, optional
        Whether reduced axes stay, with the length 1.

    Returns
    -------
    ndarray, or a scalar if all axes are reduced

    Examples
    --------
    >>> import numpy as np, subsweep
    >>> subsweep.reduce([[1, 5, 2], [4, 3, 9]], np.maximum, axis=0)
    array([4, 5, 9])
    """
    array, result_dtype = addends(a, dtype=dtype)
    return _reduced(array, axis, keepdims, operator_name(op, array), result_dtype)


def argmin(a: npt.ArrayLike, axis: Optional[int] = None, *, keepdims: bool = False) -> Any:
    """Return the index of the first minimum along an axis.

    Equals ``numpy.argmin(a, axis)``: -0 equals 0, and the first NaN precedes all numbers.

    Parameters
    ----------
    a : array_like
        Numbers.
    axis : int or None, optional
        By default the index into all elements.
    keepdims : bool, optional
        Whether the reduced axis stays, with the length 1.

    Returns
    -------
    ndarray of intp, or intp

    Examples
    --------
    >>> import subsweep
    >>> int(subsweep.argmin([30, 10, 20]))
    1
    """
    return _reduced(numbers(a), axis, keepdims, "argmin", np.dtype(np.intp))


def argmax(a: npt.ArrayLike, axis: Optional[int] = None, *, keepdims: bool = False) -> Any:
    """Return the index of the first maximum along an axis, as `argmin` does of the minimum.

    Examples
    --------
    >>> import subsweep
    >>> subsweep.argmax([[1, 5, 2], [4, 3, 9]], axis=1)
    array([1, 2])
    """
    return _reduced(numbers(a), axis, keepdims, "argmax", np.dtype(np.intp))


def argminmax(a: npt.ArrayLike, axis: Optional[int] = None, *, keepdims: bool = False) -> Numbers:
    """Return the indices of `argmin` and the indices of `argmax` as the two parts of a new first axis.

    Equals ``numpy.stack((numpy.argmin(a, axis), numpy.argmax(a, axis)))``. The device reads `a` once.

    Examples
    --------
    >>> import subsweep
    >>> least, greatest = subsweep.argminmax([[1, 5, 2], [4, 3, 9]], axis=1)
    >>> greatest
    array([1, 2])
    """
    return _reduced(numbers(a), axis, keepdims, "argminmax", np.dtype(np.intp))


def segmented_reduce(
    a: npt.ArrayLike, segments: npt.ArrayLike, op: Op = "add", *, ends: Optional[npt.ArrayLike] = None
) -> Numbers:
    """Reduce each segment by itself.

    Parameters
    ----------
    a : array_like
        One dimension.
    segments : array_like of int
        Indices at which segments begin, in ascending order; elements before the first are in none. The result of an empty segment is
        the identity of `op`, where ``numpy.add.reduceat`` takes the element.
    op : str or ufunc, optional
        As in `reduce`.
    ends : array_like of int, optional
        Indices at which segments end, as many; by default at the next one. Then segments may overlap, leave elements out, and be in
        any order: ``[op.reduce(a[begin:end]) for begin, end in zip(segments, ends)]``.

    Returns
    -------
    ndarray
        A result for each segment.

    Examples
    --------
    >>> import subsweep
    >>> subsweep.segmented_reduce([1, 2, 3, 4, 5], [0, 3])
    array([6, 9])
    >>> subsweep.segmented_reduce([1, 2, 3, 4, 5], [3, 0], ends=[5, 4])
    array([ 9, 10])
    """
    array, dtype = addends(vector(a))
    name, (begins, ends32) = operator_name(op, array), ranges32(segments, ends, len(array))
    if len(begins) == 0:
        return like(array, np.empty(0, dtype))
    reduced = device_of(array).reduce(data(array), element(array), name, False, 1, None, begins, ends32)
    return given(reduced, dtype, (len(begins),))


def reduce_by_key(
    keys: npt.ArrayLike, values: npt.ArrayLike, op: Op = "add", *, order: Order = "numpy"
) -> Tuple[Numbers, Numbers]:
    """Reduce the values of each run of equal keys.

    Equals ``op.reduceat(values, heads, axis=0, dtype=values.dtype)`` for the index of the first key of each run, as `runs` returns
    it; of sorted keys the runs are groups. Sums and products of floats are rounded as in `reduce`, in an order of their own.

    Parameters
    ----------
    keys : array_like
        One dimension.
    values : array_like
        A number for each key, or a row of up to 64, of which each column is reduced by itself.
    op : str or ufunc, optional
        As in `reduce`.
    order : {'numpy', 'total'}, optional
        Order of floats: with 'total' only keys of the same bits are equal, with 'numpy' also all NaNs, and -0 and 0.

    Returns
    -------
    keys : ndarray
        The first key of each run.
    results : ndarray
        A result, or a row, for each run.

    Examples
    --------
    >>> import subsweep
    >>> subsweep.reduce_by_key([7, 7, 8, 7], [1, 2, 3, 4])
    (array([7, 8, 7]), array([3, 3, 4]))
    """
    key_array, (array, dtype) = vector(keys, "keys"), addends(values, "values")
    check_values(array, key_array)
    name, columns = operator_name(op, array), math.prod(array.shape[1:])
    if not 1 <= columns <= _MAX_COLUMNS:
        raise ValueError(f"values has rows of {columns} numbers: give 1 to {_MAX_COLUMNS} at a time")
    if len(key_array) == 0:
        return key_array, array
    device = device_of(key_array, array)
    first_keys, results = device.reduce_by_key(
        data(key_array), element(key_array), data(array), element(array), name, columns, order
    )
    count = len(first_keys) // key_array.itemsize
    return given(first_keys, key_array.dtype, (count,)), given(results, dtype, (count, *array.shape[1:]))


def diff(
    a: npt.ArrayLike,
    n: int = 1,
    axis: int = -1,
    prepend: Optional[npt.ArrayLike] = None,
    append: Optional[npt.ArrayLike] = None,
) -> Numbers:
    """Return the `n`-th difference along an axis.

    Equals ``numpy.diff(a, n, axis, prepend, append)``. Integers wrap; differences of float16 and bfloat16 are rounded once.

    Parameters
    ----------
    a : array_like
        Numbers.
    n : int, optional
        How many times to subtract; 0 returns `a`.
    axis : int, optional
        Axis along which to subtract, the last one by default.
    prepend, append : array_like, optional
        Values before and after `a` along the axis: a scalar, or an array.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import subsweep
    >>> subsweep.diff([1, 4, 9, 16], prepend=0)
    array([1, 3, 5, 7])
    """
    n, (array, _) = operator.index(n), addends(a)
    if n < 0:
        raise ValueError(f"n is {n}, and it is how many times to subtract: give 0 or more")
    axis = normalized(axis, array)
    if n == 0:
        return array
    parts = [_edge(prepend, "prepend", array, axis), array, _edge(append, "append", array, axis)]
    if prepend is not None or append is not None:
        if isinstance(array, Array):
            raise ValueError("an Array takes neither prepend nor append: give one of all numbers")
        array = np.concatenate([part for part in parts if part is not None], axis)
    for _ in range(n):
        array = _difference(array, axis)
    return array


def _edge(values: Optional[npt.ArrayLike], name: str, array: Numbers, axis: int) -> Optional[NDArray]:
    if values is None:
        return None
    edge = converted(host_array(values, name), array.dtype, name)
    if edge.ndim == 0:
        return np.full([1 if index == axis else length for index, length in enumerate(array.shape)], edge)
    return edge


def _difference(array: Numbers, axis: int) -> Numbers:
    shape = list(array.shape)
    shape[axis] = max(shape[axis] - 1, 0)
    if math.prod(shape) == 0:
        return like(array, np.empty(shape, array.dtype))
    device, kind = device_of(array), element(array)
    columns = math.prod(array.shape[axis + 1 :])
    if math.prod(array.shape[:axis]) == 1 and columns <= _MAX_DIFFERENCE_COLUMNS:
        return given(device.difference(data(array), kind, columns, False), array.dtype, tuple(shape))
    table, _ = last_axis(array, axis)
    length = table.shape[-1]
    if length <= _MAX_DIFFERENCE_COLUMNS:
        result = device.difference(data(table), kind, length, True)
        return to_axis(given(result, array.dtype, (*table.shape[:-1], length - 1)), axis)
    if isinstance(array, Array):
        raise ValueError(f"rows of an Array have up to {_MAX_DIFFERENCE_COLUMNS} numbers, and a has {length}: numpy.asarray(a)")
    # Rows of more than 2^16 elements: fewer than 2^16 of them, as columns.
    table = np.moveaxis(array, axis, 0)
    result = device.difference(data(table), kind, math.prod(table.shape[1:]), False)
    return np.moveaxis(given(result, array.dtype, (-1, *table.shape[1:])), 0, axis)
