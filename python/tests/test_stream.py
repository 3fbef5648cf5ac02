"""Streams: blocks of any sizes, files, and ends before the end."""

import io
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import subsweep
from conftest import argsorted, assert_same, error_after_fork, random_array


def parts(array, count):
    return np.array_split(array, count)


def npy(descr, shape):
    """A file of numpy's format with any header."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return io.BytesIO(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(100))


def whole(blocks):
    return np.concatenate([*blocks])


@pytest.mark.parametrize("memory", [None, 28 << 20])
def test_sort(dtype, memory):
    a = random_array(dtype, 12_000_000 // max(np.dtype(dtype).itemsize, 4) + 1, special=True)
    assert_same(whole(subsweep.sort_stream(parts(a, 7), memory=memory)), np.sort(a, kind="stable"))
    assert_same(whole(subsweep.sort_stream(iter(parts(a, 3)), descending=True, memory=memory)), a[argsorted(a, descending=True)])


@pytest.mark.parametrize("exclusive", [False, True])
def test_cumsum(dtype, exclusive):
    a = random_array(dtype, 10_000_001 // np.dtype(dtype).itemsize)
    got = whole(subsweep.cumsum_stream(parts(a, 5), op="max", exclusive=exclusive, initial=7))
    expected = np.maximum.accumulate(np.concatenate([np.array([7], dtype), a]))
    assert_same(got, expected[:-1] if exclusive else expected[1:])


@pytest.mark.parametrize("exclusive", [False, True])
def test_sums_of_float16_are_rounded_once(exclusive):
    # More than a chunk; the sums are exact in float32, and at its end have more bits than a float16.
    a = np.random.default_rng(6).choice(np.array([0, 2**-7, 3 * 2**-7], np.float16), 4_500_001)
    exact = np.cumsum(a, dtype=np.float32)
    expected = (exact - a if exclusive else exact).astype(np.float16)
    for options in ({}, {"monotone": True}):
        assert_same(whole(subsweep.cumsum_stream(parts(a, 5), exclusive=exclusive, **options)), expected)
    for count in (1, 5, 1000):
        assert_same(subsweep.reduce_stream(parts(a, count)), exact[-1].astype(np.float16))


def test_monotone_sums():
    a = np.random.default_rng(7).random(3_000_000).astype(np.float32) ** 30
    sums = whole(subsweep.cumsum_stream(parts(a, 3), monotone=True))
    assert np.all(np.diff(sums) >= 0)
    np.testing.assert_allclose(sums, np.cumsum(a, dtype=np.float64), rtol=1e-4)
    with pytest.raises(ValueError, match="monotone is for sums of floats"):
        [*subsweep.cumsum_stream([[1, 2]], monotone=True)]


def test_reduce(dtype):
    a = random_array(dtype, 100_000)
    assert_same(subsweep.reduce_stream(parts(a, 3), "min"), a.min())
    if np.dtype(dtype).kind != "f":
        assert_same(subsweep.reduce_stream(parts(a, 3)), a.sum(dtype=dtype))


def test_blocks_of_other_sizes_and_of_none():
    a = random_array(np.uint32, 5_000_000)
    uneven = [a[:1], a[1:1], a[1:3_000_000], a[3_000_000:]]
    got = [*subsweep.sort_stream(uneven)]
    assert [block.nbytes for block in got] == [8 << 20, 8 << 20, 20_000_000 - (16 << 20)]
    assert [*subsweep.sort_stream([])] == [*subsweep.cumsum_stream([np.empty(0)])] == []


def test_files(tmp_path, dtype):
    a = random_array(dtype, 1000)
    np.save(tmp_path / "a.npy", a.reshape(10, 100))
    a.tofile(tmp_path / "a.bin")
    for file, kind in ((tmp_path / "a.npy", None), (str(tmp_path / "a.bin"), dtype), (io.BytesIO(a.tobytes()), dtype)):
        got = [*subsweep.blocks(file, kind, count=300)]
        assert [*map(len, got)] == [300, 300, 300, 100]
        assert_same(whole(got), a)
    assert_same(whole(subsweep.blocks(io.BytesIO(a[:1].tobytes()), dtype, count=1)), a[:1])
    np.save(tmp_path / "big.npy", a.astype(np.dtype(dtype).newbyteorder(">")))
    assert_same(whole(subsweep.sort_stream(subsweep.blocks(tmp_path / "big.npy", count=64))), np.sort(a))
    np.save(tmp_path / "columns.npy", np.asfortranarray(a.reshape(10, 4, 25)))
    assert_same(whole(subsweep.blocks(tmp_path / "columns.npy", count=64)), a)
    np.save(tmp_path / "none.npy", a[:0])
    assert [*subsweep.blocks(tmp_path / "none.npy")] == [*subsweep.blocks(io.BytesIO(), dtype)] == []


def test_files_that_are_refused(tmp_path):
    a = np.arange(10, dtype=np.uint64)
    np.save(tmp_path / "a.npy", a)
    data = (tmp_path / "a.npy").read_bytes()
    with pytest.raises(ValueError, match="not whole"):
        [*subsweep.blocks(io.BytesIO(data[:-1]))]
    with pytest.raises(ValueError, match="not whole"):
        [*subsweep.blocks(io.BytesIO(data[:-8]))]
    with pytest.raises(ValueError, match="not whole"):
        [*subsweep.blocks(io.BytesIO(b"12345"), "u4")]
    with pytest.raises(ValueError, match="dtype"):
        [*subsweep.blocks(io.BytesIO(b"12345678"))]
    with pytest.raises(TypeError, match="uint64"):
        [*subsweep.blocks(tmp_path / "a.npy", "u4")]
    with pytest.raises(ValueError, match="count"):
        [*subsweep.blocks(tmp_path / "a.npy", count=0)]
    np.save(tmp_path / "f.npy", np.asfortranarray(np.ones((2, 3))))
    data = (tmp_path / "f.npy").read_bytes()
    with pytest.raises(ValueError, match="Fortran"):
        [*subsweep.blocks(io.BytesIO(data))]
    (tmp_path / "f.npy").write_bytes(data[:-1])
    with pytest.raises(ValueError, match="not whole"):
        [*subsweep.blocks(tmp_path / "f.npy")]


def test_errors_of_the_blocks_are_raised():
    def failing():
        yield np.arange(5)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        [*subsweep.sort_stream(failing())]
    with pytest.raises(TypeError, match="block 1 is of int32"):
        [*subsweep.cumsum_stream([np.arange(5), np.arange(5, dtype=np.int32)])]
    with pytest.raises(TypeError, match="complex64"):
        [*subsweep.sort_stream([np.ones(3, np.complex64)])]
    with pytest.raises(ValueError, match="memory is 1,"):
        [*subsweep.sort_stream([np.arange(5)], memory=1)]
    with pytest.raises(ValueError, match="initial"):
        [*subsweep.cumsum_stream([np.arange(5)], initial=0.5)]


def test_a_stream_that_is_left_ends_its_thread():
    def endless():
        while True:
            yield np.ones(1_000_000)

    stream = subsweep.cumsum_stream(endless())
    assert next(stream)[0] == 1
    stream.close()
    deadline = time.monotonic() + 10
    while any(thread.name == "subsweep stream" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_device_is_that_of_the_call():
    with subsweep.device(0):
        stream = subsweep.sort_stream([[2, 1]])
    assert_same(whole(stream), [1, 2])


def test_blocks_are_computed_in_the_context_of_the_call():
    seen = []

    def source():
        for _ in range(3):
            seen.append(subsweep._device._chosen.get())
            yield np.ones(10)

    with subsweep.device(0):
        stream = subsweep.cumsum_stream(source())
        assert len(whole(stream)) == 30
    assert seen == ["0"] * 3


def test_an_interrupted_source_is_no_end():
    def source():
        yield np.arange(3)
        raise InterruptedError("mine")

    for stream in (subsweep.sort_stream, subsweep.cumsum_stream):
        with pytest.raises(InterruptedError, match="mine"):
            [*stream(source())]


def test_the_interpreter_ends_amid_a_stream():
    program = """if True:
        import numpy, subsweep, time
        def source():
            while True:
                time.sleep(0.01)
                yield numpy.ones(3_000_000)
        stream = subsweep.cumsum_stream(source())
        assert next(stream)[0] == 1
    """
    ended = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    "file, error, words",
    [
        (npy("<u4", (-5,)), ValueError, "damaged shape"),
        (npy("<u4", (-2, -5)), ValueError, "damaged shape"),
        (npy("|V0", (5,)), TypeError, "no numbers"),
        (io.BytesIO(b"\x93NUMPY\x09\x00"), ValueError, "version"),
        (io.StringIO("12345678"), TypeError, "binary"),
        ([1, 2], TypeError, "list"),
    ],
)
def test_damaged_files(file, error, words):
    with pytest.raises(error, match=words):
        [*subsweep.blocks(file, None)]


def test_a_pipe_that_does_not_wait_is_refused():
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.write(write, b"\1\0\0\0")
    with os.fdopen(read, "rb", buffering=0) as file, pytest.raises(BlockingIOError, match="set_blocking"):
        [*subsweep.blocks(file, "uint32")]
    os.close(write)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_is_refused_the_streams_of_its_parent():
    stream = subsweep.cumsum_stream(np.ones(2**20, np.uint32) for _ in range(9))
    next(stream)
    assert "forked" in error_after_fork(lambda: next(stream))
    assert sum(map(len, stream)) == 9 * 2**20 - 2**21
