import numpy as np
import pytest
from conftest import assert_same, random_array

import subsweep

COMPARISONS = {"<": np.less, "<=": np.less_equal, "==": np.equal, "!=": np.not_equal, ">=": np.greater_equal, ">": np.greater}


def test_select_by_flags(dtype, size):
    a = random_array(dtype, size)
    mask = np.random.default_rng(4).random(size) < 0.3
    assert_same(subsweep.select(a, mask), a[mask])
    rows, indices = subsweep.select(a, mask, return_index=True)
    assert_same(rows, a[mask])
    assert_same(indices, np.flatnonzero(mask))
    got, count = subsweep.partition(a, mask)
    assert_same(got, np.concatenate([a[mask], a[~mask]]))
    assert count == mask.sum()


def test_select_by_comparison(dtype, size):
    a = random_array(dtype, size, few=True, special=True)
    for sign, ufunc in COMPARISONS.items():
        mask = ufunc(a, 1)
        assert_same(subsweep.select(a, (sign, 1)), a[mask])
        got, count = subsweep.partition(a, (sign, 1))
        assert_same(got, np.concatenate([a[mask], a[~mask]]))
        assert count == mask.sum()
    assert_same(subsweep.select(a, ("range", 0, 2)), a[(a >= 0) & (a < 2)])


@pytest.mark.parametrize("shape", [(100, 3, 2), (100, 5, 1)])
def test_select_rows_and_tables(dtype, shape):
    a = random_array(dtype, shape)
    for axes in (1, 2, 3):
        mask = np.random.default_rng(5).random(a.shape[:axes]) < 0.5
        assert_same(subsweep.select(a, mask), a[mask])
        assert_same(subsweep.partition(a, mask)[0], np.concatenate([a[mask], a[~mask]]))
    assert_same(subsweep.select(a[:, :0], np.ones(100, bool)), a[:, :0])
    assert_same(subsweep.select(a[:, :0], np.arange(100) < 3), a[:3, :0])


@pytest.mark.parametrize(
    "condition, error",
    [
        (("<", 2.5), ValueError),
        (("<", 2**40), ValueError),
        (("~", 2), ValueError),
        (("range", 2), ValueError),
        (("<", "2"), TypeError),
        (np.ones(4, np.int32), TypeError),
        (np.ones(5, bool), ValueError),
    ],
)
def test_wrong_conditions(condition, error):
    with pytest.raises(error, match="condition"):
        subsweep.select(np.arange(4, dtype=np.int32), condition)


