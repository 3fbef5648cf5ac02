import numpy as np
import pytest
from conftest import assert_same

import subsweep

DTYPE = np.dtype([("a", "<i2"), ("b", "<f4"), ("c", "|u1"), ("d", "<u4"), ("rest", "S9")], align=True)


def structures(count, dtype=DTYPE):
    rng = np.random.default_rng(count)
    a = np.zeros(count, dtype)
    for name in dtype.names:
        if dtype[name].kind in "iufb":
            a[name] = rng.integers(-3, 4, count).astype(dtype[name])
        else:
            a[name] = np.arange(count).astype(dtype[name])
    if "b" in dtype.names and count > 20:
        a["b"][::7], a["b"][1::11], a["b"][2::13] = np.nan, -0.0, np.inf
    return a


def assert_same_fields(got, expected):
    # numpy does not move padding.
    assert got.dtype == expected.dtype
    for name in got.dtype.names:
        field, other = (np.ascontiguousarray(a[name]).reshape(-1).view(np.uint8) for a in (got, expected))
        assert_same(field, other)


@pytest.mark.parametrize("count", [0, 1, 2, 1000, 20_000])
@pytest.mark.parametrize("by", [["a"], ["b", "a"], ["c", "d", "b", "a"], "d"])
def test_fields_in_the_order_of_lexsort(count, by):
    a = structures(count)
    order = np.lexsort([a[name] for name in reversed([by] if isinstance(by, str) else by)])
    assert_same(subsweep.argsort(a, by=by), order)
    assert_same_fields(subsweep.sort(a, by=by), a[order])


@pytest.mark.parametrize("count", [1, 1000, 20_000])
def test_all_fields_in_the_order_of_numpy(count):
    a = structures(count, np.dtype([("a", "<i2"), ("b", "<f4"), ("c", "|u1"), ("d", "<u4")], align=True))
    expected = np.sort(a, order=["a", "b", "c", "d"], kind="stable")
    for by in (None, ["a", "b", "c", "d"]):
        got = subsweep.sort(a, by=by)
        for name in a.dtype.names:
            assert_same(got[name], expected[name])


def test_directions():
    a = structures(1000)
    order = np.lexsort([-a["d"].astype(np.int64), a["a"]])
    assert_same(subsweep.argsort(a, by=["a", "-d"]), order)
    # Of numpy's descending orders of all that is equal, the one that is stable.
    backwards = len(a) - 1 - np.lexsort([a["d"][::-1], a["a"][::-1]])[::-1]
    assert_same(subsweep.argsort(a, by=["a", "d"], descending=True), backwards)
    assert_same(subsweep.argsort(a, by=["-a", "-d"]), backwards)


def test_wide_integers_and_nested_fields():
    rng = np.random.default_rng(5)
    pair = np.dtype([("low", "<u8"), ("high", "<i8")])
    a = rng.integers(-(2**63), 2**63 - 1, 4000).view(pair)
    a["high"] //= 2**60
    nested = np.dtype([("n", pair), ("i", "<u4")])
    b = np.zeros(len(a), nested)
    b["n"], b["i"] = a, np.arange(len(a))
    order = np.lexsort([a["low"], a["high"]])
    assert_same(subsweep.argsort(a, by=["high", "low"]), order)
    assert_same_fields(subsweep.sort(b, by=["n.high", "n.low"]), b[order])


def test_total_order_and_the_input_is_unchanged():
    a = np.zeros(5, [("x", "<f8")])
    a["x"] = [0.0, -0.0, np.nan, -1.0, -np.inf]
    before = a.copy()
    assert_same(subsweep.argsort(a, order="total"), np.array([4, 3, 1, 0, 2]))
    assert_same(subsweep.argsort(a), np.array([4, 3, 0, 1, 2]))
    assert_same_fields(a, before)


def test_refusals():
    a = structures(10)
    for by, words in (("x", "no field 'x': it has a, b"), (["a", "-y"], "no field 'y'")):
        with pytest.raises(ValueError, match=words):
            subsweep.sort(a, by=by)
    with pytest.raises(TypeError, match="'rest' is of .*add one of numbers"):
        subsweep.sort(a, by="rest")
    with pytest.raises(TypeError, match="has no fields: leave by out"):
        subsweep.sort(np.arange(3), by="a")
    with pytest.raises(ValueError, match="fields of a key"):
        subsweep.sort(a, by=[])
    with pytest.raises(ValueError, match="bytes of a key"):
        subsweep.sort(np.zeros(2, [("a", "<u8"), ("b", "<u8"), ("c", "<u4")]))
    with pytest.raises(ValueError, match="one axis"):
        subsweep.sort(a.reshape(2, 5), by="a")
    with pytest.raises(TypeError, match="byte order"):
        subsweep.sort(np.zeros(2, [("a", ">u4")]))
    with pytest.raises(TypeError, match="objects"):
        subsweep.sort(np.zeros(2, [("a", "<u4"), ("o", "O")]), by="a")
    odd = np.array([(1, 2.5), (0, 1.5)], [("c", "|u1"), ("x", "<f4")])
    with pytest.raises(TypeError, match="align=True"):
        subsweep.sort(odd)
    from numpy.lib import recfunctions

    assert subsweep.sort(recfunctions.repack_fields(odd, align=True)).tolist() == [(0, 1.5), (1, 2.5)]


@pytest.mark.parametrize("fields", [[("c", "|u1"), ("s", "S2")], [("c", "bfloat16")], [("c", "bfloat16"), ("s", "S3")]])
def test_a_remedy_of_bytes_works(fields):
    if fields[0][1] == "bfloat16":
        fields = [("c", pytest.importorskip("ml_dtypes").bfloat16), *fields[1:]]
    a = np.array([(2 - i, "ab")[: len(fields)] for i in range(3)], fields)
    with pytest.raises(TypeError, match="not a multiple of 4: give ") as raised:
        subsweep.sort(a, by="c")
    remedied = eval(str(raised.value).split(": give ")[1], {"a": a, "numpy": np})
    assert subsweep.sort(remedied, by="c").tolist() == a[::-1].tolist()


def test_any_byte_of_a_field_of_bool_but_0_is_true():
    a = np.zeros(3, np.dtype([("inner", [("flag", "?"), ("other", "?")]), ("n", "<u4")], align=True))
    a.view(np.uint8).reshape(3, -1)[:, 0] = [2, 1, 0]
    a["n"] = range(3)
    for by, order in [("inner.flag", [2, 0, 1]), ("-inner.flag", [0, 1, 2]), ("inner.other", [0, 1, 2])]:
        assert subsweep.argsort(a, by=by).tolist() == order
        assert subsweep.sort(a, by=by).tolist() == a[order].tolist()
