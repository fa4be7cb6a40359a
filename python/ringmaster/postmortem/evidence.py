# SPDX-License-Identifier: Apache-2.0
"""What an explanation is made of, independent of where it comes from: live memory, that of a dead server, a file.

Nothing in here knows a cause. Loaders are in ``loading``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ringmaster.fabric.layout import NO_FILTER, ON_CHANGE, InstrumentKind
from ringmaster.postmortem.machine import Machine

Floats = npt.NDArray[np.float64]
Turns = npt.NDArray[np.uint64]
CAUSAL_FILTERS = (NO_FILTER, ON_CHANGE, "low_latency")
"""Of which the order of onsets can be judged: a sharp filter rings before the event."""


@dataclass(frozen=True)
class Series:
    """One stream about the event. Records are evenly spaced; those that were not had are not ``ok``."""

    name: str
    """Instrument and rate: "bpm01/turn"."""
    kind: InstrumentKind
    period_turns: int
    turn: Turns
    """[record]: rising by the period."""
    lanes: tuple[str, ...]
    units: tuple[str, ...]
    """Of each lane, as its values are."""
    values: Floats
    """[record, lane]; NaN where a record was not had."""
    filter: str = "none"
    group_delay_turns: float = 0.0
    """A record's turn refers to the filter's centre already."""

    @property
    def instrument(self) -> str:
        """Its instrument: "bpm01"."""
        return self.name.rpartition("/")[0]

    @property
    def ok(self) -> npt.NDArray[np.bool_]:
        """[record]: which were had."""
        return np.asarray(np.isfinite(self.values).all(axis=1))

    @property
    def is_causal(self) -> bool:
        """Whether its onset can be compared with others'."""
        return self.filter in CAUSAL_FILTERS

    def lane(self, name: str) -> Floats:
        """[record]."""
        result: Floats = self.values[:, self.lanes.index(name)]
        return result

    def between(self, first: int, end: int) -> "Series":
        """Its records from turn ``first`` up to, not including, ``end``."""
        a, b = np.searchsorted(self.turn, [max(first, 0), max(end, 0)])
        return Series(
            self.name,
            self.kind,
            self.period_turns,
            self.turn[a:b],
            self.lanes,
            self.units,
            self.values[a:b],
            self.filter,
            self.group_delay_turns,
        )


@dataclass(frozen=True)
class Actuation:
    """What was sent to supplies, or what they answered, over the turns."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    turn: Turns
    """[cycle]."""
    values: Floats
    """[cycle, supply]; NaN where it is not known."""


@dataclass(frozen=True)
class Note:
    """Something that was said at a turn: a refusal of the guard, an alarm, a record of an interlock."""

    turn: int | None
    text: str


@dataclass(frozen=True)
class Evidence:
    """All that is known about one event."""

    turn_zero: int
    """At which it was noticed; what caused it began then or before."""
    turn_rate_hz: float
    series: tuple[Series, ...]
    machine: Machine | None = None
    """Without it no cause can be named that needs the twin."""
    sent: Actuation | None = None
    readbacks: Actuation | None = None
    refusals: tuple[Note, ...] = ()
    title: str = ""
    """What noticed it: "machine/current_ma below 300"."""
    source: str = ""
    """Where this comes from: a workspace, a file."""
    configuration: Mapping[str, str] = field(default_factory=dict)
    """What else a reader may want: "workspace", "turn rate"."""

    def of_kind(self, *kinds: InstrumentKind) -> Sequence[Series]:
        """The series of such instruments."""
        return [one for one in self.series if one.kind in kinds]

    def ms(self, turns: float) -> float:
        """Turns as milliseconds."""
        return 1e3 * turns / self.turn_rate_hz
