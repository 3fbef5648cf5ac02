"""Random commands of the program ``subsweep``, of all types, against numpy.

``SUBSWEEP_COMMANDS`` is their number for each type, and ``SUBSWEEP_PROGRAM`` the program, if it is not the package's program.
"""

import os
import shlex
import subprocess
import sys

import numpy as np
import pytest
from conftest import TYPES, argsorted, assert_same, random_array, ranked

COMMANDS = int(os.environ.get("SUBSWEEP_COMMANDS", "7"))
PROGRAM = shlex.split(os.environ.get("SUBSWEEP_PROGRAM", f"{sys.executable} -m subsweep"))
OPERATORS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
BITWISE = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
WORDS = {"u": np.uint32, "i": np.int32, "f": np.float32}


def is_float(dtype):
    return dtype.kind not in "iu"


def comparable(a):
    """The same numbers in a type that numpy compares: of bfloat16 float32."""
    return a.astype(np.float32) if a.dtype.kind == "V" or a.dtype.name == "bfloat16" else a


class Program:
    """Commands on files of a folder."""

    def __init__(self, folder, rng, dtype):
        self.folder, self.rng, self.dtype, self.files, self.line = folder, rng, np.dtype(dtype), 0, []

    def chance(self, share=0.5):
        return self.rng.random() < share

    def seed(self):
        return int(self.rng.integers(2**31))

    def size(self):
        return int(self.rng.choice([0, 1, 2, 40, 1000, 5003, 70_001], p=[0.02, 0.05, 0.05, 0.2, 0.3, 0.3, 0.08]))

    def shape(self, columns=64):
        return self.size() if self.chance() else (int(self.rng.integers(1, 300)), int(self.rng.integers(1, columns + 1)))

    def array(self, shape, **options):
        """Random numbers of the type; numbers of bfloat16 have the bits of the first half of a float32."""
        if self.dtype.name != "bfloat16":
            return random_array(self.dtype, shape, self.seed(), **options)
        wide = random_array(np.float32, shape, self.seed(), **options)
        return np.asarray(wide.view(np.uint32) >> 16, np.uint16).view(self.dtype)

    def numbers(self, shape):
        """Numbers whose sums and products are exact in 32 bits."""
        if not is_float(self.dtype):
            return self.array(shape)
        return self.rng.choice(np.array([-1, -0.5, 0, 0.5, 1]), shape).astype(self.dtype)

    def write(self, array):
        self.files += 1
        path = self.folder / f"{self.files}.npy"
        if self.chance(0.1) and array.dtype.kind in "iuf":
            array = array.astype(array.dtype.newbyteorder(">"))
        np.save(path, np.asfortranarray(array) if self.chance(0.1) else array)
        return path

    def output(self):
        self.files += 1
        return self.folder / f"{self.files}.npy"

    def run(self, *arguments):
        self.line = [*map(str, arguments)]
        subprocess.run([*PROGRAM, *self.line], check=True, capture_output=True, text=True)

    def order(self, default):
        """Options of an order of floats, and its name."""
        if self.chance(0.4):
            return [], default
        order = str(self.rng.choice(["numpy", "total"]))
        return ["--order", order], order

    def starts(self, count):
        """Beginnings of segments, the first at 0."""
        inner = self.rng.integers(0, max(count, 1), int(self.rng.integers(0, 60)))
        return np.unique(np.concatenate([[0], inner])).astype(np.uint32)


def load(path, dtype):
    array = np.load(path)
    return array.view(dtype) if array.dtype.kind == "V" else array


def order_of(p, a, order, descending):
    """The indices that sort an array, in total order by its bits."""
    if order == "total" and p.dtype.name == "bfloat16":
        # The numbers of float32 that begin with these bits have their order.
        a = (np.asarray(a.view(np.uint16), np.uint32) << 16).view(np.float32)
    return argsorted(comparable(a), order, descending)


def heads(p, a, order):
    """Whether each element differs from the one before it."""
    if order == "total" and is_float(p.dtype):
        a = a.view(f"u{p.dtype.itemsize}")
    a = comparable(a)
    differs = a[1:] != a[:-1]
    if a.dtype.kind == "f":
        differs &= ~(np.isnan(a[1:]) & np.isnan(a[:-1]))
    return np.concatenate([np.ones(min(a.size, 1), bool), differs])


