"""Devices, threads, interrupts and processes."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import assert_same, random_array

import subsweep


def test_devices():
    devices = subsweep.devices()
    assert devices[0].index == 0 and devices[0].problem is None and devices[0].lanes > 0 and devices[0].memory > 0
    name = devices[0].name
    for selector in (0, "0", name, name[:5].upper(), f"uuid:{devices[0].uuid}", f"driver:{devices[0].driver[:4]}"):
        with subsweep.device(selector) as device:
            assert name in repr(device)
            assert device.name == name and device.uuid == devices[0].uuid
            assert_same(subsweep.sort([2, 1]), np.array([1, 2]))


def test_a_device_is_chosen_for_a_block():
    chosen, name = subsweep._device._chosen, subsweep.devices()[0].name
    with subsweep.device(0) as outer:
        with subsweep.device(name) as inner:
            # One device has one name, whatever selects it.
            assert chosen.get() == name and subsweep._device.current() is inner is outer
        assert chosen.get() == "0"
    assert chosen.get() is None


@pytest.mark.parametrize("selector", ["no such device", 99, "", "uuid:"])
def test_an_unknown_device(selector):
    with pytest.raises(subsweep.Error, match="found: 0"):
        with subsweep.device(selector):
            pass
    assert issubclass(subsweep.Error, RuntimeError)


def run(code, **environment):
    environment = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)


def test_the_device_of_the_environment():
    code = "import subsweep; print(subsweep.sort([2, 1]))"
    assert run(code, SUBSWEEP_DEVICE="0").stdout == "[1 2]\n"
    assert run(code, SUBSWEEP_DEVICE="").stdout == "[1 2]\n"
    assert "no Vulkan device matches 'nowhere'" in run(code, SUBSWEEP_DEVICE="nowhere").stderr


def test_no_driver():
    code = "import subsweep; print(subsweep.devices()); subsweep.sort([2, 1])"
    ended = run(code, VK_DRIVER_FILES="/nowhere.json", VK_ICD_FILENAMES="/nowhere.json")
    assert ended.stderr.splitlines()[-1].startswith("subsweep.Error: no Vulkan device; install a driver")


def test_import_opens_nothing():
    ended = run("import subsweep, sys; print(subsweep.__version__)", VK_DRIVER_FILES="/nowhere.json")
    assert ended.returncode == 0 and ended.stdout


def test_threads():
    arrays = [random_array(np.float32, 50000, seed, special=True) for seed in range(8)]
    results = [None] * len(arrays)

    def work(index):
        for _ in range(5):
            results[index] = subsweep.sort(arrays[index])

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(arrays))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result, array in zip(results, arrays):
        assert_same(result, np.sort(array, kind="stable"))


def test_other_threads_run_during_a_call():
    a = random_array(np.uint32, 2**22)
    subsweep.sort(a[:2])
    gaps, done = [], threading.Event()

    def watch():
        last = time.perf_counter()
        while not done.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    watcher = threading.Thread(target=watch)
    watcher.start()
    begin = time.perf_counter()
    subsweep.sort(a)
    taken = time.perf_counter() - begin
    done.set()
    watcher.join()
    assert max(gaps) < taken / 2, (max(gaps), taken)


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_a_keyboard_interrupt_ends_long_work(request):
    # A job in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    a = random_array(np.uint64, 2**22)
    subsweep.sort(a)
    begin = time.perf_counter()
    expected = subsweep.sort(a)
    whole = time.perf_counter() - begin
    # Without work to interrupt, the signal would come after it.
    timer = threading.Timer(whole / 3, lambda: os.kill(os.getpid(), signal.SIGINT))
    begin = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        subsweep.sort(a)
        time.sleep(10)
    taken = time.perf_counter() - begin
    assert taken < 0.9 * whole, (taken, whole)
    # The device goes on.
    assert_same(subsweep.sort(a), expected)


@pytest.mark.skipif(os.name != "posix", reason="takes SIGALRM")
def test_an_exception_of_a_handler_ends_long_work():
    a = random_array(np.uint64, 2**22)

    def raises(*_):
        raise TimeoutError("enough")

    def calls(*_):
        subsweep.sort([2, 1])

    def sort_long():
        begin = time.perf_counter()
        while time.perf_counter() < begin + 10:
            subsweep.sort(a)

    before = signal.getsignal(signal.SIGALRM)
    try:
        for handler, error in ((raises, TimeoutError), (calls, subsweep.Error)):
            signal.signal(signal.SIGALRM, handler)
            # Between two calls the handler may call: then the next signal comes amid one.
            signal.setitimer(signal.ITIMER_REAL, 0.2, 0.3)
            with pytest.raises(error, match="enough|amid a call"):
                sort_long()
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_process_opens_its_own_device():
    code = """
import os, subsweep
assert subsweep.sort([2, 1])[0] == 1
child = os.fork()
if child == 0:
    assert subsweep.sort([4, 3])[0] == 3
    print("child", flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(subsweep.sort([6, 5])[0])
"""
    ended = run(code)
    assert ended.stdout == "child\n5\n", ended.stderr


def test_out_of_memory():
    # More than the memory that lavapipe reports.
    info = subsweep.devices()[0]
    count = info.memory // 8 + 2**20
    if count * 8 > 2**32:
        pytest.skip("the device has more memory than this test would allocate")
    a = np.zeros(count, np.uint64)
    with pytest.raises(MemoryError, match="memory"):
        subsweep.sort(a)
    assert_same(subsweep.sort([2, 1]), np.array([1, 2]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_of_multiprocessing_ends():
    program = """if True:
        import multiprocessing, subsweep
        subsweep.sort([1, 2])
        child = multiprocessing.get_context("fork").Process(target=subsweep.sort, args=([2, 1],))
        child.start()
        child.join()
        assert child.exitcode == 0, child.exitcode
    """
    subprocess.run([sys.executable, "-c", program], timeout=60, check=True)


def test_the_program(tmp_path):
    np.save(tmp_path / "a.npy", np.array([3, 1, 2], np.uint32))
    program = [sys.executable, "-m", "subsweep"]
    subprocess.run([*program, "sort", tmp_path / "a.npy", "-o", tmp_path / "b.npy"], timeout=60, check=True)
    assert_same(np.load(tmp_path / "b.npy"), np.array([1, 2, 3], np.uint32))
    refused = subprocess.run([*program, "sort", tmp_path / "none.npy"], timeout=60, capture_output=True, text=True)
    assert refused.returncode == 2 and "none.npy" in refused.stderr
    # pip has made a command of it.
    script = os.path.join(os.path.dirname(sys.executable), "subsweep")
    assert subprocess.run([script, "--version"], timeout=60, capture_output=True, text=True).stdout.startswith("subsweep ")
