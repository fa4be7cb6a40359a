# SPDX-License-Identifier: Apache-2.0
"""What many times come to: quantiles as far out as there are enough of them, and points of charts.

A probe that never came back took for ever: it counts among all, so that no loss makes a tail look better. A quantile
beyond the losses is infinite; mean, least and most are of those that came.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]

LEVELS = {
    "median": 0.5,
    "p90": 0.9,
    "p99": 0.99,
    "p99.9": 0.999,
    "p99.99": 0.9999,
    "p99.999": 0.99999,
    "p99.9999": 0.999999,
}
"""Quantiles by the name that a table gives them."""
BEYOND = 10
"""So many must lie beyond a quantile for it to be told: of fewer it is a chance find, and near the largest anyway."""
POINTS_PER_DECADE = 16
BINS_PER_OCTAVE = 8


def probes_needed(name: str) -> int:
    """For a quantile to be told."""
    return round(BEYOND / (1.0 - LEVELS[name]))


@dataclass(frozen=True)
class Distribution:
    """Times of so many probes, in the unit that they were given in."""

    probes: int
    lost: int
    least: float
    mean: float
    most: float
    quantiles: dict[str, float]
    """By name, those that there are enough probes for; infinite beyond the losses."""

    @property
    def one_way(self) -> float:
        """Half of the mean, as the field has it."""
        return self.mean / 2.0

    @classmethod
    def of(cls, times: Times, lost: int) -> "Distribution | None":
        """Of the probes that came, and so many that did not; None where none came."""
        if not len(times):
            return None
        rising, probes = np.sort(times), len(times) + lost
        told = {name: _at(rising, probes, level) for name, level in LEVELS.items() if probes >= probes_needed(name)}
        told = {"median": _at(rising, probes, 0.5)} | told
        return cls(probes, lost, float(rising[0]), float(rising.mean()), float(rising[-1]), told)


def _at(rising: Times, probes: int, level: float) -> float:
    """The least value that so large a share of all probes does not exceed."""
    place = math.ceil(round(level * probes, 6)) - 1
    return float(rising[place]) if place < len(rising) else math.inf


def beyond(times: Times, lost: int) -> list[tuple[float, float]]:
    """Points (value, share of all probes that is larger), from all of them to one, evenly on a logarithmic axis."""
    if not len(times):
        return []
    rising, probes = np.sort(times), len(times) + lost
    decades = math.log10(probes)
    shares = np.logspace(0.0, -decades, max(2, round(decades * POINTS_PER_DECADE) + 1))
    places = np.unique(np.clip(probes - np.ceil(shares * probes - 1e-6).astype(np.int64), 0, probes - 1))
    return [(float(rising[place]), (probes - place) / probes) for place in places if place < len(rising)]


def histogram(times: Times, lost: int) -> list[tuple[float, float]]:
    """Points (middle of a bin, share of all probes in it), bins of an eighth of an octave; empty ones are left out."""
    if not len(times):
        return []
    places = np.floor(np.log2(np.maximum(times, 1e-3)) * BINS_PER_OCTAVE).astype(np.int64)
    bins, counts = np.unique(places, return_counts=True)
    middles = np.exp2((bins + 0.5) / BINS_PER_OCTAVE)
    return [(float(x), float(n) / (len(times) + lost)) for x, n in zip(middles, counts, strict=True)]


def reported_by(distributions: Sequence[Distribution]) -> list[str]:
    """Names of the quantiles that any of them tells, in order."""
    return [name for name in LEVELS if any(name in one.quantiles for one in distributions)]
