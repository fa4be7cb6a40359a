# SPDX-License-Identifier: Apache-2.0
"""The mains in a stream: lines at all multiples of one frequency, fitted before the event and continued through it.

The frequency drifts, evenly within so short a time: only where that is known, lines of 100 µm are continued to the
noise. Time counts from the middle of what is fitted, where frequency and drift do not depend on each other.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
WANDER = 0.002
"""Relative: so far the mains may be off."""
DRIFT_PER_S = 0.002
"""Relative: so fast the mains' frequency may change."""
TRIED, ROUNDS = 9, 6
FITTED = 12
"""Harmonics that tell the frequency."""
HIGHEST_HZ = 1000.0
LEAST_PERIODS = 4.0
"""Before the event: with fewer, lines are left to the prediction."""


@dataclass(frozen=True)
class Lines:
    """Sines and cosines of one fundamental in rows; of no use (empty) where there are too few periods."""

    cycles_per_record: float
    """The fundamental, in the middle of what was fitted."""
    drift: float
    """Relative, per record."""
    middle: float
    """Record."""
    count: int
    """Harmonics."""
    weights: Floats
    """[1 and 2 × harmonic, row]."""

    @classmethod
    def fit(cls, before: Floats, record_rate_hz: float, mains_hz: float = 50.0) -> Self:
        """Of rows [record, row] before the event; record 0 is the first."""
        nominal = mains_hz / record_rate_hz
        if nominal * len(before) < LEAST_PERIODS:
            return cls(nominal, 0.0, 0.0, 0, before.mean(axis=0)[None])
        count = int(min(HIGHEST_HZ, 0.4 * record_rate_hz) // mains_hz)
        time = np.arange(len(before), dtype=np.float64) - (len(before) - 1) / 2
        strongest, fitted = _strongest(before), min(count, FITTED)
        best, step = np.array([nominal, 0.0]), np.array([nominal * WANDER, DRIFT_PER_S / record_rate_hz])
        for _ in range(ROUNDS):
            for one in np.diag(step):
                tried = best + np.linspace(-1, 1, TRIED)[:, None] * one
                best = min(tried, key=lambda at: _misfit(strongest, _basis(time, at[0], at[1], fitted)))
            step *= 2 / (TRIED - 1)
        cycles, drift = (float(one) for one in best)
        weights = np.linalg.lstsq(_basis(time, cycles, drift, count), before, rcond=None)[0]
        return cls(cycles, drift, (len(before) - 1) / 2, count, np.asarray(weights, np.float64))

    def at(self, record: npt.NDArray[np.int64]) -> Floats:
        """Their values [record, row], the mean included; records count from the first of those that were fitted."""
        time = record.astype(np.float64) - self.middle
        result: Floats = _basis(time, self.cycles_per_record, self.drift, self.count) @ self.weights
        return result


def _basis(time: Floats, cycles: float, drift: float, count: int) -> Floats:
    angle = 2 * np.pi * cycles * np.outer(time * (1 + 0.5 * drift * time), np.arange(1, count + 1))
    return np.hstack([np.ones((len(time), 1)), np.cos(angle), np.sin(angle)])


def _strongest(before: Floats, count: int = 4) -> Floats:
    centred = before - before.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    result: Floats = centred @ vectors[:, -count:]
    return result


def _misfit(values: Floats, basis: Floats) -> float:
    """What is left of values by a least-squares fit, up to a constant."""
    seen = basis.T @ values
    return -float(np.sum(seen * np.linalg.solve(basis.T @ basis, seen)))
