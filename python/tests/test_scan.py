import numpy as np
import pytest
from conftest import TYPES, assert_same, bits, exact, random_array

import subsweep

OPERATORS = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
#: Shapes of which each axis takes another way: columns, rows, rows of a copy.
TABLES = [(1000,), (70, 16), (70, 17), (3, 40, 5), (1, 9, 2), (5, 1, 20)]


def operators_of(dtype):
    is_float = np.dtype(dtype).kind == "f"
    return {name: ufunc for name, ufunc in OPERATORS.items() if not (is_float and name in ("and", "or", "xor"))}


def small(dtype, shape, name):
    """Numbers whose sums and products are exact."""
    if np.dtype(dtype).kind != "f":
        return random_array(dtype, shape)
    if name == "mul":
        return np.random.default_rng(3).choice(np.array([1, -1], dtype), shape)
    return random_array(dtype, shape, few=True)


def test_cumsum(dtype, size):
    for name, ufunc in operators_of(dtype).items():
        a = small(dtype, size, name)
        assert_same(subsweep.cumsum(a, op=name), exact(ufunc.accumulate, a))
        assert_same(subsweep.cumsum(a, op=ufunc, reverse=True), exact(ufunc.accumulate, a[::-1])[::-1])


@pytest.mark.parametrize("shape", TABLES)
def test_cumsum_along_axes(dtype, shape):
    a = small(dtype, shape, "add")
    for axis in (None, *range(-len(shape), len(shape))):
        assert_same(subsweep.cumsum(a, axis), np.cumsum(a, axis, dtype=a.dtype))
        assert_same(subsweep.cumsum(a, axis, op="max"), np.maximum.accumulate(a.reshape(-1) if axis is None else a, axis or 0))


def test_cumsum_exclusive_from_an_initial_value(dtype):
    a = small(dtype, (40, 3), "add")
    sums = np.cumsum(a, 0, dtype=a.dtype)
    assert_same(subsweep.cumsum(a, 0, exclusive=True), np.concatenate([np.zeros((1, 3), dtype), sums[:-1]]))
    assert_same(subsweep.cumsum(a, 0, initial=5), sums + np.asarray(5, dtype))
    with pytest.raises(TypeError, match="one number"):
        subsweep.cumsum(a, initial=[1, 2])
    with pytest.raises(ValueError, match="a number of this type"):
        subsweep.cumsum(np.arange(3, dtype=np.int32), initial=2**31)


def test_cumsum_keeps_the_type_unless_told():
    a = np.full(3, 2**31 - 1, np.int32)
    assert_same(subsweep.cumsum(a), np.cumsum(a, dtype=np.int32))
    assert_same(subsweep.cumsum(a, dtype=np.int64), np.cumsum(a))
    assert_same(subsweep.cumsum(np.ones(5, bool), dtype=np.int32), np.arange(1, 6, dtype=np.int32))


def test_sums_of_floats_are_close():
    for dtype, tolerance in ((np.float32, 1e-4), (np.float64, 1e-11)):
        a = np.abs(random_array(dtype, 100000))
        np.testing.assert_allclose(subsweep.cumsum(a), np.cumsum(a, dtype=np.float64), rtol=tolerance)
        np.testing.assert_allclose(subsweep.reduce(a), np.sum(a, dtype=np.float64), rtol=tolerance)


@pytest.mark.parametrize("begins", [[0], [0, 5, 5, 900], [3, 1000], []])
def test_segments(dtype, begins):
    a = small(dtype, 1000, "add")
    whole = sorted({0, *begins})
    parts = np.split(a, whole[1:])
    assert_same(subsweep.segmented_cumsum(a, begins), np.concatenate([np.cumsum(part, dtype=a.dtype) for part in parts]))
    parts = [a[begin:end] for begin, end in zip(begins, [*begins[1:], len(a)])]
    assert_same(subsweep.segmented_reduce(a, begins), np.array([part.sum(dtype=a.dtype) for part in parts], a.dtype))


@pytest.mark.parametrize("begins, error", [([5, 3], ValueError), ([-1], ValueError), ([11], ValueError), ([0.5], TypeError), ([[1]], ValueError)])
def test_wrong_segments(begins, error):
    for function in (subsweep.segmented_sort, subsweep.segmented_cumsum, subsweep.segmented_reduce):
        with pytest.raises(error, match="segments"):
            function(np.arange(10), begins)


def test_reduce(dtype, size):
    for name, ufunc in operators_of(dtype).items():
        a = small(dtype, size, name)
        if size == 0 and name in ("min", "max"):
            with pytest.raises(ValueError, match="no elements"):
                subsweep.reduce(a, name)
        else:
            assert_same(subsweep.reduce(a, name), exact(ufunc.reduce, a))


