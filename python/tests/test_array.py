"""Arrays on a device: results equal the results of the host's arrays, and stay on the device."""

import os
import pickle
import sys
import threading

import numpy as np
import pytest
import subsweep
from conftest import PACKED, assert_same, error_after_fork, random_array
from subsweep import Array

SEGMENTS = [3, 3, 700, 5000]

#: Calls of one array of one dimension.
CALLS = {
    "sort": lambda a: subsweep.sort(a),
    "sort descending": lambda a: subsweep.sort(a, descending=True),
    "argsort": lambda a: subsweep.argsort(a),
    "sort_pairs": lambda a: subsweep.sort_pairs(a, a),
    "segmented_sort": lambda a: subsweep.segmented_sort(a, SEGMENTS),
    "segmented_argsort": lambda a: subsweep.segmented_argsort(a, SEGMENTS),
    "segmented_cumsum": lambda a: subsweep.segmented_cumsum(a, SEGMENTS, op="max"),
    "segmented_reduce": lambda a: subsweep.segmented_reduce(a, SEGMENTS, "max"),
    "cumsum": lambda a: subsweep.cumsum(a, exclusive=True, reverse=True, initial=3),
    "cummax": lambda a: subsweep.cumsum(a, op=np.maximum),
    "reduce": lambda a: subsweep.reduce(a, "min", keepdims=True),
    "argmin": lambda a: subsweep.argmin(a, keepdims=True),
    "argmax": lambda a: subsweep.argmax(a, keepdims=True),
    "argminmax": lambda a: subsweep.argminmax(a),
    "diff": lambda a: subsweep.diff(a, 2),
    "select flags": lambda a: subsweep.select(a, np.arange(len(a)) % 3 == 0, return_index=True),
    "select compared": lambda a: subsweep.select(a, (">", 1), return_index=True),
    "partition": lambda a: subsweep.partition(a, ("range", 0, 3)),
    "topk": lambda a: subsweep.topk(a, 5),
    "runs": lambda a: subsweep.runs(a, return_index=True),
    "reduce_by_key": lambda a: subsweep.reduce_by_key(a, a, "max"),
    "segmented_sort values": lambda a: subsweep.segmented_sort(a, SEGMENTS, values=a),
    "merge values": lambda a: subsweep.merge(subsweep.sort(a), subsweep.sort(a), values=(a, a)),
    "merge": lambda a: subsweep.merge(subsweep.sort(a), subsweep.sort(a)),
}


def assert_alike(got, expected):
    """Equal values; what is on the device has indices of uint32."""
    if isinstance(expected, tuple):
        assert len(got) == len(expected)
        for one, other in zip(got, expected):
            assert_alike(one, other)
        return
    assert isinstance(got, (Array, int))
    expected = np.asarray(expected)
    if isinstance(got, Array) and expected.dtype == np.intp and got.dtype == np.uint32:
        expected = expected.astype(np.uint32)
    assert_same(got, expected) if isinstance(got, Array) else np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("few", [False, True])
def test_calls_give_what_those_of_the_host_give(dtype, name, few):
    a = random_array(dtype, 9001 if dtype in PACKED else 70001, few=few, special=few)
    kept = a.copy()
    on_device = Array(a)
    assert_alike(CALLS[name](on_device), CALLS[name](a))
    # The operand is as before.
    assert_same(on_device, kept)


def test_rows(dtype):
    for shape in [(300, 33), (2, 3, 50), (40, 1), (0, 3)]:
        a = random_array(dtype, shape, few=True)
        for function in (subsweep.sort, subsweep.argsort):
            assert_alike(function(Array(a)), function(a))


def test_several_operands(dtype):
    a, b = random_array(dtype, 5000, few=True), random_array(dtype, 3000, seed=2, few=True)
    first, second = Array(np.sort(a)), Array(np.sort(b))
    assert_alike(subsweep.searchsorted(first, second, "right"), subsweep.searchsorted(np.sort(a), np.sort(b), "right"))
    # One of them may be of the host.
    assert_alike(subsweep.searchsorted(np.sort(a), second), subsweep.searchsorted(np.sort(a), np.sort(b)))
    assert_alike(subsweep.merge(first, np.sort(b)), subsweep.merge(np.sort(a), np.sort(b)))
    keys = [random_array(dtype, 4000, seed, few=True) for seed in (1, 2, 3)]
    assert_alike(subsweep.lexsort([Array(key) for key in keys]), np.lexsort(keys))
    indices = subsweep.argsort(Array(a))
    assert_alike(subsweep.take(Array(a), indices), np.sort(a, kind="stable"))
    assert_alike(subsweep.take(Array(a), [-1, 0]), a[[-1, 0]])


