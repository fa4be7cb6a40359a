# SPDX-License-Identifier: Apache-2.0
"""What a signal does at the frequency at which something is moved: period by period, so that the scatter is the error.

Signal and reference are each fitted by a cosine, a sine, a constant and a straight line over one period. The ratio of
the two phasors is the response: its real part what moves together, its imaginary part what comes a quarter later. The
reference is what was measured, so it need not be a perfect sine, nor begin at a known time.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
PRESENT = 0.5
"""Share of its usual records that a period must have."""
LEAST_RECORDS = 6
LEAST_PERIODS = 3


@dataclass(frozen=True)
class LockedIn:
    """Of one signal per unit of the reference."""

    value: complex
    sigma: float
    """Of the real part."""
    periods: int


def phasor(turn: NDArray[np.int64], values: Floats, per_turn: float) -> complex:
    """Amplitude and phase, at turn 0, of a line of ``per_turn`` oscillations; NaN where there is too little."""
    if len(turn) < LEAST_RECORDS:
        return complex(np.nan, np.nan)
    middle = int(turn[len(turn) // 2])
    angle = 2 * np.pi * per_turn * (turn - middle)
    basis = np.stack([np.cos(angle), np.sin(angle), np.ones(len(turn)), angle], axis=1)
    found, *_ = np.linalg.lstsq(basis, values, rcond=None)
    return complex(found[0], -found[1]) * complex(np.exp(-2j * np.pi * np.fmod(per_turn * middle, 1.0)))


def by_period(turn: NDArray[np.int64], values: Floats, period_turns: float, begin: int, periods: int) -> Complexes:
    """Shape (lanes, periods): the phasors of ``values``, shape (lanes, records), in each period from ``begin`` on."""
    number = np.floor((turn - begin) / period_turns).astype(np.int64)
    counts = np.array([np.count_nonzero(number == k) for k in range(periods)])
    least = PRESENT * float(np.median(counts)) if periods else 0.0
    out = np.full((len(values), periods), np.nan, np.complex128)
    for k in np.flatnonzero((counts >= least) & (counts > 0)).tolist():
        inside = number == k
        for lane, one in enumerate(values):
            good = inside & np.isfinite(one)
            if good.sum() >= least:
                out[lane, k] = phasor(turn[good], one[good], 1 / period_turns)
    return out


def response(signal: Complexes, reference: Complexes) -> LockedIn:
    """The mean over the periods, and its error by their scatter. Raises ValueError where there are too few."""
    ratio = signal / reference
    ratio = ratio[np.isfinite(ratio)]
    if len(ratio) < LEAST_PERIODS:
        raise ValueError(f"{len(ratio)} whole periods came, and an error takes {LEAST_PERIODS}: measure for longer")
    spread = np.std(ratio.real, ddof=1) / np.sqrt(len(ratio))
    return LockedIn(complex(np.mean(ratio)), float(spread), len(ratio))
