# SPDX-License-Identifier: Apache-2.0
"""Units: the same quantity in another one, there by a polynomial and back by solving it, as ``rm_convert`` does."""

import math
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def same_unit(one: str, other: str) -> bool:
    """Whether two ways of writing mean one unit: "urad", and "µrad" with either of Unicode's two µ."""
    return _plain(one) == _plain(other)


def _plain(unit: str) -> str:
    return (
        unit.replace("µ", "u").replace("\N{GREEK SMALL LETTER MU}", "u").replace("\N{GREEK CAPITAL LETTER OMEGA}", "Ω")
    )


@dataclass(frozen=True)
class Conversion:
    """other = c[0] + c[1]·v + c[2]·v² + c[3]·v³, strictly monotone between the control limits."""

    unit: str
    """Of ``other``: "µrad"."""
    c: tuple[float, float, float, float]
    low: float | None
    """Control limits, in the parameter's own unit; None where there is none, and then it is linear."""
    high: float | None

    @overload
    def there(self, value: float) -> float: ...
    @overload
    def there(self, value: Floats) -> Floats: ...
    def there(self, value: float | Floats) -> float | Floats:
        """From the parameter's unit to the other."""
        c = self.c
        return c[0] + value * (c[1] + value * (c[2] + value * c[3]))

    def back(self, other: float) -> float:
        """From the other unit to the parameter's; NaN for what no value between the control limits converts to."""
        if math.isnan(other):
            return math.nan
        low, high = self.range
        if not low <= other <= high:
            return math.nan
        if self.c[2] == 0 and self.c[3] == 0:
            value = (other - self.c[0]) / self.c[1]
            return min(max(value, _or(self.low, -math.inf)), _or(self.high, math.inf))  # rounding leads nowhere outside
        if self.low is None or self.high is None:
            return math.nan
        return self._solve(other, self.low, self.high)

    @property
    def range(self) -> tuple[float, float]:
        """What the control limits convert to, the smaller one first; infinite where there is none."""
        rises = self.c[1] > 0 or self.c[2] != 0 or self.c[3] != 0
        ends = [
            (-math.inf if rises else math.inf) if self.low is None else self.there(self.low),
            (math.inf if rises else -math.inf) if self.high is None else self.there(self.high),
        ]
        return min(ends), max(ends)

    def _solve(self, other: float, low: float, high: float) -> float:
        """Halves the interval until no number lies between its ends, and takes the end that is nearer."""
        rises = self.there(high) > self.there(low)
        while True:
            middle = low + (high - low) / 2
            if not low < middle < high:
                break
            if (self.there(middle) <= other) == rises:
                low = middle
            else:
                high = middle
        return low if abs(self.there(low) - other) <= abs(self.there(high) - other) else high


def _or(limit: float | None, otherwise: float) -> float:
    return otherwise if limit is None else limit
