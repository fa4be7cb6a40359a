# SPDX-License-Identifier: Apache-2.0
"""Phases by which many sines together make small excursions, at all BPMs at once.

The largest excursion of a sum of sines with phases by lot is some four times its RMS. A norm of a high power, of all
rows and times together, is nearly the largest excursion, and smooth in the phases: so it is minimised by its gradient
(P. Guillaume, J. Schoukens, R. Pintelon, I. Kollár, IEEE Trans. Instrum. Meas. 40, 982, 1991), beginning from
M. R. Schroeder's phases (IEEE Trans. Inf. Theory 16, 85, 1970).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.optimize import minimize

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Ints = NDArray[np.int64]
POWERS = (4, 8, 16)
"""Of two, one after the other: the higher, the nearer to the largest, and the harder."""
_STEPS = 25
_TIMES = 4
"""Points of time for each period of the highest frequency."""
_FINE = 24
"""The same, where the largest is looked for."""
Progress = Callable[[float], None]


def excursions(moved: Complexes, bins: Ints, times: int = _FINE) -> Floats:
    """[row] the largest that the sum of sines comes to in a window. ``moved``: [row, line] their phasors."""
    return np.asarray(np.max(np.abs(_course(moved, bins, _points(bins, times))), axis=1), np.float64)


def largest(moved: Complexes, bins: Ints, weights: Floats) -> float:
    """Of all rows, each counted by its weight."""
    return float(np.max(excursions(moved, bins) * weights))


def _points(bins: Ints, times: int) -> int:
    return int(fft.next_fast_len(int(times * bins.max()), real=True))


def _course(moved: Complexes, bins: Ints, points: int, kind: type = np.complex128) -> NDArray[np.floating[Any]]:
    """[row, time], in double or, where that is enough, in single precision."""
    spectrum: NDArray[Any] = np.zeros((len(moved), points // 2 + 1), kind)
    spectrum[:, bins] = 0.5 * points * moved
    return np.asarray(fft.irfft(spectrum, points, axis=1))


def schroeder(bins: Ints) -> Floats:
    """Phases that go round faster and faster with the frequency."""
    order = np.argsort(np.argsort(bins))
    return np.asarray(-np.pi * order * (order + 1) / len(bins), np.float64)


def optimised(
    answer: Complexes,
    bins: Ints,
    weights: Floats,
    seed: int,
    progress: Progress = lambda _: None,
    powers: Sequence[int] = POWERS,
) -> Floats:
    """[line] phases. ``answer``: [row, line], ``weights``: [row]."""
    if len(bins) < 3:  # of two lines no phase changes what they come to
        return np.zeros(len(bins))
    scaled = answer * weights[:, None]
    scaled = scaled / np.sqrt(np.mean(np.square(np.abs(scaled)).sum(axis=1)))
    lot = np.random.default_rng(seed).uniform(-np.pi, np.pi, len(bins))
    evenly = np.ones(len(scaled))
    starts = (schroeder(bins), lot)
    best = min(starts, key=lambda phases: largest(scaled * np.exp(1j * phases), bins, evenly))
    points, least = _points(bins, _TIMES), largest(scaled * np.exp(1j * best), bins, evenly)
    phases = best
    for number, power in enumerate(powers):
        found = minimize(_norm, phases, args=(scaled, bins, points, power), jac=True, method="L-BFGS-B",
                         options={"maxiter": _STEPS})  # fmt: skip
        phases = found.x
        now = largest(scaled * np.exp(1j * phases), bins, evenly)
        if now < least:
            best, least = phases, now
        progress((number + 1) / len(powers))
    return np.asarray(np.angle(np.exp(1j * best)), np.float64)


def _norm(phases: Floats, scaled: Complexes, bins: Ints, points: int, power: int) -> tuple[float, Floats]:
    """Logarithm of mean(s^p), and its gradient: ds/dφ_k of a row is Re(i z_k exp(iω_k t))."""
    turned = scaled * np.exp(1j * phases)
    course = _course(turned, bins, points, np.complex64)
    raised, square = course, course
    for _ in range(power.bit_length() - 2):  # to the power - 1, as 1 + 2 + 4 + …
        square = square * square
        raised = raised * square
    mean = float(np.mean(raised * course, dtype=np.float64))
    back = np.conj(fft.rfft(raised, axis=1)[:, bins])
    gradient = (power / (course.size * mean)) * np.sum(np.real(1j * turned * back), axis=0)
    return float(np.log(mean)), np.asarray(gradient, np.float64)
