from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

_HostWords = npt.NDArray[np.uint32]
_Words = Union[_HostWords, Buffer]

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
    def read(self) -> _HostWords: ...

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
    def allocate(self, words: _HostWords, len: int) -> Buffer: ...
    def sort(
        self,
        keys: _Words,
        element: str,
        values: Optional[_Words],
        value_size: int,
        descending: bool,
        order: str,
        segments: Optional[_HostWords],
    ) -> Tuple[_Words, _Words]: ...
    def argsort(
        self, keys: _Words, element: str, descending: bool, order: str, segments: Optional[_HostWords]
    ) -> _Words: ...
    def scan(
        self,
        words: _Words,
        element: str,
        operator: str,
        exclusive: bool,
        reverse: bool,
        columns: int,
        row_length: Optional[int],
        segments: Optional[_Words],
        initial: Optional[_HostWords],
    ) -> _Words: ...
    def reduce(
        self,
        words: _Words,
        element: str,
        operator: str,
        columns: int,
        row_length: Optional[int],
        segments: Optional[_Words],
    ) -> _Words: ...
    def select_flagged(
        self, words: _Words, words_per_row: int, flags: npt.NDArray[np.uint8], partition: bool, indices: bool
    ) -> Tuple[_Words, _Words, int]: ...
    def select_compared(
        self, words: _Words, element: str, comparison: str, operands: _HostWords, partition: bool, indices: bool
    ) -> Tuple[_Words, _Words, int]: ...
    def unique(self, words: _Words, element: str, order: str) -> _Words: ...
    def runs(self, words: _Words, element: str, order: str) -> Tuple[_Words, _Words, _Words]: ...
    def histogram(self, words: _Words, element: str, edges: npt.NDArray[np.float64], even: bool) -> _HostWords: ...
    def top_k(
        self, words: _Words, element: str, columns: int, k: int, largest: bool, order: str, sorted: bool
    ) -> Tuple[_Words, _Words]: ...
    def search(self, sorted: _Words, needles: _Words, element: str, order: str, upper: bool) -> _Words: ...
    def merge(self, a: _Words, b: _Words, element: str, order: str) -> _Words: ...
    def difference(self, words: _Words, element: str, columns: int, along_rows: bool) -> _Words: ...
    def gather(self, words: _Words, words_per_row: int, indices: _Words) -> _Words: ...
    def sort_stream(
        self,
        next: Callable[[], Optional[_HostWords]],
        write: Callable[[npt.NDArray[np.uint8]], None],
        element: str,
        descending: bool,
        order: str,
        memory: Optional[int],
    ) -> None: ...
    def scan_stream(
        self,
        next: Callable[[], Optional[_HostWords]],
        write: Callable[[npt.NDArray[np.uint8]], None],
        element: str,
        operator: str,
        exclusive: bool,
        initial: Optional[_HostWords],
    ) -> None: ...
