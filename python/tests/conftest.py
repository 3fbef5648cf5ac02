"""Inputs of all tests: random numbers of each type, with what is special of floats."""

import os

import numpy as np
import pytest
import subsweep

#: Types of 8 and 16 bits, with which the device computes as with types of 32 bits.
PACKED = [np.uint8, np.int8, np.uint16, np.int16, np.float16]
TYPES = [np.uint32, np.int32, np.float32, np.uint64, np.int64, np.float64, *PACKED]
SIZES = [0, 1, 2, 1000, 65537, 2**19 + 3]


def random_array(dtype, shape, seed=1, few=False, special=False):
    """Numbers of all magnitudes, or of few values; with `special` NaNs of both signs, infinities and zeros."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        low, high = (0, 9) if few else (limits.min, limits.max)
        return rng.integers(low, high, shape, dtype=dtype, endpoint=True)
    array = rng.integers(-4, 5, shape) / 2 if few else rng.standard_normal(shape)
    array = np.asarray(array, dtype)
    if special and array.size:
        odd = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0], dtype)
        # NaNs of both signs, and one with a payload.
        odd = np.concatenate([odd, -odd[:1], (odd[:1].view(f"u{dtype.itemsize}") + 7).view(dtype)])
        where = rng.random(shape) < 0.2
        array[where] = rng.choice(odd, int(where.sum()))
    return array


def bits(array):
    """The bits of floats, which tell NaNs and zeros apart."""
    array = np.ascontiguousarray(array)
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "f" else array


def ranked(a, order):
    """Numbers that numpy orders as `order` orders `a`."""
    if order == "numpy" or a.dtype.kind != "f":
        return a
    words = a.view(f"i{a.itemsize}")
    return words ^ ((words >> (8 * a.itemsize - 1)) & np.iinfo(words.dtype).max)


def argsorted(a, order="numpy", descending=False):
    """The indices that sort `a` stably, in either direction."""
    ranks = ranked(a, order)
    return ranks.size - 1 - np.argsort(ranks[::-1], kind="stable")[::-1] if descending else np.argsort(ranks, kind="stable")


def exact(function, a, **options):
    """What a ufunc's method gives of floats of 16 bits that are computed in float32 and rounded once, and of others in their type."""
    dtype = np.float32 if a.dtype.kind == "f" and a.itemsize < 4 else a.dtype
    with np.errstate(over="ignore"):
        return function(a, dtype=dtype, **options).astype(a.dtype)


def assert_same(got, expected):
    """Equal type, shape and bits."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype and got.shape == expected.shape, (got.dtype, got.shape, expected.dtype, expected.shape)
    np.testing.assert_array_equal(bits(got), bits(expected))


def error_after_fork(call):
    """The text of the `Error` that `call` raises in a forked process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            call()
        except subsweep.Error as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    return text


@pytest.fixture(params=TYPES, ids=lambda dtype: dtype.__name__)
def dtype(request):
    return request.param


@pytest.fixture(params=SIZES)
def size(request, dtype):
    return min(request.param, 70_003) if dtype in PACKED else request.param