@pytest.mark.parametrize("shape", [*TABLES, (0, 3), (3, 0), ()])
def test_reduce_along_axes(dtype, shape):
    a = small(dtype, shape, "add")
    axes = [None, *range(-len(shape), len(shape))]
    axes += [(0, 1), (-1, 0), (0, 1, 2), ()][: 0 if len(shape) < 3 else None]
    for axis in axes:
        for keepdims in (False, True):
            assert_same(subsweep.reduce(a, "add", axis, keepdims=keepdims), np.sum(a, axis, a.dtype, keepdims=keepdims))
    assert type(subsweep.reduce(a)) is type(np.sum(a, dtype=a.dtype))


def test_minima_and_maxima_of_nan(dtype):
    a = random_array(dtype, (50, 20), special=True)
    for axis in (None, 0, 1):
        np.testing.assert_array_equal(subsweep.reduce(a, "min", axis), np.min(a, axis))
        np.testing.assert_array_equal(subsweep.reduce(a, np.maximum, axis), np.max(a, axis))


def both(a, axis=None):
    return np.stack((np.argmin(a, axis), np.argmax(a, axis)))


def test_argmin_and_argmax(dtype, size):
    for options in ({"few": True}, {"special": True}):
        a = random_array(dtype, size, **options)
        for ours, numpys in ((subsweep.argmin, np.argmin), (subsweep.argmax, np.argmax), (subsweep.argminmax, both)):
            if size == 0:
                with pytest.raises(ValueError, match="no elements"):
                    ours(a)
            else:
                assert_same(ours(a), numpys(a))


@pytest.mark.parametrize("shape", TABLES)
def test_argmin_along_axes(dtype, shape):
    a = random_array(dtype, shape, few=True, special=True)
    for axis in (None, *range(-len(shape), len(shape))):
        assert_same(subsweep.argmin(a, axis), np.argmin(a, axis))
        assert_same(subsweep.argminmax(a, axis), both(a, axis))
        assert_same(subsweep.argmax(a, axis, keepdims=True).reshape(-1), np.argmax(a, axis).reshape(-1))


def test_segments_with_ends(dtype):
    a = random_array(dtype, 5000, few=True)
    rng = np.random.default_rng(3)
    begins, ends = (rng.integers(0, 5001, 200) for _ in range(2))
    for op, ufunc in (("max", np.maximum), ("add", np.add)):
        identity = subsweep.segmented_reduce(a, [0], op, ends=[0])[0]
        expected = [ufunc.reduce(a[i:j], dtype=a.dtype) if i < j else identity for i, j in zip(begins, ends)]
        assert_same(subsweep.segmented_reduce(a, begins, op, ends=ends), np.array(expected, a.dtype))
    with pytest.raises(ValueError, match="the end of each"):
        subsweep.segmented_reduce(a, [0, 1], ends=[5])
    with pytest.raises(ValueError, match="from 0 to 5000"):
        subsweep.segmented_reduce(a, [0], ends=[5001])


def test_monotone_sums():
    for dtype in (np.float16, np.float32, np.float64):
        a = (np.random.default_rng(8).random((30, 4001)) ** 30).astype(dtype)
        for options in ({}, {"exclusive": True}, {"initial": 0.25}):
            for axis in (0, 1):
                sums = subsweep.cumsum(a, axis, monotone=True, **options)
                assert np.all(np.diff(sums, axis=axis) >= 0)
                np.testing.assert_allclose(sums, subsweep.cumsum(a, axis, **options), rtol=2e-3 if dtype == np.float16 else 1e-5)
            backwards = subsweep.cumsum(a, axis=1, monotone=True, reverse=True, **options)
            assert np.all(np.diff(backwards, axis=1) <= 0)
            row, begins = a.reshape(-1), np.arange(0, a.size, 4001)
            segments = subsweep.segmented_cumsum(row, begins, monotone=True, **options)
            assert np.all(np.diff(segments.reshape(a.shape), axis=1) >= 0)
        assert_same(subsweep.cumsum(subsweep.Array(a), 1, monotone=True), subsweep.cumsum(a, 1, monotone=True))
    wide = subsweep.cumsum(a.astype(np.float16), 1, np.float32, monotone=True)
    assert wide.dtype == np.float32 and np.all(np.diff(wide, axis=1) >= 0)
    for call in (subsweep.cumsum, lambda a, **options: subsweep.segmented_cumsum(a, [0], **options)):
        with pytest.raises(ValueError, match="monotone is for sums of floats"):
            call([1, 2], monotone=True)
        with pytest.raises(ValueError, match="this is max of float64, which is exact"):
            call([1.0], op="max", monotone=True)


def heads_of(keys, order="numpy"):
    """The indices at which runs of equal keys begin."""
    keys = keys if order == "numpy" else bits(keys)
    differs = keys[1:] != keys[:-1]
    if keys.dtype.kind == "f":
        differs &= ~(np.isnan(keys[1:]) & np.isnan(keys[:-1]))
    return np.concatenate([np.zeros(min(len(keys), 1), int), 1 + np.flatnonzero(differs)])


