"""Which arrays are taken, which refused, and how."""

import numpy as np
import pytest
from conftest import assert_same, random_array

import subsweep
from subsweep import _operands


@pytest.mark.parametrize(
    "other, remedy",
    [
        (np.longdouble, "float64"),
        (np.complex128, "real"),
        ("datetime64[s]", "int64"),
        ("U3", "numbers"),
        (object, "numbers"),
    ],
)
def test_other_types_are_refused_with_a_remedy(other, remedy):
    a = np.zeros(3, other)
    for function in (subsweep.sort, subsweep.argsort, subsweep.cumsum, subsweep.reduce, subsweep.unique, subsweep.diff):
        with pytest.raises(TypeError, match=remedy) as error:
            function(a)
        assert "float64" in str(error.value) and "\n" not in str(error.value)


def test_arithmetic_of_bool_is_refused_with_a_remedy():
    a = np.array([True, False, True])
    calls = [subsweep.cumsum, subsweep.reduce, subsweep.diff, lambda a: subsweep.segmented_cumsum(a, [0])]
    calls += [lambda a: subsweep.segmented_reduce(a, [0]), lambda a: [*subsweep.cumsum_stream([a])]]
    for call in calls:
        for operand in (a, subsweep.Array(a)) if call is not calls[-1] else (a,):
            with pytest.raises(TypeError, match="astype.numpy.uint32"):
                call(operand)


def test_any_byte_but_0_is_true():
    a = np.array([2, 1, 0, 255], np.uint8).view(bool)
    truth = np.array([True, True, False, True])
    assert_same(subsweep.cumsum(a, dtype=np.uint32), np.array([1, 2, 2, 3], np.uint32))
    assert_same(subsweep.cumsum(a, dtype=np.int64), np.array([1, 2, 2, 3]))
    assert_same(subsweep.unique(a), np.array([False, True]))
    assert_same(subsweep.argsort(a[::-1]), np.array([1, 0, 2, 3]))
    assert subsweep.argmax(a) == 0
    assert_same(subsweep.select(a, ("==", True)).view(np.uint8), np.ones(3, np.uint8))
    assert_same(subsweep.select(np.arange(4), a), np.array([0, 1, 3]))
    for keys in (np.array([False, True]), subsweep.Array(np.array([False, True]))):
        assert_same(np.asarray(subsweep.searchsorted(keys, a)).astype(np.intp), truth.astype(np.intp))
    assert_same(np.asarray(subsweep.Array(a)).view(np.uint8), truth.view(np.uint8))


def test_any_layout_and_byte_order(dtype):
    a = random_array(dtype, (40, 30))
    swapped = a.astype(a.dtype.newbyteorder())
    unaligned = np.frombuffer(b"x" + a.tobytes(), a.dtype, offset=1).reshape(a.shape)
    read_only = a.copy()
    read_only.flags.writeable = False
    for other in (swapped, unaligned, read_only, np.asfortranarray(a), np.repeat(a, 2, 1)[:, ::2], a[::-1][::-1]):
        assert_same(subsweep.sort(other), np.sort(a))
        assert_same(subsweep.cumsum(other, 0, op="max"), np.maximum.accumulate(a))
        assert_same(subsweep.take(other, [3, 1], 0), np.take(other, [3, 1], 0))
        assert_same(subsweep.reduce(other, "max"), a.max())
    assert_same(subsweep.sort(a[::-1, ::-2]), np.sort(a[::-1, ::-2]))
    assert_same(subsweep.sort(np.broadcast_to(a[0], (3, 30))), np.sort(np.broadcast_to(a[0], (3, 30))))


def test_lists_and_scalars():
    assert_same(subsweep.sort([3, 1, 2]), np.array([1, 2, 3]))
    assert_same(subsweep.sort([2.5, -1]), np.array([-1, 2.5]))
    assert_same(subsweep.cumsum(7), np.array([7]))
    assert_same(subsweep.sort(3.5, None), np.array([3.5]))


def test_wrong_axes():
    axis_error = getattr(np, "exceptions", np).AxisError
    for function in (subsweep.sort, subsweep.argsort, subsweep.cumsum, subsweep.argmax):
        with pytest.raises(axis_error, match="axis 2 is out of bounds"):
            function(np.zeros((2, 3)), 2)
    with pytest.raises(axis_error):
        subsweep.sort(3.5)
    with pytest.raises(TypeError):
        subsweep.sort(np.zeros(3), 0.5)
    with pytest.raises(ValueError, match="twice"):
        subsweep.reduce(np.zeros((2, 3)), axis=(0, 0))


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match="compressed"):
        subsweep.sort(np.ma.masked_array([3, 1], [0, 1]))


def test_wrong_operators():
    with pytest.raises(ValueError, match="add, mul"):
        subsweep.cumsum([1, 2], op="sub")
    with pytest.raises(ValueError, match="add, mul"):
        subsweep.reduce([1, 2], np.subtract)
    with pytest.raises(TypeError, match="bits"):
        subsweep.reduce([1.5], "xor")


