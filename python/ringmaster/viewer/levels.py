# SPDX-License-Identifier: Apache-2.0
"""Which values of pixels become black and white, and how often each value comes."""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from ringmaster.viewer.frame import Pixels

BLACK, WHITE = 0.005, 0.0002
"""Shares of the pixels that automatic levels leave black and white: a beam spot may be a small part of the image."""
BINS = 256
"""Of a drawn histogram."""


class Mode(Enum):
    """How levels are chosen; the value is its name on the screen."""

    AUTO = "auto"
    """So that 0.5 % of the pixels are black and 0.02 % white."""
    EXTREMES = "min-max"
    """The least value of the picture is black, the greatest white."""
    FULL = "full"
    """0 is black, the greatest value that the format has is white."""
    FIXED = "fixed"
    """As they were when they were fixed."""


@dataclass(frozen=True)
class Levels:
    """Values that are black and white."""

    black: int
    white: int


@dataclass(frozen=True)
class Counts:
    """How often each value comes in a picture."""

    of: NDArray[np.intp]
    """By value."""

    @property
    def extremes(self) -> Levels:
        """Least and greatest value."""
        there = np.flatnonzero(self.of)
        return Levels(int(there[0]), int(there[-1])) if there.size else Levels(0, 0)

    def binned(self, bits: int) -> NDArray[np.intp]:
        """In at most BINS equal steps over all values that the format has."""
        width = max(1, (1 << bits) // BINS)
        padded = np.zeros(1 << bits, np.intp)
        padded[: min(self.of.size, padded.size)] = self.of[: padded.size]
        sums: NDArray[np.intp] = padded.reshape(-1, width).sum(axis=1)
        return sums


def counts(picture: Pixels) -> Counts:
    """Of all values of a picture, of all its colours together."""
    return Counts(np.bincount(picture.reshape(-1)))


def levels(mode: Mode, seen: Counts, bits: int, fixed: Levels | None = None) -> Levels:
    """The levels for a picture with these values."""
    if mode is Mode.FIXED and fixed is not None:
        return fixed
    if mode is Mode.FULL:
        return Levels(0, (1 << bits) - 1)
    if mode is Mode.EXTREMES:
        return seen.extremes
    below = np.cumsum(seen.of)
    total = int(below[-1]) if below.size else 0
    black, white = np.searchsorted(below, (BLACK * total, (1 - WHITE) * total))
    return Levels(int(black), int(white)) if total else Levels(0, (1 << bits) - 1)


def ramp(chosen: Levels, bits: int) -> NDArray[np.uint8]:
    """0 to 255 for each value of the format. Equal levels: what is above them is white."""
    value = np.arange(1 << bits, dtype=np.float32)
    span = max(1, chosen.white - chosen.black)
    return np.rint(np.clip((value - chosen.black) / span, 0, 1) * 255).astype(np.uint8)
