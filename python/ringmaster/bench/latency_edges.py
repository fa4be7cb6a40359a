# SPDX-License-Identifier: Apache-2.0
"""From one edge of a setpoint and the turns around it to the time that the step took. No program, no clock of its own.

The threshold is halfway between where the beam was before the edge and where it is in the end, each the median of some
turns. The first turn beyond it is the one whose datagram shows the step, and its arrival ends the latency. The crossing
itself lies between two turns, and is found on the straight line between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LAST_PART = 4
"""Where the step ends is looked for in this part of the turns after the edge: the last fourth."""
LEAST_BEFORE, LEAST_AFTER = 4, 16
LEAST_STEP = 6.0
"""In units of the turns' scatter before the edge: a step smaller than this is none."""
SCATTER_OF_DEVIATION = 1.4826
"""A normal distribution's σ, of the median deviation from its median."""
DISTURBED_TURNS, DISTURBED_US = 1.0, 4.0
"""An edge is disturbed when the turns before it and up to its step came more unevenly than both of this: polling alone
waits up to 2 µs."""
KEPT_US = 600.0
"""After the commit: turns that are kept for drawing the step."""
PARTS = 10
"""Consecutive parts of a run, whose figures say how the whole run's spread."""
LEAST_OF_PART = 10
"""A part of fewer edges has no percentiles."""


class NoStep(Exception):
    """The step cannot be found in the turns; the text says why, the same for all of one kind."""


@dataclass(frozen=True)
class Step:
    """One edge of the setpoint, and what became of it."""

    commit_tsc: int
    arrival_us: float
    """Commit to the arrival of the first turn beyond half of the step."""
    crossing_us: float
    """Commit to half of the step, on the line between that turn and the one before."""
    height: float
    """From before to after, with its sign; the lane's unit."""
    uneven_us: float
    """By how much the turns up to that one came unevenly: the range of their delays against an even row of turns."""
    time_us: Floats
    """Arrivals of the turns around it, since the commit."""
    shape: Floats
    """Of the same turns: 0 before, 1 in the end."""


def around(commit_tsc: int, tsc: npt.NDArray[np.uint64], before: int) -> slice:
    """All turns from so many before the commit on, by their arrivals: a sender that was late has not sent the turn of
    that time. Turns that were not had, of arrival 0, go with the next one.
    """
    arrived = np.maximum.accumulate(tsc)
    return slice(max(0, int(np.searchsorted(arrived, np.uint64(commit_tsc), side="right")) - before), len(tsc))


def find_step(commit_tsc: int, tsc: npt.NDArray[np.uint64], values: Floats, tsc_hz: float, turn_us: float) -> Step:
    """Looks for the step of one edge in the turns around it, NaN where a turn was not had. Raises NoStep.

    A turn that is missing would make the latency a turn too long, so all up to the step have to be there.
    """
    had = np.nonzero(np.isfinite(values))[0]
    values = values[had]
    time_us: Floats = (tsc[had].astype(np.int64) - commit_tsc) * np.float64(1e6 / tsc_hz)
    before, after = values[time_us <= 0], values[time_us > 0]
    if len(before) < LEAST_BEFORE or len(after) < LEAST_AFTER:
        raise NoStep("too few turns around the edge")
    low, high = float(np.median(before)), float(np.median(after[-(len(after) // LAST_PART) :]))
    scatter = SCATTER_OF_DEVIATION * float(np.median(np.abs(before - low)))
    if high == low or abs(high - low) < LEAST_STEP * scatter:
        raise NoStep("the BPM shows no step")
    shape = (values - low) / (high - low)
    beyond = np.nonzero((time_us > 0) & (shape >= 0.5))[0]
    first = int(beyond[0])
    if shape[first - 1] >= 0.5:
        raise NoStep("the step is there before its commit")
    if had[first] != first:
        raise NoStep("turns between the edge and its step are missing")
    part = (0.5 - shape[first - 1]) / (shape[first] - shape[first - 1])
    crossing = time_us[first - 1] + part * (time_us[first] - time_us[first - 1])
    delays = (time_us - np.arange(len(time_us)) * turn_us)[: first + 1]
    kept = time_us <= KEPT_US
    return Step(
        commit_tsc=commit_tsc,
        arrival_us=float(time_us[first]),
        crossing_us=float(crossing),
        height=high - low,
        uneven_us=float(np.ptp(delays)),
        time_us=time_us[kept],
        shape=shape[kept],
    )


def undisturbed(steps: Sequence[Step], turn_us: float) -> list[Step]:
    """Those around which no turn was late or caught up: nobody took a core from server or ring."""
    return [step for step in steps if step.uneven_us <= max(DISTURBED_TURNS * turn_us, DISTURBED_US)]


def parts_of(values: Sequence[float]) -> list[list[float]]:
    """Consecutive parts, about as long as each other: fewer where there are few values, none of next to none."""
    count = min(PARTS, len(values) // LEAST_OF_PART)
    return [list(part) for part in np.array_split(np.asarray(values), count)] if count else []


@dataclass(frozen=True)
class Figures:
    """Of one run's latencies, µs."""

    count: int
    median: float
    p1: float
    p99: float
    least: float
    most: float

    @property
    def peak_to_peak(self) -> float:
        """All of the jitter."""
        return self.most - self.least

    @property
    def most_of_it(self) -> float:
        """Jitter without the outermost hundredths, which a machine that is shared makes."""
        return self.p99 - self.p1

    @classmethod
    def of(cls, values: Sequence[float]) -> "Figures":
        """Of at least one."""
        p1, p99 = np.percentile(values, [1, 99])
        return cls(len(values), median(values), float(p1), float(p99), min(values), max(values))


def averaged(steps: Sequence[Step], grid_us: Floats) -> Floats:
    """Of each time since the commit the median of all shapes: a turn that came late counts no more than another."""
    return np.median([np.interp(grid_us, step.time_us, step.shape) for step in steps], axis=0)
