"""Sorts, and what takes or gives sorted arrays."""

from __future__ import annotations

import math
import operator
from typing import Any, Literal, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._array import Array
from ._fields import By, argsort_structures, is_structured, sort_structures
from ._operands import (
    Numbers,
    check_values,
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
    ranges32,
    row_length,
    scalar,
    segments32,
    to_axis,
    unmasked,
    vector,
)
from ._select import runs_of, take
from ._types import NDArray, Order, check_unmasked, host_array

Segments = npt.NDArray[np.uint32]

#: Bytes of the largest value that a sort or a merge moves.
_MAX_VALUE_SIZE = 16384


def _sorted(
    array: Numbers,
    descending: bool,
    order: Order,
    segments: Optional[Segments],
    length: Optional[int] = None,
    ends: Optional[Segments] = None,
) -> Numbers:
    if array.size == 0:
        return array
    device = device_of(array)
    result, _ = device.sort(data(array), element(array), None, 0, descending, order, length, segments, ends)
    return given(result, array.dtype, array.shape)


def _argsort(
    array: Numbers,
    descending: bool,
    order: Order,
    segments: Optional[Segments],
    length: Optional[int] = None,
    ends: Optional[Segments] = None,
) -> Numbers:
    if array.size == 0:
        return like(array, np.empty(array.shape, index_dtype(array)))
    indices = device_of(array).argsort(data(array), element(array), descending, order, length, segments, ends)
    return indices_of(indices, array.shape)


def _values(values: Any, keys: Numbers, name: str = "values") -> Numbers:
    """Return a value, or a row, for each key of one dimension; of an Array as one."""
    array = unmasked(values, name)
    check_values(array, keys, name)
    if array.dtype.hasobject:
        raise TypeError(f"{name} is of {array.dtype}, which refers to objects, and a sort moves bytes: use numpy.take")
    return like(keys, numbers(array, name)) if isinstance(keys, Array) else array


def _value_size(values: Numbers) -> Tuple[int, bool]:
    """Return the bytes of a value, or a row, and whether a sort or a merge moves as many."""
    size = math.prod(values.shape[1:]) * values.itemsize
    return size, size % 4 == 0 and 4 <= size <= _MAX_VALUE_SIZE


def _sorted_pairs(
    keys: Numbers,
    values: Numbers,
    descending: bool,
    order: Order,
    segments: Optional[Segments] = None,
    ends: Optional[Segments] = None,
) -> Tuple[Numbers, Numbers]:
    value_size, is_moved = _value_size(values)
    if not is_moved:
        indices = _argsort(keys, descending, order, segments, None, ends)
        return take(keys, indices), take(values, indices, axis=0)
    sorted_keys, moved = device_of(keys, values).sort(
        data(keys), element(keys), data(values), value_size, descending, order, None, segments, ends
    )
    return given(sorted_keys, keys.dtype, keys.shape), given(moved, values.dtype, values.shape)


