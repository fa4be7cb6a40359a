# SPDX-License-Identifier: Apache-2.0
"""What is wrong just now: counters that should be zero and are not, with what they mean and what to do."""

from collections.abc import Iterable, Set
from dataclasses import dataclass

from ringmaster.fabric._counters import COUNTERS
from ringmaster.fabric.counters import refused_together
from ringmaster.monitor.advice import ADVICE, DERIVED, TOGETHER
from ringmaster.monitor.figures import ClockFigures, CoreFigures, Reading, StreamFigures
from ringmaster.standby.figures import StandbyFigures

TEXTS: dict[tuple[str, str], tuple[str, str]] = {
    (set_name, counter.name): (counter.unit, counter.text) for set_name, set_ in COUNTERS.items() for counter in set_
}
"""Unit and explanation of every counter."""

WHAT = {
    "port": "port",
    "stream": "instrument",
    "path": "network",
    "core": "core",
    "clock": "clock",
    "sender": "sender",
    "guard": "application",
    "chain": "chain",
    "transmit": "transmit",
    "application": "application",
    "standby": "standby",
    "link": "link",
    "follow": "application",
}
"""A person's word for the object of each counter set."""

SATURATED = 0.95
"""A core that is busy for more than this share of its time has nothing left for a burst."""
SILENT_RECORDS = 20.0
"""An instrument that should have sent so many records between two looks, and sent none, is silent."""
BEHIND_S = 0.1
"""A virtual sender that is further behind its pace than this is slow."""
NONE_IN_SIMULATED_TIME = {("transmit", "skipped")}
"""Counters that tell of nothing wrong there: a ring in lock-step waits for no cycle before its first setpoints."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong."""

    kind: str
    """Of the object: "port", "instrument", "network", "core", "clock", "sender",
    "application", "chain", "transmit", "standby", "link"."""
    name: str
    """Of the object: "bpm01"."""
    counter: str
    count: int
    unit: str
    per_second: float
    """How fast it grows just now."""
    severe: bool
    """Whether data is lost by it."""
    means: str
    """A sentence that explains it."""
    advice: str
    """What to do."""
    changed_s: float | None
    """When it changed last, in seconds of the clock that ``look`` was given; None: it was so from the beginning."""


class FaultWatch:
    """Remembers since when each fault is as it is."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, str], tuple[int, float | None]] = {}
        self._first = True

    def look(
        self,
        readings: dict[str, list[Reading]],
        streams: Iterable[StreamFigures],
        cores: Iterable[CoreFigures],
        clock: ClockFigures,
        now_s: float,
        simulated: bool = False,
        standby: StandbyFigures | None = None,
    ) -> tuple[Fault, ...]:
        """Everything that is wrong, newest change first, what was so from the beginning last.

        ``simulated``: a ring's time waits for the loop. ``standby``: where the server is one of two.
        """
        found = [
            *_counted(readings, NONE_IN_SIMULATED_TIME if simulated else set()),
            *_lost(streams),
            *_silent(streams, readings),
            *_saturated(cores),
        ]
        found += _not_ready(standby)
        found += _behind(readings.get("sender", []), clock.turn_rate_hz)
        found += _out_of_phase(streams, clock.phase_limit_turns)
        dated = [self._dated(fault, now_s) for fault in found]
        present = {(fault.kind, fault.name, fault.counter) for fault in found}
        self._seen = {key: seen for key, seen in self._seen.items() if key in present}
        self._first = False
        return tuple(sorted(dated, key=lambda fault: (-(fault.changed_s or 0.0), not fault.severe, -fault.count)))

    def _dated(self, fault: Fault, now_s: float) -> Fault:
        key = (fault.kind, fault.name, fault.counter)
        count, changed = self._seen.get(key, (None, None))
        if count is None:
            changed = None if self._first else now_s
        elif count != fault.count:
            changed = now_s
        self._seen[key] = (fault.count, changed)
        return Fault(**{**vars(fault), "changed_s": changed})


def _counted(readings: dict[str, list[Reading]], without: Set[tuple[str, str]]) -> Iterable[Fault]:
    """Counters of ``ADVICE`` that are not zero, ``without`` some."""
    together = refused_together(reading.counts() for reading in readings.get("stream", []))
    for (set_name, counter), (severe, alone) in ADVICE.items():
        if (set_name, counter) in without:
            continue
        advice = TOGETHER.get((set_name, counter), alone) if together else alone
        for reading in readings.get(set_name, []):
            count = reading.now[counter] - reading.base.get(counter, 0)
            if count > 0:
                unit, text = TEXTS[set_name, counter]
                rate = reading.rate(counter)
                yield Fault(WHAT[set_name], reading.name, counter, count, unit, rate, severe, text, advice, None)


def _lost(streams: Iterable[StreamFigures]) -> Iterable[Fault]:
    for stream in streams:
        if stream.lost > 0:
            yield _derived(stream.name, "lost", stream.lost, "turns", stream.lost_per_s)


def _silent(streams: Iterable[StreamFigures], readings: dict[str, list[Reading]]) -> Iterable[Fault]:
    elapsed = {reading.name: reading.elapsed_s for reading in readings.get("stream", [])}
    for stream in streams:
        if stream.rate_hz == 0 and stream.expected_rate_hz * elapsed.get(stream.name, 0.0) >= SILENT_RECORDS:
            yield _derived(stream.name, "silent", 1, "instrument", 0.0)


def _saturated(cores: Iterable[CoreFigures]) -> Iterable[Fault]:
    for core in cores:
        if core.busy_share > SATURATED:
            yield _derived(core.name, "busy", round(100 * core.busy_share), "%", 0.0)


def _not_ready(standby: StandbyFigures | None) -> Iterable[Fault]:
    if standby is not None and standby.sends and not standby.followed:
        yield _derived(standby.peer, "not_ready", 1, "server", 0.0)


def _behind(senders: Iterable[Reading], turn_rate_hz: float) -> Iterable[Fault]:
    for sender in senders:
        behind = sender.now["behind_turns"]
        if behind > BEHIND_S * turn_rate_hz > 0:
            yield _derived(sender.name, "behind_turns", behind, "turns", 0.0)


def _out_of_phase(streams: Iterable[StreamFigures], limit_turns: int) -> Iterable[Fault]:
    for stream in streams:
        if abs(stream.phase_turns) > limit_turns > 0:
            where = "ahead of" if stream.phase_turns > 0 else "behind"
            yield _derived(stream.name, "phase_turns", abs(stream.phase_turns), f"turns {where} the clock", 0.0)


def _derived(name: str, counter: str, count: int, unit: str, per_second: float) -> Fault:
    kind, severe, means, advice = DERIVED[counter]
    return Fault(kind, name, counter, count, unit, per_second, severe, means, advice, None)
