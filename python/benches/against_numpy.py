"""Times numpy against subsweep: ``python against_numpy.py [COUNT ...]`` prints a table.

Each time is the least of five after a first call, of random numbers. *a call* copies to the device and back; *Array* leaves
operand and result on the device.
"""

import sys
import time

import numpy as np
import subsweep

OPERATIONS = {
    "sort uint32": (np.uint32, lambda a: np.sort(a, kind="stable"), subsweep.sort),
    "sort float32": (np.float32, lambda a: np.sort(a, kind="stable"), subsweep.sort),
    "sort uint64": (np.uint64, lambda a: np.sort(a, kind="stable"), subsweep.sort),
    "argsort uint32": (np.uint32, lambda a: np.argsort(a, kind="stable"), subsweep.argsort),
    "unique uint32": (np.uint32, np.unique, subsweep.unique),
    "cumsum uint32": (np.uint32, lambda a: np.cumsum(a, dtype=a.dtype), subsweep.cumsum),
    "sum float32": (np.float32, np.sum, subsweep.reduce),
    "select float32": (np.float32, lambda a: a[a > 0.5], lambda a: subsweep.select(a, (">", 0.5))),
    "topk 100 float32": (np.float32, lambda a: np.sort(np.partition(a, -100)[-100:])[::-1], lambda a: subsweep.topk(a, 100)[0]),
    "histogram float32": (np.float32, lambda a: np.histogram(a, 256, (0, 1)), lambda a: subsweep.histogram(a, 256, (0, 1))),
}


def numbers(dtype, count):
    random = np.random.default_rng(1)
    return random.random(count, dtype) if dtype == np.float32 else random.integers(0, np.iinfo(dtype).max, count, dtype)


def milliseconds(call, a):
    result, times = call(a), []
    for _ in range(5):
        begin = time.perf_counter()
        call(a)
        times.append(1e3 * (time.perf_counter() - begin))
    return result, min(times)


def check(got, expected):
    got, expected = (result[0] if isinstance(result, tuple) else result for result in (got, expected))
    # Sums of floats are rounded in another order.
    np.testing.assert_allclose(np.asarray(got).astype(np.float64), np.asarray(expected).astype(np.float64), rtol=1e-4)


def main():
    counts = [int(count) for count in sys.argv[1:]] or [2**16, 2**20, 2**24]
    with subsweep.device(0) as device:
        print(f"numpy {np.__version__}, subsweep {subsweep.__version__} on {device.name} ({device.driver})\n")
        print("| numpy's time over subsweep's: a call, Array (numpy, ms) |", *(f"{count} |" for count in counts))
        print("|---|" + "---|" * len(counts))
        for name, (dtype, by_numpy, by_subsweep) in OPERATIONS.items():
            cells = []
            for count in counts:
                a = numbers(dtype, count)
                expected, base = milliseconds(by_numpy, a)
                got, call = milliseconds(by_subsweep, a)
                check(got, expected)
                _, resident = milliseconds(by_subsweep, subsweep.Array(a))
                cells.append(f"{base / call:.2f}, {base / resident:.2f} ({base:.2f}) |")
            print(f"| {name} |", *cells)


if __name__ == "__main__":
    main()
