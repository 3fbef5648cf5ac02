"""Elements of 8 and 16 bits: where they differ from elements of other types."""

import io
import sys

import numpy as np
import pytest
import subsweep
from conftest import PACKED, argsorted, assert_same, exact, random_array, ranked
from subsweep import Array

FLOATS = [np.float16, "bfloat16"]


@pytest.fixture(params=PACKED, ids=lambda dtype: dtype.__name__)
def dtype(request):
    return request.param


def float_type(name):
    return np.dtype(pytest.importorskip("ml_dtypes").bfloat16 if name == "bfloat16" else name)


def of_bits(words, dtype):
    """Numbers of these bits; of float32 equal ones."""
    return np.asarray(words, np.uint16).view(dtype)


def bits(array):
    return np.ascontiguousarray(array).view(np.uint16)


@pytest.mark.parametrize("length", range(10))
def test_short_arrays_at_any_address(dtype, length):
    whole = random_array(dtype, length + 3, few=True, special=True)
    table = np.repeat(whole[None], 2, 0)
    for a in (whole[1 : length + 1], whole[3:], table[1, 2 : length + 2]):
        mask = np.arange(length) % 3 != 1
        assert_same(subsweep.sort(a), np.sort(a, kind="stable"))
        assert_same(subsweep.argsort(a), np.argsort(a, kind="stable"))
        np.testing.assert_array_equal(subsweep.cumsum(a, op="max"), np.maximum.accumulate(a))
        assert_same(subsweep.select(a, mask), a[mask])
        assert_same(subsweep.partition(a, mask)[0], np.concatenate([a[mask], a[~mask]]))
        assert_same(subsweep.diff(a), np.diff(a))
        assert_same(subsweep.take(a, np.arange(length)[::-1]), a[::-1])
        assert_same(np.asarray(Array(a)), a)
        assert_same(subsweep.sort(Array(a), descending=True), a[argsorted(a, descending=True)])


def test_every_number_of_16_bits():
    for dtype in (np.uint16, np.int16, np.float16):
        a = np.random.default_rng(1).permutation(2**16).astype(np.uint16).view(dtype)
        for order in ("numpy", "total"):
            assert_same(subsweep.sort(a, order=order), a[argsorted(a, order)])
            _, indices = np.unique(ranked(a, order), return_index=True)
            assert_same(subsweep.unique(a, order=order), a[indices])
        assert_same(subsweep.take(a, np.arange(2**16)), a)
        assert_same(subsweep.select(a, np.ones(2**16, bool)), a)


def test_sums_are_modulo_or_of_32_bits():
    a = np.full(1001, 255, np.uint8)
    assert_same(subsweep.cumsum(a), np.cumsum(a, dtype=np.uint8))
    assert_same(subsweep.cumsum(a, dtype=np.uint8), np.cumsum(a, dtype=np.uint8))
    assert_same(subsweep.reduce(a), np.uint8(255 * 1001 % 256))
    for other in (np.uint32, np.int32, np.uint64, np.int64, np.float32, np.float64):
        assert_same(subsweep.cumsum(a, dtype=other), np.cumsum(a, dtype=other))
        assert_same(subsweep.reduce(a, dtype=other), np.sum(a, dtype=other))
    assert_same(subsweep.reduce(np.full(3, -128, np.int8)), np.int8(-128))
    assert_same(subsweep.segmented_reduce(a, [0, 1, 3]), np.array([255, 254, 255 * 998 % 256], np.uint8))


@pytest.mark.parametrize("kind", [np.asarray, Array], ids=["ndarray", "Array"])
def test_results_of_32_bits(dtype, kind):
    wide = {"u": np.uint32, "i": np.int32, "f": np.float32}[np.dtype(dtype).kind]
    a = random_array(dtype, (40, 7))
    if wide == np.float32:
        a = np.round(a * 64) / dtype(64)
    table, numbers = kind(a), kind(a.reshape(-1))
    assert_same(subsweep.cumsum(numbers, dtype=wide), np.cumsum(a, dtype=wide))
    assert_same(subsweep.cumsum(table, 0, wide, op="max"), np.maximum.accumulate(a, 0, dtype=wide))
    assert_same(subsweep.cumsum(table, 1, wide), np.cumsum(a, 1, dtype=wide))
    assert_same(subsweep.reduce(table, "add", 1, wide), np.sum(a, 1, wide))
    assert_same(subsweep.reduce(table, "min", 0, wide), np.min(a, 0).astype(wide))
    # The first value is of the type of the results, and so is the identity.
    sums = np.concatenate([[wide(100_000)], np.cumsum(a, dtype=wide) + wide(100_000)])[:-1]
    assert_same(subsweep.cumsum(numbers, dtype=wide, exclusive=True, initial=100_000), sums.astype(wide))
    first = np.asarray(subsweep.cumsum(numbers, dtype=wide, op="min", exclusive=True))[0]
    assert first == (np.inf if wide == np.float32 else np.iinfo(wide).max)
    first = np.asarray(subsweep.cumsum(numbers, op="min", exclusive=True))[0]
    assert first == (np.inf if wide == np.float32 else np.iinfo(dtype).max)
    assert_same(subsweep.cumsum(kind(a[:0]), 0, wide), np.empty((0, 7), wide))
    assert_same(subsweep.reduce(kind(a[:0]), "add", None, wide), wide(0))


