# SPDX-License-Identifier: Apache-2.0
"""Amplitudes of a stretch of readings at the frequencies of a swing: at rest, at both, at their sum and difference."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringmaster.bba.plant import Floats, Readings

Complexes = NDArray[np.complex128]
REST, SWING_X, SWING_Y, SUM, DIFFERENCE, TWICE_X, TWICE_Y = range(7)
"""Places of the lines in what ``phasors`` gives."""
LINES = 7
MAINS_HZ = (50.0, 100.0, 150.0)
"""Fitted with them: what wanders a little does not leak into the others."""
PRESENT = 0.5
"""Share of the samples that a reading must have."""


@dataclass(frozen=True)
class Swing:
    """Of x and of y."""

    hz: tuple[float, float]

    @property
    def lines_hz(self) -> Floats:
        """[line]."""
        x, y = self.hz
        return np.array([0.0, x, y, x + y, y - x, 2 * x, 2 * y])


def phasors(readings: Readings, swing: Swing) -> Complexes:
    """[row, line]: of the cosine at time 0, by least squares with a straight line; NaN for a row that is not there.

    The line at rest is the mean, a real number.
    """
    time_s, values = readings.time_s, readings.values
    angle = 2 * np.pi * np.array([*swing.lines_hz[1:], *MAINS_HZ])[:, None] * time_s
    slope = (time_s - time_s.mean()) / max(float(np.ptp(time_s)), 1e-9)
    basis = np.concatenate([np.ones((1, len(time_s))), slope[None], np.cos(angle), np.sin(angle)])
    found = np.full((len(values), LINES), np.nan, np.complex128)
    good = np.isfinite(values)
    whole = good.all(axis=1)
    if whole.any():
        found[whole] = _complex(np.linalg.lstsq(basis.T, values[whole].T, rcond=None)[0].T)
    for row in np.flatnonzero(~whole & (good.mean(axis=1) > PRESENT)).tolist():
        some = good[row]
        found[row] = _complex(np.linalg.lstsq(basis.T[some], values[row, some], rcond=None)[0][None])[0]
    return found


def _complex(fitted: Floats) -> Complexes:
    out = np.empty((len(fitted), LINES), np.complex128)
    out[:, REST] = fitted[:, 0]
    sine = 1 + LINES + len(MAINS_HZ)
    out[:, 1:] = fitted[:, 2 : 1 + LINES] - 1j * fitted[:, sine : sine + LINES - 1]
    return out


def mean_of(values: Complexes, axis: int) -> Complexes:
    """Of what is a number; NaN where nothing is."""
    good = np.isfinite(values)
    total, count = np.where(good, values, 0).sum(axis=axis), good.sum(axis=axis)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan), np.complex128)


def product(a: complex, b: complex) -> tuple[complex, complex]:
    """Phasors at the sum and at the difference (b's frequency less a's) of the product of two cosines."""
    return a * b / 2, np.conj(a) * b / 2