def test_unique(dtype):
    a = random_array(dtype, 4000, few=True, special=True)
    assert_alike(subsweep.unique(Array(a), True, True, True), np.unique(a, True, True, True))


@pytest.mark.parametrize("axis", [None, 1, (0, 1)])
def test_tables(dtype, axis):
    a = random_array(dtype, (300, 33))
    table = Array(a)
    assert_alike(subsweep.reduce(table, "max", axis), subsweep.reduce(a, "max", axis))
    if axis != (0, 1):
        assert_alike(subsweep.sort(table, axis), np.sort(a, axis, kind="stable"))
        assert_alike(subsweep.cumsum(table, axis, op="min"), subsweep.cumsum(a, axis, op="min"))
        assert_alike(subsweep.argmax(table, axis), subsweep.argmax(a, axis))
    if axis == 1:
        assert_alike(subsweep.topk(table, 3), subsweep.topk(a, 3))
        assert_alike(subsweep.diff(table), subsweep.diff(a))
        assert_alike(subsweep.select(table, a[:, 0] > 1), a[a[:, 0] > 1])
        assert_alike(subsweep.take(table, [4, 2], 0), a[[4, 2]])
        few = a[:, :7]
        assert_alike(subsweep.reduce(Array(few), "max", 0), few.max(0))
        assert_alike(subsweep.cumsum(Array(few), 0, op="max"), np.maximum.accumulate(few))


@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.float32, *PACKED])
@pytest.mark.parametrize("bins", [13, [0, 1, 3, 8]])
def test_histogram(dtype, bins):
    a = random_array(dtype, 5000, few=True)
    for got, expected in zip(subsweep.histogram(Array(a), bins), np.histogram(a, bins)):
        assert_same(got, expected)


@pytest.mark.parametrize("name", CALLS)
def test_empty_arrays(name, dtype):
    a = np.empty(0, dtype)

    def outcome(a):
        try:
            return CALLS[name](a)
        except (ValueError, IndexError) as error:
            return type(error)

    expected, got = outcome(a), outcome(Array(a))
    if isinstance(expected, type):
        assert got is expected
    else:
        assert_alike(got, expected)


def test_memory_of_the_host_is_shared(dtype):
    array = Array.empty(1000, dtype)
    written = random_array(dtype, 1000)
    view = np.asarray(array)
    view[:] = written
    assert_same(subsweep.cumsum(array, op="max"), np.maximum.accumulate(written))
    # It outlives the Array.
    del array
    assert_same(view, written)


def test_dlpack_and_buffers():
    array = subsweep.sort(Array([3, 1, 2]))
    if hasattr(np, "from_dlpack"):
        assert_same(np.from_dlpack(array), [1, 2, 3])
        assert np.shares_memory(np.from_dlpack(array), np.asarray(array))
        assert array.__dlpack_device__() == (1, 0)
    if sys.version_info >= (3, 12):
        assert memoryview(array).tolist() == [1, 2, 3]


def test_memory_that_the_host_does_not_see(monkeypatch):
    array = subsweep.sort(Array([3, 1, 2]))
    monkeypatch.setattr(Array, "_is_visible", lambda self: False)
    assert_same(np.asarray(array), [1, 2, 3])
    assert not np.asarray(array).flags.writeable
    with pytest.raises(ValueError, match="subsweep.Array"):
        Array.empty(3)
    with pytest.raises(BufferError, match="numpy.asarray"):
        array.__dlpack__()
    with pytest.raises(ValueError, match="copy"):
        array.__array__(copy=False)


