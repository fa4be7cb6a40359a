# SPDX-License-Identifier: Apache-2.0
"""The lines of the mains in a window: their frequency is fitted, as it wanders while one measures.

All harmonics have the phase of the first, times their number. That phase is had from the readings that see most of it,
in pieces, with what is excited taken off before. Each harmonic is then a cosine and a sine of it whose size may change
a little, by a polynomial: what a line's own phase does besides is in there.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_smoothing_spline

from ringmaster.response.frequencies import Mains
from ringmaster.response.sines import Window, drift

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
PIECE_S = 0.25
"""Of which each tells the phase once."""
SEEN = 5.0
"""Times the noise of a piece, from where a phase is told."""
ORDER = 3
"""Of the polynomials by which a line's size changes."""
BEYOND_HZ = 60.0
"""Lines that are so far above the highest excitation leak into nothing."""
_LEAST_PIECES = 5
"""That a smooth curve needs."""
_NEARLY_ALL = 0.98
"""Share of its records that a row must have to tell the phase."""
_STRONGEST = 8
"""Rows, that see most of the mains."""


def phase_of(values: Floats, rate_hz: float, bins: Ints, mains: Mains) -> Floats | None:
    """[record] the mains' phase, rad; None where there are none to be seen. ``values``: [row, record]."""
    strong = _strongest(values, rate_hz, mains)
    if not len(strong):
        return None
    records = values.shape[1]
    filled = np.array([_filled(row) for row in strong])
    nominal = _fixed(records, rate_hz, mains.hz)
    window = Window(records, bins, np.concatenate([drift(records), nominal], axis=1))
    cleaned = filled - window.synthesized(window.fit(filled).phasors)
    return _tracked(cleaned, rate_hz, mains)


def _strongest(values: Floats, rate_hz: float, mains: Mains) -> Floats:
    """The rows that see most at the mains' frequency, of those with few gaps."""
    complete = values[np.isfinite(values).mean(axis=1) > _NEARLY_ALL]
    if not len(complete) or mains.hz <= 0:
        return np.empty((0, values.shape[1]))
    tone = np.exp(-2j * np.pi * mains.hz / rate_hz * np.arange(values.shape[1])) * np.hanning(values.shape[1])
    size = np.array([abs(np.nan_to_num(row - np.nanmean(row)) @ tone) for row in complete])
    return np.asarray(complete[np.argsort(-size)[:_STRONGEST]], np.float64)


def _filled(row: Floats) -> Floats:
    good = np.isfinite(row)
    index = np.arange(len(row))
    return row if good.all() else np.interp(index, index[good], row[good])


def _fixed(records: int, rate_hz: float, hz: float) -> Floats:
    """[record, function] a line, and what is 1/T on both sides of it, five times."""
    time = np.arange(records) / rate_hz
    sides = hz + np.arange(-5, 6) * rate_hz / records
    angle = 2 * np.pi * np.outer(time, sides)
    return np.concatenate([np.cos(angle), np.sin(angle)], axis=1)


def _tracked(rows: Floats, rate_hz: float, mains: Mains) -> Floats | None:
    """Piece by piece, of whole periods; the pieces' phases by a smooth curve."""
    records = rows.shape[1]
    length = round(max(1, round(PIECE_S * mains.hz)) * rate_hz / mains.hz)
    starts = np.arange(0, records - length + 1, length // 2)
    if len(starts) < _LEAST_PIECES:
        return None
    shape = np.hanning(length + 1)[:-1]
    tone = np.exp(-2j * np.pi * mains.hz / rate_hz * np.arange(records))
    pieces = np.array([(rows[:, s : s + length] * tone[s : s + length]) @ shape for s in starts]).T / shape.sum()
    _, weights, direction = np.linalg.svd(pieces, full_matrices=False)
    course = weights[0] * direction[0]
    middle = (starts + length / 2) / rate_hz
    turned = np.unwrap(np.angle(course))
    curve = make_smoothing_spline(middle, turned, w=np.abs(course) ** 2 / np.mean(np.abs(course) ** 2), lam=1e-4)
    scatter = np.std(turned - curve(middle))
    if weights[0] < SEEN * weights[1] and scatter > 1 / SEEN:
        return None
    time = np.arange(records) / rate_hz
    return np.asarray(2 * np.pi * mains.hz * time + curve(time), np.float64)


def functions(phase: Floats, rate_hz: float, highest_hz: float, mains: Mains) -> Floats:
    """[record, function] drift, and all lines of the mains that matter below ``highest_hz``."""
    records = len(phase)
    slow = drift(records)
    last = min(math.floor((highest_hz + BEYOND_HZ) / mains.hz), math.floor(0.45 * rate_hz / mains.hz))
    parts = [slow]
    for harmonic in range(1, last + 1):
        shape = slow[:, : ORDER + 1]
        parts += [shape * np.cos(harmonic * phase)[:, None], shape * np.sin(harmonic * phase)[:, None]]
    return np.concatenate(parts, axis=1)


def hz_of(phase: Floats, rate_hz: float) -> tuple[float, float]:
    """Mean frequency and its RMS wander in the window."""
    hz = np.gradient(phase) * rate_hz / (2 * np.pi)
    return float(np.mean(hz)), float(np.std(hz))