def sort(
    a: npt.ArrayLike,
    axis: Optional[int] = -1,
    *,
    descending: bool = False,
    order: Order = "numpy",
    by: Optional[By] = None,
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
        Order of floats. 'total' is IEEE 754's totalOrder: negative NaNs, -inf, …, -0, 0, …, inf, positive NaNs.
    by : str or sequence of str, optional
        Of a structured array, of one dimension: the fields to sort by, the first of them first, and ``'-b'`` for field
        ``b`` with the greatest first. Up to 8 fields, together up to 16 bytes; by default all. Structures that are equal in
        these keep their order, as by ``numpy.lexsort``, while ``numpy.sort(a, order=by)`` goes on with the other fields.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import numpy as np, subsweep
    >>> subsweep.sort([2.5, float("nan"), -1.0])
    array([-1. ,  2.5,  nan])
    >>> subsweep.sort([[3, 1, 2], [9, 7, 8]], descending=True)
    array([[3, 2, 1],
           [9, 8, 7]])
    >>> a = np.array([(2, 0.5), (1, 0.5), (2, 1.5)], dtype=[("a", "<i4"), ("b", "<f4")])
    >>> subsweep.sort(a, by=["a", "-b"]).tolist()
    [(1, 0.5), (2, 1.5), (2, 0.5)]
    """
    if by is not None or is_structured(a):
        return sort_structures(a, by, axis, descending, order)
    table, axis = last_axis(numbers(a), axis)
    return to_axis(_sorted(table, descending, order, None, row_length(table.shape)), axis)


def argsort(
    a: npt.ArrayLike,
    axis: Optional[int] = -1,
    *,
    descending: bool = False,
    order: Order = "numpy",
    by: Optional[By] = None,
) -> Numbers:
    """Return the indices that sort an array.

    Equals ``numpy.argsort(a, axis, kind='stable')``. Parameters are as in `sort`.

    Returns
    -------
    ndarray of intp

    Examples
    --------
    >>> import subsweep
    >>> subsweep.argsort([30, 10, 20])
    array([1, 2, 0])
    """
    if by is not None or is_structured(a):
        return argsort_structures(a, by, axis, descending, order)
    table, axis = last_axis(numbers(a), axis)
    return to_axis(_argsort(table, descending, order, None, row_length(table.shape)), axis)


def sort_pairs(
    keys: npt.ArrayLike, values: npt.ArrayLike, *, descending: bool = False, order: Order = "numpy"
) -> Tuple[Numbers, Numbers]:
    """Sort keys, and move a value along with each.

    Parameters
    ----------
    keys : array_like
        One dimension.
    values : array_like
        A value, or a row, for each key, of any size: of a multiple of 4 bytes up to 16 KiB by the sort itself, or by a gather.
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
    key_array = vector(keys, "keys")
    value_array = _values(values, key_array)
    if len(key_array) == 0:
        return key_array, value_array
    return _sorted_pairs(like(value_array, key_array), value_array, descending, order)


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
    a: npt.ArrayLike,
    segments: npt.ArrayLike,
    *,
    ends: Optional[npt.ArrayLike] = None,
    descending: bool = False,
    order: Order = "numpy",
    values: Optional[npt.ArrayLike] = None,
) -> Any:
    """Return a copy of an array of one dimension with each segment sorted by itself.

    Parameters
    ----------
    a : array_like
        One dimension.
    segments : array_like of int
        Indices at which segments begin, in ascending order; a segment ends where the next begins. Elements before the first
        segment stay where they are, and of two segments that begin at one index the first is empty.
    ends : array_like of int, optional
        The end of each segment. Segments are then in any order, leave out elements, which stay where they are, and do not
        overlap; one that ends before it begins is empty.
    descending, order : optional
        As in `sort`.
    values : array_like, optional
        A value, or a row, for each element, to be moved along with it, as by `sort_pairs`.

    Returns
    -------
    ndarray, or (ndarray, ndarray) with `values`

    Examples
    --------
    >>> import subsweep
    >>> subsweep.segmented_sort([3, 2, 9, 1, 4], [0, 2])
    array([2, 3, 1, 4, 9])
    >>> subsweep.segmented_sort([3, 2, 9, 8, 7, 1], [4, 0], ends=[6, 2])
    array([2, 3, 9, 8, 1, 7])
    >>> subsweep.segmented_sort([3, 2, 9, 1, 4], [0, 2], values=[0, 1, 2, 3, 4])
    (array([2, 3, 1, 4, 9]), array([1, 0, 3, 4, 2]))
    """
    array = vector(a)
    begins, ends32 = _disjoint(segments, ends, len(array))
    is_sorted = len(begins) == 0 or len(array) == 0
    if values is None:
        return like(array, np.array(array)) if is_sorted else _sorted(array, descending, order, begins, None, ends32)
    moved = _values(values, array)
    array = like(moved, array)
    if is_sorted:
        return like(array, np.array(array)), like(moved, np.array(moved))
    return _sorted_pairs(array, moved, descending, order, begins, ends32)


def segmented_argsort(
    a: npt.ArrayLike,
    segments: npt.ArrayLike,
    *,
    ends: Optional[npt.ArrayLike] = None,
    descending: bool = False,
    order: Order = "numpy",
) -> Numbers:
    """Return the indices, into all of `a`, that sort each segment by itself.

    Parameters are as in `segmented_sort`, without values.

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
    begins, ends32 = _disjoint(segments, ends, len(array))
    if len(begins) == 0:
        return like(array, np.arange(len(array), dtype=index_dtype(array)))
    return _argsort(array, descending, order, begins, None, ends32)


def _disjoint(
    segments: npt.ArrayLike, ends: Optional[npt.ArrayLike], count: int
) -> Tuple[Segments, Optional[Segments]]:
    begins, ends32 = ranges32(segments, ends, count)
    if ends32 is None:
        return begins, None
    used = begins < ends32
    order = np.argsort(begins[used], kind="stable")
    if bool(np.any(begins[used][order][1:] < ends32[used][order][:-1])):
        raise ValueError("segments overlap, and each element is sorted once: segmented_sort the slices one by one")
    return begins, ends32


def topk(
    a: npt.ArrayLike, k: int, largest: bool = True, axis: int = -1, *, sorted: bool = True, order: Order = "numpy"
) -> Tuple[Numbers, Numbers]:
    """Return the `k` largest or smallest elements along an axis, and their indices.

    Of equal elements the element of the lowest index comes first. In numpy's order NaN is greater than all numbers.

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
    check_unmasked(k, "k")
    k, length = operator.index(k), table.shape[-1]
    if not 0 <= k <= length:
        raise ValueError(f"k is {k}, and the axis has {length} elements: give 0 to {length}")
    shape = (*table.shape[:-1], k)
    if k == 0 or table.size == 0:
        values = like(table, np.empty(shape, table.dtype))
        indices = like(table, np.empty(shape, index_dtype(table)))
    else:
        keys, columns = device_of(table).top_k(
            data(table), element(table), length, k, largest, order, sorted, None, None
        )
        values, indices = given(keys, table.dtype, shape), indices_of(columns, shape)
    return to_axis(values, axis), to_axis(indices, axis)


