# SPDX-License-Identifier: Apache-2.0
"""The strengths that take an orbit to its target: singular values, and limits that are kept.

Strengths are counted in shares of their own range, so that a mode that costs much of it is weak, whatever units are.
The RF's share is scaled so that its column is as long as those of the correctors. A mode of singular value s is used by
s² / (s² + (tikhonov s₀)²); those below ``cut`` s₀ are left out. Where the answer is beyond a limit, what is left is
found by bounded least squares with the same regularisation.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
TINY = 1e-9
"""Of the largest singular value: makes a bounded answer the only one."""
INSIDE = 1e-9
"""Of a range, by which rounding may go beyond it."""


@dataclass(frozen=True)
class Regularisation:
    """How much of weak modes is used."""

    cut: float = 1e-3
    """Singular values below this share of the largest are left out."""
    modes: int | None = None
    """At most so many are used."""
    tikhonov: float = 0.0
    """Of the largest."""


@dataclass(frozen=True)
class Problem:
    """What is to be corrected, by what."""

    response: Floats
    """[reading, supply] nm per unit."""
    error: Floats
    """[reading] nm, to be taken away. NaN: not known, and so without a say."""
    low: Floats
    """[supply] how far it may go down from where it stands (≤ 0, −inf), in its unit."""
    high: Floats
    rf: int | None = None
    """Which of the supplies is the RF."""


@dataclass(frozen=True)
class Solution:
    """What to change."""

    change: Floats
    """[supply] in its unit."""
    left: Floats
    """[reading] nm, as the response predicts it; NaN where the error is."""
    singular: Floats
    """Of the scaled response, from the largest down."""
    used: int
    """Modes."""
    at_limit: Flags
    """[supply]"""


def solve(problem: Problem, how: Regularisation) -> Solution:
    """Raises ValueError where no reading tells anything, or no supply may move."""
    known = np.isfinite(problem.error) & np.isfinite(problem.response).all(axis=1)
    moves = (problem.high > problem.low) & (np.abs(problem.response[known]).max(axis=0, initial=0.0) > 0)
    if not known.any():
        raise ValueError("no reading has an orbit, a target and a response")
    if not moves.any():
        raise ValueError("no supply moves any of these readings, and may itself be moved")
    scale = _scale(problem, known, moves)
    scaled = problem.response[np.ix_(known, moves)] * scale[moves]
    u, s, vh = np.linalg.svd(scaled, full_matrices=False)
    used = min(int((s > how.cut * s[0]).sum()), how.modes if how.modes is not None else len(s))
    share = np.zeros(len(problem.low))
    wanted = u[:, :used].T @ -problem.error[known]
    share[moves] = vh[:used].T @ (s[:used] / (s[:used] ** 2 + (how.tikhonov * s[0]) ** 2) * wanted)
    low, high = problem.low / scale, problem.high / scale
    at_limit = np.zeros(len(share), np.bool_)
    if ((share < low - INSIDE) | (share > high + INSIDE)).any():
        kept = (u[:, :used] * s[:used]) @ vh[:used]
        share[moves], at_limit[moves] = _bounded(kept, -problem.error[known], low[moves], high[moves], s[0], how)
    change = share * scale
    left = np.full(len(problem.error), np.nan)
    left[known] = problem.error[known] + problem.response[known] @ change
    return Solution(change, left, np.asarray(s, np.float64), used, at_limit)


def _scale(problem: Problem, known: Flags, moves: Flags) -> Floats:
    """Units in a share of each supply."""
    span = problem.high - problem.low
    scale = np.where(np.isfinite(span) & (span > 0), span / 2, 1.0)
    if problem.rf is not None and moves[problem.rf]:
        length = np.linalg.norm(problem.response[known] * scale, axis=0)
        others = moves.copy()
        others[problem.rf] = False
        if others.any() and length[problem.rf] > 0:
            scale[problem.rf] *= length[others].mean() / length[problem.rf]
    return np.asarray(scale, np.float64)


def _bounded(
    response: Floats, wanted: Floats, low: Floats, high: Floats, largest: float, how: Regularisation
) -> tuple[Floats, Flags]:
    """Shares within limits, and which are at one."""
    from scipy.optimize import lsq_linear

    damping = max(how.tikhonov, TINY**0.5) * largest
    stacked = np.vstack([response, damping * np.eye(response.shape[1])])
    target = np.concatenate([wanted, np.zeros(response.shape[1])])
    found = lsq_linear(stacked, target, bounds=(np.minimum(low, 0.0), np.maximum(high, 0.0)), method="trf")
    return np.clip(found.x, low, high), np.asarray(found.active_mask != 0, np.bool_)
