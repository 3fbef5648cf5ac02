from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

_HostBytes = npt.NDArray[np.uint8]
_Bytes = Union[_HostBytes, Buffer]
_Segments = Optional[npt.NDArray[np.uint32]]

__version__: str

class Error(RuntimeError): ...

def devices() -> List[Dict[str, Any]]: ...

class Buffer:
    def __len__(self) -> int: ...
    @property
    def device(self) -> Device: ...
    @property
    def is_visible(self) -> bool: ...
    @property
    def address(self) -> Optional[int]: ...
    def read(self) -> _HostBytes: ...

class Device:
    def __new__(cls, selector: Optional[str]) -> Device: ...
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def driver(self) -> str: ...
    @property
    def uuid(self) -> str: ...
    def allocate(self, bytes: _HostBytes, size: int) -> Buffer: ...
    def sort(
        self,
        keys: _Bytes,
        element: str,
        values: Optional[_Bytes],
        value_size: int,
        descending: bool,
        order: str,
        row_length: Optional[int],
        segments: _Segments,
        ends: _Segments,
    ) -> Tuple[_Bytes, _Bytes]: ...
    def argsort(
        self,
        keys: _Bytes,
        element: str,
        descending: bool,
        order: str,
        row_length: Optional[int],
        segments: _Segments,
        ends: _Segments,
    ) -> _Bytes: ...
    def sort_structures(
        self, structures: _Bytes, structure_size: int, fields: List[Tuple[str, int, bool]], order: str
    ) -> _Bytes: ...
    def argsort_structures(
        self, structures: _Bytes, structure_size: int, fields: List[Tuple[str, int, bool]], order: str
    ) -> _Bytes: ...
    def scan(
        self,
        numbers: _Bytes,
        element: str,
        operator: str,
        unpacked: bool,
        exclusive: bool,
        reverse: bool,
        monotone: bool,
        columns: int,
        row_length: Optional[int],
        segments: _Segments,
        initial: Optional[_HostBytes],
    ) -> _Bytes: ...
    def reduce(
        self,
        numbers: _Bytes,
        element: str,
        operator: str,
        unpacked: bool,
        columns: int,
        row_length: Optional[int],
        segments: _Segments,
        ends: _Segments,
    ) -> _Bytes: ...
    def reduce_by_key(
        self,
        keys: _Bytes,
        key_element: str,
        numbers: _Bytes,
        element: str,
        operator: str,
        columns: int,
        order: str,
    ) -> Tuple[_Bytes, _Bytes]: ...
    def select_flagged(
        self, numbers: _Bytes, row_size: int, flags: npt.NDArray[np.uint8], partition: bool, indices: bool
    ) -> Tuple[_Bytes, _Bytes, int]: ...
    def select_compared(
        self, numbers: _Bytes, element: str, comparison: str, operands: _HostBytes, partition: bool, indices: bool
    ) -> Tuple[_Bytes, _Bytes, int]: ...
    def unique(self, numbers: _Bytes, element: str, order: str) -> _Bytes: ...
    def runs(self, numbers: _Bytes, element: str, order: str) -> Tuple[_Bytes, _Bytes, _Bytes]: ...
    def histogram(
        self, numbers: _Bytes, element: str, edges: npt.NDArray[np.float64], even: bool, weights: Optional[npt.NDArray[np.uint32]]
    ) -> npt.NDArray[np.uint32]: ...
    def top_k(
        self,
        numbers: _Bytes,
        element: str,
        columns: int,
        k: int,
        largest: bool,
        order: str,
        sorted: bool,
        segments: _Segments,
        ks: _Segments,
    ) -> Tuple[_Bytes, _Bytes]: ...
    def search(
        self,
        sorted: _Bytes,
        needles: _Bytes,
        element: str,
        order: str,
        upper: bool,
        lengths: Optional[Tuple[int, int]],
    ) -> _Bytes: ...
    def merge(
        self,
        a: _Bytes,
        b: _Bytes,
        element: str,
        a_values: Optional[_Bytes],
        b_values: Optional[_Bytes],
        value_size: int,
        descending: bool,
        order: str,
    ) -> Tuple[_Bytes, _Bytes]: ...
    def difference(self, numbers: _Bytes, element: str, columns: int, along_rows: bool) -> _Bytes: ...
    def gather(self, numbers: _Bytes, row_size: int, indices: _Bytes) -> _Bytes: ...
    def sort_stream(
        self,
        next: Callable[[], Optional[_HostBytes]],
        write: Callable[[npt.NDArray[np.uint8]], None],
        element: str,
        descending: bool,
        order: str,
        memory: Optional[int],
    ) -> None: ...
    def scan_stream(
        self,
        next: Callable[[], Optional[_HostBytes]],
        write: Callable[[npt.NDArray[np.uint8]], None],
        element: str,
        operator: str,
        exclusive: bool,
        monotone: bool,
        initial: Optional[_HostBytes],
    ) -> None: ...