def segmented_topk(
    a: npt.ArrayLike,
    segments: npt.ArrayLike,
    k: npt.ArrayLike,
    largest: bool = True,
    *,
    sorted: bool = True,
    order: Order = "numpy",
) -> Tuple[Numbers, Numbers]:
    """Return the `k` largest or smallest elements of each segment, and their indices in the segment.

    Parameters
    ----------
    a : array_like
        One dimension.
    segments : array_like of int
        As in `segmented_sort`.
    k : int or array_like of int
        For all segments, or for each: from 0 on.
    largest, sorted, order : optional
        As in `topk`.

    Returns
    -------
    values : ndarray
        A row of ``max(k)`` elements for each segment. One of fewer elements, or of a smaller `k`, has as many: the others of its
        row are 0.
    indices : ndarray of intp
        Their indices, of the others -1; of an Array uint32, of which the others are 2**32 - 1.

    Examples
    --------
    >>> import subsweep
    >>> subsweep.segmented_topk([10, 40, 20, 30], [0, 3], 2)
    (array([[40, 20],
           [30,  0]]), array([[ 1,  2],
           [ 0, -1]]))
    """
    array = vector(a)
    begins = segments32(segments, len(array))
    all_k = host_array(k, "k")
    if all_k.dtype.kind not in "iu" or all_k.ndim > 1 or all_k.shape not in ((), begins.shape):
        raise ValueError(f"k has the shape {all_k.shape}: give a whole number, or one for each of {len(begins)} segments")
    if all_k.size and (int(all_k.min()) < 0 or int(all_k.max()) > len(array)):
        raise ValueError(f"k is {all_k.min()} to {all_k.max()}: give 0 to the {len(array)} elements of a")
    longest = int(np.diff(begins, append=len(array)).max(initial=0))
    width = int(all_k.max(initial=0))
    shape = (len(begins), width)
    if longest == 0 or width == 0:
        values = like(array, np.zeros(shape, array.dtype))
        missing = np.full(shape, -1, np.intp).astype(index_dtype(array))
        return values, like(array, missing)
    # No row of the device has a k greater than its columns.
    columns = max(longest, width, -(-len(array) // max(len(begins), 1)))
    ks = None if all_k.ndim == 0 else all_k.astype(np.uint32)
    keys, found = device_of(array).top_k(
        data(array), element(array), columns, width, largest, order, sorted, begins, ks
    )
    indices = indices_of(found, shape)
    if not isinstance(indices, Array):
        indices[indices == 2**32 - 1] = -1
    return given(keys, array.dtype, shape), indices


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
    and int64 in float64. That `a` is sorted is not checked. Of an array of several dimensions each row along the last axis is
    searched by itself, for the needles of the same row of `v`, as torch.searchsorted does.

    Parameters
    ----------
    a : array_like
        Sorted as `order` says; with `sorter` in any order.
    v : array_like
        Needles, of any shape; of rows as many rows as `a` has.
    side : {'left', 'right'}, optional
        Before the elements that equal a needle, or after them.
    sorter : array_like of int, optional
        Indices that sort `a` of one dimension, such as the result of `argsort`.
    order : optional
        As in `sort`.

    Returns
    -------
    ndarray of intp, or intp for a scalar `v`; of Arrays an Array of uint32, in 2**32 elements and more of uint64

    Examples
    --------
    >>> import subsweep
    >>> subsweep.searchsorted([1, 3, 3, 7], [3, 0, 8], side="right")
    array([3, 0, 4])
    >>> subsweep.searchsorted([[1, 3, 7], [2, 4, 6]], [[3, 9], [5, 0]])
    array([[1, 3],
           [2, 0]])
    """
    if side not in ("left", "right"):
        raise ValueError(f"side is {side!r}, and there are 'left' and 'right'")
    array, needles = promoted(a, v, ("a", "v"))
    lengths = None
    if array.ndim > 1:
        if needles.ndim < 2 or needles.shape[:-1] != array.shape[:-1]:
            raise ValueError(f"a has the shape {array.shape}, and v {needles.shape}: give a row of needles for each row of a")
        if sorter is not None:
            raise ValueError("sorter is for one dimension, and a has several: give numpy.take_along_axis(a, sorter, -1)")
        lengths = array.shape[-1], needles.shape[-1]
    else:
        array = vector(array)
    if sorter is not None:
        check_unmasked(sorter, "sorter")
        if np.shape(sorter) != array.shape:
            raise ValueError(f"sorter has the shape {np.shape(sorter)}: give an index for each of {len(array)} elements")
        array = take(array, sorter)
    if array.size == 0 or needles.size == 0:
        positions = data(like(needles, np.zeros(needles.size, np.uint32)))
    else:
        device = device_of(array, needles)
        positions = device.search(data(array), data(needles), element(array), order, side == "right", lengths)
    return scalar(indices_of(positions, needles.shape))


def merge(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    descending: bool = False,
    order: Order = "numpy",
    values: Optional[Tuple[npt.ArrayLike, npt.ArrayLike]] = None,
) -> Any:
    """Merge two sorted arrays into one.

    Equals ``numpy.sort(numpy.concatenate((a, b)), kind='stable')``: of equal elements the elements of `a` come first. That both
    are sorted is not checked; otherwise the result has some of their elements in an unspecified order.

    Parameters
    ----------
    a, b : array_like
        One dimension, sorted as `descending` and `order` say.
    descending, order : optional
        As in `sort`.
    values : (array_like, array_like), optional
        A value, or a row, for each element of `a`, and for each of `b`, of one type, to be moved along with it, as by `sort_pairs`.

    Returns
    -------
    ndarray, or (ndarray, ndarray) with `values`

    Examples
    --------
    >>> import subsweep
    >>> subsweep.merge([1, 3, 5], [2, 3])
    array([1, 2, 3, 3, 5])
    >>> subsweep.merge([1, 3, 5], [2, 3], values=([0, 1, 2], [10, 11]))
    (array([1, 2, 3, 3, 5]), array([ 0, 10,  1, 11,  2]))
    """
    keys = [vector(array, name) for array, name in zip(promoted(a, b, ("a", "b")), ("a", "b"))]
    if values is None:
        return _merged(keys, None, 0, descending, order)[0]
    moved = _values_of_both(values, keys)
    keys = [like(moved[0], like(moved[1], array)) for array in keys]
    value_size, is_moved = _value_size(moved[0])
    if is_moved:
        return _merged(keys, moved, value_size, descending, order)
    # A merge of indices, and a gather.
    middle, end = len(keys[0]), len(keys[0]) + len(keys[1])
    indices = np.arange(middle, dtype=np.uint32), np.arange(middle, end, dtype=np.uint32)
    merged, places = _merged(keys, indices, 4, descending, order)
    both = like(moved[0], like(moved[1], np.concatenate([np.asarray(part) for part in moved])))
    return merged, take(both, places, axis=0)


def _values_of_both(values: Any, keys: Sequence[Numbers]) -> Tuple[Numbers, Numbers]:
    if not isinstance(values, (tuple, list)) or len(values) != 2:
        raise TypeError("values is no pair: give the values of a and the values of b, values=(a_values, b_values)")
    first, second = (_values(part, array, f"values[{index}]") for index, (part, array) in enumerate(zip(values, keys)))
    if first.dtype != second.dtype or first.shape[1:] != second.shape[1:]:
        raise TypeError(
            f"values[0] has {first.dtype} of the shape {first.shape}, and values[1] {second.dtype} of {second.shape}: give alike ones"
        )
    return first, second


def _merged(
    keys: Sequence[Numbers], values: Optional[Tuple[Numbers, Numbers]], value_size: int, descending: bool, order: Order
) -> Tuple[Numbers, Any]:
    a, b = keys
    first, second = values or (None, None)
    count = len(a) + len(b)
    if count == 0:
        return a, first
    moved = [None if part is None else data(part) for part in (first, second)]
    device = device_of(a, b, first, second)
    merged, merged_values = device.merge(
        data(a), data(b), element(a), moved[0], moved[1], value_size, descending, order
    )
    both = given(merged, a.dtype, (count,))
    return both, None if first is None else given(merged_values, first.dtype, (count, *first.shape[1:]))


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
