# SPDX-License-Identifier: Apache-2.0
"""A stream of an archive, and its reductions."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ringmaster.archive.binned import binned
from ringmaster.archive.stored import Range, StoredObject, lane_type
from ringmaster.archive.times import END_NS, Edge, Time
from ringmaster.archive.window import ArchiveWindow, ReducedWindow
from ringmaster.errors import ArchiveArgument, ObjectNotFound
from ringmaster.fabric import layout
from ringmaster.fabric.calibration import Calibration
from ringmaster.fabric.layout import Calibrated, LaneType

MOST_PLAIN = 1 << 20
"""Records of a view; of more, that the recorder did not reduce, steps are made while they are read."""
COVERED = 0.9
"""What has this share of the span that the best one has is as good for a view."""


class StoredReduction(StoredObject):
    """A stream in steps: the smallest, the mean, the largest and the deviation of each lane."""

    def __repr__(self) -> str:
        return f"<reduction of {self.name}: every {self.period} turns, {self.records} steps>"

    @cached_property
    def record_type(self) -> np.dtype[np.void]:
        """One step: turn, present, missing, and four f4 for each lane."""
        fixed = [("turn", "<u8"), ("present", "<u4"), ("missing", "<u4")]
        return np.dtype([*fixed, *((lane.name, "<f4", (4,)) for lane in self.lanes)])

    def __getitem__(self, span: slice) -> ReducedWindow:
        return self.read(*_ends(span))

    def read(self, start: Edge = None, stop: Edge = None, turn_epoch: int | None = None) -> ReducedWindow:
        """The steps that begin in [start, stop): turns, or times in UTC."""
        return self.read_window(self.ranges(start, stop, turn_epoch))

    def read_window(self, ranges: list[Range]) -> ReducedWindow:
        """The steps of these ranges."""
        raw = self.read_ranges(ranges)
        return ReducedWindow(
            turn=raw.turn,
            result=raw.result,
            steps=raw.records,
            period=self.period,
            turn_epoch=int(raw.epochs[-1]) if len(raw.epochs) else 0,
            epochs=raw.epochs,
            tai_ns=raw.tai_ns,
            utc_ns=raw.utc_ns,
        )


class StoredStream(StoredObject):
    """A stream as it was recorded.

    ``stream[a:b]`` reads by turn (ints: of the newest turn-counter epoch that has any of them) or by time (UTC: text, a
    datetime, a datetime64). What the archive does not have is outside of the window, or masked within it.
    """

    def __repr__(self) -> str:
        return f"<stream {self.name}: every {self.period} turns, {self.records} records>"

    @cached_property
    def record_type(self) -> np.dtype[np.void]:
        """One record of 64 bytes: turn u8, tag u8, then the lanes by name, i4 or f4."""
        used = [(lane, 4 * i) for i, lane in enumerate(self.lanes) if lane.type != LaneType.UNUSED]
        return np.dtype(
            {
                "names": ["turn", "tag", *(lane.name for lane, _ in used)],
                "formats": ["<u8", "<u8", *(lane_type(lane) for lane, _ in used)],
                "offsets": [0, 8, *(layout.LANES_OFFSET + offset for _, offset in used)],
                "itemsize": layout.RECORD_BYTES,
            }
        )

    def __getitem__(self, span: slice) -> ArchiveWindow:
        return self.read(*_ends(span))

    def read(
        self, start: Edge = None, stop: Edge = None, turn_epoch: int | None = None, physical: bool = False
    ) -> ArchiveWindow:
        """The records in [start, stop): turns, or times in UTC. ``physical``: calibrated, where that was recorded."""
        window = self.read_window(self.ranges(start, stop, turn_epoch))
        return self.physical(window) if physical else window

    def read_window(self, ranges: list[Range]) -> ArchiveWindow:
        """The records of these ranges, as they were stored."""
        raw = self.read_ranges(ranges)
        return ArchiveWindow(
            turn=raw.turn,
            result=raw.result,
            records=raw.records,
            turn_epoch=int(raw.epochs[-1]) if len(raw.epochs) else 0,
            published_tsc=0,
            decimated=self.filter not in (layout.NO_FILTER, layout.ON_CHANGE),
            epochs=raw.epochs,
            tai_ns=raw.tai_ns,
            utc_ns=raw.utc_ns,
        )

    def around(self, time: Time, before: int, after: int) -> ArchiveWindow:
        """So many records before a time (UTC), and after it. Raises ArchiveArgument where nothing was recorded then."""
        found = self.ranges(time, None)
        if not found:
            raise ArchiveArgument(f"{self.name}: nothing was recorded at {time} or later")
        run = self.runs[found[0].run]
        first = max(found[0].first_turn - before * self.period, run.first_turn)
        last = min(found[0].first_turn + (after - 1) * self.period, run.last_turn)
        return self.read_window([Range(found[0].run, first, max(0, (last - first) // self.period + 1))])

    @property
    def calibration(self) -> Calibration | None:
        """What converts the lanes: the newest that the archive's events have."""
        return None if self.calibrated == Calibrated.NOT else self._archive.calibration(self.instrument)

    @cached_property
    def physical_units(self) -> dict[str, str]:
        """The unit of each lane as ``physical()`` gives it."""
        stored = {lane.name: lane.unit for lane in self.lanes}
        if self.calibrated != Calibrated.IN_READING or self.calibration is None:
            return stored
        return stored | {lane: self.calibration.unit(lane) for lane in self.calibration.lanes}

    def physical(self, window: ArchiveWindow) -> ArchiveWindow:
        """A window of this stream with its lanes in ``physical_units``, as f8, by the calibration of its time."""
        if self.calibrated != Calibrated.IN_READING:
            return window
        until_ns = int(window.utc_ns[-1]) if len(window) else END_NS
        calibration = self._archive.calibration(self.instrument, until_ns)
        if calibration is None:
            raise ObjectNotFound(
                f"{self.name}: no event of the archive has the parameter calibration/{self.instrument}"
            )
        done = window.with_lanes(calibration.apply({lane: window[lane] for lane in calibration.lanes}))
        assert isinstance(done, ArchiveWindow)
        return done

    @property
    def reductions(self) -> dict[int, StoredReduction]:
        """By their steps in turns."""
        return self._archive.reductions(self.name)

    def reduced(self, step: int) -> StoredReduction:
        """The reduction of that many turns a step."""
        return self._archive.reduced(self.name, step)

    def view(self, start: Edge = None, stop: Edge = None, points: int = 2000) -> ArchiveWindow | ReducedWindow:
        """The span in about ``points`` points: the coarsest that has as many, or the finest that there is.

        What does not reach over the span as far as another does is not taken: reductions are kept longest.
        """
        return choose_view([self, *self.reductions.values()], start, stop, points)


def choose_view(
    sources: Sequence[StoredStream | StoredReduction], start: Edge, stop: Edge, points: int
) -> ArchiveWindow | ReducedWindow:
    """See StoredStream.view."""
    found = {source: source.ranges(start, stop) for source in sources}
    count = {source: sum(r.records for r in ranges) for source, ranges in found.items()}
    turns = {source: max(count[source] - 1, 0) * source.period for source in sources}
    good = [source for source in sources if turns[source] >= COVERED * max(turns.values())]
    fine = [source for source in good if count[source] >= points]
    chosen = max(fine, key=lambda s: s.period) if fine else min(good, key=lambda s: s.period)
    if isinstance(chosen, StoredStream) and count[chosen] > MOST_PLAIN:
        return binned(chosen, found[chosen], points)
    return chosen.read_window(found[chosen])


def _ends(span: slice) -> tuple[Edge, Edge]:
    if not isinstance(span, slice) or span.step is not None:
        raise ArchiveArgument("expected [start:stop], two turns or two times; .reduced(step) and .view() are coarser")
    return span.start, span.stop
