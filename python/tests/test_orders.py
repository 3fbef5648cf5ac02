"""Both orders of floats, of every function that compares them."""

import numpy as np
import pytest
import subsweep
from conftest import argsorted, assert_same, random_array, ranked


@pytest.fixture(params=[10, 3000, 70_000])
def floats(request):
    """Floats of each type with many that are equal, special ones among them."""
    # Plans of float16 compute as plans of float32: one size is enough.
    types = [np.float16, np.float32, np.float64] if request.param == 3000 else [np.float32, np.float64]
    return [random_array(dtype, request.param, few=True, special=True) for dtype in types]


def assert_equal(got, expected):
    """Equal type, shape and bits; indices of an Array are of uint32."""
    if isinstance(got, tuple):
        assert len(got) == len(expected)
        for one, other in zip(got, expected):
            assert_equal(one, other)
        return
    is_index = isinstance(got, subsweep.Array) and got.dtype == np.uint32
    assert_same(got, expected.astype(np.uint32) if is_index else expected)


@pytest.mark.parametrize("order", ["numpy", "total"])
@pytest.mark.parametrize("kind", [np.asarray, subsweep.Array], ids=["ndarray", "Array"])
def test_sorts(floats, kind, order):
    for a in floats:
        values = np.arange(len(a)).astype(np.float32)
        begins = [len(a) // 9, len(a) // 3, len(a) // 3, len(a) // 2]
        for descending in (False, True):
            options = {"order": order, "descending": descending}
            sorting = argsorted(a, order, descending)
            assert_equal(subsweep.sort(kind(a), **options), a[sorting])
            assert_equal(subsweep.argsort(kind(a), **options), sorting)
            assert_equal(subsweep.sort_pairs(kind(a), kind(values), **options), (a[sorting], values[sorting]))
            rows = a[:3000].reshape(-1, 10)
            in_rows = [row[argsorted(row, order, descending)] for row in rows]
            assert_equal(subsweep.sort(kind(rows), **options), np.stack(in_rows))
            parts = [begin + argsorted(part, order, descending) for begin, part in zip(begins, np.split(a, begins)[1:])]
            in_parts = np.concatenate([np.arange(begins[0]), *parts])
            assert_equal(subsweep.segmented_sort(kind(a), begins, **options), a[in_parts])
            assert_equal(subsweep.segmented_argsort(kind(a), begins, **options), in_parts)
            k = len(a) // 2
            assert_equal(subsweep.topk(kind(a), k, descending, order=order), (a[sorting[:k]], sorting[:k]))
        keys = [random_array(np.float32, len(a), seed, few=True, special=True) for seed in (2, 3)] + [a]
        assert_equal(subsweep.lexsort([*map(kind, keys)], order=order), np.lexsort([ranked(key, order) for key in keys]))


@pytest.mark.parametrize("order", ["numpy", "total"])
@pytest.mark.parametrize("kind", [np.asarray, subsweep.Array], ids=["ndarray", "Array"])
def test_what_is_sorted(floats, kind, order):
    for a in floats:
        sorting = argsorted(a, order)
        ordered, needles, options = a[sorting], a[::3].copy(), {"order": order}
        for side in ("left", "right"):
            found = np.searchsorted(ranked(ordered, order), ranked(needles, order), side)
            assert_equal(subsweep.searchsorted(kind(ordered), kind(needles), side, **options), found)
            sorter = subsweep.argsort(kind(a), **options)
            assert_equal(subsweep.searchsorted(kind(a), kind(needles), side, sorter, **options), found)
        halves = [half[argsorted(half, order)] for half in np.split(a, [len(a) // 3])]
        assert_equal(subsweep.merge(*map(kind, halves), **options), ordered)
        _, indices, inverse, counts = np.unique(ranked(a, order), True, True, True)
        assert_equal(subsweep.unique(kind(a), True, True, True, **options), (a[indices], indices, inverse, counts))
        assert_equal(subsweep.unique(kind(a), **options), a[indices])
        assert_equal(subsweep.runs(kind(ordered), **options), (a[indices], counts))


@pytest.mark.parametrize("order", ["numpy", "total"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_streams(dtype, order):
    a = random_array(dtype, 12_000_000 // max(np.dtype(dtype).itemsize, 4) + 1, few=True, special=True)
    for descending in (False, True):
        # In so little memory it is sorted in parts, which are merged.
        got = subsweep.sort_stream([a], descending=descending, order=order, memory=28 << 20)
        assert_same(np.concatenate([*got]), a[argsorted(a, order, descending)])
