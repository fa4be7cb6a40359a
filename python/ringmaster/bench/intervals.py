# SPDX-License-Identifier: Apache-2.0
"""Inter-packet times of one instrument, of many: averages and single ones, from a receiver's histograms or from stamps.

The average of an instrument is its time from the first datagram to the last over the number of intervals, so it tells
whether anything is missing or the clock differs; single intervals tell how datagrams are gathered on their way.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ringmaster.bench.groups import Floats
from ringmaster.fabric.histogram import SUBBITS

NS = 1e9


@dataclass(frozen=True)
class Counted:
    """Single intervals by their length."""

    length_ns: Floats
    """Rising; of a histogram's bucket its end, so no quantile is told too small."""
    count: npt.NDArray[np.int64]

    @property
    def total(self) -> int:
        """How many there are."""
        return int(self.count.sum())

    def quantile_ns(self, share: float) -> float | None:
        """The length that this share of them do not exceed; None of nothing."""
        if self.total == 0:
            return None
        rank = max(1, int(np.ceil(share * self.total - 1e-9)))
        return float(self.length_ns[np.searchsorted(np.cumsum(self.count), rank)])

    def tail(self) -> list[tuple[float, float]]:
        """Points (ns, share that is larger) for a chart of the distribution."""
        larger = 1 - np.cumsum(self.count) / max(1, self.total)
        return [
            (float(length), float(max(share, 1 / self.total)))
            for length, share in zip(self.length_ns, larger, strict=True)
        ]


NONE = Counted(np.empty(0), np.empty(0, np.int64))


def of_lengths(length_ns: Floats) -> Counted:
    """Of single ones, in any order."""
    return Counted(*np.unique(length_ns, return_counts=True))


def of_histogram(buckets: Sequence[Sequence[float]], most_ns: float, tsc_hz: float) -> Counted:
    """Of [floor_ns, count], 16 buckets an octave in TSC ticks, as ringmaster-receiver prints them."""
    endpoints = [min(most_ns, _end_ns(floor, tsc_hz)) for floor, _ in buckets]
    return Counted(np.array(endpoints, float), np.array([count for _, count in buckets], np.int64))


def _end_ns(floor_ns: float, tsc_hz: float) -> float:
    """The largest value of the bucket."""
    ticks = round(floor_ns * tsc_hz / NS)
    width = 1 << max(0, ticks.bit_length() - 1 - SUBBITS)
    return (ticks + width - 1) * NS / tsc_hz


def together(parts: Iterable[Counted]) -> Counted:
    """All of them."""
    parts = [part for part in parts if part.total]
    if not parts:
        return NONE
    lengths, place = np.unique(np.concatenate([part.length_ns for part in parts]), return_inverse=True)
    count = np.bincount(place.ravel(), weights=np.concatenate([part.count for part in parts])).astype(np.int64)
    return Counted(lengths, count)


@dataclass(frozen=True)
class Instrument:
    """One instrument in one look."""

    name: str
    mean_ns: float
    least_ns: float
    most_ns: float
    lost: int
    single: Counted


def of_caught(received: Mapping[str, Any]) -> list[Instrument]:
    """Every instrument of which more than one datagram came, as ringmaster-receiver tells it."""
    found = []
    for link in received["links"]:
        prefix = f"{link['link']} " if len(received["links"]) > 1 else ""
        for one in link["instruments"]:
            if one["received"] < 2 or not one["histogram"]:
                continue
            single = of_histogram(one["histogram"], one["max_ns"], received["tsc_hz"])
            figures = (one["mean_ns"], one["min_ns"], one["max_ns"], one["lost"])
            found.append(Instrument(f"{prefix}{one['flow']}", *figures, single))
    return found


def of_stamps(
    name: str, looks: Sequence[tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]], tsc_hz: float
) -> Instrument | None:
    """From looks at consecutive turns: (turn, TSC ticks) of the records that were had; None where there are no two.

    The average is over all looks, per turn; single intervals are of records that follow each other.
    """
    spans, turns, lost = 0, 0, 0
    lengths = []
    for turn, tsc in looks:
        if len(turn) < 2:
            continue
        step, ticks = np.diff(turn.astype(np.int64)), np.diff(tsc.astype(np.int64))
        spans += int(ticks.sum())
        turns += int(step.sum())
        lost += int((step - 1).sum())
        lengths.append(ticks[step == 1])
    single = np.concatenate(lengths) * (NS / tsc_hz) if lengths else np.empty(0)
    if len(single) == 0:
        return None
    mean_ns = spans / turns * NS / tsc_hz
    return Instrument(name, mean_ns, float(single.min()), float(single.max()), lost, of_lengths(single))
