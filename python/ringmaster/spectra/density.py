# SPDX-License-Identifier: Apache-2.0
"""Power spectral density by Welch's averaging, of data with gaps, too.

Each piece is fitted, at each frequency of its grid, by a constant, a cosine and a sine: weighted least squares over the
turns that are present, with the window as the weights (the generalised Lomb–Scargle periodogram: Zechmeister and
Kürster, Astron. Astrophys. 496, 577, 2009). Where nothing is missing this is the windowed Fourier transform. On a grid
the sums of the fit are two transforms, of the data and of the weights, so that gaps cost no more than a factor of two.
Nothing is invented for the turns that are missing. What they do cost: each piece's line leaks about (missing share) ÷
(records of the piece) of its power into every other frequency.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WINDOWS = ("hann", "rectangular")
PIECES = 8
"""Half-overlapping, as long as nothing else is asked for: the density is then right to a third."""
PRESENT = 0.5
"""Share of its records that a piece must have."""
LINE_BINS = 2
"""On each side of a line's highest bin that hold its power: all of it by Hann's window, 92 % by the rectangular one."""
OVERLAP_CORRELATION = {"hann": 1 / 36, "rectangular": 1 / 4}
"""Of the powers of two pieces that overlap by half: the square of Σ w(i) w(i + n/2) ÷ Σ w²."""


@dataclass(frozen=True)
class Density:
    """One-sided power spectral density: its sum times the step of frequency is the variance."""

    hz: Floats
    """Shape (bins,): from one step above 0 to one below half the rate."""
    density: Floats
    """Shape (bins,): unit²/Hz."""
    enbw_hz: float
    """Equivalent noise bandwidth of a bin: a line's power is spread over it."""
    size: int
    """Records of a piece."""
    pieces: int
    """That were averaged."""
    left_out: int
    """Pieces that had too few records."""
    missing: float
    """Share of the records that were not had."""
    window: str
    floor: Floats = field(repr=False)
    """Shape (bins,): what the density is between lines, the median around each bin."""

    @property
    def step_hz(self) -> float:
        """From bin to bin."""
        return float(self.hz[1] - self.hz[0])

    @property
    def cumulated_rms(self) -> Floats:
        """RMS of all from the lowest frequency up to each."""
        return np.asarray(np.sqrt(np.cumsum(self.density) * self.step_hz))

    def rms(self, low_hz: float = 0.0, high_hz: float = math.inf) -> float:
        """RMS of what lies between two frequencies."""
        chosen = (self.hz >= low_hz) & (self.hz <= high_hz)
        return float(np.sqrt(np.sum(self.density[chosen]) * self.step_hz))

    @property
    def relative_sigma(self) -> float:
        """Standard deviation of a bin of noise, in parts of its density; pieces that overlap share what they know."""
        shared = 2 * (self.pieces - 1) * OVERLAP_CORRELATION[self.window]
        return math.sqrt((1 + shared / self.pieces) / self.pieces)


@dataclass(frozen=True)
class SpectralLine:
    """A line that stands out of the noise."""

    hz: float
    """Between the bins, by the parabola through the logarithms of three."""
    amplitude: float
    """Of its sine."""
    above: float
    """Its power over that of the noise around it."""

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return {"hz": self.hz, "amplitude": self.amplitude, "above_noise": self.above}


def window_weights(name: str, size: int) -> Floats:
    """Shape (size,), with a sum of 1; periodic, so that a sine on a bin's centre has its neighbours only."""
    if name == "rectangular":
        return np.full(size, 1.0 / size)
    if name != "hann":
        raise ValueError(f"no window {name!r}; expected one of: {', '.join(WINDOWS)}")
    return np.asarray((1 - np.cos(2 * np.pi * np.arange(size) / size)) / size)


