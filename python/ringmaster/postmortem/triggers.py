# SPDX-License-Identifier: Apache-2.0
"""Triggers: each looks at a workspace again and again, and says when it sees what it is for, once each time."""

from typing import Any, NamedTuple, Protocol

import numpy as np

from ringmaster.fabric.parameter import ParameterReading
from ringmaster.postmortem import rule
from ringmaster.postmortem.beam_loss import BeamLossTrigger
from ringmaster.postmortem.event import Zero
from ringmaster.postmortem.interlock import InterlockTrigger
from ringmaster.postmortem.look import KILLED, LIVES, STOPPED, Look, newest_turn
from ringmaster.postmortem.settings import TriggerSettings


class Found(NamedTuple):
    """What a trigger saw."""

    reason: str
    zero: Zero


class Trigger(Protocol):
    """One trigger."""

    def look(self, look: Look) -> tuple[str, Zero] | None:
        """The reason in words and the turn zero, where it sees something that it did not see at its last look."""

    def waits_for(self, look: Look, /) -> str:
        """What it needs and does not find, in words; empty where it has all."""


class ParameterTrigger:
    """A parameter that crosses a limit. One that is beyond it at the first look has not crossed it."""

    def __init__(self, parameter: str, above: float | None = None, below: float | None = None) -> None:
        self._name, self._above, self._below = parameter, above, below
        self._beyond: bool | None = None

    def look(self, look: Look) -> tuple[str, Zero] | None:
        """See Trigger."""
        reading = look.parameter(self._name)
        if reading is None:
            return None
        value = float(np.max(np.asarray(reading.value, np.float64)))
        limit = self._crossed(value)
        was, self._beyond = self._beyond, limit is not None
        if limit is None or was is not False:
            return None
        return f"{self._name} is {value:g} {reading.unit}, {limit}", changed_at(look, self._name, reading)

    def _crossed(self, value: float) -> str | None:
        if self._above is not None and value > self._above:
            return f"above {self._above:g}"
        if self._below is not None and value < self._below:
            return f"below {self._below:g}"
        return None

    def waits_for(self, look: Look) -> str:
        """See Trigger."""
        return "" if look.parameter(self._name) is not None else f"parameter {self._name}"


class AlarmTrigger:
    """A parameter that counts: each time it has grown."""

    def __init__(self, parameter: str) -> None:
        self._name = parameter
        self._count: float | None = None

    def look(self, look: Look) -> tuple[str, Zero] | None:
        """See Trigger."""
        reading = look.parameter(self._name)
        if reading is None:
            return None
        count = float(np.max(np.asarray(reading.value, np.float64)))
        was, self._count = self._count, count
        if was is None or count <= was:
            return None
        return f"{self._name} counts {count:g}, {count - was:g} more", changed_at(look, self._name, reading)

    def waits_for(self, look: Look) -> str:
        """See Trigger."""
        return "" if look.parameter(self._name) is not None else f"parameter {self._name}"


class RuleTrigger:
    """A rule that becomes true. One that is true at the first look has not become so."""

    def __init__(self, text: str) -> None:
        self._rule = rule.parse(text)
        self._held: bool | None = None

    def look(self, look: Look) -> tuple[str, Zero] | None:
        """See Trigger."""
        turns: list[tuple[int, int]] = []
        values: dict[str, float] = {}

        def value(name: str) -> float | None:
            found = self._value(look, name, turns)
            if found is not None:
                values[name] = found
            return found

        holds = self._rule.holds(value)
        was, self._held = self._held, holds if holds is not None else self._held
        if not holds or was is not False:
            return None
        told = ", ".join(f"{name} {number:g}" for name, number in values.items())
        reason = f"{self._rule.text} ({told})"
        if turns:
            turn_epoch, turn = max(turns)
            return reason, look.zero(turn, turn_epoch, "newest record that the rule compares", 1000)
        return reason, look.zero_at(look.tai_ns, "when the rule was seen to hold")

    @staticmethod
    def _value(look: Look, name: str, turns: list[tuple[int, int]]) -> float | None:
        stream, colon, lane = name.rpartition(":")
        if not colon:
            reading = look.parameter(name)
            return None if reading is None else float(np.max(np.asarray(reading.value, np.float64)))
        newest = look.newest(look.ws.streams[stream]) if stream in look.ws.streams else None
        if newest is None or lane not in newest.lanes:
            return None
        turns.append((newest.turn_epoch, newest.turn))
        return newest.lanes[lane]

    def waits_for(self, look: Look) -> str:
        """See Trigger."""
        missing = [name for name in self._rule.names if self._value(look, name, []) is None]
        return f"values of {', '.join(missing)}" if missing else ""


class ServerTrigger:
    """The server was killed, or its process stands still. An end in good order is none."""

    def __init__(self) -> None:
        self._was = LIVES

    def look(self, look: Look) -> tuple[str, Zero] | None:
        """See Trigger."""
        was, self._was = self._was, look.server
        if look.server not in (KILLED, STOPPED) or was != LIVES:
            return None
        turn, turn_epoch = newest_turn(look.ws)
        word = "was killed" if look.server == KILLED else "stands still"
        return f"the server {word}", look.zero(turn, turn_epoch, "newest turn that a stream has")

    def waits_for(self, _look: Look) -> str:
        """See Trigger."""
        return ""


def changed_at(look: Look, name: str, reading: ParameterReading) -> Zero:
    """The turn at which a parameter changed: its own, or that of its time stamp."""
    if reading.turn is not None and look.clock is not None:
        return look.zero(reading.turn, look.clock.turn_epoch, f"turn of the change of {name}")
    return look.zero_at(reading.timestamp_tai_ns or look.tai_ns, f"time stamp of {name}")


def make(settings: TriggerSettings) -> Trigger:
    """The trigger of an entry. Raises ValueError for a rule that cannot be read."""
    own: dict[str, Any] = dict(settings.own)
    makers: dict[str, Any] = {
        "parameter": ParameterTrigger,
        "alarm": AlarmTrigger,
        "beam_loss": BeamLossTrigger,
        "interlock": InterlockTrigger,
        "server": ServerTrigger,
    }
    made: Trigger = RuleTrigger(own["rule"]) if settings.kind == "rule" else makers[settings.kind](**own)
    return made
