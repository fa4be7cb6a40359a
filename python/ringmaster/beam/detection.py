# SPDX-License-Identifier: Apache-2.0
"""What one instrument shows of one kick, and what is odd about it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringmaster.beam.kick import F64, THRESHOLD, find_onset, probability
from ringmaster.beam.tune import find_tune, spectrum
from ringmaster.spectra.density import PRESENT

LINE_TURNS = 1024
"""Turns after the kick from which betatron lines are taken."""


@dataclass(frozen=True)
class Detection:
    """What one instrument shows of one kick. Turns are those of its labels."""

    turn: int | None
    first: int
    """Turn that ``likelihood`` begins with."""
    likelihood: F64
    period: int
    note: str

    @property
    def confidence(self) -> float:
        """Of ``turn``, 0–1."""
        if self.turn is None:
            return 0.0
        return float(probability(self.likelihood)[(self.turn - self.first) // self.period])


def first_record(turn: int, period: int) -> int:
    """Turn of the first record that can show something that begins at ``turn``."""
    return -(-turn // period) * period


def look(signals: F64, first: int, period: int, lines: tuple[float, float], oscillates: bool) -> Detection:
    """One instrument around one kick: signals from turn ``first`` on, and the betatron lines x and y in 1 / turn."""
    nothing = Detection(None, 0, np.zeros(0), period, "")
    if not np.isfinite(signals).any():
        return nothing
    note = _sparseness(signals)
    frequencies = sorted({round(_fold(line * period), 9) for line in lines})
    onset = find_onset(signals, frequencies, oscillates)
    if onset is None:
        return Detection(None, 0, np.zeros(0), period, note)
    if not note and oscillates and onset.strength > 2 * THRESHOLD:
        note = _own_line(signals[:, onset.index : onset.index + LINE_TURNS], frequencies)
    turn, earliest = (first + index * period for index in (onset.index, onset.first))
    return Detection(turn, earliest, onset.likelihood, period, note)


def _fold(frequency: float) -> float:
    """Where a line shows that is sampled once per turn: 0–0.5."""
    fraction = frequency % 1
    return min(fraction, 1 - fraction)


def _sparseness(signals: F64) -> str:
    """What to say of an instrument of which only every n-th record comes."""
    there = np.flatnonzero(np.isfinite(signals).any(axis=0))
    if len(there) < 16:
        return ""
    every = int(np.gcd.reduce(np.diff(there)))
    return (
        f"sends one of {every} turns only: its counter runs at another period (see period_turns)" if every > 1 else ""
    )


def _own_line(after: F64, frequencies: Sequence[float]) -> str:
    """What to say of a BPM whose oscillation is clear, and not at the lines of the others."""
    after = after[np.isfinite(after).mean(axis=1) >= PRESENT]
    if after.shape[1] < LINE_TURNS or not len(after):
        return ""
    own = find_tune(*after)
    if min(abs(own - frequency) for frequency in frequencies) < 4 / LINE_TURNS:
        return ""
    bins, _ = spectrum(after[0])
    amplitude = np.sum([spectrum(lane)[1] for lane in after], axis=0)
    peak = float(amplitude[np.argmin(np.abs(bins - own))])
    known = max(float(amplitude[np.abs(bins - frequency) < 2 / LINE_TURNS].max()) for frequency in frequencies)
    if peak < 3 * known:
        return ""
    others = ", ".join(f"{frequency:.4f}" for frequency in frequencies)
    return f"oscillates at {own:.4f} per turn, the others at {others}: its counter runs at another period"
