"""Sorts, and what takes or gives sorted arrays."""

from __future__ import annotations

import operator
from typing import Any, Literal, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._array import Array
from ._operands import (
    Numbers,
    data,
    device_of,
    element,
    given,
    index_dtype,
    indices_of,
    last_axis,
    like,
    numbers,
    promoted,
    row_segments,
    scalar,
    segments32,
    to_axis,
    unmasked,
    vector,
)
from ._select import runs_of, take
from ._types import NDArray, Order

Segments = npt.NDArray[np.uint32]


def _sorted(array: Numbers, descending: bool, order: Order, segments: Optional[Segments]) -> Numbers:
    if array.size == 0:
        return array
    result, _ = device_of(array).sort(data(array), element(array), None, 0, descending, order, segments)
    return given(result, array.dtype, array.shape)


def _argsort(array: Numbers, descending: bool, order: Order, segments: Optional[Segments]) -> Numbers:
    if array.size == 0:
        return like(array, np.empty(0, index_dtype(array)))
    indices = device_of(array).argsort(data(array), element(array), descending, order, segments)
    return indices_of(indices, (array.size,))


def sort(
    a: npt.ArrayLike, axis: Optional[int] = -1, *, descending: bool = False, order: Order = "numpy"
) -> Numbers:
    """Return a sorted copy of an array.

    Equals ``numpy.sort(a, axis, kind='stable')`` bit by bit: NaNs come last, and -0 equals 0.

    Parameters
    ----------
    a : array_like
        Numbers.
    axis : int or None, optional
        Axis along which to sort, the last one by default; None sorts all elements as one array.
    descending : bool, optional
        The greatest first, in numpy's order NaNs before all; equal elements keep their order.
    order : {'numpy', 'total'}, optional
        Order of floats. 'total' is that of IEEE 754's totalOrder: negative NaNs, -inf, …, -0, 0, …, inf, positive NaNs.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import subsweep
    >>> subsweep.sort([2.5, float("nan"), -1.0])
    array([-1. ,  2.5,  nan])
    >>> subsweep.sort([[3, 1, 2], [9, 7, 8]], descending=True)
    array([[3, 2, 1],
           [9, 8, 7]])
    """
    table, axis = last_axis(numbers(a), axis)
    segments = row_segments(table.shape) if table.size else None
    return to_axis(_sorted(table, descending, order, segments), axis)


def argsort(
    a: npt.ArrayLike, axis: Optional[int] = -1, *, descending: bool = False, order: Order = "numpy"
) -> Numbers:
    """Return the indices that sort an array.

    Equals ``numpy.argsort(a, axis, kind='stable')``. Parameters are those of `sort`.

    Returns
    -------
    ndarray of intp

    Examples
    --------
    >>> import subsweep
    >>> subsweep.argsort([30, 10, 20])
    array([1, 2, 0])
    """
    table, axis = last_axis(numbers(a), axis)
    segments = row_segments(table.shape) if table.size else None
    if segments is not None and isinstance(table, Array):
        raise ValueError(f"a has the shape {table.shape}, and argsort takes one row of an Array: give numpy.asarray(a)")
    indices = _argsort(table, descending, order, segments)
    if segments is not None:
        indices = indices.reshape(-1, table.shape[-1]) - segments[:, None].astype(np.intp)
    return to_axis(indices.reshape(table.shape), axis)


def sort_pairs(
    keys: npt.ArrayLike, values: npt.ArrayLike, *, descending: bool = False, order: Order = "numpy"
) -> Tuple[Numbers, Numbers]:
    """Sort keys, and move a value along with each.

    Parameters
    ----------
    keys : array_like
        One dimension.
    values : array_like
        A value, or a row, for each key: of 4 or 8 bytes, or any other size by a gather.
    descending, order : optional
        As in `sort`.

    Returns
    -------
    keys, values : ndarray
        ``keys[i], values[i]`` for ``i = argsort(keys)``.

    Examples
    --------
    >>> import numpy as np, subsweep
    >>> subsweep.sort_pairs([30, 10, 20], np.array([1.5, 2.5, 3.5]))
    (array([10, 20, 30]), array([2.5, 3.5, 1.5]))
    """
    key_array, value_array = vector(keys, "keys"), unmasked(values, "values")
    if value_array.ndim == 0 or len(value_array) != len(key_array):
        raise ValueError(f"values has the shape {value_array.shape}: give a value for each of {len(key_array)} keys")
    if len(key_array) == 0:
        return key_array, value_array
    if isinstance(key_array, Array):
        value_array = like(key_array, numbers(value_array, "values"))
    key_array = like(value_array, key_array)
    row_size = value_array.nbytes // len(value_array)
    if value_array.dtype.hasobject:
        raise TypeError(f"values is of {value_array.dtype}, which refers to objects, and a sort moves bytes: use numpy.take")
    if row_size in (4, 8):
        device = device_of(key_array, value_array)
        sorted_keys, moved = device.sort(
            data(key_array), element(key_array), data(value_array), row_size, descending, order, None
        )
        return (
            given(sorted_keys, key_array.dtype, key_array.shape),
            given(moved, value_array.dtype, value_array.shape),
        )
    indices = _argsort(key_array, descending, order, None)
    return take(key_array, indices), take(value_array, indices, axis=0)


