# SPDX-License-Identifier: Apache-2.0
r"""All sines of a window at once, by weighted least squares, in spite of gaps, lines of the mains and drift.

    y_n = Σ_k (c_k cos ω_k n + s_k sin ω_k n) + Σ_j d_j e_j(n) + noise        n = 0 … N − 1

The sines have whole periods in the window. So everything that the normal equations need of them are Fourier transforms:
of the readings, of the weights, and of the other functions e_j (drift, mains), of which there are few. A gap has the
weight 0: what it takes from the normal equations are its own rows (A. Björck, Numerical Methods for Least Squares
Problems, SIAM 1996, 3.3). Weights fall to 0 at both ends, by a raised cosine (J. W. Tukey): what is at other
frequencies leaks the less from there.

The noise is coloured. Its density near a line is that of what is left over at frequencies at which nothing is moved.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft, linalg

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Ints = NDArray[np.int64]

TAPER = 0.2
"""Share of the window in which weights rise and fall: half of it at each end. It costs 4 % of the accuracy."""
PRESENT = 0.5
"""Share of its records that a row must have."""
NEIGHBOURS = 40
"""Free frequencies about a line that tell the noise."""
_ROWS = 16
"""That are worked on at once: their memory."""
_GAPS = 4096
"""Rows of a gap at once."""
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Fitted:
    """Of each row."""

    phasors: Complexes
    """[row, line] amplitude and phase at the window's first record: Re(p exp(iωn)). NaN: too few records."""
    variance: Floats
    """[row, line] of its real part, and of its imaginary part."""
    rms: Floats
    """[row] of what is left over."""
    mean: Floats
    """[row]"""
    present: Floats
    """[row] share of records that came."""


def taper(records: int, share: float = TAPER) -> Floats:
    """Weights of a window."""
    edge = round(records * share / 2)
    weights = np.ones(records)
    rise = 0.5 - 0.5 * np.cos(np.pi * (np.arange(edge) + 0.5) / max(1, edge))
    weights[:edge], weights[records - edge :] = rise, rise[::-1]
    return weights


def drift(records: int, order: int = 4) -> Floats:
    """[record, function] Legendre polynomials, from the constant on."""
    return np.asarray(np.polynomial.legendre.legvander(np.linspace(-1, 1, records), order), np.float64)