def piece_size(records: int, pieces: int = PIECES) -> int:
    """Of so many half-overlapping pieces; even."""
    return 2 * (records // (pieces + 1))


def welch(values: Floats, rate_hz: float, size: int = 0, window: str = "hann") -> Density:
    """The density of ``values``, shape (n,), NaN where nothing is, over half-overlapping pieces of ``size`` records.

    Each piece is without its mean. Without ``size``: eight pieces. Raises ValueError where no piece has half of its
    records, and for less than 16 records.
    """
    size = size - size % 2 or piece_size(len(values))
    if size < 8 or size > len(values):
        raise ValueError(f"a spectrum takes pieces of 8 to {len(values)} records, not {size}")
    total, pieces, left_out, enbw = np.zeros(size // 2 - 1), 0, 0, 0.0
    for begin in range(0, len(values) - size + 1, size // 2):
        one = piece_density(values[begin : begin + size], rate_hz, window)
        if one is None:
            left_out += 1
            continue
        total += one[0]
        enbw += one[1]
        pieces += 1
    if pieces == 0:
        share = float(np.isfinite(values).mean())
        raise ValueError(f"{share:.1%} of the records came; a piece of a spectrum takes {PRESENT:.0%}")
    density = total / pieces
    missing = 1.0 - float(np.isfinite(values).mean())
    hz = np.arange(1, size // 2) * rate_hz / size
    return Density(hz, density, enbw / pieces, size, pieces, left_out, missing, window, running_median(density))


def piece_density(values: Floats, rate_hz: float, window: str) -> tuple[Floats, float] | None:
    """Density at the bins 1 to n/2 − 1 of one piece, and the noise bandwidth; None where too few records are there."""
    present = np.isfinite(values)
    if present.mean() < PRESENT:
        return None
    weights = window_weights(window, len(values)) * present
    weights /= weights.sum()
    centred = np.where(present, values, 0.0)
    centred = np.where(present, centred - weights @ centred, 0.0)
    amplitude_squared = _fitted_power(weights, centred)
    enbw_hz = rate_hz * float(np.sum(weights**2))
    return amplitude_squared / 2 / enbw_hz, enbw_hz


def _fitted_power(weights: Floats, values: Floats) -> Floats:
    """a² + b² of the fit of constant + a cos + b sin at each bin; the values' weighted mean is 0."""
    bins = np.arange(1, len(values) // 2)
    data = np.fft.rfft(weights * values)[bins]
    of_weights = np.fft.fft(weights)
    once, twice = of_weights[bins], of_weights[2 * bins]
    cosine, sine = data.real, -data.imag
    c, s = once.real, -once.imag
    cc = (1 + twice.real) / 2 - c * c
    ss = (1 - twice.real) / 2 - s * s
    cs = -twice.imag / 2 - c * s
    determinant = np.maximum(cc * ss - cs * cs, 1e-12)
    a = (cosine * ss - sine * cs) / determinant
    b = (sine * cc - cosine * cs) / determinant
    return np.asarray(a * a + b * b)


def running_median(density: Floats, bins: int = 101) -> Floats:
    """The median of each bin's neighbourhood, by blocks of ``bins`` and straight lines between their middles."""
    bins = max(3, min(bins, len(density) // 4))
    edges = np.arange(0, len(density) - bins + 1, max(1, bins // 2))
    medians = np.array([np.median(density[edge : edge + bins]) for edge in edges])
    return np.asarray(np.interp(np.arange(len(density)), edges + (bins - 1) / 2, medians))


def lines(found: Density, most: int = 10, false_alarms: float = 1e-3) -> list[SpectralLine]:
    """The highest lines, highest first; noise alone shows one in ``false_alarms`` of all spectra.

    A bin of noise over K independent pieces has a χ² of 2K degrees of freedom, whose upper tail is bounded here by
    Chernoff: P(x > r · mean) ≤ exp(−K (r − 1 − ln r)).
    """
    independent = 1 / found.relative_sigma**2
    threshold = _chernoff(math.log(len(found.hz) / false_alarms) / independent)
    mean = found.floor / _median_of_mean(independent)
    above = found.density / np.maximum(mean, np.finfo(float).tiny)
    rest = np.where(above > threshold, found.density, 0.0)
    rest[:LINE_BINS] = 0.0  # what drifts within a piece is no line
    result: list[SpectralLine] = []
    while len(result) < most and rest.any():
        at = int(np.argmax(rest))
        near = slice(max(0, at - LINE_BINS), at + LINE_BINS + 1)
        power = float(np.sum(found.density[near] - mean[near])) * found.step_hz
        result.append(SpectralLine(_between(found, at), math.sqrt(2 * max(0.0, power)), float(above[at])))
        _take_out(rest, at)
    return result


def _take_out(rest: Floats, at: int) -> None:
    """Sets a line to 0, and its foot on either side as far as it falls."""
    left, right = at, at
    while left > 0 and (rest[left - 1] < rest[left] or at - left < LINE_BINS):
        left -= 1
    while right < len(rest) - 1 and (rest[right + 1] < rest[right] or right - at < LINE_BINS):
        right += 1
    rest[left : right + 1] = 0.0


def _chernoff(exponent: float) -> float:
    """The r > 1 at which r − 1 − ln r is ``exponent``."""
    ratio = 1 + exponent + math.sqrt(2 * exponent)
    for _ in range(50):
        ratio -= (ratio - 1 - math.log(ratio) - exponent) / (1 - 1 / ratio)
    return ratio


def _median_of_mean(independent: float) -> float:
    """Median over mean of a χ² of 2K degrees of freedom (Wilson and Hilferty)."""
    return (1 - 1 / (9 * independent)) ** 3


def _between(found: Density, at: int) -> float:
    if not 0 < at < len(found.hz) - 1:
        return float(found.hz[at])
    left, centre, right = np.log(np.maximum(found.density[at - 1 : at + 2], np.finfo(float).tiny))
    bend = left - 2 * centre + right
    offset = 0.0 if bend >= 0 else 0.5 * (left - right) / bend
    return float(found.hz[at] + min(0.5, max(-0.5, offset)) * found.step_hz)


def spectrogram(values: Floats, rate_hz: float, size: int, rows: int = 256) -> tuple[Floats, Floats]:
    """Times (s, of the middle of each piece) and densities, shape (rows, bins); NaN rows where too little came."""
    if not 8 <= size <= len(values):
        raise ValueError(f"a spectrogram takes pieces of 8 to {len(values)} records, not {size}")
    begins = np.unique(np.linspace(0, len(values) - size, min(rows, len(values) - size + 1)).astype(int))
    made = np.full((len(begins), size // 2 - 1), np.nan)
    for row, begin in enumerate(begins):
        one = piece_density(values[begin : begin + size], rate_hz, "hann")
        if one is not None:
            made[row] = one[0]
    return np.asarray((begins + size / 2) / rate_hz), made