def test_dimensions():
    table = np.zeros((2, 3))
    for function in (subsweep.runs, lambda a: subsweep.merge(a, a), lambda a: subsweep.segmented_sort(a, [0])):
        with pytest.raises(ValueError, match="dimensions"):
            function(table)


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_positions_of_either_size_are_numpys(dtype):
    """A search in 2**32 elements and more, for which a machine of the tests has too little memory, gives uint64."""
    positions = np.array([[0, 7], [2**32 - 1, 3]], dtype)
    assert_same(_operands.indices_of(positions.reshape(-1).view(np.uint8), (2, 2)), positions.astype(np.intp))
    on_device = _operands.indices_of(subsweep.Array(positions).buffer, (2, 2))
    assert_same(np.asarray(on_device), positions)
    assert _operands.indices_of(np.zeros(0, np.uint8), (0,)).dtype == np.intp


def test_whole_numbers_that_are_floats():
    assert_same(subsweep.cumsum(np.array([1.5]), initial=2**100), np.array([1.5 + 2.0**100]))
    assert_same(subsweep.select(np.array([2.0**101, -(2.0**101)]), (">", 2**100)), np.array([2.0**101]))
    assert_same(subsweep.cumsum(np.zeros(1, np.float32), initial=-(2**100)), np.array([-(2.0**100)], np.float32))
    assert_same(subsweep.cumsum(np.zeros(1), initial=2**1023), np.array([2.0**1023]))
    for dtype, number in ((np.float64, 2**100 + 1), (np.float64, 2**1024 - 1), (np.float64, 2**5000), (np.float32, 2**200), (np.float16, -(2**100))):
        with pytest.raises(ValueError, match=f"which {np.dtype(dtype)} does not have: give a float"):
            subsweep.cumsum(np.zeros(1, dtype), initial=number)


@pytest.mark.parametrize("segments, wrong", [([-3, 1], -3), ([1, 11], 11), ([-1], -1)])
def test_segments_out_of_bounds_are_told_as_such(segments, wrong):
    for function in (subsweep.segmented_sort, subsweep.segmented_cumsum, subsweep.segmented_reduce):
        with pytest.raises(ValueError, match=f"an index is {wrong}: give indices from 0 to 10"):
            function(np.arange(10), segments)
        with pytest.raises(ValueError, match="sort them"):
            function(np.arange(10), [5, 3])


@pytest.mark.parametrize("shape", [(0, 0, 100), (100, 0, 0), (0, 3), (3, 0), (0,)])
def test_indices_of_extremes_of_no_elements(shape):
    a = np.empty(shape)
    for axis in (None, *range(len(shape))):
        for ours, numpys in ((subsweep.argmin, np.argmin), (subsweep.argmax, np.argmax), (subsweep.reduce, np.max)):
            call = (lambda: subsweep.reduce(a, "max", axis)) if ours is subsweep.reduce else (lambda: ours(a, axis))
            try:
                expected = numpys(a, axis)
            except ValueError:
                with pytest.raises(ValueError, match="no elements"):
                    call()
            else:
                assert_same(call(), expected)


def test_an_array_without_dimensions_has_no_axis():
    calls = [subsweep.argmin, subsweep.argmax, subsweep.argminmax, subsweep.cumsum, lambda a, axis: subsweep.take(a, 0, axis)]
    for call in calls:
        with pytest.raises(getattr(np, "exceptions", np).AxisError):
            call(np.array(7), 0)


def test_masks_are_refused_of_every_argument():
    a, masked = np.arange(3), np.ma.masked_array([0, 1, 2], [0, 1, 0])
    calls = {
        "indices": lambda: subsweep.take(a, masked),
        "sorter": lambda: subsweep.searchsorted(a, 1, sorter=masked),
        "weights": lambda: subsweep.histogram(a, weights=masked),
        "bins": lambda: subsweep.histogram(a, masked),
        "ends": lambda: subsweep.segmented_reduce(a, [0, 1, 2], ends=masked),
        "initial": lambda: subsweep.cumsum(a, initial=np.ma.masked),
        "the number of condition": lambda: subsweep.select(a, (">", np.ma.masked)),
        "k": lambda: subsweep.segmented_topk(a, [0, 1, 2], masked),
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match=f"^{name} is a masked array: give {name}.compressed"):
            call()
    with pytest.raises(TypeError, match="^k is a masked array"):
        subsweep.topk(a, np.ma.masked_array(2, True))
    for function in (subsweep.segmented_sort, subsweep.segmented_argsort, subsweep.segmented_cumsum, subsweep.segmented_reduce):
        with pytest.raises(TypeError, match="^segments is a masked array"):
            function(a, masked)
    with pytest.raises(TypeError, match="^segments is a masked array"):
        subsweep.segmented_topk(a, masked, 1)
