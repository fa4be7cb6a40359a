# SPDX-License-Identifier: Apache-2.0
"""Histograms of durations with 6 % resolution over the whole range of a u64, in the manner of HdrHistogram."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ringmaster.errors import WorkspaceDamaged
from ringmaster.fabric import layout
from ringmaster.fabric.clock import Clock
from ringmaster.fabric.segment import ObjectInfo, Segment

SUBBITS = 4
"""Values below 2^4 have a bucket each; above, every octave is cut into 2^4 equal buckets."""


def bucket_floor(index: int) -> int:
    """Smallest value of a bucket; ``bucket_floor(index + 1)`` bounds it above."""
    group, sub = index >> SUBBITS, index & ((1 << SUBBITS) - 1)
    return (sub | 1 << SUBBITS) << (group - 1) if group else sub


@dataclass(frozen=True)
class HistogramReading:
    """The counts of one instant. Durations are in nanoseconds."""

    bucket: npt.NDArray[np.uint64]
    """How many values fell into each; shape (976,)."""
    largest_ns: float
    """The largest value, exact."""
    ns_per_count: float
    """Nanoseconds of one unit of the values as stored."""

    @property
    def total(self) -> int:
        """How many values were counted."""
        return int(self.bucket.sum())

    def percentile_ns(self, percent: float) -> float:
        """Duration that ``percent`` (0–100) of the values do not exceed, as its bucket's end; NaN when empty."""
        if not 0 <= percent <= 100:
            raise ValueError(f"a percentile lies between 0 and 100, not at {percent}")
        if self.total == 0:
            return float("nan")
        rank = max(1, int(np.ceil(percent / 100 * self.total)))
        index = int(np.searchsorted(np.cumsum(self.bucket), rank))
        return min((bucket_floor(index + 1) - 1) * self.ns_per_count, self.largest_ns)

    def since(self, earlier: "HistogramReading") -> "HistogramReading":
        """What was counted after ``earlier``; ``largest_ns`` stays that of all times."""
        return HistogramReading(self.bucket - earlier.bucket, self.largest_ns, self.ns_per_count)

    def summary(self) -> dict[str, float]:
        """Values counted, and "p50", "p90", "p99", "p99.9", "max" in nanoseconds."""
        figures = {f"p{percent:g}": self.percentile_ns(percent) for percent in (50, 90, 99, 99.9)}
        return {"count": self.total, **figures, "max": self.largest_ns}


class Histogram:
    """One histogram."""

    def __init__(self, segment: Segment, info: ObjectInfo, clock: Clock | None) -> None:
        """``clock`` gives the length of a tick where the unit is "ticks"."""
        if info.unit not in ("ticks", "ns"):
            raise WorkspaceDamaged(f"{segment.path}: histogram {info.name!r} counts {info.unit!r}, not ticks or ns")
        self.name = info.name
        self.description = info.description
        self._clock = clock if info.unit == "ticks" else None
        self._in_ticks = info.unit == "ticks"
        self._memory = np.frombuffer(segment.memory, layout.HISTOGRAM, 1, info.offset)

    def read(self) -> HistogramReading:
        """Copies the counts; values that come meanwhile may or may not be among them."""
        bucket: npt.NDArray[np.uint64] = self._memory[0]["bucket"].copy()
        unit_ns = self._tick_ns() if self._in_ticks else 1.0
        return HistogramReading(bucket, float(self._memory[0]["largest"]) * unit_ns, unit_ns)

    def _tick_ns(self) -> float:
        tsc_hz = self._clock.read().tsc_hz if self._clock else 0.0
        return 1e9 / tsc_hz if tsc_hz > 0 else float("nan")