def test_runs(dtype, size):
    a = np.repeat(random_array(dtype, size // 3 + 1, few=True, special=True), 3)[:size]
    values, counts, indices = subsweep.runs(a, return_index=True)
    same = (a[1:] == a[:-1]) | ((a[1:] != a[1:]) & (a[:-1] != a[:-1]))
    begins = np.flatnonzero(np.concatenate([[True], ~same]))[: max(size, 0)] if size else np.zeros(0, np.intp)
    assert_same(indices, begins)
    assert_same(values, a[begins])
    assert_same(counts, np.diff(np.append(begins, size)) if size else begins)


@pytest.mark.parametrize("shape", [(1000,), (20, 30), (4, 5, 6)])
def test_take(dtype, shape):
    a = random_array(dtype, shape)
    for axis in (None, *range(-len(shape), len(shape))):
        count = a.size if axis is None else shape[axis]
        for index_shape in [(), (7,), (2, 3), (0,)]:
            indices = np.random.default_rng(6).integers(-count, count, index_shape)
            assert_same(subsweep.take(a, indices, axis), np.take(a, indices, axis))
    with pytest.raises(IndexError, match="out of bounds"):
        subsweep.take(a, [0, a.size])
    with pytest.raises(TypeError, match="whole numbers"):
        subsweep.take(a, [0.5])


def test_take_of_other_types():
    for a in (np.arange(9).astype(np.complex64), np.arange(8, dtype=np.uint8).reshape(2, 4), np.array(["ab", "cd"])):
        np.testing.assert_array_equal(subsweep.take(a, [1, 0], 0), np.take(a, [1, 0], 0))


def test_histogram(dtype, size):
    a = random_array(dtype, size, few=True)
    for arguments in ((), (7,), (64, (0, 3)), ([0, 1, 1.5, 3],), ([2.0, np.inf],)):
        got, expected = subsweep.histogram(a, *arguments), np.histogram(a, *arguments)
        assert_same(got[0], expected[0])
        assert_same(got[1], expected[1])


def test_histogram_of_all_magnitudes(dtype):
    a = random_array(dtype, 5000)
    for arguments in ((100,), ("auto",)):
        got, expected = subsweep.histogram(a, *arguments), np.histogram(a, *arguments)
        assert_same(got[0], expected[0])
        assert_same(got[1], expected[1])


def test_histogram_leaves_out_nan(dtype):
    a = random_array(dtype, 5000, special=True)
    assert_same(subsweep.histogram(a, 9, (-1, 1))[0], np.histogram(a, 9, (-1, 1))[0])
    a = random_array(dtype, 500, few=True)
    np.testing.assert_allclose(subsweep.histogram(a, density=True)[0], np.histogram(a, density=True)[0])


def test_histogram_of_weights(dtype, size):
    a = random_array(dtype, size, few=True)
    rng = np.random.default_rng(size)
    for weights_dtype in (np.int32, np.uint32, np.int64):
        weights = rng.integers(0 if weights_dtype == np.uint32 else -99, 99, size).astype(weights_dtype)
        for arguments in ((7,), ([0, 1, 1.5, 3],), ([0, 1, 2],)):
            got = subsweep.histogram(a, *arguments, weights=weights)
            assert_same(got[0], np.histogram(a, *arguments, weights=weights)[0])


def test_weights_are_refused():
    for weights, error, words in (
        ([1.5, 2.5], TypeError, "whole numbers"),
        ([1], ValueError, "for each element"),
        ([2**31, 0], ValueError, "numpy.histogram"),
    ):
        with pytest.raises(error, match=words):
            subsweep.histogram([1, 2], weights=weights)


def test_too_many_bins():
    with pytest.raises(ValueError, match="65537"):
        subsweep.histogram(np.arange(5, dtype=np.int32), 70000)


def test_histogram_of_large_integers_is_exact():
    edges = [2**60, 2**60 + 1, 2**60 + 2]
    a = np.array(edges, np.int64)
    assert_same(subsweep.histogram(a, edges)[0], np.histogram(a, edges)[0])
    # As float64, where some of them are the same number.
    a = np.arange(2**60 - 300, 2**60 + 300)
    edges = np.linspace(2**60 - 256, 2**60 + 256, 5)
    assert_same(subsweep.histogram(a, edges)[0], np.histogram(a, edges)[0])


def test_take_of_odd_sizes_and_narrow_indices():
    rows = np.array([[b"abc", b"de", b"f", b"ghi"], [b"", b"x", b"yz", b"q"]])
    assert_same(subsweep.take(rows, [1, 0, -1], axis=0), rows[[1, 0, -1]])
    a = np.arange(1000, dtype=np.int32)
    assert_same(subsweep.take(a, np.array([-1, 3, -128], np.int8)), a[[-1, 3, -128]])
    with pytest.raises(TypeError, match="numpy.take"):
        subsweep.take(np.array([{}, {}], object), [0])


def test_masks_are_not_lost():
    masked = np.ma.array([1, 2, 3], mask=[0, 1, 0])
    calls = [
        lambda: subsweep.take(masked, [1]),
        lambda: subsweep.sort_pairs([1, 2, 3], masked),
        lambda: subsweep.diff([1, 2, 3], prepend=masked),
        lambda: subsweep.select([1, 2, 3], masked > 1),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="masked"):
            call()


def test_a_number_beyond_the_type_is_told_as_one():
    with pytest.raises(ValueError, match="1180591620717411303424"):
        subsweep.select(np.arange(3, dtype=np.int32), ("<", 2**70))
