# SPDX-License-Identifier: Apache-2.0
"""The mains in a stream: lines at all multiples of one frequency, fitted before the event and continued through it."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
WANDER = 0.002
"""Relative: so far the mains may be off."""
TRIED, ROUNDS = 9, 3
HIGHEST_HZ = 1000.0
LEAST_PERIODS = 4.0
"""Before the event: with fewer, lines are left to the prediction."""


@dataclass(frozen=True)
class Lines:
    """Sines and cosines of one fundamental in rows; of no use (empty) where there are too few periods."""

    cycles_per_record: float
    """The fundamental."""
    count: int
    """Harmonics."""
    weights: Floats
    """[1 and 2 × harmonic, row]."""

    @classmethod
    def fit(cls, before: Floats, record_rate_hz: float, mains_hz: float = 50.0) -> Self:
        """Of rows [record, row] before the event; record 0 is the first."""
        nominal = mains_hz / record_rate_hz
        if nominal * len(before) < LEAST_PERIODS:
            return cls(nominal, 0, before.mean(axis=0)[None])
        count = int(min(HIGHEST_HZ, 0.4 * record_rate_hz) // mains_hz)
        strongest = _strongest(before)
        best, step = nominal, nominal * WANDER
        for _ in range(ROUNDS):
            tried = best + step * np.linspace(-1, 1, TRIED)
            best = float(min(tried, key=lambda cycles: _misfit(strongest, cycles, min(count, 12))))
            step *= 2 / (TRIED - 1)
        basis = _basis(np.arange(len(before)), best, count)
        return cls(best, count, np.asarray(np.linalg.lstsq(basis, before, rcond=None)[0], np.float64))

    def at(self, record: npt.NDArray[np.int64]) -> Floats:
        """Their values [record, row], the mean included; records count from the first of those that were fitted."""
        result: Floats = _basis(record, self.cycles_per_record, self.count) @ self.weights
        return result


def _basis(record: npt.NDArray[np.int64], cycles: float, count: int) -> Floats:
    angle = 2 * np.pi * cycles * np.outer(record, np.arange(1, count + 1))
    return np.hstack([np.ones((len(record), 1)), np.cos(angle), np.sin(angle)])


def _strongest(before: Floats, count: int = 4) -> Floats:
    centred = before - before.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    result: Floats = centred @ vectors[:, -count:]
    return result


def _misfit(values: Floats, cycles: float, count: int) -> float:
    """What is left of values by a least-squares fit, up to a constant."""
    basis = _basis(np.arange(len(values)), cycles, count)
    seen = basis.T @ values
    return -float(np.sum(seen * np.linalg.solve(basis.T @ basis, seen)))
