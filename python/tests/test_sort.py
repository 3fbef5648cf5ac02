import numpy as np
import pytest
from conftest import TYPES, argsorted, assert_same, random_array

import subsweep


def test_sort(dtype, size):
    for options in ({}, {"few": True}, {"special": True}):
        a = random_array(dtype, size, **options)
        assert_same(subsweep.sort(a), np.sort(a, kind="stable"))


def test_argsort(dtype, size):
    for options in ({}, {"few": True}, {"special": True}):
        a = random_array(dtype, size, **options)
        assert_same(subsweep.argsort(a), np.argsort(a, kind="stable"))


def test_descending_is_stable(dtype):
    a = random_array(dtype, 1000, few=True, special=True)
    backwards = argsorted(a, descending=True)
    assert_same(subsweep.argsort(a, descending=True), backwards)
    assert_same(subsweep.sort(a, descending=True), a[backwards])


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3, None])
@pytest.mark.parametrize("shape", [(3, 5, 7), (1, 40, 1), (0, 3, 2), (2, 0, 3), (17, 2, 300)])
def test_axes(dtype, axis, shape):
    a = random_array(dtype, shape, special=True)
    assert_same(subsweep.sort(a, axis), np.sort(a, axis, kind="stable"))
    assert_same(subsweep.argsort(a, axis), np.argsort(a, axis, kind="stable"))


def test_total_order():
    a = np.array([np.nan, 0.0, -0.0, 1.0, -np.nan, -np.inf], np.float32)
    a.view(np.uint32)[[0, 4]] = 0x7FC00000, 0xFFC00000
    assert_same(subsweep.sort(a, order="total"), a[[4, 5, 2, 1, 3, 0]])
    assert_same(subsweep.argsort(a, order="total"), np.array([4, 5, 2, 1, 3, 0]))
    for call in (subsweep.sort, subsweep.runs, lambda a, order: [*subsweep.sort_stream([a], order=order)]):
        with pytest.raises(ValueError, match="'field', and there are 'numpy'.* 'total'"):
            call(a, order="field")


def test_the_input_is_unchanged(dtype):
    a = random_array(dtype, 100, special=True)
    before = a.copy()
    subsweep.sort(a), subsweep.argsort(a), subsweep.cumsum(a), subsweep.sort_pairs(a, a)
    assert_same(a, before)


@pytest.mark.parametrize("value", [np.int8, np.float16, np.int32, np.float64, np.complex128, "S3", "S8"])
def test_sort_pairs(dtype, value):
    keys = random_array(dtype, 1000, few=True, special=True)
    values = np.arange(1000).astype(value)
    order = np.argsort(keys, kind="stable")
    got = subsweep.sort_pairs(keys, values)
    assert_same(got[0], keys[order])
    assert got[1].dtype == values.dtype
    np.testing.assert_array_equal(got[1], values[order])


def test_sort_pairs_of_rows():
    # The sort moves the first two, and a gather the others.
    for value, columns in [(np.float32, 3), (np.float64, 2048), (np.uint8, 7), (np.float64, 2049)]:
        keys, values = random_array(np.int64, 500), random_array(value, (500, columns))
        order = np.argsort(keys, kind="stable")
        got = subsweep.sort_pairs(keys, values)
        assert_same(got[0], keys[order])
        assert_same(got[1], values[order])
    assert_same(subsweep.sort_pairs(keys[:0], values[:0])[1], values[:0])
    with pytest.raises(ValueError, match="each of 500 keys"):
        subsweep.sort_pairs(keys, values[1:])


def test_segments_with_ends(dtype):
    a = random_array(dtype, 3000, few=True, special=True)
    begins, ends = [2000, 5, 7, 900, 2999, 100], [2900, 6, 7, 2000, 2998, 777]
    expected, order = a.copy(), np.arange(3000)
    for begin, end in zip(begins, ends):
        if begin < end:
            expected[begin:end] = np.sort(a[begin:end], kind="stable")
            order[begin:end] = begin + np.argsort(a[begin:end], kind="stable")
    assert_same(subsweep.segmented_sort(a, begins, ends=ends), expected)
    assert_same(subsweep.segmented_argsort(a, begins, ends=ends), order)
    with pytest.raises(ValueError, match="segments overlap"):
        subsweep.segmented_sort(a, [0, 10], ends=[11, 20])
    with pytest.raises(ValueError, match="give the end of each"):
        subsweep.segmented_argsort(a, [0, 10], ends=[11])


