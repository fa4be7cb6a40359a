# SPDX-License-Identifier: Apache-2.0
"""Streams and reductions of an archive piece by piece, for what is longer than memory."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ringmaster.archive.stored import Range
from ringmaster.archive.stream import StoredReduction, StoredStream
from ringmaster.archive.times import Edge
from ringmaster.archive.window import ArchiveWindow, ReducedWindow
from ringmaster.fabric.calibration import Calibration
from ringmaster.fabric.layout import Calibrated, InstrumentKind, LaneType
from ringmaster.fabric.stream import Lane

PIECE_RECORDS = 1 << 17
STATISTICS = ("min", "mean", "max", "std")


def split(ranges: list[Range], records: int = PIECE_RECORDS, period: int = 1) -> Iterator[Range]:
    """The same turns in ranges of at most so many records."""
    for one in ranges:
        for at in range(0, one.records, records):
            yield Range(one.run, one.first_turn + at * period, min(records, one.records - at))


@dataclass(frozen=True)
class Piecewise:
    """A stream or a reduction over a span, as something that is written piece by piece: see Exported."""

    source: StoredStream | StoredReduction
    ranges: list[Range]

    @classmethod
    def of(cls, source: StoredStream | StoredReduction, start: Edge, stop: Edge) -> "Piecewise":
        """Over [start, stop)."""
        return cls(source, source.ranges(start, stop))

    @property
    def name(self) -> str:
        """The stream's, "bpm01/turn"; of a reduction "bpm01/turn_per_1000"."""
        reduced = isinstance(self.source, StoredReduction)
        return f"{self.source.name}_per_{self.source.period}" if reduced else self.source.name

    @property
    def records(self) -> int:
        """All of them."""
        return sum(one.records for one in self.ranges)

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """Of a reduction four of each lane: x1_min, x1_mean, x1_max, x1_std."""
        if isinstance(self.source, StoredStream):
            return tuple(lane for lane in self.source.lanes if lane.type != LaneType.UNUSED)
        return tuple(
            Lane(f"{lane.name}_{statistic}", lane.unit, LaneType.F32)
            for lane in self.source.lanes
            for statistic in STATISTICS
        )

    @property
    def period(self) -> int:
        """Turns from one record or step to the next."""
        return self.source.period

    @property
    def instrument_kind(self) -> InstrumentKind:
        """What the instrument is."""
        return self.source.instrument_kind

    @property
    def filter(self) -> str:
        """Of the decimation."""
        return self.source.filter

    @property
    def calibrated(self) -> Calibrated:
        """Whether the lanes are in physical units. Minima and maxima are of what was stored."""
        return self.source.calibrated if isinstance(self.source, StoredStream) else Calibrated.NOT

    @property
    def calibration(self) -> Calibration | None:
        """What converts the lanes, of a stream."""
        return self.source.calibration if isinstance(self.source, StoredStream) else None

    def windows(self, records: int = PIECE_RECORDS) -> Iterator[ArchiveWindow]:
        """In the order in which they were recorded."""
        for one in split(self.ranges, records, self.period):
            if isinstance(self.source, StoredStream):
                yield self.source.read_window([one])
            else:
                yield _as_records(self.source.read_window([one]), self.lanes)


def _as_records(window: ReducedWindow, lanes: tuple[Lane, ...]) -> ArchiveWindow:
    """Steps as records of four lanes for each."""
    records = np.zeros(len(window), [("turn", "<u8"), ("tag", "<u8"), *((lane.name, "<f4") for lane in lanes)])
    records["turn"] = window.steps["turn"]
    for lane in window.lanes:
        for i, statistic in enumerate(STATISTICS):
            records[f"{lane}_{statistic}"] = window.steps[lane][:, i]
    return ArchiveWindow(
        turn=window.turn,
        result=window.result,
        records=records,
        turn_epoch=window.turn_epoch,
        published_tsc=0,
        decimated=True,
        epochs=window.epochs,
        tai_ns=window.tai_ns,
        utc_ns=window.utc_ns,
    )