class Window:
    """A window, its lines and its other functions: their normal equations, solved once for all rows without gaps."""

    def __init__(self, records: int, bins: Ints, others: Floats) -> None:
        """``bins``: periods of each line in the window. ``others``: [record, function]."""
        self.records = records
        self.bins = np.asarray(bins, np.int64)
        self.others = others
        self.weights = taper(records)
        self._gram = self._normal_matrix()
        self._factor = linalg.cho_factor(_scaled(self._gram)[0])
        self._scale = _scaled(self._gram)[1]

    def _normal_matrix(self) -> Floats:
        """Of cosines, sines, others."""
        whole = fft.fft(self.weights)
        minus, plus = (
            whole[np.mod(op(self.bins[:, None], self.bins[None, :]), self.records)] for op in (np.subtract, np.add)
        )
        cc, ss = 0.5 * (minus.real + plus.real), 0.5 * (minus.real - plus.real)
        cs = 0.5 * (-plus.imag + minus.imag)
        weighted = self.weights[:, None] * self.others
        cross = fft.rfft(weighted, axis=0)[self.bins]
        own = weighted.T @ self.others
        return np.block([[cc, cs, cross.real], [cs.T, ss, -cross.imag], [cross.real.T, -cross.imag.T, own]])

    def fit(self, values: Floats, progress: Progress = lambda _: None) -> Fitted:
        """``values``: [row, record], NaN for what did not come."""
        rows, lines = len(values), len(self.bins)
        phasors = np.full((rows, lines), np.nan, np.complex128)
        variance = np.full((rows, lines), np.nan)
        rms, mean, present = np.full(rows, np.nan), np.full(rows, np.nan), np.zeros(rows)
        for first in range(0, rows, _ROWS):
            part = slice(first, min(first + _ROWS, rows))
            good = np.isfinite(values[part])
            present[part] = good.mean(axis=1)
            told = present[part] >= PRESENT
            if told.any():
                index = np.arange(part.start, part.stop)[told]
                found = self._fit(values[index], good[told])
                phasors[index], variance[index], rms[index], mean[index] = found
            progress(part.stop / rows)
        return Fitted(phasors, variance, rms, mean, present)

    def _fit(self, values: Floats, good: NDArray[np.bool_]) -> tuple[Complexes, Floats, Floats, Floats]:
        lines = len(self.bins)
        mean = np.nanmean(np.where(good, values, np.nan), axis=1)
        rest = np.where(good, values - mean[:, None], 0.0)
        solved = self._solve(rest, good)
        phasors = solved[:, :lines] - 1j * solved[:, lines : 2 * lines]
        rest -= self.synthesized(phasors) + solved[:, 2 * lines :] @ self.others.T
        rest[~good] = 0.0
        count = good.sum(axis=1)
        rms = np.sqrt(np.square(rest).sum(axis=1) / np.maximum(1, count - solved.shape[1]))
        return phasors, self._variance(rest, good), rms, mean

    def synthesized(self, phasors: Complexes) -> Floats:
        """[row, record] of the sines alone."""
        spectrum = np.zeros((len(phasors), self.records // 2 + 1), np.complex128)
        spectrum[:, self.bins] = 0.5 * self.records * phasors
        return np.asarray(fft.irfft(spectrum, self.records, axis=1), np.float64)

    def _solve(self, rest: Floats, good: NDArray[np.bool_]) -> Floats:
        """[row, function]. Rows with the same gaps together."""
        weighted = rest * self.weights
        at_lines = fft.rfft(weighted, axis=1)[:, self.bins]
        right = np.concatenate([at_lines.real, -at_lines.imag, weighted @ self.others], axis=1)
        solved = np.empty_like(right)
        whole = good.all(axis=1)
        if whole.any():
            solved[whole] = linalg.cho_solve(self._factor, (right[whole] * self._scale).T).T * self._scale
        by_gaps: dict[bytes, list[int]] = {}
        for i in np.flatnonzero(~whole):
            by_gaps.setdefault(np.packbits(good[i]).tobytes(), []).append(int(i))
        for index in by_gaps.values():
            matrix, scale = _scaled(self._gram - self._of_gaps(np.flatnonzero(~good[index[0]])))
            solved[index] = linalg.cho_solve(linalg.cho_factor(matrix), (right[index] * scale).T).T * scale
        return solved

    def _of_gaps(self, gaps: Ints) -> Floats:
        """What these records have in the normal matrix."""
        total = np.zeros_like(self._gram)
        for first in range(0, len(gaps), _GAPS):
            part = gaps[first : first + _GAPS]
            angle = (2 * np.pi / self.records) * np.mod(part[:, None] * self.bins[None, :], self.records)
            basis = np.concatenate([np.cos(angle), np.sin(angle), self.others[part]], axis=1)
            total += (self.weights[part, None] * basis).T @ basis
        return total

    def _variance(self, rest: Floats, good: NDArray[np.bool_]) -> Floats:
        """By the density of what is left over, of frequencies about each line at which no line is."""
        power = np.abs(fft.rfft(rest * self.weights, axis=1)) ** 2
        is_free = np.ones(power.shape[1], np.bool_)
        is_free[self.bins] = False
        is_free[0] = False
        free = np.flatnonzero(is_free)
        cumulated = np.concatenate([np.zeros((len(power), 1)), np.cumsum(power[:, free], axis=1)], axis=1)
        middle = np.searchsorted(free, self.bins)
        low = np.clip(middle - NEIGHBOURS // 2, 0, max(0, len(free) - NEIGHBOURS))
        high = np.minimum(low + NEIGHBOURS, len(free))
        density = (cumulated[:, high] - cumulated[:, low]) / (high - low)
        total = (good * self.weights).sum(axis=1)
        return np.asarray(2 * density / total[:, None] ** 2)


def _scaled(matrix: Floats) -> tuple[Floats, Floats]:
    """With ones on its diagonal, and by what its functions were multiplied."""
    scale = 1 / np.sqrt(np.diag(matrix))
    return matrix * scale[:, None] * scale[None, :], scale