def rows_of_values(count):
    """Values of sizes that a sort or a merge moves, and of others, which a gather does."""
    numbers = np.arange(count)
    yield from (numbers.astype(kind) for kind in (np.float32, np.int64, np.uint8, "S3"))
    yield np.stack([numbers, -numbers], 1).astype(np.float32)
    yield np.stack([numbers] * 3, 1).astype(np.uint8)
    structures = np.zeros(count, [("x", "<f8"), ("y", "<i2")])
    structures["x"] = numbers
    yield structures


@pytest.mark.parametrize("descending", [False, True])
def test_values_of_segments(dtype, descending):
    a = random_array(dtype, 3000, few=True, special=True)
    for begins, ends in [([5, 7, 7, 900], None), ([2000, 5, 7, 900, 2999, 100], [2900, 6, 7, 2000, 2998, 777]), ([], None)]:
        order = np.arange(3000)
        for begin, end in zip(begins, ends or [*begins[1:], 3000]):
            if begin < end:
                order[begin:end] = begin + argsorted(a[begin:end], descending=descending)
        for values in rows_of_values(3000):
            got = subsweep.segmented_sort(a, begins, ends=ends, descending=descending, values=values)
            assert_same(got[0], a[order])
            assert got[1].dtype == values.dtype
            np.testing.assert_array_equal(got[1], values[order])
        values = np.arange(3000).astype(np.float32)
        on_device = subsweep.segmented_sort(subsweep.Array(a), begins, ends=ends, descending=descending, values=values)
        assert all(isinstance(part, subsweep.Array) for part in on_device)
        assert_same(on_device[0], a[order])
        assert_same(on_device[1], values[order])
    assert_same(subsweep.segmented_sort(a[:0], [0, 0], values=values[:0])[1], values[:0])
    with pytest.raises(ValueError, match="each of 3000 keys"):
        subsweep.segmented_sort(a, [0], values=values[1:])


def test_lexsort(dtype):
    keys = [random_array(dtype, 3000, seed, few=True, special=True) for seed in range(3)]
    assert_same(subsweep.lexsort(keys), np.lexsort(keys))
    assert_same(subsweep.lexsort(np.stack(keys)), np.lexsort(np.stack(keys)))
    assert_same(subsweep.lexsort(keys[:1]), np.lexsort(keys[:1]))
    with pytest.raises(ValueError, match="give as many"):
        subsweep.lexsort([keys[0], keys[1][1:]])


def by_segments(function, a, begins):
    ends = [*begins[1:], len(a)]
    return [function(a[begin:end]) for begin, end in zip(begins, ends)]


@pytest.mark.parametrize("begins", [[0], [0, 5, 5, 900], [3, 1000], [], [1000]])
def test_segmented_sort(dtype, begins):
    a = random_array(dtype, 1000, special=True)
    first = begins[0] if begins else len(a)
    parts = by_segments(lambda part: np.sort(part, kind="stable"), a, begins)
    assert_same(subsweep.segmented_sort(a, begins), np.concatenate([a[:first], *parts]))
    order = by_segments(lambda part: np.argsort(part, kind="stable"), a, begins)
    order = [np.arange(first), *(begin + part for begin, part in zip(begins, order))]
    assert_same(subsweep.segmented_argsort(a, begins), np.concatenate(order))


def test_topk(dtype):
    for shape in [(1000,), (7, 65), (2, 70000)]:
        a = random_array(dtype, shape, few=True, special=True)
        for k in (0, 5, min(shape[-1], 65)):
            order = np.argsort(a, axis=-1, kind="stable")[..., :k]
            values, indices = subsweep.topk(a, k, largest=False)
            assert_same(indices, order)
            assert_same(values, np.take_along_axis(a, order, -1))
            order = np.apply_along_axis(argsorted, -1, a, descending=True)[..., :k]
            assert_same(subsweep.topk(a, k)[1], order)
            assert_same(subsweep.topk(a, k, sorted=False)[1], np.sort(order, axis=-1))
    a = random_array(dtype, (6, 4, 3))
    assert_same(subsweep.topk(a, 2, largest=False, axis=1)[0], np.sort(a, axis=1)[:, :2])
    with pytest.raises(ValueError, match="give 0 to 6"):
        subsweep.topk(a, 7, axis=0)


