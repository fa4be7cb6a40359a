# SPDX-License-Identifier: Apache-2.0
"""Row rings: rows of many values, each under its turn, such as the spectra of a spectrogram.

A row ring is a stream with a row of f32 beside each slot: include/ringmaster/rows.h has the protocol. The C library
reads it.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ringmaster.errors import WorkspaceDamaged
from ringmaster.fabric import layout
from ringmaster.fabric._library import ffi, lib
from ringmaster.fabric.memory import Place, structure, text
from ringmaster.fabric.segment import ObjectInfo, Segment
from ringmaster.fabric.stream import Stream
from ringmaster.fabric.window import ReadResult

_WORDS = layout.RECORD_BYTES // 4
_QUALITY_WORD = (layout.LANES_OFFSET + 4 * layout.RowsLane.QUALITY) // 4


@dataclass(frozen=True)
class RowWindow:
    """``count`` rows in turn order, in private memory: row i is of turn ``first + i * period``."""

    turn: npt.NDArray[np.uint64]
    """Shape (count,): the turns that were asked for, whether they were had or not."""
    result: npt.NDArray[np.uint8]
    """Shape (count,): a ReadResult for each."""
    quality: npt.NDArray[np.int32]
    """Shape (count,): 0 where the row is to be trusted, else bits that its writer documents; 0 where there is none."""
    values: npt.NDArray[np.float32]
    """Shape (count, width), in the ring's unit; NaN where ``ok`` is false."""
    turn_epoch: int
    """As in the stream; turns of different turn-counter epochs must not be compared."""
    published_tsc: int
    """TSC when the newest row was published."""

    def __len__(self) -> int:
        return len(self.turn)

    @property
    def ok(self) -> npt.NDArray[np.bool_]:
        """Shape (count,): which rows were had."""
        return np.equal(self.result, ReadResult.OK)

    @property
    def good(self) -> npt.NDArray[np.bool_]:
        """Shape (count,): which rows were had and are to be trusted."""
        good: npt.NDArray[np.bool_] = self.ok & (self.quality == 0)
        return good


class Rows:
    """One row ring. Valid as long as it is referenced, even after its workspace is closed."""

    def __init__(self, segment: Segment, info: ObjectInfo) -> None:
        header = structure(segment.memory, layout.ROWS, info.offset)[0]
        self.name = info.name.removeprefix("rows/")
        """ "tune/spectrum_x"."""
        self.unit = info.unit
        """Of the values."""
        self.description = info.description
        self.width = int(header["width"])
        """Values of a row."""
        self.axis_name = text(header["axis_name"])
        """What the axis is: "tune"."""
        self.axis_unit = text(header["axis_unit"])
        """ "1/turn"."""
        inside = layout.member_offset(layout.ROWS, "stream")
        self.stream = Stream(
            segment, replace(info, name=self.name, offset=info.offset + inside, size=info.size - inside)
        )
        """Head, first turn, turn-counter epoch and records of the rows, as of every stream."""
        self._values = self._map_values(segment, info, int(header["values_offset"]), int(header["row_bytes"]))
        first, step = float(header["axis_first"]), float(header["axis_step"])
        self.axis: npt.NDArray[np.float64] = first + step * np.arange(self.width, dtype=np.float64)
        """Shape (width,): what each value of a row is at, in ``axis_unit``."""
        self._header = Place("rm_rows", layout.ROWS, segment.memory, info.offset)
        self._view = ffi.new(
            "struct rm_rows_view *",
            {
                "header": self._header.pointer,
                "stream": self.stream.c_view[0],
                "values": ffi.cast("void const *", self._values.ctypes.data),
                "width": self.width,
                "row_bytes": int(header["row_bytes"]),
            },
        )

    def _map_values(self, segment: Segment, info: ObjectInfo, offset: int, row_bytes: int) -> npt.NDArray[np.uint8]:
        size = self.stream.capacity * row_bytes
        line = layout.RECORD_BYTES
        if offset % line or row_bytes % line or not 1 <= self.width <= row_bytes // 4 or offset + size > info.size:
            raise WorkspaceDamaged(f"{segment.path}: rows {self.name!r} contradict themselves; start the owner anew")
        return np.frombuffer(segment.memory, np.uint8, size, info.offset + offset)

    def __repr__(self) -> str:
        return f"<rows {self.name}: {self.width} values every {self.period} turns, head {self.head}>"

    @property
    def period(self) -> int:
        """Turns from one row to the next."""
        return self.stream.period

    @property
    def capacity(self) -> int:
        """Rows that the ring holds. All but the oldest can be read."""
        return self.stream.capacity

    @property
    def head(self) -> int | None:
        """Turn of the newest row, or None while there is none."""
        return self.stream.head

    def latest(self, count: int) -> RowWindow:
        """The newest ``count`` rows; fewer where the ring does not have that many yet."""
        head, oldest = self.stream.head, self.stream.oldest()
        if head is None or oldest is None:
            return self.read(0, 0)
        count = min(count, (head - oldest) // self.period + 1)
        return self.read(head - (count - 1) * self.period, count)

    def read(self, first: int, count: int) -> RowWindow:
        """Copies ``count`` rows from turn ``first`` on, a multiple of the period, and checks each.

        Never waits, never raises for rows that are not there: these are NaN, and ``RowWindow.result`` says why.
        """
        self.stream.check(first, count)
        turn = np.uint64(first) + np.arange(count, dtype=np.uint64) * np.uint64(self.period)
        records, result = np.empty((count, _WORDS), np.int32), np.empty(count, np.uint8)
        values = np.empty((count, self.width), np.float32)
        look = ffi.new("struct rm_stream_look *")
        lib.rm_rows_read_results(
            self._view,
            first,
            count,
            ffi.cast("struct rm_record *", records.ctypes.data),
            ffi.cast("uint8_t *", result.ctypes.data),
            ffi.cast("float *", values.ctypes.data),
            look,
        )
        return RowWindow(turn, result, records[:, _QUALITY_WORD], values, look.turn_epoch, look.published_tsc)
