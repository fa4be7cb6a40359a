# SPDX-License-Identifier: Apache-2.0
"""The rows of a view, taken apart by what they did before the event.

Before an event the beam moves in few patterns: those of the mains, of drifting magnets, of its betatron and energy
oscillations. All others are the noise of electronics alone. What is hidden in the first is bare in the others, so they
are different blocks, each with a background of its own:

    moving    what moved before, turn by turn
    still     the rest. In it the patterns of the mains' lines have more noise: a line that is continued is wrong there
"""

from dataclasses import dataclass

import numpy as np

from ringmaster.postmortem.background import Background, Floats
from ringmaster.postmortem.likelihood import Courses, windows

MAINS_LEAST = 10.0
"""Amplitude of a line's pattern, over all rows and in units of their noise, beyond which it has a noise of its own."""
MOVING_LEAST = 1.5
"""Relative to the largest variance that chance gives to a pattern of white noise."""
MOST_MOVING = 0.4
"""Share of the rows."""
LEAST_SHARE = 0.05
"""Of a pattern: what a block has less of, it says nothing about."""


@dataclass(frozen=True)
class Block:
    """Some patterns of the rows."""

    name: str
    noise: Floats
    """[row]: white noise of each, in its unit."""
    basis: Floats
    """[row, dimension]: orthonormal, of rows divided by their noise."""
    background: Background
    left: Floats
    """[record, dimension]: what was not predicted, whitened; 0 in the first records."""
    held_out: Floats
    """The same of records before the event, by a background that did not learn from them: how good it is."""
    shape: Floats
    """[dimension]: variance that the ground's motion gives to each, as far as it is not whitened; of no unit."""
    energy: int
    """So many dimensions come first that are the energy's motion, and have a noise of their own in each mode."""

    def pattern(self, columns: Floats, least_share: float = LEAST_SHARE) -> Floats | None:
        """Columns [row, k], behind the background; None where the block has too little of them."""
        scaled = columns / self.noise[:, None]
        seen = self.basis.T @ scaled
        if np.linalg.norm(seen) < least_share * np.linalg.norm(scaled):
            return None
        return self.background.pattern(seen)


def row_noise(before: Floats) -> Floats:
    """White noise of each row, as far as neighbouring records differ."""
    return np.maximum(np.median(np.abs(np.diff(before, axis=0)), axis=0) / 0.954, 1e-9)


def split(before: Floats, noise: Floats, mains: Floats, also: Floats | None) -> tuple[Floats, Floats, Floats]:
    """Bases [row, dimension] of what moved before the event, of the mains, and of the rest.

    ``mains``: amplitudes [line, row]; ``also``: patterns [row, k] that count as moving.
    """
    rows = before.shape[1]
    scaled = before / noise
    lines = _strong(mains / noise, MAINS_LEAST)
    if also is None:
        moving = np.zeros((rows, 0))
    else:
        values, vectors = np.linalg.eigh(scaled.T @ scaled / len(scaled))
        edge = np.median(values[values > 1e-9]) * (1 + np.sqrt(rows / len(before))) ** 2
        large = vectors[:, (values > MOVING_LEAST * edge)][:, -int(MOST_MOVING * rows) :]
        moving = _orthonormal(np.hstack([large, also / noise[:, None]]))
        lines = _orthonormal(lines - moving @ (moving.T @ lines))
    taken = np.hstack([lines, moving])
    rest = np.linalg.svd(np.eye(rows) - taken @ taken.T)[0][:, : rows - taken.shape[1]]
    return moving, lines, rest


def _strong(patterns: Floats, least: float) -> Floats:
    _, values, vectors = np.linalg.svd(patterns, full_matrices=False)
    result: Floats = vectors[values > least].T
    return result


def _orthonormal(columns: Floats) -> Floats:
    if columns.shape[1] == 0:
        return columns
    length = np.linalg.norm(columns, axis=0)
    left, values, _ = np.linalg.svd(columns / np.maximum(length, 1e-300), full_matrices=False)
    result: Floats = left[:, values > 1e-3 * values[0]]
    return result


def continued_worse(background: Background, held_out: Floats, records: int = 64) -> float:
    """How much more noise than it seems to have a line's pattern has that is continued: of its slowest courses."""
    slow = Courses.walking(background, records)
    starts = np.arange(0, len(held_out) - records + 1, records // 4)
    if not len(starts):
        return 1.0
    return float(np.sqrt(max(1.0, np.mean(windows(held_out, slow, starts)[:, :8] ** 2, axis=(0, 2)).max())))