def lexsort(keys: Union[Sequence[Any], NDArray], *, order: Order = "numpy") -> Numbers:
    """Return the indices that sort by several keys, the last of them first.

    Equals ``numpy.lexsort(keys)``: a stable argsort by each key, from the first to the last.

    Parameters
    ----------
    keys : sequence of array_like
        Keys of one dimension and length each; of an array its rows.
    order : optional
        As in `sort`.

    Returns
    -------
    ndarray of intp

    Examples
    --------
    >>> import subsweep
    >>> first_names, surnames = [2, 1, 1], [5, 5, 4]
    >>> subsweep.lexsort((first_names, surnames))
    array([2, 1, 0])
    """
    arrays = [vector(key, f"keys[{index}]") for index, key in enumerate(keys)]
    if not arrays:
        raise TypeError("keys is empty: give one key or more")
    for index, array in enumerate(arrays):
        if len(array) != len(arrays[0]):
            raise ValueError(f"keys[{index}] has {len(array)} elements, and keys[0] has {len(arrays[0])}: give as many")
    indices = argsort(arrays[0], order=order)
    for array in arrays[1:]:
        indices = _picked(indices, argsort(take(array, indices), order=order))
    return indices


def segmented_sort(
    a: npt.ArrayLike, segments: npt.ArrayLike, *, descending: bool = False, order: Order = "numpy"
) -> Numbers:
    """Return a copy of an array of one dimension with each segment sorted by itself.

    Parameters
    ----------
    a : array_like
        One dimension.
    segments : array_like of int
        Indices at which segments begin, in ascending order; a segment ends where the next begins. Elements before the first
        segment stay where they are, and of two segments that begin at one index the first is empty.
    descending, order : optional
        As in `sort`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import subsweep
    >>> subsweep.segmented_sort([3, 2, 9, 1, 4], [0, 2])
    array([2, 3, 1, 4, 9])
    """
    array = vector(a)
    begins = segments32(segments, len(array))
    if len(begins) == 0:
        return like(array, np.array(array))
    return _sorted(array, descending, order, begins)


def segmented_argsort(
    a: npt.ArrayLike, segments: npt.ArrayLike, *, descending: bool = False, order: Order = "numpy"
) -> Numbers:
    """Return the indices, into all of `a`, that sort each segment by itself.

    Parameters are those of `segmented_sort`.

    Returns
    -------
    ndarray of intp

    Examples
    --------
    >>> import subsweep
    >>> subsweep.segmented_argsort([3, 2, 9, 1, 4], [0, 2])
    array([1, 0, 3, 4, 2])
    """
    array = vector(a)
    begins = segments32(segments, len(array))
    if len(begins) == 0:
        return like(array, np.arange(len(array), dtype=index_dtype(array)))
    return _argsort(array, descending, order, begins)


def topk(
    a: npt.ArrayLike, k: int, largest: bool = True, axis: int = -1, *, sorted: bool = True, order: Order = "numpy"
) -> Tuple[Numbers, Numbers]:
    """Return the `k` largest or smallest elements along an axis, and their indices.

    Of equal elements that of the lowest index comes first. In numpy's order NaN is greater than all numbers.

    Parameters
    ----------
    a : array_like
        Numbers.
    k : int
        From 0 to the length of the axis.
    largest : bool, optional
        Whether to take the largest elements, or the smallest.
    axis : int, optional
        Axis along which to select, the last one by default.
    sorted : bool, optional
        False leaves the elements in the order of the axis, which is faster.
    order : optional
        As in `sort`.

    Returns
    -------
    values : ndarray
    indices : ndarray of intp

    Examples
    --------
    >>> import subsweep
    >>> subsweep.topk([10, 40, 20, 30], 2)
    (array([40, 30]), array([1, 3]))
    """
    table, axis = last_axis(numbers(a), axis)
    k, length = operator.index(k), table.shape[-1]
    if not 0 <= k <= length:
        raise ValueError(f"k is {k}, and the axis has {length} elements: give 0 to {length}")
    shape = (*table.shape[:-1], k)
    if k == 0 or table.size == 0:
        values = like(table, np.empty(shape, table.dtype))
        indices = like(table, np.empty(shape, index_dtype(table)))
    else:
        keys, columns = device_of(table).top_k(data(table), element(table), length, k, largest, order, sorted)
        values, indices = given(keys, table.dtype, shape), indices_of(columns, shape)
    return to_axis(values, axis), to_axis(indices, axis)


