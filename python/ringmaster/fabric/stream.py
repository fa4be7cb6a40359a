# SPDX-License-Identifier: Apache-2.0
"""Streams: the circular buffer of one instrument at one rate, addressed by turn number.

The record of turn T lies in slot ``(T / period) & (capacity - 1)``. The writer never waits for a reader, so every read
is checked afterwards, by the C library: include/ringmaster/stream.h has the protocol.
"""

import ipaddress
from collections.abc import Callable, Mapping
from functools import cached_property
from time import monotonic, sleep
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ringmaster.errors import ObjectNotFound, WorkspaceDamaged
from ringmaster.fabric import layout
from ringmaster.fabric._library import ffi, lib
from ringmaster.fabric.calibration import Calibration
from ringmaster.fabric.layout import Calibrated, InstrumentKind, LaneType
from ringmaster.fabric.memory import Place, Words, structure, text
from ringmaster.fabric.segment import ObjectInfo, Segment
from ringmaster.fabric.window import View, Window

_WORDS = layout.RECORD_BYTES // 8
POLL_S = 50e-6
"""How often ``wait`` looks."""


class Lane(NamedTuple):
    """What one 32-bit value of a record is."""

    name: str
    unit: str
    """Of the number as stored: "nm"."""
    type: LaneType


def delay_turns(kind: InstrumentKind, group_delay_turns: float, closing_delay_turns: float) -> float:
    """From what a record is of to its turn. A filter's records have the turn of its centre."""
    return group_delay_turns - closing_delay_turns if kind == InstrumentKind.APPLICATION else 0.0


FindCalibration = Callable[[str], Calibration | None]
"""By the name of the instrument."""


