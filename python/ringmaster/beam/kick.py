# SPDX-License-Identifier: Apache-2.0
"""The turn at which a kick of the beam begins to show in an instrument's signals.

In three steps, from far to near:

1. Where does something change? In beam positions it is the strength of the oscillation: the energy of first
   differences, replaced by its rank, so that no single outlier counts for more than one turn. Elsewhere it is the
   level.
2. To within a few turns: how probable is each turn as the border between the energy before and the energy after?
3. To the turn: a smooth motion with the betatron lines is fitted to the turns before and to those after, and both are
   continued to the border. Turns before the kick fit the first, turns from the kick on the second. So a BPM at which
   the first turn has no amplitude by its phase still shows the right one, if any of its lanes does. What remains
   ambiguous shows as a low confidence.

Signals are arrays of shape (lanes, n), one column per turn (or per record), NaN where a record is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]

SCALES = (16, 64, 256)
"""Turns before and after that are compared in step 1."""
THRESHOLD = 8.0
"""Standard deviations of the comparison by which a change stands out; chance makes some 5 in 10^5 turns."""
FIT_TURNS = 96
"""Turns that each motion is fitted to."""
REACH = 6
"""Turns on either side of the best guess that step 3 decides between, and keeps out of the fits."""
MOVES = 8
"""How often the best guess may move on."""
OUTLIER = 30.0
"""Squared standard deviations above which a turn is no more improbable."""
DOUBT = 0.5
"""Factor on log likelihoods: the fitted motion is not quite that of the beam."""


@dataclass(frozen=True)
class Onset:
    """Where the kick begins in one instrument, as an index into its signals."""

    index: int
    """The most probable one."""
    first: int
    """Index that ``likelihood`` begins with."""
    likelihood: F64
    """Logarithm, shape (2 REACH + 1,), of each index from ``first`` on."""
    strength: float
    """How far the change stands out, in standard deviations."""

    @property
    def confidence(self) -> float:
        """Probability of ``index`` among its neighbours, 0–1."""
        return float(probability(self.likelihood)[self.index - self.first])


def probability(likelihood: F64) -> F64:
    """Logarithms of likelihoods as probabilities, whose sum is 1."""
    relative = np.exp(likelihood - likelihood.max())
    result: F64 = relative / relative.sum()
    return result


def find_onset(signals: F64, frequencies: Sequence[float], oscillates: bool) -> Onset | None:
    """Where a kick begins, or None where nothing stands out.

    ``frequencies`` are the betatron lines in 1 / turn (per record); ``oscillates`` says that these are beam positions.
    """
    change = find_change(signals, oscillates)
    if change is None:
        return None
    index, strength, scale = change
    if oscillates:
        index = _border_of_energy(_energy(signals), index, scale)
    return _sharpen(signals, index, strength, frequencies)


def find_change(signals: F64, oscillates: bool) -> tuple[int, float, int] | None:
    """Step 1: index, strength in standard deviations, and the scale at which it is largest."""
    traces = [_ranks(_energy(signals))] if oscillates else [_level(lane) for lane in signals]
    found = [(_strongest(trace, scale, oscillates), scale) for trace in traces for scale in SCALES]
    best = max(((strength, index, scale) for (index, strength), scale in found), default=(0.0, 0, 0))
    strength, index, scale = best
    return (index, strength, scale) if strength >= THRESHOLD else None


def _energy(signals: F64) -> F64:
    """Mean over the lanes of the squared first differences, each lane in units of its own noise; shape (n,)."""
    difference = np.diff(signals, axis=1, prepend=np.nan) ** 2
    scales = [_median(lane) or _mean(lane) for lane in difference]
    lanes = [lane / scale for lane, scale in zip(difference, scales, strict=True) if scale > 0]
    if not lanes:
        return np.full(signals.shape[1], np.nan)
    known = np.isfinite(lanes)
    total = np.where(known, lanes, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _median(values: F64) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else 0.0


def _mean(values: F64) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else 0.0


def _ranks(values: F64) -> F64:
    """The share of values below each, 0–1, equal ones alike; 0.5 for NaN."""
    known = np.isfinite(values)
    ranks = np.full(values.shape, 0.5)
    if known.any():
        _, inverse, counts = np.unique(values[known], return_inverse=True, return_counts=True)
        ranks[known] = ((np.cumsum(counts) - counts / 2) / known.sum())[inverse]
    return ranks


def _level(lane: F64) -> F64:
    """The lane with its outliers cut off, its gaps filled, in units of its spread."""
    centre = _median(lane)
    spread = 1.4826 * _median(np.abs(lane - centre)) or _mean(np.abs(lane - centre))
    if spread == 0:
        return np.zeros_like(lane)
    return np.nan_to_num(np.clip((lane - centre) / spread, -10, 10))


def _strongest(trace: F64, scale: int, upwards: bool) -> tuple[int, float]:
    """Where the mean of ``scale`` values changes most from that of as many before, in its own standard deviations."""
    if len(trace) < 4 * scale:
        return 0, 0.0
    total = np.concatenate([[0.0], np.cumsum(trace)])
    jump = (total[2 * scale :] - 2 * total[scale:-scale] + total[: -2 * scale]) / scale
    jump = jump if upwards else np.abs(jump - np.median(jump))
    noise = 1.4826 * float(np.median(np.abs(jump - np.median(jump) * upwards)))
    best = int(np.argmax(jump))
    return best + scale, float(jump[best]) / noise if noise > 0 else 0.0


def _border_of_energy(energy: F64, index: int, scale: int) -> int:
    """Step 2. Energies are taken as exponentially distributed about two means, measured away from the border."""
    first, end = max(0, index - scale), min(len(energy), index + scale)
    around = energy[first:end]
    before = max(_mean(around[: scale // 2]), 1e-12)
    after = max(_mean(around[-(scale // 2) :]), before * 1.01)
    gain = np.nan_to_num(around * (1 / before - 1 / after) - np.log(after / before))
    later = np.cumsum(np.clip(gain, -OUTLIER, OUTLIER)[::-1])[::-1]
    return first + int(np.argmax(later))


def _sharpen(signals: F64, index: int, strength: float, frequencies: Sequence[float]) -> Onset | None:
    """Step 3, repeated until the best guess stays."""
    seen: set[int] = set()
    for _ in range(MOVES):
        likelihood = _likelihoods(signals, index, frequencies)
        if likelihood is None:
            return None
        best = index - REACH + int(np.argmax(likelihood))
        if best == index or best in seen:
            return Onset(best, index - REACH, likelihood, strength)
        seen.add(index)
        index = best
    return None


def _likelihoods(signals: F64, index: int, frequencies: Sequence[float]) -> F64 | None:
    """Of each border from ``index - REACH`` to ``index + REACH``; None too near the ends of the signals."""
    start, end = index - REACH - FIT_TURNS, index + REACH + FIT_TURNS
    if start < 0 or end > signals.shape[1]:
        return None
    turn = np.arange(start, end) - index
    before, after = turn < -REACH, turn >= REACH
    middle = ~before & ~after
    basis = _basis(turn, frequencies)
    total = np.zeros(2 * REACH + 1)
    for lane in signals[:, start:end]:
        total += _lane_likelihoods(lane, basis, before, after, middle)
    return DOUBT * total


def _basis(turn: npt.NDArray[np.int64], frequencies: Sequence[float]) -> F64:
    """A straight line, and each oscillation with an amplitude that changes along one; shape (turns, functions)."""
    slow = turn / FIT_TURNS
    columns = [np.ones(len(turn)), slow]
    for frequency in frequencies:
        phase = 2 * np.pi * frequency * turn
        columns += [np.cos(phase), np.sin(phase), slow * np.cos(phase), slow * np.sin(phase)]
    return np.stack(columns, axis=1)


def _lane_likelihoods(
    lane: F64,
    basis: F64,
    before: npt.NDArray[np.bool_],
    after: npt.NDArray[np.bool_],
    middle: npt.NDArray[np.bool_],
) -> F64:
    """What one lane says of each border; zeros where it says nothing."""
    known = np.isfinite(lane)
    nothing = np.zeros(int(middle.sum()) + 1)
    if min((known & before).sum(), (known & after).sum()) < 2 * basis.shape[1]:
        return nothing
    residuals, noises = [], []
    for side in (before & known, after & known):
        coefficients, *_ = np.linalg.lstsq(basis[side], lane[side], rcond=None)
        residual = lane - basis @ coefficients
        residuals.append(residual[middle])
        noises.append(1.4826 * float(np.median(np.abs(residual[side]))))
    noise = max(*noises, 1e-9 * float(np.abs(lane[known]).max()))
    if noise == 0:
        return nothing
    early, late = (np.nan_to_num(np.minimum((residual / noise) ** 2, OUTLIER)) for residual in residuals)
    result: F64 = -0.5 * (
        np.concatenate([[0.0], np.cumsum(early)]) + np.concatenate([np.cumsum(late[::-1])[::-1], [0.0]])
    )
    return result
