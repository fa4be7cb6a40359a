# SPDX-License-Identifier: Apache-2.0
"""What is read from an archive: windows as those of a stream, with the time of each record; and windows of steps."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ringmaster.archive.times import datetimes
from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.window import ReadResult, Window


@dataclass(frozen=True)
class ArchiveWindow(Window):
    """Consecutive records of an archived stream: a Window, and when each of them was.

    Where a time was asked for and the machine's turn counter had restarted within, the turns begin anew in it:
    ``epochs`` tells them apart.
    """

    epochs: npt.NDArray[np.uint16]
    """Shape (count,): the low 16 bits of the turn-counter epoch of each turn."""
    tai_ns: npt.NDArray[np.uint64]
    """Shape (count,): by the turn clock, in nanoseconds of TAI since 1970."""
    utc_ns: npt.NDArray[np.uint64]
    """The same in UTC, by the offset that the recorder's host knew."""

    @property
    def utc(self) -> npt.NDArray[np.datetime64]:
        """Shape (count,): datetime64[ns]."""
        return datetimes(self.utc_ns)


@dataclass(frozen=True)
class ReducedWindow:
    """Consecutive steps of a reduction; step i is of the turns from ``turn[i]`` on, ``period`` of them.

    The lanes are f8, shape (count,), in the stream's stored units, NaN where nothing of the step was recorded.
    """

    turn: npt.NDArray[np.uint64]
    result: npt.NDArray[np.uint8]
    """Shape (count,): a ReadResult for each."""
    steps: npt.NDArray[np.void]
    """Shape (count,): structures of turn, present, missing, and of each lane (minimum, mean, maximum, deviation)."""
    period: int
    """Turns of a step."""
    turn_epoch: int
    epochs: npt.NDArray[np.uint16]
    tai_ns: npt.NDArray[np.uint64]
    utc_ns: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.turn)

    @property
    def utc(self) -> npt.NDArray[np.datetime64]:
        """Shape (count,): datetime64[ns]."""
        return datetimes(self.utc_ns)

    @property
    def lanes(self) -> tuple[str, ...]:
        """The names of the lanes."""
        return tuple(name for name in self.steps.dtype.names or () if name not in ("turn", "present", "missing"))

    @property
    def ok(self) -> npt.NDArray[np.bool_]:
        """Shape (count,): of which steps at least one record was there."""
        return np.equal(self.result, ReadResult.OK)

    @property
    def present(self) -> npt.NDArray[np.uint32]:
        """Shape (count,): records that were there."""
        values: npt.NDArray[np.uint32] = self.steps["present"]
        return values

    @property
    def missing(self) -> npt.NDArray[np.uint32]:
        """Shape (count,): records that were not."""
        values: npt.NDArray[np.uint32] = self.steps["missing"]
        return values

    def min(self, lane: str) -> npt.NDArray[np.float64]:
        """The smallest value of each step."""
        return self._statistic(lane, 0)

    def values(self, lane: str) -> npt.NDArray[np.float64]:
        """The mean of each step."""
        return self._statistic(lane, 1)

    def max(self, lane: str) -> npt.NDArray[np.float64]:
        """The largest value of each step."""
        return self._statistic(lane, 2)

    def std(self, lane: str) -> npt.NDArray[np.float64]:
        """The standard deviation (of the population) of each step."""
        return self._statistic(lane, 3)

    def _statistic(self, lane: str, which: int) -> npt.NDArray[np.float64]:
        if lane not in self.lanes:
            raise ObjectNotFound(f"no lane {lane!r} in this reduction; it has: {', '.join(self.lanes)}")
        return np.where(self.ok, self.steps[lane][:, which].astype(np.float64), np.nan)
