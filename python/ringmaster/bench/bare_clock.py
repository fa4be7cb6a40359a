# SPDX-License-Identifier: Apache-2.0
"""What the machine alone would have made of the traffic: programs without fault that only wait for their cores.

A bare loop on the clock (ringmaster-stall-floor) tells when it did not have its core. What should have happened in such
a gap happens at its end, all else when it is due. So much jitter is the machine's, and no program can have less.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ringmaster.bench.groups import US, Floats
from ringmaster.programs.remains import scratch_folder
from ringmaster.report.conditions import StallFloor, stall_floor

Ticks = npt.NDArray[np.int64]

READING_US = 0.02
"""From one reading of the clock to the next: less no loop can tell."""


@dataclass(frozen=True)
class Watch:
    """One core over some time; TSC ticks."""

    begin: int
    end: int
    gaps: Ticks
    """Shape (n, 2): begin and end of each, rising, apart from each other."""

    def happens(self, due: Ticks) -> Ticks:
        """When a loop on this core sees, or does, what is due then."""
        if len(self.gaps) == 0:
            return due
        before = np.searchsorted(self.gaps[:, 0], due, side="right") - 1
        covered = (before >= 0) & (due < self.gaps[before, 1])
        return np.where(covered, self.gaps[before, 1], due)


def read_watches(path: Path) -> dict[int, Watch]:
    """By core, from a file of ringmaster-stall-floor."""
    return watches_of(np.fromfile(path, "<u8").reshape(-1, 3).astype(np.int64))


def watches_of(rows: Ticks) -> dict[int, Watch]:
    """By core, of its rows."""
    return {int(core): _watch(rows[rows[:, 0] == core, 1:]) for core in np.unique(rows[:, 0])}


def _watch(rows: Ticks) -> Watch:
    """The first row is the whole."""
    return Watch(int(rows[0, 0]), int(rows[0, 1]), rows[1:])


@dataclass(frozen=True)
class Bare:
    """One look at the cores."""

    floor: StallFloor
    watches: Mapping[int, Watch]

    def jitter_us(self, rate_hz: float, cores: Sequence[int]) -> Floats:
        """Of cycles at that rate which pass through loops on these cores, one after the other: sender, receiver."""
        begin = max(self.watches[core].begin for core in cores)
        end = min(self.watches[core].end for core in cores)
        period = self.floor.tsc_hz / rate_hz
        when = begin + np.round(np.arange(max(0, int((end - begin) / period))) * period).astype(np.int64)
        for core in cores:
            when = self.watches[core].happens(when)
        return np.maximum(np.abs(np.diff(when) - period) / self.floor.tsc_hz * US, READING_US)

    def away_share(self, least_s: float) -> float:
        """Of the time, 0–1, that a core was away for longer than that. When several are, it counts once."""
        begin = max(watch.begin for watch in self.watches.values())
        end = min(watch.end for watch in self.watches.values())
        gaps = np.concatenate([watch.gaps for watch in self.watches.values()])
        long = np.clip(gaps[gaps[:, 1] - gaps[:, 0] > least_s * self.floor.tsc_hz], begin, end)
        long = long[np.argsort(long[:, 0])]
        until = np.maximum.accumulate(long[:, 1])
        since = np.maximum(long[:, 0], np.concatenate([[begin], until])[:-1])
        return float(np.maximum(until - since, 0).sum() / (end - begin))


def look(seconds: float, cores: Sequence[int]) -> Bare:
    """Watches the cores, all at once, for so long."""
    with scratch_folder("bench") as folder:
        path = Path(folder) / "gaps"
        floor = stall_floor(seconds, cores, path)
        return Bare(floor, read_watches(path))
