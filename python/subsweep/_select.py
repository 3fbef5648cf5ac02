"""Selections, runs, gathers and histograms."""

from __future__ import annotations

import math
from typing import Any, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._array import Array
from ._operands import (
    MAX_COUNT,
    Numbers,
    data,
    device_of,
    element,
    given,
    index_dtype,
    indices32,
    indices_of,
    like,
    normalized,
    number_of,
    numbers,
    unmasked,
    vector,
)
from ._scan import reduce
from ._types import NDArray, Order, bytes_of, check_unmasked, host_array, kind_of, plain_bool, unpacked

#: Flags, or a comparison: ``(">=", 3)``, ``("range", 3, 9)``.
Condition = Union[npt.ArrayLike, Tuple[str, Any], Tuple[str, Any, Any]]

_COMPARISONS = {
    "<": "less",
    "<=": "less-equal",
    "==": "equal",
    "!=": "not-equal",
    ">=": "greater-equal",
    ">": "greater",
    "range": "range",
}


def _flags(condition: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    flags = np.asarray(unmasked(condition, "condition"))
    if flags.dtype.kind != "b":
        raise TypeError(
            f"condition is of {flags.dtype}, and it is an array of bool, or a comparison such as ('>=', 3): condition != 0"
        )
    return bytes_of(plain_bool(flags))


def _selected(
    a: Any, condition: Condition, partition: bool, wants_indices: bool
) -> Tuple[Numbers, Numbers, int]:
    array = numbers(a)
    if isinstance(condition, tuple) and condition and isinstance(condition[0], str):
        sign, *bounds = condition
        comparison = _COMPARISONS.get(sign)
        if comparison is None or len(bounds) != (2 if sign == "range" else 1):
            raise ValueError(f"condition is {condition!r}: give (sign, number) with one of <, <=, ==, !=, >=, > or ('range', low, end)")
        operands = np.array([number_of(array.dtype, number, "the number of condition") for number in bounds], unpacked(array.dtype))
        rest: Tuple[int, ...] = ()
        if array.size == 0:
            return array.reshape(-1), like(array, np.empty(0, index_dtype(array))), 0
        rows, indices, selected = device_of(array).select_compared(
            data(array), element(array), comparison, data(operands), partition, wants_indices
        )
    else:
        flags = _flags(condition)
        flag_shape = np.shape(condition)
        if not flag_shape or flag_shape != array.shape[: len(flag_shape)]:
            raise ValueError(f"condition has the shape {flag_shape}, and a has {array.shape}: give a flag for each element or row")
        rest = array.shape[len(flag_shape) :]
        if array.size == 0:
            kept = np.flatnonzero(flags)
            row_count = len(flags) if partition else len(kept)
            empty = np.empty((row_count, *rest), array.dtype)
            return like(array, empty), like(array, kept.astype(index_dtype(array))), len(kept)
        row_size = math.prod(rest) * array.itemsize
        if row_size > 2 and row_size % 4:
            return _gathered_rows(array.reshape(len(flags), *rest), flags, partition)
        rows, indices, selected = device_of(array).select_flagged(data(array), row_size, flags, partition, wants_indices)
    row_count = len(rows) // (math.prod(rest) * array.itemsize)
    return given(rows, array.dtype, (row_count, *rest)), indices_of(indices, (len(indices) // 4,)), selected


def _gathered_rows(table: Numbers, flags: npt.NDArray[np.uint8], partition: bool) -> Tuple[Numbers, Numbers, int]:
    """Select rows of a size that selections do not move, by their indices."""
    kept = np.flatnonzero(flags)
    indices = np.concatenate([kept, np.flatnonzero(flags == 0)]) if partition else kept
    return take(table, indices, 0), like(table, indices.astype(index_dtype(table))), len(kept)


def select(a: npt.ArrayLike, condition: Condition, *, return_index: bool = False) -> Any:
    """Return the elements, or rows, that a condition selects, in order.

    Equals ``a[condition]`` of numpy.

    Parameters
    ----------
    a : array_like
        Numbers.
    condition : array_like of bool, or tuple
        A flag for each element, or for each row of the first axes; or a comparison of each element: ``(sign, number)`` with one of
        ``<``, ``<=``, ``==``, ``!=``, ``>=``, ``>``, or ``("range", low, end)`` for ``low <= x < end``. A comparison runs on the
        device, without an array of flags.
    return_index : bool, optional
        Whether to return the indices of what is selected as well: ``numpy.flatnonzero(condition)``.

    Returns
    -------
    ndarray, or (ndarray, ndarray of intp)

    Examples
    --------
    >>> import numpy as np, subsweep
    >>> a = np.array([5, 2, 8, 1])
    >>> subsweep.select(a, a > 1)
    array([5, 2, 8])
    >>> subsweep.select(a, (">", 2), return_index=True)
    (array([5, 8]), array([0, 2]))
    """
    rows, indices, _ = _selected(a, condition, False, return_index)
    return (rows, indices) if return_index else rows


def partition(a: npt.ArrayLike, condition: Condition) -> Tuple[Numbers, int]:
    """Return the elements, or rows, that a condition selects, followed by all others, and the number of those selected.

    Equals ``numpy.concatenate([a[condition], a[~condition]])``: both parts keep their order. This is not ``numpy.partition``, which
    finds the k-th element: see `topk`.

    Parameters
    ----------
    a, condition
        As in `select`.

    Returns
    -------
    ndarray, int

    Examples
    --------
    >>> import subsweep
    >>> subsweep.partition([5, 2, 8, 1], ("<", 5))
    (array([2, 1, 5, 8]), 2)
    """
    rows, _, count = _selected(a, condition, True, False)
    return rows, count


def take(a: npt.ArrayLike, indices: npt.ArrayLike, axis: Optional[int] = None) -> Any:
    """Return the elements, or rows, at indices.

    Equals ``numpy.take(a, indices, axis)``. An index out of bounds is an `IndexError`; indices in an Array are not checked, and
    give 0 out of bounds.

    Parameters
    ----------
    a : array_like
        Elements of any type.
    indices : array_like of int
        Indices of any shape; negative ones are from the end. Indices in an Array take rows of 1 or 2 bytes, or a multiple of 4.
    axis : int or None, optional
        Axis to take from; by default `a` is taken as one array.

    Returns
    -------
    ndarray, or a scalar for one index into one dimension

    Examples
    --------
    >>> import subsweep
    >>> subsweep.take([[1, 2], [3, 4], [5, 6]], [2, 0], axis=0)
    array([[5, 6],
           [1, 2]])
    """
    array = unmasked(a, "a")
    if axis is None:
        array, axis = array.reshape(-1), 0
    axis = normalized(axis, array)
    picked = indices32(indices, "indices", array.shape[axis])
    if isinstance(array, Array) and axis > 0:
        raise ValueError(f"axis is {axis}, and an Array gives rows of its first axis: numpy.asarray(a)")
    table = array if isinstance(array, Array) else np.moveaxis(array, axis, 0)
    row_size = math.prod(table.shape[1:]) * array.itemsize
    if array.dtype.hasobject:
        raise TypeError(f"a is of {array.dtype}, which refers to objects, and a gather moves bytes: use numpy.take")
    shape = (*picked.shape, *table.shape[1:])
    if picked.size == 0 or row_size == 0:
        rows = like(array, np.empty(shape, array.dtype))
    else:
        parts = picked
        if row_size > 2 and row_size % 4:
            parts, row_size = _parts(picked, row_size, len(table))
        gathered = device_of(table, picked).gather(data(table), row_size, data(parts))
        rows = given(gathered, array.dtype, shape)
    if isinstance(rows, Array):
        return rows
    # numpy puts the axes of the indices in the place of the axis.
    order = range(picked.ndim)
    return np.moveaxis(rows, order, [axis + index for index in order])[()]


def _parts(indices: Numbers, row_size: int, row_count: int) -> Tuple[NDArray, int]:
    """Return the indices of the parts, of 1 or 2 bytes, of rows at indices, and the size of a part."""
    size = 1 if row_size % 2 else 2
    count = row_size // size
    if isinstance(indices, Array):
        raise TypeError(
            f"rows of a have {row_size} bytes, and indices of an Array take 1, 2 or a multiple of 4: give numpy.asarray(indices)"
        )
    if max(row_count, indices.size) * count > MAX_COUNT:
        raise ValueError(f"rows of a have {row_size} bytes, and together more than 4 GiB: give less of them at a time")
    return indices[..., None] * np.uint32(count) + np.arange(count, dtype=np.uint32), size


def runs(a: npt.ArrayLike, *, return_index: bool = False, order: Order = "numpy") -> Any:
    """Return the value and the length of each run of equal elements.

    ``numpy.repeat(values, counts)`` is `a` again, but for the bits of floats that are equal in `order`.

    Parameters
    ----------
    a : array_like
        One dimension.
    return_index : bool, optional
        Whether to return the index of the first element of each run as well.
    order : {'numpy', 'total'}, optional
        Order of floats: with 'total' only floats of the same bits are equal.

    Returns
    -------
    values : ndarray
        The first element of each run.
    counts : ndarray of intp
    indices : ndarray of intp
        With `return_index`.

    Examples
    --------
    >>> import subsweep
    >>> subsweep.runs([7, 7, 8, 7])
    (array([7, 8, 7]), array([2, 1, 1]))
    """
    values, counts, offsets = runs_of(vector(a), order)
    return (values, counts, offsets) if return_index else (values, counts)


def runs_of(array: Numbers, order: Order) -> Tuple[Numbers, Numbers, Numbers]:
    """Return values, counts and first indices of the runs of an array of one dimension."""
    if array.size == 0:
        none = like(array, np.empty(0, index_dtype(array)))
        return array, none, none
    values, counts, offsets = device_of(array).runs(data(array), element(array), order)
    shape = (len(counts) // 4,)
    return given(values, array.dtype, shape), indices_of(counts, shape), indices_of(offsets, shape)


def histogram(
    a: npt.ArrayLike,
    bins: Union[int, str, npt.ArrayLike] = 10,
    range: Optional[Tuple[float, float]] = None,
    density: bool = False,
    weights: Optional[npt.ArrayLike] = None,
) -> Tuple[NDArray, NDArray]:
    """Count the elements in each bin, or add their weights.

    Equals ``numpy.histogram(a, bins, range, density, weights)``, count by count: each bin has its lower edge, and the last one its
    upper edge as well.

    Parameters
    ----------
    a : array_like
        Numbers, taken as one array. Numbers of 64 bits are compared as float64, but integers with edges that are integers are
        compared as integers, by a search and a count.
    bins : int, str or array_like, optional
        Number of bins of equal widths, up to 65,536; a rule of ``numpy.histogram_bin_edges``; or the edges.
    range : (float, float), optional
        Lower and upper end of the bins; by default the minimum and maximum of `a`.
    density : bool, optional
        Whether to return densities, whose integral is 1, in place of counts.
    weights : array_like of int, optional
        A weight for each element, in the shape of `a`, whose magnitudes add up to less than 2^31. There are none of floats: their
        sums depend on the order of additions, which is another in each run on a device.

    Returns
    -------
    counts : ndarray of intp, of the type of `weights`, or of float64 with `density`
    edges : ndarray

    Examples
    --------
    >>> import subsweep
    >>> subsweep.histogram([1, 2, 2, 3, 5], bins=2)
    (array([3, 2]), array([1., 3., 5.]))
    """
    array = numbers(a)
    if array.dtype.kind == "b":
        # As numpy does, with a warning.
        array = given(data(array), np.uint8, array.shape)
    check_unmasked(bins, "bins")
    edges = _edges(array, bins, range)
    added = None if weights is None else _weights(array, weights)
    counts = _counts(array, edges, added, is_even=np.ndim(bins) == 0)
    if density:
        return counts / np.diff(edges) / counts.sum(), edges
    return counts, edges


def _edges(array: Numbers, bins: Any, range: Any) -> NDArray:
    if not isinstance(array, Array):
        return np.histogram_bin_edges(array, bins, range)
    if isinstance(bins, str):
        raise ValueError(f"bins is {bins!r}, and an Array takes their number or the edges: numpy.histogram_bin_edges(a, {bins!r})")
    if range is None and np.ndim(bins) == 0 and array.size:
        range = (np.asarray(reduce(array, "min"))[()], np.asarray(reduce(array, "max"))[()])
    return np.histogram_bin_edges(np.empty(0, array.dtype), bins, range)


def _weights(array: Numbers, weights: npt.ArrayLike) -> NDArray:
    """Return weights, checked."""
    added = host_array(weights, "weights")
    if added.shape != array.shape:
        raise ValueError(f"weights has the shape {added.shape}, and a {array.shape}: give a weight for each element")
    if added.dtype.kind not in "iu":
        raise TypeError(f"weights is of {added.dtype}, and weights are whole numbers: numpy.histogram adds others")
    if np.abs(added.astype(np.float64)).sum() >= 1 << 31:
        raise ValueError("weights add up to 2^31 or more: numpy.histogram adds such")
    return added


def _counts(array: Numbers, edges: NDArray, weights: Optional[NDArray], is_even: bool) -> NDArray:
    bin_count, device = len(edges) - 1, device_of(array)
    dtype = np.dtype(np.intp) if weights is None else weights.dtype
    if array.size == 0 or bin_count == 0:
        return np.zeros(bin_count, dtype)
    words = None if weights is None else np.ascontiguousarray(weights.astype(np.int32).reshape(-1)).view(np.uint32)
    if array.itemsize <= 4 or edges.dtype.kind == "f":
        edges64 = np.ascontiguousarray(edges, np.float64)
        counts = device.histogram(data(array), element(array), edges64, is_even, words)
        return counts.astype(dtype) if weights is None else counts.view(np.int32).astype(dtype)
    # Positions from 1 on are bins; those past the last edge, and NaNs, are in the last one until they are subtracted.
    common = np.promote_types(array.dtype, edges.dtype)
    if common.kind not in "iu":
        common = np.dtype(np.float64)
    values, bounds = (np.asarray(part, common) for part in (array, edges))
    positions = device.search(data(bounds[:-1]), data(values), element(values), "numpy", True, None)
    limits = np.arange(1, bin_count + 2, dtype=np.float64)
    counted = device.histogram(positions, "u32", limits, True, words).view(np.int32).astype(dtype)
    is_past = ~(values <= bounds[-1])
    counted[-1] -= np.count_nonzero(is_past) if weights is None else weights[is_past].sum()
    return counted