def test_shapes():
    array = Array(np.arange(6, dtype=np.uint32))
    assert array.reshape(2, -1).shape == (2, 3) == array.reshape((2, 3)).shape
    assert_same(array.reshape(3, 2), np.arange(6, dtype=np.uint32).reshape(3, 2))
    with pytest.raises(ValueError, match="reshape"):
        array.reshape(4, -1)
    assert (len(array), array.ndim, array.size, array.nbytes, array.itemsize) == (6, 1, 6, 24, 4)
    total = subsweep.reduce(array)
    assert (total.shape, total.item(), int(total), float(total), bool(total)) == ((), 15, 15, 15.0, True)
    assert list(range(20))[total] == 15
    with pytest.raises(TypeError):
        len(total)
    assert repr(array.reshape(2, 3)).startswith("Array([[0, 1, 2],\n       [3, 4, 5]], device='")
    assert Array.empty((2, 0)).dtype == np.float64
    assert_same(Array(array, np.int64), np.arange(6))


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: Array([1j]), TypeError, "real"),
        (lambda: Array.empty(3, np.complex64), TypeError, "complex64"),
        (lambda: Array.empty(-3), ValueError, "-3"),
        (lambda: subsweep.sort(Array([[1, 2]]), axis=0), ValueError, "moveaxis"),
        (lambda: subsweep.cumsum(Array([1]), dtype=np.longdouble), TypeError, "and subsweep takes"),
        (lambda: Array.empty(2**62), MemoryError, "bytes"),
        (lambda: Array.empty(2**55), MemoryError, "memory"),
        (lambda: Array([1]).__array__(np.float32, False), ValueError, "copy"),
        (lambda: Array([1]) == 1, TypeError, "numpy.asarray"),
        (lambda: pickle.dumps(Array([1])), TypeError, "numpy.asarray"),
        (lambda: subsweep.sort_pairs([2, 1], np.array([{}, {}], object)), TypeError, "values is of object"),
        (lambda: subsweep.cumsum(Array([1], np.uint8), dtype=np.int64), TypeError, "subsweep.Array"),
        (lambda: subsweep.take(Array([[1, 2, 3]], np.uint8), Array([0], np.uint32), 0), TypeError, "asarray.indices"),
        (lambda: subsweep.device(None).__enter__(), TypeError, "selector is None"),
        (lambda: subsweep.reduce(Array(np.ones((2, 99))), axis=0), ValueError, "moveaxis"),
        (lambda: subsweep.cumsum(Array([1]), dtype=np.int32), TypeError, "subsweep.Array"),
        (lambda: subsweep.searchsorted(Array([1]), [1.5]), ValueError, "none of int64"),
        (lambda: subsweep.take(Array([1]), Array([0])), TypeError, "uint32"),
        (lambda: subsweep.take(Array([[1]]), [0], axis=1), ValueError, "first axis"),
        (lambda: subsweep.diff(Array([1]), prepend=0), ValueError, "prepend"),
        (lambda: subsweep.histogram(Array([1], np.int32), "auto"), ValueError, "histogram_bin_edges"),
        (lambda: subsweep.select(Array([1]), Array([1])), TypeError, "bool"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_keys_of_the_host_for_values_on_the_device():
    keys, values = subsweep.sort_pairs(np.array([0.0, -0.0, -1.0]), Array([1, 2, 3]))
    assert_same(keys, np.array([-1.0, 0.0, -0.0]))
    assert_same(values, [3, 1, 2])


def test_one_device_by_several_selectors():
    first = Array([1, 3])
    with subsweep.device(0) as device:
        second = Array([2])
    assert first.device == second.device == device and len({first.device, device}) == 1
    assert_same(subsweep.merge(first, second), [1, 2, 3])
    with subsweep.device(first.device):
        assert_same(subsweep.merge(Array([1]), second), [1, 2])


def test_memory_that_is_given_away_amid_a_call():
    keys = random_array(np.uint32, 200_000)
    for _ in range(10):
        array, results = Array(keys), []
        call = threading.Thread(target=lambda: results.append(subsweep.segmented_argsort(array, range(0, 200_000, 50))))
        call.start()
        np.asarray(array)[:] = 0
        call.join()
        assert_same(np.sort(np.asarray(results[0])), np.arange(200_000, dtype=np.uint32))


def test_memory_that_another_thread_writes():
    array = Array.empty(200_000, np.uint32)
    view, done = np.asarray(array), threading.Event()

    def write():
        while not done.is_set():
            view[:] = np.random.default_rng().integers(0, 9, len(view), np.uint32)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(10):
            order = np.asarray(subsweep.segmented_argsort(array, range(0, 200_000, 50)))
            assert_same(np.sort(order), np.arange(200_000, dtype=np.uint32))
    finally:
        done.set()
        writer.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_is_refused_the_arrays_of_its_parent():
    array = Array([2, 1])
    assert "forked" in error_after_fork(lambda: subsweep.sort(array))
    assert_same(subsweep.sort(array), [1, 2])
