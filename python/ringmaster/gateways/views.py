# SPDX-License-Identifier: Apache-2.0
"""More names for what a gateway shows: the same number in another unit, or a number that never changes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ringmaster.fabric.parameter import Limits, Value
from ringmaster.fabric.request import Wanted
from ringmaster.gateways.point import Point, State

FLOAT = np.dtype(np.float64)


@dataclass(frozen=True)
class View:
    """One of them. It says ``scale`` times what its source says, plus ``offset``."""

    name: str
    """As clients call it."""
    of: str = ""
    """Our name; empty where it is a constant."""
    constant: float | None = None
    scale: float = 1.0
    offset: float = 0.0
    unit: str | None = None
    """None: that of its source."""
    description: str | None = None
    read_only: bool = False
    place: str = ""
    """Where it is written, for messages."""

    @property
    def is_linear(self) -> bool:
        """Whether it says something else than its source."""
        return (self.scale, self.offset) != (1.0, 0.0)

    def point(self, source: Point) -> Point:
        """What clients see, of what the source is."""
        return replace(
            source,
            name=self.name,
            dtype=FLOAT if self.is_linear else source.dtype,
            unit=source.unit if self.unit is None else self.unit,
            description=source.description if self.description is None else self.description,
            limits=self._limits(source.limits),
            choices=() if self.is_linear else source.choices,
            writable=source.writable and not self.read_only,
        )

    def constant_point(self) -> Point:
        """The same of a constant."""
        return Point(self.name, self.name, FLOAT, unit=self.unit or "", description=self.description or "")

    def state(self, state: State) -> State:
        """What it says where its source says that."""
        if not self.is_linear or state.value is None or isinstance(state.value, str | list):
            return state
        return replace(state, value=self._forth(state.value))

    def asked(self, wanted: Wanted) -> Wanted:
        """What its source is asked for."""
        if not self.is_linear or isinstance(wanted, str):
            return wanted
        numbers = (np.asarray(wanted, np.float64) - self.offset) / self.scale
        return numbers if numbers.ndim else float(numbers)

    def _forth(self, value: Value) -> Value:
        numbers = np.asarray(value, np.float64) * self.scale + self.offset
        return numbers if numbers.ndim else float(numbers)

    def _limits(self, limits: Limits) -> Limits:
        if not self.is_linear:
            return limits

        def forth(value: float | None) -> float | None:
            return None if value is None else value * self.scale + self.offset

        made = {}
        for kind in ("display", "control", "minor", "major"):
            pair = forth(getattr(limits, f"{kind}_low")), forth(getattr(limits, f"{kind}_high"))
            made[f"{kind}_low"], made[f"{kind}_high"] = pair if self.scale > 0 else pair[::-1]
        hysteresis = None if limits.hysteresis is None else limits.hysteresis * abs(self.scale)
        return Limits(**made, hysteresis=hysteresis)


def missing(views: Iterable[View], known: Iterable[str]) -> list[str]:
    """Faults of views whose source is not there."""
    there = set(known)
    return [
        f"{view.place}: {view.name} is to show {view.of}, which is not there"
        for view in views
        if view.of and view.of not in there
    ]