def searchsorted(
    a: npt.ArrayLike,
    v: npt.ArrayLike,
    side: Literal["left", "right"] = "left",
    sorter: Optional[npt.ArrayLike] = None,
    *,
    order: Order = "numpy",
) -> Any:
    """Find the indices at which elements would be inserted into a sorted array.

    Equals ``numpy.searchsorted(a, v, side, sorter)``: two types are compared in their common one, ``numpy.promote_types``, of uint64
    and int64 in float64. That `a` is sorted is not checked.

    Parameters
    ----------
    a : array_like
        One dimension, sorted as `order` says; with `sorter` in any order.
    v : array_like
        Needles, of any shape.
    side : {'left', 'right'}, optional
        Before the elements that equal a needle, or after them.
    sorter : array_like of int, optional
        Indices that sort `a`, such as those of `argsort`.
    order : optional
        As in `sort`.

    Returns
    -------
    ndarray of intp, or intp for a scalar `v`

    Examples
    --------
    >>> import subsweep
    >>> subsweep.searchsorted([1, 3, 3, 7], [3, 0, 8], side="right")
    array([3, 0, 4])
    """
    if side not in ("left", "right"):
        raise ValueError(f"side is {side!r}, and there are 'left' and 'right'")
    array, needles = promoted(a, v, ("a", "v"))
    array = vector(array)
    if sorter is not None:
        if np.shape(sorter) != array.shape:
            raise ValueError(f"sorter has the shape {np.shape(sorter)}: give an index for each of {len(array)} elements")
        array = take(array, sorter)
    if array.size == 0 or needles.size == 0:
        positions = data(like(needles, np.zeros(needles.size, np.uint32)))
    else:
        device = device_of(array, needles)
        positions = device.search(data(array), data(needles), element(array), order, side == "right")
    return scalar(indices_of(positions, needles.shape))


def merge(a: npt.ArrayLike, b: npt.ArrayLike, *, order: Order = "numpy") -> Numbers:
    """Merge two sorted arrays into one.

    Equals ``numpy.sort(numpy.concatenate((a, b)), kind='stable')``: of equal elements those of `a` come first. That both are
    sorted is not checked; otherwise the result has some of their elements in an unspecified order.

    Parameters
    ----------
    a, b : array_like
        One dimension, sorted as `order` says.
    order : optional
        As in `sort`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import subsweep
    >>> subsweep.merge([1, 3, 5], [2, 3])
    array([1, 2, 3, 3, 5])
    """
    arrays = [vector(array, name) for array, name in zip(promoted(a, b, ("a", "b")), ("a", "b"))]
    dtype, count = arrays[0].dtype, arrays[0].size + arrays[1].size
    if count == 0:
        return arrays[0]
    merged = device_of(*arrays).merge(data(arrays[0]), data(arrays[1]), element(arrays[0]), order)
    return given(merged, dtype, (count,))


def _picked(array: Numbers, indices: Numbers) -> Numbers:
    """Return the elements at indices, where both are."""
    return take(array, indices) if isinstance(array, Array) else array[indices]


def unique(
    a: npt.ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    order: Order = "numpy",
) -> Any:
    """Return the distinct elements of an array, sorted.

    Equals ``numpy.unique(a, return_index, return_inverse, return_counts)`` in numpy's order. Of
    equal elements the first is returned. `runs` takes runs as they are, without a sort.

    Parameters
    ----------
    a : array_like
        Numbers, taken as one array.
    return_index : bool, optional
        Whether to return the index of the first of each as well.
    return_inverse : bool, optional
        Whether to return the index of each element in the result as well, in the shape of `a`.
    return_counts : bool, optional
        Whether to return how often each occurs as well.
    order : optional
        As in `sort`; with 'total' only floats of the same bits are equal.

    Returns
    -------
    ndarray, or a tuple of ndarray

    Examples
    --------
    >>> import subsweep
    >>> subsweep.unique([3, 1, 3, 2, 1], return_counts=True)
    (array([1, 2, 3]), array([2, 1, 2]))
    """
    array = numbers(a)
    flat = array.reshape(-1)
    if return_index:
        indices = argsort(flat, order=order)
        ordered = take(flat, indices)
    else:
        ordered = sort(flat, order=order)
    if return_index or return_counts:
        values, counts, offsets = runs_of(ordered, order)
    elif ordered.size:
        distinct = device_of(ordered).unique(data(ordered), element(ordered), order)
        values = given(distinct, array.dtype, (len(distinct) // array.itemsize,))
    else:
        values = ordered
    results = [values]
    if return_index:
        results.append(_picked(indices, offsets))
    if return_inverse:
        results.append(searchsorted(values, array, order=order))
    if return_counts:
        results.append(counts)
    return tuple(results) if len(results) > 1 else values