def sort(p):
    options, order = p.order("total")
    descending = p.chance()
    options += ["--descending"] * descending
    if p.chance(0.2):
        a = p.array((int(p.rng.integers(1, 40)), int(p.rng.integers(1, 400))), few=p.chance(), special=True)
        out = p.output()
        p.run("sort", p.write(a), "-o", out, "--axis", 1, *options)
        return load(out, p.dtype), np.array([row[order_of(p, row, order, descending)] for row in a])
    a = p.array(p.size(), few=p.chance(), special=True)
    indices = order_of(p, a, order, descending)
    if p.chance(0.2):
        starts, options = p.starts(a.size), [*options]
        ends = [*starts[1:], a.size]
        parts = [start + order_of(p, a[start:end], order, descending) for start, end in zip(starts, ends)]
        indices = np.concatenate(parts).astype(np.int64) if a.size else indices
        if a.size:
            options += ["--segments", p.write(starts)]
    out = p.output()
    if p.chance(0.3):
        p.run("sort", p.write(a), "-o", out, "--argsort", *options)
        return np.load(out), indices.astype(np.uint32)
    if p.chance(0.4):
        values = random_array(p.rng.choice([np.uint8, np.uint16, np.float32, np.int64]), a.size, p.seed())
        moved = p.output()
        p.run("sort", p.write(a), "-o", out, "--values", p.write(values), "--values-output", moved, *options)
        assert_same(np.load(moved), values[indices])
    else:
        p.run("sort", p.write(a), "-o", out, *options)
    return load(out, p.dtype), a[indices]


def ranks_of(a, order):
    """Whole numbers in the order of the elements, equal where they are."""
    if a.dtype.name == "bfloat16":
        # The numbers of float32 that begin with these bits have their order.
        a = (np.asarray(a.view(np.uint16), np.uint32) << 16).view(np.float32)
    return np.unique(ranked(a, order), return_inverse=True)[1].reshape(-1)


def bytes_of_fields(a):
    """A row of bytes for each structure, without those between fields."""
    fields = [np.ascontiguousarray(a[name]) for name in a.dtype.names]
    return np.concatenate([field.view(np.uint8).reshape(len(a), field.itemsize) for field in fields], axis=1)


def sort_by(p):
    # Of 1 to 4 fields, which have up to 16 bytes together.
    types = [p.dtype]
    for other in p.rng.choice([np.bool_, *TYPES], int(p.rng.integers(0, 4))):
        if sum(kind.itemsize for kind in types) + np.dtype(other).itemsize <= 16:
            types.append(np.dtype(other))
    names = [f"f{index}" for index in range(len(types))]
    members = [*zip(names, types), ("text", "S5"), ("id", "<u4")]
    dtype = np.dtype([members[index] for index in p.rng.permutation(len(members))], align=True)
    a = np.zeros(p.size(), dtype)
    a["id"] = np.arange(len(a))
    a["text"] = a["id"].astype("S5")
    for name, kind in zip(names, types):
        if kind == np.bool_:
            a[name] = p.rng.random(len(a)) < 0.5
        elif kind == p.dtype:
            a[name] = p.array(len(a), few=True, special=True)
        else:
            a[name] = random_array(kind, len(a), p.seed(), few=True, special=True)
    options, order = p.order("total")
    descending, is_reversed = p.chance(), [p.chance() for _ in names]
    keys = []
    for name, reverse in zip(names, is_reversed):
        ranks = ranks_of(np.ascontiguousarray(a[name]), order)
        keys.append(-ranks if reverse != descending else ranks)
    indices = np.lexsort(keys[::-1])
    by = ",".join("-" * reverse + name for name, reverse in zip(names, is_reversed))
    options += ["--descending"] * descending
    out = p.output()
    if p.chance(0.4):
        p.run("sort", p.write(a), "-o", out, f"--by={by}", "--argsort", *options)
        return np.load(out), indices.astype(np.uint32)
    p.run("sort", p.write(a), "-o", out, f"--by={by}", *options)
    return bytes_of_fields(np.load(out)), bytes_of_fields(a[indices])


def topk(p):
    options, order = p.order("numpy")
    smallest, unsorted = p.chance(), p.chance(0.3)
    rows, columns = int(p.rng.integers(1, 30)), int(p.rng.choice([1, 8, 40, 500, 6000]))
    a = p.array((rows, columns), few=p.chance(), special=True)
    k = int(p.rng.integers(1, min(columns, 300) + 1))
    indices = np.array([order_of(p, row, order, not smallest)[:k] for row in a])
    indices = np.sort(indices, axis=1) if unsorted else indices
    out, columns_out = p.output(), p.output()
    options += ["--smallest"] * smallest + ["--unsorted"] * unsorted
    p.run("topk", p.write(a), "-k", k, "-o", out, "--indices", columns_out, *options)
    assert_same(np.load(columns_out), indices.astype(np.uint32))
    return load(out, p.dtype), np.take_along_axis(a, indices, axis=1)