def test_searchsorted(dtype, size):
    a = np.sort(random_array(dtype, size, few=True, special=True))
    for shape in [(), (50,), (3, 4)]:
        v = random_array(dtype, shape, seed=2, few=True, special=bool(shape))
        for side in ("left", "right"):
            assert_same(subsweep.searchsorted(a, v, side), np.searchsorted(a, v, side))


def test_segmented_topk(dtype):
    a = random_array(dtype, 9000, few=True, special=True)
    begins = np.array([3, 3, 10, 700, 5000, 5001, 9000])
    ks = np.array([4, 1, 7, 0, 300, 9, 2])
    for largest in (True, False):
        for k in (5, ks, 4200):
            values, indices = subsweep.segmented_topk(a, begins, k, largest)
            on_device = subsweep.segmented_topk(subsweep.Array(a), begins, k, largest)
            width = int(np.max(k))
            assert values.shape == indices.shape == (7, width) and indices.dtype == np.intp
            for row, (part, count) in enumerate(zip(np.split(a, begins)[1:], np.broadcast_to(k, 7))):
                order = argsorted(part, descending=largest)[:count]
                assert_same(values[row, : len(order)], part[order])
                np.testing.assert_array_equal(indices[row], [*order, *[-1] * (width - len(order))])
                assert not values[row, len(order) :].view(np.uint8).any()
            assert_same(on_device[0], values)
            np.testing.assert_array_equal(np.asarray(on_device[1]), indices.astype(np.uint32))
    for k in (0, np.zeros(7, int)):
        values, indices = subsweep.segmented_topk(a, begins, k)
        assert values.shape == indices.shape == (7, 0)
    values, indices = subsweep.segmented_topk(a[:0], [0, 0], 0)
    assert values.shape == (2, 0)
    for k in (-1, 9001, [1, 2], 1.5):
        with pytest.raises(ValueError, match="k "):
            subsweep.segmented_topk(a, begins, k)


def test_searchsorted_in_rows(dtype):
    for shape, count in [((40, 33), 7), ((2, 3, 500), 301), ((5, 1), 1), ((0, 3), 2), ((3, 0), 2)]:
        a = np.sort(random_array(dtype, shape, few=True, special=True), axis=-1)
        v = random_array(dtype, (*shape[:-1], count), seed=2, few=True, special=True)
        for side in ("left", "right"):
            row_count = int(np.prod(shape[:-1]))
            rows = zip(a.reshape(row_count, shape[-1]), v.reshape(row_count, count))
            expected = np.array([np.searchsorted(*row, side) for row in rows], np.intp).reshape(v.shape)
            assert_same(subsweep.searchsorted(a, v, side), expected)
            on_device = subsweep.searchsorted(subsweep.Array(a), subsweep.Array(v), side)
            np.testing.assert_array_equal(np.asarray(on_device), expected)
    with pytest.raises(ValueError, match="a row of needles for each row of a"):
        subsweep.searchsorted([[1], [2]], [1, 2])
    with pytest.raises(ValueError, match="a row of needles for each row of a"):
        subsweep.searchsorted([[1], [2]], [[1, 2]])
    with pytest.raises(ValueError, match="take_along_axis"):
        subsweep.searchsorted([[1], [2]], [[1], [2]], sorter=[[0], [0]])


def test_searchsorted_of_other_types():
    a = np.array([1, 3, 3, 7], np.int32)
    for narrow in (np.uint8, np.int8, np.float16):
        assert_same(subsweep.searchsorted(a.astype(narrow), [-1.5, 300]), np.searchsorted(a, [-1.5, 300]))
    for v in (3, 2.5, [1, 9], np.float32(3), np.array([2**40])):
        assert_same(subsweep.searchsorted(a, v), np.searchsorted(a, v))
    assert type(subsweep.searchsorted(a, 3)) is type(np.searchsorted(a, 3))
    b = random_array(np.float32, 100)
    sorter = np.argsort(b)
    assert_same(subsweep.searchsorted(b, b, sorter=sorter), np.searchsorted(b, b, sorter=sorter))
    assert_same(subsweep.searchsorted([], [1.0]), np.searchsorted([], [1.0]))


