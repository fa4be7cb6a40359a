# SPDX-License-Identifier: Apache-2.0
"""Streams and rows of one's own (``owner``): what a Python program puts there."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ringmaster.fabric import layout
from ringmaster.fabric._library import ffi, lib

if TYPE_CHECKING:
    from ringmaster.fabric.owner import Owner


class OwnedStream:
    """A stream of one's own: a record for each turn."""

    def __init__(self, owner: "Owner", index: int, lanes: int) -> None:
        self._owner = owner
        self._index = index
        self._lanes = lanes

    def put(self, turn: int, values: npt.ArrayLike, tsc: int = 0) -> None:
        """Stores and shows a record: all lanes, its turn (a multiple of the period), and when that is (TSC ticks).

        A turn that is not above the newest begins the stream anew, in another turn-counter epoch.
        """
        if not 0 <= turn < layout.TURN_END:
            raise ValueError(f"turn {turn} is not a turn: expected 0 to 2^62 - 1")
        numbers = np.ascontiguousarray(values, np.float32).ravel()
        if numbers.size != self._lanes:
            raise ValueError(f"a record has {self._lanes} values, not {numbers.size}")
        self._owner._memory(self._index)  # says so, where it is not open
        record = np.zeros(layout.RECORD_BYTES // 4, np.uint32)
        record[:2].view(np.uint64)[0] = turn
        record[4 : 4 + self._lanes] = numbers.view(np.uint32)
        pointer = ffi.cast("struct rm_record *", ffi.from_buffer(record))
        lib.rm_owner_stream_put(self._owner._owner, self._index, pointer, tsc)


@dataclass(frozen=True)
class Axis:
    """What the values of a row are at: value i at ``first + i * step``."""

    width: int
    first: float = 0.0
    step: float = 1.0
    name: str = ""
    unit: str = ""


class OwnedRows:
    """A row ring of one's own: a row for each turn."""

    def __init__(self, owner: "Owner", index: int, width: int) -> None:
        self._owner = owner
        self._index = index
        self._width = width

    def put(self, turn: int, values: npt.ArrayLike, quality: int = 0, tsc: int = 0) -> None:
        """Stores and shows a row, as ``OwnedStream.put`` a record; ``quality`` is 0 where it is to be trusted."""
        if not 0 <= turn < layout.TURN_END:
            raise ValueError(f"turn {turn} is not a turn: expected 0 to 2^62 - 1")
        numbers = np.ascontiguousarray(values, np.float32).ravel()
        if numbers.size != self._width:
            raise ValueError(f"a row has {self._width} values, not {numbers.size}")
        self._owner._memory(self._index)  # says so, where it is not open
        pointer = ffi.cast("float *", numbers.ctypes.data)
        lib.rm_owner_rows_put(self._owner._owner, self._index, turn, quality, pointer, tsc)
