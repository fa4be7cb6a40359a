# SPDX-License-Identifier: Apache-2.0
"""A window: consecutive records of one stream, in private memory and checked, or in place and to be checked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from ringmaster.errors import ObjectNotFound
from ringmaster.fabric import layout

LaneValues = npt.NDArray[np.float32] | npt.NDArray[np.float64] | npt.NDArray[np.int32]


class ReadResult(IntEnum):
    """What became of one record of a window."""

    OK = 0
    NOT_YET = 1
    """Above the head: wait."""
    MISSING = 2
    """Skipped: lost, or late and still to come."""
    LAPPED = 3
    """Too old, or overwritten while it was read."""
    BEFORE = 4
    """Before the first turn of this turn-counter epoch, or the stream is empty."""
    NOT_RECORDED = 5
    """Of an archive: it has no block of this turn. Its marks say why."""
    DAMAGED = 6
    """Of an archive: the block of this turn is damaged."""


@dataclass(frozen=True)
class Window:
    """``count`` records in turn order; record i is of turn ``first + i * period``. Private memory: it never changes.

    ``window["x1"]`` is the lane as it was stored, shape (count,), i4 or f4, in the lane's unit, 0 where ``ok`` is
    false; ``window.values("x1")`` is the same as f8 with NaN there. In a window that was read with ``physical=True``
    calibrated lanes are f8, in the stream's ``physical_units``.
    """

    turn: npt.NDArray[np.uint64]
    """Shape (count,): the turns that were asked for, whether they were had or not."""
    result: npt.NDArray[np.uint8]
    """Shape (count,): a ReadResult for each."""
    records: npt.NDArray[np.void]
    """Shape (count,): structures of turn, tag and the lanes by name; zeros where ``ok`` is false."""
    turn_epoch: int
    """As in the stream; turns of different turn-counter epochs must not be compared."""
    published_tsc: int
    """TSC of the burst that published the stream's head when the window was read."""
    decimated: bool
    """Whether a record stands for several turns."""

    def __len__(self) -> int:
        return len(self.turn)

    @property
    def lanes(self) -> tuple[str, ...]:
        """The names of the lanes."""
        return tuple(name for name in self.records.dtype.names or () if name not in ("turn", "tag"))

    def __getitem__(self, lane: str) -> LaneValues:
        if lane not in (self.records.dtype.names or ()):
            raise ObjectNotFound(f"no lane {lane!r} in this stream; it has: {', '.join(self.lanes)}")
        values: LaneValues = self.records[lane]
        return values

    @property
    def ok(self) -> npt.NDArray[np.bool_]:
        """Shape (count,): which records were had."""
        return np.equal(self.result, ReadResult.OK)

    def values(self, lane: str) -> npt.NDArray[np.float64]:
        """The lane as f8 whatever its type, shape (count,), in the lane's unit, NaN where the record was not had.

        Raises ObjectNotFound, with the names that there are, for a lane that the stream does not have.
        """
        return np.where(self.ok, self[lane].astype(np.float64), np.nan)

    def with_lanes(self, lanes: Mapping[str, npt.NDArray[np.float64]]) -> "Window":
        """The same window with other values in some lanes, as f8, and 0 where ``ok`` is false."""
        formats = {name: self.records.dtype[name] for name in self.records.dtype.names or ()}
        kind = np.dtype([(name, "<f8" if name in lanes else formats[name]) for name in formats])
        records = np.zeros(len(self), kind)
        for name in formats:
            records[name] = np.where(self.ok, lanes[name], 0.0) if name in lanes else self.records[name]
        return replace(self, records=records)

    @property
    def status(self) -> npt.NDArray[np.uint16]:
        """Shape (count,): the instrument's own status bits; of a decimated record the OR of its inputs'."""
        return (self.records["tag"] >> np.uint64(layout.TAG_TSC_BITS)).astype(np.uint16)

    @property
    def missing(self) -> npt.NDArray[np.uint16]:
        """Shape (count,): how many inputs of a decimated record were missing; 0 at full rate."""
        if not self.decimated:
            return np.zeros(len(self), dtype=np.uint16)
        return (self.records["tag"] & np.uint64(0xFFFF)).astype(np.uint16)

    @property
    def tsc(self) -> npt.NDArray[np.uint64]:
        """Shape (count,): TSC ticks at arrival, in steps of 65536 where decimated; 0 where the record was not had.

        The tag holds 48 bits; the others come from ``published_tsc``, which is right within half a day of it.
        """
        mask = np.uint64((1 << layout.TAG_TSC_BITS) - 1)
        tag = self.records["tag"] & ~np.uint64(0xFFFF) if self.decimated else self.records["tag"]
        near = np.uint64(self.published_tsc)
        behind = (near - tag) & mask
        ahead = behind >> np.uint64(layout.TAG_TSC_BITS - 1) != 0
        whole = near - behind + np.where(ahead, mask + np.uint64(1), np.uint64(0))
        return np.where(self.ok, whole, np.uint64(0))


@dataclass(frozen=True)
class View:
    """Records in place, without a copy: read-only looks into the ring itself, which its writer may overwrite any time.

    The ring's end may lie inside the window, so there are one or two ``pieces``, in turn order. Work on them, then ask
    ``still_valid()``, and throw the result away when it says no::

        view = stream.view(first, 8192)
        total = sum(float(piece["x1"].sum()) for piece in view.pieces)
        if not view.still_valid():
            ...
    """

    first: int
    """Turn of the first record."""
    period: int
    """Turns from one record to the next."""
    pieces: tuple[npt.NDArray[np.void], ...]
    """One or two arrays of structures: turn u8, tag u8, the lanes by name, i4 or f4."""
    still_valid: Callable[[], bool]
    """True while no slot of the view can have been overwritten since ``view()`` was called, in the same turn-counter
    epoch. A late record may still have come into a slot that held none: take ``ok`` before the lanes."""

    def __len__(self) -> int:
        return sum(len(piece) for piece in self.pieces)

    @property
    def turn(self) -> npt.NDArray[np.uint64]:
        """Shape (count,): the turns that belong here."""
        return np.uint64(self.first) + np.arange(len(self), dtype=np.uint64) * np.uint64(self.period)

    @property
    def ok(self) -> npt.NDArray[np.bool_]:
        """Shape (count,): which slots hold the record of their turn, now; a slot of a lost turn does not."""
        found = np.concatenate([piece["turn"] for piece in self.pieces]) if self.pieces else np.empty(0, np.uint64)
        return np.equal(found, self.turn)