def unique(p):
    options, order = p.order("numpy")
    a = np.repeat(p.array(p.size() // 2, few=True, special=True), 2)
    if p.chance():
        a = a[order_of(p, a, order, False)]
    kept = np.flatnonzero(heads(p, a, order))
    out, indices = p.output(), p.output()
    p.run("select", p.write(a), "--unique", "-o", out, "--indices", indices, *options)
    assert_same(np.load(indices), kept.astype(np.uint32))
    return load(out, p.dtype), a[kept]


def histogram(p):
    is_even = p.chance()
    # numpy sorts for edges that are given, and does not sort bfloat16 with NaN.
    a = p.array(p.size(), few=p.chance(), special=is_even or p.dtype.name != "bfloat16")
    out = p.output()
    if is_even:
        low, high = sorted(float(x) for x in p.rng.integers(-20, 120, 2))
        low, high = (max(low, 0), max(high, 1)) if p.dtype.kind == "u" else (low, high)
        high += low == high
        # numpy and the program refuse more edges than there are float16 in the range.
        bins = int(p.rng.choice([1, 5, 256, 3000])) if p.dtype != np.float16 else 5
        p.run("histogram", p.write(a), "-o", out, "--bins", bins, "--range", f"{low:g}:{high:g}")
        expected = np.histogram(a, bins=bins, range=(low, high))[0]
    else:
        edges = np.sort(random_array(np.float32, int(p.rng.integers(2, 50)), p.seed(), few=p.chance()))
        edges = edges.astype(np.float64) if p.dtype.itemsize == 8 else edges
        p.run("histogram", p.write(a), "-o", out, "--edges", p.write(edges))
        expected = np.histogram(a, bins=edges)[0]
    return np.load(out), expected.astype(np.uint32)


def wide(p, a):
    """What sums and products are computed in."""
    return a.astype(WORDS["f"]) if is_float(p.dtype) and p.dtype.itemsize < 4 else a


def scan(p):
    operators = OPERATORS if is_float(p.dtype) else OPERATORS | BITWISE
    op = str(p.rng.choice(list(operators)))
    a = p.numbers(p.shape())
    axis, exclusive, reverse = a.ndim - 1 if p.chance(0.3) else 0, op == "add" and p.chance(), p.chance(0.3)
    whole = np.flip(wide(p, a), axis) if reverse else wide(p, a)
    with np.errstate(all="ignore"):
        expected = operators[op].accumulate(whole, axis=axis, dtype=whole.dtype)
        if exclusive:
            expected = expected - whole
    expected = np.flip(expected, axis) if reverse else expected
    options = ["--axis", 1] * (axis == 1) + ["--exclusive"] * exclusive + ["--reverse"] * reverse
    out = p.output()
    p.run("scan", p.write(a), "-o", out, "--op", op, *options)
    # Sums of nothing but -0 are +0.
    return load(out, p.dtype) + p.dtype.type(0), expected.astype(p.dtype) + p.dtype.type(0)


def reduce(p):
    operators = OPERATORS if is_float(p.dtype) else OPERATORS | BITWISE
    op = str(p.rng.choice([*operators, "argmin", "argmax"]))
    a = p.numbers(p.shape())
    axis = a.ndim - 1 if p.chance(0.3) else 0
    a = a if a.size else p.numbers((3,))
    options = ["--axis", 1] * (axis == 1)
    out = p.output()
    p.run("reduce", p.write(a), "-o", out, "--op", op, *options)
    got = load(out, np.uint32 if op.startswith("arg") else p.dtype)
    if op.startswith("arg"):
        expected = getattr(comparable(a), op)(axis=axis)
    else:
        whole = wide(p, a)
        with np.errstate(all="ignore"):
            expected = operators[op].reduce(whole, axis=axis, dtype=whole.dtype).astype(p.dtype)
    got, expected = np.ravel(got), np.ravel(expected)
    if op.startswith("arg"):
        return got, expected.astype(np.uint32)
    return got + p.dtype.type(0), expected + p.dtype.type(0)


COMMANDS_OF = [sort, topk, unique, histogram, scan, reduce, sort_by]


@pytest.fixture(params=[*(dtype.__name__ for dtype in TYPES), "bfloat16"])
def dtype(request):
    name = request.param
    return np.dtype(pytest.importorskip("ml_dtypes").bfloat16 if name == "bfloat16" else name)


@pytest.mark.parametrize("seed", range(COMMANDS))
def test_random_command(dtype, seed, tmp_path):
    rng = np.random.default_rng([seed, *dtype.name.encode()])
    program = Program(tmp_path, rng, dtype)
    command = COMMANDS_OF[seed % len(COMMANDS_OF)]
    try:
        got, expected = command(program)
        assert_same(as_bits(got), as_bits(expected))
    except (AssertionError, subprocess.CalledProcessError) as error:
        text = str(getattr(error, "stderr", None) or error)
        if "shaderFloat64" in text:
            pytest.skip("the device has no float64")
        pytest.fail(f"subsweep {shlex.join(program.line)}: {text}")


def as_bits(a):
    return a.view(np.uint16) if a.dtype.name == "bfloat16" else a