def test_segments_without_elements(dtype):
    a, begins = random_array(dtype, 5), [0, 2, 2, 5]
    limits = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    least, greatest = (-np.inf, np.inf) if np.dtype(dtype).kind == "f" else (limits.min, limits.max)
    for name, function, identity in (("min", np.min, greatest), ("max", np.max, least), ("add", None, 0), ("mul", None, 1)):
        got = np.asarray(subsweep.segmented_reduce(a, begins, name))
        assert got.dtype == dtype and got[1] == got[3] == identity
        if function:
            assert got[0] == function(a[:2]) and got[2] == function(a[2:])


def test_masks():
    a = np.random.default_rng(2).random(10_001) < 0.3
    for kind in (np.asarray, Array):
        for got, expected in (
            (subsweep.sort(kind(a)), np.sort(a)),
            (subsweep.argsort(kind(a[:50])), np.argsort(a[:50], kind="stable")),
            (subsweep.unique(kind(a)), np.unique(a)),
            (subsweep.select(kind(a), a), a[a]),
            (subsweep.select(kind(a), ("==", True)), a[a]),
            (subsweep.take(kind(a), [5, -1]), a[[5, -1]]),
            (subsweep.runs(kind(a))[0], a[np.flatnonzero(np.append(True, a[1:] != a[:-1]))]),
            (subsweep.cumsum(kind(a), dtype=np.uint32), np.cumsum(a, dtype=np.uint32)),
            (subsweep.reduce(kind(a), dtype=np.uint32), np.sum(a, dtype=np.uint32)),
            (subsweep.histogram(kind(a), 2)[0], np.array([np.sum(~a), np.sum(a)])),
        ):
            got = np.asarray(got)
            assert_same(got if got.dtype != np.uint32 or expected.dtype == np.uint32 else got.astype(np.intp), expected)
    assert int(subsweep.argmax(a)) == np.argmax(a)
    assert subsweep.argminmax(a).tolist() == [np.argmin(a), np.argmax(a)]
    assert_same(np.concatenate([*subsweep.sort_stream([a, a])]), np.sort(np.concatenate([a, a])))


@pytest.mark.parametrize("name", FLOATS)
def test_sums_of_floats_are_rounded_once(name):
    dtype = float_type(name)
    a = np.abs(np.random.default_rng(3).standard_normal(20_000)).astype(dtype)
    sums = np.cumsum(a, dtype=np.float64)
    ulp = 2.0 ** -(10 if name == np.float16 else 7)
    # Of the sum in float32 the result is the nearest.
    np.testing.assert_allclose(subsweep.cumsum(a).astype(np.float64), sums, rtol=0.51 * ulp)
    np.testing.assert_allclose(subsweep.cumsum(a, dtype=np.float32), sums, rtol=1e-5)
    assert_same(subsweep.reduce(a), subsweep.reduce(a, dtype=np.float32).astype(dtype))
    begins = [0, 7, 9000]
    parts = [np.sum(part, dtype=np.float64) for part in np.split(a, begins[1:])]
    np.testing.assert_allclose(subsweep.segmented_reduce(a, begins).astype(np.float64), parts, rtol=0.51 * ulp)
    assert_same(subsweep.segmented_reduce(Array(a), begins), subsweep.segmented_reduce(a, begins))
    huge = np.full(3, np.finfo(np.float16).max if name == np.float16 else 3e38).astype(dtype)
    assert np.isinf(float(subsweep.reduce(huge)))


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("kind", [np.asarray, Array], ids=["ndarray", "Array"])
def test_floats_are_as_in_float32(name, kind):
    """numpy's own order of bfloat16 has no place for NaN."""
    dtype = float_type(name)
    rng = np.random.default_rng(4)
    infinity = 0x7C00 if name == np.float16 else 0x7F80
    special = [0, 0x8000, 1, 0x8001, infinity, infinity | 0x8000, infinity + 1, infinity | 0x8001, 0x7FFF, 0xFFFF, 0x3C00]
    a = of_bits(np.concatenate([rng.choice(special, 3001), rng.integers(0, 2**16, 2000)]), dtype)
    wide, data = a.astype(np.float32), kind(a)

    def same(got, expected):
        got, expected = np.asarray(got), np.asarray(expected)
        if expected.dtype == dtype:
            assert got.dtype == dtype
            np.testing.assert_array_equal(bits(got), bits(expected))
        else:
            np.testing.assert_array_equal(got, expected)

    sorting = np.argsort(wide, kind="stable")
    ordered = a[sorting]
    same(subsweep.argsort(data), sorting)
    same(subsweep.sort(data), ordered)
    same(subsweep.sort(data, descending=True), a[argsorted(wide, descending=True)])
    keys, values = subsweep.sort_pairs(data, kind(np.arange(len(a))))
    same(keys, ordered), same(values, sorting)
    same(subsweep.lexsort([data, data]), sorting)
    same(subsweep.segmented_argsort(data, [0]), sorting)
    values, indices = subsweep.topk(data, 99, largest=False)
    same(values, ordered[:99]), same(indices, sorting[:99])
    same(subsweep.merge(kind(ordered), kind(ordered)), np.repeat(ordered, 1)[np.argsort(np.tile(wide[sorting], 2), kind="stable") % len(a)])
    same(subsweep.searchsorted(kind(ordered), data), np.searchsorted(wide[sorting], wide))
    _, first, inverse, counts = np.unique(wide, True, True, True)
    for got, expected in zip(subsweep.unique(data, True, True, True), (a[first], first, inverse, counts)):
        same(got, expected)
    same(subsweep.argmin(data), np.argmin(wide)), same(subsweep.argmax(data), np.argmax(wide))
    same(subsweep.select(data, ("<", 1)), a[wide < 1])
    same(subsweep.partition(data, ("range", 0, 2))[0], np.concatenate([a[(wide >= 0) & (wide < 2)], a[~((wide >= 0) & (wide < 2))]]))
    same(subsweep.take(data, [-1, 7]), a[[-1, 7]])
    same(subsweep.runs(kind(ordered))[0], a[first])
    finite = a[np.isfinite(wide) & (np.abs(wide) < 100)]
    differences = np.asarray(subsweep.diff(kind(finite)))
    same(differences, np.diff(finite.astype(np.float32)).astype(dtype))
    few = np.asarray(rng.integers(0, 9, 500) / 2).astype(dtype)
    same(subsweep.histogram(kind(few), [0, 1, 2.5, 4])[0], np.histogram(few.astype(np.float32), [0, 1, 2.5, 4])[0])
    same(subsweep.histogram(kind(few), 4)[0], np.histogram(few.astype(np.float32), 4)[0])
    same(subsweep.cumsum(kind(few), op="max", initial=1.5), np.maximum(np.maximum.accumulate(few.astype(np.float32)), 1.5).astype(dtype))
    same(subsweep.reduce(kind(few.reshape(50, 10)), "max", 1), few.astype(np.float32).reshape(50, 10).max(1).astype(dtype))