class Stream:
    """One stream. Valid as long as it is referenced, even after its workspace is closed."""

    def __init__(self, segment: Segment, info: ObjectInfo, find_calibration: FindCalibration = lambda _: None) -> None:
        header = structure(segment.memory, layout.STREAM, info.offset)[0]
        self.name = info.name.removeprefix("stream/")
        """ "bpm01/turn": the instrument and the rate."""
        self.instrument, _, self.rate = self.name.rpartition("/")
        self.period = int(header["period"])
        """Turns from one record to the next: 1, 12, 120."""
        self.capacity = int(header["capacity"])
        """Records that the ring holds, a power of two."""
        self.margin = int(header["margin"])
        """Records that the writer may be ahead of the published head."""
        self.instrument_kind = InstrumentKind(header["instrument_kind"])
        self.instrument_id = int(header["instrument_id"])
        """As in the datagram."""
        self.source = str(ipaddress.IPv4Address(int(header["source_ipv4"])))
        """Address of the sender, "10.0.0.1"."""
        self.group_delay_turns = float(header["group_delay_turns"])
        """Of the filter or window: from what a record is of to its last input."""
        self.closing_delay_turns = float(header["closing_delay_turns"])
        """Turns from a record's turn to the arrival of its last input."""
        self.delay_turns = delay_turns(self.instrument_kind, self.group_delay_turns, self.closing_delay_turns)
        """From what a record is of to its turn: 0 of instruments, half a window of a tune."""
        self.gain = float(header["gain"])
        """Of the filter at 0 Hz."""
        self.filter = text(header["filter"])
        """ "none", "low_latency", "sharp"; or "on-change", where a turn without a record has lost nothing."""
        self.lanes = tuple(
            Lane(text(lane["name"]), text(lane["unit"]), LaneType(lane["type"]))
            for lane in header["lane"][: int(header["lane_count"])]
        )
        self.calibrated = Calibrated(header["calibrated"])
        """Whether the lanes are in physical units: not at all, in reading (``physical=True``), or in the stream."""
        self.calibration = None if self.calibrated == Calibrated.NOT else find_calibration(self.instrument)
        """What is used, or was, to convert the lanes."""
        self.described = header.tobytes()
        """The head as it lies in shared memory. What is written per burst was so when the stream was attached."""
        self._live = Words(segment.memory, layout.STREAM, info.offset)
        slots_offset = int(header["slots_offset"])
        self._slots = self._map_slots(segment, info, slots_offset)
        self._header = Place("rm_stream", layout.STREAM, segment.memory, info.offset)
        self.c_view = ffi.new(
            "struct rm_stream_view *",
            {
                "header": self._header.pointer,
                "slot": ffi.cast("struct rm_slot const *", self._slots.ctypes.data),
                "mask": self.capacity - 1,
                "period": self.period,
            },
        )
        """For functions of the C library: its struct rm_stream_view."""

    def _map_slots(self, segment: Segment, info: ObjectInfo, slots_offset: int) -> npt.NDArray[np.uint64]:
        whole = slots_offset + self.capacity * layout.RECORD_BYTES
        if (
            slots_offset % layout.RECORD_BYTES
            or self.period < 1
            or self.capacity < 1
            or self.capacity & (self.capacity - 1)
            or whole > info.size
        ):
            raise WorkspaceDamaged(f"{segment.path}: stream {self.name!r} contradicts itself; start the server anew")
        slots = np.frombuffer(segment.memory, "<u8", self.capacity * 8, info.offset + slots_offset)
        return slots.reshape(self.capacity, 8)

    def __repr__(self) -> str:
        return f"<stream {self.name}: every {self.period} turns, head {self.head}>"

    @cached_property
    def record_type(self) -> np.dtype[np.void]:
        """One record of 64 bytes: turn u8, tag u8, then the lanes by name, i4 or f4."""
        used = [(lane, 4 * i) for i, lane in enumerate(self.lanes) if lane.type != LaneType.UNUSED]
        return np.dtype(
            {
                "names": ["turn", "tag", *(lane.name for lane, _ in used)],
                "formats": ["<u8", "<u8", *(layout.LANE_FORMATS[lane.type] for lane, _ in used)],
                "offsets": [0, 8, *(layout.LANES_OFFSET + offset for _, offset in used)],
                "itemsize": layout.RECORD_BYTES,
            }
        )

    @property
    def head(self) -> int | None:
        """Newest published turn, or None while nothing has arrived."""
        return _turn(self._live("head"))

    @property
    def first(self) -> int | None:
        """Oldest turn of this turn-counter epoch, or None while nothing has arrived."""
        return _turn(self._live("first"))

    @property
    def turn_epoch(self) -> int:
        """Goes up when the turn counter of the machine restarts."""
        return self._live("turn_epoch")

    @property
    def published_tsc(self) -> int:
        """TSC ticks of the burst that published ``head``."""
        return self._live("published_tsc")

    def oldest(self, slack: int = 0) -> int | None:
        """Oldest turn that can be read, leaving ``slack`` records of time to do so; None while nothing has arrived."""
        return _turn(lib.rm_stream_oldest(self.c_view, self._live("head"), slack))

    def wait(self, turn: int, timeout: float) -> bool:
        """Waits until ``turn`` is published, at most ``timeout`` seconds; False when the time is over."""
        give_up = monotonic() + timeout
        while (head := self.head) is None or head < turn:
            if monotonic() >= give_up:
                return False
            sleep(POLL_S)
        return True

    @cached_property
    def physical_units(self) -> Mapping[str, str]:
        """The unit of each lane as ``physical()`` gives it."""
        stored = {lane.name: lane.unit for lane in self.lanes}
        if self.calibrated != Calibrated.IN_READING:
            return stored
        calibration = self._reading_calibration()
        return stored | {lane: calibration.unit(lane) for lane in calibration.lanes}

    def _reading_calibration(self) -> Calibration:
        if self.calibration is None:
            raise ObjectNotFound(f"{self.name}: the workspace has no parameter 'calibration/{self.instrument}'")
        return self.calibration

    def physical(self, window: Window) -> Window:
        """A window of this stream with its lanes in ``physical_units``, as f8 where they were converted.

        It is the window itself where the stream is physical already, or not calibrated.
        """
        if self.calibrated != Calibrated.IN_READING:
            return window
        calibration = self._reading_calibration()
        return window.with_lanes(calibration.apply({lane: window[lane] for lane in calibration.lanes}))

    def latest(self, count: int, physical: bool = False) -> Window:
        """The newest ``count`` records; fewer where the stream does not have that many yet."""
        head, oldest = self.head, self.oldest()
        if head is None or oldest is None:
            return self.read(0, 0, physical)
        count = min(count, (head - oldest) // self.period + 1)
        return self.read(head - (count - 1) * self.period, count, physical)

    def read(self, first: int, count: int, physical: bool = False) -> Window:
        """Copies ``count`` records from turn ``first`` on, and checks each: see ``Window.ok``.

        ``first`` is a multiple of ``period``; ``count`` is at most ``capacity``. Never waits, never raises for data
        that is not there: such records are masked, and ``Window.result`` says why. ``physical=True`` gives physical
        units: see ``physical()``.
        """
        window = self._read(first, count)
        return self.physical(window) if physical else window

    def _read(self, first: int, count: int) -> Window:
        self.check(first, count)
        turn = np.uint64(first) + np.arange(count, dtype=np.uint64) * np.uint64(self.period)
        records, result = np.empty((count, _WORDS), np.uint64), np.empty(count, np.uint8)
        look = ffi.new("struct rm_stream_look *")
        lib.rm_stream_read_results(
            self.c_view,
            first,
            count,
            ffi.cast("struct rm_record *", records.ctypes.data),
            ffi.cast("uint8_t *", result.ctypes.data),
            look,
        )
        return Window(
            turn=turn,
            result=result,
            records=records.view(self.record_type)[:, 0],
            turn_epoch=look.turn_epoch,
            published_tsc=look.published_tsc,
            decimated=self.filter not in (layout.NO_FILTER, layout.ON_CHANGE),
        )

    def view(self, first: int, count: int) -> View:
        """The same records in place, without a copy: see View, and its closing ``still_valid()``."""
        pieces = self._pieces(first, count)
        look = ffi.new("struct rm_stream_look *")
        lib.rm_stream_look(self.c_view, look)

        def still_valid() -> bool:
            return bool(lib.rm_stream_still_valid(self.c_view, first, look))

        looks = tuple(piece.view(self.record_type)[:, 0] for piece in pieces)
        return View(first, self.period, looks, still_valid)

    def check(self, first: int, count: int) -> None:
        """Raises ValueError where these cannot be records of the ring."""
        if first < 0 or first % self.period:
            raise ValueError(f"{self.name}: turn {first} is no multiple of the stream's period of {self.period} turns")
        if not 0 <= count <= self.capacity:
            raise ValueError(f"{self.name}: {count} records were asked for; the ring holds {self.capacity}")

    def _pieces(self, first: int, count: int) -> list[npt.NDArray[np.uint64]]:
        """The slots from turn ``first`` on, in one piece or, around the ring's end, in two; shapes (n, 8)."""
        self.check(first, count)
        start = (first // self.period) & (self.capacity - 1)
        here = min(count, self.capacity - start)
        pieces = [self._slots[start : start + here]]
        return pieces if here == count else [*pieces, self._slots[: count - here]]


def _turn(word: int) -> int | None:
    return None if word == layout.TURN_NONE else word
