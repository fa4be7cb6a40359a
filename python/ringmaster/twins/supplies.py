# SPDX-License-Identifier: Apache-2.0
"""How supplies differ from what they are thought to be: gain, offset, how late the field follows, hysteresis, and what
of one another magnet feels.

From the current to what the magnet feels, in this order: delay, bandwidth, hysteresis, gain and offset, crosstalk.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ringmaster.machine.mapping import names_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Mismatch:
    """Of supplies by name or pattern."""

    names: str
    gain: float = 1.0
    offset: float = 0.0
    """In the supply's unit, added behind the gain."""
    delay_ms: float = 0.0
    bandwidth_hz: float = 0.0
    """Of a first order; 0: the field follows at once."""
    hysteresis: float = 0.0
    """Half the width of the play, in the supply's unit: the field follows only what goes beyond it."""


@dataclass(frozen=True)
class Crosstalk:
    """A share of the current of one supply that the magnet of another feels."""

    of: str
    to: str
    share: float


@dataclass(frozen=True)
class Neighbours:
    """Of supplies in the order of the mapping: each feels this share of the one before and of the one behind it."""

    names: str
    share: float


@dataclass(frozen=True)
class SupplyErrors:
    """All of them."""

    mismatches: tuple[Mismatch, ...] = ()
    crosstalk: tuple[Crosstalk, ...] = ()
    neighbours: tuple[Neighbours, ...] = ()


def chosen(pattern: str, supplies: Sequence[str]) -> list[int]:
    """Places of supplies by name, ranges or pattern. Raises ValueError for what is none of them."""
    at = {name: i for i, name in enumerate(supplies)}
    found = []
    for name in names_of(pattern, supplies):
        if name not in at:
            raise ValueError(f"{name!r} is no supply of the mapping, whose {len(supplies)} are such as {supplies[0]}")
        found.append(at[name])
    return found


class Felt:
    """What magnets feel of their supplies. It has a memory: of the time between two calls it is told."""

    def __init__(self, supplies: Sequence[str], errors: SupplyErrors) -> None:
        """Raises ValueError for a name that is no supply."""
        count = len(supplies)
        self._gain, self._offset = np.ones(count), np.zeros(count)
        self._delay_s, self._rate, self._play = np.zeros(count), np.zeros(count), np.zeros(count)
        for entry in errors.mismatches:
            for i in chosen(entry.names, supplies):
                self._gain[i], self._offset[i] = entry.gain, entry.offset
                self._delay_s[i], self._play[i] = 1e-3 * entry.delay_ms, entry.hysteresis
                self._rate[i] = 2 * np.pi * entry.bandwidth_hz
        self._cross = _crosstalk(supplies, errors)
        self._past = _Past(self._delay_s) if self._delay_s.any() else None
        self._smooth: Floats | None = None
        self._held: Floats | None = None

    def felt(self, values: Floats, elapsed_s: float) -> Floats:
        """Of currents that stand now; at first the fields have followed long since."""
        late = values if self._past is None else self._past.at(values, elapsed_s)
        share = np.where(self._rate > 0, -np.expm1(-self._rate * elapsed_s), 1.0)  # of the way, in that time
        before = late if self._smooth is None else self._smooth
        self._smooth = before + share * (late - before)
        held = self._smooth if self._held is None else self._held
        self._held = np.clip(held, self._smooth - self._play, self._smooth + self._play)
        own = self._gain * self._held + self._offset
        return own if self._cross is None else np.asarray(own + self._cross @ own, np.float64)


def _crosstalk(supplies: Sequence[str], errors: SupplyErrors) -> "scipy.sparse.csr_array | None":
    entries: list[tuple[int, int, float]] = []
    for pair in errors.crosstalk:
        entries += [(to, of, pair.share) for of in chosen(pair.of, supplies) for to in chosen(pair.to, supplies)]
    for row in errors.neighbours:
        places = chosen(row.names, supplies)
        for one, other in pairwise(places):
            entries += [(one, other, row.share), (other, one, row.share)]
    if not entries:
        return None
    to, of, share = zip(*entries, strict=True)
    return scipy.sparse.csr_array((share, (to, of)), shape=(len(supplies), len(supplies)))


@dataclass
class _Past:
    """Currents of before, as far back as the longest delay."""

    delay_s: Floats
    _kept: "deque[tuple[float, Floats]]" = field(default_factory=deque)
    _now_s: float = 0.0

    def at(self, values: Floats, elapsed_s: float) -> Floats:
        """Of each supply what stood its delay ago: a step is seen whole where its delay is over."""
        self._now_s += elapsed_s
        self._kept.append((self._now_s, values.copy()))
        oldest = self._now_s - float(self.delay_s.max())
        while len(self._kept) > 1 and self._kept[1][0] <= oldest:
            self._kept.popleft()
        times = np.array([time for time, _ in self._kept])
        row = np.searchsorted(times, self._now_s - self.delay_s + 1e-12, side="right") - 1
        table = np.array([kept for _, kept in self._kept])
        return np.asarray(table[np.maximum(row, 0), np.arange(len(values))], np.float64)


def start_of(supplies: Sequence[str], given: Mapping[str, float]) -> Floats:
    """All at 0 but for these. Raises ValueError for a name that is no supply."""
    values = np.zeros(len(supplies))
    for name, value in given.items():
        values[chosen(name, supplies)] = value
    return values
