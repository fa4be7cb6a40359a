# SPDX-License-Identifier: Apache-2.0
"""Which core takes which work, so that the fullest is as empty as can be.

Work is dealt out longest first, each unit to the emptiest core that may have it: the rule of Graham, which alone is at
most a third above the best. Then units of the fullest core are moved, or swapped with smaller ones, as long as that
helps. What is left to win is searched for: the same dealing with other choices, until a bound is met, which proves that
nothing is better, or so many choices were looked at. Small cases are searched to their end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CHOICES_MAX = 30_000
"""Some 50 ms."""
EQUAL = 1e-9


@dataclass(frozen=True)
class Unit:
    """Work that one core does."""

    name: str
    load: float
    """Share of a core, 0–1; more than 1 fits none."""
    cores: frozenset[int]
    """That may have it."""
    alone: bool = False
    """It shares its core with nothing."""


@dataclass(frozen=True)
class Assigned:
    """What came of it."""

    core: Mapping[str, int]
    """Of each unit."""
    peak: float
    """Load of the fullest core."""
    proven: bool
    """Whether nothing can be better."""


def bound(units: Sequence[Unit]) -> float:
    """Below this no assignment can be: the largest unit, or all work of a set of cores, shared out evenly."""
    sets = {unit.cores for unit in units}
    sets |= {frozenset().union(*sets)} if sets else set()
    even = [sum(unit.load for unit in units if unit.cores <= cores) / len(cores) for cores in sets if cores]
    return max([*even, *(unit.load for unit in units)], default=0.0)


def assign(units: Sequence[Unit]) -> Assigned | None:
    """None where there is none: a unit without a core, or more units that are alone than there are cores."""
    if not all(unit.cores for unit in units):
        return None
    search = _Search(units)
    search.descend(0, 0.0)
    if search.best is None:
        return None
    if not search.done:
        search.take(_improved(units, search.best))
    return Assigned(search.best, search.peak, search.done or search.choices < CHOICES_MAX)


class _Search:
    """Longest first, emptiest core first; other choices after that, while there is something to win."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self.units = sorted(units, key=lambda unit: (not unit.alone, -unit.load, len(unit.cores), unit.name))
        self.bound = bound(units)
        self.best: dict[str, int] | None = None
        self.peak = float("inf")
        self.choices = 0
        cores = sorted(frozenset().union(*(unit.cores for unit in units)))
        self._load = dict.fromkeys(cores, 0.0)
        self._held: dict[int, list[Unit]] = {core: [] for core in cores}
        kinds = {core: tuple(core in unit.cores for unit in self.units) for core in cores}
        self._kind = {core: hash(kinds[core]) for core in cores}

    @property
    def done(self) -> bool:
        """Whether the bound is met."""
        return self.peak <= self.bound + EQUAL

    def take(self, found: dict[str, int]) -> None:
        """Another assignment, where it is better."""
        peak = _peak(self.units, found)
        if peak < self.peak - EQUAL:
            self.best, self.peak = found, peak

    def descend(self, index: int, peak: float) -> None:
        """Deals out all units from this one on."""
        if index == len(self.units):
            self.best = {unit.name: core for core, held in self._held.items() for unit in held}
            self.peak = peak
            return
        unit = self.units[index]
        for core in self._candidates(unit):
            self.choices += 1
            higher = max(peak, self._load[core] + unit.load)
            if higher >= self.peak - EQUAL:
                return  # so are all cores after it
            self._load[core] += unit.load
            self._held[core].append(unit)
            self.descend(index + 1, higher)
            self._held[core].pop()
            self._load[core] -= unit.load
            if self.done or (self.best is not None and self.choices >= CHOICES_MAX):
                return

    def _candidates(self, unit: Unit) -> list[int]:
        """Emptiest first; of cores that are alike one is enough."""
        alike = set()
        found = []
        for core in sorted(unit.cores, key=lambda one: (self._load[one], one)):
            held = self._held[core]
            if held and (unit.alone or held[0].alone):
                continue
            key = (self._load[core], self._kind[core], bool(held))
            if key not in alike:
                alike.add(key)
                found.append(core)
        return found


def _peak(units: Sequence[Unit], core: Mapping[str, int]) -> float:
    load: dict[int, float] = {}
    for unit in units:
        load[core[unit.name]] = load.get(core[unit.name], 0.0) + unit.load
    return max(load.values(), default=0.0)


def _improved(units: Sequence[Unit], start: Mapping[str, int]) -> dict[str, int]:
    """Moves units away from the fullest core, or swaps them with smaller ones, while its load falls."""
    core = dict(start)
    while True:
        load = {one: 0.0 for unit in units for one in unit.cores}
        for unit in units:
            load[core[unit.name]] += unit.load
        fullest = max(load, key=lambda one: load[one])
        change = _better(units, core, load, fullest)
        if change is None:
            return core
        core.update(change)


def _better(
    units: Sequence[Unit], core: Mapping[str, int], load: Mapping[int, float], fullest: int
) -> dict[str, int] | None:
    """The move or swap that leaves both cores lowest; None where none leaves them below the fullest of now."""
    best, best_peak = None, load[fullest] - EQUAL
    loners = {core[unit.name] for unit in units if unit.alone}
    for unit in (one for one in units if core[one.name] == fullest and not one.alone):
        for target in unit.cores - loners - {fullest}:
            peak = max(load[target] + unit.load, load[fullest] - unit.load)
            if peak < best_peak:
                best, best_peak = {unit.name: target}, peak
        for other in units:
            there = core[other.name]
            if other.alone or there in loners or there not in unit.cores or fullest not in other.cores:
                continue
            peak = max(load[there] + unit.load - other.load, load[fullest] - unit.load + other.load)
            if there != fullest and peak < best_peak:
                best, best_peak = {unit.name: there, other.name: fullest}, peak
    return best
