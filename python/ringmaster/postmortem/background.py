# SPDX-License-Identifier: Apache-2.0
"""What the streams did before the event: a background that is learnt there, and taken away everywhere.

Before the event a stream has mains lines, betatron and synchrotron lines, drift and noise. All of them can be predicted
from the records before, so what is left of a prediction is white, and an event is what was not predicted:

    w(t) = y(t) - Σ c_i y(t - i)          i = 1 … order        the same c for all rows

The c add up to 1: whatever drifts slowly is away, also where it did not drift before. One filter for all rows keeps
what an event looks like across the machine: a pattern u with the course a(t) becomes the same pattern with the course
a(t) - Σ c_i a(t - i). The filter is the least-squares one (J. Makhoul, Proc. IEEE 63, 561, 1975). What is left of all
rows has a covariance (``covariance``), and is divided by its root. So without an event all of it is normal, with a
variance of 1, row by row and record by record.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from ringmaster.postmortem.covariance import Sources, noise_root

Floats = npt.NDArray[np.float64]
RIDGE = 1e-7
"""Of the variance: keeps the filter finite where lines are clean."""
LEAST_RECORDS = 4
"""Before the event, per term of the filter."""


class TooShort(ValueError):
    """There is too little before the event to know the background."""


@dataclass(frozen=True)
class Background:
    """Of rows of one rate: [record, row], evenly spaced, without gaps."""

    mean: Floats
    """Of each row before the event."""
    filter: Floats
    """1, -c_1, -c_2, …"""
    whitener: Floats
    """[row, row]: the symmetric root of the inverse covariance of what is not predicted."""
    noise: Floats
    """RMS of what is not predicted, of each row, in the row's unit."""

    @classmethod
    def learn(cls, before: Floats, order: int, apart: int = 0, sources: Sources | None = None) -> Self:
        """From records without an event. Raises TooShort.

        The first so many rows share nothing with the others.
        """
        count, row_count = before.shape
        if count < LEAST_RECORDS * order + 32:
            raise TooShort(f"{count} records before the event are too few; expected {LEAST_RECORDS * order + 32}")
        mean = before.mean(axis=0)
        taps = _prediction(before - mean, order)
        left = _filtered(before - mean, taps)
        noise = np.maximum(left.std(axis=0), 1e-12 * (1 + np.abs(mean)))
        whitener = np.zeros((row_count, row_count))
        for rows in (slice(0, apart), slice(apart, None)):
            known = None if sources is None else sources.of(rows, noise)
            whitener[rows, rows] = noise_root((left / noise)[:, rows], known)
        whitener /= noise
        return cls(mean, taps, whitener, noise)

    @property
    def order(self) -> int:
        """Records that a prediction takes; so many records of what is left are missing at the start."""
        return len(self.filter) - 1

    def left(self, values: Floats) -> Floats:
        """What was not predicted, whitened: [record - order, row]."""
        result: Floats = _filtered(values - self.mean, self.filter) @ self.whitener.T
        return result

    def pattern(self, columns: Floats) -> Floats:
        """Patterns [row, column], as ``left`` would show them."""
        result: Floats = self.whitener @ columns
        return result

    def course(self, courses: Floats) -> Floats:
        """Courses [record, …] that are 0 before their first record, as ``left`` would show them; as long."""
        padded = np.concatenate([np.zeros((self.order, *courses.shape[1:])), courses])
        return _filtered(padded, self.filter)


def _filtered(values: Floats, taps: Floats) -> Floats:
    order = len(taps) - 1
    result: Floats = taps[0] * values[order:]
    for i in range(1, order + 1):
        result = result + taps[i] * values[order - i : len(values) - i]
    return result


def _prediction(values: Floats, order: int) -> Floats:
    """Twice: rows count by what is left of them, which is known the second time."""
    weight = 1 / np.maximum(np.diff(values, axis=0).std(axis=0), 1e-30)
    taps = np.ones(1)
    for _ in range(2):
        taps = _least_squares(values * weight, order)
        weight = 1 / np.maximum(_filtered(values, taps).std(axis=0), 1e-30)
    return taps


def _least_squares(values: Floats, order: int) -> Floats:
    count = len(values)
    lagged = np.stack([values[order - i : count - i].ravel() for i in range(order + 1)])
    products = lagged @ lagged.T
    matrix = products[1:, 1:] + RIDGE * products[0, 0] * np.eye(order)
    free, level = np.linalg.solve(matrix, np.stack([products[1:, 0], np.ones(order)], axis=1)).T
    return np.concatenate([[1.0], -(free + level * (1 - free.sum()) / level.sum())])
