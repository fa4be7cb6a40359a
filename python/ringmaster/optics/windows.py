# SPDX-License-Identifier: Apache-2.0
"""Lines of one signal, window by window, by what they are: driven, free, or other.

An exciter is at work in some turns only, and at a tune that is known; the free tune is known roughly. A line that is
nearer than ``DRIVEN_REACH`` to the exciter's tune is driven, one within ``FREE_REACH`` of the free tune is free. The
strongest line is found first and taken off, then the next, while they stand out of what is left.

A free line that noise keeps up is no sine: its phase wanders. So a straight line is laid through the phases of four
quarters of the window. What they are off it, beyond what a sine in the noise would be, adds to the tune's error: of a
phase that wanders at random, what is off the line is 0.4 of a step, and the slope's error 0.34 of it, all squared.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ringmaster.optics.lines import Floats, Line, find_line, fit, hann

DRIVEN, FREE, OTHER = "driven", "free", "other"
DRIVEN_REACH, FREE_REACH = 5e-4, 3e-3
SEARCH = 0.02
"""Lines are looked for as far as this from either tune."""
VISIBLE = 5.0
"""Amplitude over its error."""
MOST_LINES = 4
QUARTERS = 4
WANDERS = 0.34 / (0.4 / 5)
"""Square of the slope's error of a phase that wanders, over what independent phases with that scatter would give."""
BINS_APART = 3.0
"""Closer to a stronger line, in bins of the window, is that line's own skirt."""


@dataclass(frozen=True)
class Expected:
    """Of one plane: where lines are expected, 0 to 0.5; None where nothing is known or nothing drives."""

    driven: float | None
    free: float | None

    def name(self, tune: float, bin_width: float) -> str:
        """What a line is; a short window cannot tell more than its bins."""
        if self.driven is not None and abs(tune - self.driven) < max(DRIVEN_REACH, bin_width):
            return DRIVEN
        return FREE if self.free is not None and abs(tune - self.free) < max(FREE_REACH, bin_width) else OTHER

    @property
    def span(self) -> tuple[float, float]:
        """Where lines are looked for."""
        known = [tune for tune in (self.driven, self.free) if tune is not None]
        return (max(0.005, min(known) - SEARCH), min(0.495, max(known) + SEARCH)) if known else (0.005, 0.495)


@dataclass(frozen=True)
class NamedLine:
    """One line in one window."""

    first_turn: int
    turns: int
    name: str
    line: Line


def lines_of(values: Floats, expected: Expected, window: int = 0) -> Iterator[NamedLine]:
    """Of a signal, shape (n,), NaN where no turn is: in each window of so many turns, or in the whole; strongest first.

    Windows without half of their turns, or in which nothing moves, have none.
    """
    size = min(window, len(values)) or len(values)
    for first in range(0, len(values) - size + 1, size):
        part = values[first : first + size]
        present = np.isfinite(part)
        if present.mean() >= 0.5 and np.ptp(part[present]) > 0:
            for line in _lines(part, expected):
                yield NamedLine(first, size, expected.name(line.tune, 1 / size), line)


def _lines(values: Floats, expected: Expected) -> list[Line]:
    weights, rest = hann(values), values.copy()
    found: list[Line] = []
    turn = np.arange(len(values))
    for _ in range(MOST_LINES):
        line = find_line(rest, *expected.span)
        if line.signal_to_noise < VISIBLE:
            break
        if any(abs(line.tune - other.tune) * len(values) < BINS_APART for other in found):
            break
        wander = max(0.0, _wander(rest, weights, line.tune) ** 2 - line.sigma_tune**2)
        found.append(replace(line, sigma_tune=float(np.sqrt(line.sigma_tune**2 + WANDERS * wander))))
        rest = rest - (line.amplitude * np.exp(2j * np.pi * line.tune * turn)).real
    return found


def _wander(values: Floats, weights: Floats, tune: float) -> float:
    """Error of the slope of the phases that quarters of the window have, by how they scatter about a straight line."""
    size = len(values) // QUARTERS
    ends = [slice(i * size, (i + 1) * size) for i in range(QUARTERS)]
    flat = np.where(weights > 0, 1.0, 0.0)
    if min(flat[end].sum() for end in ends) < size / 2:
        return 0.0
    amplitude = [fit(values[end], flat[end] / flat[end].sum(), tune)[0] for end in ends]
    turned = np.array([one * np.exp(-2j * np.pi * tune * end.start) for one, end in zip(amplitude, ends, strict=True)])
    phase = np.unwrap(np.angle(turned))
    place = np.arange(QUARTERS) - (QUARTERS - 1) / 2
    left = phase - phase.mean() - place * (place @ phase) / (place @ place)
    scatter = float(np.sqrt(np.sum(left**2) / (QUARTERS - 2)))
    return scatter / float(np.sqrt(place @ place)) / (2 * np.pi * size)
