# SPDX-License-Identifier: Apache-2.0
"""At which frequencies supplies are moved: whole periods in the window, apart from each other and from the mains.

A window of T seconds tells lines that are 1/T apart. Every second of them is left free: there the noise is seen.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

SPACING = 2
"""Least difference of two lines, in 1/T."""
LEAST_CLEAR = 3
"""Least distance from a line of the mains, in 1/T."""
_FAST_FACTORS = (2, 3, 5, 7)


@dataclass(frozen=True)
class Mains:
    """What is there without us: lines at all multiples of one frequency, and others."""

    hz: float = 50.0
    wander: float = 0.001
    """Relative, up and down."""
    clear_hz: float = 1.0
    """So far from each line nothing is moved."""
    others: tuple[float, ...] = ()
    """Further lines, Hz."""

    def is_near(self, hz: float, per_bin_hz: float) -> bool:
        """Whether a frequency is none to move a supply at."""
        clear = max(self.clear_hz, LEAST_CLEAR * per_bin_hz)
        if self.hz > 0:
            nearest = max(1, round(hz / self.hz)) * self.hz
            if abs(hz - nearest) <= clear + self.wander * nearest:
                return True
        return any(abs(hz - other) <= clear + self.wander * other for other in self.others)


def window_records(seconds: float, rate_hz: float) -> int:
    """Of a window: the largest even number of so many seconds that a Fourier transform is fast for."""
    records = max(2, int(seconds * rate_hz + 1e-9))
    while records % 2 or not _is_fast(records):
        records -= 1
    return records


def _is_fast(number: int) -> bool:
    for factor in _FAST_FACTORS:
        while number % factor == 0:
            number //= factor
    return number == 1


def free_bins(records: int, rate_hz: float, band_hz: tuple[float, float], mains: Mains) -> list[int]:
    """All that may be taken, in 1/T."""
    per_bin = rate_hz / records
    low, high = math.ceil(band_hz[0] / per_bin - 1e-9), math.floor(band_hz[1] / per_bin + 1e-9)
    found: list[int] = []
    for number in range(max(SPACING, low), min(high, records // 2 - 1) + 1):
        if not mains.is_near(number * per_bin, per_bin) and (not found or number - found[-1] >= SPACING):
            found.append(number)
    return found


def choose(count: int, records: int, rate_hz: float, band_hz: tuple[float, float], mains: Mains) -> list[int]:
    """So many of them, evenly over the band. Raises ValueError, with how many there are."""
    free = free_bins(records, rate_hz, band_hz, mains)
    if len(free) < count:
        raise ValueError(
            f"{count} supplies need as many frequencies, and {band_hz[0]:g} to {band_hz[1]:g} Hz have {len(free)} that "
            f"are {SPACING} periods of the window apart and away from the mains: take more seconds, a wider band, or "
            f"groups"
        )
    if count == 1:
        return [free[len(free) // 2]]
    return [free[round(i * (len(free) - 1) / (count - 1))] for i in range(count)]


def around(
    count: int, at_hz: float, records: int, rate_hz: float, band_hz: tuple[float, float], mains: Mains
) -> list[int]:
    """So many, as near to one frequency as they can be. Raises ValueError."""
    per_bin = rate_hz / records
    free = free_bins(records, rate_hz, band_hz, mains)
    if len(free) < count:
        choose(count, records, rate_hz, band_hz, mains)
    nearest: Sequence[int] = sorted(free, key=lambda number: abs(number * per_bin - at_hz))[:count]
    return sorted(nearest)
