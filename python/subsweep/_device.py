"""Devices: the list of them, and the one in use."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import threading
from contextvars import ContextVar
from typing import Dict, Iterator, List, Optional, Tuple, Union

from . import _subsweep


@dataclasses.dataclass(frozen=True)
class DeviceInfo:
    """A Vulkan device of this computer."""

    #: Position in the list, the best device first.
    index: int
    #: Name, as the driver reports it.
    name: str
    #: One of discrete, integrated, virtual, cpu and other.
    kind: str
    #: Driver and its version.
    driver: str
    #: UUID of the device, in hexadecimal digits.
    uuid: str
    #: Lanes of a subgroup.
    lanes: int
    #: Bytes of the largest heap.
    memory: int
    #: The reason why it cannot be used; None if it can.
    problem: Optional[str]


_chosen: ContextVar[Optional[str]] = ContextVar("subsweep.device", default=None)
_opened: Dict[Optional[str], _subsweep.Device] = {}
#: The handler of a signal may open a device while another one is opened.
_lock = threading.RLock()


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()
    for opened in _opened.values():
        # The threads of the parent's devices are gone, so that to close one could wait forever: it is never closed.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(opened))
    _opened.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def current() -> _subsweep.Device:
    """Return the device in use, opened on first use."""
    selector = _chosen.get()
    if selector is None:
        selector = os.environ.get("SUBSWEEP_DEVICE") or None
    return _open(selector)


def _open(selector: Optional[str]) -> _subsweep.Device:
    with _lock:
        if selector not in _opened:
            opened = _subsweep.Device(selector)
            # A device has one name here, so that arrays of two selectors may meet.
            same = [one for one in _opened.values() if _identity(one) == _identity(opened)]
            _opened[selector] = same[0] if same else opened
        return _opened[selector]


def _identity(device: _subsweep.Device) -> Tuple[str, str, str]:
    return device.uuid, device.name, device.driver


def devices() -> List[DeviceInfo]:
    """List the Vulkan devices, the best one first.

    Returns
    -------
    list of DeviceInfo
        `problem` is the reason why a device cannot be used. Without a driver it is an `Error` that says so.

    Examples
    --------
    >>> import subsweep
    >>> [device.index for device in subsweep.devices()][:1]
    [0]
    """
    return [DeviceInfo(**device) for device in _subsweep.devices()]


@contextlib.contextmanager
def device(selector: Union[int, str, _subsweep.Device]) -> Iterator[_subsweep.Device]:
    """Use another device within a ``with`` block.

    Without one, the environment variable ``SUBSWEEP_DEVICE`` names the device, else it is the best one, opened on first use.
    A device stays open until the process ends. The choice is a context variable: threads that begin within the block do not
    inherit it.

    Parameters
    ----------
    selector : int, str or Device
        Index in `devices`, part of a name, ``uuid:…`` or ``driver:…``; or a device, such as the device of an `Array`.

    Yields
    ------
    Device
        The opened device, with `name`, `kind`, `driver` and `uuid`.

    Examples
    --------
    >>> import subsweep
    >>> with subsweep.device(0):
    ...     subsweep.sort([3, 1, 2])
    array([1, 2, 3])
    """
    if not isinstance(selector, (int, str, _subsweep.Device)) or isinstance(selector, bool):
        raise TypeError(f"selector is {selector!r}: give an index, a name, or a device")
    selector = f"uuid:{selector.uuid}" if isinstance(selector, _subsweep.Device) else str(selector)
    opened = _open(selector)
    token = _chosen.set(selector)
    try:
        yield opened
    finally:
        _chosen.reset(token)