@pytest.mark.parametrize("order", ["numpy", "total"])
def test_reduce_by_key(dtype, size, order):
    keys = np.repeat(random_array(dtype, size // 2 + 1, few=True, special=True), 2)[:size]
    heads = heads_of(keys, order)
    for name, ufunc in operators_of(dtype).items():
        values = small(dtype, size, name)
        results = exact(lambda a, **options: ufunc.reduceat(a, heads, **options), values) if size else values
        for kind in (np.asarray, subsweep.Array):
            got = subsweep.reduce_by_key(kind(keys), kind(values), ufunc, order=order)
            assert_same(got[0], keys[heads])
            # Zeros of both signs are equal, and a minimum or a sum in numpy may be the zero of the other sign.
            assert_same(np.asarray(got[1]) + values.dtype.type(0), results + values.dtype.type(0))
            assert all(isinstance(part, subsweep.Array) == (kind is subsweep.Array) for part in got)


@pytest.mark.parametrize("key", TYPES)
def test_reduce_by_keys_of_another_type(dtype, key):
    keys = np.sort(random_array(key, 3000, few=True, special=True))
    heads = heads_of(keys)
    for shape in ((3000,), (3000, 3), (3000, 2, 32)):
        values = small(dtype, shape, "add")
        unique, sums = subsweep.reduce_by_key(keys, values)
        assert_same(unique, keys[heads])
        assert_same(sums, exact(lambda a, **options: np.add.reduceat(a, heads, 0, **options), values))
    # The runs of sorted keys are the elements of numpy.unique.
    assert_same(unique, np.unique(keys, return_index=True)[0] if keys.dtype.kind != "f" else unique)


def test_runs_of_keys_that_are_equal_floats():
    keys = np.array([np.nan, -np.nan, 0.0, -0.0, -0.0, 1.0, np.nan], np.float32)
    values = np.arange(1, 8)
    unique, sums = subsweep.reduce_by_key(keys, values)
    assert_same(unique, keys[[0, 2, 5, 6]])
    assert_same(sums, np.array([3, 12, 6, 7]))
    unique, sums = subsweep.reduce_by_key(keys, values, order="total")
    assert_same(unique, keys[[0, 1, 2, 3, 5, 6]])
    assert_same(sums, np.array([1, 2, 3, 9, 6, 7]))
    flags, counts = subsweep.reduce_by_key(np.array([True, True, False]), np.ones(3, np.int32))
    assert_same(flags, np.array([True, False]))
    assert_same(counts, np.array([2, 1], np.int32))


def test_refused_keys_and_values():
    for values, words in (([1, 2], "each of 3 keys"), (3, "each of 3 keys"), (np.ones((3, 65)), "rows of 65"), (np.ones((3, 0)), "rows of 0")):
        with pytest.raises(ValueError, match=words):
            subsweep.reduce_by_key([1, 2, 3], values)
    with pytest.raises(TypeError, match="values is of bool"):
        subsweep.reduce_by_key([1], [True])
    with pytest.raises(ValueError, match="op is argmin"):
        subsweep.reduce_by_key([1], [1], "argmin")
    with pytest.raises(ValueError, match="one: keys.reshape"):
        subsweep.reduce_by_key([[1]], [1])


def test_diff(dtype, size):
    a = random_array(dtype, size)
    for n in (0, 1, 3):
        assert_same(subsweep.diff(a, n), np.diff(a, n))


@pytest.mark.parametrize("shape", [*TABLES, (0, 3), (1, 3), (2, 70000), (70000, 2), (3, 70000, 2), (2, 3, 70000)])
def test_diff_along_axes(shape):
    a = random_array(np.float32, shape)
    for axis in range(-len(shape), len(shape)):
        assert_same(subsweep.diff(a, axis=axis), np.diff(a, axis=axis))
    assert_same(subsweep.diff(a, prepend=0), np.diff(a, prepend=np.float32(0)))
    assert_same(subsweep.diff(a, append=a), np.diff(a, append=a))


def test_edges_of_differences_keep_their_values():
    assert_same(subsweep.diff(np.array([5, 7, 9], np.uint32), prepend=0), np.array([5, 2, 2], np.uint32))
    assert_same(subsweep.diff(np.array([1, 2], np.int32), append=[5, 9]), np.array([1, 3, 4], np.int32))
    assert_same(subsweep.diff(np.array([1.0], np.float32), prepend=np.nan), np.array([np.nan], np.float32))
    for a, edge in ((np.int32, 2**40), (np.uint32, -1), (np.int64, 0.5), (np.float32, 1e300)):
        with pytest.raises(ValueError, match="prepend has a number that is none of"):
            subsweep.diff(np.array([1, 2, 3], a), prepend=edge)
    with pytest.raises(TypeError, match="give numbers"):
        subsweep.diff([1, 2], prepend="x")