@pytest.mark.parametrize("other", [np.bool_, *TYPES], ids=lambda dtype: dtype.__name__)
def test_searchsorted_of_two_types(dtype, other):
    a = np.sort(random_array(dtype, 500, few=True, special=True))
    v = random_array(np.uint8, 300, few=True) > 4 if other is np.bool_ else random_array(other, 300, few=True, special=True)
    for side in ("left", "right"):
        assert_same(subsweep.searchsorted(a, v, side), np.searchsorted(a, v, side))
        assert_same(subsweep.searchsorted(np.sort(v), a, side), np.searchsorted(np.sort(v), a, side))
    # Rounded in float64.
    high = np.array([2**63, 2**63 + 1], np.uint64)
    assert_same(subsweep.searchsorted(high, np.array([2**63 - 1]), "right"), np.searchsorted(high, np.array([2**63 - 1]), "right"))


def test_merge(dtype, size):
    a = np.sort(random_array(dtype, size, 1, special=True), kind="stable")
    b = np.sort(random_array(dtype, size // 2, 2, special=True), kind="stable")
    assert_same(subsweep.merge(a, b), np.sort(np.concatenate((a, b)), kind="stable"))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("order", ["numpy", "total"])
def test_merge_of_values(dtype, order, descending):
    options = {"order": order, "descending": descending}
    halves = []
    for seed, count in ((1, 3000), (2, 1001)):
        half = random_array(dtype, count, seed, few=True, special=True)
        halves.append(half[argsorted(half, order, descending)])
    both = np.concatenate(halves)
    sorting = argsorted(both, order, descending)
    assert_same(subsweep.merge(*halves, **options), both[sorting])
    for values in rows_of_values(len(both)):
        keys, moved = subsweep.merge(*halves, **options, values=(values[:3000], values[3000:]))
        assert_same(keys, both[sorting])
        assert moved.dtype == values.dtype
        np.testing.assert_array_equal(moved, values[sorting])
    for kind in (np.float32, np.uint8):
        values = np.arange(len(both)).astype(kind)
        parts = values[:3000], values[3000:]
        for on_device in (
            subsweep.merge(*map(subsweep.Array, halves), **options, values=parts),
            subsweep.merge(*halves, **options, values=[*map(subsweep.Array, parts)]),
        ):
            assert all(isinstance(part, subsweep.Array) for part in on_device)
            assert_same(on_device[0], both[sorting])
            assert_same(on_device[1], values[sorting])


def test_values_of_merges_of_nothing_and_refused_ones():
    keys, values = subsweep.merge([1, 2], [], values=([1.5, 2.5], np.empty(0)))
    assert_same(keys, np.array([1.0, 2.0]))
    assert_same(values, np.array([1.5, 2.5]))
    keys, values = subsweep.merge([], [], values=(np.empty((0, 3), np.int32),) * 2)
    assert keys.shape == (0,) and values.shape == (0, 3)
    with pytest.raises(TypeError, match="no pair"):
        subsweep.merge([1], [2], values=[3])
    with pytest.raises(ValueError, match=r"values\[1\] has the shape \(1,\): give a value for each of 2"):
        subsweep.merge([1], [2, 3], values=([1], [2]))
    with pytest.raises(TypeError, match="give alike ones"):
        subsweep.merge([1], [2], values=([1], [2.5]))
    with pytest.raises(TypeError, match="refers to objects"):
        subsweep.merge([1], [2], values=(np.array([{}]), np.array([{}])))


def test_unique(dtype, size):
    for options in ({"few": True}, {"special": True}):
        a = random_array(dtype, size, **options)
        got = subsweep.unique(a, True, True, True)
        expected = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
        for one, other in zip(got, expected):
            assert_same(one, other.reshape(one.shape))
        assert_same(subsweep.unique(a), expected[0])


def test_unique_of_a_table():
    a = random_array(np.int32, (30, 40), few=True)
    values, inverse = subsweep.unique(a, return_inverse=True)
    assert_same(values, np.unique(a))
    assert_same(values[inverse], a)


@pytest.mark.parametrize("sorter", [[0], [0, 1, 2, 2, 2], [[0, 1, 2]]])
def test_a_sorter_has_an_index_for_each_element(sorter):
    with pytest.raises(ValueError, match="give an index for each of 3"):
        subsweep.searchsorted([1, 2, 3], [2], sorter=sorter)
