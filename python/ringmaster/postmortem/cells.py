# SPDX-License-Identifier: Apache-2.0
"""The turns at which a cause may have begun, cut into cells: in each, every rate has its say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.ndimage import uniform_filter1d
from scipy.special import logsumexp

from ringmaster.postmortem.background import Background
from ringmaster.postmortem.blocks import Block
from ringmaster.postmortem.covariance import loudness
from ringmaster.postmortem.likelihood import Courses, Floats, Patterns, beyond_chance, log_ratio, windows
from ringmaster.postmortem.view import View

Starts = npt.NDArray[np.int64]
LENGTHS = (4, 8, 16, 32, 64, 128)
"""Records of a window: the longest that ends before the beam is lost."""
MOST_MODES = 48
MOST_BEFORE = 64
SAFETY = 1.1
"""Of the variance that few records tell."""
LEAST_KNOWN = 200
"""Values that tell a variance: with fewer, modes with similar eigenvalues share it."""


@dataclass(frozen=True)
class Cells:
    """Evenly spaced turns: cell i is from turn ``first + i · turns`` up to the next."""

    first: int
    turns: int
    count: int

    def starts(self, view: View, stride: int = 1) -> tuple[Starts, Starts]:
        """The records of a view that are the first after some turn of a cell, and the cell of each.

        A record of several turns is the first that shows what begins within them.
        """
        turn = view.turn.astype(np.int64)
        cell = (turn - (view.period_turns - 1) - self.first) // self.turns
        inside = np.flatnonzero((cell >= 0) & (cell < self.count) & (np.arange(len(turn)) < view.end))
        inside = inside[inside >= view.first // 2][::stride]
        return inside, cell[inside]

    def gather(self, values: Floats, cell: Starts) -> Floats:
        """Ln of the mean of what has these logarithms [start, …] in each cell; 0 where there is none: [cell, …]."""
        made = np.zeros((self.count, *values.shape[1:]))
        if len(cell):
            here, first, count = np.unique(cell, return_index=True, return_counts=True)  # starts are in order of cells
            largest = np.maximum.reduceat(values, first, axis=0)
            total = np.add.reduceat(np.exp(values - np.repeat(largest, count, axis=0)), first, axis=0)
            made[here] = largest + np.log((total.T / count).T)
        return made


def by_length(view: View, starts: Starts, compute: Callable[[Starts, int], Floats], width: int) -> Floats:
    """[start, width]: computed together for those of one length of window; 0 for what is too near to the end."""
    made = np.zeros((len(starts), width))
    room = np.array([max((n for n in LENGTHS if n <= view.end - start), default=0) for start in starts])
    for length in np.unique(room[room > 0]):
        chosen = room == length
        made[chosen] = compute(starts[chosen], int(length))
    return made


def families(background: Background, length: int, short: bool) -> list[Courses]:
    """What a course may be. Short: as few modes as the largest have."""
    walking = Courses.walking(background, length)
    if not short:
        return [walking, Courses.white(background, length)]
    return [Courses(walking.eigenvalue[:MOST_MODES], walking.vector[:MOST_MODES], 0.0)]


def mode_noise(block: Block, courses: Courses, first: int) -> Floats:
    """RMS [mode, dimension] without an event: slow modes are predicted worse than they seem, and the ground's most.

    The energy's have what they had before record ``first``.
    """
    length = courses.vector.shape[1]
    starts = np.arange(0, len(block.held_out) - length + 1, max(1, length // 4))
    if not len(starts):
        return np.ones((len(courses.eigenvalue), len(block.shape)))
    power = np.mean(windows(block.held_out, courses, starts) ** 2, axis=0)
    own, rest = power[:, : block.energy], power[:, block.energy :]
    alike = -(-LEAST_KNOWN // max(1, len(starts) * rest.shape[1]))
    rest = uniform_filter1d(rest, min(alike, len(rest)), axis=0, mode="nearest")
    if block.energy:
        learnt = _side_by_side(block.background.order, first, length)
        usual = windows(block.left[:, : block.energy], courses, learnt) ** 2
        own = np.maximum(own, usual.mean(axis=0))
    noise: Floats = np.sqrt(SAFETY * np.hstack([own, loudness(rest, len(starts), block.shape[block.energy :])]))
    return noise


def _side_by_side(first: int, end: int, length: int) -> Starts:
    """Starts of windows within these records; at most so many."""
    return np.arange(first, end - length + 1, max(1, length // 2))[-MOST_BEFORE:]


def static_log_ratios(
    view: View, block: Block, starts: Starts, patterns: Sequence[Patterns | None], short: bool
) -> list[Floats]:
    """For each set of patterns (None: unknown) [start, hypothesis], as a block of the view sees them.

    What a hypothesis reached by chance, or by motion along its pattern that was there before, is taken off.
    """
    widths = [1 if one is None else one.columns.shape[1] for one in patterns]

    def compute(chosen: Starts, length: int) -> Floats:
        learnt = _side_by_side(block.background.order, view.first, length)
        unlearnt = _side_by_side(0, len(block.held_out), length)
        parts = []
        for courses in families(block.background, length, short):
            usual = [windows(block.left, courses, learnt), windows(block.held_out, courses, unlearnt)]
            noise = mode_noise(block, courses, view.first)
            z = np.concatenate([windows(block.left, courses, chosen), *usual]) / noise
            parts.append(np.hstack([log_ratio(z, courses, one, noise) for one in patterns]) + courses.log_prior)
        made: Floats = logsumexp(np.stack(parts), axis=0)
        result: Floats = made[: len(chosen)] - beyond_chance(made[len(chosen) :])
        return result

    made = by_length(view, starts, compute, sum(widths))
    return list(np.split(made, np.cumsum(widths)[:-1], axis=1))
