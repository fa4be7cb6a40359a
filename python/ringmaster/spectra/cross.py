# SPDX-License-Identifier: Apache-2.0
"""What two lanes have in common: coherence with its threshold, transfer function, delay."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringmaster.spectra.density import OVERLAP_CORRELATION, PRESENT, Floats, piece_size, window_weights

Complexes = NDArray[np.complex128]
FALSE_ALARMS = 1e-3
"""So often noise alone passes the threshold, over all sources that are asked for."""


def amplitudes(values: Floats, size: int, window: str = "hann") -> tuple[Complexes, float]:
    """Complex amplitudes of half-overlapping pieces, shape (pieces, series, bins), and the share that was missing.

    ``values`` is (series, n). A record that one series lacks is left out of all, so that they stay comparable: the mean
    over the weights that remain is taken off, and the sum is scaled to the whole. Bins are 1 to size/2 − 1; the
    amplitude of a sine on a bin's centre is that of the sine. A piece with less than half of its records is left out.
    """
    present = np.asarray(np.isfinite(values).all(axis=0))
    whole = window_weights(window, size)
    made = []
    for begin in range(0, values.shape[1] - size + 1, size // 2):
        there = present[begin : begin + size]
        if there.mean() < PRESENT:
            continue
        weights = whole * there
        weights /= weights.sum()
        piece = np.where(there, values[:, begin : begin + size], 0.0)
        piece = np.where(there, piece - (piece @ weights)[:, None], 0.0)
        made.append(2 * np.fft.rfft(piece * weights, axis=1)[:, 1 : size // 2])
    if not made:
        raise ValueError(f"{present.mean():.1%} of the records came in all series; a piece takes {PRESENT:.0%}")
    return np.array(made), 1.0 - float(present.mean())


def independent_pieces(pieces: int, window: str = "hann") -> float:
    """What half-overlapping pieces are worth in pieces that do not overlap."""
    return pieces / (1 + 2 * (pieces - 1) * OVERLAP_CORRELATION[window] / pieces)


def coherence_threshold(pieces: float, sources: int = 1, false_alarms: float = FALSE_ALARMS) -> float:
    """The squared coherence that noise passes in one of ``sources`` with that chance: 1 − (chance/sources)^(1/(K−1)).

    With 600 sources and 20 pieces 0.50 (for a chance of 1 in 1000): G. C. Carter, Proc. IEEE 75, 236 (1987).
    """
    if pieces <= 1:
        return 1.0
    return float(1 - (false_alarms / sources) ** (1 / (pieces - 1)))


@dataclass(frozen=True)
class Cross:
    """What a first lane, the source, and a second, the answer, have in common at each frequency."""

    hz: Floats
    coherence: Floats
    """Squared, 0 to 1."""
    transfer: Complexes
    """Answer over source, in their units."""
    pieces: float
    """Independent ones."""
    missing: float

    @property
    def threshold(self) -> float:
        """Above which the coherence of any one of the bins means something."""
        return coherence_threshold(self.pieces, len(self.hz))

    @property
    def transfer_sigma(self) -> Floats:
        """Of the real and of the imaginary part of ``transfer``, each (Bendat and Piersol, Random Data, 9.2)."""
        some = np.clip(self.coherence, 1e-12, 1.0)
        return np.asarray(np.abs(self.transfer) * np.sqrt((1 - some) / (2 * some * self.pieces)))

    def delay(self) -> tuple[float, float]:
        """Seconds by which the answer is behind the source, and their σ; NaN where no three bins are coherent.

        The slope of the phase over the frequencies that are above the threshold, each by the weight of its own σ. Only
        where steps from one such bin to the next are below half a turn is it told apart from others.
        """
        good = self.coherence > self.threshold
        if good.sum() < 3:
            return math.nan, math.nan
        hz, values = self.hz[good], self.transfer[good]
        sigma = np.maximum(self.transfer_sigma[good] / np.abs(values), 1e-9)
        phase = np.unwrap(np.angle(values))
        weight = 1 / sigma**2
        middle = np.average(hz, weights=weight)
        spread = float(np.sum(weight * (hz - middle) ** 2))
        slope = float(np.sum(weight * (hz - middle) * phase)) / spread
        rest = phase - np.average(phase, weights=weight) - slope * (hz - middle)
        scatter = max(1.0, float(np.sum(weight * rest**2)) / (len(hz) - 2))
        return -slope / (2 * math.pi), math.sqrt(scatter / spread) / (2 * math.pi)


def cross(source: Floats, answer: Floats, rate_hz: float, size: int = 0, window: str = "hann") -> Cross:
    """Of two series of the same records, shape (n,), over half-overlapping pieces; 20 of them without a ``size``."""
    size = size - size % 2 or piece_size(len(source), 20)
    found, missing = amplitudes(np.array([source, answer]), size, window)
    a, b = found[:, 0], found[:, 1]
    power_a, power_b = (np.mean(np.abs(one) ** 2, axis=0) for one in (a, b))
    between = np.mean(np.conj(a) * b, axis=0)
    tiny = np.finfo(float).tiny
    return Cross(
        hz=np.arange(1, size // 2) * rate_hz / size,
        coherence=np.abs(between) ** 2 / np.maximum(power_a * power_b, tiny),
        transfer=between / np.maximum(power_a, tiny),
        pieces=independent_pieces(len(found), window),
        missing=missing,
    )


def bin_of(hz: float, rate_hz: float, size: int) -> int:
    """The number, counted from 0, of the bin nearest to a frequency. Raises ValueError outside of the bins."""
    at = round(hz * size / rate_hz) - 1
    if not 0 <= at < size // 2 - 1:
        raise ValueError(
            f"{hz:g} Hz: pieces of {size} records have bins from {rate_hz / size:.3g} to {rate_hz / 2:.4g} Hz"
        )
    return at