def test_bfloat16_elsewhere(tmp_path):
    dtype = float_type("bfloat16")
    a = np.arange(9).astype(dtype)
    array = Array(a)
    assert array.dtype == Array.empty(3, dtype).dtype == np.asarray(array).dtype == dtype
    assert repr(array).startswith("Array([0, 1, 2,")
    got = np.concatenate([*subsweep.sort_stream([a[::-1], a])])
    np.testing.assert_array_equal(got, np.repeat(a, 2))
    assert float(subsweep.reduce(array)) == 36
    np.save(tmp_path / "a.npy", a)
    for file in (tmp_path / "a.npy", io.BytesIO(a.tobytes())):
        np.testing.assert_array_equal(np.concatenate([*subsweep.blocks(file, dtype, count=4)]), a)
    with pytest.raises(TypeError, match="no common type: convert"):
        subsweep.searchsorted(a, np.array([1]))
    np.testing.assert_array_equal(subsweep.searchsorted(a, [1.5, 2.0]), [2, 2])


def test_memory_of_packed_arrays_is_shared(dtype):
    array = Array.empty((3, 5), dtype)
    written = random_array(dtype, (3, 5))
    np.asarray(array)[:] = written
    assert_same(subsweep.sort(array), np.sort(written))
    if hasattr(np, "from_dlpack"):
        assert_same(np.from_dlpack(array), written)
    if sys.version_info >= (3, 12):
        assert memoryview(array).tolist() == written.tolist()


def test_rows_of_any_size():
    for shape in [(50, 1), (50, 3), (50, 5, 2), (50, 6), (50, 7)]:
        a = random_array(np.uint8, shape)
        mask = np.arange(50) % 3 == 0
        for kind in (np.asarray, Array):
            assert_same(subsweep.take(kind(a), [[3, -1], [0, 9]], 0), a[[[3, -1], [0, 9]]])
            rows, indices = subsweep.select(kind(a), mask, return_index=True)
            assert_same(rows, a[mask])
            np.testing.assert_array_equal(np.asarray(indices), np.flatnonzero(mask))
            rows, count = subsweep.partition(kind(a), mask)
            assert_same(rows, np.concatenate([a[mask], a[~mask]]))
            assert count == mask.sum()


def test_streams_in_parts(dtype):
    a = random_array(dtype, 9_000_001 // np.dtype(dtype).itemsize, special=True)
    got = np.concatenate([*subsweep.sort_stream(np.array_split(a, 3), memory=28 << 20)])
    assert_same(got, np.sort(a, kind="stable"))
    if np.dtype(dtype).kind != "f":
        assert_same(np.concatenate([*subsweep.cumsum_stream(np.array_split(a, 3))]), exact(np.add.accumulate, a))
