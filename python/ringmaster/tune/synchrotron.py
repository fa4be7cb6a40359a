# SPDX-License-Identifier: Apache-2.0
"""The synchrotron tune: a resonance that noise drives, at low frequency, where there is dispersion, and in RF phases.

Dispersive BPMs together tell δ, by the lattice's dispersion. Its periodogram, with Hann's window, is fitted by

    S(Q) = a (Q/Q_s)^κ ÷ (1 + ((Q² − Q_s²) ÷ 2 w Q)²) + b,    w = 1 ÷ (2π damping time)

A resonator whose energy noise drives has κ = 0 in energy and −2 in phase. What drives it is not known, so κ is fitted:
a symmetric line would be wrong by some of its errors. The fit is by Whittle's likelihood, Σ ln S + P/S (P. Whittle,
Ark. Mat. 2, 423 (1953)), whose curvature gives the errors, larger by √(35/18) for the bins that the window makes alike.
A line that is narrower than the span resolves is taken to be as wide as that. Its width is likely to be the lattice's
within a factor of two; else, where the span has few bins across the line, the one that noise makes highest would pass
for a line by itself. The line must make the whole band more likely, by SEEN, than a level alone does.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from ringmaster.optics.lines import Floats
from ringmaster.spectra.series import interpolated

BAND = (0.5, 1.6)
"""Of the lattice's synchrotron tune: where it is looked for."""
HANN_ALIKE = 35 / 18
"""Σ w⁴ ÷ (Σ w²)² of Hann's window, times the number of turns."""
LEAST_PERIODS = 20
PRESENT = 0.5
"""Share of its turns that a BPM must have."""
SEEN = 12.0
"""Logarithm of the ratio of the likelihoods, with the line and without it."""
WIDTH_LIKELY = 0.7
"""How far the logarithm of the line's width is from the lattice's: a normal distribution with this σ."""
DEEP = 12.0
"""The level is sought no further below the median than e to that."""


@dataclass(frozen=True)
class SynchrotronLine:
    """Of one signal."""

    name: str
    tune: float
    sigma: float
    damping_turns: float
    """By the width; at most what the span resolves."""
    damping_sigma: float
    rms: float
    """Of the oscillation, in ``unit``."""
    unit: str
    above: float
    """Height of the line over the level beside it."""
    at: Floats
    """Shape (bins,): tunes of the band …"""
    power: Floats
    """… the periodogram there …"""
    fit: Floats
    """… and what was fitted."""


def delta_of(x_m: Floats, dispersion_m: Floats) -> Floats:
    """δ turn by turn, shape (turns,), of x at dispersive BPMs, shape (BPMs, turns): least squares over those that send.

    Raises ValueError where none has half of the turns.
    """
    sends = np.isfinite(x_m).mean(axis=1) > PRESENT
    if not sends.any():
        raise ValueError(f"none of {len(x_m)} dispersive BPMs has half of the turns; `ringmaster top` shows why")
    filled = np.array([interpolated(one) for one in x_m[sends]])
    filled -= filled.mean(axis=1, keepdims=True)
    return np.asarray(dispersion_m[sends] @ filled / np.sum(dispersion_m[sends] ** 2))


def find(name: str, values: Floats, unit: str, expected: float, damping_turns: float) -> SynchrotronLine:
    """In ``values``, shape (turns,), near the lattice's tune. Raises ValueError where no line is seen."""
    turns = len(values)
    if turns * expected < LEAST_PERIODS:
        raise ValueError(f"{name}: {turns} turns; it takes {LEAST_PERIODS / expected:.0f}")
    window = np.sqrt(2 / 3) * (1 - np.cos(2 * np.pi * np.arange(turns) / turns))
    power = 2 * np.abs(np.fft.rfft((values - values.mean()) * window)) ** 2 / turns
    at = np.arange(len(power)) / turns
    inside = (at > BAND[0] * expected) & (at < BAND[1] * expected)
    at, power = at[inside], power[inside]
    narrowest = 0.75 / turns
    width = max(1 / (2 * np.pi * damping_turns), narrowest)
    across = max(3, round(2 * width * turns))
    smooth = np.convolve(power, np.full(across, 1 / across), mode="same")
    level, top = float(np.median(power) / np.log(2)), int(np.argmax(smooth))
    begin = np.array([at[top] / width, 0.0, np.log(float(smooth[top])), np.log(level), 0.0])
    lowest = np.log(level) - DEEP

    def shape(p: Floats) -> Floats:
        middle, half = p[0] * width, max(float(np.exp(p[1])) * width, narrowest)
        line = np.exp(p[2] + p[4] * np.log(at / middle)) / (1 + ((at**2 - middle**2) / (2 * half * at)) ** 2)
        return np.asarray(line + np.exp(max(p[3], lowest)))

    def cost(p: Floats) -> float:
        fit = shape(p)
        return float(np.sum(np.log(fit) + power / fit) + HANN_ALIKE * (p[1] / WIDTH_LIKELY) ** 2 / 2)

    best = np.asarray(minimize(cost, begin, method="Nelder-Mead", options={"maxiter": 8000, "fatol": 1e-6}).x)
    alone = len(at) * (np.log(float(np.mean(power))) + 1)
    if not (alone - cost(best)) / HANN_ALIKE > SEEN or not at[0] < best[0] * width < at[-1]:
        raise ValueError(
            f"{name}: no synchrotron line between {at[0]:.5f} and {at[-1]:.5f}; its energy oscillates too little, or "
            f"the span is too short"
        )
    sigma = np.sqrt(np.diag(_covariance(shape, best)) * HANN_ALIKE)
    half, fit = max(float(np.exp(best[1])) * width, narrowest), shape(best)
    return SynchrotronLine(
        name=name,
        tune=float(best[0] * width),
        sigma=float(sigma[0] * width),
        damping_turns=1 / (2 * np.pi * half),
        damping_sigma=float(sigma[1]) / (2 * np.pi * half),
        rms=float(np.sqrt(np.exp(best[2]) * np.pi * half)),
        unit=unit,
        above=float(np.exp(best[2] - max(best[3], lowest))),
        at=at,
        power=power,
        fit=fit,
    )


def _covariance(shape: Callable[[Floats], Floats], best: Floats) -> Floats:
    """By the Fisher information of periodograms, which are exponentially distributed."""
    slopes = []
    for i in range(len(best)):
        step = np.zeros(len(best))
        step[i] = 1e-4
        slopes.append((np.log(shape(best + step)) - np.log(shape(best - step))) / 2e-4)
    size = np.linalg.norm(slopes, axis=1)
    size[size == 0] = 1.0  # what the band does not tell of, such as a level far below the line
    slope = np.array(slopes) / size[:, None]
    return np.asarray(np.linalg.pinv(slope @ slope.T, rcond=1e-9, hermitian=True) / np.outer(size, size))
