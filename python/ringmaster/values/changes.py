# SPDX-License-Identifier: Apache-2.0
"""Watching parameters: what changed between one look and the next, and how much was missed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

from ringmaster.errors import WorkspaceDamaged, WorkspaceError
from ringmaster.fabric.naming import not_found
from ringmaster.fabric.parameter import Parameter, ParameterReading
from ringmaster.fabric.workspace import Workspace, attach
from ringmaster.values import time_format
from ringmaster.values.value_format import plain

ALIVE_S = 0.5
"""How often to ask who lives: that takes system calls."""


@dataclass(frozen=True)
class Change:
    """A parameter that has changed; or, with ``words``, something else that a watcher is told."""

    name: str = ""
    reading: ParameterReading | None = None
    missed: int = 0
    """Changes since the last look that were not seen."""
    first: bool = False
    """As it is when the watching begins."""
    words: str | None = None
    owner: str = ""
    """Whose life the words tell of."""
    lives: bool = True
    """False: the owner has ended or is stopped, so its parameters say nothing of now."""
    damage: WorkspaceDamaged | None = None
    """Why it cannot be read."""

    def as_json(self) -> dict[str, Any]:
        """What a script reads."""
        reading = self.reading
        assert reading is not None
        return {
            "name": self.name,
            "time": time_format.iso(reading.timestamp_tai_ns) if reading.timestamp_tai_ns else None,
            "timestamp_tai_ns": reading.timestamp_tai_ns,
            "turn": reading.turn,
            "value": plain(reading.value),
            "unit": reading.unit,
            "severity": reading.severity.name.lower(),
            "changes": reading.changes,
            "missed": self.missed,
        }


class Watch:
    """Parameters under watch. When their owners end or come anew, they are found again."""

    def __init__(self, workspace: str | None, patterns: Sequence[str], unit: str | None = None) -> None:
        """Raises what ``attach`` raises, ObjectNotFound for a pattern that matches nothing, UnitUnknown."""
        self._name, self._patterns, self._unit = workspace, patterns, unit
        self._seen: dict[str, int] = {}
        self._dead: set[str] = set()
        self._stopped: set[str] = set()
        self._ws = attach(workspace)
        self._parameters = self._find(self._ws)
        self.count = len(self._parameters)
        self.width = max(map(len, self._parameters))

    @property
    def workspace(self) -> Workspace:
        """As it is attached now; after a restart of its server it is another one."""
        return self._ws

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Those under watch; another mapping when they were found again."""
        return self._parameters

    def lives(self, owner: str) -> bool:
        """Whether an owner was there at the last look at who lives."""
        return owner not in self._dead and owner not in self._stopped

    def _find(self, ws: Workspace) -> dict[str, Parameter]:
        """What matches. Raises ObjectNotFound for a pattern that matches nothing."""
        for pattern in self._patterns:
            if not ws.parameters.match(pattern):
                raise not_found("parameter", pattern, list(ws.parameters))
        found = ws.parameters.match(*self._patterns)
        unit = self._unit
        if unit is not None and not any(parameter.has_unit(unit) for parameter in found.values()):
            next(iter(found.values())).conversion_to(unit)  # raises
        return found

    def _unit_of(self, parameter: Parameter) -> str | None:
        return self._unit if self._unit is not None and parameter.has_unit(self._unit) else None

    def changes(self, every_s: float, seconds: float | None) -> Iterator[Change]:
        """Looks every so often, for so long or for ever; says first how everything is. Raises WorkspaceDamaged."""
        begin = asked = monotonic()
        yield from self.ask_who_lives()
        while True:
            for change in self.look():
                if change.damage is not None:
                    raise change.damage
                yield change
            if seconds is not None and monotonic() - begin >= seconds:
                return
            left = every_s if seconds is None else min(every_s, begin + seconds - monotonic())
            sleep(max(0.0, left))
            if monotonic() - asked >= ALIVE_S:
                asked = monotonic()
                yield from self.ask_who_lives()

    def look(self, chosen: Collection[str] | None = None) -> Iterator[Change]:
        """What has changed since the last look, of all or of those ``chosen``."""
        for name in self._parameters if chosen is None else chosen:
            parameter = self._parameters.get(name)
            last = self._seen.get(name)
            if parameter is None or (changes := parameter.changes) == last:
                continue
            try:
                reading = parameter.read(self._unit_of(parameter))
            except WorkspaceDamaged as damage:
                self._seen[name] = changes
                yield Change(name, damage=damage)
                continue
            self._seen[name] = reading.changes
            missed = 0 if last is None else max(0, reading.changes - last - 1)
            yield Change(name, reading, missed, first=last is None)

    def ask_who_lives(self) -> Iterator[Change]:
        """Which owners have ended, were stopped or have come, and attaches anew where that is needed."""
        owners = {parameter.owner for parameter in self._parameters.values()}
        segments = self._ws.segments
        dead = {owner for owner in owners if owner not in segments or not segments[owner].alive}
        stopped = {owner for owner in owners - dead if segments[owner].stopped}
        for owner in sorted(dead - self._dead):
            words = f"{owner} has ended; its parameters stay as they are until it comes again"
            yield Change(words=words, owner=owner, lives=False)
        for owner in sorted(stopped - self._stopped):
            words = f"{owner} is stopped; its parameters stay as they are until it goes on"
            yield Change(words=words, owner=owner, lives=False)
        for owner in sorted(self._stopped - stopped - dead):
            yield Change(words=f"{owner} goes on", owner=owner)
        self._stopped = stopped
        if dead - self._dead or self._ws.outdated or not self._ws.alive:
            self._attach_again()
        for owner in sorted(self._dead - dead):
            yield Change(words=f"{owner} is there again", owner=owner)
        self._dead = dead

    def _attach_again(self) -> None:
        try:
            ws = attach(str(self._ws.path), dead=True)
            found = self._find(ws)
        except (WorkspaceError, OSError):
            return  # not now: another process is just making it
        moved = {name for name, it in found.items() if it.changes < self._seen.get(name, 0)}
        self._seen = {name: seen for name, seen in self._seen.items() if name not in moved}
        self._ws.close()
        self._ws, self._parameters = ws, found

    def check(self) -> None:
        """Raises WorkspaceDead or WorkspaceStopped where an owner had ended, or was stopped, at the last look."""
        for owner in sorted(self._dead | self._stopped):
            self._ws.check(owner)

    def close(self) -> None:
        """Detaches."""
        self._ws.close()
