# SPDX-License-Identifier: Apache-2.0
"""Lines of turn-by-turn signals: frequency, amplitude and phase, each with its error.

A line a cos(2π Q n + φ) is fitted with Hann's window as the weights, so that other lines, further away than a few bins,
hardly matter. At a given frequency this is least squares over the turns that are there; the frequency is where the
power of the fit is the largest. Errors follow from what the fit leaves: with weights w (Σ w = 1), noise of variance s²
and turns n counted from their weighted middle,

    σ_a² = 2 s² Σ w²        σ_Q = σ_a/a · √(Σ w² n² ÷ Σ w²) ÷ (2π Σ w n²)

For a rectangular window that is the Cramér–Rao bound (D. Rife, R. Boorstyn, IEEE Trans. Inf. Theory 20, 591 (1974)),
for Hann's 1.53 times it: the price for not seeing the other lines.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
PRESENT = 0.5
ROUNDS = 30
LEAST_TURNS = 32


@dataclass(frozen=True)
class Line:
    """One line of one signal."""

    tune: float
    """Fractional, 1/turn, 0 to 0.5."""
    amplitude: complex
    """a e^{iφ}, φ at the first turn, in the signal's unit."""
    sigma_tune: float
    sigma_amplitude: float
    """Of the real and of the imaginary part, each."""

    @property
    def signal_to_noise(self) -> float:
        """Amplitude over its σ; below 5 it is no line."""
        return abs(self.amplitude) / self.sigma_amplitude if self.sigma_amplitude > 0 else np.inf


def hann(values: Floats) -> Floats:
    """The window's weights over the turns that are there, with a sum of 1. Raises ValueError for too few of them."""
    present = np.isfinite(values)
    if len(values) < LEAST_TURNS or present.mean() < PRESENT:
        raise ValueError(f"{present.sum()} of {len(values)} turns are there; a line takes half, and {LEAST_TURNS}")
    weights = (1 - np.cos(2 * np.pi * (np.arange(len(values)) + 0.5) / len(values))) * present
    return np.asarray(weights / weights.sum())


def fit(values: Floats, weights: Floats, tune: float) -> tuple[complex, Floats]:
    """The line at a frequency, with a constant beside it, and what is left."""
    phase = 2 * np.pi * tune * np.arange(len(values))
    basis = np.stack([np.ones(len(values)), np.cos(phase), -np.sin(phase)])
    filled = np.where(weights > 0, values, 0.0)
    normal = (basis * weights) @ basis.T
    found = np.linalg.solve(normal, (basis * weights) @ filled)
    rest = np.where(weights > 0, filled - found @ basis, 0.0)
    return complex(found[1], found[2]), rest


def find_line(values: Floats, low: float, high: float) -> Line:
    """The highest line between two frequencies (1/turn)."""
    weights = hann(values)
    filled = np.where(weights > 0, values, 0.0)
    centred = weights * np.where(weights > 0, filled - weights @ filled, 0.0)
    size = 4 * len(values)
    power = np.abs(np.fft.rfft(centred, size)) ** 2
    first, last = max(1, round(low * size)), min(len(power) - 2, round(high * size))
    if last <= first:
        raise ValueError(f"no frequency of {len(values)} turns lies between {low:g} and {high:g}")
    top = first + int(np.argmax(power[first : last + 1]))
    tune = _highest(centred, (top - 1) / size, (top + 1) / size)
    return line_at(values, weights, tune)


def line_at(values: Floats, weights: Floats, tune: float) -> Line:
    """The line at a frequency, with the errors that the rest of the signal gives it."""
    amplitude, rest = fit(values, weights, tune)
    present = weights > 0
    noise = float(np.sqrt(np.sum(rest**2) / max(1, present.sum() - 4)))
    sigma = noise * np.sqrt(2 * np.sum(weights**2))
    return Line(tune, amplitude, sigma_tune(weights, sigma, abs(amplitude)), float(sigma))


def sigma_tune(weights: Floats, sigma_amplitude: float, amplitude: float) -> float:
    """Of the frequency of a line, by what noise does to the place of the highest power."""
    turn = np.arange(len(weights))
    middle = turn - weights @ turn
    second = float(weights @ middle**2)
    spread = float(np.sqrt(np.sum(weights**2 * middle**2) / np.sum(weights**2)))
    return sigma_amplitude / max(amplitude, 1e-300) * spread / (2 * np.pi * second)


def _highest(centred: Floats, low: float, high: float) -> float:
    """The frequency of the largest power between two, by golden sections."""
    turn = np.arange(len(centred))

    def power(tune: float) -> float:
        return float(np.abs(np.sum(centred * np.exp(-2j * np.pi * tune * turn))) ** 2)

    ratio = (np.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = power(left), power(right)
    for _ in range(ROUNDS):
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = power(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = power(right)
    return (low + high) / 2
