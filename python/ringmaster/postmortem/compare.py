# SPDX-License-Identifier: Apache-2.0
"""What differs between two events: their causes, and the levels of the streams before the turn zero."""

from dataclasses import dataclass

import numpy as np

from ringmaster.postmortem.evidence import Evidence

FACTOR = 1.5
"""Levels that differ by less are alike."""
SIGMAS = 3.0


@dataclass(frozen=True)
class Level:
    """Of one lane of one kind of instrument at one rate, over its instruments: medians of mean and RMS before."""

    name: str
    """ "bpm raw x1"."""
    unit: str
    instruments: int
    mean: float
    rms: float


@dataclass(frozen=True)
class Difference:
    """Of a level."""

    one: Level
    other: Level

    @property
    def matters(self) -> bool:
        """Whether the RMS differs by FACTOR, or the mean by SIGMAS of it."""
        least, most = sorted((self.one.rms, self.other.rms))
        moved = abs(self.one.mean - self.other.mean)
        return bool(most > FACTOR * least or moved > SIGMAS * max(most, 1e-12 * abs(self.one.mean)))


def levels(evidence: Evidence) -> dict[str, Level]:
    """By name. Only records from before the turn zero count."""
    found: dict[str, list[tuple[str, float, float]]] = {}
    for series in evidence.series:
        before = series.between(0, evidence.turn_zero)
        good = before.values[before.ok]
        if len(good) < 2:
            continue
        kind, rate = series.kind.name.lower(), series.name.rpartition("/")[2]
        for i, lane in enumerate(series.lanes):
            values = (series.units[i], float(good[:, i].mean()), float(good[:, i].std()))
            found.setdefault(f"{kind} {rate} {lane}", []).append(values)
    return {
        name: Level(
            name,
            values[0][0],
            len(values),
            float(np.median([mean for _, mean, _ in values])),
            float(np.median([rms for _, _, rms in values])),
        )
        for name, values in found.items()
    }


def compare(one: Evidence, other: Evidence) -> tuple[list[Difference], list[str]]:
    """Levels that differ, and names of streams that only one of them has."""
    first, second = levels(one), levels(other)
    both = [Difference(first[name], second[name]) for name in first if name in second]
    alone = {series.name for series in one.series} ^ {series.name for series in other.series}
    return [difference for difference in both if difference.matters], sorted(alone)
